//! Detects Claude Code: finds the program and reads its version.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::AgentError;
use super::version::Version;
use crate::process::{Limits, command, run};

const LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    output: 4096,
};

/// Finds the program: the configured path, else the first `claude` in the given `PATH`.
pub fn find_claude(configured: Option<&Path>, search: &OsStr) -> Result<PathBuf, AgentError> {
    if let Some(path) = configured {
        if !path.is_absolute() {
            return Err(AgentError::NotAbsolute {
                path: path.to_owned(),
            });
        }
        return if is_executable(path) {
            Ok(path.to_owned())
        } else {
            Err(AgentError::NotExecutable {
                path: path.to_owned(),
            })
        };
    }
    std::env::split_paths(search)
        // A relative entry means another program in every worktree.
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("claude"))
        .find(|path| is_executable(path))
        .ok_or(AgentError::ClaudeMissing)
}

/// Asks the program for its version.
pub async fn version(claude: &Path) -> Result<Version, AgentError> {
    let finished = run(&mut command(claude, ["--version"]), None, LIMITS).await?;
    let answer = finished.stdout_text();
    Version::parse(&answer).ok_or_else(|| AgentError::UnknownVersion {
        path: claude.to_owned(),
        answer: answer.trim().chars().take(200).collect(),
    })
}

pub(super) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::MINIMUM_VERSION;

    fn program(directory: &Path, text: &str, mode: u32) -> PathBuf {
        let path = directory.join("claude");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn versions_are_read_and_compared() {
        let version = Version::parse("2.1.325 (Claude Code)\n").unwrap();
        assert_eq!(version.to_string(), "2.1.325");
        assert!(version >= MINIMUM_VERSION && Version::parse("2.1.99").unwrap() < MINIMUM_VERSION);
        assert_eq!(Version::parse("3.0.0-beta.1 x").unwrap().major, 3);
        for text in ["", "claude", "2.1", "2.1.x", "1.2.3.4"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_executable_on_the_path_is_taken() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        program(first.path(), "", 0o644);
        let expected = program(second.path(), "", 0o755);
        let relative = tempfile::tempdir().unwrap();
        program(relative.path(), "", 0o755);
        let up: PathBuf = std::env::current_dir()
            .unwrap()
            .iter()
            .skip(1)
            .map(|_| "..")
            .collect();
        let relative = up.join(relative.path().strip_prefix("/").unwrap());
        let search = std::env::join_paths([&relative, first.path(), second.path()]).unwrap();
        assert_eq!(find_claude(None, &search).unwrap(), expected);
        assert!(matches!(
            find_claude(None, OsStr::new("")),
            Err(AgentError::ClaudeMissing)
        ));
        let plain = first.path().join("claude");
        assert!(matches!(
            find_claude(Some(&plain), &search),
            Err(AgentError::NotExecutable { .. })
        ));
        assert_eq!(
            find_claude(Some(&expected), OsStr::new("")).unwrap(),
            expected
        );
    }

    #[tokio::test]
    async fn an_answer_that_is_no_version_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = program(
            directory.path(),
            "#!/bin/sh\necho 'command not licensed'\n",
            0o755,
        );
        let error = version(&path).await.unwrap_err();
        assert!(
            matches!(error, AgentError::UnknownVersion { .. }),
            "{error}"
        );
    }
}
