//! Planning: tasks, and the issues that belong to them.

pub(super) mod create_task;
pub(super) mod edit_task;
pub(super) mod task_issue;
mod task_limits;
