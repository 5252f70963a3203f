//! Review verbs: asking for a review, and sending work back; a person's comments, change requests and approvals.

pub(super) mod approve;
pub(super) mod draft_comments;
mod placed_comments;
pub(super) mod request_changes;
pub(super) mod request_review;
pub(super) mod reviewed_work;
pub(super) mod send_back;
