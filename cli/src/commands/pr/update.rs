//! `claude-codex pr update`

use serde_json::json;
use shared::workflow::{self, UpdatedPull};

use crate::command_context::{self, EventRecord};
use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::progress::Progress;
use crate::text::harmless;

pub(super) async fn update(number: u64, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("pr update", json!({ "number": number }));
    let result = workflow::update_pull(&context, &run, number).await;
    progress.finish(&result);
    let summary = |updated: &UpdatedPull| json!({ "head": updated.pull.head_commit, "newCommits": updated.new_commits });
    record
        .end(&context, &run, None, &result, summary, output)
        .await;
    let updated = result?;
    if output.is_json() {
        return output.document(&updated);
    }
    let branch = harmless(&updated.pull.head_branch);
    let commit = updated.pull.head_commit.get(..10).unwrap_or_default();
    output.print(&match updated.new_commits {
        0 => format!("{NAME}#{number}{NAME:#} has every commit of {branch} already.\n"),
        1 => format!("{NAME}#{number}{NAME:#} has 1 new commit and is at {commit} now.\n"),
        many => format!("{NAME}#{number}{NAME:#} has {many} new commits and is at {commit} now.\n"),
    })
}
