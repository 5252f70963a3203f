//! Merges that run at the same moment or are killed: the person's own checkout stays theirs.

use std::time::{Duration, Instant};

use serde_json::Value;
use shared::model::NewPullRequest;
use tests::{AgentEnv, text};

/// Opens pull requests that each bring files of their own, without an agent for each.
fn with_pulls(count: usize, files: usize) -> AgentEnv {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    for number in 1..=count {
        let branch = format!("topic-{number}");
        env.git(&["switch", "-q", "-c", &branch, "main"]);
        let folder = env.path("repo").join(&branch);
        std::fs::create_dir(&folder).unwrap();
        for file in 0..files {
            let text = format!("{number} {file}\n").repeat(50);
            std::fs::write(folder.join(format!("{file}.txt")), text).unwrap();
        }
        env.git(&["add", "."]);
        env.git(&["commit", "-q", "-m", &branch]);
        let commit = env.git(&["rev-parse", "HEAD"]);
        let new = NewPullRequest {
            title: branch.clone(),
            body: String::new(),
            head_branch: branch,
            base_branch: "main".to_owned(),
            draft: false,
        };
        let (key, coder) = (env.path("repo"), coder.clone());
        let key = key.to_str().unwrap();
        let opened = env
            .store()
            .write_now(|w| w.insert_pull_request(key, &new, commit.trim(), &coder, 0));
        assert_eq!(opened.unwrap().number, number as u64);
    }
    env.git(&["switch", "-q", "main"]);
    env
}

fn assert_all_merged(env: &AgentEnv, count: usize, files: usize) {
    let pulls = env.json(&["pr", "list", "--state", "merged"]);
    assert_eq!(pulls.as_array().unwrap().len(), count, "{pulls}");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    for number in 1..=count {
        let folder = env.path("repo").join(format!("topic-{number}"));
        assert_eq!(folder.read_dir().unwrap().count(), files, "{number}");
    }
    assert!(!env.path("repo/.git/index.lock").exists());
    let begun = env.store().read_now(|r| r.local_merges(9)).unwrap();
    assert_eq!(begun, []);
}

#[test]
fn many_at_the_same_moment_all_succeed() {
    const COUNT: usize = 10;
    let env = with_pulls(COUNT, 5);
    let children: Vec<_> = (1..=COUNT)
        .map(|number| {
            let method = ["merge", "squash", "rebase"][number % 3];
            let number = number.to_string();
            env.start(&["pr", "merge", &number, "--method", method, "--json"], "")
        })
        .collect();
    for child in children {
        let merged: Value =
            serde_json::from_str(&text(&child.wait_with_output().unwrap())).unwrap();
        assert_eq!(merged["state"], "merged");
    }
    assert_all_merged(&env, COUNT, 5);
}

#[test]
fn killed_at_any_moment_the_next_look_finishes_it() {
    const COUNT: usize = 9;
    const FILES: usize = 400;
    let env = with_pulls(COUNT, FILES);
    // How long it takes here and now.
    let began = Instant::now();
    env.json(&["pr", "merge", "1"]);
    let whole = began.elapsed();
    for number in 2..=COUNT {
        let argument = number.to_string();
        let mut child = env.start(&["pr", "merge", &argument], "");
        let share = u32::try_from(number * 10).unwrap();
        std::thread::sleep((whole * share / 100).min(Duration::from_secs(20)));
        let _ = child.kill();
        child.wait().unwrap();
        // A git that it had started may be at work for a moment longer.
        env.until("the checkout is as git has it", || {
            env.text(&["list"]);
            env.git(&["status", "--porcelain"]).is_empty()
                && !env.path("repo/.git/index.lock").exists()
        });
    }
    for number in 1..=COUNT {
        env.json(&["pr", "merge", &number.to_string()]);
    }
    assert_all_merged(&env, COUNT, FILES);
}

#[test]
fn changes_of_a_person_that_are_not_in_the_way_stay() {
    let env = with_pulls(2, 2);
    std::fs::write(env.path("repo/README.md"), "in the middle of it\n").unwrap();
    env.json(&["pr", "merge", "1"]);
    assert_eq!(env.git(&["status", "--porcelain"]), " M README.md");
    // A git of the person is at work.
    std::fs::write(env.path("repo/.git/index.lock"), "").unwrap();
    assert_eq!(env.refused(&["pr", "merge", "2"]), "GIT_FAILED");
    std::fs::remove_file(env.path("repo/.git/index.lock")).unwrap();
    assert_eq!(env.git(&["status", "--porcelain"]), " M README.md");
    env.json(&["pr", "merge", "2"]);
    assert_eq!(env.git(&["status", "--porcelain"]), " M README.md");
}
