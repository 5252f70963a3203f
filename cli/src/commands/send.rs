//! `claude-codex send`

use clap::Args;
use serde_json::json;
use shared::model::{InstanceId, MessageId};
use shared::workflow::{self, Sent};

use super::code::read_prompt;
use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::progress::Progress;
use crate::session::{self, Record};

const EXAMPLES: &str = "\
Examples:
  claude-codex send work-42-a1 \"Use the new API instead\"
  claude-codex send work-42-a1 - < notes.md
  claude-codex send work-42-a1 --again m-1a2b3c4d";

/// Hand a text to an agent, as soon as it can take it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SendArgs {
    /// The agent
    id: InstanceId,
    /// What to tell it; `-` reads it from standard input
    #[arg(required_unless_present = "again")]
    text: Option<String>,
    /// Type a message once more that is unconfirmed (`claude-codex show` lists them)
    #[arg(long, value_name = "MESSAGE", conflicts_with = "text")]
    again: Option<MessageId>,
}

pub(crate) async fn send(args: &SendArgs, output: Output) -> Result<(), Failure> {
    let text = args.text.clone().map(read_prompt).transpose()?;
    let context = session::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = Record::begin("send", json!({ "id": args.id }));
    let result = match &args.again {
        Some(message) => workflow::send_again(&context, &run, &args.id, message).await,
        None => workflow::send(&context, &run, &args.id, &text.unwrap_or_default()).await,
    };
    progress.finish(&result);
    let summary = |sent: &Sent| json!(sent);
    record
        .end(&context, &run, Some(&args.id), &result, summary, output)
        .await;
    let sent = result?;
    if output.is_json() {
        return output.document(&sent);
    }
    let id = &args.id;
    output.print(&match (sent.delivered, sent.waiting_for) {
        (true, _) => format!("{NAME}{id}{NAME:#} has it\n"),
        (false, _) if sent.unconfirmed => format!(
            "Typed, but nothing shows that {NAME}{id}{NAME:#} has it. Look (`claude-codex attach {id}`); \
             `claude-codex send {id} --again {}` types it once more\n",
            sent.message_id
        ),
        (false, Some(reason)) => format!("Stored; it waits for {}\n", reason.phrase()),
        (false, None) => format!("Stored; {NAME}{id}{NAME:#} gets it when its turn ends\n"),
    })
}
