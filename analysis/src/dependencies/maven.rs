//! Maven: `pom.xml` with parents, properties and dependency management of the same tree.

use std::collections::{HashMap, HashSet};

use roxmltree::{Document, Node};

use super::facts::{Declared, MAX_MANIFEST_SIZE, ManifestFacts, ParseError, Reader};
use crate::AnalysisError;
use crate::line_index::Lines;
use crate::paths::{folder_of, joined};
use crate::report::dependencies::{Ecosystem, Kind};

/// Longest chain of parents, and of properties that name properties.
const MAX_CHAIN: usize = 16;

/// Longest text that a chain of properties may grow to.
const MAX_VALUE_LENGTH: usize = 1_000;

/// Reads all project files of Maven.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), AnalysisError> {
    let mut poms = HashMap::new();
    for path in reader.files(&["pom.xml"]) {
        let found = reader.parse(&path, MAX_MANIFEST_SIZE, |text| pom(&path, text))?;
        poms.extend(found.map(|found| (path, found)));
    }
    let mut paths: Vec<&String> = poms.keys().collect();
    paths.sort_unstable();
    let locals: HashSet<&str> = poms.values().map(|pom| pom.artifact.as_str()).collect();
    let mut resolved = Vec::with_capacity(paths.len());
    for path in paths {
        reader.budget.check()?;
        resolved.extend(resolve(&poms, &locals, path));
    }
    reader.manifests.extend(resolved);
    Ok(())
}

/// A project file before parents and properties are applied.
pub(super) struct Pom {
    facts: ManifestFacts,
    artifact: String,
    group: Option<String>,
    version: Option<String>,
    parent: Option<Parent>,
    properties: HashMap<String, String>,
    managed: Vec<Declared>,
}

struct Parent {
    group: String,
    artifact: String,
    version: String,
    path: Option<String>,
}

/// Parses `pom.xml`; entities are bounded by the parser, documents outside are never loaded.
pub(super) fn pom(path: &str, text: &str) -> Result<Pom, ParseError> {
    let document = Document::parse_with_options(
        text,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            nodes_limit: 400_000,
            ..Default::default()
        },
    )?;
    let project = document.root_element();
    if project.tag_name().name() != "project" {
        return Err(ParseError::Shape {
            expected: "element `project`",
        });
    }
    let mut facts = ManifestFacts::new(path, Ecosystem::Maven);
    let lines = Lines::of(text);
    let licence = child(project, "licenses")
        .and_then(|all| child(all, "license"))
        .and_then(|first| text_of(first, "name"));
    facts.about(None, None, licence);
    collect(&mut facts.declared, project, &lines, None);
    let mut managed = Vec::new();
    if let Some(management) = child(project, "dependencyManagement") {
        collect(&mut managed, management, &lines, None);
    }
    for profile in child(project, "profiles")
        .into_iter()
        .flat_map(|all| children(all, "profile"))
    {
        let id = text_of(profile, "id").unwrap_or("unnamed");
        collect(
            &mut facts.declared,
            profile,
            &lines,
            Some(&format!("profile {id}")),
        );
    }
    for plugin in child(project, "build")
        .and_then(|build| child(build, "plugins"))
        .into_iter()
        .flat_map(|all| children(all, "plugin"))
    {
        let group = text_of(plugin, "groupId").unwrap_or("org.apache.maven.plugins");
        if let Some(artifact) = text_of(plugin, "artifactId") {
            let declared = Declared::new(&format!("{group}:{artifact}"), Kind::Build)
                .requirement(text_of(plugin, "version"))
                .condition(Some("plugin"));
            facts
                .declared
                .push(declared.line(lines.at(plugin.range().start)));
        }
    }
    let properties = child(project, "properties")
        .into_iter()
        .flat_map(|all| all.children().filter(Node::is_element))
        .filter_map(|each| {
            Some((
                each.tag_name().name().to_owned(),
                each.text()?.trim().to_owned(),
            ))
        })
        .collect();
    let parent = child(project, "parent").map(|parent| Parent {
        group: text_of(parent, "groupId").unwrap_or_default().to_owned(),
        artifact: text_of(parent, "artifactId").unwrap_or_default().to_owned(),
        version: text_of(parent, "version").unwrap_or_default().to_owned(),
        path: child(parent, "relativePath")
            .map(|path| path.text().unwrap_or_default().trim().to_owned()),
    });
    Ok(Pom {
        facts,
        artifact: text_of(project, "artifactId")
            .unwrap_or_default()
            .to_owned(),
        group: text_of(project, "groupId").map(str::to_owned),
        version: text_of(project, "version").map(str::to_owned),
        parent,
        properties,
        managed,
    })
}

fn collect(into: &mut Vec<Declared>, parent: Node<'_, '_>, lines: &Lines, condition: Option<&str>) {
    let dependencies = child(parent, "dependencies").into_iter();
    for dependency in dependencies.flat_map(|all| children(all, "dependency")) {
        let (Some(group), Some(artifact)) = (
            text_of(dependency, "groupId"),
            text_of(dependency, "artifactId"),
        ) else {
            continue;
        };
        let optional = text_of(dependency, "optional") == Some("true");
        let kind = match text_of(dependency, "scope") {
            Some("test") => Kind::Dev,
            Some("provided") => Kind::Peer,
            Some(_) | None if optional => Kind::Optional,
            Some(_) | None => Kind::Normal,
        };
        let imported = text_of(dependency, "scope") == Some("import");
        let condition = if imported {
            Some("imported management")
        } else {
            condition
        };
        let mut declared = Declared::new(&format!("{group}:{artifact}"), kind)
            .requirement(text_of(dependency, "version"))
            .condition(condition)
            .line(lines.at(dependency.range().start));
        if text_of(dependency, "scope") == Some("system") {
            declared = declared.path("", text_of(dependency, "systemPath").unwrap_or("(unknown)"));
        }
        into.push(declared);
    }
}

/// Applies the parents of the same tree to one project.
fn resolve(
    poms: &HashMap<String, Pom>,
    locals: &HashSet<&str>,
    path: &str,
) -> Option<ManifestFacts> {
    let own = poms.get(path)?;
    let mut chain = vec![own];
    let mut at = path.to_owned();
    while chain.len() < MAX_CHAIN {
        let Some(last) = chain.last() else { break };
        let Some(parent_path) = parent_of(poms, &at, last) else {
            break;
        };
        let Some(next) = poms.get(&parent_path) else {
            break;
        };
        chain.push(next);
        at = parent_path;
    }
    let group = chain.iter().find_map(|pom| {
        pom.group
            .clone()
            .or_else(|| pom.parent.as_ref().map(|parent| parent.group.clone()))
    });
    let version = chain.iter().find_map(|pom| {
        pom.version
            .clone()
            .or_else(|| pom.parent.as_ref().map(|parent| parent.version.clone()))
    });
    let lookup = |name: &str| -> Option<String> {
        match name {
            "project.version" | "pom.version" | "version" => return version.clone(),
            "project.groupId" | "pom.groupId" | "groupId" => return group.clone(),
            "project.artifactId" | "artifactId" => return Some(own.artifact.clone()),
            "project.parent.version" => {
                return own.parent.as_ref().map(|parent| parent.version.clone());
            }
            _ => {}
        }
        chain
            .iter()
            .find_map(|pom| pom.properties.get(name).cloned())
    };
    let mut managed: HashMap<String, &Declared> = HashMap::new();
    for entry in chain.iter().flat_map(|pom| &pom.managed) {
        managed.entry(expand(&entry.name, &lookup)).or_insert(entry);
    }
    let mut facts = own.facts.clone();
    let name = expand(
        &format!("{}:{}", group.as_deref().unwrap_or_default(), own.artifact),
        &lookup,
    );
    let version = version.as_deref().map(|version| expand(version, &lookup));
    let licence = facts.licence.take();
    facts.about(Some(&name), version.as_deref(), licence.as_deref());
    for declared in &mut facts.declared {
        let name = expand(&declared.name, &lookup);
        declared.name.clone_from(&name);
        let shared = managed.get(&name);
        let requirement = declared
            .requirement
            .clone()
            .or_else(|| shared.and_then(|shared| shared.requirement.clone()));
        declared.requirement = requirement.map(|text| expand(&text, &lookup));
        // Dependency management also sets the scope of those that name none.
        if let Some(shared) = shared
            && declared.kind == Kind::Normal
        {
            declared.kind = shared.kind;
        }
        let (of_group, artifact) = name.split_once(':').unwrap_or((&name, ""));
        if Some(of_group) == group.as_deref() && locals.contains(artifact) {
            *declared = declared.clone().workspace();
        }
    }
    facts.offered = own
        .managed
        .iter()
        .map(|entry| {
            let mut entry = entry.clone();
            entry.name = expand(&entry.name, &lookup);
            entry.requirement = entry.requirement.map(|text| expand(&text, &lookup));
            entry
        })
        .collect();
    Some(facts)
}

/// Finds the parent project: by its path, else by its name.
fn parent_of(poms: &HashMap<String, Pom>, path: &str, pom: &Pom) -> Option<String> {
    let parent = pom.parent.as_ref()?;
    let relative = parent.path.as_deref().unwrap_or("../pom.xml");
    let by_path = joined(folder_of(path), relative)
        .into_iter()
        .flat_map(|target| {
            [
                target.clone(),
                format!("{target}/pom.xml")
                    .trim_start_matches('/')
                    .to_owned(),
            ]
        })
        .find(|target| {
            target != path
                && poms
                    .get(target)
                    .is_some_and(|found| found.artifact == parent.artifact)
        });
    by_path.or_else(|| {
        let mut named: Vec<&String> = poms
            .iter()
            .filter(|(other, found)| *other != path && found.artifact == parent.artifact)
            .filter(|(_, found)| {
                found
                    .group
                    .as_ref()
                    .is_none_or(|group| *group == parent.group)
            })
            .map(|(other, _)| other)
            .collect();
        named.sort_unstable();
        named.first().map(|path| (*path).clone())
    })
}

/// Replaces `${name}`; properties that name themselves stay as they are.
fn expand(text: &str, lookup: &impl Fn(&str) -> Option<String>) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_CHAIN {
        let Some(start) = text.find("${") else { break };
        let Some(length) = text[start..].find('}') else {
            break;
        };
        let Some(value) = lookup(&text[start + 2..start + length]) else {
            break;
        };
        text.replace_range(start..=start + length, &value);
        if text.len() > MAX_VALUE_LENGTH {
            break;
        }
    }
    crate::text::harmless(&text, 160)
}

pub(crate) fn child<'a, 'i>(parent: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    parent
        .children()
        .find(|node| node.is_element() && node.tag_name().name() == name)
}

fn children<'a, 'i>(
    parent: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    parent
        .children()
        .filter(move |node| node.is_element() && node.tag_name().name() == name)
}

pub(crate) fn text_of<'a>(parent: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(parent, name)?
        .text()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}
