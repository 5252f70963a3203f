//! The client for one GitHub repository, and its retry policy.

use std::fmt;
use std::time::Duration;

use octocrab::Octocrab;
use octocrab::service::middleware::retry::RetryConfig;

use crate::forge::remote::is_unencrypted;
use crate::forge::{ForgeError, GithubRemote};
use crate::model::Secret;
use crate::model::hidden::drop_hidden_in_line;
use crate::model::secrets::REDACTED;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Of a text from GitHub: enough for any message, not for a page of HTML.
const MAX_SHOWN_CHARS: usize = 300;

/// How long one call may take, and how requests are retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The whole call: every request and every pause.
    pub total: Duration,
    /// One request with its response.
    pub one_try: Duration,
    /// The number of times that one request is sent, at most.
    pub tries: u32,
    /// The pause before the second try; it doubles with each further try.
    pub first_pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(30),
            one_try: Duration::from_secs(12),
            tries: 4,
            first_pause: Duration::from_millis(300),
        }
    }
}

/// A client for one repository.
#[derive(Clone)]
pub struct Github {
    pub(super) client: Octocrab,
    pub(super) remote: GithubRemote,
    /// The API's base URL, without a trailing slash.
    pub(super) api_url: String,
    /// Kept to remove it from any text that GitHub sends.
    pub(super) token: Secret,
    pub(super) retry_policy: RetryPolicy,
}

impl fmt::Debug for Github {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Github")
            .field("api_url", &self.api_url)
            .field("remote", &self.remote)
            .finish_non_exhaustive()
    }
}

impl Github {
    /// Creates a client without sending anything. Needs a tokio runtime.
    pub fn new(
        remote: GithubRemote,
        api_url: Option<&str>,
        token: &Secret,
    ) -> Result<Self, ForgeError> {
        let api_url = api_url
            .map_or_else(|| remote.api_url(), str::to_owned)
            .trim_end_matches('/')
            .to_owned();
        let invalid = || ForgeError::InvalidAddress {
            url: without_user(&api_url),
        };
        let rest = ["https://", "http://"]
            .iter()
            .find_map(|scheme| api_url.strip_prefix(scheme))
            .ok_or_else(invalid)?;
        if rest.is_empty() || rest.contains(['@', '?', '#']) || is_unencrypted(&api_url) {
            return Err(invalid());
        }
        let exposed = token.expose();
        if exposed.is_empty() || !exposed.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ForgeError::InvalidToken);
        }
        let client = Octocrab::builder()
            .base_uri(api_url.as_str())
            .map_err(|_| invalid())?
            .personal_token(exposed.to_owned())
            // octocrab would also retry requests that GitHub may have processed.
            .add_retry_config(RetryConfig::None)
            .set_connect_timeout(Some(CONNECT_TIMEOUT))
            .build()
            .map_err(|error| ForgeError::NotSecurable {
                reason: shown(&innermost(&error), token),
            })?;
        Ok(Self {
            client,
            remote,
            api_url,
            token: token.clone(),
            retry_policy: RetryPolicy::default(),
        })
    }

    /// Sets timeouts and retries.
    #[must_use]
    pub fn with_retry_policy(mut self, retry_policy: RetryPolicy) -> Self {
        self.retry_policy = retry_policy;
        self
    }

    /// Returns the API path of a resource of this repository.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.full_name())
    }

    /// Returns `owner/name`.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.remote.owner, self.remote.repository)
    }
}

/// Returns a URL without user and password.
fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        (_, None) => url.to_owned(),
    }
}

/// Returns a text that is safe to show: bounded, without the token and without hidden characters.
pub(super) fn shown(text: &str, token: &Secret) -> String {
    drop_hidden_in_line(&text.replace(token.expose(), REDACTED))
        .chars()
        .take(MAX_SHOWN_CHARS)
        .collect()
}

/// Returns an error and its causes, the innermost last.
pub(super) fn chain<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

/// Returns the innermost cause, which is the most specific one.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    chain(error).last().unwrap_or(error).to_string()
}
