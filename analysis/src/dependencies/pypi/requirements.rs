//! `requirements*.txt` with the files they include.

use std::collections::BTreeSet;

use super::super::facts::{Declared, ManifestFacts, ParseError, Reader};
use super::{is_constraints, is_requirements, requirement};
use crate::paths::{folder_of, joined, name_of};
use crate::report::dependencies::{Ecosystem, Kind};
use crate::{AnalysisError, Incomplete};

/// Reads the requirement files that their names give away, and what they include.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    let named: Vec<String> = reader
        .files_where(|name| matches!(name.rsplit_once('.'), Some((_, "txt" | "in"))))
        .into_iter()
        .filter(|path| is_requirements(path))
        .collect();
    // Each file is read once, so that circular includes end.
    let mut seen: BTreeSet<String> = named.iter().cloned().collect();
    let mut waiting: Vec<(String, bool)> = named.into_iter().map(|path| (path, false)).collect();
    while let Some((path, included)) = waiting.pop() {
        let first = reader.manifests.len();
        let mut found = Parsed::default();
        reader.manifest(&path, |path, text| {
            let (facts, rest) = parse(path, text);
            found = rest;
            Ok::<_, ParseError>(facts)
        })?;
        let Some(facts) = reader.manifests.get(first) else {
            continue;
        };
        // A page about requirements is prose, with hardly a line that pip could read.
        let readable = facts.declared.len() + facts.offered.len();
        if !included && found.unreadable * 2 > readable {
            reader.manifests.truncate(first);
            continue;
        }
        for include in found.includes {
            let target = joined(folder_of(&path), &include);
            match target.filter(|target| reader.listing.has(target)) {
                Some(target) if seen.insert(target.clone()) => waiting.push((target, true)),
                Some(_) => {}
                None if include.contains("://") => {
                    let why = "it includes an address, which is not read";
                    reader.incomplete.push(Incomplete::new(&path, why));
                }
                None => {
                    let why = format!("it includes {include}, which is no file of the repository");
                    reader.incomplete.push(Incomplete::new(&path, &why));
                }
            }
        }
        if found.unreadable > 0 {
            let why = format!(
                "{} lines are no requirements as PEP 508 has them",
                found.unreadable
            );
            reader.incomplete.push(Incomplete::new(&path, &why));
        }
    }
    Ok(())
}

/// What a requirements file holds besides requirements.
#[derive(Default)]
pub(in super::super) struct Parsed {
    pub(in super::super) includes: Vec<String>,
    pub(in super::super) unreadable: usize,
}

/// Parses a requirements file.
pub(in super::super) fn parse(path: &str, text: &str) -> (ManifestFacts, Parsed) {
    let mut facts = ManifestFacts::new(path, Ecosystem::Pypi);
    let mut parsed = Parsed::default();
    let kind = kind_of(path);
    let bounds = is_constraints(path);
    let mut line_number = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        line_number += 1;
        let first_line = line_number;
        let mut whole = line.to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            let Some(next) = lines.next() else { break };
            line_number += 1;
            whole.push_str(next);
        }
        let whole = without_comment(&whole).trim();
        if whole.is_empty() {
            continue;
        }
        if let Some(include) =
            option(whole, "-r", "--requirement").or_else(|| option(whole, "-c", "--constraint"))
        {
            parsed.includes.push(include.to_owned());
            continue;
        }
        let editable = option(whole, "-e", "--editable");
        if editable.is_none() && whole.starts_with('-') {
            // An item of a list in prose, not an option.
            parsed.unreadable += usize::from(whole.starts_with("- ") || whole.starts_with("---"));
            continue;
        }
        let declared = if let Some(address) = editable {
            editable_dependency(address, kind, facts.folder())
        } else {
            let bare = whole.split(" --").next().unwrap_or(whole);
            requirement::parse(bare, kind, facts.folder())
                .or_else(|| unnamed(bare, kind, facts.folder()))
        };
        match declared {
            Some(declared) if bounds => facts.offered.push(declared.line(first_line)),
            Some(declared) => facts.declared.push(declared.line(first_line)),
            None => parsed.unreadable += 1,
        }
    }
    (facts, parsed)
}

fn option<'a>(line: &'a str, short: &str, long: &str) -> Option<&'a str> {
    let rest = line
        .strip_prefix(long)
        .or_else(|| line.strip_prefix(short))?;
    let value = rest.trim_start_matches([' ', '=', '\t']);
    (!value.is_empty()).then_some(value.trim())
}

/// A comment starts a line or follows a space; in an address `#` is a fragment.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").map_or(line, |at| &line[..at])
}

fn editable_dependency(address: &str, kind: Kind, folder: &str) -> Option<Declared> {
    requirement::parse(address, kind, folder)
        .filter(|_| address.contains(" @ "))
        .or_else(|| unnamed(address, kind, folder).or_else(|| Some(local(address, kind, folder))))
}

/// An address or path without a name; the fragment `egg=name` may tell it.
fn unnamed(address: &str, kind: Kind, folder: &str) -> Option<Declared> {
    let is_path = address.starts_with('.') || address.starts_with('/');
    if is_path {
        return Some(local(address, kind, folder));
    }
    if !address.contains("://") {
        return None;
    }
    let egg = address
        .split_once("egg=")
        .map(|(_, rest)| rest.split(['&', '[', ' ']).next().unwrap_or(rest));
    let bare = address.split(['#', ' ']).next().unwrap_or(address);
    let guess = name_of(bare.trim_end_matches('/'))
        .split('@')
        .next()
        .unwrap_or_default();
    let name = egg.unwrap_or_else(|| guess.trim_end_matches(".git"));
    Some(requirement::at_address(
        Declared::new(name, kind),
        bare,
        folder,
    ))
}

fn local(path: &str, kind: Kind, folder: &str) -> Declared {
    let bare = path.split('[').next().unwrap_or(path);
    let name = joined(folder, bare).filter(|path| !path.is_empty());
    Declared::new(name.as_deref().map_or("(this package)", name_of), kind).path(folder, bare)
}

/// Judges by the name of the file, and of the folders around it, what its requirements are for.
fn kind_of(path: &str) -> Kind {
    let lower = path.to_ascii_lowercase();
    let stem = name_of(&lower);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    if is_for_development(stem) || is_for_development(folder_of(&lower)) {
        return Kind::Dev;
    }
    let name = words(stem);
    if name.contains(&"build") {
        return Kind::Build;
    }
    // Whoever installs the product installs these; what other files are for is not known.
    let mut rest = name.iter().filter(|word| **word != "requirements");
    if rest.all(|word| PRODUCT.contains(word)) {
        Kind::Normal
    } else {
        Kind::Optional
    }
}

/// Returns whether a name of a file, folder or group speaks of the work on the product.
pub(super) fn is_for_development(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    words(&lower).iter().any(|word| DEVELOPMENT.contains(word))
}

fn words(text: &str) -> Vec<&str> {
    text.split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Words in names of files and folders whose requirements are for those who work on the product.
const DEVELOPMENT: [&str; 25] = [
    "dev",
    "develop",
    "development",
    "test",
    "tests",
    "testing",
    "tox",
    "lint",
    "linting",
    "docs",
    "doc",
    "documentation",
    "ci",
    "github",
    "typing",
    "types",
    "mypy",
    "tools",
    "tooling",
    "scripts",
    "benchmark",
    "benchmarks",
    "coverage",
    "release",
    "style",
];

/// Words in names of files with what the product needs itself.
const PRODUCT: [&str; 13] = [
    "base",
    "common",
    "core",
    "default",
    "install",
    "lock",
    "locked",
    "main",
    "pinned",
    "prod",
    "production",
    "run",
    "runtime",
];
