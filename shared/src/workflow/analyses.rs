//! The reports that planners have made, as they lie in the state folder.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::Context;
use crate::error::{Code, Error};

/// The largest report that is read.
const MOST_BYTES: u64 = 64 << 20;

/// A report that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnalysis {
    pub id: String,
    pub scope: String,
    pub depth: String,
    /// When it was made, in seconds since 1970.
    pub made: u64,
    pub bytes: u64,
}

/// Lists the stored reports, the newest first. A folder that can't be read holds none.
pub fn analyses(context: &Context) -> Vec<StoredAnalysis> {
    let entries = fs::read_dir(folder(context))
        .into_iter()
        .flatten()
        .flatten();
    let mut found: Vec<StoredAnalysis> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let meta = entry.metadata().ok()?;
            described(name.strip_suffix(".json")?, &meta)
        })
        .collect();
    found.sort_by(|one, other| (other.made, &other.id).cmp(&(one.made, &one.id)));
    found
}

/// Reads one report.
pub fn analysis(context: &Context, id: &str) -> Result<(StoredAnalysis, Value), Error> {
    let missing = || {
        Error::new(Code::AnalysisNotFound, "there is no such report")
            .hint("The newest 50 are kept; analyze_repository makes a new one.")
    };
    if !is_id(id) {
        return Err(missing());
    }
    let path = folder(context).join(format!("{id}.json"));
    let meta = fs::metadata(&path).map_err(|_| missing())?;
    let summary = described(id, &meta).ok_or_else(missing)?;
    if summary.bytes > MOST_BYTES {
        return Err(missing());
    }
    let text = fs::read(&path).map_err(|_| missing())?;
    let report = serde_json::from_slice(&text).map_err(|_| missing())?;
    Ok((summary, report))
}

fn folder(context: &Context) -> PathBuf {
    context.state_dir().join("analysis")
}

fn is_id(id: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !id.is_empty() && id.len() <= 100 && id.bytes().all(is_name)
}

/// Reads scope and depth out of the name: `codebase-deep-0123456789abcdef`.
fn described(id: &str, meta: &fs::Metadata) -> Option<StoredAnalysis> {
    let mut parts = id.splitn(3, '-');
    let (scope, depth) = (parts.next()?, parts.next()?);
    if !is_id(id) || !meta.is_file() {
        return None;
    }
    let made = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some(StoredAnalysis {
        id: id.to_owned(),
        scope: scope.to_owned(),
        depth: depth.to_owned(),
        made: made
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
        bytes: meta.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn only_names_of_reports_are_looked_for() {
        assert!(is_id("codebase-deep-0123456789abcdef"));
        for id in ["", "../codex", "a/b", "A", "a.json", "a\0"] {
            assert!(!is_id(id), "{id:?}");
        }
    }
}
