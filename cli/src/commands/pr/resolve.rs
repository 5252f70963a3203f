//! `claude-codex pr resolve`

use serde_json::json;
use shared::workflow::{self, ConflictSent, Receipt};

use super::review::{describe_receipt, note_about_github};
use crate::command_context::{self, EventRecord};
use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::progress::Progress;
use crate::text::harmless;

pub(super) async fn resolve(number: u64, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("pr resolve", json!({ "number": number }));
    let result = Box::pin(workflow::resolve_conflict(&context, &run, number)).await;
    progress.finish(&result);
    let id = result.as_ref().ok().map(|sent| sent.coder.id.clone());
    let summary =
        |sent: &ConflictSent| json!({ "messageId": sent.message, "files": sent.files.len() });
    record
        .end(&context, &run, id.as_ref(), &result, summary, output)
        .await;
    let sent = result?;
    if output.is_json() {
        return output.document(&json!({
            "number": number,
            "instanceId": sent.coder.id,
            "messageId": sent.message,
            "files": sent.files,
            "restarted": sent.restarted,
            "delivered": sent.receipt == Receipt::Taken,
            "waitingFor": match sent.receipt {
                Receipt::Waiting(reason) => reason,
                Receipt::Taken | Receipt::Unconfirmed => None,
            },
        }));
    }
    let id = &sent.coder.id;
    let again = if sent.restarted {
        "was started again"
    } else {
        "is at work"
    };
    let base = harmless(&sent.pull.base_branch);
    output.print(&format!(
        "{NAME}{id}{NAME:#} is to merge {base} and resolve the conflict of {NAME}#{number}{NAME:#}: it {again}{}\n",
        describe_receipt(id, sent.receipt)
    ))?;
    note_about_github(&sent.coder, output);
    Ok(())
}
