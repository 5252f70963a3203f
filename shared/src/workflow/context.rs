//! `Context`: the repository, settings, database and tmux servers that a verb works with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::agent::{self, TranscriptReader};
use crate::config::{Config, Environment, REPOSITORY_FILE, Settings};
use crate::error::{Code, Error};
use crate::git::{GitError, Repository};
use crate::model::{Instance, InstanceId};
use crate::store::Store;
use crate::tmux::{LaunchId, SocketName, Tmux};

/// What the tmux server and the panes in it get of the environment. An agent gets its own from a file.
const TERMINAL_VARIABLES: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR",
];

/// The surroundings of one process.
#[derive(Debug, Clone)]
pub struct Context {
    pub environment: Environment,
    pub config: Config,
    pub store: Store,
    /// The server on which sessions are made. Those that exist are found by [`Self::terminals`].
    pub tmux: Tmux,
    pub(super) transcripts: TranscriptReader,
    state_dir: PathBuf,
    repository: Option<Repository>,
    /// How long to wait for another process that has a repository locked, if not as long as usual.
    lock_timeout: Option<Duration>,
}

impl Context {
    /// Finds the repository and reads the settings. The database is opened by the first who asks it.
    pub async fn open(environment: Environment, flags: &[(String, String)]) -> Result<Self, Error> {
        let repository = match Repository::discover(environment.directory()).await {
            Ok(repository) => Some(repository),
            Err(GitError::NotARepository { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let root = repository.as_ref().map(Repository::root);
        let config = Config::load(&environment, root, flags)?;
        let state_dir = environment.state_dir()?;
        let store = Store::at(&environment.database()?);
        let tmux = terminals(&environment, &config.settings, &state_dir)?;
        Ok(Self {
            environment,
            config,
            store,
            tmux,
            transcripts: TranscriptReader::default(),
            state_dir,
            repository,
            lock_timeout: None,
        })
    }

    /// Returns the surroundings of another repository: the same database, its own settings.
    pub async fn in_repository(&self, root: &Path) -> Result<Self, Error> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let environment = self
            .environment
            .clone()
            // These may be relative to where we began.
            .with([
                ("CODEX_STATE_DIR", text(&self.state_dir)),
                ("CODEX_DB", text(self.store.path())),
            ])
            .moved_to(root.to_owned());
        let repository = Repository::at(root).await?;
        let mut there = self.clone();
        there.config = Config::load(&environment, Some(repository.root()), &[])?;
        there.tmux = terminals(&environment, &there.config.settings, &self.state_dir)?;
        there.repository = Some(repository);
        there.environment = environment;
        Ok(there)
    }

    /// Returns the surroundings in which an agent of a repository is started, wherever the caller stands.
    pub(super) async fn of(&self, repository: &Path) -> Result<Self, Error> {
        let here = self.repository.as_ref().map(Repository::root);
        if here == Some(repository) {
            return Ok(self.clone());
        }
        self.in_repository(repository).await
    }

    /// Returns the tmux server that has an agent's session, bound to that session's launch.
    ///
    /// The row says where it is: settings may have changed since, or be those of another repository.
    pub fn terminals(&self, instance: &Instance) -> Tmux {
        let socket = instance.tmux_socket.as_deref().map(SocketName::new);
        let launch = instance.launch_id.as_deref().map(LaunchId::new);
        match socket.or_else(|| self.tmux.socket().cloned().map(Ok)) {
            Some(Ok(socket)) => self.tmux.of_launch(socket, launch.and_then(Result::ok)),
            Some(Err(_)) | None => self.tmux.clone(),
        }
    }

    /// Returns the surroundings for somebody who only looks: what is locked is left for later.
    pub(super) fn with_short_lock_timeout(&self) -> Self {
        self.with_lock_timeout(Duration::from_millis(50))
    }

    /// Returns the surroundings for somebody who leaves what is locked for longer to `reconcile`.
    pub(super) fn with_lock_timeout(&self, lock_timeout: Duration) -> Self {
        let mut here = self.clone();
        here.lock_timeout = Some(
            self.lock_timeout
                .map_or(lock_timeout, |own| own.min(lock_timeout)),
        );
        here
    }

    /// Gives a repository the lock timeout of its user.
    pub(super) fn limit_lock_wait(&self, repository: Repository) -> Repository {
        match self.lock_timeout {
            Some(lock_timeout) => repository.with_lock_timeout(lock_timeout),
            None => repository,
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// Returns the settings by which an agent is treated: those of its own repository.
    ///
    /// `None` if they can't be read: then nothing is done that they might forbid.
    pub(super) fn settings_of(&self, repository: &Path) -> Option<Settings> {
        let here = self.repository.as_ref().map(Repository::root);
        if here == Some(repository) {
            return Some(self.settings().clone());
        }
        // From where we stand: a relative state folder must not become one that the repository brings along.
        Config::load(&self.environment, Some(repository), &[])
            .inspect_err(|error| {
                let repository = repository.display();
                tracing::warn!(%repository, %error, "the settings of a repository can't be read");
            })
            .ok()
            .map(|config| config.settings)
    }

    /// Says what of a repository's own settings and prompts is ignored, if any is.
    pub fn ignored_in(&self, repository: &Path) -> Option<String> {
        // Most bring nothing along.
        let folder = Path::new(REPOSITORY_FILE).parent()?;
        repository.join(folder).symlink_metadata().ok()?;
        // Read anew also where we are: a dashboard stays up while files change.
        let config = Config::load(&self.environment, Some(repository), &[]).ok()?;
        config.ignored.notice()
    }

    /// Returns the repository that the process runs in.
    pub fn repository(&self) -> Result<&Repository, Error> {
        self.repository.as_ref().ok_or_else(|| {
            GitError::NotARepository {
                path: self.environment.directory().to_owned(),
            }
            .into()
        })
    }

    /// Returns the name under which a repository's rows are kept.
    pub fn repository_key(root: &Path) -> String {
        root.to_string_lossy().into_owned()
    }

    pub fn state_dir(&self) -> &Path {
        &self.state_dir
    }

    /// Returns the folder with an agent's prompt, settings and launch file.
    pub fn agent_folder(&self, id: &InstanceId) -> PathBuf {
        self.state_dir.join("agents").join(id.as_str())
    }

    /// Returns the file of an instance's log.
    pub fn log_file(&self, id: &InstanceId) -> PathBuf {
        self.state_dir.join("logs").join(format!("{id}.log"))
    }

    /// Returns the folder with what a headless agent printed in each of its turns.
    pub fn turn_records(&self, id: &InstanceId) -> PathBuf {
        self.state_dir.join("logs").join(id.as_str())
    }

    /// Returns the folder in which Claude Code says what its sessions do.
    pub fn claude_folder(&self) -> Result<PathBuf, Error> {
        let configured = self.environment.claude_config_dir();
        Ok(agent::config_directory(
            &self.environment.home()?,
            configured.as_deref(),
        ))
    }

    /// Returns the file in which Claude Code keeps which folders are trusted.
    pub(super) fn claude_file(&self) -> Result<PathBuf, Error> {
        let configured = self.environment.claude_config_dir();
        Ok(agent::config_file(
            &self.environment.home()?,
            configured.as_deref(),
        ))
    }

    /// Returns the path of a program of ours.
    pub(super) fn own_program(&self, name: &str) -> Result<PathBuf, Error> {
        self.environment.own_program(name).ok_or_else(|| {
            Error::new(
                Code::ServerMissing,
                format!("`{name}` is neither beside this program nor on PATH"),
            )
            .hint("Install claude-codex and its three servers into one folder.")
        })
    }
}

fn terminals(
    environment: &Environment,
    settings: &Settings,
    state_dir: &Path,
) -> Result<Tmux, Error> {
    let socket = SocketName::new(settings.tmux.socket.as_str())?;
    let base = TERMINAL_VARIABLES
        .iter()
        .filter_map(|name| Some((OsString::from(name), environment.get(name)?.into())))
        // Whoever starts the server, it is not one of their processes.
        .chain([(OsString::from(agent::DETACHED), OsString::from("1"))])
        .collect();
    Ok(Tmux::new(
        socket,
        state_dir.join("tmux.conf"),
        PathBuf::from("tmux"),
        base,
    ))
}
