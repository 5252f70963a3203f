//! Go: `go.mod`, which is also what locks the versions; `go.sum` holds checksums of more than is built.

use super::facts::{Declared, LockFacts, LockedFacts, ManifestFacts, ParseError, Reader};
use crate::AnalysisError;
use crate::report::dependencies::{Ecosystem, Kind, Origin};

/// Reads all module files of Go.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    let first = reader.manifests.len();
    for path in reader.files(&["go.mod"]) {
        reader.manifest(&path, manifest)?;
    }
    let locks: Vec<LockFacts> = reader.manifests[first..].iter().map(lock).collect();
    for lock in locks {
        reader.keep(lock);
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
                facts.tools.push((*name).to_owned());
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

/// Parses `old [version] => new [version]`.
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

/// Returns the versions that a module is built with: those that it requires, since Go 1.17 all.
fn lock(manifest: &ManifestFacts) -> LockFacts {
    let mut facts = LockFacts::new(&manifest.path, Ecosystem::Go);
    let from_elsewhere = manifest
        .declared
        .iter()
        .filter(|each| each.origin == Origin::Registry);
    facts.packages = from_elsewhere
        .filter_map(|each| {
            // A module that replaces it is built in its place.
            let replaced = each
                .location
                .as_deref()
                .and_then(|place| place.split_once(' '));
            let (name, version) =
                replaced.or_else(|| Some((&*each.name, each.requirement.as_deref()?)))?;
            Some(LockedFacts::new(name, version, each.origin))
        })
        .collect();
    facts
}
