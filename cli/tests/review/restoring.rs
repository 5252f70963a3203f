//! A restored backup is older than the agents: nothing of theirs is ended or deleted, and a person sees them.

use shared::model::Status;
use tests::{AgentEnv, text};

fn doctor(env: &AgentEnv) -> String {
    let printed = env.codex(&["doctor", "--json"]);
    String::from_utf8(printed.stdout).unwrap()
}

fn in_folder(env: &AgentEnv, name: &str) -> String {
    env.path(name).to_str().unwrap().to_owned()
}

#[test]
fn an_agent_that_was_started_after_the_backup_goes_on_and_is_named() {
    let env = AgentEnv::new("idle", "idle");
    env.text(&["list"]);
    let backup = in_folder(&env, "backup.db");
    env.text(&["backup", &backup]);
    let id = env.coder(&[]);
    let worktree = env.instance(&id).worktree_path;
    let folder = env.path("state").join("agents").join(id.as_str());
    assert!(worktree.exists() && folder.exists());
    let restored = env.json(&["restore", &backup]);
    assert_eq!(restored["unknownAgents"][0], id.as_str(), "{restored}");
    for command in ["list", "clean", "list"] {
        env.text(&[command]);
    }
    let said = doctor(&env);
    assert!(
        said.contains(&format!("belong to no agent: {id}")),
        "{said}"
    );
    assert!(said.contains(worktree.to_str().unwrap()), "{said}");
    assert!(env.has_session(&id) && worktree.exists() && folder.exists());
    // And back: the agent is known again, and can be ended.
    text(&env.codex(&["restore", restored["setAside"].as_str().unwrap()]));
    assert!(env.status(&id).is_live());
    env.text(&["stop", id.as_str()]);
    assert!(!worktree.exists());
}

#[test]
fn an_agent_that_was_resumed_after_the_backup_keeps_its_worktree() {
    let env = AgentEnv::new("idle", "idle");
    let id = env.coder(&[]);
    env.commit(&id, "work");
    let instance = env.instance(&id);
    let backup = in_folder(&env, "backup.db");
    env.text(&["backup", &backup]);
    env.text(&["stop", id.as_str()]);
    env.text(&["resume", id.as_str()]);
    assert_ne!(env.instance(&id).launch_id, instance.launch_id);
    // Nothing would be lost with the worktree, so that alone does not keep it.
    let branch = instance.branch_name.unwrap();
    env.git(&["branch", "kept-by-a-person", &branch]);
    env.text(&["restore", &backup]);
    for command in ["list", "clean", "list"] {
        env.text(&[command]);
    }
    assert_eq!(env.status(&id), Status::Failed);
    assert!(env.has_session(&id), "{}", env.describe());
    assert!(instance.worktree_path.exists(), "{}", env.describe());
    let said = doctor(&env);
    assert!(
        said.contains(&format!("belong to no agent: {id}")),
        "{said}"
    );
}
