//! Pull requests.

use loopback_http::Request;
use serde_json::{Value, json};

use crate::answer::{Answer, text, user};
use crate::repository::Merge;
use crate::state::{Mergeability, Pull, State};

/// Returns the branch of `owner:branch`.
fn branch_of(head: &str) -> &str {
    head.split_once(':').map_or(head, |(_, branch)| branch)
}

fn shown(state: &State, address: &str, number: u64, pull: &Pull) -> Value {
    let place = format!("{}/{}", state.owner, state.name);
    let (owner, branch) = pull.head.split_once(':').unwrap_or(("", &pull.head));
    let mergeable_state = match pull {
        _ if state.mergeability == Mergeability::Pending => "unknown",
        Pull {
            conflicts: true, ..
        } => "dirty",
        Pull { draft: true, .. } => "draft",
        _ => "clean",
    };
    json!({
        "id": number,
        "number": number,
        "url": format!("{address}/repos/{place}/pulls/{number}"),
        "html_url": format!("{address}/{place}/pull/{number}"),
        "title": pull.title,
        "body": pull.body,
        "state": if pull.open { "open" } else { "closed" },
        "draft": pull.draft,
        "user": user("octocat"),
        "head": {"label": pull.head, "ref": branch, "sha": pull.head_commit, "user": user(owner)},
        "base": {
            "label": format!("{}:{}", state.owner, pull.base),
            "ref": pull.base,
            "sha": pull.base_commit,
            "user": user(&state.owner),
        },
        // Before a merge GitHub has the commit of a trial here.
        "merge_commit_sha": pull.merge_commit.clone().unwrap_or_else(|| "e".repeat(40)),
        "merged": pull.merged_at.is_some(),
        // Computed once somebody has asked.
        "mergeable": (state.mergeability == Mergeability::Known).then_some(!pull.conflicts),
        "mergeable_state": mergeable_state,
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "closed_at": (!pull.open).then_some(&pull.updated_at),
        "merged_at": pull.merged_at,
    })
}

/// Returns a pull request as the list of issues has it.
pub(crate) fn as_issue(state: &State, address: &str, number: u64, pull: &Pull) -> Value {
    let mut issue = shown(state, address, number, pull);
    issue["pull_request"] = json!({"url": issue["url"], "html_url": issue["html_url"]});
    issue["labels"] = json!([]);
    issue["comments"] = json!(0);
    issue
}

/// Returns the pull requests that fit, the newest first. A `head` without owner filters nothing, as on GitHub.
pub(crate) fn list(state: &State, address: &str, request: &Request) -> Vec<Value> {
    let wanted = request
        .parameter("state")
        .unwrap_or_else(|| "open".to_owned());
    let head = request.parameter("head").filter(|head| head.contains(':'));
    let base = request.parameter("base");
    let fits = |pull: &Pull| {
        let state_fits = match wanted.as_str() {
            "all" => true,
            "closed" => !pull.open,
            _ => pull.open,
        };
        state_fits
            && head.as_ref().is_none_or(|head| *head == pull.head)
            && base.as_ref().is_none_or(|base| *base == pull.base)
    };
    state
        .pulls
        .iter()
        .rev()
        .filter(|(_, pull)| fits(pull))
        .map(|(number, pull)| {
            let mut listed = shown(state, address, *number, pull);
            // Said only of one that is asked for by its number.
            if let Some(fields) = listed.as_object_mut() {
                fields.remove("mergeable");
                fields.remove("mergeable_state");
            }
            listed
        })
        .collect()
}

/// Lets an open pull request follow its branch.
fn refresh(state: &mut State, number: u64) {
    let Some(pull) = state.pulls.get(&number).filter(|pull| pull.open) else {
        return;
    };
    let tip = state.commit_of(branch_of(&pull.head));
    let conflicts = state
        .bare
        .as_ref()
        .map(|bare| bare.conflicts(branch_of(&pull.head), &pull.base));
    if let Some(pull) = state.pulls.get_mut(&number) {
        pull.head_commit = tip.unwrap_or_else(|| pull.head_commit.clone());
        pull.conflicts = conflicts.unwrap_or(pull.conflicts);
    }
}

pub(crate) fn get(state: &mut State, address: &str, number: u64, request: &Request) -> Answer {
    refresh(state, number);
    let Some(pull) = state.pulls.get(&number) else {
        return Answer::not_found();
    };
    let wants_diff = request
        .header("accept")
        .is_some_and(|accept| accept.ends_with("diff"));
    if wants_diff {
        let diff = match &state.bare {
            Some(bare) => bare.diff(&pull.base_commit, &pull.head_commit),
            None => "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n".to_owned(),
        };
        return Answer::text(200, "application/vnd.github.diff; charset=utf-8", &diff);
    }
    Answer::json(200, &shown(state, address, number, pull))
}

pub(crate) fn create(state: &mut State, address: &str, body: &Value) -> Answer {
    let invalid = |field: &str| {
        Answer::invalid(&json!([{"resource": "PullRequest", "field": field, "code": "invalid"}]))
    };
    let custom = |message: String| {
        let error = json!({"resource": "PullRequest", "code": "custom", "message": message});
        Answer::invalid(&json!([error]))
    };
    let Some(head) = text(body, "head") else {
        return Answer::missing_field("PullRequest", "head");
    };
    let Some(base) = text(body, "base") else {
        return Answer::missing_field("PullRequest", "base");
    };
    let Some(title) = text(body, "title").filter(|title| !title.is_empty()) else {
        return Answer::missing_field("PullRequest", "title");
    };
    let label = if head.contains(':') {
        head.clone()
    } else {
        format!("{}:{head}", state.owner)
    };
    let branch = branch_of(&label).to_owned();
    if state.commit_of(&base).is_none() {
        return invalid("base");
    }
    if state.commit_of(&branch).is_none() {
        return invalid("head");
    }
    let same = |pull: &&Pull| pull.open && pull.head == label && pull.base == base;
    if state.pulls.values().find(same).is_some() {
        return custom(format!("A pull request already exists for {label}."));
    }
    if !state.is_ahead(&branch, &base) {
        return custom(format!("No commits between {base} and {branch}"));
    }
    let draft = body["draft"].as_bool().unwrap_or_default();
    if draft && !state.drafts_offered {
        let message = "Draft pull requests are not supported in this repository.";
        return Answer::message(422, message);
    }
    let number = state.add_pull(&title, &branch, &base);
    if let Some(pull) = state.pulls.get_mut(&number) {
        pull.body = text(body, "body").unwrap_or_default();
        pull.draft = draft;
        pull.head = label;
    }
    match state.pulls.get(&number) {
        Some(pull) => Answer::json(201, &shown(state, address, number, pull)),
        None => Answer::not_found(),
    }
}

pub(crate) fn update(state: &mut State, address: &str, number: u64, body: &Value) -> Answer {
    let now = state.now();
    let Some(pull) = state.pulls.get_mut(&number) else {
        return Answer::not_found();
    };
    if let Some(title) = text(body, "title") {
        pull.title = title;
    }
    if let Some(text) = text(body, "body") {
        pull.body = text;
    }
    match (text(body, "state").as_deref(), &pull.merged_at) {
        (Some("open"), Some(_)) => {
            let error = json!([{"resource": "PullRequest", "code": "custom", "field": "state",
                "message": "state cannot be changed. The pull request cannot be reopened."}]);
            return Answer::invalid(&error);
        }
        (Some(wanted), None) => pull.open = wanted == "open",
        (Some(_) | None, _) => {}
    }
    pull.updated_at = now;
    match state.pulls.get(&number) {
        Some(pull) => Answer::json(200, &shown(state, address, number, pull)),
        None => Answer::not_found(),
    }
}

pub(crate) fn merge(state: &mut State, number: u64, body: &Value) -> Answer {
    refresh(state, number);
    let Some(pull) = state.pulls.get(&number) else {
        return Answer::not_found();
    };
    if let Some(reason) = &state.merge_refused {
        return Answer::message(405, reason);
    }
    if !pull.open || pull.draft || pull.conflicts {
        return Answer::message(405, "Pull Request is not mergeable");
    }
    if body["sha"]
        .as_str()
        .is_some_and(|sha| sha != pull.head_commit)
    {
        let message = "Head branch was modified. Review and try the merge again.";
        return Answer::message(409, message);
    }
    let method = match body["merge_method"].as_str() {
        None | Some("merge") => Merge::Commit,
        Some("squash") => Merge::Squash,
        Some("rebase") => Merge::Rebase,
        Some(_) => {
            let error =
                json!([{"resource": "PullRequest", "field": "merge_method", "code": "invalid"}]);
            return Answer::invalid(&error);
        }
    };
    let merged = match &state.bare {
        Some(bare) => bare.merge(branch_of(&pull.head), &pull.base, method, &pull.title),
        None => Some("c".repeat(40)),
    };
    let Some(commit) = merged else {
        return Answer::message(405, "Pull Request is not mergeable");
    };
    if let Some(pull) = state.pulls.get_mut(&number) {
        pull.merge_commit = Some(commit.clone());
    }
    state.merge(number);
    let body =
        json!({"sha": commit, "merged": true, "message": "Pull Request successfully merged"});
    Answer::json(200, &body)
}
