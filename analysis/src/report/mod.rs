//! The reports: what a caller gets, and how they are cut to a budget.

pub mod architecture;
mod budget;
pub mod codebase;
pub mod dependencies;
mod dependency_words;
mod headline;
pub mod issues;

use std::ops::{Deref, DerefMut};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::harmless;

pub(crate) use budget::shorten;
pub use budget::{Cut, DEFAULT_BUDGET, MAXIMUM_BUDGET, Report, summarise};

/// Longest text of either field of [`Incomplete`]; both may quote the repository.
const LONGEST: usize = 240;

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

    /// Tells whether there is no entry, not even one that was left out.
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
            what: harmless(what, LONGEST),
            why: harmless(why.as_ref(), LONGEST),
        }
    }

    /// Says that the time limit struck before this part was done.
    pub(crate) fn out_of_time(what: &str) -> Self {
        Self::new(what, "the time was up")
    }
}
