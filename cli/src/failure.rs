//! How a command ends when it does not end well.

use std::io;

use shared::error::{Code, Error};
use shared::git::GitError;
use shared::store::StoreError;

#[derive(Debug)]
pub(crate) enum Failure {
    /// To be printed.
    Error(Error),
    /// Everything was said already.
    Reported,
    /// Whoever read our output has gone, as `head` does; there is nobody to tell.
    Unread,
}

impl Failure {
    /// Returns the exit code: 2 for what was typed wrongly, else 1.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Error(error) if error.code == Code::InvalidArguments => 2,
            Self::Error(_) | Self::Reported => 1,
            Self::Unread => 0,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Error(error.into())
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        Self::Error(error.into())
    }
}

/// Only for writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Unread;
        }
        Self::Error(Error::new(
            Code::Internal,
            format!("cannot write to standard output: {error}"),
        ))
    }
}
