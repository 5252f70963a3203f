//! A hermetic environment for each test: home, state folder, git repository, tmux server, and no variable from outside.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use shared::config::Environment;
use shared::model::InstanceId;
use shared::store::Store;
use shared::workflow::Context;
use tempfile::TempDir;

use crate::binaries::{Server, binary};

/// A hermetic environment; its files and its tmux server go when it is dropped.
#[derive(Debug)]
pub struct TestEnv {
    folder: TempDir,
    root: PathBuf,
    repository: PathBuf,
    directory: PathBuf,
    variables: BTreeMap<String, String>,
    socket: String,
}

impl TestEnv {
    /// Makes an environment with a repository of one commit on `main`.
    pub fn new() -> Self {
        Self::with_repository("repo")
    }

    /// Makes an environment whose repository, of one commit on `main`, has this path in it.
    pub fn with_repository(path: &str) -> Self {
        let env = Self::with_empty_repository(path);
        env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
        env
    }

    /// Makes an environment whose repository has this path in it, and no commit.
    pub fn with_empty_repository(path: &str) -> Self {
        let mut env = Self::without_repository();
        std::fs::remove_dir(&env.repository).unwrap();
        env.repository = env.path(path);
        env.directory = env.path(path);
        std::fs::create_dir_all(&env.repository).unwrap();
        env.git(&["init", "-q", "-b", "main"]);
        env
    }

    /// Makes an environment whose working directory is just a folder.
    pub fn without_repository() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("codex-test-")
            .tempdir()
            .unwrap();
        let root = folder.path().canonicalize().unwrap();
        let repository = root.join("repo");
        for made in [&root.join("home"), &root.join("bin"), &repository] {
            std::fs::create_dir_all(made).unwrap();
        }
        // Nobody else's, because the folder's name is random.
        let socket = root.file_name().unwrap().to_string_lossy().into_owned();
        let search = std::env::var("PATH").unwrap_or_default();
        let inside = |name: &str| root.join(name).display().to_string();
        let variables = [
            ("PATH", format!("{}:{search}", inside("bin"))),
            ("HOME", inside("home")),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("CODEX_STATE_DIR", inside("state")),
            ("CODEX_TMUX_SOCKET", socket.clone()),
            // Most agents of tests never report that they are up.
            ("CODEX_AGENT_START_TIMEOUT_SECONDS", "1".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            // Nothing above the temporary folder is taken for a repository.
            ("GIT_CEILING_DIRECTORIES", inside("")),
            ("GIT_AUTHOR_NAME", "Test".to_owned()),
            ("GIT_AUTHOR_EMAIL", "test@example.com".to_owned()),
            ("GIT_COMMITTER_NAME", "Test".to_owned()),
            ("GIT_COMMITTER_EMAIL", "test@example.com".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        Self {
            folder,
            directory: repository.clone(),
            root,
            repository,
            variables,
            socket,
        }
    }

    /// Sets a variable for everything started from now on.
    pub fn set(&mut self, name: &str, value: impl AsRef<str>) {
        self.variables
            .insert(name.to_owned(), value.as_ref().to_owned());
    }

    pub fn unset(&mut self, name: &str) {
        self.variables.remove(name);
    }

    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Makes everything start in another folder from now on.
    pub fn enter(&mut self, directory: impl Into<PathBuf>) {
        self.directory = directory.into();
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns a path below the root.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub fn repository(&self) -> &Path {
        &self.repository
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    pub fn database(&self) -> PathBuf {
        self.path("state/codex.db")
    }

    /// Opens the database as the servers do.
    pub fn store(&self) -> Store {
        Store::open(&self.database()).unwrap()
    }

    /// Opens the workflows' context as a process in this folder does, with these settings as its flags.
    pub async fn context(&self, directory: &Path, flags: &[(&str, &str)]) -> Context {
        let flags: Vec<_> = flags
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let environment = Environment::new(self.variables.clone(), directory.to_owned());
        Context::open(environment, &flags).await.unwrap()
    }

    /// Writes a file of the repository.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.repository.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits everything in the repository.
    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Puts an executable script on `PATH`, before all others.
    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path("bin").join(name);
        write_program(&path, script);
        path
    }

    /// Puts servers on `PATH` that do nothing, for tests whose agents need none.
    pub fn stub_servers(&self) {
        for server in Server::ALL {
            self.program(server.name(), "#!/bin/sh\n");
        }
    }

    /// Returns a command that runs here and knows nothing of the environment outside.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(&self.variables)
            .current_dir(&self.directory)
            .stdin(Stdio::null());
        command
    }

    /// Runs git here and returns what it printed.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.directory, args)
    }

    /// Runs git in another folder and returns what it printed.
    pub fn git_in(&self, directory: &Path, args: &[&str]) -> String {
        let mut git = self.command(outside("git"));
        let output = git.args(args).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", shown(&output));
        text(&output).trim_end().to_owned()
    }

    /// Runs tmux on this environment's own server.
    pub fn tmux(&self, args: &[&str]) -> Output {
        self.tmux_on(&self.socket, args)
    }

    /// Runs tmux on the server of another socket.
    pub fn tmux_on(&self, socket: &str, args: &[&str]) -> Output {
        let mut tmux = self.command(outside("tmux"));
        // A test may have moved the working directory away.
        if !self.directory.exists() {
            tmux.current_dir(&self.root);
        }
        tmux.args(["-u", "-L", socket]).args(args).output().unwrap()
    }

    pub fn socket(&self) -> &str {
        &self.socket
    }

    /// Returns the names of the tmux sessions, in order.
    pub fn sessions(&self) -> Vec<String> {
        let listed = self.tmux(&["list-sessions", "-F", "#{session_name}"]);
        let listed = String::from_utf8(listed.stdout).unwrap();
        listed.lines().map(str::to_owned).collect()
    }

    pub fn has_session(&self, id: &InstanceId) -> bool {
        self.sessions().iter().any(|name| name == id.as_str())
    }

    /// Returns the command line's command, for tests that change more of it.
    pub fn codex_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(binary("claude-codex"));
        command.args(args);
        command
    }

    pub fn codex(&self, args: &[&str]) -> Output {
        self.codex_command(args).output().unwrap()
    }

    /// Runs the command line, which must succeed, and returns what it printed.
    pub fn text(&self, args: &[&str]) -> String {
        text(&self.codex(args))
    }

    /// Runs the command line with `--json`, which must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[args, &["--json"]].concat())).unwrap()
    }

    /// Runs the command line with `--json`, which must fail, and returns the code of its error.
    pub fn refused(&self, args: &[&str]) -> String {
        let error = error(&self.codex(&[args, &["--json"]].concat()));
        assert!(error["hint"].is_string(), "{error}");
        error["code"].as_str().unwrap().to_owned()
    }

    /// Starts the command line with a text as its standard input.
    pub fn start(&self, args: &[&str], input: &str) -> Child {
        feed(&mut self.codex_command(args), input.as_bytes())
    }
}

impl Default for TestEnv {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        end_tmux(self, &self.socket);
        // Written by scripts that had to outlive the process that started them.
        let pids = std::fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        for pid in pids.split_whitespace() {
            kill(pid.parse().unwrap());
        }
        // Agents and servers outlive their terminal for a moment, and what they write would outlive the folder.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !processes_of(&self.root).is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        for pid in processes_of(&self.root) {
            kill(pid);
        }
    }
}

/// Finds the processes of an environment: its folder is in their variables.
fn processes_of(root: &Path) -> Vec<u64> {
    let root = root.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let variables = std::fs::read(entry.path().join("environ")).ok()?;
        let is_ours = variables.windows(root.len()).any(|part| part == root);
        (is_ours && is_alive(pid)).then_some(pid)
    });
    pids.collect()
}

/// Ends a tmux server, waits until it has gone and removes its socket, which one that was killed leaves behind.
pub(crate) fn end_tmux(env: &TestEnv, socket: &str) {
    let user = rustix::process::geteuid().as_raw();
    let path = PathBuf::from(format!("/tmp/tmux-{user}/{socket}"));
    if !path.exists() {
        return;
    }
    env.tmux_on(socket, &["kill-server"]);
    let deadline = Instant::now() + Duration::from_secs(5);
    while UnixStream::connect(&path).is_ok() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = std::fs::remove_file(path);
}

/// Returns the real program of that name, whatever a test has put on its own `PATH`.
fn outside(name: &str) -> PathBuf {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&search).map(|folder| folder.join(name));
    found.find(|path| path.is_file()).unwrap()
}

/// Writes an executable script.
pub fn write_program(path: &Path, script: &str) {
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Starts a command with this standard input; its outputs are piped.
pub fn feed(command: &mut Command, input: &[u8]) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that has no use for it may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    child
}

/// Returns what a command printed, which must have succeeded.
pub fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", shown(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the error that a command printed with `--json`.
pub fn error(output: &Output) -> Value {
    assert!(!output.status.success(), "{}", shown(output));
    assert!(output.stdout.is_empty(), "{}", shown(output));
    let text = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

/// Returns both outputs of a command, whatever became of it.
pub fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Kills a process, if it still runs.
pub fn kill(pid: u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

/// Returns whether a process is alive; one that only waits to be reaped is not.
pub fn is_alive(pid: impl Display) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
