//! `claude-codex send`

use clap::Args;
use serde_json::json;
use shared::model::InstanceId;
use shared::workflow::{self, Sent};

use super::code::read_prompt;
use crate::failure::Failure;
use crate::output::{NAME, Output};
use crate::progress::Progress;
use crate::session::{self, Record};

const EXAMPLES: &str = "\
Examples:
  claude-codex send work-42-a1 \"Use the new API instead\"
  claude-codex send work-42-a1 - < notes.md";

/// Hand a text to an agent, as soon as it can take it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SendArgs {
    /// The agent
    id: InstanceId,
    /// What to tell it; `-` reads it from standard input
    text: String,
}

pub(crate) async fn send(args: &SendArgs, output: Output) -> Result<(), Failure> {
    let text = read_prompt(args.text.clone())?;
    let context = session::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = Record::begin("send", json!({ "id": args.id }));
    let result = workflow::send(&context, &run, &args.id, &text).await;
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
    output.print(&match (sent.delivered, &sent.waiting_for) {
        (true, _) => format!("{NAME}{id}{NAME:#} has it\n"),
        (false, Some(reason)) => format!("Stored; it waits for {reason}\n"),
        (false, None) => format!("Stored; {NAME}{id}{NAME:#} gets it when its turn ends\n"),
    })
}
