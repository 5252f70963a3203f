//! The input of the scope `issues`; the forge and the database are not asked from here.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::time::SystemTime;

use model::{OpenWork, Timestamp};

use crate::{Budget, git};

/// The open work on a repository and the repository itself.
#[derive(Debug, Clone)]
pub struct IssuesInput {
    pub root: PathBuf,
    /// The present; ages count from it.
    pub now: Timestamp,
    pub work: OpenWork,
}

impl IssuesInput {
    /// Returns a key that changes with the issues, pull requests, tasks and branches.
    pub fn fingerprint(&self, budget: &Budget) -> u64 {
        let mut hasher = DefaultHasher::new();
        // The Debug output has every field.
        format!("{:?}", self.work).hash(&mut hasher);
        match git::output(&self.root, &["for-each-ref"], budget) {
            Ok(branches) => branches.hash(&mut hasher),
            // Unknown branches are never the same as before.
            Err(_) => SystemTime::now().hash(&mut hasher),
        }
        hasher.finish()
    }
}
