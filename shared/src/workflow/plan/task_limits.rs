//! Limits of a planned task's title, description, estimate and dependencies, for agents and people alike.

use crate::error::Error;
use crate::model::TaskId;
use crate::model::task::{
    MAX_DEPENDENCIES, MAX_DESCRIPTION_CHARS, MAX_ESTIMATED_HOURS, MAX_TITLE_CHARS,
};
use crate::model::text::{check_block, check_line};

/// Checks a title; `argument` is its name where it comes from.
pub(super) fn title(argument: &'static str, text: &str) -> Result<String, Error> {
    check_line(text, MAX_TITLE_CHARS).map_err(|problem| Error::argument(argument, problem))
}

pub(super) fn description(argument: &'static str, text: &str) -> Result<String, Error> {
    check_block(text, MAX_DESCRIPTION_CHARS).map_err(|problem| Error::argument(argument, problem))
}

pub(super) fn hours(argument: &'static str, hours: Option<f64>) -> Result<Option<f64>, Error> {
    match hours {
        Some(hours) if !(hours > 0.0 && hours <= MAX_ESTIMATED_HOURS) => Err(Error::argument(
            argument,
            format!("must be more than 0 and at most {MAX_ESTIMATED_HOURS}"),
        )),
        hours => Ok(hours),
    }
}

pub(super) fn dependencies(argument: &'static str, ids: &[String]) -> Result<Vec<TaskId>, Error> {
    if ids.len() > MAX_DEPENDENCIES {
        return Err(Error::argument(
            argument,
            format!("names more than {MAX_DEPENDENCIES} tasks"),
        ));
    }
    ids.iter()
        .map(|id| id.parse::<TaskId>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|problem| Error::argument(argument, format!("names no task: {problem}")))
}
