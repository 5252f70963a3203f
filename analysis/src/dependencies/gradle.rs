//! Gradle: build scripts in their common forms, version catalogues and `gradle.lockfile`.
//!
//! Build scripts are programs; what is computed in them stays unknown.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use toml::de::{DeTable, DeValue};

use super::cargo::{get, string, table};
use super::facts::{
    Declared, LockFacts, LockedFacts, MAX_MANIFEST_SIZE, ManifestFacts, ParseError, Reader,
};
use crate::AnalysisError;
use crate::line_index::Lines;
use crate::paths::{folder_of, is_under};
use crate::report::dependencies::{Ecosystem, Kind, Origin};
use crate::tree::language::named;
use crate::tree::masking::without_comments;

const CONFIGURATIONS: &str = r"(?m)\b(api|implementation|compileOnlyApi|compileOnly|runtimeOnly|compile|runtime|classpath|annotationProcessor|kapt|ksp|testImplementation|testCompileOnly|testRuntimeOnly|testCompile|testRuntime|testAnnotationProcessor|androidTestImplementation|debugImplementation|releaseImplementation|developmentOnly|providedCompile|coreLibraryDesugaring|lintChecks|lintPublish|[a-z]\w*(?:Implementation|Api|CompileOnly|RuntimeOnly|AnnotationProcessor))\b";

/// `implementation("group:name:version")`, perhaps inside `platform(…)`.
static COORDINATES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let tail = r#"[ \t(]+(?:(?:platform|enforcedPlatform|testFixtures|kotlin)[ \t]*\([ \t]*)?["']([^"'\n:]+):([^"'\n:]+)(?::([^"'\n]+))?["']"#;
    Regex::new(&format!("{CONFIGURATIONS}{tail}")).ok()
});

/// `implementation group: "g", name: "n", version: "v"` and the same with `=`.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let tail = r#"[ \t(]+group[ \t]*[:=][ \t]*["']([^"'\n]+)["'],[ \t]*name[ \t]*[:=][ \t]*["']([^"'\n]+)["'](?:,[ \t]*version[ \t]*[:=][ \t]*["']([^"'\n]+)["'])?"#;
    Regex::new(&format!("{CONFIGURATIONS}{tail}")).ok()
});

/// `implementation(libs.some.library)`.
static CATALOGUED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Only a library of the catalogue counts, so that a project may name its configurations as it likes.
    let any = r"\b([A-Za-z]\w*)[ \t]*[ \t(][ \t]*(?:(?:platform|enforcedPlatform|testFixtures|variantOf)[ \t]*\([ \t]*)?libs\.([A-Za-z0-9_.]+)";
    Regex::new(any).ok()
});

/// `implementation(project(":core"))`.
static PROJECT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let tail = r#"[ \t(]+project[ \t]*\([ \t]*(?:path[ \t]*[:=][ \t]*)?["']([^"'\n]+)["']"#;
    Regex::new(&format!("{CONFIGURATIONS}{tail}")).ok()
});

/// `id("plugin") version "1"`.
static PLUGIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\bid[ \t(]+["']([^"'\n]+)["'][ \t)]+version[ \t(]+["']([^"'\n]+)["']"#).ok()
});

/// `val name = "1"`, `def name = '1'`, `ext.name = '1'`, `extra["name"] = "1"`.
static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?m)^[ \t]*(?:val |def |const val |final |String |ext\.|extra\[["'])?([A-Za-z_][A-Za-z0-9_.]*)(?:["']\])?[ \t]*=[ \t]*["']([^"'\n]+)["']"#).ok()
});

/// Reads all build scripts, catalogues and lock files of Gradle.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    let mut catalogs = Vec::new();
    for path in reader.files(&["libs.versions.toml"]) {
        let found = reader.parse(&path, MAX_MANIFEST_SIZE, |text| catalog(&path, text))?;
        if let Some(found) = found {
            // The catalogue lies in `gradle/` and serves the folder around it.
            let folder = folder_of(folder_of(&path)).to_owned();
            catalogs.push((folder, found));
        }
    }
    let mut properties = Vec::new();
    for path in reader.files(&["gradle.properties"]) {
        let found = reader.parse(&path, MAX_MANIFEST_SIZE, |text| Ok(property_file(text)))?;
        properties.extend(found.map(|found| (folder_of(&path).to_owned(), found)));
    }
    let mut used: HashSet<String> = HashSet::new();
    for path in reader.files(&["build.gradle", "build.gradle.kts"]) {
        let nearest = |folder: &str| is_under(&path, folder);
        let catalog = catalogs
            .iter()
            .filter(|(folder, _)| nearest(folder))
            .max_by_key(|(folder, _)| folder.len());
        let mut variables = HashMap::new();
        let mut around: Vec<&(String, HashMap<String, String>)> = properties
            .iter()
            .filter(|(folder, _)| nearest(folder))
            .collect();
        around.sort_by_key(|(folder, _)| folder.len());
        for (_, values) in around {
            variables.extend(values.clone());
        }
        let libraries = catalog.map(|(_, found)| &found.libraries);
        reader.manifest(&path, |path, text| {
            let (facts, taken) = script(path, text, variables, libraries);
            used.extend(taken);
            Ok(facts)
        })?;
    }
    for (_, mut found) in catalogs {
        found.facts.offered = found
            .libraries
            .into_iter()
            .filter(|(alias, _)| !used.contains(alias))
            .map(|(_, declared)| declared)
            .collect();
        found.facts.offered.sort_by_key(|each| each.line);
        reader.manifests.push(found.facts);
    }
    for path in reader.files(&["gradle.lockfile", "buildscript-gradle.lockfile"]) {
        reader.lock(&path, |path, text| Ok(lock(path, text)))?;
    }
    Ok(())
}

/// Parses a build script; also returns the catalogue entries that it uses.
pub(super) fn script(
    path: &str,
    text: &str,
    mut variables: HashMap<String, String>,
    libraries: Option<&HashMap<String, Declared>>,
) -> (ManifestFacts, Vec<String>) {
    let language = if path.strip_suffix(".kts").is_some() {
        "Kotlin"
    } else {
        "Groovy"
    };
    let text = named(language).map_or_else(
        || text.to_owned(),
        |language| {
            let masked = without_comments(text.as_bytes(), language.grammar());
            String::from_utf8_lossy(&masked).into_owned()
        },
    );
    let lines = Lines::of(&text);
    let mut facts = ManifestFacts::new(path, Ecosystem::Gradle);
    let mut used = Vec::new();
    for found in VARIABLE.iter().flat_map(|regex| regex.captures_iter(&text)) {
        variables.insert(found[1].to_owned(), found[2].to_owned());
    }
    let coordinates = COORDINATES.iter().chain(NAMED.iter());
    for found in coordinates.flat_map(|regex| regex.captures_iter(&text)) {
        let name = format!("{}:{}", &found[2], &found[3]);
        let version = found
            .get(4)
            .map(|version| substituted(version.as_str(), &variables));
        // `1.0@aar` and `1.0:classifier` name the kind of file.
        let version = version.map(|version| {
            version
                .split(['@', ':'])
                .next()
                .unwrap_or_default()
                .to_owned()
        });
        let at = found.get(0).map_or(0, |whole| whole.start());
        let declared = Declared::new(&name, kind_of(&found[1])).requirement(version.as_deref());
        facts.declared.push(declared.line(lines.at(at)));
    }
    for found in CATALOGUED
        .iter()
        .flat_map(|regex| regex.captures_iter(&text))
    {
        let alias = found[2]
            .trim_end_matches(".get")
            .trim_end_matches('.')
            .replace(['-', '_'], ".");
        if &found[1] == "exclude" {
            continue;
        }
        let Some(library) = libraries.and_then(|libraries| libraries.get(&alias)) else {
            continue;
        };
        let mut declared = library.clone();
        declared.kind = kind_of(&found[1]);
        declared.line = found.get(0).map(|whole| lines.at(whole.start()));
        facts.declared.push(declared);
        used.push(alias);
    }
    for found in PROJECT.iter().flat_map(|regex| regex.captures_iter(&text)) {
        let at = found.get(0).map_or(0, |whole| whole.start());
        let declared = Declared::new(&found[2], kind_of(&found[1])).workspace();
        facts.declared.push(declared.line(lines.at(at)));
    }
    for found in PLUGIN.iter().flat_map(|regex| regex.captures_iter(&text)) {
        let at = found.get(0).map_or(0, |whole| whole.start());
        let version = substituted(&found[2], &variables);
        let declared = Declared::new(&found[1], Kind::Build).requirement(Some(&version));
        facts
            .declared
            .push(declared.condition(Some("plugin")).line(lines.at(at)));
    }
    facts.declared.sort_by_key(|declared| declared.line);
    (facts, used)
}

fn kind_of(configuration: &str) -> Kind {
    if configuration.starts_with("test") || configuration.starts_with("androidTest") {
        return Kind::Dev;
    }
    match configuration {
        "classpath" | "annotationProcessor" | "kapt" | "ksp" | "coreLibraryDesugaring" => {
            Kind::Build
        }
        "compileOnly" | "compileOnlyApi" | "providedCompile" => Kind::Peer,
        "developmentOnly" | "debugImplementation" => Kind::Dev,
        "lintChecks" | "lintPublish" => Kind::Build,
        "compile" | "runtime" | "api" | "implementation" | "runtimeOnly" => Kind::Normal,
        other if other.contains("Test") => Kind::Dev,
        other if other.ends_with("AnnotationProcessor") => Kind::Build,
        other if other.ends_with("CompileOnly") => Kind::Peer,
        other
            if ["Implementation", "Api", "RuntimeOnly"]
                .iter()
                .any(|ending| other.ends_with(ending)) =>
        {
            Kind::Normal
        }
        // A configuration of the project's own.
        _ => Kind::Optional,
    }
}

/// Replaces a version that is one variable: `$name` or `${name}`.
fn substituted(version: &str, variables: &HashMap<String, String>) -> String {
    let name = version
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .or_else(|| version.strip_prefix('$'));
    let name = name.map(|name| {
        name.trim_start_matches("rootProject.")
            .trim_start_matches("ext.")
    });
    name.and_then(|name| variables.get(name))
        .map_or_else(|| version.to_owned(), Clone::clone)
}

fn property_file(text: &str) -> HashMap<String, String> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with(['#', '!']))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// A version catalogue.
pub(super) struct Catalog {
    facts: ManifestFacts,
    /// Libraries by the name that build scripts use.
    libraries: HashMap<String, Declared>,
}

/// Parses `libs.versions.toml`.
pub(super) fn catalog(path: &str, text: &str) -> Result<Catalog, ParseError> {
    let document = DeTable::parse(text)?;
    let document = document.get_ref();
    let lines = Lines::of(text);
    let versions = table(document, "versions");
    let version_in = |entry: &DeTable<'_>| -> Option<String> {
        let version = get(entry, "version")?;
        let reference = version
            .as_table()
            .and_then(|version| string(version, "ref"));
        let version = match reference {
            Some(reference) => versions.and_then(|versions| get(versions, reference))?,
            None => version,
        };
        rich_version(version)
    };
    let mut facts = ManifestFacts::new(path, Ecosystem::Gradle);
    let mut libraries = HashMap::new();
    for (alias, value) in table(document, "libraries").into_iter().flatten() {
        let (name, version) = match value.get_ref() {
            DeValue::String(text) => {
                let mut parts = text.splitn(3, ':');
                let name = format!(
                    "{}:{}",
                    parts.next().unwrap_or_default(),
                    parts.next().unwrap_or_default()
                );
                (name, parts.next().map(str::to_owned))
            }
            DeValue::Table(entry) => {
                let name = string(entry, "module").map(str::to_owned).or_else(|| {
                    Some(format!(
                        "{}:{}",
                        string(entry, "group")?,
                        string(entry, "name")?
                    ))
                });
                let Some(name) = name else { continue };
                (name, version_in(entry))
            }
            _ => continue,
        };
        let declared = Declared::new(&name, Kind::Normal)
            .requirement(version.as_deref())
            .line(lines.at(alias.span().start));
        libraries.insert(alias.get_ref().replace(['-', '_'], "."), declared);
    }
    for (alias, value) in table(document, "plugins").into_iter().flatten() {
        let Some(entry) = value.get_ref().as_table() else {
            continue;
        };
        let Some(id) = string(entry, "id") else {
            continue;
        };
        let declared = Declared::new(id, Kind::Build)
            .requirement(version_in(entry).as_deref())
            .condition(Some("plugin"));
        facts
            .declared
            .push(declared.line(lines.at(alias.span().start)));
    }
    Ok(Catalog { facts, libraries })
}

fn rich_version(version: &DeValue<'_>) -> Option<String> {
    let key = |key| version.as_table().and_then(|rich| string(rich, key));
    version
        .as_str()
        .or_else(|| key("strictly"))
        .or_else(|| key("require"))
        .or_else(|| key("prefer"))
        .map(str::to_owned)
}

/// Parses `gradle.lockfile`: `group:name:version=configurations`.
pub(super) fn lock(path: &str, text: &str) -> LockFacts {
    let mut facts = LockFacts::new(path, Ecosystem::Gradle);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let coordinates = line.split('=').next().unwrap_or_default();
        if let Some((name, version)) = coordinates.rsplit_once(':') {
            facts
                .packages
                .push(LockedFacts::new(name, version, Origin::Registry));
        }
    }
    facts
}
