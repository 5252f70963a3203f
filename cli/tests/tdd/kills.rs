//! `kill -9` of the run in each of its steps: it goes on where it was.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};
use tests::kill;

use crate::tdd_env::{TddEnv, result};

fn kill_run(mut child: Child) {
    kill(u64::from(child.id()));
    child.wait().unwrap();
}

fn is_done(env: &TddEnv, result: &Value, rounds: u32) {
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(rounds)),
        "{result}"
    );
    env.pull();
    env.until_nothing_runs();
}

/// What a listing says of a run that nobody drives.
fn is_left(env: &TddEnv, id: &InstanceId) {
    assert_eq!(env.show(id)["status"], "running");
    let listed = env.codex(&["tdd", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("interrupted: resume it"));
}

#[test]
fn while_the_coder_is_launched() {
    let env = TddEnv::new("work", "approve");
    let waits = env.script("hook.waits");
    // The branch is being made, and git does not come back.
    env.reference_hook(&format!(
        "touch '{}'; while [ ! -e '{}' ]; do sleep 0.05; done",
        waits.display(),
        env.script("go").display()
    ));
    let (child, id) = env.begin(&[]);
    env.until("git waits", || waits.exists());
    kill_run(child);
    env.go();
    env.no_reference_hook();
    is_left(&env, &id);
    let result = env.resume(&id, &[]);
    is_done(&env, &result, 1);
    assert_eq!((env.turns("coder"), env.turns("reviewer")), (1, 1));
}

#[test]
fn while_the_coder_has_its_turn() {
    let env = TddEnv::new("wait-work", "approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
    kill_run(child);
    is_left(&env, &id);
    // The coder goes on with nobody there, and its handoff waits.
    env.go();
    let records = env.path("state/logs").join(id.as_str());
    env.until("its turn ends", || records.join("turn-1.end").exists());
    let result = env.resume(&id, &[]);
    is_done(&env, &result, 1);
    assert_eq!((env.turns("coder"), env.turns("reviewer")), (1, 1));
}

#[test]
fn while_the_coder_has_its_turn_and_still_has_it() {
    let env = TddEnv::new("wait-work", "approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
    kill_run(child);
    let resumed = env.start(&["tdd", "resume", id.as_str(), "--json"], "");
    env.go();
    let result = result(&resumed.wait_with_output().unwrap());
    is_done(&env, &result, 1);
    assert_eq!(env.turns("coder"), 1);
}

#[test]
fn together_with_all_agents_in_the_coders_turn() {
    let env = TddEnv::new("wait-work", "approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
    kill_run(child);
    env.tmux(&["kill-server"]);
    env.go();
    let result = env.resume(&id, &[]);
    is_done(&env, &result, 1);
    assert_eq!(env.turns("coder"), 2);
    let told = env.told("coder", 2);
    assert!(told.contains("were interrupted"), "{told}");
}

#[test]
fn together_with_all_agents_after_the_handoff() {
    let env = TddEnv::new("wait-work", "approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
    kill_run(child);
    env.go();
    let records = env.path("state/logs").join(id.as_str());
    env.until("its turn ends", || records.join("turn-1.end").exists());
    env.tmux(&["kill-server"]);
    let result = env.resume(&id, &[]);
    is_done(&env, &result, 1);
    // What was handed over is not done again.
    assert_eq!((env.turns("coder"), env.turns("reviewer")), (1, 1));
}

#[test]
fn while_the_reviewer_judges() {
    let env = TddEnv::new("work", "wait-changes,approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("reviewer");
    kill_run(child);
    is_left(&env, &id);
    env.go();
    env.until("the verdict is there", || {
        env.status(&id) == Status::FeedbackReceived
    });
    let result = env.resume(&id, &[]);
    is_done(&env, &result, 2);
    assert_eq!((env.turns("coder"), env.turns("reviewer")), (2, 2));
    assert!(env.told("coder", 2).contains("Please change it"));
}

#[test]
fn together_with_all_agents_in_the_review() {
    let env = TddEnv::new("work", "wait-approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("reviewer");
    kill_run(child);
    env.tmux(&["kill-server"]);
    env.go();
    let result = env.resume(&id, &[]);
    is_done(&env, &result, 1);
    // The coder's work was handed over; it has no second turn. A reviewer that outlives its terminal for long enough to
    // give its verdict has none either.
    assert_eq!(env.turns("coder"), 1);
    assert!(matches!(env.turns("reviewer"), 1 | 2));
}

#[test]
fn while_somebody_else_puts_the_coder_away() {
    let env = TddEnv::new("wait-work", "approve");
    let (child, id) = env.begin(&[]);
    env.until_waits("coder");
    env.codex(&["stop", id.as_str()]);
    child.wait_with_output().unwrap();
    // A process that lives has the row, as if it were removing the worktree.
    let mut busy = Command::new("sleep").arg("60").spawn().unwrap();
    let mark = shared::process::mark(busy.id());
    let marked = env.store();
    marked
        .write_now(|w| w.set_owner(&id, mark.as_ref()))
        .unwrap();
    env.go();
    let mut resumed = env.start(&["tdd", "resume", id.as_str()], "");
    let mut told = BufReader::new(resumed.stderr.take().unwrap()).lines();
    let waits = told.find(|line| line.as_ref().unwrap().contains("Waiting for"));
    assert!(waits.is_some(), "it did not wait");
    assert_eq!(env.status(&id), Status::Terminated);
    busy.kill().unwrap();
    busy.wait().unwrap();
    for line in told {
        line.unwrap();
    }
    assert!(resumed.wait().unwrap().success());
    env.pull();
}

#[test]
fn again_and_again_at_any_moment() {
    let env = TddEnv::new("work", "changes,say,approve");
    let (child, id) = env.begin(&[]);
    kill_run(child);
    let (mut result, mut kills) = (None, 0);
    for round in 0..200 {
        let mut child = env.start(&["tdd", "resume", id.as_str(), "--json"], "");
        std::thread::sleep(Duration::from_millis(50 + round * 53 % 700));
        if child.try_wait().unwrap().is_none() {
            kill_run(child);
            kills += 1;
        } else {
            let output = child.wait_with_output().unwrap();
            result = Some(serde_json::from_slice::<Value>(&output.stdout).unwrap());
            break;
        }
    }
    eprintln!("{kills} kills");
    is_done(&env, &result.unwrap(), 3);
    let shown = env.show(&id);
    assert_eq!(
        shown["reviewerResponses"].as_array().unwrap().len(),
        3,
        "{shown}"
    );
    assert_eq!(shown["status"], "completed");
}
