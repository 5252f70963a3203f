//! Opens files that others may replace at any time: follows no link, blocks on no pipe, reads no endless file.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Returns whether something is a regular file of at most `limit` bytes that can be opened.
#[cfg(feature = "engine")]
pub(crate) fn is_readable(path: &Path, limit: u64) -> bool {
    open(path).is_ok_and(|(_, size)| size <= limit)
}

/// Appends the content of a regular file of at most `limit` bytes; returns its size, whether it was read or not.
pub(crate) fn read(path: &Path, limit: u64, content: &mut Vec<u8>) -> io::Result<u64> {
    let (file, size) = open(path)?;
    if size <= limit {
        let end = content.len() + usize::try_from(size).unwrap_or(0);
        content.reserve(end - content.len());
        // Bytes appended meanwhile are not read.
        while content.len() < end {
            match rustix::io::read(&file, spare_capacity(content)) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(size)
}

/// Opens a regular file; returns its size, too. It may have been replaced by a link or a pipe since it was found.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((file, metadata.len()))
}
