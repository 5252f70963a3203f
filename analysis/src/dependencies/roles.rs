//! Roles of manifests by their folders: the product, examples, and test data or templates.

use crate::paths::folder_of;
use crate::report::dependencies::{Ecosystem, Role};

const TEST_DATA: [&str; 15] = [
    "fixtures",
    "fixture",
    "__fixtures__",
    "testdata",
    "test_data",
    "test-data",
    "test-fixtures",
    "test_fixtures",
    "testfixtures",
    "__mocks__",
    "__tests__",
    "__snapshots__",
    "snapshots",
    "testcases",
    "test-cases",
];

const EXAMPLES: [&str; 16] = [
    "examples",
    "example",
    "_examples",
    "_example",
    "samples",
    "sample",
    "demo",
    "demos",
    "playground",
    "playgrounds",
    "sandbox",
    "sandboxes",
    "tutorial",
    "tutorials",
    "starters",
    "quickstart",
];

const TESTS: [&str; 7] = [
    "test",
    "tests",
    "spec",
    "specs",
    "e2e",
    "integration-tests",
    "integration_tests",
];

/// Judges by the folder what a manifest belongs to.
pub(super) fn role_of(ecosystem: Ecosystem, path: &str) -> Role {
    let folder = folder_of(path).to_ascii_lowercase();
    if is_test_data(path) || is_template(&folder) || is_below_tests(ecosystem, &folder) {
        Role::Fixture
    } else if folder.split('/').any(is_example) {
        Role::Example
    } else {
        Role::Product
    }
}

/// Returns whether a folder of this name holds examples.
pub(super) fn is_example(part: &str) -> bool {
    EXAMPLES.contains(&part) || part.ends_with("-examples") || part.ends_with("_examples")
}

/// Returns whether a file lies in a folder of test data.
pub(super) fn is_test_data(path: &str) -> bool {
    let folder = folder_of(path).to_ascii_lowercase();
    let sources = format!("/{folder}/");
    folder.split('/').any(|part| TEST_DATA.contains(&part))
        || sources.contains("/src/test/")
        || sources.contains("/src/it/")
}

fn is_template(folder: &str) -> bool {
    folder.split('/').any(|part| {
        let mut words = part.split(['-', '_', '.']);
        part.contains("{{")
            || words.any(|word| {
                matches!(
                    word,
                    "template"
                        | "templates"
                        | "cookiecutter"
                        | "scaffold"
                        | "skeleton"
                        | "boilerplate"
                )
            })
    })
}

/// Returns whether a folder lies deeper among tests than where a test suite declares what it needs itself.
fn is_below_tests(ecosystem: Ecosystem, folder: &str) -> bool {
    match ecosystem {
        Ecosystem::Cargo
        | Ecosystem::Npm
        | Ecosystem::Pypi
        | Ecosystem::Composer
        | Ecosystem::Bundler => {}
        // Their test suites are projects of their own, in folders of their own.
        Ecosystem::Go | Ecosystem::Maven | Ecosystem::Gradle | Ecosystem::Nuget => return false,
    }
    let folder = folder.strip_suffix("/requirements").unwrap_or(folder);
    let mut parts = folder.split('/');
    parts.any(|part| TESTS.contains(&part)) && parts.next().is_some()
}
