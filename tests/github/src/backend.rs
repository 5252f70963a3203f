//! The git remote: `git http-backend` as a CGI program, behind the same token as the API.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;

use loopback_http::Request;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::answer::Answer;
use crate::api::is_authorised;
use crate::locked;
use crate::repository::environment;
use crate::state::State;

/// Answers what git asks for; none if the request is not git's.
pub(crate) async fn answer(state: &Mutex<State>, request: &Request) -> io::Result<Option<Answer>> {
    let Some((repository, rest)) = request.path.split_once(".git/") else {
        return Ok(None);
    };
    let admitted = admitted(&locked(state), repository, rest, request);
    match admitted {
        Ok(root) => run(root, request).await.map(Some),
        Err(refusal) => Ok(Some(refusal)),
    }
}

/// Returns the folder to serve, if the client may do what it asks for.
fn admitted(
    state: &State,
    repository: &str,
    rest: &str,
    request: &Request,
) -> Result<PathBuf, Answer> {
    let plain = |status, text: &str| Answer::text(status, "text/plain; charset=utf-8", text);
    if !is_authorised(state, request) {
        let text = "Invalid username or token.\n";
        return Err(plain(401, text).with("www-authenticate", "Basic realm=\"GitHub\""));
    }
    let ours = format!("/{}/{}", state.owner, state.name);
    let bare = state.bare.as_ref();
    let Some(bare) = bare.filter(|_| repository.eq_ignore_ascii_case(&ours)) else {
        return Err(plain(404, "Repository not found.\n"));
    };
    let writes = rest == "git-receive-pack" || request.query == "service=git-receive-pack";
    if writes && state.read_only {
        let text = format!(
            "Permission to {}/{}.git denied to octocat.\n",
            state.owner, state.name
        );
        return Err(plain(403, &text));
    }
    Ok(bare.root().to_owned())
}

async fn run(root: PathBuf, request: &Request) -> io::Result<Answer> {
    let mut command = Command::new("git");
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", &root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("REMOTE_USER", "octocat")
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .envs(environment(&root))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    for (header, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ] {
        if let Some(value) = request.header(header) {
            command.env(variable, value);
        }
    }
    let mut child = command.spawn()?;
    let mut input = child.stdin.take();
    let feed = async {
        if let Some(input) = &mut input {
            // A program that has read enough closes its end; its answer says why.
            let _ = input.write_all(&request.body).await;
        }
        drop(input.take());
    };
    let ((), output) = tokio::join!(feed, child.wait_with_output());
    parsed(&output?.stdout)
}

/// Takes the answer of a CGI program apart.
fn parsed(output: &[u8]) -> io::Result<Answer> {
    let end = output
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .ok_or_else(|| io::Error::other("git http-backend answered nothing"))?;
    let mut answer = Answer {
        status: 200,
        headers: Vec::new(),
        body: output[end + 4..].to_vec(),
    };
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("status") {
            let number = value.trim().split(' ').next().unwrap_or_default();
            answer.status = number.parse().map_err(io::Error::other)?;
        } else {
            answer = answer.with(&name.to_ascii_lowercase(), value.trim());
        }
    }
    Ok(answer)
}
