//! Rows and requests with usual values, for tests to change what they are about.

use shared::model::{InstanceKind, LaunchStep, Origin, SessionMode};
use shared::store::NewInstance;
use shared::workflow::LaunchRequest;

/// Returns an adopted coder in `/r`; nobody takes one without a session for dead.
pub fn sample_instance(id: &str) -> NewInstance {
    NewInstance {
        id: id.parse().unwrap(),
        kind: InstanceKind::Coding,
        origin: Origin::Adopted,
        session_mode: SessionMode::Interactive,
        repository: "/r".to_owned(),
        worktree_path: "/r".into(),
        branch_name: None,
        base_branch: "main".to_owned(),
        base_commit: None,
        tmux_session: None,
        tmux_pane: None,
        claude_session_id: None,
        issue_number: None,
        task_id: None,
        parent_instance_id: None,
        prompt: String::new(),
        require_review: false,
        max_reviews: 3,
        launch_step: LaunchStep::Ready,
        owner: None,
    }
}

pub fn sample_launch_request() -> LaunchRequest {
    LaunchRequest {
        prompt: Some("Fix it".to_owned()),
        ..LaunchRequest::new(InstanceKind::Coding)
    }
}
