//! What must be true after each burst, beside the invariants that `doctor --deep` knows.

use std::collections::HashMap;

use serde_json::Value;
use shared::model::Status;
use tests::AgentEnv;

use super::simulation::Simulation;
use crate::settled::{all_is_told, invariants_hold};

pub(super) fn hold(simulation: &Simulation) {
    let env = &simulation.env;
    invariants_hold(env, "a burst");
    all_is_told(env);
    invariants_hold(env, "a burst, once all is told");
    nothing_acknowledged_is_lost(simulation);
    no_work_is_lost(simulation);
    nothing_is_merged_twice(env);
    no_task_is_doubled(simulation);
    assert_eq!(
        env.git(&["status", "--porcelain"]),
        "",
        "the checkout of main is not clean"
    );
}

fn nothing_acknowledged_is_lost(simulation: &Simulation) {
    let instances = simulation.instances();
    let known: Vec<String> = instances
        .iter()
        .flat_map(|instance| simulation.env.messages(&instance.id))
        .map(|message| message.id.to_string())
        .collect();
    for message in &simulation.acknowledged {
        assert!(known.contains(message), "{message} was lost");
    }
}

/// Every commit that an agent made can be reached, and every line that it wrote is in its worktree or in a commit.
fn no_work_is_lost(simulation: &Simulation) {
    let env = &simulation.env;
    let subjects = env.git(&["log", "--all", "--format=%s"]);
    for instance in simulation.instances() {
        for commit in env.log(&instance.id, "commit") {
            let subject = commit["subject"].as_str().unwrap();
            let is_there = subjects.lines().any(|line| line == subject);
            assert!(
                commit["status"] != 0 || is_there,
                "{subject} of {} was lost\n{}",
                instance.id,
                env.describe()
            );
        }
        let file = instance.worktree_path.join("work.txt");
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        for written in env.log(&instance.id, "written") {
            let line = written["text"].as_str().unwrap().trim();
            let is_there = kept.lines().any(|known| known == line)
                || !env
                    .git(&["log", "--all", "--format=%h", &format!("-S{line}")])
                    .is_empty();
            assert!(
                is_there,
                "{line} of {} was lost\n{}",
                instance.id,
                env.describe()
            );
        }
    }
}

pub(super) fn pulls(env: &AgentEnv) -> Vec<Value> {
    let pulls = env.json(&["pr", "list", "--state", "all"]);
    pulls.as_array().unwrap().clone()
}

fn nothing_is_merged_twice(env: &AgentEnv) {
    let all = pulls(env);
    let mut open = HashMap::new();
    for pull in &all {
        let branch = pull["headBranch"].as_str().unwrap();
        if pull["state"] == "open" {
            assert_eq!(open.insert(branch, &pull["number"]), None, "{all:?}");
        }
    }
    let mut seen = HashMap::new();
    let subjects = env.git(&["log", "--format=%s", "main"]);
    for subject in subjects.lines() {
        let times = seen.entry(subject).or_insert(0);
        *times += 1;
        assert_eq!(*times, 1, "{subject} is in main twice\n{subjects}");
    }
    for pull in all.iter().filter(|pull| pull["state"] == "merged") {
        let merge = pull["mergeCommit"].as_str().unwrap();
        env.git(&["merge-base", "--is-ancestor", merge, "main"]);
    }
    for instance in env.store().read_now(|r| r.instances(false)).unwrap() {
        let state = all
            .iter()
            .find(|pull| pull["number"].as_u64() == instance.pr_number)
            .map(|pull| &pull["state"]);
        let wanted = match instance.status {
            Status::PrCreated => "open",
            Status::PrMerged => "merged",
            Status::PrClosed => "closed",
            _ => continue,
        };
        let state = state.and_then(Value::as_str);
        assert_eq!(state, Some(wanted), "{} {}", instance.id, instance.status);
    }
}

fn no_task_is_doubled(simulation: &Simulation) {
    let env = &simulation.env;
    let tasks = env.json(&["tasks"]);
    let titles: Vec<&str> = tasks
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["title"].as_str().unwrap())
        .collect();
    for (place_of, title) in titles.iter().enumerate() {
        assert!(
            !titles[..place_of].contains(title),
            "{title} is there twice"
        );
    }
    for instance in simulation.instances() {
        for answer in env.log(&instance.id, "tool") {
            if answer["name"] == "create_task" && answer["error"] == false {
                let id = answer["result"]["taskId"].as_str();
                let known = tasks.as_array().unwrap();
                assert!(
                    id.is_none() || known.iter().any(|task| task["id"].as_str() == id),
                    "{answer} is lost"
                );
            }
        }
    }
}
