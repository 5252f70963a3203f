//! One repository on GitHub, and how patient to be with it.

use std::fmt;
use std::time::Duration;

use octocrab::Octocrab;
use octocrab::service::middleware::retry::RetryConfig;

use super::refusal::shown;
use super::request::innermost;
use crate::forge::remote::is_in_the_open;
use crate::forge::{ForgeError, GithubRemote};
use crate::model::Secret;

/// Setting up a connection; a request that waits for one has not been seen by anybody.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How long one call may take, and how it waits between tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// All of one call: every request, every wait.
    pub total: Duration,
    /// One request with its answer.
    pub one_try: Duration,
    /// How often the same request is sent at most.
    pub tries: u32,
    /// The wait before the second try; it doubles for each further one.
    pub first_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(30),
            one_try: Duration::from_secs(12),
            tries: 4,
            first_pause: Duration::from_millis(300),
        }
    }
}

/// One repository on GitHub.
#[derive(Clone)]
pub struct Github {
    pub(super) client: Octocrab,
    pub(super) remote: GithubRemote,
    /// The address of the API, without a slash at its end.
    pub(super) api_url: String,
    /// Kept to take it out of any text that comes back.
    pub(super) token: Secret,
    pub(super) patience: Patience,
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
    /// Makes a client; nothing is sent yet. Needs a tokio runtime.
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
        if rest.is_empty() || rest.contains(['@', '?', '#']) || is_in_the_open(&api_url) {
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
            // Its retries would send a request twice that may have been processed.
            .add_retry_config(RetryConfig::None)
            .set_connect_timeout(Some(CONNECT_LIMIT))
            .build()
            .map_err(|error| ForgeError::NotSecurable {
                reason: shown(&innermost(&error), token),
            })?;
        Ok(Self {
            client,
            remote,
            api_url,
            token: token.clone(),
            patience: Patience::default(),
        })
    }

    /// Sets how long calls may take.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the API's path of something in this repository.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.full_name())
    }

    /// Returns `owner/name`.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.remote.owner, self.remote.repository)
    }
}

/// Returns an address without user and password.
fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        (_, None) => url.to_owned(),
    }
}
