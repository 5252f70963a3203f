//! Minimum-version check of Claude Code, cached in a file so that not every launch runs `claude --version`.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::detect::version;
use super::error::AgentError;
use super::version::{MINIMUM_VERSION, Version};
use crate::file;

/// The version that one file answered; any change to the file makes it void.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct CachedVersion {
    path: PathBuf,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    version: String,
}

/// Refuses a program that is too old; `cache_file` is a file in which the answer is kept.
///
/// Asking takes Claude Code a tenth of a second, and a launch takes not much more.
pub async fn check_version(claude: &Path, cache_file: &Path) -> Result<(), AgentError> {
    let found = match cached(claude, cache_file) {
        Some(version) => version,
        None => match version(claude).await {
            Ok(version) => {
                cache(claude, cache_file, version)?;
                version
            }
            // A program that doesn't tell is one that somebody has chosen with care.
            Err(error @ AgentError::UnknownVersion { .. }) => {
                tracing::warn!(%error, "the version is not checked");
                return Ok(());
            }
            Err(error) => return Err(error),
        },
    };
    if found < MINIMUM_VERSION {
        return Err(AgentError::TooOld {
            path: claude.to_owned(),
            found,
        });
    }
    Ok(())
}

fn known(claude: &Path, version: &str) -> Option<CachedVersion> {
    // The target of a link: an update replaces that, not the link.
    let path = claude.canonicalize().ok()?;
    let metadata = path.metadata().ok()?;
    Some(CachedVersion {
        inode: metadata.ino(),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        version: version.to_owned(),
        path,
    })
}

fn cached(claude: &Path, cache_file: &Path) -> Option<Version> {
    let kept: CachedVersion = serde_json::from_slice(&std::fs::read(cache_file).ok()?).ok()?;
    let now = known(claude, &kept.version)?;
    (now == kept).then(|| Version::parse(&kept.version))?
}

fn cache(claude: &Path, cache_file: &Path, version: Version) -> Result<(), AgentError> {
    let Some(known) = known(claude, &version.to_string()) else {
        return Ok(());
    };
    let failed = |source| AgentError::Write {
        path: cache_file.to_owned(),
        source,
    };
    let text = serde_json::to_vec(&known).map_err(|error| failed(error.into()))?;
    let folder = cache_file
        .parent()
        .map_or(Ok(()), file::make_private_folder);
    match folder.and_then(|()| file::replace(cache_file, text, Some(0o600))) {
        // Only the next launch is slower for it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(failed),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that says its version, and how often it was asked.
    fn program(folder: &Path, answer: &str) -> PathBuf {
        let (path, asked) = (folder.join("claude"), folder.join("asked"));
        let text = format!(
            "#!/bin/sh\necho asked >> '{}'\necho '{answer}'\n",
            asked.display()
        );
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn asked(folder: &Path) -> usize {
        let text = std::fs::read_to_string(folder.join("asked")).unwrap_or_default();
        text.lines().count()
    }

    #[tokio::test]
    async fn it_is_asked_once_and_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let cache_file = folder.path().join("claude-version.json");
        let claude = program(folder.path(), "2.1.325 (Claude Code)");
        for _ in 0..3 {
            check_version(&claude, &cache_file).await.unwrap();
        }
        assert_eq!(asked(folder.path()), 1);
        let claude = program(folder.path(), "2.1.99 (Claude Code)");
        for _ in 0..2 {
            let error = check_version(&claude, &cache_file).await.unwrap_err();
            assert!(matches!(error, AgentError::TooOld { .. }), "{error}");
        }
        assert_eq!(asked(folder.path()), 2);
        std::fs::write(&cache_file, "nonsense").unwrap();
        check_version(&claude, &cache_file).await.unwrap_err();
        assert_eq!(asked(folder.path()), 3);
    }

    #[tokio::test]
    async fn one_that_does_not_tell_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let claude = program(folder.path(), "a wrapper of my own");
        let cache_file = folder.path().join("claude-version.json");
        check_version(&claude, &cache_file).await.unwrap();
        assert!(!cache_file.exists());
    }
}
