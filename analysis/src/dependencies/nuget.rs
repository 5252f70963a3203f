//! `NuGet`: project files, central versions, `packages.config` and `packages.lock.json`.

use std::collections::{HashMap, HashSet};

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

use super::facts::{
    Declared, LockFacts, LockedFacts, MAX_MANIFEST_SIZE, ManifestFacts, ParseError, Reader,
};
use super::maven::text_of;
use crate::AnalysisError;
use crate::line_index::Lines;
use crate::paths::{folder_of, is_under, name_of};
use crate::report::dependencies::{Ecosystem, Kind, Origin};

/// Reads all project and lock files of .NET.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    let first = reader.manifests.len();
    let projects = reader.files_where(|name| {
        [".csproj", ".fsproj", ".vbproj"]
            .iter()
            .any(|ending| name.ends_with(ending))
            || name == "Directory.Build.props"
    });
    for path in projects {
        reader.manifest(&path, project)?;
    }
    for path in reader.files(&["packages.config"]) {
        reader.manifest(&path, packages_config)?;
    }
    let mut central = Vec::new();
    for path in reader.files(&["Directory.Packages.props"]) {
        let found = reader.parse(&path, MAX_MANIFEST_SIZE, |text| project(&path, text))?;
        central.extend(found);
    }
    centralise(&mut reader.manifests[first..], &mut central);
    reader.manifests.extend(central);
    for path in reader.files(&["packages.lock.json"]) {
        reader.lock(&path, lock)?;
    }
    Ok(())
}

fn parsed(text: &str) -> Result<Document<'_>, ParseError> {
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: 400_000,
        ..Default::default()
    };
    Ok(Document::parse_with_options(text, options)?)
}

/// Parses a project file or a file of properties.
pub(super) fn project(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let document = parsed(text)?;
    let lines = Lines::of(text);
    let mut facts = ManifestFacts::new(path, Ecosystem::Nuget);
    let mut properties: HashMap<&str, &str> = HashMap::new();
    for group in elements(&document, "PropertyGroup") {
        for property in group.children().filter(Node::is_element) {
            if let Some(value) = property.text() {
                properties.insert(property.tag_name().name(), value.trim());
            }
        }
    }
    let stem = name_of(path).rsplit_once('.').map(|(stem, _)| stem);
    let package = properties.get("PackageId").copied().or(stem);
    let package = package.filter(|_| !name_of(path).starts_with("Directory."));
    let licence = properties.get("PackageLicenseExpression").copied();
    facts.about(package, properties.get("Version").copied(), licence);
    let names = [
        "PackageReference",
        "PackageVersion",
        "GlobalPackageReference",
        "ProjectReference",
        "DotNetCliToolReference",
    ];
    for node in document
        .descendants()
        .filter(|node| names.contains(&node.tag_name().name()))
    {
        let Some(include) = node
            .attribute("Include")
            .or_else(|| node.attribute("Update"))
        else {
            continue;
        };
        let line = lines.at(node.range().start);
        if node.tag_name().name() == "ProjectReference" {
            let target = include.replace('\\', "/");
            let name = name_of(&target)
                .rsplit_once('.')
                .map_or(name_of(&target), |(stem, _)| stem);
            let declared = Declared::new(name, Kind::Normal).path(facts.folder(), &target);
            facts.declared.push(declared.line(line));
            continue;
        }
        let version = value(node, "VersionOverride").or_else(|| value(node, "Version"));
        let version = version.map(|version| substituted(version, &properties));
        let private =
            value(node, "PrivateAssets").is_some_and(|assets| assets.eq_ignore_ascii_case("all"));
        let kind = if private { Kind::Dev } else { Kind::Normal };
        let condition = node
            .attribute("Condition")
            .or_else(|| node.parent_element()?.attribute("Condition"));
        let mut declared = Declared::new(include, kind)
            .requirement(version.as_deref())
            .condition(condition)
            .line(line);
        if node.tag_name().name() == "PackageVersion" {
            facts.offered.push(declared);
        } else {
            declared.inherits = version.is_none().then(|| include.to_ascii_lowercase());
            facts.declared.push(declared);
        }
    }
    Ok(facts)
}

/// Parses `packages.config`.
pub(super) fn packages_config(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let document = parsed(text)?;
    let lines = Lines::of(text);
    let mut facts = ManifestFacts::new(path, Ecosystem::Nuget);
    for node in elements(&document, "package") {
        let Some(id) = node.attribute("id") else {
            continue;
        };
        let dev = node.attribute("developmentDependency") == Some("true");
        let kind = if dev { Kind::Dev } else { Kind::Normal };
        let declared = Declared::new(id, kind).requirement(node.attribute("version"));
        facts
            .declared
            .push(declared.line(lines.at(node.range().start)));
    }
    Ok(facts)
}

/// Gives projects the versions that the nearest central file above them sets.
fn centralise(projects: &mut [ManifestFacts], central: &mut [ManifestFacts]) {
    let offers: Vec<(String, HashMap<String, Option<String>>)> = central
        .iter()
        .map(|file| {
            let versions = file.offered.iter();
            let versions =
                versions.map(|each| (each.name.to_ascii_lowercase(), each.requirement.clone()));
            (folder_of(&file.path).to_owned(), versions.collect())
        })
        .collect();
    let mut used: HashSet<(String, String)> = HashSet::new();
    for project in projects {
        let nearest = offers
            .iter()
            .filter(|(folder, _)| is_under(&project.path, folder));
        let Some((folder, versions)) = nearest.max_by_key(|(folder, _)| folder.len()) else {
            continue;
        };
        for declared in &mut project.declared {
            let key = declared.name.to_ascii_lowercase();
            if declared.inherits.is_some() {
                declared.requirement = versions.get(&key).cloned().flatten();
            }
            used.insert((folder.clone(), key));
        }
    }
    for file in central {
        let folder = folder_of(&file.path).to_owned();
        file.offered
            .retain(|each| !used.contains(&(folder.clone(), each.name.to_ascii_lowercase())));
    }
}

fn elements<'a, 'i>(
    document: &'a Document<'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    document
        .descendants()
        .filter(move |node| node.tag_name().name() == name)
}

/// Reads a value given as attribute or as element.
fn value<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attribute(name).or_else(|| text_of(node, name))
}

fn substituted(version: &str, properties: &HashMap<&str, &str>) -> String {
    version
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|name| properties.get(name))
        .map_or_else(|| version.to_owned(), |value| (*value).to_owned())
}

/// Parses `packages.lock.json`; the same package for several frameworks is one.
pub(super) fn lock(path: &str, text: &str) -> Result<LockFacts, ParseError> {
    let document: Value = serde_json::from_str(text)?;
    let mut facts = LockFacts::new(path, Ecosystem::Nuget);
    for (_, packages) in document
        .get("dependencies")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        for (name, entry) in packages.as_object().into_iter().flatten() {
            let Some(version) = entry.get("resolved").and_then(Value::as_str) else {
                continue;
            };
            let mut locked = LockedFacts::new(name, version, Origin::Registry);
            let needs = entry.get("dependencies").and_then(Value::as_object);
            locked.needs = needs
                .into_iter()
                .flatten()
                .map(|(name, _)| (name.clone(), None))
                .collect();
            facts.packages.push(locked);
        }
    }
    facts
        .packages
        .sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    facts
        .packages
        .dedup_by(|later, first| later.name == first.name && later.version == first.version);
    Ok(facts)
}
