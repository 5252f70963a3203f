//! Time-boxed fuzzing from a corpus, for what reads text from outside.
//!
//! Every file of the corpus is tried as it is; then with small changes, until the time is up: `FUZZ_MILLISECONDS`
//! for each test, a fifth of a second if it isn't set. What fails is made as small as possible and printed; it
//! belongs into the corpus, so that it is tried first from then on.

#![expect(
    clippy::panic,
    reason = "a failed check fails the test that asked for it"
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// Cases between two looks at the clock.
const BATCH: u32 = 64;
const LONGEST: usize = 64 << 10;

/// Pieces that mean something to one reader or another.
const PIECES: &[&str] = &[
    "\0",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "/",
    "//",
    "..",
    "@",
    "#",
    "=",
    "-",
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\ud800",
    "\\u0000",
    "\u{1b}[201~",
    "\u{202e}",
    "\u{feff}",
    "\u{fffd}",
    "é",
    "漢",
    "🦀",
    "%00",
    "://",
    "git@",
    ".git",
    "file:",
    "$(",
    "`",
    "!",
];

/// One small change.
#[derive(Debug, Clone)]
enum Change {
    Put(Index, &'static str),
    Byte(Index, u8),
    Drop(Index, Index),
    Repeat(Index, Index),
    /// The rest comes from another file of the corpus.
    Cross(Index, Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), prop::sample::select(PIECES))
            .prop_map(|(at, piece)| Change::Put(at, piece)),
        any::<(Index, u8)>().prop_map(|(at, byte)| Change::Byte(at, byte)),
        any::<(Index, Index)>().prop_map(|(from, to)| Change::Drop(from, to)),
        any::<(Index, Index)>().prop_map(|(from, to)| Change::Repeat(from, to)),
        any::<(Index, Index, Index)>().prop_map(|(at, file, from)| Change::Cross(at, file, from)),
    ]
}

fn apply(change: &Change, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let spot = |index: &Index, length: usize| index.index(length + 1);
    let length = input.len();
    match change {
        Change::Put(at, piece) => {
            let at = spot(at, length);
            input.splice(at..at, piece.bytes());
        }
        Change::Byte(at, byte) => {
            if let Some(old) = input.get_mut(spot(at, length)) {
                *old = *byte;
            }
        }
        Change::Drop(one, other) | Change::Repeat(one, other) => {
            let (one, other) = (spot(one, length), spot(other, length));
            let range = one.min(other)..one.max(other);
            if matches!(change, Change::Drop(..)) {
                input.drain(range);
            } else {
                let copy = input[range.clone()].to_vec();
                input.splice(range.start..range.start, copy);
            }
        }
        Change::Cross(at, file, from) => {
            let other = file.get(corpus);
            input.truncate(spot(at, length));
            input.extend_from_slice(&other[spot(from, other.len())..]);
        }
    }
    input.truncate(LONGEST);
}

fn time() -> Duration {
    let set = std::env::var("FUZZ_MILLISECONDS");
    let milliseconds = set.ok().and_then(|text| text.parse().ok());
    Duration::from_millis(milliseconds.unwrap_or(200))
}

/// Where the changes begin: always the same, so that a test that fails does so again, unless `FUZZ_SEED` says otherwise.
fn seed() -> u32 {
    let set = std::env::var("FUZZ_SEED");
    set.ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn random(seed: u32, batch: u32) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&seed.to_le_bytes());
    bytes[4..8].copy_from_slice(&batch.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// Tries every file of a folder, then changed ones; a check that panics fails the test that calls this.
pub fn fuzz(folder: &Path, check: impl Fn(&[u8])) {
    let mut corpus: Vec<Vec<u8>> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| fs::read(entry.ok()?.path()).ok())
        .collect();
    // Folders list their files in any order; a failure should come again.
    corpus.sort();
    assert!(!corpus.is_empty(), "{} is empty", folder.display());
    for input in &corpus {
        check(input);
    }
    let deadline = Instant::now() + time();
    let seed = seed();
    let mut tried = 0;
    while Instant::now() < deadline {
        let strategy = (any::<Index>(), vec(change(), 1..6)).prop_map(|(file, changes)| {
            let mut input = file.get(&corpus).clone();
            for change in &changes {
                apply(change, &mut input, &corpus);
            }
            input
        });
        let config = ProptestConfig {
            cases: BATCH,
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let mut runner = TestRunner::new_with_rng(config, random(seed, tried));
        let outcome = runner.run(&strategy, |input| {
            check(&input);
            Ok::<(), TestCaseError>(())
        });
        if let Err(TestError::Fail(reason, input)) = outcome {
            panic!(
                "{reason}\nput this into {}: {}\n(FUZZ_SEED={seed})",
                folder.display(),
                input.escape_ascii()
            );
        }
        tried += BATCH;
    }
    assert!(tried > 0, "there was no time to try anything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_small_change_breaks_is_found() {
        let folder = std::env::temp_dir().join(format!("corpus-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("one"), "harmless").unwrap();
        fs::write(folder.join("two"), "text").unwrap();
        let found = std::panic::catch_unwind(|| {
            fuzz(&folder, |input| assert!(!input.contains(&b'\\')));
        });
        fs::remove_dir_all(&folder).unwrap();
        let said = found.unwrap_err();
        let said = said.downcast_ref::<String>().unwrap();
        assert!(said.contains("put this into"), "{said}");
    }
}
