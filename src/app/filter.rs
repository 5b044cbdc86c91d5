//! Filter and search: what was typed, and what it asks for.

use crate::table::Query;

/// What the tree is filtered by.
#[derive(Debug, Default)]
pub struct Filter {
    text: String,
    query: Query,
}

impl Filter {
    /// Returns the filter as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what it asks for.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Replaces the filter.
    pub(super) fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.query = Query::parse(text);
    }
}

/// What is searched.
#[derive(Debug, Default)]
pub struct Search {
    text: String,
    query: Query,
}

impl Search {
    /// Returns the text that is searched.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what it asks for.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns whether something is searched.
    pub fn is_set(&self) -> bool {
        !self.query.is_empty()
    }

    /// Replaces what is searched.
    pub(super) fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.query = Query::text(text);
    }
}

#[cfg(test)]
mod tests {
    use crate::app::testkit::{app, live, press, rows, selected};

    #[test]
    fn the_selected_row_stays_when_the_filter_goes() {
        let mut app = app(live().world(), 80, 24);
        assert_eq!(selected(&app), "git 48271");
        press(&mut app, "/ finding:held <enter>");
        assert_eq!(selected(&app), "scrape 50113");
        press(&mut app, "<esc>");
        assert_eq!(app.filter().text(), "");
        assert_eq!(selected(&app), "scrape 50113");
    }

    #[test]
    fn a_row_that_only_the_filter_unfolded_stays_in_sight() {
        let mut app = app(live().world(), 80, 24);
        assert!(!rows(&app).contains(&"    tools 70002".to_owned()));
        press(&mut app, "/ pid:70002 <enter>");
        assert_eq!(selected(&app), "tools 70002");
        press(&mut app, "<esc>");
        assert_eq!(selected(&app), "tools 70002");
        assert!(rows(&app).len() > 10, "the filter is gone");
    }

    #[test]
    fn a_pid_is_that_process_and_not_what_it_adopted() {
        let mut app = app(live().world(), 80, 24);
        press(&mut app, "/ pid:1 <enter>");
        assert_eq!(selected(&app), "init 1");
        assert_eq!(rows(&app), ["init 1"], "no row of another pid");
        press(&mut app, "<esc> a / pid:1 <enter>");
        assert_eq!(rows(&app).len(), 1, "{:?}", rows(&app));
    }

    #[test]
    fn a_term_that_cannot_be_meant_is_told_while_it_is_typed_and_when_it_is_kept() {
        let mut app = app(live().world(), 80, 24);
        press(&mut app, "/ finding:sev");
        assert_eq!(app.filter_complaint(), None);
        press(&mut app, "r");
        let wrong = app.filter_complaint().unwrap();
        assert!(wrong.starts_with("no finding \"sevr\": severed"), "{wrong}");
        press(&mut app, "<enter>");
        assert!(app.status().unwrap().contains(&wrong));
        assert_eq!(app.filter_complaint(), None, "nothing is typed any more");
    }
}
