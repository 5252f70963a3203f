//! Mounts inside a folder: a share, a disk, another folder. They are not the folder's, and would be deleted with it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::paths::resolved;

/// Returns where something is mounted at a folder or below it, relative to it, as far as the system tells (Linux).
pub(super) fn mounts_in(folder: &Path) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let folder = resolved(folder);
    parse(&table)
        .filter_map(|place| place.strip_prefix(&folder).map(Path::to_owned).ok())
        .collect()
}

/// Reads the places in `/proc/self/mountinfo`: the fifth field, in which blanks and the like are octal.
fn parse(table: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    let places = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    places.map(|place| PathBuf::from(OsString::from_vec(unescaped(place))))
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let code = after.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_with_their_blanks() {
        let table =
            b"36 35 98:0 /mnt1 /mnt/two\\040words rw,noatime shared:1 - ext3 /dev/root rw\n\
            37 35 98:0 / /a\\134040b rw - ext3 /dev/root rw\n\nbroken line\n";
        let places: Vec<PathBuf> = parse(table).collect();
        assert_eq!(places, [Path::new("/mnt/two words"), Path::new("/a\\040b")]);
        let everywhere = mounts_in(Path::new("/"));
        assert!(everywhere.is_empty() || everywhere.contains(&PathBuf::new()));
        assert_eq!(
            mounts_in(tempfile::tempdir().unwrap().path()),
            [""; 0].map(PathBuf::from)
        );
    }
}
