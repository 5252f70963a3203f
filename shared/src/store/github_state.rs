//! GitHub cache: `ETag`s for conditional requests, and until when a rate limit (`Retry-After`) forbids them.

use rusqlite::{OptionalExtension, params};

use super::{NOW, Reader, StoreError, Writer};

/// The last answer about one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedResponse {
    pub etag: String,
    /// The answer itself, as JSON.
    pub body: String,
}

impl Reader<'_> {
    /// Returns the last answer about a resource, if it can be asked for again by its tag.
    pub fn cached_response(&self, resource: &str) -> Result<Option<CachedResponse>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT etag, body FROM github_state
                 WHERE resource = ?1 AND etag IS NOT NULL AND body IS NOT NULL",
            )?
            .query_row([resource], |row| {
                Ok(CachedResponse {
                    etag: row.get(0)?,
                    body: row.get(1)?,
                })
            })
            .optional()?)
    }

    /// Returns for how many more seconds nothing about a resource may be asked.
    pub fn retry_after(&self, resource: &str) -> Result<Option<u64>, StoreError> {
        let seconds: Option<u64> = self
            .connection
            .prepare_cached(
                "SELECT max(0, unixepoch(retry_at) - unixepoch('now')) FROM github_state
                 WHERE resource = ?1 AND retry_at IS NOT NULL",
            )?
            .query_row([resource], |row| row.get(0))
            .optional()?;
        Ok(seconds.filter(|seconds| *seconds > 0))
    }
}

impl Writer<'_> {
    /// Keeps an answer under the tag it came with; one without a tag is forgotten.
    pub fn set_heard(
        &self,
        resource: &str,
        etag: Option<&str>,
        body: &str,
    ) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO github_state (resource, etag, body, updated_at)
                 VALUES (?1, ?2, ?3, {NOW})
                 ON CONFLICT (resource) DO UPDATE
                 SET etag = excluded.etag, body = excluded.body, updated_at = excluded.updated_at"
            ))?
            .execute(params![resource, etag, body])?;
        Ok(())
    }

    /// Lets nothing be asked about a resource for some seconds.
    pub fn set_retry_after(&self, resource: &str, seconds: u64) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO github_state (resource, retry_at, updated_at)
                 VALUES (?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+' || ?2 || ' seconds'), {NOW})
                 ON CONFLICT (resource) DO UPDATE
                 SET retry_at = excluded.retry_at, updated_at = excluded.updated_at"
            ))?
            .execute(params![resource, seconds])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Store;

    #[test]
    fn the_last_answer_is_kept_with_its_tag() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let asked = store.write_now(|w| {
            assert_eq!(w.cached_response("pull/1")?, None);
            w.set_heard("pull/1", Some("a"), "{}")?;
            w.set_heard("pull/1", Some("b"), "[]")?;
            let kept = w.cached_response("pull/1")?;
            w.set_heard("pull/1", None, "[]")?;
            assert_eq!(w.cached_response("pull/1")?, None);
            assert_eq!(w.retry_after("api")?, None);
            w.set_retry_after("api", 0)?;
            assert_eq!(w.retry_after("api")?, None);
            w.set_retry_after("api", 100)?;
            assert!(
                w.retry_after("api")?
                    .is_some_and(|seconds| (90..=100).contains(&seconds))
            );
            assert_eq!(w.cached_response("api")?, None);
            Ok(kept)
        });
        let kept = asked.unwrap().unwrap();
        assert_eq!((kept.etag.as_str(), kept.body.as_str()), ("b", "[]"));
    }
}
