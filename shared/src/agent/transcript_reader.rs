//! Incremental transcript reader: reads each byte once, and never on an async thread.
//!
//! A transcript grows to 100 MB and more, and a delivery asks about it many times a second.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memmem::Finder;
use serde_json::Value;
use uuid::Uuid;

use super::error::AgentError;
use super::transcript::{MessagePresence, judge, path, times_in, transcripts_beside};
use super::transcript_ends::{End, TranscriptEnds};

/// Searches that are remembered. An agent has one undelivered message at a time; a search that was
/// forgotten begins anew.
const MAX_REMEMBERED: usize = 64;
const BUFFER_BYTES: usize = 256 * 1024;

/// Looks for messages in transcripts; clones share what they remember.
#[derive(Debug, Clone, Default)]
pub struct TranscriptReader {
    searches: Arc<Mutex<HashMap<Key, Search>>>,
}

type Key = (PathBuf, String);

/// How far one search has come.
#[derive(Debug, Clone, Default)]
struct Search {
    /// Up to where the transcript was read.
    read: End,
    found: MessagePresence,
}

impl TranscriptReader {
    /// Looks for a message, by a text that only it has.
    ///
    /// Only what somebody said to the model counts, not what a tool printed or the model repeated.
    pub async fn find(
        &self,
        config: PathBuf,
        cwd: PathBuf,
        session: Uuid,
        needle: String,
    ) -> Result<MessagePresence, AgentError> {
        let reader = self.clone();
        let looking = tokio::task::spawn_blocking(move || {
            reader.find_now(&path(&config, &cwd, session), &needle)
        });
        match looking.await {
            Ok(found) => found,
            Err(failure) => match failure.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Ok(MessagePresence::No),
            },
        }
    }

    /// Lets the search for a message begin where transcripts ended before it was handed over, unless it has begun.
    pub fn begin_at(&self, ends: &TranscriptEnds, needle: &str) {
        let mut searches = self.lock();
        for (path, end) in &ends.0 {
            searches
                .entry((path.clone(), needle.to_owned()))
                .or_insert_with(|| Search {
                    read: end.clone(),
                    found: MessagePresence::No,
                });
        }
    }

    /// Tells whether a message was taken in the conversation of this transcript, or in one that was left for it.
    pub fn was_taken_here_or_before(&self, path: &Path, needle: &str) -> Result<bool, AgentError> {
        let before = transcripts_beside(path);
        for path in std::iter::once(path).chain(before.iter().map(PathBuf::as_path)) {
            if self.find_now(path, needle)? == MessagePresence::Taken {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Like [`TranscriptReader::find`] for a file, on the calling thread.
    pub fn find_now(&self, path: &Path, needle: &str) -> Result<MessagePresence, AgentError> {
        let key = (path.to_owned(), needle.to_owned());
        let mut search = self.lock().remove(&key).unwrap_or_default();
        let found = search
            .go_on(path, needle)
            .map_err(|source| AgentError::Read {
                path: path.to_owned(),
                source,
            })?;
        if found != MessagePresence::Taken {
            let mut searches = self.lock();
            if searches.len() >= MAX_REMEMBERED {
                searches.clear();
            }
            searches.insert(key, search);
        }
        Ok(found)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Search>> {
        self.searches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts how often each message came into the conversations of some transcripts. What a person or a summary quotes does
/// not count: it does not begin with the message's own first line. What another transcript has taken over (`/branch`,
/// `--fork-session`) counts once.
pub fn times_taken(paths: &[PathBuf], messages: &[String]) -> Result<Vec<usize>, AgentError> {
    let mut counts = vec![0; messages.len()];
    let mut seen = HashSet::new();
    for path in paths {
        let found = taken_in(path, messages).map_err(|source| AgentError::Read {
            path: path.to_owned(),
            source,
        })?;
        let is_copy = |record: &Record| seen.contains(record);
        let new: Vec<Record> = found.into_iter().filter(|one| !is_copy(one)).collect();
        for record in &new {
            counts[record.message] += record.times;
        }
        seen.extend(new);
    }
    Ok(counts)
}

/// A record that brings a message into a conversation.
#[derive(PartialEq, Eq, Hash)]
struct Record {
    message: usize,
    times: usize,
    /// When it was written, which a copy keeps.
    written: String,
}

fn taken_in(path: &Path, messages: &[String]) -> std::io::Result<Vec<Record>> {
    let ours = Finder::new("[claude-codex ");
    let mut found = Vec::new();
    for (number, line) in BufReader::with_capacity(BUFFER_BYTES, File::open(path)?)
        .split(b'\n')
        .enumerate()
    {
        let line = line?;
        if ours.find(&line).is_none() {
            continue;
        }
        let Ok(record) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        // One without a time is never a copy.
        let written = record["timestamp"]
            .as_str()
            .map_or_else(|| format!("{}:{number}", path.display()), str::to_owned);
        for (message, name) in messages.iter().enumerate() {
            let times = times_in(&record, name);
            if times > 0 {
                found.push(Record {
                    message,
                    times,
                    written: written.clone(),
                });
            }
        }
    }
    Ok(found)
}

impl Search {
    fn go_on(&mut self, path: &Path, needle: &str) -> std::io::Result<MessagePresence> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(source) if source.kind() == ErrorKind::NotFound => {
                *self = Self::default();
                return Ok(MessagePresence::No);
            }
            Err(source) => return Err(source),
        };
        let metadata = file.metadata()?;
        let opened = (metadata.dev(), metadata.ino());
        if opened != self.read.file || !self.read.continues_in(&file, metadata.len())? {
            *self = Self::default();
            self.read.file = opened;
        }
        file.seek(SeekFrom::Start(self.read.offset))?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let escaped = Value::from(needle).to_string();
        let finder = Finder::new(escaped.trim_matches('"'));
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                return Ok(self.found);
            }
            // Most lines are about something else: parse only those that can matter.
            let said = finder
                .find(&line)
                .and_then(|_| serde_json::from_slice::<Value>(&line).ok())
                .and_then(|record| judge(&record, needle));
            // The last line may be half written; the next look reads it again.
            if line.last() != Some(&b'\n') {
                return Ok(said.unwrap_or(self.found));
            }
            self.read.pass(&line);
            match said {
                Some(MessagePresence::Taken) => return Ok(MessagePresence::Taken),
                Some(other) => self.found = other,
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const ENQUEUED: &str =
        "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"[m1]\"}\n";
    const TAKEN: &str = "{\"type\":\"user\",\"message\":{\"content\":\"[m1]\"}}\n";
    const OTHER: &str = "{\"type\":\"user\",\"message\":{\"content\":\"something else\"}}\n";

    struct Transcript {
        folder: tempfile::TempDir,
        reader: TranscriptReader,
    }

    impl Transcript {
        fn new() -> Self {
            Self {
                folder: tempfile::tempdir().unwrap(),
                reader: TranscriptReader::default(),
            }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("t.jsonl")
        }

        fn add(&self, text: &str) {
            let mut file = File::options()
                .append(true)
                .create(true)
                .open(self.path())
                .unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn look(&self) -> MessagePresence {
            self.reader.find_now(&self.path(), "[m1]").unwrap()
        }

        fn offset(&self) -> u64 {
            let key = (self.path(), "[m1]".to_owned());
            self.reader.lock()[&key].read.offset
        }
    }

    #[test]
    fn only_what_is_new_is_read_and_half_a_line_is_read_again() {
        let transcript = Transcript::new();
        assert_eq!(transcript.look(), MessagePresence::No);
        transcript.add(ENQUEUED);
        assert_eq!(transcript.look(), MessagePresence::Queued);
        assert_eq!(transcript.offset(), ENQUEUED.len() as u64);
        transcript.add(OTHER);
        assert_eq!(
            transcript.look(),
            MessagePresence::Queued,
            "remembered, not found again"
        );
        let whole = transcript.offset();
        // The id itself is split between two writes.
        let (first, second) = TAKEN.split_at(TAKEN.find("m1").unwrap() + 1);
        transcript.add(first);
        assert_eq!(transcript.look(), MessagePresence::Queued);
        assert_eq!(transcript.offset(), whole);
        transcript.add(second);
        assert_eq!(transcript.look(), MessagePresence::Taken);
        assert_eq!(transcript.look(), MessagePresence::Taken, "asked again");
    }

    #[test]
    fn a_transcript_that_was_cut_replaced_or_written_anew_is_read_from_its_beginning() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 3] = [
            ("cut", |path| std::fs::write(path, TAKEN).unwrap()),
            ("replaced", |path| {
                let new = path.with_extension("new");
                std::fs::write(&new, format!("{TAKEN}{}", OTHER.repeat(9))).unwrap();
                std::fs::rename(new, path).unwrap();
            }),
            ("written anew", |path| {
                std::fs::write(path, format!("{TAKEN}{}", "{}\n".repeat(900))).unwrap();
            }),
        ];
        for (name, change) in changes {
            let transcript = Transcript::new();
            transcript.add(&OTHER.repeat(5));
            assert_eq!(transcript.look(), MessagePresence::No, "{name}");
            change(&transcript.path());
            assert_eq!(transcript.look(), MessagePresence::Taken, "{name}");
        }
    }

    #[test]
    fn a_message_counts_once_in_all_transcripts_of_its_agent() {
        let folder = tempfile::tempdir().unwrap();
        let said = |at: &str, text: &str| {
            let said = serde_json::json!({ "type": "user", "timestamp": at, "message": { "content": text } });
            format!("{said}\n")
        };
        let paths = ["before", "now", "branch"].map(|name| folder.path().join(name));
        let names = ["m-1", "m-2", "m-3"].map(str::to_owned);
        let (first, second) = (
            said("10:00", "[claude-codex m-1] One"),
            said("10:05", "[claude-codex m-2] Two"),
        );
        std::fs::write(&paths[0], &first).unwrap();
        std::fs::write(&paths[1], &second).unwrap();
        // A branch begins with what was said before it.
        std::fs::write(&paths[2], format!("{first}{second}")).unwrap();
        assert_eq!(times_taken(&paths, &names).unwrap(), [1, 1, 0]);
        let again = said("10:09", "[claude-codex m-1] One");
        std::fs::write(&paths[1], format!("{second}{again}")).unwrap();
        assert_eq!(times_taken(&paths, &names).unwrap(), [2, 1, 0]);
    }

    #[test]
    fn what_stood_in_a_transcript_that_is_gone_is_forgotten() {
        let transcript = Transcript::new();
        transcript.add(ENQUEUED);
        assert_eq!(transcript.look(), MessagePresence::Queued);
        std::fs::remove_file(transcript.path()).unwrap();
        assert_eq!(transcript.look(), MessagePresence::No);
        transcript.add(OTHER);
        assert_eq!(transcript.look(), MessagePresence::No);
    }
}
