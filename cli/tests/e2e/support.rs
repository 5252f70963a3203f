//! A place of its own for each test: home, state, repository and tmux server, gone at the end.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use shared::store::Store;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_claude-codex");

/// An agent that just lives, and says one word first.
const AGENT: &str = "sh -c 'echo hello; exec sleep 600'";
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Place {
    folder: tempfile::TempDir,
    /// Nobody else's, because the folder's name is random.
    socket: String,
}

impl Place {
    /// Makes a place with a repository of one commit.
    pub(crate) fn new() -> Self {
        let place = Self::without_repository();
        std::fs::create_dir(place.repository()).unwrap();
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
        place
    }

    pub(crate) fn without_repository() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "bin"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        // The servers are looked for beside the program or on PATH; tests of this package alone have not built them.
        for server in ["mcp-coding", "mcp-review", "mcp-planning"] {
            let path = folder.path().join("bin").join(server);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&path, mode).unwrap();
        }
        let name = folder.path().file_name().unwrap().to_string_lossy();
        let socket = format!("codex-cli-{}", name.trim_start_matches('.'));
        Self { folder, socket }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path().join("a repository")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.state().join("codex.db")).unwrap()
    }

    /// Returns a command with the place as its whole world.
    pub(crate) fn command(&self, program: &str) -> Command {
        let search = std::env::var("PATH").unwrap();
        let bin = self.path().join("bin");
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{}:{search}", bin.display()))
            .env("HOME", self.path().join("home"))
            .env("CODEX_STATE_DIR", self.state())
            .env("CODEX_TMUX_SOCKET", &self.socket)
            .env("CODEX_AGENT_COMMAND", AGENT)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Test")
            .env("GIT_AUTHOR_EMAIL", "test@example.com")
            .env("GIT_COMMITTER_NAME", "Test")
            .env("GIT_COMMITTER_EMAIL", "test@example.com")
            .stdin(Stdio::null());
        let here = self.repository();
        command.current_dir(if here.is_dir() { &here } else { self.path() });
        command
    }

    /// Returns a command of ours, for tests that change more of it.
    pub(crate) fn codex_command(&self, words: &[&str]) -> Command {
        let mut command = self.command(PROGRAM);
        command.args(words);
        command
    }

    pub(crate) fn codex(&self, words: &[&str]) -> Output {
        self.codex_command(words).output().unwrap()
    }

    /// Runs a command of ours that must succeed, and returns what it printed.
    pub(crate) fn text(&self, words: &[&str]) -> String {
        let output = self.codex(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same with `--json`.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let words: Vec<_> = words.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.text(&words)).unwrap()
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        let output = self.command("git").args(words).output().unwrap();
        assert!(output.status.success(), "git {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn tmux(&self, words: &[&str]) -> Output {
        let mut command = self.command("tmux");
        command.args(["-L", &self.socket]).args(words);
        command.output().unwrap()
    }

    /// Returns the names of the sessions that stand.
    pub(crate) fn sessions(&self) -> String {
        let output = self.tmux(&["list-sessions", "-F", "#{session_name}"]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns worktrees, branches and sessions: what a launch changes and its end restores.
    pub(crate) fn world(&self) -> [String; 4] {
        let mut beside: Vec<_> = std::fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "state")
            .collect();
        beside.sort();
        [
            self.git(&["worktree", "list", "--porcelain"]),
            self.git(&["branch", "--list"]),
            self.sessions(),
            beside.join(" "),
        ]
    }
}

impl Place {
    /// Runs a shell line in a terminal of its own, 100 columns wide and 20 lines high.
    pub(crate) fn screen(&self, line: &str) -> Screen<'_> {
        let screen = Screen {
            place: self,
            socket: format!("{}-screen", self.socket),
        };
        let begun = screen.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "20",
            line,
        ]);
        assert!(begun.status.success(), "{begun:?}");
        screen
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        forget_socket(&self.socket);
    }
}

/// A terminal in which a program of ours runs.
pub(crate) struct Screen<'p> {
    place: &'p Place,
    socket: String,
}

impl Screen<'_> {
    fn tmux(&self, words: &[&str]) -> Output {
        let mut command = self.place.command("tmux");
        command.args(["-u", "-L", &self.socket]).args(words);
        command.output().unwrap()
    }

    /// Returns what the terminal shows; nothing once its program has ended.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        let words: Vec<_> = ["send-keys"].iter().chain(keys).copied().collect();
        let pressed = self.tmux(&words);
        assert!(pressed.status.success(), "{pressed:?}");
    }

    pub(crate) fn has_ended(&self) -> bool {
        !self.tmux(&["has-session"]).status.success()
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        forget_socket(&self.socket);
    }
}

/// Removes a socket, which tmux leaves behind.
fn forget_socket(name: &str) {
    let user = rustix::process::geteuid().as_raw();
    let _ = std::fs::remove_file(format!("/tmp/tmux-{user}/{name}"));
}

/// Returns the error that a command printed with `--json`.
pub(crate) fn error(output: &Output) -> Value {
    assert!(output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
