//! `AnalysisError`: failures of a whole analysis; parts that fail are listed as incomplete instead.

use std::path::PathBuf;

/// Why an analysis has no report.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    #[error("the analysis was cancelled")]
    Cancelled,
    #[error("cannot read the directory {}: {source}", path.display())]
    Root {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} is not a directory", path.display())]
    NotADirectory { path: PathBuf },
    /// The path or the question of a focus can't be used.
    #[error("{why}")]
    Focus { why: String },
}
