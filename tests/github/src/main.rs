//! Runs a scripted GitHub until its standard input ends.
//!
//! `scripted-github [FOLDER]`: with a folder, `octo/hello.git` is made in it and served. Prints one line of
//! JSON: `{"apiUrl": …, "gitUrl": …, "token": …}`.

use std::io::{self, Write};
use std::path::PathBuf;

use scripted_github::{ScriptedGithub, TOKEN};
use tokio::io::AsyncReadExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let github = match std::env::args_os().nth(1) {
        Some(folder) => ScriptedGithub::with_repository(&PathBuf::from(folder)).await?,
        None => ScriptedGithub::start().await?,
    };
    let line =
        serde_json::json!({"apiUrl": github.url(), "gitUrl": github.git_url(), "token": TOKEN});
    writeln!(io::stdout(), "{line}")?;
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await?;
    Ok(())
}
