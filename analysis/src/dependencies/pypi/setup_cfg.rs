//! `setup.cfg`, the part that declares dependencies.

use super::super::facts::{ManifestFacts, ParseError};
use super::requirement;
use crate::report::dependencies::{Ecosystem, Kind};

/// Parses `setup.cfg`: sections, keys, and values that continue on indented lines.
#[expect(
    clippy::unnecessary_wraps,
    reason = "all manifest parsers have one signature"
)]
pub(in super::super) fn manifest(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let mut facts = ManifestFacts::new(path, Ecosystem::Pypi);
    let (mut name, mut version, mut licence) = (None, None, None);
    let mut section = "";
    let mut key = "";
    for (number, line) in (1..).zip(text.lines()) {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = bare
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            && !line.starts_with(char::is_whitespace)
        {
            (section, key) = (header.trim(), "");
            continue;
        }
        let value = if line.starts_with(char::is_whitespace) {
            bare
        } else {
            let Some((new_key, value)) = bare.split_once(['=', ':']) else {
                continue;
            };
            key = new_key.trim();
            value.trim()
        };
        if value.is_empty() {
            continue;
        }
        let (kind, condition) = match (section, key) {
            ("metadata", "name") => {
                name = Some(value);
                continue;
            }
            ("metadata", "version") => {
                version = Some(value);
                continue;
            }
            ("metadata", "license") => {
                licence = Some(value);
                continue;
            }
            ("options", "install_requires") => (Kind::Normal, None),
            ("options", "setup_requires") => (Kind::Build, None),
            ("options", "tests_require") => (Kind::Dev, None),
            ("options.extras_require", extra) => (Kind::Optional, Some(format!("extra {extra}"))),
            _ => continue,
        };
        for text in value.split('\n') {
            if let Some(declared) = requirement::parse(text, kind, facts.folder()) {
                let condition = condition.clone().or_else(|| declared.condition.clone());
                facts
                    .declared
                    .push(declared.condition(condition.as_deref()).line(number));
            }
        }
    }
    facts.about(name, version, licence);
    Ok(facts)
}
