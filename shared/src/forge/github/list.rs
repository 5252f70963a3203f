//! Lists, page by page.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::client::Github;
use super::refusal::Subject;
use super::request::Request;
use crate::forge::ForgeError;

/// The most that GitHub gives at once.
pub(super) const PAGE: usize = 100;
/// A list of which hardly anything is wanted is not read to its end.
pub(super) const MOST_PAGES: usize = 20;

/// A list that may have been cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    pub items: Vec<T>,
    /// Whether there are, or may be, more than these.
    pub more: bool,
}

impl Github {
    /// Reads pages until there are enough items that are wanted.
    ///
    /// `wanted` returns an item with its number, or nothing for what is left out. Items that move to
    /// the next page while the list is read are taken once.
    pub(super) async fn list<W: DeserializeOwned, T>(
        &self,
        path: &str,
        query: &str,
        limit: usize,
        wanted: impl Fn(W) -> Option<(u64, T)>,
    ) -> Result<Listed<T>, ForgeError> {
        let clock = self.clock();
        let mut items = Vec::new();
        let mut seen = BTreeSet::new();
        for page in 1..=MOST_PAGES {
            let path = self.path(&format!("{path}?{query}&per_page={PAGE}&page={page}"));
            let answer = self
                .ask(&Request::get(path), clock)
                .await
                .map_err(|lost| lost.error)?;
            let entries: Vec<W> = self.read(&answer, Subject::Repository)?;
            for (number, item) in entries.into_iter().filter_map(&wanted) {
                if items.len() == limit && !seen.contains(&number) {
                    return Ok(Listed { items, more: true });
                }
                if seen.insert(number) {
                    items.push(item);
                }
            }
            if !answer.header("link").is_some_and(names_next) {
                return Ok(Listed { items, more: false });
            }
        }
        Ok(Listed { items, more: true })
    }
}

/// Whether a `Link` header names a next page.
pub(super) fn names_next(link: &str) -> bool {
    link.split(',')
        .flat_map(|part| part.split(';').skip(1))
        .any(|parameter| parameter.trim() == r#"rel="next""#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_next_page_counts() {
        assert!(names_next(
            r#"<https://h/x?page=1>; rel="prev", <https://h/x?page=3>; rel="next""#
        ));
        assert!(!names_next(
            r#"<https://h/x?page=1>; rel="first", <https://h/x?q=rel="next"&page=3>; rel="last""#
        ));
        assert!(!names_next(""));
    }
}
