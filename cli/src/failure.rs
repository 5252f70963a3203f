//! Failure of a command, and its exit code.

use std::io;

use shared::error::{Code, Error};
use shared::git::GitError;
use shared::store::StoreError;

#[derive(Debug)]
pub(crate) enum Failure {
    /// An error to print.
    Error(Error),
    /// The command has already printed what is wrong.
    Reported,
    /// The reader of our output has closed the pipe (EPIPE), as `head` does.
    Unread,
}

impl Failure {
    /// Returns the exit code: 2 for wrong usage, 0 for a closed pipe, otherwise 1.
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
