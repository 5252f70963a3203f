//! Composer: `composer.json` and `composer.lock`.

use serde_json::Value;

use super::facts::{Declared, LockFacts, LockedFacts, ManifestFacts, ParseError, Reader};
use super::json_keys::Keys;
use crate::AnalysisError;
use crate::report::dependencies::{Ecosystem, Kind, Origin};
use crate::text::harmless;

/// Reads all manifests and lock files of Composer.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    for path in reader.files(&["composer.json"]) {
        reader.manifest(&path, manifest)?;
    }
    for path in reader.files(&["composer.lock"]) {
        reader.lock(&path, lock)?;
    }
    Ok(())
}

/// Parses `composer.json`.
pub(super) fn manifest(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let document: Value = serde_json::from_str(text)?;
    if !document.is_object() {
        return Err(ParseError::Shape { expected: "object" });
    }
    let mut facts = ManifestFacts::new(path, Ecosystem::Composer);
    let text_of = |key| document.get(key).and_then(Value::as_str);
    let licence = licence(document.get("license"));
    facts.about(text_of("name"), text_of("version"), licence.as_deref());
    let keys = Keys::of(text);
    for (section, kind) in [("require", Kind::Normal), ("require-dev", Kind::Dev)] {
        let start = keys.offset(section, 0).unwrap_or(0);
        for (name, range) in document
            .get(section)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            // What has no vendor is the platform: php itself and its extensions.
            if !name.contains('/') {
                continue;
            }
            let mut declared = Declared::new(name, kind).requirement(range.as_str());
            declared.line = keys.line(name, start);
            facts.declared.push(declared);
        }
    }
    Ok(facts)
}

/// Parses `composer.lock`.
pub(super) fn lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let document: Value = serde_json::from_str(text)?;
    let mut facts = LockFacts::new(path, Ecosystem::Composer);
    for section in ["packages", "packages-dev"] {
        for package in document
            .get(section)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let text_of = |key| package.get(key).and_then(Value::as_str);
            let (Some(name), Some(version)) = (text_of("name"), text_of("version")) else {
                continue;
            };
            let is_path = package.pointer("/dist/type").and_then(Value::as_str) == Some("path");
            let origin = if is_path {
                Origin::Path
            } else {
                Origin::Registry
            };
            let mut locked = LockedFacts::new(name, version, origin);
            locked.licence = licence(package.get("license"));
            let needs = package.get("require").and_then(Value::as_object);
            locked.needs = needs
                .into_iter()
                .flatten()
                .map(|(name, _)| (name.clone(), None))
                .collect();
            facts.packages.push(locked);
        }
    }
    Ok(facts)
}

/// One licence, or a list of which any may be chosen.
fn licence(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let joined = match value.as_array() {
        Some(list) => list
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" OR "),
        None => value.as_str()?.to_owned(),
    };
    (!joined.is_empty()).then(|| harmless(&joined, 120))
}
