//! The archive of complete reports in the state folder: lookup by id, pages, retention.

use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Depth, Scope, open};

/// How many reports are kept, the newest.
pub const MAX_REPORTS: usize = 50;

/// The largest report that is read whole.
const MAX_REPORT_SIZE: u64 = 64 << 20;

/// Bytes of one page: about as many tokens as an answer has.
const PAGE_SIZE: usize = 24_000;

/// The last line of a stored report: a checksum of what stands before it, so that a report that was changed is none.
const CHECKSUM_SIZE: usize = 17;

/// Entries of a report up to this many bytes stand on a line of their own.
const MAX_LINE: usize = 400;

/// What an interrupted write left behind is removed after this time.
const ABANDONED_WRITE_GRACE: Duration = Duration::from_hours(1);

/// The reports of all repositories of a user.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
    cache: PathBuf,
}

/// A report that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReport {
    pub id: String,
    pub scope: Scope,
    pub depth: Depth,
    pub made: SystemTime,
    pub bytes: u64,
}

/// A part of a report's text.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    pub text: String,
    /// Size of the whole report.
    pub total: u64,
    /// Where the next page begins.
    pub next: Option<u64>,
}

impl Archive {
    pub fn in_state(state_dir: &Path) -> Self {
        Self {
            folder: state_dir.join("analysis"),
            cache: state_dir.join("analysis-cache"),
        }
    }

    /// Returns the folder for what later analyses need not read again.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Returns a stored report; one that can't be read is one that isn't there.
    pub fn find<R: DeserializeOwned>(&self, id: &str) -> Option<R> {
        serde_json::from_slice(&self.text(id)?).ok()
    }

    /// Reads the text of a stored report if it is as it was stored.
    fn text(&self, id: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let size = open::read(&self.file(id), MAX_REPORT_SIZE, &mut bytes).ok()?;
        let (text, sum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM_SIZE)?)?;
        if !is_id(id) || size > MAX_REPORT_SIZE || sum != checksum(id, text).as_bytes() {
            return None;
        }
        bytes.truncate(bytes.len() - CHECKSUM_SIZE);
        Some(bytes)
    }

    /// Lists the stored reports, the newest first. A folder that can't be read holds none.
    pub fn list(&self) -> Vec<StoredReport> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<StoredReport> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                described(name.strip_suffix(".json")?, &entry.metadata().ok()?)
            })
            .collect();
        found.sort_by(|one, other| (other.made, &other.id).cmp(&(one.made, &one.id)));
        found
    }

    /// Reads one stored report as it is; none if there is no such report.
    pub fn read(&self, id: &str) -> Option<(StoredReport, Value)> {
        let report = serde_json::from_slice(&self.text(id)?).ok()?;
        let stored = described(id, &fs::symlink_metadata(self.file(id)).ok()?)?;
        Some((stored, report))
    }

    /// Stores a report, whole or not at all, and lets the oldest ones go.
    pub fn store(&self, id: &str, report: &impl Serialize) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let mut text = String::new();
        write_lines(&serde_json::to_value(report)?, 0, &mut text);
        text.push('\n');
        text.push_str(&checksum(id, text.as_bytes()));
        // Its mode is 0600 from the start.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(self.file(id))?;
        self.prune();
        Ok(())
    }

    /// Reads a page of a stored report; `None` if there is no such report or page.
    pub fn page(&self, id: &str, offset: u64) -> Option<Page> {
        let text = self.text(id)?;
        let total = text.len() as u64;
        let rest = text.get(usize::try_from(offset).ok()?..)?;
        let mut bytes = &rest[..rest.len().min(PAGE_SIZE)];
        if bytes.is_empty() {
            return None;
        }
        if bytes.len() < rest.len() {
            bytes = &bytes[..whole_lines(bytes)];
        }
        let end = offset + bytes.len() as u64;
        Some(Page {
            text: String::from_utf8_lossy(bytes).into_owned(),
            total,
            next: (end < total).then_some(end),
        })
    }

    /// Removes all but the newest reports. A failed removal is retried by the next write.
    fn prune(&self) {
        let mut reports: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let Some(changed) = entry.metadata().ok().and_then(|meta| meta.modified().ok()) else {
                continue;
            };
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                reports.push((changed, path));
            } else if changed
                .elapsed()
                .is_ok_and(|age| age > ABANDONED_WRITE_GRACE)
            {
                let _ = fs::remove_file(path);
            }
        }
        reports.sort_unstable_by(|one, other| other.cmp(one));
        for (_, path) in reports.iter().skip(MAX_REPORTS) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Sums up a report under its id, so that it does not pass for another one either.
fn checksum(id: &str, text: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    (id, text).hash(&mut hasher);
    format!("{:016x}\n", hasher.finish())
}

fn is_id(id: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !id.is_empty() && id.len() <= 100 && id.bytes().all(is_name)
}

/// Reads scope and depth out of the name: `codebase-deep-0123456789abcdef`.
fn described(id: &str, meta: &fs::Metadata) -> Option<StoredReport> {
    let mut parts = id.splitn(3, '-');
    let (scope, depth) = (parts.next()?.parse().ok()?, Depth::named(parts.next()?)?);
    if !is_id(id) || !meta.is_file() {
        return None;
    }
    Some(StoredReport {
        id: id.to_owned(),
        scope,
        depth,
        made: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        bytes: meta.len().saturating_sub(CHECKSUM_SIZE as u64),
    })
}

/// Returns the length of the lines that are complete, or of the characters if no line is.
fn whole_lines(bytes: &[u8]) -> usize {
    if let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') {
        return end + 1;
    }
    match std::str::from_utf8(bytes) {
        Err(error) if error.valid_up_to() > 0 => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

/// Writes JSON with one entry to a line, so that a page ends between two entries.
fn write_lines(value: &Value, level: usize, text: &mut String) {
    let compact = value.to_string();
    let (open, close, count) = match value {
        Value::Array(items) => ('[', ']', items.len()),
        Value::Object(fields) => ('{', '}', fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&compact);
            return;
        }
    };
    if compact.len() <= MAX_LINE {
        text.push_str(&compact);
        return;
    }
    text.push(open);
    let separate = |text: &mut String, number: usize| {
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        text.extend(std::iter::repeat_n(' ', level + 1));
    };
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                separate(text, number);
                write_lines(item, level + 1, text);
            }
        }
        Value::Object(fields) => {
            for (number, (name, field)) in fields.iter().enumerate() {
                separate(text, number);
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write_lines(field, level + 1, text);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    if count > 0 {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', level));
    }
    text.push(close);
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    fn archive() -> (tempfile::TempDir, Archive) {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::in_state(&folder.path().join("state"));
        (folder, archive)
    }

    #[test]
    fn pages_add_up_to_the_report() {
        let (_folder, archive) = archive();
        let long = "é".repeat(PAGE_SIZE);
        let items: Vec<Value> = (0..3_000)
            .map(|number| json!({"path": format!("src/é{number}.rs"), "lines": number}))
            .collect();
        let report = json!({"items": items, "long": long, "empty": [], "last": {"a": 1}});
        archive.store("codebase-deep-1", &report).unwrap();
        let (mut text, mut next, mut pages) = (String::new(), Some(0), 0);
        while let Some(offset) = next {
            let page = archive.page("codebase-deep-1", offset).unwrap();
            assert!(page.text.len() <= PAGE_SIZE);
            text.push_str(&page.text);
            next = page.next;
            pages += 1;
        }
        assert!(pages > 5, "{pages}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), report);
        assert_eq!(archive.find::<Value>("codebase-deep-1").unwrap(), report);
        assert_eq!(archive.page("codebase-deep-1", text.len() as u64), None);
    }

    #[test]
    fn reports_are_listed_by_scope_and_depth_the_newest_first() {
        let (folder, archive) = archive();
        assert_eq!(archive.list(), []);
        let old = "codebase-deep-0123456789abcdef";
        archive.store(old, &json!({ "a": 1 })).unwrap();
        let an_hour_ago = SystemTime::now() - Duration::from_hours(1);
        let file = File::options().write(true).open(archive.file(old)).unwrap();
        file.set_modified(an_hour_ago).unwrap();
        archive.store("issues-shallow-1", &json!({})).unwrap();
        for other in ["codebase-deeper-1", "notes", "issues"] {
            archive.store(other, &json!({})).unwrap();
        }
        fs::create_dir(folder.path().join("state/analysis/codebase-deep-2.json")).unwrap();
        let listed = archive.list();
        let named: Vec<_> = listed.iter().map(|it| (it.scope, it.depth)).collect();
        assert_eq!(
            named,
            [
                (Scope::Issues, Depth::Shallow),
                (Scope::Codebase, Depth::Deep)
            ]
        );
        let (stored, report) = archive.read(old).unwrap();
        assert_eq!((stored.id.as_str(), report), (old, json!({ "a": 1 })));
        for id in [
            "",
            "../codex",
            "a/b",
            "A",
            "a.json",
            "a\0",
            "codebase-deep-2",
        ] {
            assert_eq!(archive.read(id), None, "{id:?}");
        }
    }

    #[test]
    fn only_reports_are_read() {
        let (folder, archive) = archive();
        archive.store("a", &json!({})).unwrap();
        fs::write(folder.path().join("state/secret.json"), "{}").unwrap();
        for id in ["", "../secret", "A", "a.json", "missing"] {
            assert_eq!(archive.page(id, 0), None, "{id}");
        }
    }

    #[test]
    fn the_newest_are_kept_and_nobody_else_reads_them() {
        let (folder, archive) = archive();
        for number in 0..MAX_REPORTS + 3 {
            archive.store(&format!("r{number}"), &json!({})).unwrap();
            let age = Duration::from_secs(3_600 * (MAX_REPORTS + 3 - number) as u64);
            File::open(archive.file(&format!("r{number}")))
                .unwrap()
                .set_modified(SystemTime::now() - age)
                .unwrap();
        }
        archive.store("newest", &json!({})).unwrap();
        let place = folder.path().join("state/analysis");
        assert_eq!(fs::read_dir(&place).unwrap().count(), MAX_REPORTS);
        assert!(archive.find::<Value>("newest").is_some());
        assert!(archive.find::<Value>("r3").is_none());
        assert!(archive.find::<Value>("r4").is_some());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode(&place), mode(&archive.file("newest"))),
            (0o700, 0o600)
        );
    }
}
