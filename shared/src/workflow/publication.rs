//! What is published, and in whose name.

use crate::git::Oid;
use crate::model::{Instance, Review};

/// The pull request as its author asks for it.
#[derive(Debug, Clone)]
pub struct CreatePr {
    pub title: String,
    pub description: String,
    pub draft: bool,
}

/// What is to be published, and in whose name.
pub(super) struct Work {
    pub(super) coder: Instance,
    /// The round that this approves; none if the coder publishes itself.
    pub(super) review: Option<Review>,
    pub(super) branch: String,
    pub(super) commit: Oid,
}
