//! Who did something, and when, as an operator says who types it later: `by NAME`, `at TIME`, in front of how.

use chrono::{DateTime, NaiveDate, NaiveTime};

use crate::model::time::UnixMillis;

/// What the prompt says of it.
pub(super) const HINT: &str = "How; in front, where somebody else did it or earlier: by NAME, at 07:40 (UTC), or at 2026-12-01T07:40:00Z";

/// Text as it was typed, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// Who did it.
    pub(super) by: Option<String>,
    /// When.
    pub(super) at: Option<UnixMillis>,
    /// The rest: how.
    pub(super) how: Option<String>,
    /// What stands behind `at` in front and is no time: it stays in the rest.
    pub(super) no_time: Option<String>,
}

impl Stated {
    /// Takes text apart; a time of day is one of the day of `now`, UTC.
    pub(super) fn of(text: &str, now: UnixMillis) -> Self {
        let mut stated = Self::default();
        let mut rest = text.trim();
        loop {
            let (word, behind) = first(rest);
            let next = match word.to_ascii_lowercase().as_str() {
                "by" if stated.by.is_none() => name(behind).map(|(by, rest)| {
                    stated.by = Some(by);
                    rest
                }),
                "at" if stated.at.is_none() => {
                    let time = time(behind, now);
                    match &time {
                        Some((at, _)) => stated.at = Some(*at),
                        None => stated.no_time = Some(first(behind).0.to_owned()),
                    }
                    time.map(|(_, rest)| rest)
                }
                _ => None,
            };
            match next {
                Some(behind) => rest = behind.trim_start_matches([',', ';', ':', ' ']),
                None => break,
            }
        }
        stated.how = (!rest.is_empty()).then(|| rest.to_owned());
        stated
    }

    /// Returns what speaks against its time, once.
    pub(super) fn doubt(
        &self,
        now: UnixMillis,
        booted: UnixMillis,
        opened: Option<UnixMillis>,
    ) -> Option<String> {
        let at = self.at?;
        let against = if at > now {
            "is in the future; of a day before, write the date".to_owned()
        } else if at < booted {
            format!("is before this machine was started ({})", booted.day_and_clock())
        } else {
            let opened = opened.filter(|opened| at < *opened)?;
            format!("is before this incident was opened ({})", opened.day_and_clock())
        };
        Some(format!(
            "{} {against}. Enter again records it so; Esc: back",
            at.day_and_clock()
        ))
    }
}

/// Returns the first word, and what is behind it.
fn first(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace)
        .map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// Returns a name: one word, or several in double quotes.
fn name(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"')
        && let Some((name, rest)) = quoted.split_once('"')
    {
        return (!name.trim().is_empty()).then(|| (name.trim().to_owned(), rest));
    }
    let (word, rest) = first(text);
    let name = word.trim_end_matches([',', ';', ':']);
    (!name.is_empty()).then(|| (name.to_owned(), rest))
}

/// Returns a time: one word, or a day and a time of day.
fn time(text: &str, now: UnixMillis) -> Option<(UnixMillis, &str)> {
    let (word, rest) = first(text);
    let word = word.trim_end_matches([',', ';', ':']);
    if let Ok(at) = DateTime::parse_from_rfc3339(word) {
        return Some((UnixMillis(at.timestamp_millis()), rest));
    }
    if let Some(clock) = clock(word) {
        let today = DateTime::from_timestamp_millis(now.0)?.date_naive();
        return Some((moment(today, clock), rest));
    }
    let (day, joined) = match word.split_once(['T', 't']) {
        Some((day, clock)) => (day, Some(clock)),
        None => (word, None),
    };
    let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?;
    if let Some(joined) = joined {
        return Some((moment(day, clock(joined)?), rest));
    }
    let (word, rest) = first(rest);
    let clock = clock(word.trim_end_matches([',', ';', ':']))?;
    Some((moment(day, clock), rest))
}

/// Reads `HH:MM` or `HH:MM:SS`, with or without `Z`.
fn clock(word: &str) -> Option<NaiveTime> {
    let digits = word.strip_suffix(['Z', 'z']).unwrap_or(word);
    let formats = ["%H:%M", "%H:%M:%S"];
    formats
        .iter()
        .find_map(|format| NaiveTime::parse_from_str(digits, format).ok())
}

fn moment(day: NaiveDate, clock: NaiveTime) -> UnixMillis {
    UnixMillis(day.and_time(clock).and_utc().timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> UnixMillis {
        UnixMillis(
            DateTime::parse_from_rfc3339(text)
                .expect("a time")
                .timestamp_millis(),
        )
    }

    #[test]
    fn name_and_time_stand_in_front_in_any_order_and_the_rest_says_how() {
        let now = at("2026-12-01T08:16:35Z");
        let early = Some("2026-12-01T07:40:00Z");
        for (text, by, when, how, no_time) in [
            ("by anna at 07:40Z", Some("anna"), early, None, None),
            (
                "at 07:40 by anna gateway",
                Some("anna"),
                early,
                Some("gateway"),
                None,
            ),
            (
                "By anna, at 07:40:00: the console",
                Some("anna"),
                early,
                Some("the console"),
                None,
            ),
            ("at 2026-12-01T07:40:00Z", None, early, None, None),
            ("at 2026-12-01T08:40:00+01:00 x", None, early, Some("x"), None),
            ("at 2026-12-01 07:40Z x", None, early, Some("x"), None),
            ("at 2026-12-01T07:40", None, early, None, None),
            (
                "by \"anna b.\" ticket 4",
                Some("anna b."),
                None,
                Some("ticket 4"),
                None,
            ),
            (
                "gateway by anna at 07:40",
                None,
                None,
                Some("gateway by anna at 07:40"),
                None,
            ),
            ("at 25:10 x", None, None, Some("at 25:10 x"), Some("25:10")),
            (
                "by anna at noon",
                Some("anna"),
                None,
                Some("at noon"),
                Some("noon"),
            ),
            ("by", None, None, Some("by"), None),
            ("", None, None, None, None),
            ("by a by b", Some("a"), None, Some("by b"), None),
        ] {
            let wanted = Stated {
                by: by.map(str::to_owned),
                at: when.map(at),
                how: how.map(str::to_owned),
                no_time: no_time.map(str::to_owned),
            };
            assert_eq!(Stated::of(text, now), wanted, "{text}");
        }
    }

    #[test]
    fn a_time_that_cannot_be_meant_is_doubted() {
        let now = at("2026-12-01T08:16:35Z");
        let booted = at("2026-12-01T05:00:00Z");
        let opened = at("2026-12-01T08:00:00Z");
        for (text, against) in [
            ("at 08:20", Some("in the future")),
            ("at 04:00", Some("before this machine was started")),
            ("at 07:40", Some("before this incident was opened")),
            ("at 08:10", None),
            ("by anna", None),
        ] {
            let doubt = Stated::of(text, now).doubt(now, booted, Some(opened));
            assert_eq!(doubt.is_some(), against.is_some(), "{text}: {doubt:?}");
            assert!(doubt.is_none_or(|doubt| doubt.contains(against.unwrap_or_default())));
        }
    }
}
