//! The reports, and how they are cut to a number of tokens.

pub mod activity;
pub mod architecture;
pub mod codebase;
pub mod dependencies;
mod dependency_kinds;
pub mod focus;
mod headline;
pub mod history;
pub mod issues;
mod module_graph;
mod schema;
mod summary;
pub mod symbols;

use std::ops::{Deref, DerefMut};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::harmless;

pub use schema::schema;
pub(crate) use summary::shorten;
pub use summary::{Cut, DEFAULT_TOKENS, MAX_TOKENS, Report, summarise};

/// Longest text of either field of [`Incomplete`]; both may quote the repository.
const MAX_TEXT_LENGTH: usize = 240;

/// A list sorted by importance, the most important first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listing<T> {
    /// The entries, the most important first.
    pub items: Vec<T>,
    /// How many less important entries are left out here.
    pub omitted: u64,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Listing<T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, omitted: 0 }
    }
}

impl<T> FromIterator<T> for Listing<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Deref for Listing<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for Listing<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<T> Listing<T> {
    /// Keeps the first `most` entries.
    pub fn bounded(mut items: Vec<T>, most: usize) -> Self {
        let omitted = items.len().saturating_sub(most) as u64;
        items.truncate(most);
        Self { items, omitted }
    }

    /// Returns whether there is no entry, not even an omitted one.
    pub fn has_nothing(&self) -> bool {
        self.total() == 0
    }

    /// Returns how many entries there are, those left out included.
    pub fn total(&self) -> u64 {
        self.items.len() as u64 + self.omitted
    }
}

/// A part of the analysis that is missing or cut short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Incomplete {
    /// The part of the report, or the file, that this is about.
    pub what: String,
    /// Why it is missing or partial.
    pub why: String,
}

impl Incomplete {
    pub fn new(what: &str, why: impl AsRef<str>) -> Self {
        Self {
            what: harmless(what, MAX_TEXT_LENGTH),
            why: harmless(why.as_ref(), MAX_TEXT_LENGTH),
        }
    }

    /// The entry for a part that the time limit cut off.
    pub(crate) fn out_of_time(what: &str) -> Self {
        Self::new(what, "the time limit was reached")
    }
}
