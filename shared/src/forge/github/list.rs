//! Pagination of lists.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::client::Github;
use super::refusal::Subject;
use super::request::Request;
use super::retry::Deadline;
use crate::forge::ForgeError;

/// GitHub's maximum.
pub(super) const PAGE_SIZE: u8 = 100;
/// A list with few wanted items is not read to its end.
pub(super) const MAX_PAGES: u32 = 20;

/// A list that may be incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    pub items: Vec<T>,
    /// Whether there are, or may be, more items.
    pub more: bool,
}

impl Github {
    /// Reads pages until there are enough wanted items.
    ///
    /// `wanted` returns an item with its number, or nothing for an item to skip. Items that move to
    /// the next page while the list is read are returned once.
    pub(super) async fn list<W: DeserializeOwned, T>(
        &self,
        path: &str,
        limit: usize,
        wanted: impl Fn(W) -> Option<(u64, T)>,
    ) -> Result<Listed<T>, ForgeError> {
        let deadline = self.deadline();
        let mut items = Vec::new();
        let mut seen = BTreeSet::new();
        for page in 1..=MAX_PAGES {
            let (entries, has_next) = self.page::<W>(path, page, deadline).await?;
            for (number, item) in entries.into_iter().filter_map(&wanted) {
                if items.len() == limit && !seen.contains(&number) {
                    return Ok(Listed { items, more: true });
                }
                if seen.insert(number) {
                    items.push(item);
                }
            }
            if !has_next {
                return Ok(Listed { items, more: false });
            }
        }
        Ok(Listed { items, more: true })
    }

    /// Returns one page of a list, and whether there is a next one.
    pub(super) async fn page<W: DeserializeOwned>(
        &self,
        path: &str,
        page: u32,
        deadline: Deadline,
    ) -> Result<(Vec<W>, bool), ForgeError> {
        let request = Request::get(self.path(&format!("{path}&page={page}")));
        let response = self.fetch(&request, deadline).await?;
        let has_next = response.header("link").is_some_and(names_next);
        Ok((self.parse(&response, Subject::Repository)?, has_next))
    }
}

/// Returns whether a `Link` header names a next page.
fn names_next(link: &str) -> bool {
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
