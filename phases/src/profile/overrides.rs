//! Profile overrides: `.claude-codex/tdd.json` of a repository, `~/.claude/tdd-override.json` of a user.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::table::built_in;
use super::{Profile, ProfileName, REPOSITORY_FILE};
use shared::error::{Code, Error};
use shared::file;

/// An hour. More is probably a mistake in the unit.
const MAX_TIME_LIMIT_SECONDS: u64 = 3_600;

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

/// An override file. Missing keys keep the value of the detected profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Override {
    pub profile: Option<ProfileName>,
    pub main: Option<Vec<String>>,
    pub test: Option<Vec<String>>,
    pub config: Option<Vec<String>>,
    pub docs: Option<Vec<String>>,
    /// Program and arguments, not a shell line; empty to run nothing.
    pub compile_command: Option<Vec<String>>,
    pub test_command: Option<Vec<String>>,
    pub time_limit_seconds: Option<u64>,
}

impl From<ProfileError> for Error {
    fn from(error: ProfileError) -> Self {
        Self::new(Code::ConfigInvalid, error.to_string())
            .hint("Correct or remove the file; docs/tdd-phases.md describes its keys.")
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> ProfileError {
    ProfileError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

impl Override {
    /// Reads the user's file; `None` if it does not exist.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, ProfileError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(path, error)),
        }
    }

    /// Reads the repository's file; `None` if it does not exist or its text is not trusted.
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
        let parsed: Self = serde_json::from_str(text).map_err(|source| ProfileError::Invalid {
            path: path.to_owned(),
            source,
        })?;
        let wrong = |problem: String| ProfileError::Wrong {
            path: path.to_owned(),
            problem,
        };
        let limit = parsed.time_limit_seconds;
        if limit.is_some_and(|limit| limit == 0 || limit > MAX_TIME_LIMIT_SECONDS) {
            return Err(wrong(format!(
                "timeLimitSeconds must be from 1 to {MAX_TIME_LIMIT_SECONDS}"
            )));
        }
        let globs = [&parsed.main, &parsed.test, &parsed.config, &parsed.docs];
        for glob in globs.into_iter().flatten().flatten() {
            fast_glob::validate(glob)
                .map_err(|error| wrong(format!("`{glob}` is not a glob: {error}")))?;
        }
        Ok(parsed)
    }

    /// Applies the file to the detected profile. Its globs and commands are relative to the worktree.
    pub(super) fn apply_to(self, worktree: &Path, found: Option<Profile>) -> Profile {
        let mut profile = match (self.profile, found) {
            (Some(name), _) => built_in(name, worktree, worktree),
            (None, Some(found)) => found,
            (None, None) => built_in(ProfileName::Custom, worktree, worktree),
        };
        let patterns = [
            (self.main, &mut profile.main),
            (self.test, &mut profile.test),
            (self.config, &mut profile.config),
            (self.docs, &mut profile.docs),
        ];
        for (given, field) in patterns {
            if let Some(given) = given {
                *field = Some(given);
                worktree.clone_into(&mut profile.root);
            }
        }
        if self.compile_command.is_some() {
            let given = self
                .compile_command
                .iter()
                .filter(|words| !words.is_empty());
            profile.compile_production = given.cloned().collect();
        }
        let commands = [
            (self.compile_command, &mut profile.compile),
            (self.test_command, &mut profile.tests),
        ];
        for (given, field) in commands {
            if let Some(given) = given {
                *field = if given.is_empty() {
                    Vec::new()
                } else {
                    vec![given]
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
