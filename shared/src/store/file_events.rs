//! File events: inotify on Linux, nothing elsewhere.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is listened to.
#[derive(Debug)]
pub(super) struct Watched {
    path: PathBuf,
    /// Of a folder, only files whose names begin so count.
    prefix: Option<OsString>,
}

impl Watched {
    /// The files of a database: their folder is watched, because they come and go.
    pub(super) fn database(path: &Path) -> Self {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        Self {
            path: folder.to_owned(),
            prefix: path.file_name().map(ToOwned::to_owned),
        }
    }

    /// One file, and nothing else in its folder.
    pub(super) fn file(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            prefix: None,
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::FileEvents;
#[cfg(not(target_os = "linux"))]
pub(super) use silent::FileEvents;

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

    use super::Watched;

    /// Room for a few dozen events; more are read in the next round.
    const BUFFER: usize = 4096;

    #[derive(Debug)]
    pub(in crate::store) struct FileEvents {
        events: OwnedFd,
        watched: Watched,
    }

    impl FileEvents {
        /// Begins to listen, or goes on where the file or folder of that name may be another one by now.
        ///
        /// None if the system has no more of what it takes: it may allow a user 128 of these.
        pub(in crate::store) fn of(watched: Watched, known: Option<Self>) -> Option<Self> {
            let events = match known {
                Some(known) => known.events,
                None => inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?,
            };
            let wanted = WatchFlags::MODIFY
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO;
            inotify::add_watch(&events, &watched.path, wanted).ok()?;
            Some(Self { events, watched })
        }

        /// Waits for something to be watched; false if the time was up first.
        pub(in crate::store) fn wait(&self, time: Duration) -> bool {
            let Ok(time) = time.try_into() else {
                return false;
            };
            let mut wanted = [PollFd::new(&self.events, PollFlags::IN)];
            poll(&mut wanted, Some(&time)).is_ok_and(|ready| ready > 0)
        }

        /// Takes what was watched so far; true if it was about what is listened to.
        pub(in crate::store) fn take(&mut self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = inotify::Reader::new(&self.events, &mut buffer);
            let mut watched = false;
            while let Ok(event) = reader.next() {
                // An event without a name is about the file itself, or says that some were lost.
                watched |= event
                    .file_name()
                    .zip(self.watched.prefix.as_ref())
                    .is_none_or(|(name, prefix)| name.to_bytes().starts_with(prefix.as_bytes()));
            }
            watched
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod silent {
    use std::time::Duration;

    use super::Watched;

    #[derive(Debug)]
    pub(in crate::store) struct FileEvents;

    impl FileEvents {
        pub(in crate::store) fn of(_watched: Watched, _known: Option<Self>) -> Option<Self> {
            None
        }

        pub(in crate::store) fn wait(&self, time: Duration) -> bool {
            std::thread::sleep(time);
            false
        }

        pub(in crate::store) fn take(&mut self) -> bool {
            false
        }
    }
}
