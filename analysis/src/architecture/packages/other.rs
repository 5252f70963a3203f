//! Packages of Go, Maven, Gradle, `CMake`, Composer, `RubyGems` and .NET.

use super::{FoundPackage, Sources, join};
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
        found.package.workspace_member = work.contains(folder_of(path));
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

/// Returns the text of the first such element that is not inside one of the others.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = text.find(&format!("<{name}>"))? + name.len() + 2;
    let end = text[start..].find(&format!("</{name}>"))?;
    Some(text[start..start + end].trim())
}

/// Reads a `pom.xml`.
pub(super) fn maven(sources: Sources<'_>, path: &str) -> Option<FoundPackage> {
    let text = sources.text(path)?;
    let parent = element(&text, "parent").unwrap_or_default();
    let own = text.replacen(parent, "", usize::from(!parent.is_empty()));
    let name = element(&own, "artifactId")?.to_owned();
    let mut found = FoundPackage::new(Ecosystem::Maven, path, name);
    found.describe(element(&own, "version"), element(&own, "description"));
    found.members = own
        .split("<module>")
        .skip(1)
        .filter_map(|rest| rest.split("</module>").next())
        .map(|module| module.trim().to_owned())
        .collect();
    found.dependencies = own
        .split("<dependency>")
        .skip(1)
        .filter_map(|rest| element(rest.split("</dependency>").next()?, "artifactId"))
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
            found.dependencies.extend(dependencies.keys().cloned());
        }
    }
    Some(found)
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
