//! What doctor looks at, each on its own: what one finds must not hide what another would.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};
use shared::agent::{MINIMUM_VERSION, find_claude, version};
use shared::config::{Config, Environment, Settings};
use shared::error::{Code, Error};
use shared::git::{Git, GitError, Repository};
use shared::model::InstanceKind;
use shared::store::{Depth, Store, StoreError};
use shared::tmux::{SocketName, Tmux};
use shared::workflow::{self, Context, Forge, Run};

use super::super::restore::newest;
use super::{Check, private};
use crate::servers;

/// Below this a checkout or the database may fail at any moment.
const LEAST_SPACE: u64 = 100 << 20;
/// Below this a few worktrees with their builds may not fit.
const LITTLE_SPACE: u64 = 2 << 30;
/// A database above this takes seconds to read.
const LARGE: u64 = 200 << 20;

pub(super) async fn all(environment: &Environment, deep: bool) -> Vec<Check> {
    let repository = Repository::discover(environment.directory()).await;
    let root = repository.as_ref().ok().map(Repository::root);
    let config = Config::load(environment, root, &[]);
    let settings = config.as_ref().map(|config| config.settings.clone());
    let settings = settings.unwrap_or_default();

    let mut checks = vec![git().await];
    checks.push(in_repository(&repository).await);
    checks.push(tmux(environment, &settings).await);
    checks.push(agent(environment, &settings).await);
    checks.extend(
        InstanceKind::ALL
            .iter()
            .map(|&kind| server(kind, environment)),
    );
    checks.push(match config {
        Ok(config) => match config.ignored.notice() {
            None => Check::ok("config", "all settings are valid"),
            Some(notice) => Check::warning(
                "config",
                notice,
                "`claude-codex trust` shows what it is about, and asks.",
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

async fn agent(environment: &Environment, settings: &Settings) -> Check {
    let name = "agent";
    let other = &settings.agent.command;
    let configured = Some(settings.agent.claude.as_str()).filter(|path| !path.is_empty());
    let search = environment.get("PATH").unwrap_or_default();
    if !other.trim().is_empty() {
        return Check::warning(
            name,
            format!("agents are started with {other:?}, not with Claude Code"),
            "Take away agent.command and CODEX_AGENT_COMMAND to use Claude Code.",
        );
    }
    let claude = match find_claude(configured.map(Path::new), OsStr::new(search)) {
        Ok(claude) => claude,
        Err(error) => return Check::error(name, error),
    };
    match version(&claude).await {
        Ok(found) if found < MINIMUM_VERSION => Check::error(
            name,
            Error::new(
                Code::AgentFailed,
                format!("Claude Code {found} is too old; {MINIMUM_VERSION} is needed"),
            )
            .hint("Run `claude update`."),
        ),
        Ok(found) => Check::ok(name, format!("Claude Code {found}, {}", claude.display())),
        Err(error) => Check::error(name, error),
    }
}

fn server(kind: InstanceKind, environment: &Environment) -> Check {
    match servers::find(kind, environment) {
        Ok(path) => Check::ok(kind.server_name(), path.display().to_string()),
        Err(error) => Check::error(kind.server_name(), error),
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

/// Checks that nobody else can read the state folder, and takes away what they could.
fn private(environment: &Environment) -> Option<Check> {
    let name = "private";
    let folder = environment.state_dir().ok()?;
    // Below a closed folder nobody gets to a file, whatever its own mode is.
    let was_open = private::is_open(&folder);
    folder.is_dir().then(|| match private::close(&folder) {
        Ok(_) if !was_open => Check::ok(name, "only you can read the state folder"),
        Ok(opened) => Check::warning(
            name,
            format!(
                "{opened} entries in {} were open to other users; they are not any more",
                folder.display()
            ),
            "If others use this machine, renew what they may have read, such as dashboard.token.",
        ),
        Err(error) => Check::error(
            name,
            Error::new(
                Code::DatabaseUnavailable,
                format!("{} is open to other users: {error}", folder.display()),
            )
            .hint("Make it yours: `chown -R` and `chmod -R go-rwx`."),
        ),
    })
}

/// Checks the folders that are written to, without making them.
fn folders(environment: &Environment, settings: &Settings, root: Option<&Path>) -> Vec<Check> {
    let mut checks = vec![match environment.state_dir() {
        Ok(folder) => folder_is_fit("state", &folder),
        Err(error) => Check::error("state", error),
    }];
    if let Some(parent) = root.and_then(Path::parent) {
        let folder = parent.join(&settings.resources.worktree_root);
        checks.push(folder_is_fit("worktrees", &folder));
    }
    checks
}

fn folder_is_fit(name: &'static str, folder: &Path) -> Check {
    let shown = folder.display();
    let there = folder.ancestors().find(|folder| folder.exists());
    let there = there.unwrap_or(Path::new("/"));
    if access(there, Access::WRITE_OK | Access::EXEC_OK).is_err() || !there.is_dir() {
        let error = Error::new(
            Code::DatabaseUnavailable,
            format!(
                "{shown} can't be written: {} belongs to others",
                there.display()
            ),
        );
        return Check::error(
            name,
            error.hint("Make it writable, or configure another folder."),
        );
    }
    let Ok(space) = statvfs(there).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)) else {
        return Check::ok(name, shown.to_string());
    };
    let message = format!("{shown}, {} MiB free", space >> 20);
    let fix = "Free some space; `claude-codex clean` removes what ended agents left.";
    if space < LEAST_SPACE {
        Check::error(name, Error::new(Code::DiskFull, message).hint(fix))
    } else if space < LITTLE_SPACE {
        Check::warning(name, message, fix)
    } else {
        Check::ok(name, message)
    }
}

/// Looks at the database: its pages if it is small, everything if asked to.
fn database(environment: &Environment, deep: bool) -> Check {
    let name = "database";
    let path = match environment.database() {
        Ok(path) => path,
        Err(error) => return Check::error(name, error),
    };
    let shown = path.display();
    if path.symlink_metadata().is_err() && !beside(&path, "-wal").exists() {
        return Check::ok(name, format!("{shown} will be made at the first launch"));
    }
    let large = std::fs::metadata(&path).is_ok_and(|found| found.len() > LARGE);
    let checked = Store::open(&path).and_then(|store| match (deep, large) {
        (true, _) => store.check_to(Depth::Whole).map(Some),
        (false, false) => store.check().map(Some),
        (false, true) => Ok(None),
    });
    let error = match checked {
        Ok(Some(problems)) if problems.is_empty() => {
            return Check::ok(name, format!("{shown} is sound"));
        }
        Ok(None) => {
            return Check::ok(
                name,
                format!("{shown} opens; it is large, so only --deep looks at every page"),
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

/// Looks for what ended agents left; only where there is a database that could know of any.
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
    let found = workflow::clean(context, &Run::unattended(), true).await?;
    if found.is_empty() {
        return Ok(Check::ok(name, "ended agents left nothing"));
    }
    let kept = found.iter().filter(|item| item.kept).count();
    Ok(Check::warning(
        name,
        format!(
            "{} ended agents left something, {kept} of them unsaved work",
            found.len()
        ),
        "`claude-codex clean --dry-run` lists it, `claude-codex clean` removes what can go.",
    ))
}

/// Looks for sessions on our socket that no agent is known for.
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
                // A session is called by the id of its agent.
                let known = match session.parse() {
                    // One without a mark may be a row's of an older release.
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
            "An agent that a restored backup does not know goes on there: `tmux -L {socket} attach -t ={first}` shows it. What is not wanted: tmux -L {socket} kill-session -t ={first}"
        ),
    ))
}

/// Looks for worktrees in the agents' folder of this repository that no agent is known for.
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
        "They stay: after a restored backup they may be at work. `git worktree remove PATH` removes one without unsaved work.",
    ))
}

/// Says what is kept, how much of it and since when.
async fn retention(context: &Context) -> Result<Check, Error> {
    let kept = workflow::retained(context).await?;
    let since = |oldest: Option<&String>| match oldest {
        Some(time) => format!(" since {}", time.get(..10).unwrap_or(time)),
        None => String::new(),
    };
    let limit = |number: u32, unit: &str| match number {
        0 => "for ever".to_owned(),
        number => format!("{number} {unit}"),
    };
    let (rows, settings) = (&kept.rows, &kept.settings);
    Ok(Check::ok(
        "retention",
        format!(
            "{} calls on record{} (kept {}, at most {}), {} messages{} (kept {}), {} MB of logs and agent files (kept {}, at most {})",
            rows.events,
            since(rows.oldest_event.as_ref()),
            limit(settings.event_days, "days"),
            limit(settings.max_events, "calls"),
            rows.messages,
            since(rows.oldest_message.as_ref()),
            limit(settings.message_days, "days"),
            kept.file_bytes >> 20,
            limit(settings.file_days, "days"),
            limit(settings.max_file_megabytes, "MB"),
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
            folder_is_fit("state", &file.join("below")).status,
            Health::Error
        );
        let fresh = folder.path().join("a/b");
        assert_ne!(folder_is_fit("state", &fresh).message, "");
        assert!(!fresh.exists());
    }
}
