//! Asks until there is an answer that will not get better, or until the time is up.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep, timeout};

use super::client::{Github, Patience};
use super::refusal::{Subject, is_rate_limit};
use super::request::{Answer, Lost, Request};
use crate::forge::ForgeError;

/// However often it failed before, nobody waits longer than this for the next try.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// What GitHub asks for when it limits without saying for how long.
const UNSTATED_LIMIT: Duration = Duration::from_mins(1);

/// The time that one call has, whatever it consists of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    began: Instant,
    total: Duration,
}

impl Clock {
    pub(super) fn start(patience: &Patience) -> Self {
        Self {
            began: Instant::now(),
            total: patience.total,
        }
    }

    fn left(&self) -> Duration {
        self.total.saturating_sub(self.began.elapsed())
    }
}

impl Github {
    /// Starts the time of one call.
    pub(super) fn clock(&self) -> Clock {
        Clock::start(&self.patience)
    }

    /// Sends a request until it is answered: 2xx, 304, or a 4xx that is no rate limit.
    ///
    /// A request that is not repeatable is sent again only if GitHub has surely not acted on it.
    pub(super) async fn ask(&self, request: &Request, clock: Clock) -> Result<Answer, Lost> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (lost, wait) = match self.one_try(request, clock).await {
                Ok(answer) if answer.status.is_server_error() => {
                    let wait = seconds(&answer, "retry-after");
                    let error = self.refusal(&answer, Subject::Repository);
                    (
                        Lost {
                            error,
                            unclear: true,
                        },
                        wait,
                    )
                }
                Ok(answer) if is_rate_limit(&answer) => {
                    let wait = limited_for(&answer);
                    let error = ForgeError::RateLimited {
                        message: self.message(&answer),
                        retry_after: Some(wait),
                    };
                    (
                        Lost {
                            error,
                            unclear: false,
                        },
                        Some(wait),
                    )
                }
                Ok(answer) => return Ok(answer),
                Err(lost) => (lost, None),
            };
            let again = request.repeatable || !lost.unclear;
            let pause = pause(&self.patience, tries).max(wait.unwrap_or_default());
            if !again || tries >= self.patience.tries || pause >= clock.left() {
                return Err(lost);
            }
            tracing::debug!(error = %lost.error, ?pause, "GitHub is asked again");
            sleep(pause).await;
        }
    }

    async fn one_try(&self, request: &Request, clock: Clock) -> Result<Answer, Lost> {
        let time = self.patience.one_try.min(clock.left());
        timeout(time, self.send(request)).await.unwrap_or_else(|_| {
            Err(Lost {
                error: ForgeError::TimedOut { after: time },
                unclear: true,
            })
        })
    }

    /// Waits as before a further try; false if there is no time for one.
    pub(super) async fn pause_before(&self, tries: u32, clock: Clock) -> bool {
        let pause = pause(&self.patience, tries);
        if tries >= self.patience.tries || pause >= clock.left() {
            return false;
        }
        sleep(pause).await;
        true
    }
}

/// Returns how long to wait after that many tries: doubling, and different for everybody.
fn pause(patience: &Patience, tries: u32) -> Duration {
    let doubled = patience
        .first_pause
        .saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
    let random = RandomState::new().hash_one(tries) % 1_000;
    // Between half of it and one and a half.
    let jitter = 0.5 + f64::from(u32::try_from(random).unwrap_or_default()) / 1_000.0;
    doubled.min(LONGEST_PAUSE).mul_f64(jitter)
}

fn seconds(answer: &Answer, name: &str) -> Option<Duration> {
    let seconds = answer.header(name)?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Returns how long GitHub wants to be left alone.
fn limited_for(answer: &Answer) -> Duration {
    let until_reset = || {
        if answer.header("x-ratelimit-remaining")?.trim() != "0" {
            return None;
        }
        let reset = seconds(answer, "x-ratelimit-reset")?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        // The second in which it resets is still one too early.
        Some(
            reset
                .saturating_sub(now)
                .saturating_add(Duration::from_secs(1)),
        )
    };
    seconds(answer, "retry-after")
        .or_else(until_reset)
        .unwrap_or(UNSTATED_LIMIT)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

    use super::*;

    fn answer(headers: &[(&'static str, &str)]) -> Answer {
        let headers = headers.iter().map(|&(name, value)| {
            let value = HeaderValue::from_str(value).unwrap();
            (HeaderName::from_static(name), value)
        });
        Answer {
            status: StatusCode::FORBIDDEN,
            headers: headers.collect::<HeaderMap>(),
            body: Vec::new(),
            cut: false,
        }
    }

    #[test]
    fn pauses_grow_up_to_a_bound_and_differ() {
        let patience = Patience::default();
        for tries in [1, 2, 3, 10, u32::MAX] {
            let least = patience
                .first_pause
                .saturating_mul(1 << (tries - 1).min(20))
                .min(LONGEST_PAUSE);
            let pauses: Vec<Duration> = (0..50).map(|_| pause(&patience, tries)).collect();
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
                limited_for(&answer(headers)).as_secs(),
                seconds,
                "{headers:?}"
            );
        }
        let never = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &huge)];
        assert!(limited_for(&answer(&never)) > Duration::from_hours(1_000_000));
    }
}
