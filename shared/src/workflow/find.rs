//! Ids given by a person: a unique prefix is enough; several matches are listed, and an unknown id gets the nearest one.

use std::fmt::Display;

use serde_json::json;

use crate::error::{Code, Error};
use crate::model::{InstanceId, TaskId};
use crate::nearest::nearest;
use crate::store::StoreError;
use crate::workflow::Context;

/// How many matches an error lists.
const MAX_LISTED: usize = 10;
/// One more shows that there are more.
const MAX_MATCHES: u32 = 11;
/// How many of the newest ids are compared with one that is unknown.
const MAX_COMPARED: u32 = 500;
/// How alike two ids must be. Those of one kind have their beginning in common, so it takes more than that.
const MIN_SIMILARITY: f64 = 0.85;

/// Returns the agent whose id is, or is the only one that begins with, what was given.
pub async fn find_instance(context: &Context, given: &InstanceId) -> Result<InstanceId, Error> {
    let wanted = given.clone();
    let matches = context
        .store
        .read(move |r| r.instances_named(&wanted, MAX_MATCHES))
        .await?;
    if let Some(found) = only("agents", given, matches)? {
        return Ok(found);
    }
    let known = context
        .store
        .read(|r| r.recent_instances(MAX_COMPARED))
        .await?;
    let known = known.into_iter().map(|instance| instance.id.to_string());
    let unknown = StoreError::InstanceNotFound { id: given.clone() };
    Err(did_you_mean(unknown.into(), given.as_str(), known))
}

/// Returns the task of this repository whose id is, or is the only one that begins with, what was given.
///
/// `task-`, which all of them have, may be left out.
pub async fn find_task(context: &Context, given: &TaskId) -> Result<TaskId, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let wanted = given.clone();
    let (matches, known) = context
        .store
        .read(move |r| {
            let mut matches = r.tasks_named(&repository, &wanted, MAX_MATCHES)?;
            if matches.is_empty() {
                matches = r.task_ids(&repository, &format!("task-{wanted}"), MAX_MATCHES)?;
            }
            let known = if matches.is_empty() {
                let page = r.tasks_by_place(&repository, false, 0, MAX_COMPARED.into())?;
                page.tasks
            } else {
                Vec::new()
            };
            Ok((matches, known))
        })
        .await?;
    if let Some(found) = only("tasks", given, matches)? {
        return Ok(found);
    }
    let known = known.into_iter().map(|task| task.id.to_string());
    let unknown = StoreError::TaskNotFound { id: given.clone() };
    Err(did_you_mean(unknown.into(), given.as_str(), known))
}

/// Returns the TDD run whose id is, or is the only one that begins with, what was given.
pub async fn find_tdd_run(context: &Context, given: &InstanceId) -> Result<InstanceId, Error> {
    let wanted = given.clone();
    let matches = context
        .store
        .read(move |r| r.tdd_runs_named(&wanted, MAX_MATCHES))
        .await?;
    let unknown = || StoreError::TddRunNotFound { id: given.clone() };
    only("runs", given, matches)?.ok_or_else(|| unknown().into())
}

/// Returns the only match, if there is any; several are an error that lists them.
fn only<T: Display>(what: &str, given: &T, mut matches: Vec<T>) -> Result<Option<T>, Error> {
    if matches.len() < 2 {
        return Ok(matches.pop());
    }
    let more = matches.len() > MAX_LISTED;
    matches.truncate(MAX_LISTED);
    let mut listed: Vec<String> = matches.iter().map(ToString::to_string).collect();
    let details = json!({ "matches": listed });
    if more {
        listed.push("…".to_owned());
    }
    let message = format!("several {what} begin with {given}: {}", listed.join(", "));
    Err(Error::new(Code::AmbiguousId, message)
        .hint("Give enough of the id that only one begins with it.")
        .details(details))
}

fn did_you_mean(error: Error, given: &str, known: impl Iterator<Item = String>) -> Error {
    let Some(near) = nearest(given, known, MIN_SIMILARITY) else {
        return error;
    };
    let hint = match &error.hint {
        Some(hint) => format!("Did you mean {near}? {hint}"),
        None => format!("Did you mean {near}?"),
    };
    error.hint(hint)
}
