//! Forge backends: GitHub or the local one, chosen per repository, behind one set of operations.

pub(super) mod base_problem;
pub(super) mod github;
pub(super) mod local;
pub(super) mod open_work;
pub(super) mod publication;
pub(super) mod pull_backend;
pub(super) mod select_forge;
