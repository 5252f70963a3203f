//! Hearing that the files of a database change: inotify on Linux, nothing elsewhere.

#[cfg(target_os = "linux")]
pub(super) use linux::FileEvents;
#[cfg(not(target_os = "linux"))]
pub(super) use silent::FileEvents;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

    /// Room for a few dozen events; more are read in the next round.
    const BUFFER: usize = 4096;

    /// The folder is watched, because the files in it come and go.
    #[derive(Debug)]
    pub(in crate::store) struct FileEvents {
        events: OwnedFd,
        /// What the names of the files begin with.
        name: OsString,
    }

    impl FileEvents {
        /// Begins to listen, or goes on where the folder of that name may be another one by now.
        ///
        /// None if the system has no more of what it takes: it may allow a user 128 of these.
        pub(in crate::store) fn of(database: &Path, known: Option<Self>) -> Option<Self> {
            let events = match known {
                Some(known) => known,
                None => Self {
                    events: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?,
                    name: database.file_name()?.to_owned(),
                },
            };
            let folder = match database.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                Some(_) | None => Path::new("."),
            };
            let wanted = WatchFlags::MODIFY
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO;
            inotify::add_watch(&events.events, folder, wanted).ok()?;
            Some(events)
        }

        /// Waits for something to be heard; false if the time was up first.
        pub(in crate::store) fn wait(&self, time: Duration) -> bool {
            let Ok(time) = time.try_into() else {
                return false;
            };
            let mut wanted = [PollFd::new(&self.events, PollFlags::IN)];
            poll(&mut wanted, Some(&time)).is_ok_and(|ready| ready > 0)
        }

        /// Takes what was heard so far; true if it was about the database.
        pub(in crate::store) fn take(&mut self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = inotify::Reader::new(&self.events, &mut buffer);
            let mut heard = false;
            while let Ok(event) = reader.next() {
                // An event without a name says that some were lost.
                heard |= event
                    .file_name()
                    .is_none_or(|name| name.to_bytes().starts_with(self.name.as_bytes()));
            }
            heard
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod silent {
    use std::path::Path;
    use std::time::Duration;

    #[derive(Debug)]
    pub(in crate::store) struct FileEvents;

    impl FileEvents {
        pub(in crate::store) fn of(_database: &Path, _known: Option<Self>) -> Option<Self> {
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
