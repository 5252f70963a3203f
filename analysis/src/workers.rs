//! Runs independent work on all processors until the budget ends.

use rayon::prelude::*;

use super::Budget;

/// Applies `work` to the items in parallel; stops early at the end of the budget.
///
/// The results come in the order of the items; the flag tells whether all of them were done.
pub(crate) fn in_parallel<Item: Sync, Done: Send>(
    items: &[Item],
    budget: &Budget,
    work: impl Fn(&Item) -> Done + Sync,
) -> (Vec<Done>, bool) {
    let done: Vec<Done> = items
        .par_iter()
        .filter_map(|item| (!budget.must_stop()).then(|| work(item)))
        .collect();
    let complete = done.len() == items.len();
    (done, complete)
}
