//! The checks of `doctor`. Each runs on its own, so that one failure does not hide another.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};
use shared::config::{Config, Environment, Settings};
use shared::error::{Code, Error};
use shared::git::{Git, GitError, Repository};
use shared::model::{InstanceKind, Timestamp};
use shared::store::{Depth, Store, StoreError};
use shared::tmux::{SocketName, Tmux};
use shared::workflow::{self, CleanMode, Context, Forge, Run};

use super::super::restore::newest;
use super::{Check, agent_program, permissions, servers};
use crate::text::count;

/// Below this a checkout or the database may fail at any moment.
const MIN_FREE_BYTES: u64 = 100 << 20;
/// Below this a few worktrees with their builds may not fit.
const LOW_FREE_BYTES: u64 = 2 << 30;
/// A database above this takes seconds to read.
const LARGE_DATABASE_BYTES: u64 = 200 << 20;

pub(super) async fn all(environment: &Environment, deep: bool) -> Vec<Check> {
    let repository = Repository::discover(environment.directory()).await;
    let root = repository.as_ref().ok().map(Repository::root);
    let config = Config::load(environment, root, &[]);
    let settings = config.as_ref().map(|config| config.settings.clone());
    let settings = settings.unwrap_or_default();

    let mut checks = vec![git().await];
    checks.push(in_repository(&repository).await);
    checks.push(tmux(environment, &settings).await);
    checks.extend(agent_program::all(environment, &settings).await);
    for kind in InstanceKind::ALL {
        checks.push(servers::check(*kind, environment).await);
    }
    checks.push(match config {
        Ok(config) => match config.ignored.notice() {
            None => Check::ok("config", "all settings are valid"),
            Some(notice) => Check::warning(
                "config",
                notice,
                "`claude-codex trust` shows these settings and asks whether to trust them.",
            ),
        },
        Err(error) => Check::error("config", error),
    });
    if let Ok(repository) = &repository {
        checks.push(forge(environment, &settings, repository).await);
    }
    checks.extend(folders(environment, &settings, root));
    checks.extend(private(environment));
    let database = database(environment, deep);
    let healthy = database.fix.is_none();
    checks.push(database);
    if healthy {
        checks.extend(leftovers(environment).await);
    }
    checks
}

async fn git() -> Check {
    match Git::default().require_minimum().await {
        Ok(version) => Check::ok("git", format!("git {version}")),
        Err(error) => Check::error("git", error),
    }
}

async fn in_repository(repository: &Result<Repository, GitError>) -> Check {
    let name = "repository";
    let repository = match repository {
        Ok(repository) => repository,
        Err(GitError::NotARepository { path }) => {
            let error = GitError::NotARepository { path: path.clone() };
            return Check::error(name, error);
        }
        Err(error) => {
            return Check::error(name, Error::new(Code::GitFailed, error.to_string()));
        }
    };
    let root = repository.root();
    match repository.resolve("HEAD").await {
        Ok(_) => Check::ok(name, root.display().to_string()),
        Err(GitError::RevisionNotFound { .. } | GitError::EmptyRepository { .. }) => {
            let path = root.to_owned();
            Check::error(name, GitError::EmptyRepository { path })
        }
        Err(error) => Check::error(name, error),
    }
}

async fn tmux(environment: &Environment, settings: &Settings) -> Check {
    let name = "tmux";
    let socket = match SocketName::new(settings.tmux.socket.clone()) {
        Ok(socket) => socket,
        Err(error) => return Check::error(name, error),
    };
    let search = environment.get("PATH").unwrap_or_default();
    let base = vec![("PATH".into(), search.into())];
    let tmux = Tmux::new(
        socket,
        PathBuf::from("/dev/null"),
        PathBuf::from("tmux"),
        base,
    );
    if let Err(error) = tmux.check().await {
        return Check::error(name, error);
    }
    match tmux.version().await {
        Ok(Some(version)) => Check::ok(name, format!("tmux {version}")),
        Ok(None) => Check::ok(name, "tmux, a development build"),
        Err(error) => Check::error(name, error),
    }
}

async fn forge(environment: &Environment, settings: &Settings, repository: &Repository) -> Check {
    let name = "forge";
    match workflow::forge(environment, &settings.forge, repository).await {
        Err(error) => Check::error(name, error),
        Ok(
            forge @ Forge::Local {
                lacks_token: true, ..
            },
        ) => Check::warning(
            name,
            forge.describe(),
            "Set GITHUB_TOKEN, or run `gh auth login`, to use GitHub.",
        ),
        Ok(forge) => Check::ok(name, forge.describe()),
    }
}

/// Checks that other users cannot read the state folder, and removes their access.
fn private(environment: &Environment) -> Option<Check> {
    let name = "private";
    let folder = environment.state_dir().ok()?;
    // Files below a private folder are private, whatever their own modes.
    let was_open = permissions::is_open(&folder);
    folder.is_dir().then(|| match permissions::close(&folder) {
        Ok(_) if !was_open => Check::ok(name, "only you can read the state folder"),
        Ok(opened) => Check::warning(
            name,
            format!(
                "{} in {} could be read by other users; this is fixed now",
                count(opened, "entry", "entries"),
                folder.display()
            ),
            "If others use this machine, replace the credentials they may have read, such as dashboard.token.",
        ),
        Err(error) => Check::error(
            name,
            Error::new(
                Code::DatabaseUnavailable,
                format!("{} is open to other users: {error}", folder.display()),
            )
            .hint("Take ownership of it with `chown -R`, then run `chmod -R go-rwx` on it."),
        ),
    })
}

/// Checks the folders that are written to, without creating them.
fn folders(environment: &Environment, settings: &Settings, root: Option<&Path>) -> Vec<Check> {
    let mut checks = vec![match environment.state_dir() {
        Ok(folder) => check_folder("state", &folder),
        Err(error) => Check::error("state", error),
    }];
    if let Some(parent) = root.and_then(Path::parent) {
        let folder = parent.join(&settings.resources.worktree_root);
        checks.push(check_folder("worktrees", &folder));
    }
    checks
}

fn check_folder(name: &'static str, folder: &Path) -> Check {
    let shown = folder.display();
    let there = folder.ancestors().find(|folder| folder.exists());
    let there = there.unwrap_or(Path::new("/"));
    if access(there, Access::WRITE_OK | Access::EXEC_OK).is_err() || !there.is_dir() {
        let error = Error::new(
            Code::DatabaseUnavailable,
            format!(
                "{shown} is not writable, because {} is not",
                there.display()
            ),
        );
        return Check::error(
            name,
            error.hint("Make it writable, or configure another folder (CODEX_STATE_DIR, resources.worktreeRoot)."),
        );
    }
    let Ok(space) = statvfs(there).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)) else {
        return Check::ok(name, shown.to_string());
    };
    let message = format!("{shown}, {} MiB free", space >> 20);
    let fix = "Free some space; `claude-codex clean` removes worktrees and files of ended agents.";
    if space < MIN_FREE_BYTES {
        Check::error(name, Error::new(Code::DiskFull, message).hint(fix))
    } else if space < LOW_FREE_BYTES {
        Check::warning(name, message, fix)
    } else {
        Check::ok(name, message)
    }
}

/// Checks the database: its pages if it is small, everything with --deep.
fn database(environment: &Environment, deep: bool) -> Check {
    let name = "database";
    let path = match environment.database() {
        Ok(path) => path,
        Err(error) => return Check::error(name, error),
    };
    let shown = path.display();
    if path.symlink_metadata().is_err() && !beside(&path, "-wal").exists() {
        return Check::ok(name, format!("{shown} will be created at the first launch"));
    }
    let large = std::fs::metadata(&path).is_ok_and(|found| found.len() > LARGE_DATABASE_BYTES);
    let checked = Store::open(&path).and_then(|store| match (deep, large) {
        (true, _) => store.check_to(Depth::Whole).map(Some),
        (false, false) => store.check().map(Some),
        (false, true) => Ok(None),
    });
    let error = match checked {
        Ok(Some(problems)) if problems.is_empty() => {
            return Check::ok(name, format!("{shown} is intact"));
        }
        Ok(None) => {
            return Check::ok(
                name,
                format!("{shown} opens; it is large, so only --deep checks every page"),
            );
        }
        Ok(Some(problems)) => Error::from(StoreError::Damaged { problems }),
        Err(error) => error.into(),
    };
    let mut check = Check::error(name, error);
    check.message = format!("{shown}: {}", check.message);
    if let Some(backup) = newest(environment) {
        let fix = check.fix.unwrap_or_default();
        check.fix = Some(format!("{fix} The newest backup is {}.", backup.display()));
    }
    check
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Looks for leftovers of ended agents, if there is a database.
async fn leftovers(environment: &Environment) -> Vec<Check> {
    let there = environment.database().is_ok_and(|path| path.exists());
    if !there {
        return Vec::new();
    }
    let name = "leftovers";
    match Context::open(environment.clone(), &[]).await {
        Ok(context) => vec![
            of_ended_agents(&context)
                .await
                .unwrap_or_else(|error| Check::error(name, error)),
            sessions(&context)
                .await
                .unwrap_or_else(|error| Check::error("sessions", error)),
            unknown_worktrees(&context)
                .await
                .unwrap_or_else(|error| Check::error("unknown", error)),
            retention(&context)
                .await
                .unwrap_or_else(|error| Check::error("retention", error)),
        ],
        Err(error) => vec![Check::error(name, error)],
    }
}

async fn of_ended_agents(context: &Context) -> Result<Check, Error> {
    let name = "leftovers";
    let found = workflow::clean(context, &Run::unattended(), CleanMode::Preview, &[]).await?;
    if found.is_empty() {
        return Ok(Check::ok(name, "ended agents left nothing behind"));
    }
    let kept = found.iter().filter(|item| item.kept).count();
    Ok(Check::warning(
        name,
        format!(
            "{} left something behind, {kept} of them unsaved work",
            count(found.len(), "ended agent", "ended agents")
        ),
        "`claude-codex clean --dry-run` lists it; `claude-codex clean` removes everything but unsaved work.",
    ))
}

/// Looks for tmux sessions on our socket that belong to no known agent.
async fn sessions(context: &Context) -> Result<Check, Error> {
    let name = "sessions";
    let panes = context.tmux.list().await?;
    let sessions = panes.iter().map(|pane| {
        let launch = pane
            .launch
            .as_ref()
            .map(|launch| launch.as_str().to_owned());
        (pane.session.as_str().to_owned(), launch)
    });
    let mut foreign: Vec<(String, Option<String>)> = sessions.collect();
    foreign.sort_unstable();
    foreign.dedup();
    let foreign = context
        .store
        .read(move |r| {
            let mut unknown = Vec::new();
            for (session, launch) in foreign {
                // A session is named after its agent.
                let known = match session.parse() {
                    // A session without a launch id may come from an older release.
                    Ok(id) if r.instance_exists(&id)? => {
                        launch.is_none() || launch == r.instance(&id)?.launch_id
                    }
                    Ok(_) | Err(_) => false,
                };
                if !known {
                    unknown.push(session);
                }
            }
            Ok(unknown)
        })
        .await?;
    let Some(first) = foreign.first() else {
        return Ok(Check::ok(name, "every session belongs to an agent"));
    };
    let socket = &context.settings().tmux.socket;
    Ok(Check::warning(
        name,
        format!("sessions that belong to no agent: {}", foreign.join(", ")),
        format!(
            "It may be an agent that a restored backup does not know: `tmux -L {socket} attach -t ={first}` shows it, `tmux -L {socket} kill-session -t ={first}` ends it."
        ),
    ))
}

/// Looks for worktrees in the agents' folder of this repository that belong to no known agent.
async fn unknown_worktrees(context: &Context) -> Result<Check, Error> {
    let name = "unknown";
    let found = workflow::unknown_worktrees(context).await?;
    if found.is_empty() {
        return Ok(Check::ok(name, "every worktree belongs to an agent"));
    }
    let paths: Vec<_> = found
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Ok(Check::warning(
        name,
        format!("worktrees that belong to no agent: {}", paths.join(", ")),
        "They are kept, because after a restored backup agents may be working in them. `git worktree remove PATH` removes one without unsaved work.",
    ))
}

/// Reports how many records are kept, and since when.
async fn retention(context: &Context) -> Result<Check, Error> {
    let kept = workflow::retained(context).await?;
    let since = |oldest: Option<Timestamp>| match oldest {
        Some(time) => format!(" since {}", time.date()),
        None => String::new(),
    };
    let kept_for = |days: u32| match days {
        0 => "kept forever".to_owned(),
        days => format!("kept {}", count(days, "day", "days")),
    };
    let at_most = |number: u32, one: &str, many: &str| match number {
        0 => "no maximum".to_owned(),
        number => format!("at most {}", count(number, one, many)),
    };
    let (rows, settings) = (&kept.rows, &kept.settings);
    Ok(Check::ok(
        "retention",
        format!(
            "{}{} ({}, {}), {}{} ({}), {} MB of logs and agent files ({}, {})",
            count(rows.events, "event", "events"),
            since(rows.oldest_event),
            kept_for(settings.event_days),
            at_most(settings.max_events, "event", "events"),
            count(rows.messages, "message", "messages"),
            since(rows.oldest_message),
            kept_for(settings.message_days),
            kept.file_bytes >> 20,
            kept_for(settings.file_days),
            at_most(settings.max_file_megabytes, "MB", "MB"),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn a_folder_below_a_file_is_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(
            check_folder("state", &file.join("below")).status,
            Health::Error
        );
        let fresh = folder.path().join("a/b");
        assert_ne!(check_folder("state", &fresh).message, "");
        assert!(!fresh.exists());
    }
}
