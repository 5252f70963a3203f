//! What a person reviews: a pull request, or the work of an agent that has not published it.

use std::fmt;

use clap::Args;
use serde_json::{Value, json};
use shared::error::Error;
use shared::model::{Instance, InstanceId};
use shared::workflow::{self, Context, Run};

use super::{PullName, pull_name};
use crate::completion;

#[derive(Debug, Args)]
pub(super) struct WorkArg {
    /// The number or address of the pull request, or the id of an agent
    #[arg(value_name = "N|ID", value_parser = work, add = completion::work())]
    pub(super) work: Work,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    Pull(PullName),
    Agent(InstanceId),
}

impl Work {
    /// Returns the commit whose lines are meant: that of the pull request, although its agent may have gone on since. None
    /// for the work of an agent as it is, and for commits that are on GitHub.
    pub(super) async fn commit(&self, context: &Context) -> Result<Option<String>, Error> {
        let Self::Pull(pull) = self else {
            return Ok(None);
        };
        let pull = workflow::pull(context, pull.number).await?;
        let is_local = pull.url.starts_with("codex:");
        Ok(is_local.then_some(pull.head_commit))
    }

    /// Returns the coder whose work it is.
    pub(super) async fn coder(&self, context: &Context, run: &Run) -> Result<Instance, Error> {
        match self {
            Self::Pull(pull) => workflow::coder_of_pull(context, run, pull.number).await,
            Self::Agent(given) => {
                let id = workflow::find_instance(context, given).await?;
                Ok(context.store.read(move |r| r.instance(&id)).await?)
            }
        }
    }

    /// Returns how a record names it.
    pub(super) fn parameters(&self) -> Value {
        match self {
            Self::Pull(pull) => json!({ "number": pull.number }),
            Self::Agent(id) => json!({ "id": id }),
        }
    }

    pub(super) const fn pull(&self) -> Option<&PullName> {
        match self {
            Self::Pull(pull) => Some(pull),
            Self::Agent(_) => None,
        }
    }

    pub(super) const fn number(&self) -> Option<u64> {
        match self {
            Self::Pull(pull) => Some(pull.number),
            Self::Agent(_) => None,
        }
    }

    /// Returns the word that names it in a command.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Pull(pull) => pull.number.to_string(),
            Self::Agent(id) => id.to_string(),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pull(pull) => write!(formatter, "#{}", pull.number),
            Self::Agent(id) => write!(formatter, "{id}"),
        }
    }
}

fn work(text: &str) -> Result<Work, String> {
    if let Ok(pull) = pull_name(text) {
        return Ok(Work::Pull(pull));
    }
    let is_number = text.starts_with('#') || text.bytes().all(|byte| byte.is_ascii_digit());
    let id = text.parse().ok().filter(|_| !is_number);
    id.map(Work::Agent).ok_or_else(|| {
        "expected a number, the address of a pull request or the id of an agent".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_named_by_number_address_or_agent() {
        for text in ["#3", "https://github.com/o/r/pull/3"] {
            assert_eq!(work(text), Ok(Work::Pull(pull_name(text).unwrap())));
        }
        let id: InstanceId = "work-42-a1".parse().unwrap();
        assert_eq!(work("work-42-a1"), Ok(Work::Agent(id)));
        for text in ["", "0", "#0", "a b"] {
            assert!(work(text).is_err(), "{text}");
        }
    }
}
