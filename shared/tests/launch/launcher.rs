//! What other processes of a test do: the test binary runs itself again with one of these.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use shared::agent::{FROM_THE_PANE, Launch};
use shared::config::Environment;
use shared::model::InstanceId;
use shared::workflow::{Context, Run, Step, launch, reconcile, resume, stop};
use tokio_util::sync::CancellationToken;

use crate::support::{LaunchEnv, request};

/// Starts a process of its own that launches once, and waits when it comes to step `hold_at`.
pub(crate) fn spawn_launcher(env: &LaunchEnv, task: Option<&str>, hold_at: Option<&Step>) -> Child {
    let mut command = this_binary(env, "launcher::launches_once");
    command
        .env("TEST_TASK", task.unwrap_or_default())
        .env(
            "TEST_HOLD_AT",
            hold_at.map(Step::to_string).unwrap_or_default(),
        )
        .env("TEST_HELD", env.path("held"));
    command.spawn().unwrap()
}

/// Starts a process of its own that resumes an instance, and waits at step `hold_at` if there is one.
pub(crate) fn spawn_resumer(env: &LaunchEnv, id: &InstanceId, hold_at: Option<&Step>) -> Child {
    this_binary(env, "launcher::resumes_once")
        .env("TEST_RESUME", id.as_str())
        .env(
            "TEST_HOLD_AT",
            hold_at.map(Step::to_string).unwrap_or_default(),
        )
        .env("TEST_HELD", env.path("held"))
        .spawn()
        .unwrap()
}

/// Starts a process of its own that reconciles once.
pub(crate) fn spawn_reconciler(env: &LaunchEnv) -> Child {
    this_binary(env, "launcher::reconciles_once")
        .spawn()
        .unwrap()
}

pub(crate) fn this_binary(env: &LaunchEnv, entry: &str) -> Command {
    let mut command = env.command(std::env::current_exe().unwrap());
    command
        .args(["--exact", entry, "--ignored", "--nocapture"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

async fn context_of_this_process() -> Context {
    let directory = std::env::current_dir().unwrap();
    Context::open(Environment::new(std::env::vars().collect(), directory), &[])
        .await
        .unwrap()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns a run that waits at the step that the test has named until the test takes its sign away.
fn run_that_may_hold() -> Run {
    let (hold_at, held) = (variable("TEST_HOLD_AT"), variable("TEST_HELD"));
    Run::new(CancellationToken::new(), move |step| {
        if step == hold_at {
            std::fs::write(Path::new(&held), step).unwrap();
            while Path::new(&held).exists() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
    })
}

#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn resumes_once() {
    let id = variable("TEST_RESUME").parse().unwrap();
    resume(&context_of_this_process().await, &run_that_may_hold(), &id)
        .await
        .unwrap();
}

#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn launches_once() {
    let run = run_that_may_hold();
    let mut request = request();
    request.task = variable("TEST_TASK").parse().ok();
    launch(&context_of_this_process().await, &run, request)
        .await
        .unwrap();
}

#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn reconciles_once() {
    reconcile(&context_of_this_process().await).await.unwrap();
}

#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn stops_once() {
    let id = variable("TEST_STOP").parse().unwrap();
    let run = Run::unattended();
    stop(&context_of_this_process().await, &run, &id)
        .await
        .unwrap();
}

/// What `claude-codex exec-agent FILE` does.
#[test]
#[ignore = "run by tmux as the agent's process"]
fn executes_an_agent() {
    let file = std::env::var_os("LAUNCH_FILE").unwrap();
    let launch = Launch::take(std::path::Path::new(&file)).unwrap();
    let from_the_pane = std::env::vars().filter(|(name, _)| FROM_THE_PANE.contains(&name.as_str()));
    let error = Command::new(&launch.argv[0])
        .args(&launch.argv[1..])
        .env_clear()
        .envs(from_the_pane)
        .envs(&launch.environment)
        .current_dir(&launch.directory)
        .exec();
    panic!("{error}");
}
