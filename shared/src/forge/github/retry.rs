//! Retries with back-off and rate limits: transient failures are retried until a final response or the deadline.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout};

use super::client::{Github, RetryPolicy};
use super::refusal::{Subject, is_rate_limit};
use super::request::{Request, Response, Unanswered};
use crate::forge::ForgeError;

const MAX_PAUSE: Duration = Duration::from_secs(8);
/// GitHub asks for a minute where a rate limit comes without a time.
const DEFAULT_RATE_LIMIT_PAUSE: Duration = Duration::from_mins(1);

/// The end of the time that one call has, with all its requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Instant);

impl Deadline {
    fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

impl Github {
    /// Starts the time of one call.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline(Instant::now() + self.retry_policy.total)
    }

    /// Sends a request until there is a final response: 2xx, 304, or a 4xx that is not a rate limit.
    ///
    /// A request that is not idempotent is sent again only if GitHub has certainly not acted on it.
    pub(super) async fn send(
        &self,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Response, Unanswered> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, may_have_happened, wait) = match self.one_try(request, deadline).await {
                Ok(response) if response.status.is_server_error() => {
                    let wait = seconds(&response, "retry-after");
                    (self.refusal(&response, Subject::Repository), true, wait)
                }
                Ok(response) if is_rate_limit(&response) => {
                    let wait = rate_limit_pause(&response);
                    let error = ForgeError::RateLimited {
                        message: self.message(&response),
                        retry_after: Some(wait),
                    };
                    (error, false, Some(wait))
                }
                Ok(response) => return Ok(response),
                Err(unanswered) => (unanswered.error, unanswered.may_have_happened, None),
            };
            let may_repeat = request.idempotent || !may_have_happened;
            let pause = pause(&self.retry_policy, tries).max(wait.unwrap_or_default());
            if !may_repeat || tries >= self.retry_policy.tries || pause >= deadline.left() {
                return Err(Unanswered {
                    error,
                    may_have_happened,
                });
            }
            tracing::debug!(%error, ?pause, "retrying a request to GitHub");
            sleep(pause).await;
        }
    }

    /// Sends a request that changes nothing, or nothing more when it is repeated.
    pub(super) async fn fetch(
        &self,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Response, ForgeError> {
        let sent = self.send(request, deadline).await;
        sent.map_err(|unanswered| unanswered.error)
    }

    /// Fetches and parses the resource at a path of this repository.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        subject: Subject,
        deadline: Deadline,
    ) -> Result<T, ForgeError> {
        let request = Request::get(self.path(path));
        self.parse(&self.fetch(&request, deadline).await?, subject)
    }

    async fn one_try(&self, request: &Request, deadline: Deadline) -> Result<Response, Unanswered> {
        let time = self.retry_policy.one_try.min(deadline.left());
        let sent = timeout(time, self.send_once(request)).await;
        sent.unwrap_or_else(|_| {
            Err(Unanswered {
                error: ForgeError::TimedOut { after: time },
                may_have_happened: true,
            })
        })
    }

    /// Pauses before a further try; false if there is no time for one.
    pub(super) async fn pause_before(&self, tries: u32, deadline: Deadline) -> bool {
        let pause = pause(&self.retry_policy, tries);
        if tries >= self.retry_policy.tries || pause >= deadline.left() {
            return false;
        }
        sleep(pause).await;
        true
    }
}

/// Returns the pause after that many tries: exponential back-off with jitter.
fn pause(retry_policy: &RetryPolicy, tries: u32) -> Duration {
    let doubled = retry_policy
        .first_pause
        .saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
    let random = RandomState::new().hash_one(tries) % 1_000;
    // Between 0.5 and 1.5.
    let jitter = 0.5 + f64::from(u32::try_from(random).unwrap_or_default()) / 1_000.0;
    doubled.min(MAX_PAUSE).mul_f64(jitter)
}

fn seconds(response: &Response, name: &str) -> Option<Duration> {
    let seconds = response.header(name)?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Returns how long GitHub refuses further requests.
fn rate_limit_pause(response: &Response) -> Duration {
    let until_reset = || {
        if response.header("x-ratelimit-remaining")?.trim() != "0" {
            return None;
        }
        let reset = seconds(response, "x-ratelimit-reset")?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        // The limit still holds within the second in which it resets.
        Some(
            reset
                .saturating_sub(now)
                .saturating_add(Duration::from_secs(1)),
        )
    };
    seconds(response, "retry-after")
        .or_else(until_reset)
        .unwrap_or(DEFAULT_RATE_LIMIT_PAUSE)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

    use super::*;

    fn response(headers: &[(&'static str, &str)]) -> Response {
        let headers = headers.iter().map(|&(name, value)| {
            let value = HeaderValue::from_str(value).unwrap();
            (HeaderName::from_static(name), value)
        });
        Response {
            status: StatusCode::FORBIDDEN,
            headers: headers.collect::<HeaderMap>(),
            body: Vec::new(),
            truncated: false,
        }
    }

    #[test]
    fn pauses_grow_up_to_a_bound_and_differ() {
        let retry_policy = RetryPolicy::default();
        for tries in [1, 2, 3, 10, u32::MAX] {
            let least = retry_policy
                .first_pause
                .saturating_mul(1 << (tries - 1).min(20))
                .min(MAX_PAUSE);
            let pauses: Vec<Duration> = (0..50).map(|_| pause(&retry_policy, tries)).collect();
            for pause in &pauses {
                assert!(*pause >= least / 2 && *pause <= least * 3 / 2, "{pause:?}");
            }
            assert!(pauses.iter().any(|pause| *pause != pauses[0]));
        }
    }

    #[test]
    fn a_limit_lasts_as_long_as_github_says() {
        let huge = u64::MAX.to_string();
        let past = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")];
        let left = [("x-ratelimit-remaining", "9"), ("x-ratelimit-reset", "1")];
        for (headers, seconds) in [
            (&[("retry-after", "7")][..], 7),
            (&[("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT")], 60),
            (&past, 1),
            (&left, 60),
            (&[], 60),
            (&[("retry-after", &huge)], u64::MAX),
        ] {
            assert_eq!(
                rate_limit_pause(&response(headers)).as_secs(),
                seconds,
                "{headers:?}"
            );
        }
        let never = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &huge)];
        assert!(rate_limit_pause(&response(&never)) > Duration::from_hours(1_000_000));
    }
}
