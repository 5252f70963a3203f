//! A server on our kit whose tools misbehave: what the kit promises must hold for them too.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use mcp_kit::{Call, Definition, Effects, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::error::{Code, Error};
use shared::model::InstanceKind;
use shared::process::{self, Limits};
use shared::workflow::Step;

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
struct Sign {
    /// File that tells the test how far the tool has come.
    file: PathBuf,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    message: String,
}

fn done() -> Done {
    Done {
        message: "done".to_owned(),
    }
}

#[expect(clippy::panic, reason = "this is the fault")]
async fn fall_over(call: Call, _: Nothing) -> Result<Done, Error> {
    call.context().await?;
    panic!("the tool fell over");
}

#[expect(clippy::panic, reason = "this is the fault")]
async fn fall_over_while_writing(call: Call, _: Nothing) -> Result<Done, Error> {
    let context = call.context().await?;
    context
        .store
        .write::<(), _>(|_| panic!("the tool fell over inside a transaction"))
        .await?;
    Ok(done())
}

/// Waits until it is cancelled, then takes a moment to undo.
async fn undo(call: Call, sign: Sign) -> Result<Done, Error> {
    call.context().await?;
    write(&sign.file, "begun");
    call.run().cancel_token().cancelled().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    write(&sign.file, "undone");
    call.run().step(Step::CheckingWork)?;
    Ok(done())
}

/// Runs a git that starts a process of its own and does not end.
async fn run_git(call: Call, sign: Sign) -> Result<Done, Error> {
    let endless = format!(
        "alias.endless=!echo $$ > '{0}.new' && mv '{0}.new' '{0}' && exec sleep 1000",
        sign.file.display()
    );
    let mut command = process::command("git", ["-c", &endless, "endless"]);
    let limits = Limits {
        time: Duration::from_secs(1000),
        output: 1000,
    };
    let git = async {
        let ended = process::run(&mut command, None, limits).await;
        ended.map_err(|error| Error::new(Code::GitFailed, error.to_string()))
    };
    call.run().unless_cancelled(git).await?;
    Ok(done())
}

fn write(file: &std::path::Path, word: &str) {
    // The test waits for it, and says so if it never comes.
    let _ = std::fs::write(file, word);
}

fn main() -> ExitCode {
    mcp_kit::serve(Definition {
        kind: InstanceKind::Planning,
        version: "0",
        title: "Faulty",
        instructions: "",
        tools: vec![
            Tool::new("panic", "Panic", "Panics.", Effects::Local, fall_over),
            Tool::new(
                "panic_while_writing",
                "Panic while writing",
                "Panics inside a transaction.",
                Effects::Local,
                fall_over_while_writing,
            ),
            Tool::new("undo", "Undo", "Undoes.", Effects::Local, undo),
            Tool::new("git", "Git", "Runs git.", Effects::Local, run_git),
        ],
        resources: Vec::new(),
        prompts: Vec::new(),
    })
}
