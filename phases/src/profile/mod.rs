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
mod report;
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
pub use report::Counts;
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
    /// The same without tests; `{files}` stands for the production files that the phase has changed.
    pub compile_production: Vec<Vec<String>>,
    /// `{report}` stands for a file that the runner writes its counts to.
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

    /// Returns whether a checker of single files understands this one.
    pub fn speaks(&self, words: &[String], file: &Path) -> bool {
        let ending = file.extension().and_then(|ending| ending.to_str());
        let endings = match words.first().map(String::as_str) {
            // What only a compiler or a bundler reads is not its own language.
            Some("node") => &["js", "mjs", "cjs"],
            _ => table::known(self.name).endings,
        };
        endings.is_empty() || ending.is_some_and(|ending| endings.contains(&ending))
    }

    /// Returns the commands with their placeholders replaced. Those that need a file are left out where there is none of
    /// their language.
    pub fn commands(&self, commands: &[Vec<String>], names: &Names<'_>) -> Vec<Vec<String>> {
        let command = |words: &Vec<String>| {
            let speaks = |file: &&PathBuf| self.speaks(words, file);
            let name = |file: &Path| file.to_string_lossy().into_owned();
            let mut done = Vec::new();
            for word in words {
                match word.as_str() {
                    "{file}" => done.push(names.file.filter(speaks).map(|file| name(file))?),
                    "{files}" => {
                        let files = names.files.iter().filter(speaks);
                        let before = done.len();
                        done.extend(files.map(|file| name(file)));
                        if done.len() == before {
                            return None;
                        }
                    }
                    _ => done.push(match names.report {
                        Some(report) => word.replace("{report}", &name(report)),
                        None => word.clone(),
                    }),
                }
            }
            Some(done)
        };
        commands.iter().filter_map(command).collect()
    }
}

/// Returns a built-in profile for a project, whatever files it has now.
pub fn of_name(name: ProfileName, root: &Path, worktree: &Path) -> Profile {
    table::built_in(name, root, worktree)
}

/// What placeholders in commands stand for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names<'a> {
    pub file: Option<&'a PathBuf>,
    pub files: &'a [PathBuf],
    pub report: Option<&'a Path>,
}

#[cfg(test)]
mod tests;
