//! Tests on a real tmux, each on a socket of its own.

mod fencing;
mod inputs;
mod load;
mod own_panes;
mod screens;
mod servers;
mod sessions;
mod states;
mod watching;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use uuid::Uuid;

use super::command::{Script, Socket};
use super::{Lines, NewSession, Pane, PaneState, SessionName, Size, SocketName, Tmux};

const TIMEOUT: Duration = Duration::from_secs(20);

/// A private server that ends with the test.
struct Server {
    tmux: Tmux,
    directory: TempDir,
}

impl Server {
    fn new() -> Self {
        Self::with_environment(vec![("PATH".into(), std::env::var_os("PATH").unwrap())])
    }

    fn with_environment(base: Vec<(OsString, OsString)>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = format!("codex-test-{}", Uuid::new_v4().simple());
        let tmux = Tmux::new(
            SocketName::new(socket).unwrap(),
            directory.path().join("a #{pane_id} 'config'/tmux.conf"),
            "tmux".into(),
            base,
        );
        Self { tmux, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    async fn start(&self, name: &str, argv: &[&str]) -> Pane {
        let session = self.session(name, argv);
        self.tmux.create(&session).await.unwrap()
    }

    /// Starts `cat` and waits until it has the pane: before, it is the program that tmux starts it with.
    async fn start_cat(&self, name: &str) -> Pane {
        let pane = self.start(name, &["cat"]).await;
        self.wait_pane(name, |state| state.command == "cat").await;
        pane
    }

    async fn start_script(&self, name: &str, script: &str) -> Pane {
        self.start(name, &["sh", "-c", script]).await
    }

    fn session(&self, name: &str, argv: &[&str]) -> NewSession {
        NewSession {
            name: session_name(name),
            directory: self.directory.path().to_owned(),
            argv: argv.iter().map(OsString::from).collect(),
            environment: Vec::new(),
            size: Size::default(),
        }
    }

    /// Runs tmux commands as a person would; returns what they print.
    async fn raw(&self, command: &'static str, args: &[&str]) -> String {
        let script = Script::new(command).args(args);
        let answer = self.tmux.run(&script, None).await.unwrap();
        answer
            .found()
            .unwrap()
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    async fn server_pid(&self) -> i32 {
        let pid = self.raw("display-message", &["-p", "#{pid}"]).await;
        pid.parse().unwrap()
    }

    async fn buffers(&self) -> String {
        self.raw("list-buffers", &[]).await
    }

    async fn pane(&self, name: &str) -> PaneState {
        let pane = self.tmux.pane(&session_name(name)).await.unwrap();
        pane.unwrap()
    }

    /// Waits until the pane's state is as wanted.
    async fn wait_pane(&self, name: &str, wanted: impl Fn(&PaneState) -> bool) -> PaneState {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let pane = self.pane(name).await;
            if wanted(&pane) {
                return pane;
            }
            assert!(Instant::now() < deadline, "still {pane:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the terminal shows the text.
    async fn wait_screen(&self, name: &str, text: &str) -> String {
        let session = session_name(name);
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let screen = self.tmux.capture(&session, Lines::Visible, false);
            let screen = screen.await.unwrap();
            if screen.contains(text) {
                return screen;
            }
            assert!(Instant::now() < deadline, "no {text:?} in {screen:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Server {
    fn socket(&self) -> &str {
        match &self.tmux.socket {
            Socket::Ours(name) => name.as_str(),
            Socket::Person(path) => path.to_str().unwrap(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let socket = self.socket();
        let mut path = PathBuf::from("/tmp");
        path.push(format!("tmux-{}", rustix::process::getuid().as_raw()));
        let _ = std::process::Command::new("tmux")
            .args(["-L", socket, "kill-server"])
            .env_remove("TMUX_TMPDIR")
            .output();
        let _ = std::fs::remove_file(path.join(socket));
    }
}

fn session_name(name: &str) -> SessionName {
    SessionName::new(name).unwrap()
}

/// Waits until a file holds what is wanted.
async fn wait_file(path: &Path, wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let bytes = std::fs::read(path).unwrap_or_default();
        if wanted(&bytes) {
            return bytes;
        }
        assert!(
            Instant::now() < deadline,
            "{} has {} bytes",
            path.display(),
            bytes.len()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
