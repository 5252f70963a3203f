//! One requirement as PEP 508 writes it.

use std::str::FromStr as _;

use pep440_rs::VersionSpecifiers;

use super::super::facts::Declared;
use super::super::names::normalised;
use crate::report::dependencies::Kind;

/// Longer requirements are not parsed.
const MAX_REQUIREMENT_LENGTH: usize = 2_000;

/// Parses `name[extras] specifiers ; marker` or `name @ address ; marker`.
///
/// Markers are kept as text: evaluating them costs what a hostile file chooses.
pub(super) fn parse(text: &str, kind: Kind, folder: &str) -> Option<Declared> {
    if text.len() > MAX_REQUIREMENT_LENGTH {
        return None;
    }
    let (text, marker) = split_marker(text.trim());
    let is_part = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let end = text
        .find(|character| !is_part(character))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let ends = |edge: Option<char>| edge.is_some_and(|edge| edge.is_ascii_alphanumeric());
    if !ends(name.chars().next()) || !ends(name.chars().next_back()) {
        return None;
    }
    let mut rest = rest.trim_start();
    let declared = Declared::new(&normalised(name), kind).condition(marker);
    if let Some(extras) = rest.strip_prefix('[') {
        let (_, after) = extras.split_once(']')?;
        rest = after.trim_start();
    }
    if let Some(address) = rest.strip_prefix('@') {
        return Some(at_address(declared, address.trim(), folder));
    }
    // Parentheses around the specifiers are allowed, and old.
    let rest = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(rest);
    let specifiers = VersionSpecifiers::from_str(rest).ok()?;
    Some(declared.requirement(Some(&specifiers.to_string())))
}

fn split_marker(text: &str) -> (&str, Option<&str>) {
    // In an address a semicolon only ends it after a space.
    let separator = if text.contains('@') { " ;" } else { ";" };
    match text.split_once(separator) {
        Some((head, marker)) => (head.trim(), Some(marker.trim())),
        None => (text, None),
    }
}

/// Parses an address.
pub(super) fn at_address(declared: Declared, address: &str, folder: &str) -> Declared {
    if let Some(rest) = address.strip_prefix("git+") {
        let bare = rest.split('#').next().unwrap_or_default();
        let (bare, reference) = match bare.rsplit_once('@') {
            // An at sign before the host belongs to the user, not to a reference.
            Some((bare, reference)) if !reference.contains('/') => (bare, Some(reference)),
            _ => (bare, None),
        };
        return declared.git(bare, reference, reference.is_some_and(looks_fixed));
    }
    if let Some(path) = address.strip_prefix("file:") {
        return declared.path(folder, path.trim_start_matches("//"));
    }
    if address.contains("://") {
        return declared.url(address);
    }
    declared.path(folder, address)
}

/// Returns whether a git reference looks like a commit or a version tag.
pub(super) fn looks_fixed(reference: &str) -> bool {
    let commit = reference.len() >= 7 && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits =
        reference.trim_start_matches(|first: char| first.is_ascii_alphabetic() || first == '-');
    commit || (digits.starts_with(|first: char| first.is_ascii_digit()) && reference.contains('.'))
}
