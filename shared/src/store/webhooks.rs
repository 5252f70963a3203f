//! Webhook deliveries that were processed, so that a repeated one is ignored.

use rusqlite::params;

use super::{NOW, StoreError, Writer};

/// How many are remembered: GitHub sends one again within hours, and no repository has so many in them.
const MAX_DELIVERIES: u32 = 5_000;

impl Writer<'_> {
    /// Remembers a webhook; false if it was heard before.
    pub fn record_webhook(&self, delivery: &str) -> Result<bool, StoreError> {
        let new = self
            .connection
            .prepare_cached(&format!(
                "INSERT OR IGNORE INTO webhook_deliveries (id, received_at) VALUES (?1, {NOW})"
            ))?
            .execute(params![delivery])?;
        if new == 1 {
            self.connection
                .prepare_cached(
                    "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
                     ORDER BY received_at DESC LIMIT -1 OFFSET ?1)",
                )?
                .execute([MAX_DELIVERIES])?;
        }
        Ok(new == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::MAX_DELIVERIES;

    #[test]
    fn a_webhook_is_heard_once_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let heard = store.write_now(|w| {
            let first = w.record_webhook("a")?;
            let second = w.record_webhook("a")?;
            for number in 0..MAX_DELIVERIES {
                assert!(w.record_webhook(&format!("n{number}"))?);
            }
            let count: u32 = w.connection.query_row(
                "/* all */ SELECT count(*) FROM webhook_deliveries",
                [],
                |row| row.get(0),
            )?;
            Ok((first, second, count))
        });
        assert_eq!(heard.unwrap(), (true, false, MAX_DELIVERIES));
    }
}
