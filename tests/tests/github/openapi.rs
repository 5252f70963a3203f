//! Every request that the client makes, checked against GitHub's own API description by Prism.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use shared::forge::{Fetched, ForgeError, NewIssue};
use shared::model::{MergeMethod, PullState};
use tests::project_root;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::{new_pull, with_token};

/// `scripts/prism` exits with this where there is no npm.
const NO_NPM: i32 = 3;
/// Node takes seconds to start where others use the processor too.
const START: Duration = Duration::from_mins(1);

/// A running Prism; it goes when dropped.
struct Prism {
    address: String,
    _child: Child,
}

/// Returns where Prism is, or why it isn't there.
async fn installed() -> Result<PathBuf, String> {
    let output = Command::new(project_root().join("scripts/prism"))
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let (said, complaint) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if output.status.code() == Some(NO_NPM) {
        return Err(complaint.trim().to_owned());
    }
    assert!(output.status.success(), "{complaint}");
    Ok(PathBuf::from(said.trim()))
}

async fn start(folder: PathBuf) -> Prism {
    let mut child = Command::new(folder.join("node_modules/.bin/prism"))
        .args(["mock", "github.json", "-h", "127.0.0.1", "-p", "0"])
        .current_dir(folder)
        .env_remove("NODE_ENV")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = tokio::time::timeout(START, async {
        loop {
            // No line means that it ended before it listened.
            let line = lines.next_line().await.unwrap().unwrap();
            if let Some((_, address)) = line.split_once("listening on http://") {
                return address.trim().to_owned();
            }
        }
    })
    .await
    .unwrap();
    // It stops when nobody reads what it has to say.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Prism {
        address,
        _child: child,
    }
}

/// Posts what is no pull request, and returns the answer.
async fn nonsense(address: &str) -> String {
    let body = r#"{"title": 1}"#;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /repos/octo/hello/pulls HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn every_request_is_one_that_github_describes() {
    let prism = match installed().await {
        Ok(folder) => start(folder).await,
        Err(reason) => {
            writeln!(std::io::stderr(), "SKIPPED: {reason}").unwrap();
            return;
        }
    };
    let answer = nonsense(&prism.address).await;
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");

    let github = with_token(&format!("http://{}", prism.address), "ghp_any");
    let made = github.create_pull(&new_pull("codex/a")).await.unwrap();
    assert!(
        made.number > 0 && made.url.starts_with("https://github.com/"),
        "{made:?}"
    );
    assert_eq!(github.open_pull("codex/a").await.unwrap(), None);
    github.update_pull(7, "title", "body").await.unwrap();
    github.close_pull(7).await.unwrap();
    let pull = github.pull(7, Some("W/\"tag\"")).await.unwrap();
    assert!(matches!(pull, Fetched::New { .. }));
    for state in [
        None,
        Some(PullState::Open),
        Some(PullState::Closed),
        Some(PullState::Merged),
    ] {
        github.pulls(state, 10).await.unwrap();
    }
    for method in [MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase] {
        github.merge_pull(7, method, "a").await.unwrap();
    }
    // The description knows no diffs; the request for one is checked before that is found out.
    let error = github.pull_diff(7, 1_000).await.unwrap_err();
    assert!(matches!(error, ForgeError::DiffTooLarge { .. }), "{error}");

    let issue = NewIssue {
        title: "title".to_owned(),
        body: "body".to_owned(),
        labels: vec!["priority: high".to_owned()],
        mark: "<!-- claude-codex: t-1 -->".to_owned(),
    };
    assert!(github.create_issue(&issue).await.unwrap().number > 0);
    assert!(github.issue(7).await.unwrap().number > 0);
    // Its one example is a pull request, and every page names a next: nothing is listed, and the reading ends.
    let issues = github.issues(10).await.unwrap();
    assert_eq!((issues.items.len(), issues.more), (0, true));
}
