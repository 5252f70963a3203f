//! `claude-codex send`

use clap::Args;
use serde_json::json;
use shared::model::{InstanceId, MessageId};
use shared::workflow::{self, Sent};

use super::code::read_prompt;
use crate::command_context::{self, EventRecord};
use crate::completion;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  claude-codex send work-42-a1 \"Use the new API instead\"
  claude-codex send work-42-a1 - < notes.md
  claude-codex send work-42-a1 --again m-1a2b3c4d";

/// Send a message to an agent, which is delivered as soon as it can take it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SendArgs {
    /// The id of the agent, or a unique beginning of it
    #[arg(add = completion::addressable_agents())]
    id: InstanceId,
    /// The message; `-` reads it from standard input
    #[arg(required_unless_present = "again")]
    text: Option<String>,
    /// Type an unconfirmed message again (`claude-codex show` lists them)
    #[arg(long, value_name = "MESSAGE", conflicts_with = "text")]
    again: Option<MessageId>,
}

pub(crate) async fn send(args: &SendArgs, output: Output) -> Result<(), Failure> {
    let text = args.text.clone().map(read_prompt).transpose()?;
    let context = command_context::open(output).await?;
    let id = &workflow::find_instance(&context, &args.id).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("send", json!({ "id": id }));
    let result = match &args.again {
        Some(message) => workflow::send_again(&context, &run, id, message).await,
        None => workflow::send(&context, &run, id, &text.unwrap_or_default()).await,
    };
    progress.finish(&result);
    let summary = |sent: &Sent| json!(sent);
    record
        .end(&context, &run, Some(id), &result, summary, output)
        .await;
    let sent = result?;
    if output.is_json() {
        return output.document(&sent);
    }
    output.print(&format!("{}\n", outcome(id, &sent)))
}

/// Says what became of a message.
pub(super) fn outcome(id: &InstanceId, sent: &Sent) -> String {
    match (sent.delivered, sent.waiting_for) {
        (true, _) => format!("{id} has received it"),
        (false, _) if sent.unconfirmed => format!(
            "Typed, but there is no proof that {id} received it. Check with `claude-codex attach {id}`; \
             `claude-codex send {id} --again {}` types it again",
            sent.message_id
        ),
        (false, Some(reason)) => format!("Stored; it waits for {}", reason.phrase()),
        (false, None) => format!("Stored; {id} gets it when its turn ends"),
    }
}
