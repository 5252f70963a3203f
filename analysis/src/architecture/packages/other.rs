//! Packages of Go, Maven, Gradle, `CMake`, Composer, `RubyGems` and .NET.

use roxmltree::{Document, Node, ParsingOptions};

use super::{FoundPackage, Sources, join};
use crate::dependencies::maven::{child, text_of};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::{Ecosystem, EntryKind};

/// Reads a `go.mod`.
pub(super) fn go(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
    let text = sources.text(path)?;
    let module = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "))?
        .trim()
        .trim_matches('"');
    let mut found = FoundPackage::new(Ecosystem::Go, path, module);
    found.import_name = Some(module.to_owned());
    let mut in_block = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("require (") {
            in_block = true;
        } else if line == ")" {
            in_block = false;
        } else if let Some(requirement) = line
            .strip_prefix("require ")
            .or_else(|| in_block.then_some(line))
        {
            let name = requirement
                .split_whitespace()
                .next()
                .filter(|name| !name.starts_with("//"));
            if let Some(name) = name.filter(|_| !requirement.contains("// indirect")) {
                found.dependencies.insert(name.to_owned());
            }
        }
    }
    if let Some(work) = sources.text("go.work") {
        found.package.workspace_member = is_used(&work, folder_of(path));
    }
    let folder = found.folder.clone();
    for file in &sources.tree.files {
        let Some(inside) = (if folder.is_empty() {
            Some(file.path.as_str())
        } else {
            file.path.strip_prefix(&format!("{folder}/"))
        }) else {
            continue;
        };
        if inside == "main.go" || (inside.starts_with("cmd/") && inside.ends_with("/main.go")) {
            let name = match name_of(folder_of(&file.path)) {
                "" => module.rsplit('/').next().unwrap_or(module),
                folder => folder,
            };
            found.entry(EntryKind::Binary, name, file.path.clone(), "convention");
        }
    }
    Some(found)
}

/// Returns whether a `go.work` uses the module of a folder: `use ./a` or `use ( ./a ./b )`.
fn is_used(work: &str, folder: &str) -> bool {
    let mut in_block = false;
    work.lines().map(str::trim).any(|line| {
        let place = line
            .strip_prefix("use")
            .filter(|rest| rest.starts_with([' ', '(']));
        if let Some(rest) = place {
            in_block = rest.trim() == "(";
        } else if line == ")" {
            in_block = false;
        }
        let used = place
            .or_else(|| in_block.then_some(line))
            .unwrap_or_default();
        let used = used
            .split("//")
            .next()
            .unwrap_or_default()
            .trim()
            .trim_matches('"');
        !used.is_empty() && used != "(" && join("", used).is_some_and(|used| used == folder)
    })
}

/// Reads a `pom.xml`.
pub(super) fn maven(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
    let text = sources.text(path)?;
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: 400_000,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(&text, options).ok()?;
    let project = document.root_element();
    let name = text_of(project, "artifactId")?;
    let mut found = FoundPackage::new(Ecosystem::Maven, path, name);
    // A project without a version has that of its parent.
    let parent = child(project, "parent");
    let version = text_of(project, "version").or_else(|| text_of(parent?, "version"));
    let version = version.filter(|version| !version.contains("${"));
    found.describe(version, text_of(project, "description"));
    let below = |name: &'static str, around: &'static str| {
        let is_one = move |node: &Node<'_, '_>| {
            node.tag_name().name() == name
                && node
                    .parent()
                    .is_some_and(|parent| parent.tag_name().name() == around)
        };
        document.descendants().filter(is_one)
    };
    found.members = below("module", "modules")
        .filter_map(|module| Some(module.text()?.trim().to_owned()))
        .collect();
    // Not those of plugins, nor versions that are only managed here.
    let is_own = |dependency: &Node<'_, '_>| {
        let around = dependency.ancestors().nth(2);
        around.is_some_and(|around| matches!(around.tag_name().name(), "project" | "profile"))
    };
    found.dependencies = below("dependency", "dependencies")
        .filter(is_own)
        .filter_map(|dependency| text_of(dependency, "artifactId"))
        .map(str::to_owned)
        .collect();
    Some(found)
}

/// Reads a Gradle build file: its folder names it.
pub(super) fn gradle(sources: Sources<'_>, path: &str) -> FoundPackage {
    let folder = folder_of(path);
    let name = if folder.is_empty() {
        "(top)"
    } else {
        name_of(folder)
    };
    let mut found = FoundPackage::new(Ecosystem::Gradle, path, name);
    let settings = ["settings.gradle", "settings.gradle.kts"]
        .iter()
        .find_map(|name| sources.text(&join(folder, name)?));
    if let Some(settings) = settings {
        found.members = settings
            .lines()
            .filter(|line| line.trim_start().starts_with("include"))
            .flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2))
            .map(|module| module.trim_start_matches(':').replace(':', "/"))
            .collect();
    }
    found
}

/// Reads a `CMakeLists.txt` that starts a project.
pub(super) fn cmake(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
    let text = sources.text(path)?;
    let lower = text.to_ascii_lowercase();
    let start = lower.lines().position(|line| {
        line.trim_start().starts_with("project(") || line.trim_start().starts_with("project (")
    })?;
    let from = text.lines().skip(start).collect::<Vec<_>>().join(" ");
    let inside = from.split_once('(')?.1;
    let name = inside
        .split(|character: char| character.is_whitespace() || character == ')')
        .find(|word| !word.is_empty())?;
    Some(FoundPackage::new(
        Ecosystem::CMake,
        path,
        name.trim_matches('"'),
    ))
}

/// Reads a `composer.json`.
pub(super) fn composer(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
    let manifest: serde_json::Value = serde_json::from_str(&sources.text(path)?).ok()?;
    let name = manifest.get("name")?.as_str()?.to_owned();
    let mut found = FoundPackage::new(Ecosystem::Composer, path, name);
    found.describe(
        None,
        manifest
            .get("description")
            .and_then(serde_json::Value::as_str),
    );
    for kind in ["require", "require-dev"] {
        if let Some(dependencies) = manifest.get(kind).and_then(serde_json::Value::as_object) {
            let packages = dependencies.keys().filter(|name| is_package(name));
            found.dependencies.extend(packages.cloned());
        }
    }
    Some(found)
}

/// Tells a package of Composer from what only says where it runs: PHP itself, its extensions.
fn is_package(name: &str) -> bool {
    name.contains('/')
}

/// A gem, named by its file.
pub(super) fn gem(path: &str) -> FoundPackage {
    let name = name_of(path).trim_end_matches(".gemspec");
    FoundPackage::new(Ecosystem::Ruby, path, name)
}

/// A .NET project, named by its file.
pub(super) fn dotnet(path: &str) -> FoundPackage {
    let name = name_of(path)
        .rsplit_once('.')
        .map_or(name_of(path), |(stem, _)| stem);
    FoundPackage::new(Ecosystem::DotNet, path, name)
}
