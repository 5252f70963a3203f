//! Summaries: cuts a report to a number of tokens, the least important entries first.

use serde::Serialize;

use super::{Incomplete, Listing};

/// Tokens of a report unless the caller asks for another number.
pub const DEFAULT_TOKENS: usize = 8_000;

/// Tokens that no report exceeds.
pub const MAX_TOKENS: usize = 20_000;

/// JSON with many short names and numbers has fewer bytes to a token than prose with its four.
const BYTES_PER_TOKEN: usize = 3;

/// A list that can be cut.
pub trait Cut {
    /// Returns the bytes of JSON of each entry.
    fn sizes(&self) -> Vec<usize>;
    /// Keeps the first entries and counts the others as omitted.
    fn keep(&mut self, entries: usize);
}

impl<T: Serialize> Cut for Listing<T> {
    fn sizes(&self) -> Vec<usize> {
        self.items.iter().map(json_size).collect()
    }

    fn keep(&mut self, entries: usize) {
        self.omitted += self.items.len().saturating_sub(entries) as u64;
        self.items.truncate(entries);
    }
}

/// A report that can say in a line what it tells, and whose lists can be cut.
pub trait Report: Serialize + Clone {
    /// Says in one line what the report tells.
    fn headline(&self) -> String;

    /// Returns the parts that are missing or cut short.
    fn incomplete(&mut self) -> &mut Listing<Incomplete>;

    /// Drops from a summary what its depth does not answer; the complete report has it.
    fn leave_out(&mut self) {}

    /// Cuts the lists inside the entries of its lists.
    fn shorten_entries(&mut self) {}

    /// Returns each list with its weight: a list of weight 2 gets twice the room of one of weight 1.
    fn lists(&mut self) -> Vec<(&mut dyn Cut, u32)>;
}

/// Cuts a list inside an entry and returns how many items went.
pub(crate) fn shorten<T>(items: &mut Vec<T>, most: usize) -> u32 {
    let gone = items.len().saturating_sub(most);
    items.truncate(most);
    u32::try_from(gone).unwrap_or(u32::MAX)
}

fn json_size(value: &impl Serialize) -> usize {
    // A comma follows each entry.
    serde_json::to_vec(value).map_or(usize::MAX / 1_024, |bytes| bytes.len() + 1)
}

/// Returns the report cut to a budget of tokens.
pub fn summarise<R: Report>(report: &R, tokens: usize) -> R {
    let room = tokens.min(MAX_TOKENS) * BYTES_PER_TOKEN;
    let mut short = report.clone();
    short.leave_out();
    if json_size(&short) <= room {
        return short;
    }
    short.shorten_entries();
    let whole = json_size(&short);
    let mut lists = short.lists();
    let sizes: Vec<Vec<usize>> = lists.iter().map(|(list, _)| list.sizes()).collect();
    let content: usize = sizes.iter().flatten().sum();
    // The counts of omitted entries take a few digits more in each list.
    let fixed = whole.saturating_sub(content) + lists.len() * 8;
    let weights: Vec<usize> = lists.iter().map(|(_, weight)| *weight as usize).collect();
    let rooms = share_out(room.saturating_sub(fixed), &sizes, &weights);
    for (((list, _), sizes), room) in lists.iter_mut().zip(&sizes).zip(rooms) {
        let mut used = 0usize;
        let fits = sizes
            .iter()
            .take_while(|&&size| {
                used = used.saturating_add(size);
                used <= room
            })
            .count();
        list.keep(fits);
    }
    short
}

/// Gives each list its share of the room; what a list doesn't need goes to the others.
fn share_out(mut room: usize, sizes: &[Vec<usize>], weights: &[usize]) -> Vec<usize> {
    let wants: Vec<usize> = sizes.iter().map(|sizes| sizes.iter().sum()).collect();
    let mut rooms = vec![0; wants.len()];
    let mut open: Vec<usize> = (0..wants.len()).collect();
    while !open.is_empty() {
        let weight: usize = open.iter().map(|&list| weights[list]).sum();
        let satisfied: Vec<usize> = open
            .iter()
            .copied()
            .filter(|&list| wants[list] <= room * weights[list] / weight.max(1))
            .collect();
        if satisfied.is_empty() {
            for &list in &open {
                rooms[list] = room * weights[list] / weight.max(1);
            }
            break;
        }
        for list in satisfied {
            rooms[list] = wants[list];
            room -= wants[list];
            open.retain(|&other| other != list);
        }
    }
    rooms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Serialize)]
    struct Two {
        short: Listing<String>,
        long: Listing<String>,
        incomplete: Listing<Incomplete>,
    }

    impl Report for Two {
        fn headline(&self) -> String {
            "two lists".to_owned()
        }

        fn incomplete(&mut self) -> &mut Listing<Incomplete> {
            &mut self.incomplete
        }

        fn lists(&mut self) -> Vec<(&mut dyn Cut, u32)> {
            vec![(&mut self.short, 1), (&mut self.long, 1)]
        }
    }

    #[test]
    fn the_long_list_gives_way_and_counts_what_it_lost() {
        let report = Two {
            short: vec!["a".to_owned(); 3].into(),
            long: vec!["b".repeat(50); 1_000].into(),
            incomplete: Listing::default(),
        };
        let short = summarise(&report, 500);
        assert_eq!(short.short.items.len(), 3);
        assert_eq!(short.long.total(), 1_000);
        assert!(short.long.items.len() > 15 && short.long.omitted > 0);
        assert!(serde_json::to_vec(&short).unwrap().len() <= 1_500);
    }

    #[test]
    fn what_fits_stays_whole() {
        let report = Two {
            short: vec!["a".to_owned()].into(),
            long: Listing::default(),
            incomplete: Listing::default(),
        };
        assert_eq!(summarise(&report, 8_000).short.items, ["a"]);
    }
}
