//! What can go wrong with GitHub, in kinds that a person can act on.

use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    #[error("`{url}` is not a usable address of a GitHub API")]
    InvalidAddress { url: String },
    #[error("GitHub does not know {what}, or this token may not see it")]
    NotFound { what: String },
    #[error("GitHub did not accept the token")]
    Unauthorized,
    #[error("GitHub forbids this: {message}")]
    Forbidden { message: String },
    #[error("GitHub allows no more requests for now: {message}")]
    RateLimited { message: String },
    #[error("GitHub answered {status}: {message}")]
    Refused { status: u16, message: String },
    #[error("GitHub did not answer within {} s", after.as_secs())]
    TimedOut { after: Duration },
    #[error("GitHub cannot be reached: {reason}")]
    Unreachable { reason: String },
}
