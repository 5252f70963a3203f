//! The operations of discarding an agent's work, and of a person's review: line comments, request changes, approve; for agents and pull requests alike.

use super::operations::Operation;
use super::{given, taken};
use crate::api::{
    ApproveReply, ApproveRequest, ChangeRequest, ChangesReply, ChangesRequest, CommentRequest,
    DiscardReply, DiscardRequest,
};
use crate::view::DiscardView;
use shared::model::DraftComment;

/// The addresses and names of one set of operations.
struct Names {
    comments: &'static str,
    list: &'static str,
    add: &'static str,
    comment: &'static str,
    delete: &'static str,
    remove_at: &'static str,
    remove: &'static str,
    changes: &'static str,
    request: &'static str,
    approve_at: &'static str,
    approve: &'static str,
}

const OF_AGENT: Names = Names {
    comments: "/api/instances/{id}/comments",
    list: "comments",
    add: "comment",
    comment: "/api/instances/{id}/comments/{comment}",
    delete: "deleteComment",
    remove_at: "/api/instances/{id}/comments/{comment}/remove",
    remove: "removeComment",
    changes: "/api/instances/{id}/request-changes",
    request: "requestChanges",
    approve_at: "/api/instances/{id}/approve",
    approve: "approve",
};

const OF_PULL: Names = Names {
    comments: "/api/pulls/{number}/comments",
    list: "pullComments",
    add: "pullComment",
    comment: "/api/pulls/{number}/comments/{comment}",
    delete: "deletePullComment",
    remove_at: "/api/pulls/{number}/comments/{comment}/remove",
    remove: "removePullComment",
    changes: "/api/pulls/{number}/request-changes",
    request: "requestPullChanges",
    approve_at: "/api/pulls/{number}/approve",
    approve: "approvePull",
};

pub(super) fn all() -> Vec<Operation> {
    let mut all = of(&OF_AGENT, |operation| operation);
    all.extend(of(&OF_PULL, Operation::of_repository));
    all
}

/// `of_which` adds what a request without a body needs.
fn of(names: &Names, of_which: fn(Operation) -> Operation) -> Vec<Operation> {
    vec![
        of_which(Operation::get(
            names.comments,
            names.list,
            "Lists the line comments that are not sent yet, the oldest first",
        ))
        .answers(200, "Pending comments.", given::<Vec<DraftComment>>),
        Operation::post(
            names.comments,
            names.add,
            "Comments on a line; nobody is told before it is sent",
        )
        .takes(taken::<CommentRequest>, true)
        .answers(
            201,
            "All pending comments, this one last.",
            given::<Vec<DraftComment>>,
        ),
        of_which(Operation::delete(
            names.comment,
            names.delete,
            "Removes a pending comment",
        ))
        .answers(200, "Those that are left.", given::<Vec<DraftComment>>),
        Operation::post(
            names.remove_at,
            names.remove,
            "Removes a pending comment, for forms",
        )
        .takes(taken::<ChangeRequest>, false)
        .answers(200, "Those that are left.", given::<Vec<DraftComment>>),
        Operation::post(
            names.changes,
            names.request,
            "Sends the work back with all pending comments, as one round",
        )
        .takes(taken::<ChangesRequest>, false)
        .answers(
            200,
            "The agent has it, or will get it.",
            given::<ChangesReply>,
        ),
        Operation::post(
            names.approve_at,
            names.approve,
            "Approves of exactly one commit, with all pending comments",
        )
        .takes(taken::<ApproveRequest>, true)
        .answers(200, "It is approved.", given::<ApproveReply>),
    ]
}

/// What is asked before an agent's work is deleted, and the deletion.
pub(super) fn discarding() -> [Operation; 2] {
    let path = "/api/instances/{id}/discard";
    [
        Operation::get(
            path,
            "discarding",
            "Returns what would be lost with an agent's work",
        )
        .answers(200, "All that would be deleted.", given::<DiscardView>),
        Operation::post(
            path,
            "discard",
            "Ends an agent and deletes its worktree and branch, also work that exists nowhere else",
        )
        .takes(taken::<DiscardRequest>, true)
        .answers(200, "It has ended.", given::<DiscardReply>),
    ]
}
