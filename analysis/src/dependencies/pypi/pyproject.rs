//! `pyproject.toml` (PEP 621, PEP 735, poetry, uv) and `Pipfile`.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::cargo::{flag, get, string, table};
use super::super::facts::{Declared, ManifestFacts, ParseError};
use super::super::names::normalised;
use super::requirement;
use super::requirements::is_for_development;
use crate::line_index::Lines;
use crate::report::dependencies::{Ecosystem, Kind};

/// Parses `pyproject.toml`.
pub(in super::super) fn manifest(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let document = DeTable::parse(text)?;
    let document = document.get_ref();
    let mut project = Project::new(path, text);
    let standard = table(document, "project");
    let tool = table(document, "tool");
    let poetry = tool.and_then(|tool| table(tool, "poetry"));
    let about = standard.or(poetry);
    let licence = about.and_then(|about| {
        string(about, "license")
            .or_else(|| table(about, "license").and_then(|licence| string(licence, "text")))
    });
    let text_of = |key| about.and_then(|about| string(about, key));
    project
        .facts
        .about(text_of("name"), text_of("version"), licence);
    if let Some(standard) = standard {
        project.list(get(standard, "dependencies"), Kind::Normal, None);
        project.groups(
            table(standard, "optional-dependencies"),
            Kind::Optional,
            "extra",
        );
    }
    project.groups(table(document, "dependency-groups"), Kind::Dev, "group");
    if let Some(build) = table(document, "build-system") {
        project.list(get(build, "requires"), Kind::Build, None);
    }
    if let Some(poetry) = poetry {
        project.poetry(poetry);
    }
    if let Some(uv) = tool.and_then(|tool| table(tool, "uv")) {
        project.list(get(uv, "dev-dependencies"), Kind::Dev, None);
        project.sources(table(uv, "sources"));
    }
    Ok(project.facts)
}

/// Parses `Pipfile`.
pub(in super::super) fn pipfile(path: &str, text: &str) -> Result<ManifestFacts, ParseError> {
    let document = DeTable::parse(text)?;
    let mut project = Project::new(path, text);
    project.entries(table(document.get_ref(), "packages"), Kind::Normal, None);
    project.entries(table(document.get_ref(), "dev-packages"), Kind::Dev, None);
    Ok(project.facts)
}

/// A group is for development if its name says so; any other is a part that is chosen.
fn kind_of_group(name: &str) -> Kind {
    if is_for_development(name) {
        Kind::Dev
    } else {
        Kind::Optional
    }
}

struct Project {
    facts: ManifestFacts,
    lines: Lines,
}

impl Project {
    fn new(path: &str, text: &str) -> Self {
        Self {
            facts: ManifestFacts::new(path, Ecosystem::Pypi),
            lines: Lines::of(text),
        }
    }

    /// Takes an array of PEP 508 texts.
    fn list(&mut self, list: Option<&DeValue<'_>>, kind: Kind, condition: Option<&str>) {
        for item in list
            .and_then(DeValue::as_array)
            .into_iter()
            .flat_map(|list| list.iter())
        {
            let found = item
                .get_ref()
                .as_str()
                .and_then(|text| requirement::parse(text, kind, self.facts.folder()));
            if let Some(declared) = found {
                let condition = condition
                    .map(str::to_owned)
                    .or_else(|| declared.condition.clone());
                let line = self.lines.at(item.span().start);
                self.facts
                    .declared
                    .push(declared.condition(condition.as_deref()).line(line));
            }
        }
    }

    fn groups(&mut self, groups: Option<&DeTable<'_>>, kind: Kind, what: &str) {
        for (name, list) in groups.into_iter().flatten() {
            let condition = format!("{what} {}", name.get_ref());
            let kind = if kind == Kind::Dev {
                kind_of_group(name.get_ref())
            } else {
                kind
            };
            self.list(Some(list.get_ref()), kind, Some(&condition));
        }
    }

    fn poetry(&mut self, poetry: &DeTable<'_>) {
        self.entries(table(poetry, "dependencies"), Kind::Normal, None);
        self.entries(table(poetry, "dev-dependencies"), Kind::Dev, None);
        for (name, group) in table(poetry, "group").into_iter().flatten() {
            let condition = format!("group {}", name.get_ref());
            let group = group.get_ref().as_table();
            let kind = if group.is_some_and(|group| flag(group, "optional")) {
                Kind::Optional
            } else {
                kind_of_group(name.get_ref())
            };
            let entries = group.and_then(|group| table(group, "dependencies"));
            self.entries(entries, kind, Some(&condition));
        }
    }

    /// Takes a table of names to ranges or tables, as poetry and pipenv write it.
    fn entries(&mut self, entries: Option<&DeTable<'_>>, kind: Kind, condition: Option<&str>) {
        for (key, value) in entries.into_iter().flatten() {
            let name = key.get_ref().as_ref();
            if name == "python" {
                continue;
            }
            // A list of tables gives one version per platform; the first speaks for all.
            let value = value.get_ref();
            let value = value
                .as_array()
                .and_then(|list| list.iter().next())
                .map_or(value, Spanned::get_ref);
            let declared = self.entry(name, value, kind);
            let condition = condition
                .map(str::to_owned)
                .or_else(|| declared.condition.clone());
            let line = self.lines.at(key.span().start);
            self.facts
                .declared
                .push(declared.condition(condition.as_deref()).line(line));
        }
    }

    fn entry(&self, name: &str, value: &DeValue<'_>, kind: Kind) -> Declared {
        let Some(entry) = value.as_table() else {
            return Declared::new(name, kind).requirement(value.as_str());
        };
        let optional = kind == Kind::Normal && flag(entry, "optional");
        let kind = if optional { Kind::Optional } else { kind };
        let declared = Declared::new(name, kind)
            .requirement(string(entry, "version"))
            .condition(string(entry, "markers"));
        self.placed(declared, entry)
    }

    fn placed(&self, declared: Declared, entry: &DeTable<'_>) -> Declared {
        if let Some(address) = string(entry, "git") {
            let fixed = string(entry, "rev").or_else(|| string(entry, "tag"));
            let reference = fixed
                .or_else(|| string(entry, "branch"))
                .or_else(|| string(entry, "ref"));
            let is_fixed = fixed.is_some() || reference.is_some_and(requirement::looks_fixed);
            return declared.git(address, reference, is_fixed);
        }
        if let Some(path) = string(entry, "path").or_else(|| string(entry, "file")) {
            return declared.path(self.facts.folder(), path);
        }
        if let Some(address) = string(entry, "url") {
            return declared.url(address);
        }
        if flag(entry, "workspace") {
            return declared.workspace();
        }
        declared
    }

    /// Applies `tool.uv.sources`, which say where a dependency named above comes from.
    fn sources(&mut self, sources: Option<&DeTable<'_>>) {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, declared) in self.facts.declared.iter().enumerate() {
            places
                .entry(normalised(&declared.name))
                .or_default()
                .push(index);
        }
        for (name, source) in sources.into_iter().flatten() {
            let Some(source) = source.get_ref().as_table() else {
                continue;
            };
            for &index in places
                .get(&normalised(name.get_ref()))
                .into_iter()
                .flatten()
            {
                let declared = self.facts.declared[index].clone();
                self.facts.declared[index] = self.placed(declared, source);
            }
        }
    }
}
