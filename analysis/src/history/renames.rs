//! Renames: attributes the changes of a moved file to the name that it has today.

use std::collections::HashSet;

use super::{Change, Move};

/// Gives each change the newest name of its file. Both lists are sorted by commit, the newest first.
///
/// `today` holds the numbers of the paths that exist.
pub(super) fn follow(changes: &mut [Change], moves: &[Move], paths: usize, today: &HashSet<u32>) {
    let mut names: Vec<u32> = (0..u32::try_from(paths).unwrap_or(u32::MAX)).collect();
    let mut moves = moves
        .chunk_by(|one, other| one.commit == other.commit)
        .peekable();
    for change in &mut *changes {
        while let Some(moved) = moves.next_if(|moved| moved[0].commit < change.commit) {
            rename(&mut names, moved);
        }
        change.path = names[change.path as usize];
    }
    for moved in moves {
        rename(&mut names, moved);
    }
    // A branch that was merged after the move went on under the old name.
    for change in changes {
        if !today.contains(&change.path) {
            change.path = names[change.path as usize];
        }
    }
}

/// Applies all moves of one commit at once: it may swap two files.
fn rename(names: &mut [u32], moves: &[Move]) {
    let new: Vec<u32> = moves.iter().map(|moved| names[moved.to as usize]).collect();
    for (moved, new) in moves.iter().zip(new) {
        names[moved.from as usize] = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(changes: &[(u32, u32)], moves: &[(u32, u32, u32)], today: &[u32]) -> Vec<u32> {
        let mut changes: Vec<Change> = changes
            .iter()
            .map(|&(commit, path)| Change {
                commit,
                path,
                added: 1,
                deleted: 0,
            })
            .collect();
        let moves: Vec<Move> = moves
            .iter()
            .map(|&(commit, from, to)| Move { commit, from, to })
            .collect();
        follow(&mut changes, &moves, 4, &today.iter().copied().collect());
        changes.iter().map(|change| change.path).collect()
    }

    #[test]
    fn older_changes_get_the_new_name() {
        // 2 was 1 was 0; the commit of a move itself has the name that it gives.
        let moves = [(1, 1, 2), (3, 0, 1)];
        let changes = [(0, 2), (1, 2), (2, 1), (3, 1), (4, 0)];
        assert_eq!(followed(&changes, &moves, &[2]), [2, 2, 2, 2, 2]);
    }

    #[test]
    fn a_new_file_under_the_old_name_stays_apart() {
        let changes = [(0, 0), (1, 1), (2, 0)];
        assert_eq!(followed(&changes, &[(1, 0, 1)], &[0, 1]), [0, 1, 1]);
    }

    #[test]
    fn swaps_moves_back_and_late_branches_are_followed() {
        let swap = [(1, 0, 1), (1, 1, 0)];
        assert_eq!(followed(&[(2, 0), (2, 1)], &swap, &[0, 1]), [1, 0]);
        let back = [(1, 1, 0), (3, 0, 1)];
        assert_eq!(followed(&[(2, 1), (4, 0)], &back, &[0]), [0, 0]);
        assert_eq!(followed(&[(0, 0)], &[(1, 0, 1)], &[1]), [1]);
    }
}
