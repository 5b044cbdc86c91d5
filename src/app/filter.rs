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
