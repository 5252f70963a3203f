//! Go: `go.mod` and `go.sum`.

use std::collections::BTreeMap;

use super::facts::{Declared, LockFacts, LockedFacts, ManifestFacts, ParseError, Reader};
use crate::AnalysisError;
use crate::report::dependencies::{Ecosystem, Kind, Origin};

/// Reads all module files of Go.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    for path in reader.files(&["go.mod"]) {
        reader.manifest(&path, manifest)?;
    }
    for path in reader.files(&["go.sum"]) {
        reader.lock(&path, |path, text| Ok(sum(path, text)))?;
    }
    Ok(())
}

/// Parses `go.mod`: directives on one line or in a block.
pub(super) fn manifest(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let mut facts = ManifestFacts::new(path, Ecosystem::Go);
    let mut replaced: Vec<(String, Declared)> = Vec::new();
    let mut block: Option<&str> = None;
    let mut has_module = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let mut words: Vec<&str> = code.split_whitespace().collect();
        let directive = match block {
            Some(_) if words == [")"] => {
                block = None;
                continue;
            }
            Some(directive) => directive,
            None => {
                let Some(&directive) = words.first() else {
                    continue;
                };
                words.remove(0);
                if words == ["("] {
                    block = Some(directive);
                    continue;
                }
                directive
            }
        };
        let words: Vec<&str> = words
            .iter()
            .map(|word| word.trim_matches(['"', '`']))
            .collect();
        match (directive, words.as_slice()) {
            ("module", [name, ..]) => {
                has_module = true;
                facts.about(Some(name), None, None);
            }
            ("require", [name, version, ..]) => {
                let indirect = comment.trim_start().starts_with("indirect");
                let kind = if indirect {
                    Kind::Indirect
                } else {
                    Kind::Normal
                };
                let declared = Declared::new(name, kind).requirement(Some(version));
                facts.declared.push(declared.line(number));
            }
            ("tool", [name]) => {
                facts.mentions.push_str(name);
                facts.mentions.push('\n');
            }
            ("replace", rest) => replaced.extend(replacement(facts.folder(), rest, number)),
            _ => {}
        }
    }
    if !has_module {
        return Err(ParseError::Shape {
            expected: "line with `module`",
        });
    }
    for (name, replacement) in replaced {
        for declared in facts.declared.iter_mut().filter(|each| each.name == name) {
            declared.origin = replacement.origin;
            declared.location.clone_from(&replacement.location);
            declared.fixed = replacement.fixed;
            declared.condition.clone_from(&replacement.condition);
        }
    }
    Ok(facts)
}

/// Understands `old [version] => new [version]`.
fn replacement(folder: &str, words: &[&str], line: u32) -> Option<(String, Declared)> {
    let arrow = words.iter().position(|word| *word == "=>")?;
    let (old, new) = (words.first()?, words.get(arrow + 1)?);
    let declared =
        Declared::new(old, Kind::Normal).condition(Some(&format!("replaced in line {line}")));
    let is_path = new.starts_with("./") || new.starts_with("../") || new.starts_with('/');
    let declared = if is_path {
        declared.path(folder, new)
    } else {
        // Another module at a version: as fixed as the first, from another place.
        let mut declared = declared;
        let version = words.get(arrow + 2).copied().unwrap_or_default();
        declared.location = Some(crate::text::harmless(&format!("{new} {version}"), 160));
        declared
    };
    Some(((*old).to_owned(), declared))
}

/// Parses `go.sum`; of several versions of a module the build takes the highest.
pub(super) fn sum(path: &str, text: &str) -> LockFacts {
    let mut highest: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else {
            continue;
        };
        // A module of which only the go.mod was needed is not part of the build.
        if version.ends_with("/go.mod") {
            continue;
        }
        let known = highest.entry(name).or_insert(version);
        if order(version) > order(known) {
            *known = version;
        }
    }
    let mut facts = LockFacts::new(path, Ecosystem::Go);
    facts.packages = highest
        .into_iter()
        .map(|(name, version)| LockedFacts::new(name, version, Origin::Registry))
        .collect();
    facts
}

fn order(version: &str) -> Option<semver::Version> {
    semver::Version::parse(version.trim_start_matches('v')).ok()
}
