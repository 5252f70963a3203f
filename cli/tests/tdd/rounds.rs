//! From a specification to a pull request, or as far as it gets.

use serde_json::{Value, json};
use shared::model::{MessageState, Status, Verdict};
use tests::text;

use crate::tdd_env::{SPEC, TddEnv, id_of};

#[test]
fn approved_in_the_first_round_and_merged() {
    let env = TddEnv::new("work", "approve");
    let result = env.tdd(&[]);
    let id = id_of(&result);
    let pull = env.pull();
    assert_eq!(
        result,
        json!({ "success": true, "prUrl": pull["url"], "iterations": 1, "taskId": id, "error": null })
    );
    let shown = env.show(&id);
    let keys: Vec<_> = shown.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        [
            "taskId",
            "specPath",
            "originalSpec",
            "currentIteration",
            "maxIterations",
            "branchName",
            "worktreeInfo",
            "coderResponses",
            "reviewerResponses",
            "createdAt",
            "updatedAt",
            "status"
        ]
    );
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["originalSpec"], SPEC);
    assert_eq!(shown["specPath"], env.spec());
    assert_eq!(
        (&shown["currentIteration"], &shown["maxIterations"]),
        (&json!(1), &json!(3))
    );
    let branch = format!("tdd/{id}");
    let worktree = env.path(".codex-worktrees/repo").join(id.as_str());
    assert_eq!(
        shown["worktreeInfo"],
        json!({ "path": worktree, "branchName": branch, "baseBranch": "main" })
    );
    assert_eq!(shown["coderResponses"].as_array().unwrap().len(), 1);
    assert_eq!(
        shown["reviewerResponses"],
        json!(["It does what was asked."])
    );

    let told = env.told("coder", 1);
    assert!(
        told.contains("Tests first") && told.contains(SPEC.trim()),
        "{told}"
    );
    let told = env.told("reviewer", 1);
    assert!(told.contains(SPEC.trim()), "{told}");
    assert!(told.contains("The work of turn 1."), "no handoff: {told}");

    // The worktree is put away; the branch is there for the pull request until that is merged.
    env.until_nothing_runs();
    assert!(!worktree.exists());
    assert!(env.git(&["branch", "--list"]).contains(&branch));
    assert_eq!(pull["headBranch"], branch);
    env.text(&["pr", "merge", "1"]);
    assert!(env.git(&["log", "--format=%s"]).contains("turn 1"));
    assert_eq!(env.status(&id), Status::PrMerged);
    assert!(!env.git(&["branch", "--list"]).contains(&branch));
}

#[test]
fn sent_back_once() {
    let env = TddEnv::new("work", "changes,approve");
    let result = env.tdd(&[]);
    let id = id_of(&result);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(2))
    );
    let told = env.told("coder", 2);
    assert!(told.contains(SPEC.trim()), "{told}");
    assert!(told.contains("round 2 of 3"), "{told}");
    let feedback = format!("Please change it, says review-{id}-r1.");
    assert!(
        told.contains(&feedback) && told.contains("wrong word"),
        "{told}"
    );
    assert!(!told.contains("call request_review"), "{told}");
    let shown = env.show(&id);
    assert_eq!(shown["coderResponses"].as_array().unwrap().len(), 2);
    let said = shown["reviewerResponses"].as_array().unwrap();
    assert!(
        said.len() == 2 && said[0].as_str().unwrap().contains(&feedback),
        "{said:?}"
    );
    let messages = env.messages(&id);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].state, MessageState::Taken);
    let verdicts: Vec<_> = env
        .reviews(&id)
        .iter()
        .map(|review| review.verdict)
        .collect();
    assert_eq!(verdicts, [Verdict::ChangesRequested, Verdict::Approved]);
    assert_eq!((env.turns("coder"), env.turns("reviewer")), (2, 2));
    env.until_nothing_runs();
}

#[test]
fn feedback_as_the_last_message_and_a_coder_that_never_calls_its_server() {
    let env = TddEnv::new("alone", "say,approve");
    let result = env.tdd(&[]);
    let id = id_of(&result);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(2))
    );
    let said = format!("The second line is wrong, says review-{id}-r1.");
    assert!(env.told("coder", 2).contains(&said));
    assert_eq!(env.reviews(&id)[0].feedback.as_deref(), Some(said.as_str()));
}

#[test]
fn neither_pull_request_nor_feedback_is_a_failure_that_can_be_taken_up() {
    let mut env = TddEnv::new("work", "nothing");
    let result = env.tdd(&[]);
    let id = id_of(&result);
    let error = result["error"].as_str().unwrap();
    assert!(
        error.contains("gave neither a pull request nor feedback"),
        "{error}"
    );
    assert_eq!(
        (&result["prUrl"], &result["iterations"]),
        (&Value::Null, &json!(1))
    );
    let shown = env.show(&id);
    assert_eq!(shown["status"], "failed");
    // The commits are nowhere else.
    let worktree = shown["worktreeInfo"]["path"].as_str().unwrap();
    assert!(std::path::Path::new(worktree).join("work.txt").exists());
    env.until_nothing_runs();

    env.set("SCRIPT_REVIEWER", "approve");
    let result = env.resume(&id, &[]);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(1))
    );
    assert_eq!((env.turns("coder"), env.turns("reviewer")), (1, 2));
    env.pull();
    // A run that is over says the same again.
    assert_eq!(env.resume(&id, &[]), result);
}

#[test]
fn the_limit_ends_with_the_last_feedback_and_can_be_raised() {
    let mut env = TddEnv::new("work", "changes");
    let result = env.tdd(&["--max-reviews", "2"]);
    let id = id_of(&result);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(false), &json!(2))
    );
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("all 2 review rounds are used"), "{error}");
    assert!(error.contains(&format!("says review-{id}-r2.")), "{error}");
    let shown = env.show(&id);
    assert_eq!(shown["reviewerResponses"].as_array().unwrap().len(), 2);
    let branch = shown["branchName"].as_str().unwrap().to_owned();
    assert_eq!(
        env.git(&["rev-list", "--count", &format!("main..{branch}")])
            .trim(),
        "2"
    );
    env.until_nothing_runs();
    assert_eq!(env.status(&id), Status::Terminated);

    // Taken up without more rounds it says the same; with one more it goes on.
    let again = env.resume(&id, &[]);
    assert_eq!(again["error"], result["error"]);
    assert_eq!(
        env.show(&id)["reviewerResponses"].as_array().unwrap().len(),
        2
    );
    env.set("SCRIPT_REVIEWER", "approve");
    let result = env.resume(&id, &["--max-reviews", "3"]);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(3))
    );
    assert!(env.told("coder", 3).contains("round 3 of 3"));
    env.pull();
}

#[test]
fn what_is_not_committed_goes_back_to_the_coder_once() {
    let env = TddEnv::new("dirty,tidy", "approve");
    let result = env.tdd(&[]);
    assert_eq!(
        (&result["success"], &result["iterations"]),
        (&json!(true), &json!(1))
    );
    let told = env.told("coder", 2);
    assert!(
        told.contains("can't be reviewed yet") && told.contains("left.txt"),
        "{told}"
    );

    let env = TddEnv::new("talk", "approve");
    let result = env.tdd(&[]);
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("has no commits that main lacks"), "{error}");
    assert_eq!((env.turns("coder"), env.turns("reviewer")), (2, 0));
}

#[test]
fn a_coder_whose_turn_fails() {
    let env = TddEnv::new("fails", "approve");
    let result = env.tdd(&[]);
    let error = result["error"].as_str().unwrap();
    assert!(
        error.contains("exit status: 3") && error.contains("no credit left"),
        "{error}"
    );
    // Nothing was committed, so nothing has to stay.
    let id = id_of(&result);
    let worktree = env.show(&id)["worktreeInfo"]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(!std::path::Path::new(&worktree).exists());
    env.until_nothing_runs();
}

#[test]
fn a_coder_that_reviews_or_publishes_by_itself_changes_nothing() {
    for (coder, answer) in [
        ("asks", "reviewInstanceId"),
        ("publishes", "REVIEW_REQUIRED"),
    ] {
        let env = TddEnv::new(coder, "approve");
        let result = env.tdd(&[]);
        assert_eq!(
            (&result["success"], &result["iterations"]),
            (&json!(true), &json!(1)),
            "{result}"
        );
        let answered = std::fs::read_to_string(env.script("coder-1.answer")).unwrap();
        assert!(answered.contains(answer), "{answered}");
        assert_eq!((env.turns("coder"), env.turns("reviewer")), (1, 1));
        env.pull();
    }
}

#[test]
fn a_silent_coder_is_reviewed_by_its_commits() {
    let env = TddEnv::new("silent", "approve");
    assert_eq!(env.tdd(&[])["success"], true);
    assert!(
        env.told("reviewer", 1)
            .contains("The coder left no handoff.")
    );
}

#[test]
fn nothing_is_cleaned_up_that_is_to_stay() {
    let env = TddEnv::new("work", "approve");
    let result = env.tdd(&["--no-cleanup", "--branch-name", "feature/greeting"]);
    let id = id_of(&result);
    assert_eq!(result["success"], true);
    let shown = env.show(&id);
    assert_eq!(shown["branchName"], "feature/greeting");
    let worktree = shown["worktreeInfo"]["path"].as_str().unwrap();
    assert!(std::path::Path::new(worktree).join("work.txt").exists());
    assert!(
        env.instance(&format!("review-{id}-r1").parse().unwrap())
            .worktree_path
            .exists()
    );
    assert_eq!(env.pull()["headBranch"], "feature/greeting");
}

#[test]
fn a_person_sees_what_happens() {
    let env = TddEnv::new("work", "changes,approve");
    let output = env.codex(&["tdd", &env.spec()]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = told.lines().collect();
    let id = env.runs().pop().unwrap();
    let mut at = 0;
    for expected in [
        &format!("{id} starts"),
        "Making the worktree",
        "round 1 of 3: coder",
        "the coder hands over its work: The work of turn 1.",
        "round 1 of 3: reviewer",
        "the reviewer requests changes: Please change it",
        "round 2 of 3: coder",
        "round 2 of 3: reviewer",
        "the reviewer has opened the pull request",
    ] {
        let found = lines[at..].iter().position(|line| line.contains(expected));
        at += found.unwrap_or_else(|| panic!("no {expected:?} after line {at}:\n{told}"));
    }
    assert!(lines.iter().all(|line| !line.contains('\x1b')), "{told}");
    let printed = text(&output);
    assert!(
        printed.contains("opened a pull request after 2 rounds"),
        "{printed}"
    );

    let log = env.text(&["logs", id.as_str()]);
    for expected in [
        "turn 1 starts",
        "thinking",
        "turn 1 has ended",
        "round 2 of 3: coder",
    ] {
        assert!(log.contains(expected), "no {expected:?}: {log}");
    }
    let listed = env.text(&["tdd", "list"]);
    assert!(
        listed.contains(id.as_str()) && listed.contains("2 of 3"),
        "{listed}"
    );
    let shown = env.text(&["tdd", "show", id.as_str()]);
    assert!(
        shown.contains("The work of turn 2.") && shown.contains("Please change it"),
        "{shown}"
    );
}
