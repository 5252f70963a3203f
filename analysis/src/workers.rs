//! Spreads independent work over the processors and stops when the caller gives up.

use rayon::prelude::*;

use super::Control;

/// Applies `work` to the items in parallel; stops early when the control says so.
///
/// The results come in the order of the items; the flag tells whether all of them were done.
pub(crate) fn in_parallel<Item: Sync, Done: Send>(
    items: &[Item],
    control: &Control,
    work: impl Fn(&Item) -> Done + Sync,
) -> (Vec<Done>, bool) {
    let done: Vec<Done> = items
        .par_iter()
        .filter_map(|item| (!control.must_stop()).then(|| work(item)))
        .collect();
    let complete = done.len() == items.len();
    (done, complete)
}
