//! Project profiles: commands that compile and test a project, and globs that classify its files.
//!
//! A profile comes from an override file, else from the project files nearest to the edited file, else
//! from a default. Detection checks a few file names; it never walks a tree or runs a program.

mod classify;
mod config_names;
mod detect;
mod language;
mod node;
mod outcome;
mod overrides;
mod path_parts;
mod rust_source;
mod table;
mod test_names;

// `closed_enum!` derives a JSON schema, so its users need the crate.
use schemars as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use shared::model::FileKind;
use shared::model::closed_enum;

pub use detect::{detect, find};
pub use outcome::{Check, TestOutcome, excerpt};
pub use overrides::{Override, ProfileError};
pub use rust_source::{RustChange, rust_change};

closed_enum!(
    /// The kinds of projects that are supported.
    ProfileName, "profile" {
        Cargo = "cargo",
        Vitest = "vitest",
        Jest = "jest",
        Node = "node",
        Pytest = "pytest",
        Go = "go",
        Maven = "maven",
        Gradle = "gradle",
        Dotnet = "dotnet",
        Rspec = "rspec",
        Minitest = "minitest",
        Phpunit = "phpunit",
        Mix = "mix",
        Cmake = "cmake",
        /// Only an override file.
        Custom = "custom",
    }
);

/// Override file of a repository.
pub const REPOSITORY_FILE: &str = ".claude-codex/tdd.json";
/// Override file of a user for all repositories, below the home folder.
pub const USER_FILE: &str = ".claude/tdd-override.json";

/// Default time limit of one command.
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// How one project is built and tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub name: ProfileName,
    /// The folder that globs are relative to and commands run in.
    pub root: PathBuf,
    /// The folder of the whole repository: names of folders above the project say what is in it, too.
    pub worktree: PathBuf,
    /// Globs that the person gave in an override file.
    pub main: Option<Vec<String>>,
    pub test: Option<Vec<String>>,
    pub config: Option<Vec<String>>,
    pub docs: Option<Vec<String>>,
    /// Run in this order; `{file}` stands for the edited file.
    pub compile: Vec<Vec<String>>,
    pub tests: Vec<Vec<String>>,
    /// Whether source files can contain tests (Rust).
    pub tests_inside: bool,
    pub time_limit: Duration,
}

impl Profile {
    /// Classifies a file by its path.
    pub fn kind(&self, path: &Path) -> FileKind {
        let in_project = path.strip_prefix(&self.root).unwrap_or(path);
        let in_worktree = path.strip_prefix(&self.worktree).unwrap_or(in_project);
        classify::kind(
            self,
            &in_project.to_string_lossy(),
            &in_worktree.to_string_lossy(),
        )
    }

    /// Returns whether a source file may contain tests, so that its content decides what a change touches.
    pub fn may_hold_tests(&self, path: &Path) -> bool {
        self.tests_inside && path.extension().is_some_and(|extension| extension == "rs")
    }

    /// Returns the commands with `{file}` replaced; without a file, commands that need one are left out.
    pub fn commands(commands: &[Vec<String>], file: Option<&Path>) -> Vec<Vec<String>> {
        let name = file.map(|file| file.to_string_lossy().into_owned());
        commands
            .iter()
            .filter_map(|words| {
                words
                    .iter()
                    .map(|word| match (word.as_str(), &name) {
                        ("{file}", Some(name)) => Some(name.clone()),
                        ("{file}", None) => None,
                        (_, _) => Some(word.clone()),
                    })
                    .collect()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
