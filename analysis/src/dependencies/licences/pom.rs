//! Artifacts in the local repositories of Maven and Gradle, described by `pom` files.

use std::path::PathBuf;

use roxmltree::{Document, ParsingOptions};

use super::super::maven::{child, text_of};
use super::{PackageCaches, inside, names_in, text_of as read, tidy};

/// Longest chain of parents that is followed to find a licence.
const MAX_PARENTS: usize = 6;

/// Returns the licence of an artifact, which it often has from a parent.
pub(super) fn licence(caches: &PackageCaches, coordinates: &str, version: &str) -> Option<String> {
    let (group, artifact) = coordinates.split_once(':')?;
    let mut next = (group.to_owned(), artifact.to_owned(), version.to_owned());
    for _ in 0..MAX_PARENTS {
        let (group, artifact, version) = &next;
        let text = pom(caches, group, artifact, version)?;
        let options = ParsingOptions {
            allow_dtd: false,
            nodes_limit: 100_000,
            ..Default::default()
        };
        let document = Document::parse_with_options(&text, options).ok()?;
        let project = document.root_element();
        if let Some(all) = child(project, "licenses") {
            let names: Vec<&str> = all
                .children()
                .filter(|each| each.tag_name().name() == "license")
                .filter_map(|each| text_of(each, "name"))
                .collect();
            return tidy(&names.join(" OR "));
        }
        let parent = child(project, "parent")?;
        let of = |name| text_of(parent, name).map(str::to_owned);
        next = (of("groupId")?, of("artifactId")?, of("version")?);
    }
    None
}

fn pom(caches: &PackageCaches, group: &str, artifact: &str, version: &str) -> Option<String> {
    let file = format!("{artifact}-{version}.pom");
    let of_maven = caches.maven.as_ref().and_then(|cache| {
        let parts = group.split('.').chain([artifact, version, file.as_str()]);
        read(&inside(cache, parts)?)
    });
    of_maven.or_else(|| {
        // Gradle keeps each file in a folder named after its checksum.
        let folder = inside(caches.gradle.as_ref()?, [group, artifact, version])?;
        let mut checksums: Vec<String> = names_in(&folder).take(16).collect();
        checksums.sort();
        let paths = checksums
            .iter()
            .filter_map(|checksum| inside(&folder, [checksum.as_str(), file.as_str()]));
        paths
            .collect::<Vec<PathBuf>>()
            .iter()
            .find_map(|path| read(path))
    })
}
