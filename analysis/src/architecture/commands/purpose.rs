//! Purposes of commands: build, test, lint, run, release, by names of targets and scripts.

use crate::report::architecture::CommandPurpose;

/// Words of names of targets, scripts and tasks; the first purpose that has one of the words wins.
const NAMES: &[(CommandPurpose, &[&str])] = &[
    (
        CommandPurpose::Lint,
        &[
            "lint",
            "linter",
            "linting",
            "lints",
            "fmt",
            "format",
            "formatting",
            "clippy",
            "eslint",
            "prettier",
            "typecheck",
            "tsc",
            "mypy",
            "ruff",
            "vet",
            "tidy",
            "style",
            "typing",
            "types",
            "checkstyle",
            "spotless",
            "ktlint",
            "gofmt",
            "golangci",
            "precommit",
            "shellcheck",
            "rubocop",
            "flake8",
            "black",
        ],
    ),
    (
        CommandPurpose::Test,
        &[
            "test",
            "tests",
            "testing",
            "runtest",
            "unittest",
            "unittests",
            "unit",
            "spec",
            "specs",
            "pytest",
            "jest",
            "vitest",
            "nextest",
            "coverage",
            "cov",
            "e2e",
            "ctest",
            "integration",
            "runtests",
        ],
    ),
    (
        CommandPurpose::Release,
        &["release", "publish", "deploy", "bump"],
    ),
    (
        CommandPurpose::Build,
        &[
            "build", "builds", "compile", "bundle", "dist", "assemble", "package", "jar",
        ],
    ),
    (CommandPurpose::Lint, &["check", "checks"]),
];

/// Splits a name into its words: `test:unit`, `build-all`, `publishToMavenLocal`, `py311`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for character in name.chars() {
        if !character.is_ascii_alphanumeric() || (character.is_ascii_uppercase() && after_small) {
            words.push(String::new());
        }
        if character.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(character.to_ascii_lowercase());
        }
        after_small = character.is_ascii_lowercase();
    }
    words
}

/// Words that start names of what is run; elsewhere in a name they say where: `migrate-dev`.
const RUNS: &[&str] = &["start", "dev", "serve", "run", "watch", "demo", "preview"];

/// First words of names that say what is done, whatever it is done with: `clean:test`, `gen-types`.
const OTHERS: &[&str] = &[
    "clean",
    "clear",
    "generate",
    "gen",
    "install",
    "update",
    "upgrade",
    "bench",
    "benchmark",
];

/// First words that mean the same whatever follows: `build:e2e` builds what `test:e2e` runs.
const FIRST: &[(CommandPurpose, &[&str])] = &[
    (
        CommandPurpose::Build,
        &["build", "compile", "bundle", "assemble", "package"],
    ),
    (CommandPurpose::Run, &["dev", "start", "serve", "preview"]),
];

/// Returns the purpose that the first or the last word of a name tells; those between say what it is about.
pub(super) fn by_name(name: &str) -> Option<CommandPurpose> {
    if name == "all" {
        return Some(CommandPurpose::Build);
    }
    let words = words(name);
    let (first, last) = (words.first()?, words.last()?);
    if words.len() > 1 && OTHERS.contains(&first.as_str()) {
        return None;
    }
    let mut by_first = FIRST.iter().filter(|_| words.len() == 2);
    if let Some((purpose, _)) = by_first.find(|(_, names)| names.contains(&first.as_str())) {
        return Some(*purpose);
    }
    NAMES
        .iter()
        .find(|(_, names)| names.contains(&first.as_str()) || names.contains(&last.as_str()))
        .map(|(purpose, _)| *purpose)
        .or_else(|| {
            RUNS.contains(&first.as_str())
                .then_some(CommandPurpose::Run)
        })
}

/// Returns the purpose of a target of make, Gradle, Maven or ninja: there `check` and `verify` run the tests.
pub(super) fn by_target(target: &str) -> Option<CommandPurpose> {
    match target {
        "check" | "verify" | "distcheck" => Some(CommandPurpose::Test),
        "install" | "bootRun" => None,
        "format:check" => Some(CommandPurpose::Lint),
        _ => by_name(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_purposes() {
        for (name, purpose) in [
            ("test:unit", Some(CommandPurpose::Test)),
            ("build-all", Some(CommandPurpose::Build)),
            ("typecheck", Some(CommandPurpose::Lint)),
            ("publishToMavenLocal", Some(CommandPurpose::Release)),
            ("defconfig", None),
            ("latest", None),
            ("install", None),
            ("gen-test-certs", None),
            ("migrate-dev", None),
            ("link-all", None),
            ("dev:server", Some(CommandPurpose::Run)),
            ("build:e2e", Some(CommandPurpose::Build)),
            ("dev:e2e", Some(CommandPurpose::Run)),
            ("build-and-test", Some(CommandPurpose::Test)),
            ("test-typing", Some(CommandPurpose::Lint)),
            ("test:build", Some(CommandPurpose::Test)),
            ("cleanTest", None),
            ("gen-types", None),
        ] {
            assert_eq!(by_name(name), purpose, "{name}");
        }
        assert_eq!(by_target("check"), Some(CommandPurpose::Test));
    }
}
