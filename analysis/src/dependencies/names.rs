//! Normalises package names, so that two spellings of one package compare equal.

use crate::report::dependencies::Ecosystem;

/// Returns the form of a name by which an ecosystem compares names.
pub(super) fn key_of(ecosystem: Ecosystem, name: &str) -> String {
    match ecosystem {
        Ecosystem::Pypi => normalised(name),
        Ecosystem::Nuget | Ecosystem::Composer => name.to_ascii_lowercase(),
        Ecosystem::Cargo
        | Ecosystem::Npm
        | Ecosystem::Go
        | Ecosystem::Maven
        | Ecosystem::Gradle
        | Ecosystem::Bundler => name.to_owned(),
    }
}

/// Returns the name under which the index knows a distribution (PEP 503).
pub(super) fn normalised(name: &str) -> String {
    let mut result = String::with_capacity(name.len());
    for part in name.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        if !result.is_empty() {
            result.push('-');
        }
        result.push_str(&part.to_ascii_lowercase());
    }
    result
}

/// Returns the name without a major version in the path, by which Go tells versions apart.
pub(super) fn family_of(ecosystem: Ecosystem, name: &str) -> &str {
    if ecosystem != Ecosystem::Go {
        return name;
    }
    let is_major =
        |text: &str| text.len() > 1 && text[1..].bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once(['/', '.']) {
        Some((family, major)) if major.starts_with('v') && is_major(major) => family,
        _ => name,
    }
}
