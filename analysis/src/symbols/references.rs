//! References: in how many files an identifier occurs, by hash and family of languages.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};

/// Parts of the table with a lock each, so that threads seldom wait for each other.
const SHARDS: usize = 64;

/// Identifiers taken from one file; a file with more is a table.
const MAX_OF_FILE: usize = 20_000;

/// Counts of files by identifier.
pub(super) struct References {
    shards: Vec<Mutex<HashMap<u64, u32>>>,
}

impl References {
    pub(super) fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// Adds a file: each identifier of its text counts once.
    pub(super) fn add(&self, family: &str, text: &[u8]) {
        let mut seen: HashSet<u64> = HashSet::new();
        for word in identifiers(text) {
            if seen.len() >= MAX_OF_FILE {
                break;
            }
            seen.insert(key(family, word));
        }
        let mut keys: Vec<u64> = seen.into_iter().collect();
        keys.sort_unstable_by_key(|key| shard_of(*key));
        for same in keys.chunk_by(|one, other| shard_of(*one) == shard_of(*other)) {
            let Some(shard) = self.shards.get(shard_of(same[0])) else {
                continue;
            };
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            for key in same {
                *shard.entry(*key).or_default() += 1;
            }
        }
    }

    /// Returns in how many of the files an identifier occurs.
    pub(super) fn of(&self, family: &str, name: &str) -> u32 {
        // `Type::method` and `schema.table`: the last part is what others write.
        let last = name.rsplit([':', '.']).next().unwrap_or(name);
        let key = key(family, last.as_bytes());
        let Some(shard) = self.shards.get(shard_of(key)) else {
            return 0;
        };
        let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        shard.get(&key).copied().unwrap_or(0)
    }
}

fn shard_of(key: u64) -> usize {
    usize::try_from(key % SHARDS as u64).unwrap_or(0)
}

fn key(family: &str, word: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (family, word).hash(&mut hasher);
    hasher.finish()
}

/// Languages that call each other's definitions by name.
pub(super) fn family_of(language: &str) -> &str {
    match language {
        "TypeScript" | "TSX" | "JavaScript" | "JSX" | "Vue" | "Svelte" => "JavaScript",
        "C" | "C Header" | "C++" | "C++ Header" => "C",
        "Java" | "Kotlin" | "Scala" => "Java",
        other => other,
    }
}

/// Splits code at everything that is not part of an identifier.
fn identifiers(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte > 127;
    text.split(move |byte| !is_part(byte))
        .filter(|word| word.len() > 2 && !word[0].is_ascii_digit())
}
