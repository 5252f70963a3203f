//! `yarn.lock`, of yarn 1 and of the later ones.

use std::collections::HashMap;

use super::super::facts::{LockFacts, LockedFacts, ParseError};
use super::origin_of;
use crate::report::dependencies::{Ecosystem, Origin};

/// Parses a lock file of yarn.
pub(in super::super) fn lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let file = yarn_lock_parser::parse_str(text).map_err(|_| ParseError::Yarn)?;
    let mut facts = LockFacts::new(path, Ecosystem::Npm);
    let mut chosen: HashMap<(&str, &str), &str> = HashMap::new();
    for entry in &file.entries {
        for (name, range) in &entry.descriptors {
            if let Some(folder) = range.strip_prefix("workspace:") {
                facts.members.insert(
                    folder
                        .trim_start_matches('.')
                        .trim_start_matches('/')
                        .to_owned(),
                );
            }
            chosen.insert((name, plain(range)), entry.version);
        }
    }
    for entry in &file.entries {
        let of_workspace = entry
            .descriptors
            .iter()
            .any(|(_, range)| range.starts_with("workspace:"));
        let origin = if of_workspace {
            Origin::Workspace
        } else {
            origin_of(entry.resolved)
        };
        let renamed = entry
            .descriptors
            .iter()
            .find_map(|(_, range)| renamed(range));
        let name = renamed.unwrap_or(entry.name);
        let mut locked = LockedFacts::new(name, entry.version, origin);
        for (name, range) in entry
            .dependencies
            .iter()
            .chain(&entry.optional_dependencies)
        {
            let version = chosen
                .get(&(*name, plain(range)))
                .map(|&version| version.to_owned());
            locked.needs.push(((*name).to_owned(), version));
        }
        facts.packages.push(locked);
    }
    for ((name, range), version) in chosen {
        facts
            .pins
            .insert(format!("{name}@{range}"), version.to_owned());
    }
    Ok(facts)
}

/// Returns a range without the protocol that later yarns put before it.
fn plain(range: &str) -> &str {
    range.strip_prefix("npm:").unwrap_or(range)
}

/// Returns the package that a range names itself: `npm:original@^3`.
fn renamed(range: &str) -> Option<&str> {
    let alias = range.strip_prefix("npm:")?;
    let at = alias.rfind('@').filter(|&at| at > 0)?;
    Some(&alias[..at])
}
