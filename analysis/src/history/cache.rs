//! The cache of `numstat` by commit id, one file for each repository in the state folder.
//!
//! A commit never changes, so an entry is right for ever. The file is replaced as a whole: a reader sees the old or
//! the new one, and of two writers the later one adds what the file has by then. A file that is damaged is no cache.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Change;
use crate::Budget;
use crate::git;
use crate::open;

/// Raise it when the same commit would give other numbers.
const HEAD: &[u8; 16] = b"numstat cache 1\n";

/// Largest file; the oldest commits are left out of a larger one.
const MAX_FILE: usize = 64 << 20;

/// How much all files may take; those that were written longest ago go first.
const MAX_FOLDER: u64 = 256 << 20;

/// What an interrupted write left behind is removed after this time.
const ABANDONED_WRITE_GRACE: Duration = Duration::from_hours(1);

/// The cache of one repository.
pub(super) struct Cache {
    folder: PathBuf,
    file: PathBuf,
}

/// A file changed by a commit, as the cache keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: u32,
    pub(super) added: u32,
    pub(super) deleted: u32,
    /// The path before a rename.
    pub(super) from: Option<u32>,
}

/// What is known of many commits.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) paths: Vec<Vec<u8>>,
    /// Ids in the order in which they are to be kept.
    order: Vec<String>,
    /// Where the changes of each commit are.
    places: HashMap<String, (usize, usize)>,
    changes: Vec<Entry>,
}

impl Entries {
    pub(super) fn of(&self, id: &str) -> Option<&[Entry]> {
        let (start, end) = *self.places.get(id)?;
        self.changes.get(start..end)
    }

    /// Adds a commit; `from` holds the former names of the paths that it renamed.
    pub(super) fn add(&mut self, id: &str, changes: &[Change], from: &HashMap<u32, u32>) {
        self.append(
            id.to_owned(),
            changes.iter().map(|change| Entry {
                path: change.path,
                added: change.added,
                deleted: change.deleted,
                from: from.get(&change.path).copied(),
            }),
        );
    }

    fn append(&mut self, id: String, changes: impl Iterator<Item = Entry>) {
        let start = self.changes.len();
        self.changes.extend(changes);
        self.places.insert(id.clone(), (start, self.changes.len()));
        self.order.push(id);
    }
}

impl Cache {
    /// Finds the cache of the repository, which all its worktrees share.
    pub(super) fn of(root: &Path, budget: &Budget) -> Option<Self> {
        let folder = budget.cache.as_deref()?;
        let arguments = [
            "rev-parse",
            "--path-format=absolute",
            "--git-common-dir",
            "--show-prefix",
        ];
        let place = git::output(root, &arguments, budget).ok()?;
        let mut hasher = DefaultHasher::new();
        place.hash(&mut hasher);
        Some(Self {
            folder: folder.to_owned(),
            file: folder.join(format!("{:016x}.numstat", hasher.finish())),
        })
    }

    /// Reads the file; one that is missing or damaged holds nothing.
    pub(super) fn load(&self) -> Entries {
        let mut bytes = Vec::new();
        match open::read(&self.file, MAX_FILE as u64, &mut bytes) {
            Ok(size) if size <= MAX_FILE as u64 => decode(&bytes).unwrap_or_default(),
            Ok(_) | Err(_) => Entries::default(),
        }
    }

    /// Stores the entries and, behind them, what else was in the file.
    pub(super) fn store(&self, entries: &Entries, loaded: &Entries) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        // Another process may have stored more since.
        let present = self.load();
        let bytes = encode(&[entries, &present, loaded]);
        // Its mode is 0600 from the start.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&bytes)?;
        file.persist(&self.file)?;
        self.prune();
        Ok(())
    }

    /// Removes the files that were written longest ago. A failed removal is retried by the next write.
    fn prune(&self) {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "numstat") {
                files.push((written, metadata.len(), path));
            } else if written
                .elapsed()
                .is_ok_and(|age| age > ABANDONED_WRITE_GRACE)
            {
                let _ = fs::remove_file(path);
            }
        }
        files.sort_unstable_by(|one, other| other.cmp(one));
        let mut sum = 0;
        for (_, size, path) in files {
            sum += size;
            if sum > MAX_FOLDER {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Writes the commits of all lists; the first list that has a commit counts.
fn encode(lists: &[&Entries]) -> Vec<u8> {
    let mut numbers: HashMap<&[u8], u64> = HashMap::new();
    let mut paths = Vec::new();
    let mut commits = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    'all: for list in lists {
        for id in &list.order {
            if !seen.insert(id) {
                continue;
            }
            if paths.len() + commits.len() > MAX_FILE - (8 << 20) {
                break 'all;
            }
            let changes = list.of(id).unwrap_or_default();
            put_bytes(&mut commits, id.as_bytes());
            put(&mut commits, changes.len() as u64);
            for change in changes {
                let mut number = |path: u32| {
                    let path = list.paths[path as usize].as_slice();
                    let next = numbers.len() as u64;
                    *numbers.entry(path).or_insert_with(|| {
                        put_bytes(&mut paths, path);
                        next
                    })
                };
                let (path, from) = (number(change.path), change.from.map(&mut number));
                put(&mut commits, path);
                put(&mut commits, from.map_or(0, |from| from + 1));
                put(&mut commits, u64::from(change.added));
                put(&mut commits, u64::from(change.deleted));
            }
        }
    }
    let mut body = Vec::with_capacity(paths.len() + commits.len() + 32);
    put(&mut body, numbers.len() as u64);
    body.append(&mut paths);
    body.append(&mut commits);
    let mut bytes = HEAD.to_vec();
    bytes.extend_from_slice(&checksum(&body).to_le_bytes());
    bytes.append(&mut body);
    bytes
}

fn checksum(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}

fn decode(bytes: &[u8]) -> Option<Entries> {
    let (sum, body) = bytes.strip_prefix(HEAD)?.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*sum) != checksum(body) {
        return None;
    }
    let mut rest = body;
    let mut entries = Entries::default();
    for _ in 0..take(&mut rest)? {
        entries.paths.push(take_bytes(&mut rest)?.to_owned());
    }
    let paths = entries.paths.len() as u64;
    let path = |number: u64| {
        (number < paths)
            .then(|| u32::try_from(number).ok())
            .flatten()
    };
    while !rest.is_empty() {
        let id = String::from_utf8(take_bytes(&mut rest)?.to_owned()).ok()?;
        let start = entries.changes.len();
        for _ in 0..take(&mut rest)? {
            let (to, from) = (take(&mut rest)?, take(&mut rest)?);
            entries.changes.push(Entry {
                path: path(to)?,
                from: match from.checked_sub(1) {
                    Some(from) => Some(path(from)?),
                    None => None,
                },
                added: u32::try_from(take(&mut rest)?).ok()?,
                deleted: u32::try_from(take(&mut rest)?).ok()?,
            });
        }
        let place = (start, entries.changes.len());
        entries.places.insert(id.clone(), place);
        entries.order.push(id);
    }
    Some(entries)
}

/// Writes a number, seven bits in each byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn put_bytes(bytes: &mut Vec<u8>, part: &[u8]) {
    put(bytes, part.len() as u64);
    bytes.extend_from_slice(part);
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(bytes)?).ok()?;
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn sample(commits: u32) -> Entries {
        let mut entries = Entries {
            paths: vec![b"a.rs".to_vec(), b"\xff\n".to_vec()],
            ..Entries::default()
        };
        for number in 0..commits {
            let entry = Entry {
                path: number % 2,
                added: number,
                deleted: u32::MAX,
                from: (number == 1).then_some(0),
            };
            entries.append(format!("{number:040x}"), std::iter::once(entry));
        }
        entries
    }

    fn cache(folder: &Path) -> Cache {
        Cache {
            folder: folder.to_owned(),
            file: folder.join("1.numstat"),
        }
    }

    #[test]
    fn what_was_stored_is_loaded_and_merged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder.path().join("new"));
        assert!(cache.load().order.is_empty());
        cache.store(&sample(3), &Entries::default()).unwrap();
        let mut other = Entries {
            paths: vec![b"b.rs".to_vec()],
            ..Entries::default()
        };
        let entry = Entry {
            path: 0,
            added: 1,
            deleted: 2,
            from: None,
        };
        other.append("f".repeat(40), std::iter::once(entry));
        cache.store(&other, &Entries::default()).unwrap();
        let loaded = cache.load();
        assert_eq!(loaded.order.len(), 4);
        let first = loaded.of(&format!("{:040x}", 1)).unwrap()[0];
        assert_eq!((first.added, first.deleted), (1, u32::MAX));
        assert_eq!(loaded.paths[first.path as usize], b"\xff\n");
        assert_eq!(loaded.paths[first.from.unwrap() as usize], b"a.rs");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&cache.folder), mode(&cache.file)), (0o700, 0o600));
    }

    #[test]
    fn a_damaged_file_is_no_cache() {
        let whole = encode(&[&sample(20)]);
        assert_eq!(decode(&whole).unwrap().order.len(), 20);
        for cut in 0..whole.len() {
            assert!(decode(&whole[..cut]).is_none(), "{cut}");
        }
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x41;
            assert!(decode(&damaged).is_none(), "{place}");
        }
    }

    /// A file with a right checksum may still hold anything.
    #[test]
    fn nonsense_is_refused() {
        let with_sum = |body: &[u8]| {
            let mut bytes = HEAD.to_vec();
            bytes.extend_from_slice(&checksum(body).to_le_bytes());
            bytes.extend_from_slice(body);
            bytes
        };
        for body in [
            &[0xff; 11][..],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            &[1, 0xff, 0xff, 0x7f],
            &[1, 1, b'a', 1, b'x', 1, 1, 0, 0, 0],
            &[1, 1, b'a', 1, b'x', 1, 0, 2, 0, 0],
            &[1, 1, b'a', 1, b'x', 200, 200, 200, 200, 100],
            &[0, 1, 0xff, 0],
        ] {
            assert!(decode(&with_sum(body)).is_none(), "{body:?}");
        }
        assert!(decode(&with_sum(&[1, 1, b'a', 1, b'x', 1, 0, 1, 3, 4])).is_some());
    }

    #[test]
    fn the_folder_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        for number in 2..8 {
            let file = fs::File::create(folder.path().join(format!("{number}.numstat"))).unwrap();
            file.set_len(60 << 20).unwrap();
            let age = Duration::from_hours(number);
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        cache.store(&sample(1), &Entries::default()).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [
                "1.numstat",
                "2.numstat",
                "3.numstat",
                "4.numstat",
                "5.numstat"
            ]
        );
    }
}
