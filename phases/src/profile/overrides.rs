//! What a person says about their project: `.claude-codex/tdd.json`, or `~/.claude/tdd-override.json` for all.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::table::built_in;
use super::{Profile, ProfileName, REPOSITORY_FILE};
use shared::error::{Code, Error};
use shared::file;

/// An hour: more is a mistake in the unit.
const LONGEST: u64 = 3_600;

#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("cannot read {path}: {source}")]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} can't be used: {source}")]
    Invalid {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("{path} can't be used: {problem}")]
    Wrong { path: PathBuf, problem: String },
}

/// An override file. What it does not say stays as it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Override {
    pub profile: Option<ProfileName>,
    pub main: Option<Vec<String>>,
    pub test: Option<Vec<String>>,
    pub config: Option<Vec<String>>,
    pub docs: Option<Vec<String>>,
    /// Words, not a shell line; empty: nothing is run.
    pub compile_command: Option<Vec<String>>,
    pub test_command: Option<Vec<String>>,
    pub time_limit_seconds: Option<u64>,
}

impl From<ProfileError> for Error {
    fn from(error: ProfileError) -> Self {
        Self::new(Code::ConfigInvalid, error.to_string())
            .hint("Correct the file, or remove it; docs/tdd-phases.md says what it may hold.")
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> ProfileError {
    ProfileError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

impl Override {
    /// Reads the person's own file; none if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, ProfileError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(path, error)),
        }
    }

    /// Reads the repository's file; none if there is none, or its text is not trusted.
    pub(super) fn read_inside(
        worktree: &Path,
        is_trusted: impl FnOnce(&str) -> bool,
    ) -> Result<Option<Self>, ProfileError> {
        let path = worktree.join(REPOSITORY_FILE);
        let text = file::read_inside(worktree, REPOSITORY_FILE);
        match text.map_err(|error| unreadable(&path, error))? {
            Some(text) if is_trusted(&text) => Self::parse(&path, &text).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, ProfileError> {
        let said: Self = serde_json::from_str(text).map_err(|source| ProfileError::Invalid {
            path: path.to_owned(),
            source,
        })?;
        let limit = said.time_limit_seconds;
        if limit.is_some_and(|limit| limit == 0 || limit > LONGEST) {
            return Err(ProfileError::Wrong {
                path: path.to_owned(),
                problem: format!("timeLimitSeconds is from 1 to {LONGEST}"),
            });
        }
        Ok(said)
    }

    /// Puts what was said onto what was found. Patterns and commands of a file are about the whole worktree.
    pub(super) fn onto(self, worktree: &Path, found: Option<Profile>) -> Profile {
        let mut profile = match (self.profile, found) {
            (Some(name), _) => built_in(name, worktree),
            (None, Some(found)) => found,
            (None, None) => built_in(ProfileName::Custom, worktree),
        };
        let patterns = [
            (self.main, &mut profile.main),
            (self.test, &mut profile.test),
            (self.config, &mut profile.config),
            (self.docs, &mut profile.docs),
        ];
        for (said, place) in patterns {
            if let Some(said) = said {
                *place = said;
                worktree.clone_into(&mut profile.root);
            }
        }
        let commands = [
            (self.compile_command, &mut profile.compile),
            (self.test_command, &mut profile.tests),
        ];
        for (said, place) in commands {
            if let Some(said) = said {
                *place = if said.is_empty() {
                    Vec::new()
                } else {
                    vec![said]
                };
                worktree.clone_into(&mut profile.root);
            }
        }
        if let Some(limit) = self.time_limit_seconds {
            profile.time_limit = Duration::from_secs(limit);
        }
        profile
    }
}
