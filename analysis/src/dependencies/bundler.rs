//! Bundler: `Gemfile`, gem specifications and `Gemfile.lock`.
//!
//! The first two are Ruby programs; their common forms are read, line by line.

use std::sync::LazyLock;

use regex::Regex;

use super::facts::{Declared, LockFacts, LockedFacts, ManifestFacts, ParseError, Reader};
use crate::AnalysisError;
use crate::report::dependencies::{Ecosystem, Kind, Origin};

static GEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^\s*gem[ \t(]+["']([^"']+)["']\s*(.*)$"#).ok());

static SPEC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^\s*\w+\.add_(runtime_|development_)?dependency[ \t(]+["']([^"']+)["']\s*(.*)$"#)
        .ok()
});

static ABOUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^\s*\w+\.(name|version|license)\s*=\s*["']([^"']+)["']"#).ok());

static OPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?::?(git|github|path|ref|tag|branch|group|groups|require)(?:["'])?\s*(?:=>|:))\s*(\[[^\]]*\]|:\w+|["'][^"']*["']|\w+)"#).ok()
});

static TEXT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"["']([^"']+)["']"#).ok());

/// Reads all manifests and lock files of Bundler.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    for path in reader.files(&["Gemfile", "gems.rb"]) {
        reader.manifest(&path, |path, text| Ok(gemfile(path, text)))?;
    }
    for path in reader.files_where(|name| name.ends_with(".gemspec")) {
        reader.manifest(&path, |path, text| Ok(gemspec(path, text)))?;
    }
    for path in reader.files(&["Gemfile.lock", "gems.locked"]) {
        reader.lock(&path, lock)?;
    }
    Ok(())
}

/// Parses a `Gemfile`.
pub(super) fn gemfile(path: &str, text: &str) -> ManifestFacts {
    let mut facts = ManifestFacts::new(path, Ecosystem::Bundler);
    // With a specification beside it, the file adds what those need who work on the gem.
    let has_specification = text.lines().any(|line| {
        let line = line.trim();
        line == "gemspec" || line.starts_with("gemspec ") || line.starts_with("gemspec(")
    });
    // What the open blocks are: a group, a path, or something else.
    let mut blocks: Vec<Option<String>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split(" #").next().unwrap_or_default();
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        if let Some(found) = GEM.iter().find_map(|regex| regex.captures(line)) {
            let group = blocks.iter().flatten().next_back().map(String::as_str);
            let mut declared = gem(&facts, &found[1], &found[2], group);
            if has_specification && declared.kind == Kind::Normal {
                declared.kind = Kind::Dev;
            }
            facts.declared.push(declared.line(number));
            continue;
        }
        if bare == "end" {
            blocks.pop();
        } else if bare.ends_with(" do") || bare.contains(" do |") {
            blocks.push(
                bare.strip_prefix("group")
                    .map(|rest| rest.trim_end_matches("do").trim().to_owned()),
            );
        } else if bare.starts_with("if ") || bare.starts_with("unless ") {
            blocks.push(None);
        }
    }
    facts
}

fn gem(facts: &ManifestFacts, name: &str, rest: &str, group: Option<&str>) -> Declared {
    let mut options: Vec<(&str, &str)> = Vec::new();
    let mut first_option = rest.len();
    for found in OPTION.iter().flat_map(|regex| regex.captures_iter(rest)) {
        if let (Some(whole), Some(key), Some(value)) = (found.get(0), found.get(1), found.get(2)) {
            first_option = first_option.min(whole.start());
            let is_text = value.as_str().starts_with(['"', '\'']);
            // A path that code computes says only that it is one.
            let key = match key.as_str() {
                "path" if !is_text => "computed path",
                key => key,
            };
            options.push((key, value.as_str().trim_matches(['"', '\''])));
        }
    }
    let option = |wanted: &str| {
        options
            .iter()
            .find(|(key, _)| *key == wanted)
            .map(|(_, value)| *value)
    };
    let group = option("group").or_else(|| option("groups")).or(group);
    let declared = Declared::new(name, kind_of(group.unwrap_or_default()))
        .requirement(requirement(&rest[..first_option]).as_deref())
        .condition(
            group
                .map(|group| format!("group {}", group.replace(['[', ']', ':'], "")))
                .as_deref(),
        );
    let fixed = option("ref").or_else(|| option("tag"));
    let reference = fixed.or_else(|| option("branch"));
    if let Some(address) = option("git") {
        declared.git(address, reference, fixed.is_some())
    } else if let Some(repository) = option("github") {
        declared.git(
            &format!("https://github.com/{repository}"),
            reference,
            fixed.is_some(),
        )
    } else if let Some(path) = option("path") {
        declared.path(facts.folder(), path)
    } else if option("computed path").is_some() {
        Declared {
            origin: Origin::Path,
            fixed: true,
            ..declared
        }
    } else {
        declared
    }
}

/// Returns whether a requirement is there that code computes (`add_dependency 'own-part', version`).
fn is_computed(text: &str) -> bool {
    let first = text.trim_start().strip_prefix(',').map(str::trim_start);
    first.is_some_and(|first| {
        first.starts_with(|c: char| {
            c.is_ascii_alphabetic() || c == '@' || c == '"' && first.contains("#{")
        })
    })
}

fn requirement(text: &str) -> Option<String> {
    let parts: Vec<&str> = TEXT
        .iter()
        .flat_map(|regex| regex.captures_iter(text))
        .filter_map(|found| found.get(1))
        .map(|part| part.as_str())
        .filter(|part| part.contains(|character: char| character.is_ascii_digit()))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn kind_of(group: &str) -> Kind {
    let words: Vec<&str> = group
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let all = |kind: fn(&str) -> bool| words.iter().all(|word| kind(word));
    let is_default = |word: &str| matches!(word, "default" | "production");
    if words.is_empty() || words.iter().any(|word| is_default(word)) {
        Kind::Normal
    } else if all(|word| {
        matches!(
            word,
            "development" | "test" | "dev" | "lint" | "doc" | "docs" | "ci"
        )
    }) {
        Kind::Dev
    } else {
        Kind::Optional
    }
}

/// Parses a gem specification.
pub(super) fn gemspec(path: &str, text: &str) -> ManifestFacts {
    let mut facts = ManifestFacts::new(path, Ecosystem::Bundler);
    let (mut name, mut version, mut licence) = (None, None, None);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with('#') {
            continue;
        }
        if let Some(found) = SPEC.iter().find_map(|regex| regex.captures(line)) {
            let dev = found
                .get(1)
                .is_some_and(|kind| kind.as_str() == "development_");
            let kind = if dev { Kind::Dev } else { Kind::Normal };
            let declared =
                Declared::new(&found[2], kind).requirement(requirement(&found[3]).as_deref());
            let fixed = declared.requirement.is_none() && is_computed(&found[3]);
            facts
                .declared
                .push(Declared { fixed, ..declared }.line(number));
        } else if let Some(found) = ABOUT.iter().find_map(|regex| regex.captures(line)) {
            let value = Some(found[2].to_owned());
            match &found[1] {
                "name" => name = value,
                "version" => version = value,
                _ => licence = value,
            }
        }
    }
    facts.about(name.as_deref(), version.as_deref(), licence.as_deref());
    facts
}

/// Parses `Gemfile.lock`: sections of specifications, two spaces deeper at each level.
pub(super) fn lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let mut facts = LockFacts::new(path, Ecosystem::Bundler);
    let mut origin = None;
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let bare = line.trim();
        if depth == 0 {
            origin = match bare {
                "GEM" => Some(Origin::Registry),
                "GIT" => Some(Origin::Git),
                "PATH" => Some(Origin::Path),
                _ => None,
            };
            continue;
        }
        let Some(origin) = origin else { continue };
        let name = bare.split(' ').next().unwrap_or_default();
        match depth {
            4 => {
                let version = bare
                    .split_once('(')
                    .map_or("", |(_, rest)| rest.trim_end_matches(')'));
                facts.packages.push(LockedFacts::new(name, version, origin));
            }
            6 => {
                if let Some(last) = facts.packages.last_mut() {
                    last.needs.push((name.to_owned(), None));
                }
            }
            _ => {}
        }
    }
    if facts.packages.is_empty() && !text.contains("DEPENDENCIES") {
        return Err(ParseError::Shape {
            expected: "sections of a Gemfile.lock",
        });
    }
    merge_platforms(&mut facts);
    Ok(facts)
}

/// The same version for several platforms (`1.15.0-x86_64-linux`) is one package.
fn merge_platforms(facts: &mut LockFacts) {
    for package in &mut facts.packages {
        if let Some((version, platform)) = package.version.split_once('-')
            && platform.starts_with(|first: char| first.is_ascii_alphabetic())
        {
            package.version = version.to_owned();
        }
    }
    facts
        .packages
        .dedup_by(|later, first| later.name == first.name && later.version == first.version);
}
