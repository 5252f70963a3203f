//! What is done about agents by a process with other settings, another socket, another clock or another state folder.

use std::fs;
use std::process::Command;

use shared::model::{Instance, Status};
use shared::workflow::{Activity, Context, Run, board, launch, reconcile, resume, stop};
use tests::{is_alive, until_async};

use crate::support::{LaunchEnv, request};

async fn reconciled(context: &Context) -> Vec<String> {
    let done = reconcile(context).await.unwrap();
    let failed = done.unsettled.iter().map(|row| row.error.message.clone());
    let moved = done.changes.iter().map(|change| format!("{change:?}"));
    failed.chain(moved).collect()
}

async fn activity(context: &Context, instance: &Instance) -> Activity {
    let rows = board(context, true).await.unwrap();
    let row = rows.into_iter().find(|row| row.instance.id == instance.id);
    row.unwrap().activity
}

#[tokio::test]
async fn another_socket_ends_nobody() {
    let mut env = LaunchEnv::new();
    let instance = env.launch().await;
    let socket = env.socket().to_owned();
    env.set("CODEX_TMUX_SOCKET", format!("{socket}-other"));
    let context = env.context().await;
    assert_eq!(reconciled(&context).await, [""; 0]);
    assert_eq!(activity(&context, &instance).await, Activity::Unknown);
    let row = env.instance(&instance).await;
    assert_eq!(row.status, Status::Started);
    assert!(row.worktree_path.exists());
    // Whoever ends it finds its session, too.
    stop(&context, &Run::unattended(), &instance.id)
        .await
        .unwrap();
    assert!(env.sessions().is_empty());
    assert!(!is_alive(row.agent.unwrap().pid));
}

#[tokio::test]
async fn a_removed_socket_file_ends_nobody() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let instance = env.launch().await;
    let shown = env.tmux(&["display-message", "-p", "#{pid} #{socket_path}"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let (server, socket) = shown.trim().split_once(' ').unwrap();
    fs::remove_file(socket).unwrap();

    assert_eq!(reconciled(&context).await, [""; 0]);
    assert_eq!(
        activity(&context, &instance).await,
        Activity::TerminalUnreachable
    );
    assert!(instance.worktree_path.exists());

    // tmux makes it again when it is told to.
    let signalled = Command::new("kill").args(["-USR1", server]).status();
    assert!(signalled.unwrap().success());
    until_async("the socket is back", || fs::metadata(socket).is_ok()).await;
    assert_eq!(activity(&context, &instance).await, Activity::Unknown);
    env.assert_stands(&instance).await;
}

#[tokio::test]
async fn settings_of_one_repository_do_not_reach_the_agents_of_another() {
    let env = LaunchEnv::new();
    let instance = env.launch().await;
    started_seconds_ago(&env, 60);
    let other = env.path("work/other");
    fs::create_dir_all(&other).unwrap();
    env.git_in(&other, &["init", "--quiet"]);
    let limits = &[("resources.executionTimeoutHours", "0")];
    let there = env.context_with(&other, limits).await;
    assert_eq!(reconciled(&there).await, [""; 0]);
    env.assert_stands(&instance).await;

    // Its own repository's settings count, wherever one looks from.
    let here = env.context_with(env.repository(), limits).await;
    assert_eq!(reconciled(&here).await.len(), 1);
    assert_eq!(env.instance(&instance).await.status, Status::Terminated);
}

/// Writes when the agent was started, as if that was so long ago by the clock that nobody can set.
fn started_seconds_ago(env: &LaunchEnv, seconds: i64) {
    let sql = "UPDATE instances SET started_monotonic = started_monotonic - ?1";
    env.connection().execute(sql, [seconds]).unwrap();
}

/// Writes what the wall clock says, as if all had happened so many hours ago.
fn hours_ago_by_the_wall_clock(env: &LaunchEnv, hours: u32) {
    let sql = format!(
        "UPDATE instances SET (created_at, last_activity, status_since) = (SELECT t, t, t FROM (
             SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{hours} hours') AS t))"
    );
    env.connection().execute(&sql, []).unwrap();
}

#[tokio::test]
async fn its_time_is_up() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let instance = env.launch().await;
    started_seconds_ago(&env, 23 * 3600);
    assert_eq!(reconciled(&context).await, [""; 0]);
    env.assert_stands(&instance).await;
    started_seconds_ago(&env, 2 * 3600);
    assert_eq!(reconciled(&context).await.len(), 1);
    let instance = env.instance(&instance).await;
    assert_eq!(instance.status, Status::Terminated);
    assert!(
        instance
            .note
            .sentence()
            .unwrap()
            .contains("executionTimeoutHours")
    );
    assert!(env.sessions().is_empty() && !instance.worktree_path.exists());
}

#[tokio::test]
async fn a_clock_that_was_set_and_a_machine_that_slept_end_nobody() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let instance = env.launch().await;
    hours_ago_by_the_wall_clock(&env, 25);
    assert_eq!(reconciled(&context).await, [""; 0]);
    env.assert_stands(&instance).await;
    // A row that says nothing of that clock has only the other one.
    let sql = "UPDATE instances SET started_boot = NULL";
    env.connection().execute(sql, []).unwrap();
    assert_eq!(reconciled(&context).await.len(), 1);
    assert_eq!(env.instance(&instance).await.status, Status::Terminated);
}

#[tokio::test]
async fn time_counts_from_the_last_start() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    stop(&context, &run, &instance.id).await.unwrap();
    started_seconds_ago(&env, 30 * 3600);
    hours_ago_by_the_wall_clock(&env, 30);
    resume(&context, &run, &instance.id).await.unwrap();
    assert_eq!(reconciled(&context).await, [""; 0]);
    env.assert_stands(&instance).await;
}

#[tokio::test]
async fn a_failed_launch_leaves_the_agent_of_another_state_folder_alone() {
    let mut env = LaunchEnv::new();
    let theirs = env.launch().await;
    let agent = theirs.agent.clone().unwrap();
    let state = env.path("state-2").display().to_string();
    env.set("CODEX_STATE_DIR", &state);
    env.set("CODEX_RESOURCES_WORKTREE_ROOT", "trees-2");
    env.set("CODEX_CODING_BRANCH_PREFIX", "second/");
    let context = env.context().await;
    let error = launch(&context, &Run::unattended(), request())
        .await
        .unwrap_err();
    assert!(error.message.contains(theirs.id.as_str()), "{error:?}");
    assert!(env.has_session(&theirs.id));
    assert!(is_alive(agent.pid));
    let rows = context.store.read(|r| r.instances(false)).await.unwrap();
    assert_eq!(rows, []);
}

#[tokio::test]
async fn one_that_cannot_be_ended_does_not_stop_the_others() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let (first, second) = (env.launch().await, env.launch().await);
    // Ending the first has to take back its trust in a file that nobody can read.
    fs::write(env.path("home/.claude.json"), "{ broken").unwrap();
    let session = "UPDATE instances SET claude_session_id = ?1 WHERE id = ?2";
    let id = uuid::Uuid::new_v4().to_string();
    env.connection()
        .execute(session, [id.as_str(), first.id.as_str()])
        .unwrap();
    env.kill_tmux().await;

    for _ in 0..2 {
        let done = reconcile(&context).await.unwrap();
        let unsettled: Vec<_> = done.unsettled.iter().map(|row| &row.instance).collect();
        assert_eq!(unsettled, [&first.id], "{done:?}");
        assert_eq!(env.instance(&second).await.status, Status::Failed);
        let owner = env.instance(&first).await.owner.unwrap();
        assert!(!shared::process::is_alive(&owner), "{owner:?}");
    }
    fs::remove_file(env.path("home/.claude.json")).unwrap();
    assert_eq!(reconciled(&context).await, [""; 0]);
    assert_eq!(env.instance(&first).await.owner, None);
}

#[tokio::test]
async fn scheduled_cleanup_puts_ended_agents_away_when_their_hours_are_over() {
    let mut env = LaunchEnv::new();
    env.set("CODEX_RESOURCES_CLEANUP", "scheduled");
    env.set("CODEX_RESOURCES_CLEANUP_AFTER_HOURS", "2");
    let context = env.context().await;
    let run = Run::unattended();
    let (clean, dirty) = (env.launch().await, env.launch().await);
    fs::write(dirty.worktree_path.join("new"), "work").unwrap();
    for instance in [&clean, &dirty] {
        stop(&context, &run, &instance.id).await.unwrap();
    }
    let ended = |hours: u32| {
        let sql = format!(
            "UPDATE instances SET completed_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{hours} hours')"
        );
        env.connection().execute(&sql, []).unwrap();
    };
    ended(1);
    assert_eq!(reconciled(&context).await, [""; 0]);
    assert!(clean.worktree_path.exists() && dirty.worktree_path.exists());
    ended(3);
    assert_eq!(reconciled(&context).await, [""; 0]);
    assert!(!clean.worktree_path.exists());
    assert!(dirty.worktree_path.join("new").exists());
    let dirty = env.instance(&dirty).await;
    assert!(dirty.note.sentence().unwrap().contains("1 uncommitted"));
    assert_eq!(dirty.owner, None);
}
