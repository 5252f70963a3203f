//! Names of tests: folders and files that hold tests, in each language.

use super::language::Language;
use super::path_parts::Name;

/// Folders of tests in every language.
const FOLDERS: [&str; 26] = [
    "tests",
    "__tests__",
    "__mocks__",
    "__snapshots__",
    "__fixtures__",
    "testdata",
    "test-data",
    "test_data",
    "test-utils",
    "test_utils",
    "testutil",
    "testutils",
    "test-helpers",
    "test_helpers",
    "test_support",
    "test-fixtures",
    "test_fixtures",
    "testsuite",
    "unittests",
    "e2e",
    "cypress",
    "playwright",
    "integration-tests",
    "integration_tests",
    "integration_test",
    "functional-tests",
];
/// What tests read.
const FIXTURES: [&str; 9] = [
    "fixtures",
    "__fixtures__",
    "testdata",
    "test-data",
    "test_data",
    "snapshots",
    "__snapshots__",
    "test-fixtures",
    "test_fixtures",
];
/// Below these, `test` is the name of a command of the product.
const COMMANDS: [&str; 6] = ["bin", "cmd", "command", "commands", "subcommands", "cli"];
/// Parts between the dots of a script's name.
const SCRIPT_PARTS: [&str; 8] = [
    "test", "tests", "spec", "cy", "e2e", "e2e-spec", "test-d", "stest",
];
/// Scripts that prepare test runs.
const SCRIPT_NAMES: [&str; 22] = [
    "test",
    "tests",
    "spec",
    "setupTests",
    "setup-tests",
    "test-setup",
    "testSetup",
    "test-utils",
    "testUtils",
    "test-helpers",
    "testHelpers",
    "jest.setup",
    "jest-setup",
    "jest.polyfills",
    "jest.global-setup",
    "jest.globalSetup",
    "setup-jest",
    "setupJest",
    "vitest.setup",
    "vitest-setup",
    "setupVitest",
    "setup-vitest",
];

/// Returns whether a file belongs to the tests.
pub(super) fn is_test(name: &Name<'_>) -> bool {
    if name.language == Language::Jvm
        && let Some(set) = source_set(name)
    {
        return is_test_set(set);
    }
    in_test_folder(name) || has_test_name(name)
}

/// Returns whether a test's file is data that tests read, whatever it is called.
pub(super) fn is_fixture(name: &Name<'_>) -> bool {
    name.is_below(&FIXTURES)
}

/// Returns the name of the source set on the JVM: `main` of `src/main/java`.
fn source_set<'p>(name: &Name<'p>) -> Option<&'p str> {
    let at = name.folders.iter().position(|folder| *folder == "src")?;
    let set = name.folders.get(at + 1)?;
    // `src/main/java`; without the third folder `src` is an old layout's only folder.
    let inner = name.folders.get(at + 2)?;
    let known = [
        "java",
        "kotlin",
        "scala",
        "groovy",
        "resources",
        "res",
        "proto",
        "cpp",
        "swift",
        "assets",
    ];
    (known.contains(inner) || ["main", "test"].contains(set)).then_some(*set)
}

fn is_test_set(set: &str) -> bool {
    set == "it"
        || set.starts_with("test")
        || set.contains("Test")
        || set.ends_with("-test")
        || set == "jmh"
}

fn in_test_folder(name: &Name<'_>) -> bool {
    let language = name.language;
    name.is_below(&FOLDERS)
        || name.folders.iter().enumerate().any(|(at, folder)| {
            let below = |names: &[&str]| at > 0 && names.contains(&name.folders[at - 1]);
            match *folder {
                "test" => !below(&COMMANDS),
                "spec" | "specs" => {
                    matches!(language, Language::Ruby | Language::Script | Language::Php)
                }
                "features" => {
                    let inner = name.folders.get(at + 1).copied().unwrap_or_default();
                    ["step_definitions", "steps", "support", "bootstrap"].contains(&inner)
                }
                "benches" => language == Language::Rust,
                "t" => at == 0 && matches!(language, Language::C | Language::Other),
                "mocks" => at == 0 && language == Language::Script,
                folder => {
                    matches!(language, Language::Dotnet | Language::Swift | Language::Php)
                        && is_test_project(folder)
                }
            }
        })
}

/// `App.Tests`, `App.UnitTests`, `AppUITests`, `Tests`; not `Contest`.
fn is_test_project(folder: &str) -> bool {
    ["Tests", "Test", "Specs"].iter().any(|last| {
        folder
            .strip_suffix(last)
            .is_some_and(|before| !before.ends_with(char::is_uppercase) || before.ends_with("UI"))
    }) || folder.ends_with(".Spec")
}

fn has_test_name(name: &Name<'_>) -> bool {
    let stem = name.stem;
    let parent = name.folders.last().copied().unwrap_or_default();
    let is_command = COMMANDS.contains(&parent);
    let begins = |words: &[&str]| words.iter().any(|word| stem.starts_with(word));
    let ends = |words: &[&str]| words.iter().any(|word| stem.ends_with(word));
    let is = |words: &[&str]| words.contains(&stem) && !is_command;
    match name.language {
        Language::Rust => {
            begins(&["test_"]) || ends(&["_test", "_tests"]) || is(&["tests", "test"])
        }
        Language::Script => is_test_script(name, is_command),
        Language::Python => {
            begins(&["test_"]) || ends(&["_test", "_tests"]) || is(&["tests", "test", "conftest"])
        }
        Language::Go => ends(&["_test"]),
        Language::Jvm => {
            camel(stem, &["Test", "Tests", "IT", "TestCase", "Spec"]) || begins_camel(stem)
        }
        Language::Dotnet => ends(&["Tests"]) || camel(stem, &["Test", "Specs"]),
        Language::Ruby => {
            begins(&["test_"]) || ends(&["_test", "_spec"]) || is(&["spec_helper", "rails_helper"])
        }
        Language::Php => camel(stem, &["Test", "TestCase", "Cest", "Spec"]),
        Language::Elixir => ends(&["_test"]) || is(&["test_helper"]),
        Language::C => {
            begins(&["test_"])
                || ends(&["_test", "_tests", "_unittest", ".test"])
                || camel(stem, &["Test", "Tests"])
                || is(&["test", "tests"])
        }
        Language::Swift => camel(stem, &["Test", "Tests", "Spec"]),
        Language::Other => {
            let is_code = [
                "dart", "lua", "sh", "bash", "ps1", "jl", "zig", "r", "clj", "erl", "hs",
            ];
            is_code.contains(&name.ending.as_str())
                && (begins(&["test_", "test-"])
                    || ends(&[
                        "_test", "_spec", "_tests", "_SUITE", "-test", ".Tests", ".tests",
                    ])
                    || is(&["test", "tests"]))
        }
    }
}

fn is_test_script(name: &Name<'_>, is_command: bool) -> bool {
    let stem = name.stem;
    let mut parts = stem.split('.').skip(1);
    let ends = ["-test", "-spec", "_test", "_spec", "-tests"];
    let is_component = ["jsx", "tsx", "vue", "svelte", "astro"].contains(&name.ending.as_str());
    parts.any(|part| SCRIPT_PARTS.contains(&part))
        || ends.iter().any(|end| stem.ends_with(end))
        || (SCRIPT_NAMES.contains(&stem) && !is_command)
        || (stem.starts_with("test-") || stem.starts_with("test_")) && name.folders.is_empty()
        // `SpeedTest.tsx` is a component.
        || (camel(stem, &["Test", "Spec"]) && !is_component)
}

/// Returns whether a name in camel case ends with one of these words.
fn camel(stem: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        stem.strip_suffix(word)
            .and_then(|before| before.chars().next_back())
            .is_some_and(|last| last.is_lowercase() || last.is_ascii_digit() || "_.".contains(last))
    })
}

/// `TestParser.java`
fn begins_camel(stem: &str) -> bool {
    stem.strip_prefix("Test")
        .is_some_and(|rest| rest.starts_with(char::is_uppercase))
}
