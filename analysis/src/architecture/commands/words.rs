//! Words of commands: programs by their names, variables, subcommands.

use crate::paths::name_of;

pub(super) const LINTERS: &[&str] = &[
    "eslint",
    "prettier",
    "biome",
    "stylelint",
    "oxlint",
    "tslint",
    "standard",
    "xo",
    "knip",
    "ruff",
    "black",
    "flake8",
    "mypy",
    "pyright",
    "basedpyright",
    "pylint",
    "isort",
    "bandit",
    "codespell",
    "golangci-lint",
    "gofmt",
    "gofumpt",
    "goimports",
    "staticcheck",
    "revive",
    "rubocop",
    "standardrb",
    "phpstan",
    "php-cs-fixer",
    "phpcs",
    "psalm",
    "shellcheck",
    "shfmt",
    "actionlint",
    "hadolint",
    "yamllint",
    "markdownlint",
    "markdownlint-cli2",
    "typos",
    "taplo",
    "clang-format",
    "clang-tidy",
    "cppcheck",
    "editorconfig-checker",
    "lychee",
    "zizmor",
    "ktlint",
    "detekt",
    "vulture",
    "pydocstyle",
    "cpplint",
];

pub(super) const TEST_RUNNERS: &[&str] = &[
    "pytest",
    "py.test",
    "unittest",
    "nosetests",
    "stestr",
    "vitest",
    "jest",
    "mocha",
    "ava",
    "tap",
    "cypress",
    "karma",
    "rspec",
    "phpunit",
    "pest",
    "gotestsum",
    "ginkgo",
    "ctest",
    "bats",
    "prove",
];

/// Returns the name of a program without its folder and the endings of Windows.
pub(super) fn program_name(word: &str) -> &str {
    let name = name_of(word);
    name.strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".bat"))
        .unwrap_or(name)
}

/// Returns whether a word is `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns the first word that is neither an option nor the choice of a toolchain, empty without one.
pub(super) fn subcommand_of(rest: &[String]) -> &str {
    rest.iter()
        .map(String::as_str)
        .find(|word| !word.starts_with(['-', '+']))
        .unwrap_or_default()
}
