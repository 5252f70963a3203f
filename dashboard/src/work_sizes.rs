//! Cache of how many lines each agent's work changes, by its head commit; filled in the background, read by the board.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use shared::model::InstanceId;
use shared::workflow::WorkSize;

/// Of each agent its size, absent if it could not be counted.
#[derive(Debug, Default)]
pub(crate) struct WorkSizes(Mutex<HashMap<InstanceId, Option<WorkSize>>>);

impl WorkSizes {
    pub(crate) fn of(&self, id: &InstanceId) -> Option<WorkSize> {
        let sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.get(id).cloned().flatten()
    }

    /// Returns whether nobody has tried to count it yet.
    pub(crate) fn is_new(&self, id: &InstanceId) -> bool {
        let sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !sizes.contains_key(id)
    }

    /// Keeps a size, and returns whether it is another one.
    pub(crate) fn keep(&self, id: &InstanceId, size: Option<WorkSize>) -> bool {
        let mut sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sizes.entry(id.clone()).or_default();
        let is_other = *known != size;
        *known = size;
        is_other
    }

    /// Forgets all but these agents.
    pub(crate) fn retain(&self, kept: &HashSet<InstanceId>) {
        let mut sizes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.retain(|id, _| kept.contains(id));
    }
}
