//! Token usage of agents, and how far their transcripts were read for it.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, named_params, params};

use super::row::parsed;
use super::{Reader, StoreError, Writer};
use crate::model::{ContextSize, Instance, InstanceId, ModelUsage, TaskId, Tokens};

/// A transcript, and how far it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptRow {
    pub id: i64,
    /// Who it was read for last.
    pub instance: InstanceId,
    pub revision: i64,
    pub cursor: String,
}

/// What was read of a transcript.
#[derive(Debug, Clone)]
pub struct NewUsage {
    pub path: String,
    pub instance: InstanceId,
    /// What was known when the reading began; none: the file was not known.
    pub before: Option<TranscriptRow>,
    pub cursor: String,
    /// Whether this replaces what was counted of the file before.
    pub anew: bool,
    pub added: Vec<ModelUsage>,
    /// The conversation at the last answer, and when that was.
    pub context: Option<(ContextSize, String)>,
}

/// What agents have used, by whom or what is asked about.
#[derive(Debug, Clone, Default)]
pub struct UsageRows {
    pub used: Vec<ModelUsage>,
    pub context: Option<ContextSize>,
}

const COUNTS: &str =
    "sum(u.input) AS input, sum(u.output) AS output, sum(u.cache_write_5m) AS cache_write_5m,
    sum(u.cache_write_1h) AS cache_write_1h, sum(u.cache_read) AS cache_read";

fn model_usage(row: &Row<'_>) -> rusqlite::Result<ModelUsage> {
    Ok(ModelUsage {
        model: row.get("model")?,
        long_prompt: row.get("long_prompt")?,
        tokens: Tokens {
            input: row.get("input")?,
            output: row.get("output")?,
            cache_write_5m: row.get("cache_write_5m")?,
            cache_write_1h: row.get("cache_write_1h")?,
            cache_read: row.get("cache_read")?,
        },
    })
}

impl Reader<'_> {
    /// Returns how far a transcript was read.
    pub fn transcript(&self, path: &str) -> Result<Option<TranscriptRow>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT * FROM transcripts WHERE path = ?1")?
            .query_row([path], |row| {
                Ok(TranscriptRow {
                    id: row.get("id")?,
                    instance: parsed(row, "instance_id")?,
                    revision: row.get("revision")?,
                    cursor: row.get("cursor")?,
                })
            })
            .optional()?)
    }

    /// Returns what each of these agents has used itself.
    pub fn usage(&self, of: &[Instance]) -> Result<HashMap<InstanceId, UsageRows>, StoreError> {
        let ids: Vec<&str> = of.iter().map(|instance| instance.id.as_str()).collect();
        let ids = serde_json::json!(ids).to_string();
        let mut rows: HashMap<InstanceId, UsageRows> = self.summed(
            "SELECT value AS key, value AS id FROM json_each(:wanted)",
            "",
            &ids,
        )?;
        let mut statement = self.connection.prepare_cached(
            "SELECT t.instance_id, t.context_tokens, t.context_model FROM json_each(?1) AS wanted
             JOIN transcripts AS t ON t.id = (
                 SELECT id FROM transcripts WHERE instance_id = wanted.value AND context_at IS NOT NULL
                 ORDER BY context_at DESC LIMIT 1)",
        )?;
        let contexts = statement.query_map([ids], |row| {
            let size = ContextSize {
                model: row.get("context_model")?,
                tokens: row.get("context_tokens")?,
            };
            Ok((parsed::<InstanceId>(row, "instance_id")?, size))
        })?;
        for context in contexts {
            let (id, size) = context?;
            rows.entry(id).or_default().context = Some(size);
        }
        Ok(rows)
    }

    /// Returns what the agents of each task have used, and their reviewers.
    pub fn task_usage(&self, of: &[TaskId]) -> Result<HashMap<TaskId, UsageRows>, StoreError> {
        let ids: Vec<&str> = of.iter().map(TaskId::as_str).collect();
        self.summed(
            "SELECT i.task_id AS key, i.id AS id FROM json_each(:wanted) AS wanted
             JOIN instances AS i ON i.task_id = wanted.value AND i.task_id IS NOT NULL",
            "",
            &serde_json::json!(ids).to_string(),
        )
    }

    /// Returns what the agents of each pull request have used, and their reviewers, by the pull request's address.
    pub fn pull_usage(
        &self,
        repository: &str,
        urls: &[String],
    ) -> Result<HashMap<String, UsageRows>, StoreError> {
        self.summed(
            "SELECT i.pr_url AS key, i.id AS id FROM json_each(:wanted) AS wanted
             JOIN instances AS i ON i.pr_url = wanted.value AND i.pr_url IS NOT NULL AND i.repository = :repository",
            repository,
            &serde_json::json!(urls).to_string(),
        )
    }

    /// Sums up what agents and their reviewers have used, by the keys that a query gives the agents.
    fn summed<K>(
        &self,
        agents: &str,
        repository: &str,
        wanted: &str,
    ) -> Result<HashMap<K, UsageRows>, StoreError>
    where
        K: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static> + Eq + std::hash::Hash,
    {
        // Of agents that are asked about by themselves, the reviewers are among those asked about.
        let reviewers = if agents.contains("instances") {
            "UNION SELECT agents.key, r.id FROM agents JOIN instances AS r ON r.parent_instance_id = agents.id"
        } else {
            ""
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "WITH agents AS ({agents}), everybody AS (SELECT key, id FROM agents {reviewers})
             SELECT everybody.key, u.model, u.long_prompt, {COUNTS} FROM everybody
             JOIN usage AS u ON u.instance_id = everybody.id
             WHERE :repository IS NOT NULL GROUP BY everybody.key, u.model, u.long_prompt"
        ))?;
        let mut rows: HashMap<K, UsageRows> = HashMap::new();
        let found = statement.query_map(
            named_params! {":wanted": wanted, ":repository": repository},
            |row| Ok((parsed::<K>(row, "key")?, model_usage(row)?)),
        )?;
        for row in found {
            let (key, usage) = row?;
            rows.entry(key).or_default().used.push(usage);
        }
        Ok(rows)
    }

    /// Returns what all agents have ever used.
    pub fn usage_totals(&self) -> Result<Vec<ModelUsage>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT * FROM usage_totals ORDER BY model, long_prompt")?;
        let rows = statement
            .query_map([], model_usage)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl Writer<'_> {
    /// Adds what was read of a transcript; false, and nothing, if somebody else has read on since.
    pub fn add_usage(&self, new: &NewUsage) -> Result<bool, StoreError> {
        let Some(transcript) = self.read_on(new)? else {
            return Ok(false);
        };
        if new.anew {
            self.forget_usage(transcript)?;
        }
        for usage in &new.added {
            let tokens = usage.tokens;
            let counts = params![
                usage.model,
                usage.long_prompt,
                tokens.input,
                tokens.output,
                tokens.cache_write_5m,
                tokens.cache_write_1h,
                tokens.cache_read,
                transcript,
                new.instance.as_str(),
            ];
            let add = "DO UPDATE SET input = input + excluded.input, output = output + excluded.output,
                 cache_write_5m = cache_write_5m + excluded.cache_write_5m,
                 cache_write_1h = cache_write_1h + excluded.cache_write_1h, cache_read = cache_read + excluded.cache_read";
            self.connection
                .prepare_cached(&format!(
                    "INSERT INTO usage (model, long_prompt, input, output, cache_write_5m, cache_write_1h, cache_read,
                                        transcript_id, instance_id)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                     ON CONFLICT (transcript_id, instance_id, model, long_prompt) {add}"
                ))?
                .execute(counts)?;
            self.connection
                .prepare_cached(&format!(
                    "INSERT INTO usage_totals (model, long_prompt, input, output, cache_write_5m, cache_write_1h, cache_read)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (model, long_prompt) {add}"
                ))?
                .execute(&counts[..7])?;
        }
        Ok(true)
    }

    /// Records how far a transcript was read, and returns its number; none if somebody else has read on since.
    fn read_on(&self, new: &NewUsage) -> Result<Option<i64>, StoreError> {
        let (tokens, model, at) = match &new.context {
            Some((size, at)) => (Some(size.tokens), Some(&size.model), Some(at)),
            None => (None, None, None),
        };
        let Some(before) = &new.before else {
            let mut statement = self.connection.prepare_cached(
                "INSERT INTO transcripts (path, instance_id, revision, cursor, context_tokens, context_model, context_at)
                 VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6) ON CONFLICT (path) DO NOTHING RETURNING id",
            )?;
            let values = params![
                new.path,
                new.instance.as_str(),
                new.cursor,
                tokens,
                model,
                at
            ];
            return Ok(statement.query_row(values, |row| row.get(0)).optional()?);
        };
        let mut statement = self.connection.prepare_cached(
            "UPDATE transcripts SET revision = revision + 1, instance_id = ?3, cursor = ?4,
                 context_tokens = coalesce(?5, context_tokens), context_model = coalesce(?6, context_model),
                 context_at = coalesce(?7, context_at)
             WHERE id = ?1 AND revision = ?2 RETURNING id",
        )?;
        let values = params![
            before.id,
            before.revision,
            new.instance.as_str(),
            new.cursor,
            tokens,
            model,
            at
        ];
        Ok(statement.query_row(values, |row| row.get(0)).optional()?)
    }

    /// Takes back what was counted of a transcript.
    fn forget_usage(&self, transcript: i64) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(&format!(
                "UPDATE usage_totals SET input = max(0, usage_totals.input - gone.input),
                     output = max(0, usage_totals.output - gone.output),
                     cache_write_5m = max(0, usage_totals.cache_write_5m - gone.cache_write_5m),
                     cache_write_1h = max(0, usage_totals.cache_write_1h - gone.cache_write_1h),
                     cache_read = max(0, usage_totals.cache_read - gone.cache_read)
                 FROM (SELECT u.model, u.long_prompt, {COUNTS} FROM usage AS u
                       WHERE u.transcript_id = ?1 GROUP BY u.model, u.long_prompt) AS gone
                 WHERE usage_totals.model = gone.model AND usage_totals.long_prompt = gone.long_prompt"
            ))?
            .execute([transcript])?;
        self.connection
            .prepare_cached("DELETE FROM usage WHERE transcript_id = ?1")?
            .execute([transcript])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::InstanceKind;
    use crate::store::tests::{new_instance, open_in};

    fn read(
        path: &str,
        instance: &InstanceId,
        before: Option<TranscriptRow>,
        input: u64,
    ) -> NewUsage {
        let size = ContextSize {
            model: "claude-opus-5".to_owned(),
            tokens: input,
        };
        NewUsage {
            path: path.to_owned(),
            instance: instance.clone(),
            before,
            cursor: "{}".to_owned(),
            anew: false,
            added: vec![ModelUsage {
                model: "claude-opus-5".to_owned(),
                long_prompt: false,
                tokens: Tokens {
                    input,
                    ..Tokens::default()
                },
            }],
            context: Some((size, format!("2026-11-18T12:00:{input:02}Z"))),
        }
    }

    #[test]
    fn two_that_read_at_once_count_once_and_what_is_read_anew_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let coder = new_instance("work-42-a1");
        store
            .write_now(|w| w.insert_instance(&coder, None))
            .unwrap();
        let add = |new: &NewUsage| store.write_now(|w| w.add_usage(new)).unwrap();
        let known = || store.read_now(|r| r.transcript("/t")).unwrap();
        let input = || {
            let (all, totals) = store
                .read_now(|r| Ok((r.usage(&[r.instance(&coder.id)?])?, r.usage_totals()?)))
                .unwrap();
            let of = |used: &[ModelUsage]| used.iter().map(|usage| usage.tokens.input).sum::<u64>();
            assert_eq!(of(&all[&coder.id].used), of(&totals));
            (of(&totals), all[&coder.id].context.clone().unwrap().tokens)
        };
        assert!(add(&read("/t", &coder.id, None, 5)));
        assert!(!add(&read("/t", &coder.id, None, 5)), "both found it new");
        let before = known();
        assert!(add(&read("/t", &coder.id, before.clone(), 7)));
        assert!(!add(&read("/t", &coder.id, before, 7)), "both read on");
        assert!(add(&read("/sub", &coder.id, None, 3)));
        assert_eq!(input(), (15, 7));
        let anew = NewUsage {
            anew: true,
            ..read("/t", &coder.id, known(), 9)
        };
        assert!(add(&anew));
        assert_eq!(input(), (12, 9));
    }

    #[test]
    fn reviewers_count_to_the_task_and_the_pull_request_of_their_coder() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_in(folder.path());
        let coder = new_instance("work-42-a1");
        let mut reviewer = new_instance("review-42-a1-r1");
        reviewer.kind = InstanceKind::Review;
        reviewer.parent_instance_id = Some(coder.id.clone());
        let other = new_instance("work-43-a1");
        let url = "codex://pull/app/1".to_owned();
        let repository = coder.repository.clone();
        store
            .write_now(|w| {
                for (number, instance) in [&coder, &reviewer, &other].into_iter().enumerate() {
                    w.insert_instance(instance, None)?;
                    let input = 10_u64.pow(u32::try_from(number).unwrap());
                    w.add_usage(&read(instance.id.as_str(), &instance.id, None, input))?;
                }
                w.connection.execute(
                    "UPDATE instances SET pr_url = ?1 WHERE id = 'work-42-a1'",
                    [&url],
                )?;
                Ok(())
            })
            .unwrap();
        let rows = store.read_now(|r| r.pull_usage(&repository, std::slice::from_ref(&url)));
        let rows = rows.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[&url].used[0].tokens.input, 11);
        assert!(
            store
                .read_now(|r| r.pull_usage("/elsewhere", std::slice::from_ref(&url)))
                .unwrap()
                .is_empty()
        );
        assert!(store.read_now(|r| r.task_usage(&[])).unwrap().is_empty());
    }
}
