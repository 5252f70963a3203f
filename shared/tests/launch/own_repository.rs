//! What is done for an agent is done in its own repository and on its own branch, wherever the caller stands and whatever
//! is there by now.

use std::fs;

use shared::error::Code;
use shared::model::{Instance, InstanceId, StatusEvent};
use shared::workflow::{Context, Run, request_changes, request_review, resume, stop};

use crate::support::LaunchEnv;

/// Makes another repository, in which agents are another program.
async fn other_repository(env: &LaunchEnv) -> (Context, String) {
    let other = env.path("work/other");
    fs::create_dir_all(&other).unwrap();
    env.git_in(&other, &["init", "--quiet"]);
    let program = env.program("other-agent", "#!/bin/sh\nexec sleep 1000\n");
    let command = format!("'{}'", program.display());
    let settings = [("agent.command", command.as_str())];
    let there = env.context_with(&other, &settings).await;
    (there, program.display().to_string())
}

fn launch_file(context: &Context, instance: &Instance) -> String {
    let file = context.agent_folder(&instance.id).join("launch.json");
    fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn an_agent_is_started_by_the_settings_of_its_own_repository() {
    let env = LaunchEnv::new();
    let run = Run::unattended();
    let instance = env.launch().await;
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "work"];
    env.git_in(&instance.worktree_path, &commit);
    let here = env.context().await;
    stop(&here, &run, &instance.id).await.unwrap();
    let (there, others) = other_repository(&env).await;
    let resumed = resume(&there, &run, &instance.id).await.unwrap();
    assert!(!launch_file(&there, &resumed).contains(&others));
    env.assert_stands(&resumed).await;

    moved(&there, &instance.id, StatusEvent::Connected).await;
    let review = request_review(&there, &run, &instance.id, "Done").await;
    let reviewer = review.unwrap().reviewer;
    assert!(!launch_file(&there, &reviewer).contains(&others));
    env.assert_stands(&reviewer).await;
}

/// Moves an agent, as its server would.
async fn moved(context: &Context, id: &InstanceId, event: StatusEvent) {
    let id = id.clone();
    let change = context.store.write(move |w| w.transition(&id, event));
    change.await.unwrap();
}

/// A repository that was deleted may have lain inside another one.
#[tokio::test]
async fn the_repository_around_one_that_is_gone_is_left_alone() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let instance = env.launch().await;
    let outer = env.path("work");
    env.git_in(&outer, &["init", "--quiet", "--initial-branch=main"]);
    let commit = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let empty = ["commit", "--quiet", "--allow-empty", "-m", "outer"];
    env.git_in(&outer, &[&commit[..], &empty].concat());
    let branch = instance.branch_name.clone().unwrap();
    env.git_in(&outer, &["branch", &branch]);
    fs::rename(env.repository().join(".git"), env.path("moved")).unwrap();
    fs::remove_dir_all(&instance.worktree_path).unwrap();

    stop(&context, &run, &instance.id).await.unwrap();
    env.git_in(&outer, &["rev-parse", "--verify", &branch]);
    let refused = resume(&context, &run, &instance.id).await.unwrap_err();
    assert_eq!(refused.code, Code::NotARepository);
    assert_eq!(
        env.git_in(&outer, &["worktree", "list"]).lines().count(),
        1,
        "no worktree of another repository"
    );
}

/// A reviewer's commits go to the branch that was reviewed, not to whatever is checked out by then.
#[tokio::test]
async fn commits_of_a_reviewer_move_no_other_branch() {
    let env = LaunchEnv::new();
    let context = env.context().await;
    let run = Run::unattended();
    let coder = env.launch().await;
    let commit = ["commit", "--quiet", "--allow-empty", "-m", "work"];
    let place = &coder.worktree_path;
    env.git_in(place, &commit);
    moved(&context, &coder.id, StatusEvent::Connected).await;
    // As a person's own session, which has gone to a branch of its own since it was taken in.
    env.git_in(place, &["switch", "--quiet", "-c", "feature"]);
    let adopt = "UPDATE instances SET origin = 'adopted', tmux_session = NULL WHERE id = ?1";
    let id = coder.id.clone();
    env.connection().execute(adopt, [id.as_str()]).unwrap();
    for elsewhere in [
        &["switch", "--quiet", "-c", "aside", "feature~1"][..],
        &["checkout", "--quiet", "--detach", "feature~1"],
        &["switch", "--quiet", "feature"],
    ] {
        let review = request_review(&context, &run, &coder.id, "Done").await;
        let reviewer = review.unwrap().reviewer;
        moved(&context, &reviewer.id, StatusEvent::Connected).await;
        env.git_in(&reviewer.worktree_path, &commit);
        let made = env.git_in(&reviewer.worktree_path, &["rev-parse", "HEAD"]);
        env.git_in(place, elsewhere);
        let before = env.git_in(place, &["rev-parse", "HEAD"]);
        let sent = request_changes(&context, &run, &reviewer.id, "Fix it", Vec::new()).await;
        let branch = sent.unwrap().coder.branch_name;
        let kept = format!("refs/codex/reviews/{}", reviewer.id);
        assert_eq!(env.git(&["rev-parse", &kept]), made);
        let is_where_reviewed = elsewhere.ends_with(&["feature"]);
        let expected = if is_where_reviewed { made } else { before };
        assert_eq!(env.git_in(place, &["rev-parse", "HEAD"]), expected);
        assert_eq!(branch.as_deref(), Some("feature"));
        env.git_in(place, &["switch", "--quiet", "feature"]);
        moved(&context, &coder.id, StatusEvent::FeedbackTaken).await;
    }
}
