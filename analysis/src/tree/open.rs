//! Opens files of a tree that may change at the same time: follows no link, blocks on no pipe.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Appends the content of a regular file of at most `limit` bytes; returns its size, whether it was read or not.
pub(crate) fn read(path: &Path, limit: u64, content: &mut Vec<u8>) -> io::Result<u64> {
    // The file may have been replaced by a link or a pipe since the walk.
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
