//! How long a launch takes, against the bare `git worktree add` and `tmux new-session` it is made of.
//!
//! `cargo bench -p shared --bench launch` prints medians and their ratio. Both ways are measured in
//! turn on one repository of 20,000 files, so that whatever else the machine does hits both.

#![expect(
    clippy::print_stdout,
    reason = "a table on the terminal is what a bench is for"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shared::agent::Launch;
use shared::config::Environment;
use shared::model::InstanceKind;
use shared::workflow::{Context, LaunchRequest, Run, launch, stop};
use tempfile::TempDir;

const FOLDERS: usize = 200;
const FILES_PER_FOLDER: usize = 100;
const ROUNDS_OF_ONE: usize = 7;
const ROUNDS_OF_TEN: usize = 3;
const AT_ONCE: usize = 10;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "exec-agent") {
        return execute_agent(Path::new(&arguments[2]));
    }
    let world = World::new()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    println!("{} files, medians", FOLDERS * FILES_PER_FOLDER);
    println!(
        "{:<22} {:>10} {:>10} {:>7} {:>7}",
        "", "bare", "launch", "ratio", "goal"
    );
    for (name, count, rounds, goal) in [
        ("one", 1, ROUNDS_OF_ONE, 1.3),
        ("ten (bare: in turn)", AT_ONCE, ROUNDS_OF_TEN, 0.6),
    ] {
        let (mut bare, mut launched) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            // Whoever comes second finds a warmer cache: so in turn.
            if round % 2 == 0 {
                bare.push(world.bare(count)?);
                launched.push(runtime.block_on(world.launched(count))?);
            } else {
                launched.push(runtime.block_on(world.launched(count))?);
                bare.push(world.bare(count)?);
            }
        }
        let (bare, launched) = (median(bare), median(launched));
        println!(
            "{name:<22} {:>7.0} ms {:>7.0} ms {:>7.2} {goal:>7.2}",
            bare.as_secs_f64() * 1e3,
            launched.as_secs_f64() * 1e3,
            launched.as_secs_f64() / bare.as_secs_f64()
        );
    }
    Ok(())
}

/// Does what `claude-codex exec-agent FILE` does.
fn execute_agent(file: &Path) -> Outcome<()> {
    let launch = Launch::take(file)?;
    let error = Command::new(&launch.argv[0])
        .args(&launch.argv[1..])
        .env_clear()
        .envs(&launch.environment)
        .current_dir(&launch.directory)
        .exec();
    Err(error.into())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A repository, a tmux server, and an agent that sleeps.
struct World {
    folder: TempDir,
    repository: PathBuf,
    socket: String,
}

impl World {
    fn new() -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let repository = folder.path().canonicalize()?.join("repo");
        for number in 0..FOLDERS {
            let inner = repository.join(format!("folder-{number}"));
            fs::create_dir_all(&inner)?;
            for file in 0..FILES_PER_FOLDER {
                let text = format!("file {file} of folder {number}\n").repeat(20);
                fs::write(inner.join(format!("file-{file}.txt")), text)?;
            }
        }
        let world = Self {
            socket: format!("codex-bench-{}", uuid::Uuid::new_v4().simple()),
            folder,
            repository,
        };
        world.git(&["init", "--quiet", "--initial-branch=main"])?;
        world.git(&["config", "user.name", "Bench"])?;
        world.git(&["config", "user.email", "bench@example.org"])?;
        world.git(&["add", "."])?;
        world.git(&["commit", "--quiet", "-m", "first"])?;
        // The server runs for both, so that neither pays for its start.
        world.tmux(&["new-session", "-d", "-s", "holder", "--", "sleep", "10000"])?;
        world.program("claude-codex", "exec-agent")?;
        world.program("mcp-coding", "")?;
        Ok(world)
    }

    /// Puts a program on PATH that is this bench itself.
    fn program(&self, name: &str, only: &str) -> Outcome<()> {
        let path = self.bin().join(name);
        fs::create_dir_all(self.bin())?;
        let this = std::env::current_exe()?;
        let script = if only.is_empty() {
            "#!/bin/sh\n".to_owned()
        } else {
            format!("#!/bin/sh\nexec '{}' \"$@\"\n", this.display())
        };
        fs::write(&path, script)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn git(&self, args: &[&str]) -> Outcome<()> {
        run(Command::new("git").args(args).current_dir(&self.repository))
    }

    fn tmux(&self, args: &[&str]) -> Outcome<()> {
        run(Command::new("tmux")
            .args(["-L", &self.socket, "-f", "/dev/null"])
            .args(args))
    }

    /// Measures the bare commands, one pair after the other.
    fn bare(&self, count: usize) -> Outcome<Duration> {
        let names: Vec<_> = (0..count).map(|number| format!("bare-{number}")).collect();
        let path = |name: &str| self.folder.path().join("bare").join(name);
        let start = Instant::now();
        for name in &names {
            let path = path(name).display().to_string();
            self.git(&["worktree", "add", "--quiet", "-b", name, &path])?;
            let session = ["new-session", "-d", "-s", name, "-c", &path];
            self.tmux(&[&session[..], &["--", "sleep", "1000"]].concat())?;
        }
        let took = start.elapsed();
        for name in &names {
            self.tmux(&["kill-session", "-t", name])?;
            let path = path(name).display().to_string();
            self.git(&["worktree", "remove", "--force", &path])?;
            self.git(&["branch", "--quiet", "-D", name])?;
        }
        Ok(took)
    }

    /// Measures launches, all at once.
    async fn launched(&self, count: usize) -> Outcome<Duration> {
        let context = self.context().await?;
        let start = Instant::now();
        let tasks: Vec<_> = (0..count)
            .map(|_| {
                let context = context.clone();
                tokio::spawn(async move { launch(&context, &Run::unattended(), request()).await })
            })
            .collect();
        let mut instances = Vec::new();
        for task in tasks {
            instances.push(task.await??);
        }
        let took = start.elapsed();
        for instance in instances {
            stop(&context, &Run::unattended(), &instance.id).await?;
        }
        Ok(took)
    }

    async fn context(&self) -> Outcome<Context> {
        let search = std::env::var("PATH")?;
        let text = |path: PathBuf| path.display().to_string();
        let variables = BTreeMap::from([
            ("PATH".to_owned(), format!("{}:{search}", text(self.bin()))),
            ("HOME".to_owned(), text(self.folder.path().join("home"))),
            (
                "CODEX_STATE_DIR".to_owned(),
                text(self.folder.path().join("state")),
            ),
            ("CODEX_TMUX_SOCKET".to_owned(), self.socket.clone()),
            ("CODEX_AGENT_COMMAND".to_owned(), "sleep 1000".to_owned()),
        ]);
        let environment = Environment::new(variables, self.repository.clone());
        Ok(Context::open(environment, &[]).await?)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Nothing more can be done about a server that does not end.
        let _ = self.tmux(&["kill-server"]);
    }
}

fn request() -> LaunchRequest {
    LaunchRequest {
        kind: InstanceKind::Coding,
        prompt: "Measure".to_owned(),
        issue: None,
        task: None,
        base: None,
        branch: None,
        require_review: None,
        max_reviews: None,
    }
}

fn run(command: &mut Command) -> Outcome<()> {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?} ended with {status}").into())
    }
}
