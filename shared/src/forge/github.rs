//! GitHub's API, through octocrab.

use std::time::Duration;

use octocrab::Octocrab;
use octocrab::service::middleware::retry::RetryConfig;

use super::{ForgeError, GithubRemote};
use crate::model::Secret;

/// All of one question, retries included.
const TIME_LIMIT: Duration = Duration::from_secs(20);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Tries after the first, for answers that may be better the next time.
const RETRIES: usize = 2;

/// An issue, as far as an agent needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub body: String,
}

/// One repository on GitHub.
#[derive(Debug, Clone)]
pub struct Github {
    client: Octocrab,
    remote: GithubRemote,
}

impl Github {
    /// Makes a client; nothing is sent yet. Needs a tokio runtime.
    pub fn new(
        remote: GithubRemote,
        api_url: Option<&str>,
        token: &Secret,
    ) -> Result<Self, ForgeError> {
        let url = api_url.map_or_else(|| remote.api_url(), str::to_owned);
        let invalid = || ForgeError::InvalidAddress { url: url.clone() };
        let client = Octocrab::builder()
            .base_uri(url.as_str())
            .map_err(|_| invalid())?
            .personal_token(token.expose().to_owned())
            .add_retry_config(RetryConfig::Simple(RETRIES))
            .set_connect_timeout(Some(CONNECT_LIMIT))
            .set_read_timeout(Some(TIME_LIMIT))
            .build()
            .map_err(|_| invalid())?;
        Ok(Self { client, remote })
    }

    /// Returns one issue.
    pub async fn issue(&self, number: u64) -> Result<Issue, ForgeError> {
        let issues = self
            .client
            .issues(&self.remote.owner, &self.remote.repository);
        let answer = tokio::time::timeout(TIME_LIMIT, issues.get(number))
            .await
            .map_err(|_| ForgeError::TimedOut { after: TIME_LIMIT })?;
        let issue = answer.map_err(|error| self.failure(&error, &format!("issue {number}")))?;
        Ok(Issue {
            number: issue.number,
            title: issue.title,
            body: issue.body.unwrap_or_default(),
        })
    }

    fn failure(&self, error: &octocrab::Error, what: &str) -> ForgeError {
        let octocrab::Error::GitHub { source, .. } = error else {
            return ForgeError::Unreachable {
                reason: innermost(error),
            };
        };
        let status = source.status_code.as_u16();
        let message: String = source.message.chars().take(300).collect();
        match status {
            401 => ForgeError::Unauthorized,
            404 | 410 => ForgeError::NotFound {
                what: format!("{what} of {}/{}", self.remote.owner, self.remote.repository),
            },
            429 => ForgeError::RateLimited { message },
            403 if message.to_lowercase().contains("rate limit") => {
                ForgeError::RateLimited { message }
            }
            403 => ForgeError::Forbidden { message },
            status => ForgeError::Refused { status, message },
        }
    }
}

/// Returns the cause that says most: the innermost one.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

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
        let remote = super::super::parse_remote("git@github.com:octo/hello.git").unwrap();
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
}
