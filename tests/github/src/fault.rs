//! What networks and servers do wrong, on demand.

use std::time::Duration;

use loopback_http::Request;
use serde_json::Value;

use crate::answer::Answer;

/// What goes wrong with a request.
#[derive(Debug, Clone)]
pub enum Trouble {
    /// It is refused with this answer, and nothing has happened.
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: Value,
    },
    /// It is processed, but this is what the client gets.
    AnswerAfter { status: u16 },
    /// The connection ends, and nothing has happened.
    DropBefore,
    /// It is processed; then the connection ends without an answer.
    DropAfter,
    /// The answer is late.
    Delay(Duration),
    /// It is answered in time, with a success that is a page and not JSON.
    Page,
}

/// A trouble for the next requests that match.
#[derive(Debug, Clone)]
pub struct Fault {
    method: Option<String>,
    path_part: String,
    times: u32,
    trouble: Trouble,
}

impl Fault {
    /// For the next request of any kind.
    pub fn once(trouble: Trouble) -> Self {
        Self {
            method: None,
            path_part: String::new(),
            times: 1,
            trouble,
        }
    }

    /// Refuses with a status and a message.
    pub fn status(status: u16) -> Self {
        Self::once(Trouble::Answer {
            status,
            headers: Vec::new(),
            body: serde_json::json!({"message": format!("scripted {status}")}),
        })
    }

    /// Only requests of this method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = Some(method.to_owned());
        self
    }

    /// Only requests whose path has this in it.
    #[must_use]
    pub fn path(mut self, part: &str) -> Self {
        part.clone_into(&mut self.path_part);
        self
    }

    /// Not once but so many times.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    fn matches(&self, request: &Request) -> bool {
        self.times > 0
            && request.path.contains(&self.path_part)
            && self
                .method
                .as_ref()
                .is_none_or(|method| *method == request.method)
    }
}

/// Uses up one time of the first fault that matches.
pub(crate) fn take(faults: &mut [Fault], request: &Request) -> Option<Trouble> {
    let fault = faults.iter_mut().find(|fault| fault.matches(request))?;
    fault.times -= 1;
    Some(fault.trouble.clone())
}

/// Returns what the client gets; none if the connection ends instead.
pub(crate) async fn apply(
    trouble: Option<Trouble>,
    process: impl FnOnce() -> Answer,
) -> Option<Answer> {
    match trouble {
        None => Some(process()),
        Some(Trouble::Answer {
            status,
            headers,
            body,
        }) => {
            let mut answer = Answer::json(status, &body);
            answer.headers.extend(headers);
            Some(answer)
        }
        Some(Trouble::AnswerAfter { status }) => {
            process();
            Some(Answer::text(status, "text/html", "<html>Unicorn!</html>"))
        }
        Some(Trouble::DropBefore) => None,
        Some(Trouble::DropAfter) => {
            process();
            None
        }
        Some(Trouble::Delay(time)) => {
            let answer = process();
            tokio::time::sleep(time).await;
            Some(answer)
        }
        Some(Trouble::Page) => Some(Answer::text(200, "text/html", "<html>Sign in</html>")),
    }
}
