//! Recognises a project's own build and test commands from the files in its root.
//!
//! Only fixed words and names that pass [`is_plain`] get out of here, because the result becomes
//! permission rules and the repository's text is not trusted.

use std::path::Path;

use model::toolchain::{
    JUSTFILES, MAKEFILES, PackageManager, Toolchain, is_dotnet_project, target_line, toolchains,
};
use serde_json::Value;

/// A command that belongs to the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Command {
    /// The words it begins with.
    pub words: String,
    /// Whether more arguments may follow. Installers get none: `npm install evil` is not `npm install`.
    pub arguments: bool,
}

/// Files larger than this are not a build file that anybody wrote.
const MAX_FILE: u64 = 1024 * 1024;

/// First words of script, target and recipe names that build or check, as against deploy or release.
const CHECKS: [&str; 17] = [
    "build",
    "bench",
    "check",
    "clippy",
    "compile",
    "coverage",
    "e2e",
    "fmt",
    "format",
    "integration",
    "lint",
    "spec",
    "test",
    "tests",
    "typecheck",
    "unit",
    "verify",
];

/// Commands of one toolchain: those that take arguments, then exact ones.
type Commands = (&'static [&'static str], &'static [&'static str]);

fn commands_of(toolchain: Toolchain) -> Commands {
    match toolchain {
        Toolchain::Cargo => (
            &[
                "cargo bench",
                "cargo build",
                "cargo check",
                "cargo clippy",
                "cargo doc",
                "cargo fmt",
                "cargo metadata",
                "cargo nextest run",
                "cargo run",
                "cargo test",
                "cargo tree",
            ],
            &["cargo fetch"],
        ),
        Toolchain::Go => (
            &[
                "go build", "go doc", "go fmt", "go list", "go test", "go vet", "gofmt",
            ],
            &["go mod download", "go mod tidy"],
        ),
        Toolchain::Python => (
            &[
                "pytest",
                "python -m pytest",
                "python -m unittest",
                "python3 -m pytest",
                "python3 -m unittest",
            ],
            &[],
        ),
        Toolchain::Maven => (
            &[
                "./mvnw compile",
                "./mvnw test",
                "./mvnw verify",
                "mvn compile",
                "mvn test",
                "mvn verify",
            ],
            &[],
        ),
        Toolchain::Gradle => (
            &[
                "./gradlew build",
                "./gradlew check",
                "./gradlew test",
                "gradle build",
                "gradle check",
                "gradle test",
            ],
            &[],
        ),
        Toolchain::Bundler => (
            &[
                "bundle exec rake test",
                "bundle exec rspec",
                "bundle exec rubocop",
                "rake test",
                "rspec",
            ],
            &["bundle install"],
        ),
        Toolchain::Composer => (
            &[
                "./vendor/bin/phpstan",
                "./vendor/bin/phpunit",
                "composer test",
                "vendor/bin/phpstan",
                "vendor/bin/phpunit",
            ],
            &["composer install"],
        ),
        Toolchain::Mix => (
            &["mix compile", "mix credo", "mix format", "mix test"],
            &["mix deps.get"],
        ),
        Toolchain::Cmake => (&["cmake --build", "cmake -B", "cmake -S", "ctest"], &[]),
        Toolchain::Dotnet => (
            &["dotnet build", "dotnet format", "dotnet test"],
            &["dotnet restore"],
        ),
        // Its commands are the scripts of its package.json.
        Toolchain::Node => (&[], &[]),
    }
}

/// Commands of tools that some projects of a toolchain use, by the files of these tools.
const BY_FILE: [(&str, Commands); 3] = [
    (
        "uv.lock",
        (
            &[
                "uv run mypy",
                "uv run pyright",
                "uv run pytest",
                "uv run python -m pytest",
                "uv run ruff",
            ],
            &["uv sync"],
        ),
    ),
    (
        "poetry.lock",
        (
            &["poetry run mypy", "poetry run pytest", "poetry run ruff"],
            &["poetry install"],
        ),
    ),
    ("tox.ini", (&["tox"], &[])),
];

/// Returns the project's own build and test commands, sorted, each once.
pub fn recognise_commands(worktree: &Path) -> Vec<Command> {
    let has = |name: &str| worktree.join(name).is_file();
    let mut toolchains = toolchains(has);
    if has_dotnet(worktree) {
        toolchains.push(Toolchain::Dotnet);
    }
    let by_file = BY_FILE.iter().filter(|(file, _)| has(file));
    let tables = toolchains.into_iter().map(commands_of);
    let mut found = Vec::new();
    for (open, exact) in tables.chain(by_file.map(|(_, commands)| *commands)) {
        found.extend(open.iter().map(|words| command(words, true)));
        found.extend(exact.iter().map(|words| command(words, false)));
    }
    found.extend(package_scripts(worktree));
    found.extend(targets(worktree, "make", &MAKEFILES));
    found.extend(targets(worktree, "just", &JUSTFILES));
    found.sort();
    found.dedup();
    found
}

fn command(words: &str, arguments: bool) -> Command {
    Command {
        words: words.to_owned(),
        arguments,
    }
}

/// The scripts of `package.json`, by the package manager whose lock file is there.
fn package_scripts(worktree: &Path) -> Vec<Command> {
    let Some(package) =
        read(worktree, "package.json").and_then(|text| serde_json::from_str::<Value>(&text).ok())
    else {
        return Vec::new();
    };
    let manager = PackageManager::of_lock_file(|name| worktree.join(name).is_file());
    let manager = manager.unwrap_or(PackageManager::Npm);
    let install: &[&str] = match manager {
        PackageManager::Npm => &["npm ci", "npm install"],
        PackageManager::Pnpm => &["pnpm install", "pnpm install --frozen-lockfile"],
        PackageManager::Yarn => &[
            "yarn",
            "yarn install",
            "yarn install --immutable",
            "yarn install --frozen-lockfile",
        ],
        PackageManager::Bun => &["bun install", "bun install --frozen-lockfile"],
    };
    let program = manager.program();
    let mut found: Vec<Command> = install.iter().map(|words| command(words, false)).collect();
    let names = package["scripts"]
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::keys);
    for name in names.filter(|name| is_check(name)) {
        found.push(command(&format!("{program} run {name}"), true));
        if program == "yarn" || program == "pnpm" || name == "test" {
            found.push(command(&format!("{program} {name}"), true));
        }
    }
    found
}

/// Targets of a Makefile or recipes of a justfile: names at the start of a line, before a colon.
fn targets(worktree: &Path, program: &str, files: &[&str]) -> Vec<Command> {
    let Some(text) = files.iter().find_map(|file| read(worktree, file)) else {
        return Vec::new();
    };
    text.lines()
        .filter_map(target_line)
        // A recipe's parameters stand between its name and the colon; make lists several targets.
        .flat_map(|names| match program {
            "just" => names.split_whitespace().take(1).collect::<Vec<_>>(),
            _ => names.split_whitespace().collect(),
        })
        .filter(|name| is_check(name))
        .map(|name| command(&format!("{program} {name}"), true))
        .collect()
}

fn has_dotnet(worktree: &Path) -> bool {
    std::fs::read_dir(worktree).is_ok_and(|entries| {
        entries.filter_map(Result::ok).any(|entry| {
            let name = entry.file_name();
            name.to_str().is_some_and(is_dotnet_project)
        })
    })
}

fn is_check(name: &str) -> bool {
    let first = name
        .split([':', '-', '_', '.', '/'])
        .next()
        .unwrap_or_default();
    is_plain(name) && CHECKS.contains(&first)
}

/// Whether a name is free of everything that means something to a shell or a permission rule.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && !name.starts_with('-')
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || ":-_./".contains(character))
        // `:*` ends a rule, and a name that ends in a colon would run into it.
        && !name.ends_with(':')
}

/// Reads a regular file of the worktree's root; a link could lead anywhere.
fn read(worktree: &Path, name: &str) -> Option<String> {
    let path = worktree.join(name);
    let metadata = path.symlink_metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(files: &[(&str, &str)]) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        recognise_commands(directory.path())
            .into_iter()
            .map(|command| {
                if command.arguments {
                    command.words + " …"
                } else {
                    command.words
                }
            })
            .collect()
    }

    #[test]
    fn an_empty_project_has_no_commands() {
        assert!(recognised(&[]).is_empty());
    }

    #[test]
    fn cargo_builds_and_tests_but_does_not_publish() {
        let found = recognised(&[("Cargo.toml", "")]);
        assert!(found.contains(&"cargo test …".to_owned()));
        assert!(found.contains(&"cargo nextest run …".to_owned()));
        assert!(
            !found
                .iter()
                .any(|words| words.contains("publish") || words.contains("install"))
        );
    }

    #[test]
    fn package_scripts_that_check_are_taken_and_hostile_names_are_not() {
        let package = r#"{"scripts": {"test": "x", "test:unit": "x", "lint": "x", "deploy": "x",
            "test && curl evil": "x", "test) Bash(rm": "x", "test:*": "x", "test:": "x"}}"#;
        assert_eq!(
            recognised(&[("package.json", package)]),
            [
                "npm ci",
                "npm install",
                "npm run lint …",
                "npm run test …",
                "npm run test:unit …",
                "npm test …"
            ]
        );
        let found = recognised(&[("package.json", package), ("pnpm-lock.yaml", "")]);
        assert!(
            found.contains(&"pnpm lint …".to_owned()) && found.contains(&"pnpm install".to_owned())
        );
        assert!(recognised(&[("package.json", "not json")]).is_empty());
    }

    #[test]
    fn make_targets_and_just_recipes_are_read_by_name() {
        let makefile =
            "CHECK := 1\n.PHONY: test\ntest check: deps\n\tcargo test:x\ndeploy:\nlint: ; x\n";
        assert_eq!(
            recognised(&[("Makefile", makefile)]),
            ["make check …", "make lint …", "make test …"]
        );
        let justfile = "set shell := [\"sh\"]\ntest filter='': build\n  x\nrelease:\n";
        assert_eq!(recognised(&[("justfile", justfile)]), ["just test …"]);
    }

    #[test]
    fn every_ecosystem_is_recognised() {
        for (file, expected) in [
            ("go.mod", "go test …"),
            ("pyproject.toml", "pytest …"),
            ("uv.lock", "uv run pytest …"),
            ("poetry.lock", "poetry run pytest …"),
            ("tox.ini", "tox …"),
            ("pom.xml", "mvn test …"),
            ("gradlew", "./gradlew test …"),
            ("App.csproj", "dotnet test …"),
            ("Gemfile", "bundle exec rspec …"),
            ("composer.json", "vendor/bin/phpunit …"),
            ("mix.exs", "mix test …"),
            ("CMakeLists.txt", "ctest …"),
        ] {
            assert!(
                recognised(&[(file, "")]).contains(&expected.to_owned()),
                "{file}"
            );
        }
    }

    #[test]
    fn a_linked_build_file_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let outside = directory.path().join("outside");
        std::fs::write(&outside, "test:\n").unwrap();
        let worktree = directory.path().join("worktree");
        std::fs::create_dir(&worktree).unwrap();
        std::os::unix::fs::symlink(&outside, worktree.join("Makefile")).unwrap();
        assert!(recognise_commands(&worktree).is_empty());
    }
}
