//! How an act is told: when it was done and by whom, and where that was typed later, when and by whom.

use super::record::moment;
use super::story::Act;
use crate::model::time::UnixMillis;

impl Act {
    /// Returns when it was done: as the operator says, else when it was typed.
    pub fn when(&self) -> UnixMillis {
        self.done_at.unwrap_or(self.at)
    }

    /// Returns whether the operator says that it was done by somebody else, or at another time.
    pub fn is_stated(&self) -> bool {
        self.done_at.is_some() || self.done_by.is_some()
    }

    /// Returns when and by whom: `2026-12-01 07:40Z by anna · entered 08:16:35Z by root`.
    pub fn told(&self) -> String {
        if self.is_stated() {
            return self.time();
        }
        let by = self.by.clone().unwrap_or_else(|| self.operator.to_string());
        format!("{} by {by}", moment(self.at))
    }

    /// Returns when, and where that was typed later, what was said and who typed it.
    pub fn time(&self) -> String {
        if !self.is_stated() {
            return moment(self.at);
        }
        let done = self.done_at.map(stated);
        let by = self.done_by.as_ref().map(|by| format!("by {by}"));
        let done: Vec<String> = done.into_iter().chain(by).collect();
        let same_day = self.done_at.is_some_and(|done| day(done) == day(self.at));
        let typed = if same_day {
            self.at.clock()
        } else {
            moment(self.at)
        };
        format!("{} · entered {typed} by {}", done.join(" "), self.operator)
    }

    /// Returns the same for a line of the screen, without the day.
    pub fn short(&self) -> String {
        let by = self
            .done_by
            .as_ref()
            .map_or_else(String::new, |by| format!(" by {by}"));
        match self.done_at {
            Some(done) => format!("{}{by}, entered {}", clock(done), self.at.clock()),
            None if by.is_empty() => self.at.clock(),
            None => format!("{}, entered {}", by.trim_start(), self.at.clock()),
        }
    }

    /// Returns how it was done, in brackets; empty where nobody said.
    pub fn means(&self) -> String {
        self.how
            .as_ref()
            .map_or_else(String::new, |how| format!(" ({how})"))
    }
}

/// A time that somebody stated: to the minute where it was stated so.
fn stated(at: UnixMillis) -> String {
    format!("{} {}", day(at), clock(at))
}

fn day(at: UnixMillis) -> String {
    moment(at).split(' ').next().unwrap_or_default().to_owned()
}

fn clock(at: UnixMillis) -> String {
    let clock = at.clock();
    match clock.strip_suffix(":00Z") {
        Some(minutes) => format!("{minutes}Z"),
        None => clock,
    }
}
