//! Rate limit on reconciling: servers take turns, because one of a hundred is enough.

use std::time::Duration;

use crate::file;
use crate::workflow::Context;

/// Tells whether nobody has reconciled for that time, and if so takes the turn.
///
/// Two that ask at the same moment may both get it, which costs a little and does no harm.
pub async fn is_my_turn_to_reconcile(context: &Context, every: Duration) -> bool {
    let stamp = context.state_dir().join("reconciled");
    let last = tokio::fs::metadata(&stamp).await;
    // A time in the future is of a clock that has been set back: it says nothing.
    let age = last
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|time| time.elapsed().ok());
    // A little less: the only server left, which asks at exactly that pace, gets every turn.
    if age.is_some_and(|age| age < every * 9 / 10) {
        return false;
    }
    // Where the stamp can't be written everybody gets a turn, as if alone.
    let _ = file::create_private(&stamp);
    true
}
