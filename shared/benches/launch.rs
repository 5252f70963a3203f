//! How long a launch takes, against the bare `git worktree add` and `tmux new-session` it is made of.
//!
//! `cargo bench -p shared --bench launch` prints medians and their ratio. Both ways are measured in
//! turn on one repository of 20,000 files, so that whatever else the machine does hits both.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a table on the terminal is what a bench is for"
)]

use std::error::Error;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use shared::agent::Launch;
use shared::workflow::{Run, launch, stop};
use tests::bench::{Times, milliseconds};
use tests::{TestEnv, sample_launch_request};

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
    let env = environment();
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
        let (mut bares, mut launches) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            // The second one finds a warmer cache, so they take turns at being first.
            if round % 2 == 0 {
                bares.push(bare(&env, count));
            }
            launches.push(runtime.block_on(launched(&env, count))?);
            if round % 2 == 1 {
                bares.push(bare(&env, count));
            }
        }
        let (bare, launch) = (Times::new(bares).median(), Times::new(launches).median());
        println!(
            "{name:<22} {:>7.0} ms {:>7.0} ms {:>7.2} {goal:>7.2}",
            milliseconds(bare),
            milliseconds(launch),
            launch.as_secs_f64() / bare.as_secs_f64()
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

/// Makes a repository, a tmux server, and an agent that sleeps.
fn environment() -> TestEnv {
    let mut env = TestEnv::with_empty_repository("repo");
    for folder in 0..FOLDERS {
        for file in 0..FILES_PER_FOLDER {
            let text = format!("file {file} of folder {folder}\n").repeat(20);
            env.write(&format!("folder-{folder}/file-{file}.txt"), &text);
        }
    }
    env.commit_all("first");
    env.stub_servers();
    let this = std::env::current_exe().expect("this bench");
    env.program(
        "claude-codex",
        &format!("#!/bin/sh\nexec '{}' \"$@\"\n", this.display()),
    );
    env.set("CODEX_AGENT_COMMAND", "sleep 1000");
    // The server runs for both, so that neither pays for its start.
    tmux(
        &env,
        &["new-session", "-d", "-s", "holder", "--", "sleep", "10000"],
    );
    env
}

fn tmux(env: &TestEnv, args: &[&str]) {
    let Output { status, .. } = env.tmux(args);
    assert!(status.success(), "tmux {args:?} ended with {status}");
}

/// Measures the bare commands, one pair after the other.
fn bare(env: &TestEnv, count: usize) -> Duration {
    let names: Vec<_> = (0..count).map(|number| format!("bare-{number}")).collect();
    let path = |name: &str| env.path("bare").join(name).display().to_string();
    let start = Instant::now();
    for name in &names {
        let path = path(name);
        env.git(&["worktree", "add", "--quiet", "-b", name, &path]);
        let session = ["new-session", "-d", "-s", name, "-c", &path];
        tmux(env, &[&session[..], &["--", "sleep", "1000"]].concat());
    }
    let took = start.elapsed();
    for name in &names {
        tmux(env, &["kill-session", "-t", name]);
        env.git(&["worktree", "remove", "--force", &path(name)]);
        env.git(&["branch", "--quiet", "-D", name]);
    }
    took
}

/// Measures launches, all at once.
async fn launched(env: &TestEnv, count: usize) -> Outcome<Duration> {
    let context = env.context(env.repository(), &[]).await;
    let start = Instant::now();
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let context = context.clone();
            let run = Run::unattended();
            tokio::spawn(async move { launch(&context, &run, sample_launch_request()).await })
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
