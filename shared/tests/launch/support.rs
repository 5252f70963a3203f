//! A `TestEnv` for launches in this process: agents that sleep, and the traces that launches leave.

use std::collections::BTreeSet;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use shared::error::Error;
use shared::model::{Instance, LaunchStep, Priority, TaskId, TaskStatus};
use shared::store::NewTask;
use shared::tmux::Life;
use shared::workflow::{Context, LaunchRequest, Run, launch};
pub(crate) use tests::sample_launch_request as request;
use tests::{TestEnv, WAIT_TIMEOUT, is_alive, until_async};

/// A `TestEnv` whose agents sleep, and in which this test binary stands for the command line.
pub(crate) struct LaunchEnv(TestEnv);

impl Deref for LaunchEnv {
    type Target = TestEnv;

    fn deref(&self) -> &TestEnv {
        &self.0
    }
}

impl DerefMut for LaunchEnv {
    fn deref_mut(&mut self) -> &mut TestEnv {
        &mut self.0
    }
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

impl LaunchEnv {
    pub(crate) fn new() -> Self {
        Self::named("repo")
    }

    /// Makes an environment whose repository has this name, and two files in it.
    pub(crate) fn named(repository: &str) -> Self {
        let env = Self::without_commit(repository);
        env.write("README", "hello\n");
        env.write("sub/folder/file", "text\n");
        env.commit_all("first");
        env
    }

    /// Makes an environment whose repository is empty.
    pub(crate) fn without_commit(repository: &str) -> Self {
        let mut env = Self(TestEnv::with_empty_repository(&format!(
            "work/{repository}"
        )));
        let this = std::env::current_exe().unwrap();
        let executes = format!(
            "#!/bin/sh\nLAUNCH_FILE=\"$2\" exec '{}' --exact launcher::executes_an_agent --ignored --nocapture\n",
            this.display()
        );
        env.program("claude-codex", &executes);
        env.stub_servers();
        let agent = env.program("agent", "#!/bin/sh\nexec sleep 1000\n");
        env.set("CODEX_AGENT_COMMAND", format!("'{}'", agent.display()));
        env
    }

    pub(crate) async fn context(&self) -> Context {
        self.context_in(self.repository()).await
    }

    pub(crate) async fn context_in(&self, directory: &Path) -> Context {
        self.context_with(directory, &[]).await
    }

    pub(crate) async fn context_with(&self, directory: &Path, flags: &[(&str, &str)]) -> Context {
        self.0.context(directory, flags).await
    }

    pub(crate) async fn launch(&self) -> Instance {
        launch(&self.context().await, &Run::unattended(), request())
            .await
            .unwrap()
    }

    pub(crate) fn connection(&self) -> rusqlite::Connection {
        // The database is made by its first use, which may not have come yet.
        self.store();
        let connection = rusqlite::Connection::open(self.database()).unwrap();
        connection.busy_timeout(WAIT_TIMEOUT).unwrap();
        connection
    }

    pub(crate) fn traces(&self) -> Traces {
        let agents = self.path("state/agents");
        let database = self.connection();
        let mut rows = database.prepare("SELECT id FROM instances").unwrap();
        Traces {
            sessions: self.sessions().into_iter().collect(),
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
            beside: fs::read_dir(self.repository().parent().unwrap())
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
        assert_eq!(
            self.git_in(&row.worktree_path, &["status", "--porcelain"]),
            ""
        );
        let branch = self.git_in(&row.worktree_path, &["branch", "--show-current"]);
        assert_eq!(branch, row.branch_name.as_deref().unwrap_or_default());
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
            let database = self.connection();
            let mut statement = database
                .prepare("SELECT agent_pid FROM instances WHERE agent_pid IS NOT NULL")
                .unwrap();
            let agents = statement.query_map([], |row| row.get(0)).unwrap();
            agents.map(Result::unwrap).collect()
        };
        assert!(self.tmux(&["kill-server"]).status.success());
        until_async("tmux and its agents have gone", || {
            self.sessions().is_empty() && !agents.iter().any(|agent| is_alive(*agent))
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

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

/// Launches what must be refused, and returns why it was.
pub(crate) async fn refused(context: &Context, request: LaunchRequest) -> Error {
    launch(context, &Run::unattended(), request)
        .await
        .unwrap_err()
}
