//! Opening files of a tree that may change under our eyes.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Appends the content of a regular file of at most `limit` bytes; returns its size, whether it was read or not.
pub(crate) fn read(path: &Path, limit: u64, content: &mut Vec<u8>) -> io::Result<u64> {
    // The file may have been swapped for a link or a pipe since the walk saw it.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let size = metadata.len();
    if size <= limit {
        content.reserve(usize::try_from(size).unwrap_or(0) + 1);
        // The bound holds even when the file grows while it is read.
        file.take(limit).read_to_end(content)?;
    }
    Ok(size)
}
