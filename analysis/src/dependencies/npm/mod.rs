//! npm, pnpm and yarn: `package.json`, `pnpm-workspace.yaml` and the lock files of all three.

mod package_lock;
mod pnpm_lock;
mod yarn_lock;

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::facts::{Declared, MAX_MANIFEST_SIZE, ManifestFacts, ParseError, Reader};
use super::json_keys::Keys;
use crate::AnalysisError;
use crate::paths::{folder_of, is_under};
use crate::report::dependencies::{Ecosystem, Kind, Origin};

pub(super) use package_lock::lock as package_lock;
pub(super) use pnpm_lock::lock as pnpm_lock;
pub(super) use yarn_lock::lock as yarn_lock;

const SECTIONS: [(&str, Kind); 4] = [
    ("dependencies", Kind::Normal),
    ("devDependencies", Kind::Dev),
    ("optionalDependencies", Kind::Optional),
    ("peerDependencies", Kind::Peer),
];

/// Reads all manifests and lock files of npm, pnpm and yarn.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    let first = reader.manifests.len();
    for path in reader.files(&["package.json"]) {
        reader.manifest(&path, manifest)?;
    }
    let mut catalogs = Vec::new();
    for path in reader.files(&["pnpm-workspace.yaml"]) {
        let found = reader.parse(&path, MAX_MANIFEST_SIZE, catalog)?;
        catalogs.extend(found.map(|found| (folder_of(&path).to_owned(), found)));
    }
    for manifest in &mut reader.manifests[first..] {
        let offers = catalogs
            .iter()
            .filter(|(folder, _)| is_under(&manifest.path, folder))
            .max_by_key(|(folder, _)| folder.len());
        if let Some((_, offers)) = offers {
            for declared in &mut manifest.declared {
                if let Some(catalog) = &declared.inherits {
                    let key = format!("{catalog}\0{}", declared.name);
                    declared.requirement = offers.get(&key).cloned();
                }
            }
        }
    }
    for path in reader.files(&["package-lock.json", "npm-shrinkwrap.json"]) {
        reader.lock(&path, package_lock)?;
    }
    for path in reader.files(&["pnpm-lock.yaml"]) {
        let budget = reader.budget;
        reader.lock(&path, |path, text| pnpm_lock(path, text, budget))?;
    }
    for path in reader.files(&["yarn.lock"]) {
        reader.lock(&path, yarn_lock)?;
    }
    for path in reader.files(&["bun.lock", "bun.lockb"]) {
        let why = "lock files of bun are not read";
        reader.incomplete.push(crate::Incomplete::new(&path, why));
    }
    Ok(())
}

/// Parses `package.json`.
pub(super) fn manifest(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let document: Value = serde_json::from_str(text)?;
    let document = document
        .as_object()
        .ok_or(ParseError::Shape { expected: "object" })?;
    let mut facts = ManifestFacts::new(path, Ecosystem::Npm);
    let licence = document.get("license").and_then(|licence| {
        licence
            .as_str()
            .or_else(|| licence.get("type").and_then(Value::as_str))
    });
    let text_of = |key| document.get(key).and_then(Value::as_str);
    facts.about(text_of("name"), text_of("version"), licence);
    let keys = Keys::of(text);
    for (section, kind) in SECTIONS {
        let Some(entries) = document.get(section).and_then(Value::as_object) else {
            continue;
        };
        let start = keys.offset(section, 0).unwrap_or(0);
        for (alias, requirement) in entries {
            let requirement = requirement.as_str().unwrap_or_default();
            let mut declared = dependency(facts.folder(), alias, requirement, kind);
            declared.line = keys.line(alias, start);
            if kind == Kind::Peer && is_optional_peer(document, alias) {
                declared = declared.condition(Some("optional peer"));
            }
            facts.declared.push(declared);
        }
    }
    // An optional dependency is often listed among the normal ones too; npm lets the optional win.
    let optional = of_kind(&facts, Kind::Optional);
    facts
        .declared
        .retain(|each| each.kind != Kind::Normal || !optional.contains(&each.name));
    Ok(facts)
}

fn of_kind(facts: &ManifestFacts, kind: Kind) -> HashSet<String> {
    let declared = facts.declared.iter();
    declared
        .filter(|each| each.kind == kind)
        .map(|each| each.name.clone())
        .collect()
}

fn is_optional_peer(document: &Map<String, Value>, name: &str) -> bool {
    document
        .get("peerDependenciesMeta")
        .and_then(|meta| meta.get(name))
        .and_then(|meta| meta.get("optional"))
        .and_then(Value::as_bool)
        .unwrap_or(false)
}

/// Parses one entry: a range, an alias, an address or a path.
fn dependency(folder: &str, alias: &str, requirement: &str, kind: Kind) -> Declared {
    let declared = Declared::new(alias, kind).requirement(Some(requirement));
    let (scheme, rest) = requirement.split_once(':').unwrap_or(("", requirement));
    match scheme {
        "workspace" => return declared.workspace(),
        "file" | "link" | "portal" => return declared.path(folder, rest),
        "npm" => {
            let at = rest.rfind('@').filter(|&at| at > 0);
            let (name, range) = at.map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]));
            return Declared::new(name, kind)
                .alias(alias)
                .requirement(Some(range));
        }
        "catalog" => {
            let mut declared = declared;
            let catalog = if rest.is_empty() { "default" } else { rest };
            declared.inherits = Some(catalog.to_owned());
            return declared;
        }
        "github" | "gitlab" | "bitbucket" | "git" | "git+https" | "git+ssh" | "git+http"
        | "git+file" => {
            return git(declared, requirement);
        }
        "http" | "https"
            if rest
                .split('#')
                .next()
                .is_some_and(|path| path.strip_suffix(".git").is_some()) =>
        {
            return git(declared, requirement);
        }
        "http" | "https" => return declared.url(requirement),
        _ => {}
    }
    let is_path = requirement.starts_with("./") || requirement.starts_with("../");
    if is_path {
        return declared.path(folder, requirement);
    }
    let shorthand = requirement.split('#').next().unwrap_or_default();
    let is_repository = shorthand.matches('/').count() == 1 && !shorthand.starts_with('@');
    if is_repository {
        git(declared, requirement)
    } else {
        declared
    }
}

fn git(declared: Declared, requirement: &str) -> Declared {
    let (address, reference) = requirement
        .split_once('#')
        .map_or((requirement, None), |(address, reference)| {
            (address, Some(reference))
        });
    let fixed = reference.is_some_and(|reference| {
        let commit = reference.len() >= 7 && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
        let tag = reference
            .trim_start_matches('v')
            .starts_with(|first: char| first.is_ascii_digit());
        commit || tag || reference.starts_with("semver:")
    });
    declared.git(address, reference, fixed)
}

/// Parses the catalogues of `pnpm-workspace.yaml`: `catalogue NUL name` to range.
fn catalog(text: &str) -> Result<HashMap<String, String>, ParseError> {
    let document: Value = serde_saphyr::from_str(text)?;
    let mut offers = HashMap::new();
    let mut add = |catalog: &str, entries: Option<&Value>| {
        for (name, range) in entries.and_then(Value::as_object).into_iter().flatten() {
            if let Some(range) = range.as_str() {
                offers.insert(
                    format!("{catalog}\0{name}"),
                    crate::text::harmless(range, 160),
                );
            }
        }
    };
    add("default", document.get("catalog"));
    for (catalog, entries) in document
        .get("catalogs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        add(catalog, Some(entries));
    }
    Ok(offers)
}

/// Judges by the address in a lock file where a package came from.
fn origin_of(resolved: &str) -> Origin {
    if resolved.starts_with("git") || resolved.contains("codeload.github.com") {
        Origin::Git
    } else if resolved.starts_with("file:") || resolved.starts_with("link:") {
        Origin::Path
    } else {
        Origin::Registry
    }
}
