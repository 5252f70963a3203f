//! The nearest known name, for "did you mean".

/// Returns the known name most like the given one, if any is more alike than `least` (0 to 1).
pub(crate) fn nearest(
    name: &str,
    known: impl Iterator<Item = String>,
    least: f64,
) -> Option<String> {
    known
        .map(|candidate| {
            let likeness = strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase());
            (candidate, likeness)
        })
        .filter(|(_, likeness)| *likeness > least)
        .max_by(|left, right| left.1.total_cmp(&right.1))
        .map(|(candidate, _)| candidate)
}
