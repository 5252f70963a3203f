//! `kill -9` of the run in each of its steps: it goes on where it was.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value, json};
use shared::model::{InstanceId, Status};

use crate::lab::{Lab, result};
use crate::support::kill;

fn kill_run(mut child: Child) {
    kill(u64::from(child.id()));
    child.wait().unwrap();
}

fn is_done(lab: &Lab, result: &Value, rounds: u32) {
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(rounds)),
        "{result}"
    );
    lab.pull();
    lab.nothing_runs();
}

/// What a listing says of a run that nobody drives.
fn is_left(lab: &Lab, id: &InstanceId) {
    assert_eq!(lab.show(id)["status"], "running");
    let listed = lab.place.codex(&["tdd", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("left: resume it"));
}

#[test]
fn while_the_coder_is_launched() {
    let lab = Lab::new("work", "approve");
    let waits = lab.script("hook.waits");
    // The branch is being made, and git does not come back.
    lab.place.reference_hook(&format!(
        "touch '{}'; while [ ! -e '{}' ]; do sleep 0.05; done",
        waits.display(),
        lab.script("go").display()
    ));
    let (child, id) = lab.begin(&[]);
    lab.place.until("git waits", || waits.exists());
    kill_run(child);
    lab.go();
    lab.place.no_reference_hook();
    is_left(&lab, &id);
    let result = lab.resume(&id, &[]);
    is_done(&lab, &result, 1);
    assert_eq!((lab.turns("coder"), lab.turns("reviewer")), (1, 1));
}

#[test]
fn while_the_coder_has_its_turn() {
    let lab = Lab::new("wait-work", "approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    kill_run(child);
    is_left(&lab, &id);
    // The coder goes on with nobody there, and its handoff waits.
    lab.go();
    let records = lab.place.path("state/logs").join(id.as_str());
    lab.place
        .until("its turn ends", || records.join("turn-1.end").exists());
    let result = lab.resume(&id, &[]);
    is_done(&lab, &result, 1);
    assert_eq!((lab.turns("coder"), lab.turns("reviewer")), (1, 1));
}

#[test]
fn while_the_coder_has_its_turn_and_still_has_it() {
    let lab = Lab::new("wait-work", "approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    kill_run(child);
    let resumed = lab
        .place
        .start(&["tdd", "resume", id.as_str(), "--json"], "");
    lab.go();
    let result = result(&resumed.wait_with_output().unwrap());
    is_done(&lab, &result, 1);
    assert_eq!(lab.turns("coder"), 1);
}

#[test]
fn together_with_all_agents_in_the_coders_turn() {
    let lab = Lab::new("wait-work", "approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    kill_run(child);
    lab.place.tmux(&["kill-server"]);
    lab.go();
    let result = lab.resume(&id, &[]);
    is_done(&lab, &result, 1);
    assert_eq!(lab.turns("coder"), 2);
    let told = lab.told("coder", 2);
    assert!(told.contains("were interrupted"), "{told}");
}

#[test]
fn together_with_all_agents_after_the_handoff() {
    let lab = Lab::new("wait-work", "approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    kill_run(child);
    lab.go();
    let records = lab.place.path("state/logs").join(id.as_str());
    lab.place
        .until("its turn ends", || records.join("turn-1.end").exists());
    lab.place.tmux(&["kill-server"]);
    let result = lab.resume(&id, &[]);
    is_done(&lab, &result, 1);
    // What was handed over is not done again.
    assert_eq!((lab.turns("coder"), lab.turns("reviewer")), (1, 1));
}

#[test]
fn while_the_reviewer_judges() {
    let lab = Lab::new("work", "wait-changes,approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("reviewer");
    kill_run(child);
    is_left(&lab, &id);
    lab.go();
    lab.place.until("the verdict is there", || {
        lab.place.status(&id) == Status::FeedbackReceived
    });
    let result = lab.resume(&id, &[]);
    is_done(&lab, &result, 2);
    assert_eq!((lab.turns("coder"), lab.turns("reviewer")), (2, 2));
    assert!(lab.told("coder", 2).contains("Please change it"));
}

#[test]
fn together_with_all_agents_in_the_review() {
    let lab = Lab::new("work", "wait-approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("reviewer");
    kill_run(child);
    lab.place.tmux(&["kill-server"]);
    lab.go();
    let result = lab.resume(&id, &[]);
    is_done(&lab, &result, 1);
    // The coder's work was handed over; it has no second turn. A reviewer that outlives its terminal for long enough to
    // give its verdict has none either.
    assert_eq!(lab.turns("coder"), 1);
    assert!(matches!(lab.turns("reviewer"), 1 | 2));
}

#[test]
fn while_somebody_else_puts_the_coder_away() {
    let lab = Lab::new("wait-work", "approve");
    let (child, id) = lab.begin(&[]);
    lab.waits("coder");
    lab.place.codex(&["stop", id.as_str()]);
    child.wait_with_output().unwrap();
    // A process that lives has the row, as if it were removing the worktree.
    let mut busy = Command::new("sleep").arg("60").spawn().unwrap();
    let mark = shared::process::mark(busy.id());
    let marked = lab.place.store();
    marked
        .write_now(|w| w.set_owner(&id, mark.as_ref()))
        .unwrap();
    lab.go();
    let mut resumed = lab.place.start(&["tdd", "resume", id.as_str()], "");
    let mut told = BufReader::new(resumed.stderr.take().unwrap()).lines();
    let waits = told.find(|line| line.as_ref().unwrap().contains("Waiting for"));
    assert!(waits.is_some(), "it did not wait");
    assert_eq!(lab.place.status(&id), Status::Terminated);
    busy.kill().unwrap();
    busy.wait().unwrap();
    for line in told {
        line.unwrap();
    }
    assert!(resumed.wait().unwrap().success());
    lab.pull();
}

#[test]
fn again_and_again_at_any_moment() {
    let lab = Lab::new("work", "changes,say,approve");
    let (child, id) = lab.begin(&[]);
    kill_run(child);
    let (mut result, mut kills) = (None, 0);
    for round in 0..200 {
        let mut child = lab
            .place
            .start(&["tdd", "resume", id.as_str(), "--json"], "");
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
    is_done(&lab, &result.unwrap(), 3);
    let shown = lab.show(&id);
    assert_eq!(
        shown["reviewerResponses"].as_array().unwrap().len(),
        3,
        "{shown}"
    );
    assert_eq!(shown["status"], "completed");
}
