//! Lists the commits, newest first, and picks out those that only add or delete many files.

use std::collections::HashMap;
use std::path::Path;

use super::Commit;
use crate::Control;
use crate::git::{self, GitFailure, Stream};
use crate::paths::printable;
use crate::text::shortened;

/// A commit with at least so many files, all added or deleted, is a bulk commit.
const BULK: usize = 32;

/// A file that a bulk commit adds or deletes.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    pub(super) path: Vec<u8>,
    pub(super) blob: String,
    pub(super) is_added: bool,
    /// A submodule has no blob; git counts it as one line.
    pub(super) is_submodule: bool,
}

/// The commits of a repository.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) commits: Vec<Commit>,
    /// Ids of the commits; none for a merge, which changes nothing by itself.
    pub(super) ids: Vec<Option<String>>,
    pub(super) authors: Vec<String>,
    /// Bulk commits by number, with all their files.
    pub(super) bulk: Vec<(u32, Vec<Whole>)>,
    pub(super) cut: Option<String>,
}

struct Reader {
    listed: Listed,
    author_numbers: HashMap<Vec<u8>, u32>,
    /// Files of the present commit as long as it may be a bulk commit.
    files: Option<Vec<Whole>>,
    /// What the record before said about the path to come.
    awaiting: Option<Whole>,
    most: usize,
}

/// Lists at most so many commits.
pub(super) fn list(root: &Path, most: usize, control: &Control) -> Result<Listed, GitFailure> {
    let most_argument = format!("--max-count={most}");
    let command = git::command(
        root,
        &[
            "-c",
            "log.showRoot=true",
            "log",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--no-diff-merges",
            "--relative",
            "--use-mailmap",
            "--no-show-signature",
            "--format=%x01%H%x09%at%x09%p%x09%aE%x09%aN",
            &most_argument,
            "HEAD",
            "--",
        ],
    );
    let mut stream = Stream::start(command, None)?;
    let mut reader = Reader {
        listed: Listed::default(),
        author_numbers: HashMap::new(),
        files: None,
        awaiting: None,
        most,
    };
    let mut buffer = Vec::with_capacity(1 << 17);
    while stream.read(&mut buffer, control)? {
        let mut start = 0;
        for end in memchr::memchr_iter(0, &buffer) {
            reader.record(&buffer[start..end])?;
            start = end + 1;
        }
        buffer.drain(..start);
    }
    stream.finish()?;
    reader.end_commit();
    Ok(reader.listed)
}

impl Reader {
    fn record(&mut self, record: &[u8]) -> Result<(), GitFailure> {
        if let Some(mut file) = self.awaiting.take() {
            if let Some(files) = &mut self.files {
                file.path = record.to_vec();
                files.push(file);
            }
            return Ok(());
        }
        let record = record.strip_prefix(b"\n").unwrap_or(record);
        if let Some(header) = record.strip_prefix(b"\x01") {
            self.end_commit();
            self.header(header)
        } else if let Some(raw) = record.strip_prefix(b":") {
            self.raw(raw)
        } else if record.is_empty() {
            Ok(())
        } else {
            Err(GitFailure::Unexpected)
        }
    }

    fn header(&mut self, header: &[u8]) -> Result<(), GitFailure> {
        let mut fields = header.splitn(5, |&byte| byte == b'\t');
        let (Some(id), Some(time), Some(parents), Some(mail), Some(name)) = (
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
        ) else {
            return Err(GitFailure::Unexpected);
        };
        let next = u32::try_from(self.author_numbers.len()).map_err(|_| GitFailure::Unexpected)?;
        let author = *self
            .author_numbers
            .entry(mail.to_ascii_lowercase())
            .or_insert(next);
        if author == next {
            let shown = printable(if name.is_empty() { mail } else { name });
            self.listed.authors.push(shortened(&shown, 80));
        }
        let time = std::str::from_utf8(time)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        self.listed.commits.push(Commit { author, time });
        let is_merge = parents.contains(&b' ');
        self.listed
            .ids
            .push((!is_merge).then(|| String::from_utf8_lossy(id).into_owned()));
        if self.listed.ids.len() == self.most {
            self.listed.cut = Some(format!("only the newest {} commits were read", self.most));
        }
        self.files = Some(Vec::new());
        Ok(())
    }

    /// Reads `mode mode blob blob status`; the path comes as the next record.
    fn raw(&mut self, raw: &[u8]) -> Result<(), GitFailure> {
        let text = std::str::from_utf8(raw).map_err(|_| GitFailure::Unexpected)?;
        let fields: Vec<&str> = text.split(' ').collect();
        let &[old_mode, new_mode, old, new, status] = fields.as_slice() else {
            return Err(GitFailure::Unexpected);
        };
        let is_added = status == "A";
        if !is_added && status != "D" {
            self.files = None;
        }
        let (mode, blob) = if is_added {
            (new_mode, new)
        } else {
            (old_mode, old)
        };
        self.awaiting = Some(Whole {
            path: Vec::new(),
            blob: if self.files.is_some() {
                blob.to_owned()
            } else {
                String::new()
            },
            is_added,
            is_submodule: mode == "160000",
        });
        Ok(())
    }

    fn end_commit(&mut self) {
        if let Some(files) = self.files.take().filter(|files| files.len() >= BULK)
            && let Some(number) = self.listed.ids.len().checked_sub(1)
            && let Ok(number) = u32::try_from(number)
        {
            self.listed.bulk.push((number, files));
        }
    }
}
