//! A world of its own for each test: a repository, a home, a tmux server, and an agent that sleeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shared::config::Environment;
use shared::error::Error;
use shared::model::{Instance, InstanceKind, LaunchStep, Priority, TaskId, TaskStatus};
use shared::store::{NewTask, Store};
use shared::tmux::Life;
use shared::workflow::{Context, LaunchRequest, Run, launch};
use tempfile::TempDir;

/// Longer than anything here takes, even on a machine with much else to do.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct World {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) variables: BTreeMap<String, String>,
    socket: String,
}

/// All that a launch could leave behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Traces {
    pub(crate) sessions: BTreeSet<String>,
    pub(crate) worktrees: BTreeSet<PathBuf>,
    pub(crate) branches: BTreeSet<String>,
    pub(crate) agent_folders: BTreeSet<String>,
    pub(crate) rows: BTreeSet<String>,
    /// What lies beside the repository: the folder of worktrees, if there is one.
    pub(crate) beside: BTreeSet<PathBuf>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::named("repo")
    }

    /// Makes a world whose repository has this name, and two files in it.
    pub(crate) fn named(repository: &str) -> Self {
        let world = Self::without_commit(repository);
        fs::create_dir_all(world.repository.join("sub/folder")).unwrap();
        fs::write(world.repository.join("README"), "hello\n").unwrap();
        fs::write(world.repository.join("sub/folder/file"), "text\n").unwrap();
        world.git(&["add", "."]);
        world.git(&["commit", "--quiet", "-m", "first"]);
        world
    }

    /// Makes a world whose repository is empty.
    pub(crate) fn without_commit(repository: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let repository = root.join("work").join(repository);
        for made in [&root.join("bin"), &root.join("home"), &repository] {
            fs::create_dir_all(made).unwrap();
        }
        let socket = format!("codex-test-{}", uuid::Uuid::new_v4().simple());
        let mut world = Self {
            _folder: folder,
            root,
            repository,
            variables: BTreeMap::new(),
            socket,
        };
        let this = std::env::current_exe().unwrap();
        let executes = format!(
            "#!/bin/sh\nLAUNCH_FILE=\"$2\" exec '{}' --exact launcher::executes_an_agent --ignored --nocapture\n",
            this.display()
        );
        world.program("claude-codex", &executes);
        for server in ["mcp-coding", "mcp-planning", "mcp-review"] {
            world.program(server, "#!/bin/sh\nexit 0\n");
        }
        let agent = world.program("agent", "#!/bin/sh\nexec sleep 1000\n");
        let search = std::env::var("PATH").unwrap();
        world.set("PATH", &format!("{}:{search}", world.bin().display()));
        world.set("HOME", &world.root.join("home").display().to_string());
        world.set(
            "CODEX_STATE_DIR",
            &world.root.join("state").display().to_string(),
        );
        world.set("CODEX_TMUX_SOCKET", &world.socket.clone());
        world.set("CODEX_AGENT_COMMAND", &format!("'{}'", agent.display()));
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.git(&["config", "user.name", "Tester"]);
        world.git(&["config", "user.email", "tester@example.org"]);
        world
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Puts an executable script on PATH, before all others.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.bin().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) async fn context(&self) -> Context {
        self.context_in(&self.repository).await
    }

    pub(crate) async fn context_in(&self, directory: &Path) -> Context {
        self.context_with(directory, &[]).await
    }

    pub(crate) async fn context_with(&self, directory: &Path, flags: &[(&str, &str)]) -> Context {
        let flags: Vec<_> = flags
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let environment = Environment::new(self.variables.clone(), directory.to_owned());
        Context::open(environment, &flags).await.unwrap()
    }

    pub(crate) async fn launch(&self) -> Instance {
        launch(&self.context().await, &Run::unattended(), request())
            .await
            .unwrap()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(&self.repository, args)
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> std::process::Output {
        Command::new("tmux")
            .args(["-L", &self.socket])
            .args(args)
            .env_remove("TMUX")
            .env_remove("TMUX_TMPDIR")
            .output()
            .unwrap()
    }

    pub(crate) fn sessions(&self) -> BTreeSet<String> {
        let listed = self.tmux(&["list-sessions", "-F", "#{session_name}"]);
        lines(&String::from_utf8(listed.stdout).unwrap())
    }

    pub(crate) fn database(&self) -> rusqlite::Connection {
        let path = self.root.join("state/codex.db");
        // The database is made by its first use, which may not have come yet.
        Store::open(&path).unwrap();
        let database = rusqlite::Connection::open(path).unwrap();
        database.busy_timeout(PATIENCE).unwrap();
        database
    }

    pub(crate) fn traces(&self) -> Traces {
        let agents = self.root.join("state/agents");
        let database = self.database();
        let mut rows = database.prepare("SELECT id FROM instances").unwrap();
        Traces {
            sessions: self.sessions(),
            worktrees: self
                .git(&["worktree", "list", "--porcelain"])
                .lines()
                .filter_map(|line| line.strip_prefix("worktree "))
                .map(PathBuf::from)
                .collect(),
            branches: lines(&self.git(&["for-each-ref", "--format=%(refname)", "refs/heads"])),
            agent_folders: fs::read_dir(agents)
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect(),
            rows: rows
                .query_map([], |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect(),
            beside: fs::read_dir(self.repository.parent().unwrap())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect(),
        }
    }

    /// Checks that an instance is whole: row, worktree, branch, files, and an agent that runs.
    pub(crate) async fn assert_stands(&self, instance: &Instance) {
        let id = instance.id.clone();
        let context = self.context().await;
        let row = context.store.read(move |r| r.instance(&id)).await.unwrap();
        assert_eq!(row.launch_step, LaunchStep::Ready, "{row:?}");
        assert_eq!(row.owner, None);
        assert!(row.status.is_live(), "{row:?}");
        assert_eq!(git_in(&row.worktree_path, &["status", "--porcelain"]), "");
        let branch = git_in(&row.worktree_path, &["branch", "--show-current"]);
        assert_eq!(
            branch.trim(),
            row.branch_name.as_deref().unwrap_or_default()
        );
        assert!(context.agent_folder(&row.id).join("launch.json").is_file());
        let panes = context.tmux.list().await.unwrap();
        let pane = panes
            .iter()
            .find(|pane| pane.session.as_str() == row.id.as_str());
        assert_eq!(pane.map(|pane| pane.life), Some(Life::Running), "{row:?}");
    }

    pub(crate) async fn instance(&self, instance: &Instance) -> Instance {
        let id = instance.id.clone();
        let store = self.context().await.store;
        store.read(move |r| r.instance(&id)).await.unwrap()
    }

    pub(crate) async fn task(&self) -> TaskId {
        let context = self.context().await;
        let new = NewTask {
            repository: Context::repository_key(context.repository().unwrap().root()),
            title: "A task".to_owned(),
            description: "To be done".to_owned(),
            priority: Priority::Medium,
            estimated_hours: None,
            depends_on: Vec::new(),
            created_by: None,
        };
        let task = context.store.write(move |w| w.insert_task(&new)).await;
        task.unwrap().id
    }

    /// Kills the tmux server and waits until its agents have noticed: an agent whose process lives is alive.
    pub(crate) async fn kill_tmux(&self) {
        let agents: Vec<u32> = {
            let database = self.database();
            let mut statement = database
                .prepare("SELECT agent_pid FROM instances WHERE agent_pid IS NOT NULL")
                .unwrap();
            let agents = statement.query_map([], |row| row.get(0)).unwrap();
            agents.map(Result::unwrap).collect()
        };
        assert!(self.tmux(&["kill-server"]).status.success());
        until("tmux and its agents have gone", || {
            self.sessions().is_empty() && !agents.iter().any(|agent| lives(*agent))
        })
        .await;
    }

    pub(crate) async fn task_status(&self, id: &TaskId) -> TaskStatus {
        let context = self.context().await;
        let key = Context::repository_key(context.repository().unwrap().root());
        let id = id.clone();
        let task = context.store.read(move |r| r.task(&key, &id)).await;
        task.unwrap().status
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        // A server that was killed leaves it.
        let user = rustix::process::geteuid().as_raw();
        let _ = fs::remove_file(format!("/tmp/tmux-{user}/{}", self.socket));
        // Left by scripts that had to outlive whoever started them.
        let pids = fs::read_to_string(self.root.join("pids")).unwrap_or_default();
        for pid in pids.split_whitespace() {
            let _ = Command::new("kill")
                .args(["-KILL", pid])
                .stderr(Stdio::null())
                .status();
        }
    }
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

pub(crate) fn git_in(directory: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(args)
        .current_dir(directory)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "git {args:?}: {error}");
    String::from_utf8(done.stdout).unwrap()
}

pub(crate) fn request() -> LaunchRequest {
    LaunchRequest {
        kind: InstanceKind::Coding,
        prompt: "Fix it".to_owned(),
        issue: None,
        task: None,
        base: None,
        branch: None,
        require_review: None,
        max_reviews: None,
    }
}

/// Launches what must be refused, and returns why it was.
pub(crate) async fn refused(context: &Context, request: LaunchRequest) -> Error {
    launch(context, &Run::unattended(), request)
        .await
        .unwrap_err()
}

/// Waits for something that another process does.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Tells whether a process lives; one that only waits to be reaped doesn't.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
