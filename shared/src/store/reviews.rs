//! Review rounds.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};

use super::row::{json, parsed, parsed_option};
use super::{NOW, Reader, StoreError, Writer};
use crate::model::{Finding, Instance, InstanceId, Review, Verdict};

/// A decided round of a person.
#[derive(Debug, Clone)]
pub struct PersonReview {
    pub coder: InstanceId,
    pub commit: String,
    pub verdict: Verdict,
    pub feedback: String,
    pub findings: Vec<Finding>,
}

/// A round to be opened.
#[derive(Debug, Clone)]
pub struct NewReview {
    pub coder: InstanceId,
    pub reviewer: InstanceId,
    pub round: u32,
    pub commit: String,
    pub description: String,
}

fn review(row: &Row<'_>) -> rusqlite::Result<Review> {
    Ok(Review {
        id: row.get("id")?,
        coding_instance_id: parsed(row, "coding_instance_id")?,
        review_instance_id: parsed_option(row, "review_instance_id")?,
        round: row.get("round")?,
        commit_id: row.get("commit_id")?,
        description: row.get("description")?,
        verdict: parsed(row, "verdict")?,
        feedback: row.get("feedback")?,
        findings: json(row, "findings")?,
        requested_at: parsed(row, "requested_at")?,
        decided_at: parsed_option(row, "decided_at")?,
    })
}

impl Reader<'_> {
    /// Returns all rounds of a coder, lost ones too, oldest first.
    pub fn reviews(&self, coder: &InstanceId) -> Result<Vec<Review>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT * FROM review_feedback WHERE coding_instance_id = ?1 ORDER BY id",
        )?;
        let rows = statement
            .query_map([coder.as_str()], review)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the round that a reviewer was started for.
    pub fn review_by(&self, reviewer: &InstanceId) -> Result<Option<Review>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT * FROM review_feedback WHERE review_instance_id = ?1")?
            .query_row([reviewer.as_str()], review)
            .optional()?)
    }

    /// Returns how many rounds each of these agents has used; lost ones, and those of a person, don't count.
    pub fn rounds_used(&self, of: &[Instance]) -> Result<HashMap<InstanceId, u32>, StoreError> {
        let ids: Vec<&str> = of.iter().map(|instance| instance.id.as_str()).collect();
        let mut statement = self.connection.prepare_cached(
            "SELECT coding_instance_id, count(*) AS used FROM review_feedback
             WHERE coding_instance_id IN (SELECT value FROM json_each(?1)) AND verdict <> 'lost'
               AND review_instance_id IS NOT NULL
             GROUP BY coding_instance_id",
        )?;
        let rows = statement
            .query_map([serde_json::json!(ids).to_string()], |row| {
                Ok((parsed(row, "coding_instance_id")?, row.get("used")?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns the round that is under way.
    pub fn pending_review(&self, coder: &InstanceId) -> Result<Option<Review>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT * FROM review_feedback WHERE coding_instance_id = ?1 AND verdict = 'pending'",
            )?
            .query_row([coder.as_str()], review)
            .optional()?)
    }
}

impl Writer<'_> {
    /// Opens a round; there is at most one at a time.
    pub fn insert_review(&self, new: &NewReview) -> Result<(), StoreError> {
        if self.pending_review(&new.coder)?.is_some() {
            return Err(StoreError::ReviewPending {
                coder: new.coder.clone(),
            });
        }
        self.connection.execute(
            &format!(
                "INSERT INTO review_feedback (coding_instance_id, review_instance_id, round, commit_id,
                                              description, verdict, requested_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'pending', {NOW})"
            ),
            params![
                new.coder.as_str(),
                new.reviewer.as_str(),
                new.round,
                new.commit,
                new.description
            ],
        )?;
        Ok(())
    }

    /// Stores a decided round of a person, and returns its number among theirs.
    pub fn insert_person_review(&self, new: &PersonReview) -> Result<u32, StoreError> {
        let earlier = self.reviews(&new.coder)?;
        let earlier = earlier
            .iter()
            .filter(|review| review.is_by_person())
            .count();
        let round = u32::try_from(earlier).unwrap_or(u32::MAX).saturating_add(1);
        self.connection.execute(
            &format!(
                "INSERT INTO review_feedback (coding_instance_id, round, commit_id, description, verdict,
                                              feedback, findings, requested_at, decided_at)
                 VALUES (?1, ?2, ?3, '', ?4, ?5, ?6, {NOW}, {NOW})"
            ),
            params![
                new.coder.as_str(),
                round,
                new.commit,
                new.verdict.as_str(),
                new.feedback,
                serde_json::json!(new.findings).to_string()
            ],
        )?;
        Ok(round)
    }

    /// Closes a round that is under way; false if it was closed already.
    pub fn decide_review(
        &self,
        review: &Review,
        verdict: Verdict,
        feedback: Option<&str>,
        findings: &[Finding],
    ) -> Result<bool, StoreError> {
        let decided = self.connection.execute(
            &format!(
                "UPDATE review_feedback SET verdict = ?2, feedback = ?3, findings = ?4, decided_at = {NOW}
                 WHERE id = ?1 AND verdict = 'pending'"
            ),
            params![
                review.id,
                verdict.as_str(),
                feedback,
                serde_json::json!(findings).to_string()
            ],
        )?;
        Ok(decided == 1)
    }

    /// Records which commit an approval is for: a reviewer may have added commits of its own to what it was asked about.
    pub fn set_approved_commit(&self, review: &Review, commit: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("UPDATE review_feedback SET commit_id = ?2 WHERE id = ?1")?
            .execute(params![review.id, commit])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{new_instance, open_in};

    #[test]
    fn the_first_verdict_stands() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let (coder, reviewer) = (new_instance("work-42-a1"), new_instance("review-42-a1-r1"));
        let new = NewReview {
            coder: coder.id.clone(),
            reviewer: reviewer.id.clone(),
            round: 1,
            commit: "c0ffee".to_owned(),
            description: "Please look.".to_owned(),
        };
        let decide = |verdict, feedback| {
            let decided = store.write_now(|w| {
                let review = w.review_by(&new.reviewer)?.unwrap();
                w.decide_review(&review, verdict, feedback, &[])
            });
            decided.unwrap()
        };
        store
            .write_now(|w| {
                w.insert_instance(&coder, None)?;
                w.insert_instance(&reviewer, None)?;
                w.insert_review(&new)
            })
            .unwrap();
        assert!(decide(Verdict::ChangesRequested, Some("change it")));
        assert!(!decide(Verdict::Lost, None));
        let review = store.read_now(|r| r.review_by(&new.reviewer)).unwrap();
        let review = review.unwrap();
        assert_eq!(review.verdict, Verdict::ChangesRequested);
        assert_eq!(review.feedback.as_deref(), Some("change it"));
    }

    #[test]
    fn rounds_of_a_person_are_counted_apart() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let coder = new_instance("work-42-a1");
        let new = PersonReview {
            coder: coder.id.clone(),
            commit: "c0ffee".to_owned(),
            verdict: Verdict::ChangesRequested,
            feedback: "Not yet.".to_owned(),
            findings: Vec::new(),
        };
        let (row, first, second) = store
            .write_now(|w| {
                let row = w.insert_instance(&coder, None)?;
                let first = w.insert_person_review(&new)?;
                Ok((row, first, w.insert_person_review(&new)?))
            })
            .unwrap();
        assert_eq!((first, second), (1, 2));
        let used = store.read_now(|r| r.rounds_used(&[row])).unwrap();
        assert!(used.is_empty(), "{used:?}");
        let rounds = store.read_now(|r| r.reviews(&coder.id)).unwrap();
        assert_eq!(rounds[1].reviewer_name(), "a person");
        assert!(rounds[1].decided_at.is_some());
    }
}
