//! A restored backup is older than the agents: nothing of theirs is ended or deleted, and a person sees them.

use shared::model::Status;

use crate::support::{Place, text};

fn doctor(place: &Place) -> String {
    let printed = place.codex(&["doctor", "--json"]);
    String::from_utf8(printed.stdout).unwrap()
}

fn in_folder(place: &Place, name: &str) -> String {
    place.path(name).to_str().unwrap().to_owned()
}

#[test]
fn an_agent_that_was_started_after_the_backup_goes_on_and_is_named() {
    let place = Place::new("idle", "idle");
    text(&place.codex(&["list"]));
    let backup = in_folder(&place, "backup.db");
    text(&place.codex(&["backup", &backup]));
    let id = place.coder(&[]);
    let worktree = place.instance(&id).worktree_path;
    let folder = place.path("state").join("agents").join(id.as_str());
    assert!(worktree.exists() && folder.exists());
    let restored = place.json(&["restore", &backup]);
    assert_eq!(restored["unknownAgents"][0], id.as_str(), "{restored}");
    for command in ["list", "clean", "list"] {
        text(&place.codex(&[command]));
    }
    let said = doctor(&place);
    assert!(
        said.contains(&format!("belong to no agent: {id}")),
        "{said}"
    );
    assert!(said.contains(worktree.to_str().unwrap()), "{said}");
    assert!(place.has_session(&id) && worktree.exists() && folder.exists());
    // And back: the agent is known again, and can be ended.
    text(&place.codex(&["restore", restored["setAside"].as_str().unwrap()]));
    assert!(place.status(&id).is_live());
    text(&place.codex(&["stop", id.as_str()]));
    assert!(!worktree.exists());
}

#[test]
fn an_agent_that_was_resumed_after_the_backup_keeps_its_worktree() {
    let place = Place::new("idle", "idle");
    let id = place.coder(&[]);
    place.commit(&id, "work");
    let instance = place.instance(&id);
    let backup = in_folder(&place, "backup.db");
    text(&place.codex(&["backup", &backup]));
    text(&place.codex(&["stop", id.as_str()]));
    text(&place.codex(&["resume", id.as_str()]));
    assert_ne!(place.instance(&id).launch_id, instance.launch_id);
    // Nothing would be lost with the worktree, so that alone does not keep it.
    let branch = instance.branch_name.unwrap();
    place.git(&["branch", "kept-by-a-person", &branch]);
    text(&place.codex(&["restore", &backup]));
    for command in ["list", "clean", "list"] {
        text(&place.codex(&[command]));
    }
    assert_eq!(place.status(&id), Status::Failed);
    assert!(place.has_session(&id), "{}", place.describe());
    assert!(instance.worktree_path.exists(), "{}", place.describe());
    let said = doctor(&place);
    assert!(
        said.contains(&format!("belong to no agent: {id}")),
        "{said}"
    );
}
