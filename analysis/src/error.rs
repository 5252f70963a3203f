//! What can go wrong with a whole analysis; parts that fail are listed as incomplete instead.

use std::path::PathBuf;

/// Why there is no report at all.
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
}
