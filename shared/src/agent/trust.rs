//! Workspace trust: answers Claude Code's trust dialog for a worktree in advance, in the user's `.claude.json`.
//!
//! That file is the user's: unknown keys, their order and the file's mode stay, a file that can't be
//! understood is left alone, and Claude Code's own lock is taken (a directory `<file>.lock`, stale after
//! ten seconds), because a running session rewrites the file often.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::error::AgentError;
use crate::file;

const ACCEPTED: &str = "hasTrustDialogAccepted";

/// How old a lock may get before its owner must have died; the same as Claude Code's.
const STALE_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Long enough for a stale lock to become one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(12);

/// Whether anything had to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Written,
    NotNeeded,
}

/// Returns the file in which Claude Code keeps what it knows about projects.
pub fn config_file(home: &Path, config_dir: Option<&Path>) -> PathBuf {
    config_dir.unwrap_or(home).join(".claude.json")
}

/// Marks the worktree as trusted, unless it or its repository already is.
///
/// Trust in any other parent directory does not count (2.1.325 asks again at a repository's border).
/// Without a file this also says that onboarding is done: a user of an API key or a cloud provider
/// may never have gone through it, and nobody sits at the agent's terminal.
pub async fn trust(
    file: &Path,
    worktree: &Path,
    repository: Option<&Path>,
) -> Result<Change, AgentError> {
    let key = key(worktree)?;
    let repository = repository.map(key_of).transpose()?;
    change(file, |config| {
        let projects = projects(config).ok_or("projects")?;
        let is_trusted = |path: &str| {
            projects
                .get(path)
                .is_some_and(|entry| entry[ACCEPTED] == true)
        };
        if is_trusted(key) || repository.is_some_and(is_trusted) {
            return Ok(false);
        }
        let entry = projects.entry(key).or_insert_with(|| json!({}));
        let entry = entry.as_object_mut().ok_or("projects.<path>")?;
        entry.insert(ACCEPTED.to_owned(), Value::Bool(true));
        Ok(true)
    })
    .await
}

/// Tells whether the person has answered Claude Code's trust question for a repository.
///
/// Only its own top level counts: 2.1.325 asks again at a repository's border, and trust in the folder
/// that contains clones does not extend to each of them.
pub fn is_trusted(file: &Path, repository: &Path) -> bool {
    let text = std::fs::read(file).unwrap_or_default();
    let config: Value = serde_json::from_slice(&text).unwrap_or_default();
    let name = repository.to_string_lossy();
    config["projects"][name.as_ref()][ACCEPTED] == true
}

/// Removes the worktree's entry again if it holds nothing but the answer.
pub async fn forget(file: &Path, worktree: &Path) -> Result<Change, AgentError> {
    let key = key(worktree)?;
    if !file.exists() {
        return Ok(Change::NotNeeded);
    }
    change(file, |config| {
        let projects = projects(config).ok_or("projects")?;
        let is_ours = projects.get(key) == Some(&json!({ ACCEPTED: true }));
        if is_ours {
            // `remove` would move the last project into the gap.
            projects.shift_remove(key);
        }
        Ok(is_ours)
    })
    .await
}

fn key(path: &Path) -> Result<&str, AgentError> {
    if path.is_absolute() {
        key_of(path)
    } else {
        Err(AgentError::NotAbsolute {
            path: path.to_owned(),
        })
    }
}

fn key_of(path: &Path) -> Result<&str, AgentError> {
    path.to_str().ok_or_else(|| AgentError::NotUtf8 {
        path: path.to_owned(),
    })
}

fn projects(config: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    config
        .entry("projects")
        .or_insert_with(|| json!({}))
        .as_object_mut()
}

/// Reads, changes and replaces the file under its lock; `edit` says whether it changed anything.
async fn change(
    file: &Path,
    edit: impl FnOnce(&mut Map<String, Value>) -> Result<bool, &'static str>,
) -> Result<Change, AgentError> {
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).map_err(writing(parent))?;
    }
    let _lock = Lock::take(file).await?;
    // Replacing a link by a file would cut off whoever manages the target.
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let (mut config, mode) = match std::fs::read(&target) {
        Ok(bytes) => (parse(&target, &bytes)?, mode_of(&target)?),
        Err(source) if source.kind() == ErrorKind::NotFound => {
            let mut fresh = Map::new();
            fresh.insert("hasCompletedOnboarding".to_owned(), Value::Bool(true));
            (fresh, 0o600)
        }
        Err(source) => {
            return Err(AgentError::Read {
                path: target,
                source,
            });
        }
    };
    match edit(&mut config) {
        Ok(true) => {
            replace(&target, &Value::Object(config), mode)?;
            Ok(Change::Written)
        }
        Ok(false) => Ok(Change::NotNeeded),
        Err(at) => Err(AgentError::Shape { path: target, at }),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Map<String, Value>, AgentError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|source| AgentError::Corrupt {
        path: path.to_owned(),
        source,
    })?;
    match value {
        Value::Object(config) => Ok(config),
        _ => Err(AgentError::Shape {
            path: path.to_owned(),
            at: ".",
        }),
    }
}

fn mode_of(path: &Path) -> Result<u32, AgentError> {
    let metadata = std::fs::metadata(path).map_err(|source| AgentError::Read {
        path: path.to_owned(),
        source,
    })?;
    Ok(metadata.permissions().mode() & 0o7777)
}

fn replace(path: &Path, value: &Value, mode: u32) -> Result<(), AgentError> {
    serde_json::to_vec_pretty(value)
        .map_err(Into::into)
        .and_then(|text| file::replace(path, text, Some(mode)))
        .map_err(writing(path))
}

fn writing(path: &Path) -> impl FnOnce(std::io::Error) -> AgentError {
    let path = path.to_owned();
    move |source| AgentError::Write { path, source }
}

/// Claude Code's lock on the file, given back on drop.
struct Lock {
    directory: PathBuf,
}

impl Lock {
    async fn take(file: &Path) -> Result<Self, AgentError> {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let directory = PathBuf::from(name);
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match std::fs::create_dir(&directory) {
                Ok(()) => return Ok(Self { directory }),
                Err(source) if source.kind() == ErrorKind::AlreadyExists => {
                    if is_stale(&directory) {
                        let _ = std::fs::remove_dir(&directory);
                    } else if Instant::now() >= deadline {
                        return Err(AgentError::Write {
                            path: directory,
                            source,
                        });
                    }
                }
                Err(source) => {
                    return Err(AgentError::Write {
                        path: directory,
                        source,
                    });
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.directory);
    }
}

fn is_stale(directory: &Path) -> bool {
    let modified = std::fs::metadata(directory).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| {
        SystemTime::now()
            .duration_since(modified)
            .is_ok_and(|age| age > STALE_LOCK_TIMEOUT)
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{File, Permissions};

    use super::*;

    struct Home(tempfile::TempDir);

    impl Home {
        fn new(text: Option<&str>) -> Self {
            let home = Self(tempfile::tempdir().unwrap());
            if let Some(text) = text {
                std::fs::write(home.file(), text).unwrap();
            }
            home
        }

        fn file(&self) -> PathBuf {
            config_file(self.0.path(), None)
        }

        fn text(&self) -> String {
            std::fs::read_to_string(self.file()).unwrap()
        }

        async fn trust(&self) -> Result<Change, AgentError> {
            trust(&self.file(), Path::new("/w"), Some(Path::new("/repo"))).await
        }
    }

    #[tokio::test]
    async fn the_rest_of_the_file_stays_in_its_order() {
        let home = Home::new(Some(
            r#"{"z":1,"projects":{"/b":{"x":[1]},"/a":{}},"a":{"secret":"s"}}"#,
        ));
        std::fs::set_permissions(home.file(), Permissions::from_mode(0o640)).unwrap();
        assert_eq!(home.trust().await.unwrap(), Change::Written);
        let compact = serde_json::from_str::<Value>(&home.text())
            .unwrap()
            .to_string();
        assert_eq!(
            compact,
            r#"{"z":1,"projects":{"/b":{"x":[1]},"/a":{},"/w":{"hasTrustDialogAccepted":true}},"a":{"secret":"s"}}"#
        );
        assert_eq!(mode_of(&home.file()).unwrap(), 0o640);
        assert_eq!(home.trust().await.unwrap(), Change::NotNeeded);
        assert_eq!(
            forget(&home.file(), Path::new("/w")).await.unwrap(),
            Change::Written
        );
        let compact = serde_json::from_str::<Value>(&home.text())
            .unwrap()
            .to_string();
        assert_eq!(
            compact,
            r#"{"z":1,"projects":{"/b":{"x":[1]},"/a":{}},"a":{"secret":"s"}}"#
        );
        assert_eq!(
            std::fs::read_dir(home.0.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[tokio::test]
    async fn a_trusted_repository_needs_no_change() {
        let text = r#"{"projects":{"/repo":{"hasTrustDialogAccepted":true}}}"#;
        let home = Home::new(Some(text));
        assert_eq!(home.trust().await.unwrap(), Change::NotNeeded);
        assert_eq!(home.text(), text);
    }

    #[tokio::test]
    async fn a_refused_entry_is_changed_and_then_belongs_to_the_user() {
        let home = Home::new(Some(
            r#"{"projects":{"/w":{"hasTrustDialogAccepted":false,"x":1}}}"#,
        ));
        assert_eq!(home.trust().await.unwrap(), Change::Written);
        assert!(home.text().contains("\"x\": 1"));
        assert_eq!(
            forget(&home.file(), Path::new("/w")).await.unwrap(),
            Change::NotNeeded
        );
    }

    #[tokio::test]
    async fn a_missing_file_is_made_private_with_onboarding_done() {
        let home = Home::new(None);
        assert_eq!(
            forget(&home.file(), Path::new("/w")).await.unwrap(),
            Change::NotNeeded
        );
        assert!(!home.file().exists());
        assert_eq!(home.trust().await.unwrap(), Change::Written);
        let config: Value = serde_json::from_str(&home.text()).unwrap();
        assert_eq!(config["hasCompletedOnboarding"], true);
        assert_eq!(mode_of(&home.file()).unwrap(), 0o600);
    }

    #[tokio::test]
    async fn a_file_that_is_not_understood_is_left_alone() {
        for text in [
            "{\"projects\": {",
            "[]",
            r#"{"projects":[]}"#,
            r#"{"projects":{"/w":3}}"#,
            "",
        ] {
            let home = Home::new(Some(text));
            let error = home.trust().await.unwrap_err();
            assert!(
                matches!(error, AgentError::Corrupt { .. } | AgentError::Shape { .. }),
                "{error}"
            );
            assert_eq!(home.text(), text);
        }
    }

    #[tokio::test]
    async fn a_link_is_followed() {
        let home = Home::new(None);
        let target = home.0.path().join("dotfiles.json");
        std::fs::write(&target, "{}").unwrap();
        std::os::unix::fs::symlink(&target, home.file()).unwrap();
        assert_eq!(home.trust().await.unwrap(), Change::Written);
        assert!(home.file().is_symlink());
        assert!(std::fs::read_to_string(&target).unwrap().contains("/w"));
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let home = Home::new(Some("{}"));
        let file = &home.file();
        std::thread::scope(|scope| {
            for number in 0..20 {
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_time()
                        .build()
                        .unwrap();
                    let worktree = format!("/w{number}");
                    let change = runtime.block_on(trust(file, Path::new(&worktree), None));
                    assert_eq!(change.unwrap(), Change::Written);
                });
            }
        });
        let config: Value = serde_json::from_str(&home.text()).unwrap();
        assert_eq!(config["projects"].as_object().unwrap().len(), 20);
    }

    #[tokio::test]
    async fn an_entry_goes_without_moving_the_others() {
        let text = r#"{"projects":{"/a":{},"/w":{"hasTrustDialogAccepted":true},"/b":{},"/c":{}}}"#;
        let home = Home::new(Some(text));
        forget(&home.file(), Path::new("/w")).await.unwrap();
        let compact = serde_json::from_str::<Value>(&home.text())
            .unwrap()
            .to_string();
        assert_eq!(compact, r#"{"projects":{"/a":{},"/b":{},"/c":{}}}"#);
    }

    #[tokio::test]
    async fn a_held_lock_is_waited_for_and_a_stale_one_is_broken() {
        let home = Home::new(Some("{}"));
        let held = Lock::take(&home.file()).await.unwrap();
        let file = home.file();
        let waiting = tokio::spawn(async move { trust(&file, Path::new("/w"), None).await });
        tokio::task::yield_now().await;
        assert_eq!(home.text(), "{}");
        drop(held);
        assert_eq!(waiting.await.unwrap().unwrap(), Change::Written);

        let abandoned = home.0.path().join(".claude.json.lock");
        std::fs::create_dir(&abandoned).unwrap();
        let long_ago = SystemTime::now() - 2 * STALE_LOCK_TIMEOUT;
        File::open(&abandoned)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        assert_eq!(
            forget(&home.file(), Path::new("/w")).await.unwrap(),
            Change::Written
        );
    }
}
