//! Commands of the architecture report: found where the repository states them, and runnable as they stand.

use std::process::Command;

use crate::support::Repo;
use analysis::report::architecture::{CommandPurpose, FoundCommand};
use analysis::{Budget, Depth, architecture, summarise};

fn commands(repo: &Repo) -> Vec<FoundCommand> {
    let report = architecture(
        repo.path(),
        Depth::Shallow,
        &Budget::for_depth(Depth::Shallow),
    );
    let commands = report.unwrap().commands.items;
    for found in &commands {
        let parsed = Command::new("sh")
            .args(["-n", "-c", &found.command])
            .output()
            .unwrap();
        assert!(parsed.status.success(), "{found:?}");
    }
    commands
}

fn lines(commands: &[FoundCommand]) -> Vec<String> {
    commands
        .iter()
        .map(|found| {
            let environment = found.environment.join(" ");
            let folder = found.directory.as_deref().unwrap_or(".");
            format!(
                "{:?} {folder} [{environment}] {}",
                found.purpose, found.command
            )
        })
        .collect()
}

#[test]
fn pipelines_keep_quotes_folders_and_variables_and_lose_what_is_no_command() {
    let repo = Repo::new();
    repo.write("sub/Cargo.toml", "[package]\nname = \"x\"\n")
        .write("Makefile", "all:\n\tcc x.c\n")
        .write(
            ".github/workflows/ci.yml",
            r#"env:
  LEVEL: high
jobs:
  one:
    defaults:
      run:
        working-directory: sub
    steps:
      - uses: actions/github-script@v7
        with:
          script: |
            const test = require('./test.js');
            github.rest.repos.createRelease({});
      - name: make test is no command here
        env:
          RUST_LOG: debug
          TOKEN: ${{ secrets.TOKEN }}
        run: cargo test --features 'a b' # why
      - run: cargo clippy -- -D "warnings"
      - run: cargo test --target ${{ matrix.target }}
      - run: cargo test --profile "$PROFILE"
      - run: cargo test --profile "$LEVEL"
      - shell: pwsh
        run: cargo build --verbose
  two:
    steps:
      - run: |
          sudo apt-get install make
          make CFLAGS='-O2 -DTEST' \
            V=1
          make defconfig
          if [ -n "$CI" ]; then
            cargo bench
            make all
          fi
          cd sub && cargo build
          cat <<END
          cargo publish
          END
          ./no-such-script test
          mkdir out && cd out && cargo build --manifest-path ../Cargo.toml
          cargo build --bins
          make 'CFLAGS=-O2
      - run: git clone https://x.y/other.git && cd other && cargo test --lib
"#,
        );
    assert_eq!(
        lines(&commands(&repo)),
        [
            "Test sub [RUST_LOG=debug] cargo test --features 'a b'",
            "Build . [] make all",
            "Lint sub [] cargo clippy -- -D \"warnings\"",
            "Test sub [LEVEL=high] cargo test --profile \"$LEVEL\"",
            "Build . [] make CFLAGS='-O2 -DTEST' V=1",
            "Build sub [] cargo build",
            "Build sub/out [] cargo build --manifest-path ../Cargo.toml",
        ]
    );
}

#[test]
fn documents_and_task_runners_come_before_pipelines() {
    let repo = Repo::new();
    repo.write(
        "CONTRIBUTING.md",
        "Run `tox -e lint`, not `eslint`.\n\n```sh\ngit clone https://x/y.git\ncd y\nmake test\nmake gone\npytest tests/<name>.py\n```\n\n```js\nnpm test\n```\n",
    )
    .write("README.md", "# Y\n\n    y test all\n\n```\nmake\neslint file.js\n```\n")
    .write("Makefile", "PYTEST := pytest\n.PHONY: test\ntest: ## all\n\tpytest tests\n\ndist:\n\tpython -m build\n")
    .write("tox.ini", "[tox]\nenvlist = py\n[testenv]\ncommands = pytest {posargs}\n[testenv:lint]\ncommands =\n    ruff check .\n")
    .write("noxfile.py", "import nox\n\n@nox.session(python=[\"3.12\"])\ndef coverage(session):\n    pass\n\ndef helper(): pass\n")
    .write("justfile", "fmt:\n  ruff format\nrelease version:\n  x {{version}}\n")
    .write("pyproject.toml", "[project]\nname = \"y\"\n[tool.poe.tasks]\ntypes = \"mypy src\"\n")
    .write(".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: make test\n      - run: pytest -x\n");
    let commands = commands(&repo);
    let seen: Vec<(&str, &str)> = commands
        .iter()
        .map(|found| (found.command.as_str(), found.source.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("make test", "CONTRIBUTING.md"),
            ("make dist", "Makefile"),
            ("tox -e lint", "CONTRIBUTING.md"),
            ("tox", "tox.ini"),
            ("make", "README.md"),
            ("just fmt", "justfile"),
            ("nox -s coverage", "noxfile.py"),
            ("poe types", "pyproject.toml"),
            ("pytest -x", ".github/workflows/ci.yml"),
        ]
    );
    let one_test = |command: &str| {
        let found = commands.iter().find(|found| found.command == command);
        found.unwrap().one_test.clone()
    };
    assert_eq!(
        one_test("make test").as_deref(),
        Some("pytest PATH::TEST_NAME")
    );
    assert_eq!(one_test("tox").as_deref(), Some("tox -- PATH::TEST_NAME"));
}

#[test]
fn scripts_of_many_packages_are_one_entry_and_no_purpose_is_lost() {
    let repo = Repo::new();
    repo.write(
        "package.json",
        "{\"workspaces\": [\"p/*\"], \"scripts\": {\"test\": \"vitest run\", \"pretest\": \"x\", \"build\": \"turbo build\"}}",
    )
    .write("pnpm-lock.yaml", "");
    for number in 0..60 {
        repo.write(
            &format!("p/{number}/package.json"),
            format!("{{\"name\": \"p{number}\", \"scripts\": {{\"build\": \"tsc -b\", \"test\": \"echo \\\"Error: no test specified\\\" && exit 1\", \"build:{number}\": \"vite build\"}}}}"),
        );
    }
    repo.write(
        "p/0/package.json",
        "{\"name\": \"p0\", \"scripts\": {\"build\": \"tsc -b\", \"lint\": \"eslint .\"}}",
    );
    let found = commands(&repo);
    let test = &found[0];
    assert_eq!(
        (test.purpose, test.command.as_str()),
        (CommandPurpose::Test, "pnpm run test")
    );
    assert_eq!(
        test.one_test.as_deref(),
        Some("pnpm exec vitest run PATH -t 'TEST NAME'")
    );
    let build = found
        .iter()
        .find(|found| found.directory.is_some() && found.purpose == CommandPurpose::Build)
        .unwrap();
    assert_eq!(
        (build.command.as_str(), build.also_in),
        ("pnpm run build", 59)
    );
    let report = architecture(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    )
    .unwrap();
    let short = summarise(&report, 900);
    let purposes: Vec<CommandPurpose> = short
        .commands
        .items
        .iter()
        .map(|found| found.purpose)
        .collect();
    assert!(
        short.commands.omitted > 0 && purposes.contains(&CommandPurpose::Lint),
        "{purposes:?}"
    );
}

#[test]
fn nothing_is_offered_that_the_repository_does_not_state() {
    let repo = Repo::new();
    repo.write("Cargo.toml", "[package]\nname = \"x\"\n")
        .write("src/main.rs", "fn main() {}\n");
    assert_eq!(lines(&commands(&repo)), [""; 0]);
}

#[test]
fn recipes_may_call_recipes_of_the_same_file() {
    let repo = Repo::new();
    repo.write("justfile", "check:\n  just test\ntest:\n  cargo test\n");
    let commands = commands(&repo);
    let seen: Vec<&str> = commands
        .iter()
        .map(|found| found.command.as_str())
        .collect();
    assert_eq!(seen, ["just check", "just test"]);
}
