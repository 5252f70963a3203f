//! Rows that contradict each other: what no committed change may leave behind once everything is at rest.

use super::{Reader, StoreError};

/// A row that can't be right beside another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The id of the row.
    pub subject: String,
    pub problem: &'static str,
    /// Whether something exists twice; else a status is contradicted.
    pub doubled: bool,
}

/// What must find nothing: the problem, whether it is about doubles, and a query for the ids of the rows.
const QUERIES: [(&str, bool, &str); 10] = [
    (
        "waits for a review, but none is pending",
        false,
        "SELECT id FROM instances WHERE status IN ('waiting_review', 'under_review')
           AND NOT EXISTS (SELECT 1 FROM review_feedback r
                           WHERE r.coding_instance_id = instances.id AND r.verdict = 'pending')",
    ),
    (
        "has a pending review whose coder does not wait for it",
        false,
        "SELECT coding_instance_id FROM review_feedback r CROSS JOIN instances i ON i.id = r.coding_instance_id
         WHERE r.verdict = 'pending'
           AND i.status NOT IN ('waiting_review', 'under_review', 'creating_pr')",
    ),
    (
        "has ended without a verdict on a review that is still pending",
        false,
        "SELECT review_instance_id FROM review_feedback r CROSS JOIN instances i ON i.id = r.review_instance_id
         WHERE r.verdict = 'pending' AND i.status IN ('completed', 'failed', 'terminated')",
    ),
    (
        "has received feedback, but no feedback is owed to it",
        false,
        "SELECT id FROM instances WHERE status = 'feedback_received'
           AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.instance_id = instances.id
                           AND m.kind = 'feedback' AND m.state IN ('owed', 'typed'))",
    ),
    (
        "is owed to an agent that has ended for good",
        false,
        "SELECT m.id FROM messages m CROSS JOIN instances i ON i.id = m.instance_id
         WHERE m.state IN ('owed', 'typed') AND i.status IN ('completed', 'pr_merged', 'pr_closed')",
    ),
    (
        "is publishing, but nobody is at work on that",
        false,
        "SELECT id FROM instances WHERE status = 'creating_pr' AND owner_pid IS NULL",
    ),
    (
        "is in progress, but no agent works on it",
        false,
        "SELECT id FROM tasks WHERE status = 'in_progress'
           AND NOT EXISTS (SELECT 1 FROM instances i WHERE i.task_id = tasks.id
                           AND i.status NOT IN ('pr_merged', 'pr_closed', 'completed', 'failed', 'terminated'))",
    ),
    (
        "shares its issue with another task",
        true,
        "SELECT id FROM (
             SELECT id, count(*) OVER (PARTITION BY repository, issue_number) AS sharing
             FROM tasks INDEXED BY tasks_with_issue WHERE issue_number IS NOT NULL)
         WHERE sharing > 1",
    ),
    (
        "has more than one open pull request",
        true,
        "SELECT instance_id FROM pull_requests INDEXED BY pull_requests_open_head WHERE state = 'open' AND instance_id IS NOT NULL
         GROUP BY instance_id HAVING count(*) > 1",
    ),
    (
        "has a merge that was begun and not finished",
        false,
        "SELECT repository || '#' || number FROM local_merges",
    ),
];

impl Reader<'_> {
    /// Returns every row that contradicts another.
    pub fn contradictions(&self) -> Result<Vec<Contradiction>, StoreError> {
        let mut found = Vec::new();
        for (problem, doubled, query) in QUERIES {
            let mut statement = self.connection.prepare(query)?;
            let subjects = statement.query_map([], |row| row.get::<_, String>(0))?;
            for subject in subjects {
                found.push(Contradiction {
                    subject: subject?,
                    problem,
                    doubled,
                });
            }
        }
        Ok(found)
    }

    /// Returns the numbers of a repository's local pull requests.
    pub fn pull_numbers(&self, repository: &str) -> Result<Vec<u64>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT number FROM pull_requests WHERE repository = ?1")?;
        let numbers = statement
            .query_map([repository], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(numbers)
    }
}
