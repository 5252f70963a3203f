//! The client against a server that always says the same; behaviour is tested with the scripted GitHub.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::forge::{ForgeError, parse_remote};
use crate::model::Secret;

/// Answers every request with the same status and body, and returns what was asked first.
async fn answering(
    status: &'static str,
    body: String,
) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let mut first = None;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 65536];
            let read = stream.read(&mut bytes).await.unwrap();
            first.get_or_insert_with(|| String::from_utf8_lossy(&bytes[..read]).into_owned());
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
            if status.starts_with("200") || status.starts_with('4') {
                return first.unwrap();
            }
        }
    });
    (url, server)
}

fn github(url: &str) -> Github {
    let remote = parse_remote("git@github.com:octo/hello.git").unwrap();
    Github::new(remote, Some(url), &Secret::new("t0ken")).unwrap()
}

#[tokio::test]
async fn an_answer_says_what_went_wrong() {
    let body = r#"{"message":"Not Found","documentation_url":""}"#.to_owned();
    let (url, server) = answering("404 Not Found", body).await;
    let error = github(&url).issue(7).await.unwrap_err();
    assert!(matches!(&error, ForgeError::NotFound { what } if what == "issue 7 of octo/hello"));
    let asked = server.await.unwrap();
    assert!(
        asked.starts_with("GET /repos/octo/hello/issues/7 "),
        "{asked}"
    );
    assert!(asked.contains("t0ken"));

    let body = r#"{"message":"Bad credentials","documentation_url":""}"#.to_owned();
    let (url, _server) = answering("401 Unauthorized", body).await;
    let error = github(&url).issue(7).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unauthorized));
    assert!(!format!("{error:?}").contains("t0ken"));
}

#[tokio::test]
async fn nobody_there_is_said_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = github(&url).issue(7).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "{error:?}");
}
