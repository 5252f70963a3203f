//! What git prints is read back as it was meant, and whatever else comes is an error at worst.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A path with anything in it that a file system takes.
fn path() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[ -~]{1,20}".prop_map(String::into_bytes),
        "[\\PC\t\n\"\\\\]{1,20}".prop_map(String::into_bytes),
        vec(1_u8..=255, 1..20),
    ]
}

fn oid() -> impl Strategy<Value = String> {
    "[1-9a-f][0-9a-f]{39}"
}

/// Pieces of what git prints, in any order: far more likely to get deep into a parser than random bytes.
fn almost_git() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[0-9a-f]{40}".prop_map(String::into_bytes),
        "(1|2|u|\\?|#|R100|M|A|-|\\+1|\\*|!|=) ?".prop_map(String::into_bytes),
        "(# branch\\.(oid|head|upstream|ab)|worktree|HEAD|branch|locked|bare) ?"
            .prop_map(String::into_bytes),
        "(\\.M|R\\.|UU) N\\.\\.\\. 100644 100644 100644 ".prop_map(String::into_bytes),
        Just(b"\0".to_vec()),
        Just(b"\t".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\xff".to_vec()),
        "[0-9]{1,25}".prop_map(String::into_bytes),
    ];
    vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn read_everything(output: &[u8]) {
    if let Ok(status) = parse_status(output, 3) {
        assert!(status.entries.len() <= 3 && status.entries.len() <= status.total);
        assert!(status.untracked <= status.total);
    }
    for line_end in [0, b'\n'] {
        let _ = parse_worktrees(output, line_end);
    }
    parse_push(output, "a:b");
    if let Ok(stat) = parse_numstat(output) {
        let added = stat.files.iter().map(|file| file.added);
        assert_eq!(stat.added, added.fold(0, u64::saturating_add));
    }
    let _ = parse_name_status(output);
    for commit in parse_log(output).unwrap_or_default() {
        assert!(!commit.subject.chars().any(char::is_control));
    }
}

#[test]
fn changed_output_is_read_or_refused() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/git-porcelain");
    corpus_fuzz::fuzz(Path::new(corpus), read_everything);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        read_everything(&bytes);
    }

    #[test]
    fn almost_right_output_is_read_or_refused(output in almost_git()) {
        read_everything(&output);
    }

    #[test]
    fn every_path_of_a_status_is_kept(files in vec((0_u8..4, path(), path()), 0..8), id in oid()) {
        let mut output = format!("# branch.oid {id}\0# branch.head main\0").into_bytes();
        for (kind, path, original) in &files {
            let fields = format!("100644 100644 100644 {id} {id} ");
            match kind {
                0 => output.extend(b"? "),
                1 => output.extend(format!("1 .M N... {fields}").bytes()),
                2 => output.extend(format!("2 R. N... {fields}R100 ").bytes()),
                _ => output.extend(format!("u UU N... 100644 {fields}{id} ").bytes()),
            }
            output.extend(path);
            output.push(0);
            if *kind == 2 {
                output.extend(original);
                output.push(0);
            }
        }
        let status = parse_status(&output, usize::MAX).unwrap();
        prop_assert_eq!(status.total, files.len());
        prop_assert_eq!(status.untracked, files.iter().filter(|file| file.0 == 0).count());
        for (entry, (kind, path, original)) in status.entries.iter().zip(&files) {
            prop_assert_eq!(entry.path.as_os_str().as_bytes(), path);
            let from = entry.original.as_ref().map(|path| path.as_os_str().as_bytes());
            prop_assert_eq!(from, (*kind == 2).then_some(original.as_slice()));
        }
    }

    #[test]
    fn every_path_of_a_diff_is_kept(files in vec((any::<u32>(), path(), prop::option::of(path())), 0..8)) {
        let (mut numbers, mut names) = (Vec::new(), Vec::new());
        for (added, path, original) in &files {
            numbers.extend(format!("{added}\t0\t").bytes());
            if let Some(original) = original {
                numbers.extend([b"\0", original.as_slice(), b"\0", path, b"\0"].concat());
                names.extend([b"R100\0", original.as_slice(), b"\0", path, b"\0"].concat());
            } else {
                numbers.extend([path.as_slice(), b"\0"].concat());
                names.extend([b"M\0", path.as_slice(), b"\0"].concat());
            }
        }
        let stat = parse_numstat(&numbers).unwrap();
        let changed = parse_name_status(&names).unwrap();
        prop_assert_eq!((stat.files.len(), changed.len()), (files.len(), files.len()));
        for ((stat, changed), (added, path, original)) in stat.files.iter().zip(&changed).zip(&files) {
            prop_assert_eq!(stat.added, u64::from(*added));
            prop_assert_eq!(stat.path.as_os_str().as_bytes(), path);
            prop_assert_eq!(changed.path.as_os_str().as_bytes(), path);
            prop_assert_eq!(&stat.renamed_from, &changed.original);
            prop_assert_eq!(stat.renamed_from.is_some(), original.is_some());
        }
    }

    #[test]
    fn every_worktree_is_kept(trees in vec((path(), oid(), "[a-z/]{1,20}", prop::option::of("[ -~]{0,20}")), 0..6)) {
        let mut output = Vec::new();
        for (path, id, branch, locked) in &trees {
            output.extend([b"worktree ", path.as_slice()].concat());
            output.extend(format!("\0HEAD {id}\0branch refs/heads/{branch}\0").bytes());
            if let Some(reason) = locked {
                output.extend(format!("locked {reason}\0").bytes());
            }
            output.push(0);
        }
        let read = parse_worktrees(&output, 0).unwrap();
        prop_assert_eq!(read.len(), trees.len());
        for (read, (path, id, branch, locked)) in read.iter().zip(&trees) {
            prop_assert_eq!(read.path.as_os_str().as_bytes(), path);
            prop_assert_eq!(read.head.as_ref().map(Oid::as_str), Some(id.as_str()));
            prop_assert_eq!(read.branch.as_ref(), Some(branch));
            prop_assert_eq!(&read.locked, locked);
        }
    }

    #[test]
    fn every_commit_is_kept_without_what_a_terminal_obeys(
        commits in vec((oid(), "[^\0]{0,20}", any::<i64>(), "[^\0]{0,40}"), 0..6)
    ) {
        let line = |(id, author, time, subject): &(String, String, i64, String)| {
            format!("{id}\0{author}\0{time}\0{subject}\0")
        };
        let output: String = commits.iter().map(line).collect();
        let read = parse_log(output.as_bytes()).unwrap();
        prop_assert_eq!(read.len(), commits.len());
        for (read, (id, _, time, subject)) in read.iter().zip(&commits) {
            prop_assert_eq!((read.oid.as_str(), read.time), (id.as_str(), *time));
            let visible = crate::model::hidden::drop_hidden_in_line(subject);
            prop_assert_eq!(&read.subject, &visible);
        }
    }
}
