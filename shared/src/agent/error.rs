//! `AgentError`: failures of agent programs and their files.

use std::path::PathBuf;

use super::version::{MINIMUM_VERSION, Version};
use crate::process::ProcessError;

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("cannot write the agent file {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} is not valid JSON and was left as it is: {source}", path.display())]
    Corrupt {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("{} does not have the expected shape at `{at}` and was left as it is", path.display())]
    Shape { path: PathBuf, at: &'static str },
    #[error("the path {} is not valid UTF-8, which agent files and Claude Code's settings need", path.display())]
    NotUtf8 { path: PathBuf },
    #[error("the path {} is not absolute", path.display())]
    NotAbsolute { path: PathBuf },
    #[error("`claude` was not found on PATH")]
    ClaudeMissing,
    #[error("{} is not an executable file", path.display())]
    NotExecutable { path: PathBuf },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot tell the version of {} from its answer {answer:?}", path.display())]
    UnknownVersion { path: PathBuf, answer: String },
    #[error("Claude Code {found} ({}) is too old: {MINIMUM_VERSION} is needed", path.display())]
    TooOld { path: PathBuf, found: Version },
    #[error("the agent command {command:?} is not valid shell words")]
    CommandWords { command: String },
    #[error("the agent program `{}` was not found", program.display())]
    CommandMissing { program: PathBuf },
    #[error("the agent program `{}` is not executable", program.display())]
    CommandNotExecutable { program: PathBuf },
    #[error("the agent command is empty")]
    CommandEmpty,
    #[error("Claude Code refuses the bypass permission mode to root")]
    BypassAsRoot,
    #[error("the prompt template {template} has the unknown placeholder {{{{{name}}}}}")]
    UnknownPlaceholder { template: String, name: String },
    #[error("the prompt template {template} has a `{{{{` without `}}}}`")]
    OpenPlaceholder { template: String },
}
