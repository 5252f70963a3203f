//! `claude-codex pr request-changes`, `pr comment` and `pr approve`: a person's review of a pull request, or of an agent's work

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};
use shared::error::Error;
use shared::model::{DraftComment, Instance, InstanceId};
use shared::workflow::{self, Approval, Approved, FeedbackSent, NewComment, Receipt};

use super::work::{Work, WorkArg};
use crate::command_context::{self, EventRecord};
use crate::commands::code::read_prompt;
use crate::failure::Failure;
use crate::output::{DIM, NAME, Output};
use crate::progress::Progress;
use crate::text::harmless;

#[derive(Debug, Args)]
pub(super) struct RequestChangesArgs {
    #[command(flatten)]
    pub(super) of: WorkArg,
    /// What is to be changed; `-` reads it from standard input. May be left out if comments are pending
    text: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct CommentArgs {
    #[command(flatten)]
    pub(super) of: WorkArg,
    /// The file, by its path in the repository
    #[arg(long, value_name = "FILE", required_unless_present_any = ["list", "remove"])]
    file: Option<String>,
    /// The line, counted from 1
    #[arg(long, value_name = "LINE", required_unless_present_any = ["list", "remove"], value_parser = clap::value_parser!(u32).range(1..))]
    line: Option<u32>,
    /// The comment; `-` reads it from standard input
    #[arg(required_unless_present_any = ["list", "remove"])]
    text: Option<String>,
    /// List the pending comments
    #[arg(long, conflicts_with_all = ["file", "line", "text", "remove"])]
    list: bool,
    /// Remove a pending comment, by the number that --list shows
    #[arg(long, value_name = "K", conflicts_with_all = ["file", "line", "text"])]
    remove: Option<i64>,
}

#[derive(Debug, Args)]
pub(super) struct ApproveArgs {
    #[command(flatten)]
    pub(super) of: WorkArg,
    /// Only if this is the commit to approve, given by its id or the first digits of it
    #[arg(long, value_name = "COMMIT", value_parser = super::commit)]
    commit: Option<String>,
    /// What to say with it; `-` reads it from standard input
    text: Option<String>,
}

pub(super) async fn request_changes(
    args: &RequestChangesArgs,
    output: Output,
) -> Result<(), Failure> {
    let text = args.text.clone().map(read_prompt).transpose()?;
    let work = &args.of.work;
    let context = command_context::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("pr request-changes", work.parameters());
    let result = async {
        let coder = work.coder(&context, &run).await?;
        let text = text.unwrap_or_default();
        workflow::send_back(&context, &run, &coder.id, &text, Vec::new()).await
    };
    let result = Box::pin(result).await;
    progress.finish(&result);
    let id = result.as_ref().ok().map(|sent| sent.coder.id.clone());
    let summary = |sent: &FeedbackSent| json!({ "messageId": sent.message, "round": sent.round });
    record
        .end(&context, &run, id.as_ref(), &result, summary, output)
        .await;
    let sent = result?;
    if output.is_json() {
        return output.document(&document(work, &sent));
    }
    print_sent(work, &sent, output)
}

fn document(work: &Work, sent: &FeedbackSent) -> Value {
    json!({
        "number": work.number(),
        "instanceId": sent.coder.id,
        "messageId": sent.message,
        "round": sent.round,
        "comments": sent.comments,
        "restarted": sent.restarted,
        "delivered": sent.receipt == Receipt::Taken,
        "waitingFor": match sent.receipt {
            Receipt::Waiting(reason) => reason,
            Receipt::Taken | Receipt::Unconfirmed => None,
        },
    })
}

fn print_sent(work: &Work, sent: &FeedbackSent, output: Output) -> Result<(), Failure> {
    let id = &sent.coder.id;
    let with = match sent.comments {
        0 => String::new(),
        1 => " with 1 comment".to_owned(),
        many => format!(" with {many} comments"),
    };
    let again = if sent.restarted {
        format!("{NAME}{id}{NAME:#} was started again")
    } else {
        format!("{NAME}{id}{NAME:#} is at work")
    };
    let told = describe_receipt(id, sent.receipt);
    output.print(&format!(
        "{NAME}{work}{NAME:#} is sent back{with}: {again}{told}\n"
    ))?;
    note_about_github(&sent.coder, output);
    Ok(())
}

/// Says, after a half sentence about the agent, whether it has the message.
pub(super) fn describe_receipt(id: &InstanceId, receipt: Receipt) -> String {
    match receipt {
        Receipt::Taken => " and has received it".to_owned(),
        Receipt::Unconfirmed => format!(
            "; there is no proof that it received the message, check with `claude-codex attach {id}`"
        ),
        Receipt::Waiting(Some(reason)) => format!("; the message waits for {}", reason.phrase()),
        Receipt::Waiting(None) => "; it gets the message when its turn ends".to_owned(),
    }
}

pub(super) fn note_about_github(coder: &Instance, output: Output) {
    if coder
        .pr_url
        .as_ref()
        .is_some_and(|url| url.starts_with("http"))
    {
        output.note(
            "note",
            DIM,
            "the agent was told; nothing was written on GitHub",
        );
    }
}

pub(super) async fn comment(args: CommentArgs, output: Output) -> Result<(), Failure> {
    let work = &args.of.work;
    let text = args.text.map(read_prompt).transpose()?;
    let context = command_context::open(output).await?;
    let (run, progress) = Progress::start(output);
    let is_new = text.is_some();
    let result = async {
        let coder = work.coder(&context, &run).await?;
        match (args.remove, args.file.zip(args.line).zip(text)) {
            (Some(id), _) => workflow::remove_comment(&context, &coder.id, id).await,
            (None, Some(((file, line), body))) => {
                let new = NewComment {
                    file,
                    line,
                    body,
                    commit: work.commit(&context).await?,
                };
                workflow::comment(&context, &run, &coder.id, new).await
            }
            (None, None) => workflow::draft_comments(&context, &coder.id).await,
        }
    };
    let result: Result<Vec<DraftComment>, Error> = Box::pin(result).await;
    progress.finish(&result);
    let pending = result?;
    if output.is_json() {
        return output.document(&pending);
    }
    let mut text = String::new();
    if !is_new {
        for comment in &pending {
            // Writing to a String does not fail.
            let _ = writeln!(
                text,
                "{NAME}{:>4}{NAME:#}  {}:{}  {}",
                comment.id,
                harmless(&comment.file),
                comment.line,
                harmless(&comment.body)
            );
        }
    }
    let count = match pending.len() {
        0 => "No comments are".to_owned(),
        1 => "1 comment is".to_owned(),
        many => format!("{many} comments are"),
    };
    let _ = write!(text, "{count} pending on {NAME}{work}{NAME:#}.");
    if !pending.is_empty() {
        let named = work.word();
        let _ = write!(text, " `claude-codex pr request-changes {named}` sends ");
        text += if pending.len() == 1 { "it." } else { "them." };
    }
    output.print(&(text + "\n"))
}

pub(super) async fn approve(args: &ApproveArgs, output: Output) -> Result<(), Failure> {
    let note = args.text.clone().map(read_prompt).transpose()?;
    let work = &args.of.work;
    let context = command_context::open(output).await?;
    let (run, progress) = Progress::start(output);
    let record = EventRecord::begin("pr approve", work.parameters());
    let result = async {
        let coder = work.coder(&context, &run).await?;
        let approval = Approval {
            note: note.unwrap_or_default(),
            commit: args.commit.clone(),
        };
        workflow::approve(&context, &run, &coder.id, approval).await
    };
    let result = Box::pin(result).await;
    progress.finish(&result);
    let id = result
        .as_ref()
        .ok()
        .map(|approved| approved.coder.id.clone());
    let summary = |approved: &Approved| json!({ "commit": approved.commit });
    record
        .end(&context, &run, id.as_ref(), &result, summary, output)
        .await;
    let approved = result?;
    if output.is_json() {
        return output.document(&json!({
            "number": work.number(),
            "instanceId": approved.coder.id,
            "commit": approved.commit,
        }));
    }
    let id = &approved.coder.id;
    let commit = approved.commit.get(..10).unwrap_or(&approved.commit);
    let told = match approved.receipt {
        Some(receipt) => format!(
            ": {NAME}{id}{NAME:#} is at work{}",
            describe_receipt(id, receipt)
        ),
        None => String::new(),
    };
    output.print(&format!(
        "{NAME}{work}{NAME:#} is approved at {commit}{told}\n"
    ))?;
    note_about_github(&approved.coder, output);
    Ok(())
}
