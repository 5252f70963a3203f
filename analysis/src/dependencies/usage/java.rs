//! Package names by which Java, Kotlin, Scala and Groovy code imports an artifact.
//!
//! An import names a package, a manifest an artifact; which belongs to which is a guess, so that
//! nothing here is more than likely.

use crate::report::dependencies::Confidence;

/// Libraries whose packages have nothing to do with their coordinates.
const KNOWN: [(&str, &str); 22] = [
    ("com.google.guava:", "com.google.common"),
    ("junit:junit", "org.junit"),
    ("org.junit.jupiter:", "org.junit.jupiter"),
    ("org.projectlombok:", "lombok"),
    ("com.google.code.gson:", "com.google.gson"),
    ("com.google.code.findbugs:", "javax.annotation"),
    ("commons-io:", "org.apache.commons.io"),
    ("commons-lang:", "org.apache.commons.lang"),
    ("commons-codec:", "org.apache.commons.codec"),
    ("commons-collections:", "org.apache.commons.collections"),
    (
        "org.apache.commons:commons-lang3",
        "org.apache.commons.lang3",
    ),
    ("org.apache.httpcomponents:", "org.apache.http"),
    ("log4j:", "org.apache.log4j"),
    ("org.apache.logging.log4j:", "org.apache.logging.log4j"),
    ("org.mockito:", "org.mockito"),
    ("org.hamcrest:", "org.hamcrest"),
    ("com.squareup.okhttp3:", "okhttp3"),
    ("com.squareup.retrofit2:", "retrofit2"),
    ("io.reactivex.rxjava3:", "io.reactivex.rxjava3"),
    ("javax.servlet:", "javax.servlet"),
    ("joda-time:", "org.joda.time"),
    ("org.jetbrains.kotlinx:", "kotlinx"),
];

/// Returns the packages that an artifact may hold.
pub(super) fn names_of(coordinates: &str) -> Vec<(String, Confidence)> {
    let (group, artifact) = coordinates.split_once(':').unwrap_or((coordinates, ""));
    let mut names: Vec<(String, Confidence)> = KNOWN
        .iter()
        .filter(|(prefix, _)| coordinates.starts_with(prefix))
        .map(|(_, package)| ((*package).to_owned(), Confidence::Medium))
        .collect();
    let last = artifact.rsplit(['-', '.']).next().unwrap_or_default();
    if !last.is_empty() {
        names.push((format!("{group}.{last}"), Confidence::Medium));
    }
    names.push((group.to_owned(), Confidence::Medium));
    names
}
