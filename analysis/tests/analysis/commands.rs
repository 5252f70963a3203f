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
            ("just fmt", "justfile"),
            ("nox -s coverage", "noxfile.py"),
            ("poe types", "pyproject.toml"),
            ("make", "README.md"),
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
    assert_eq!(
        one_test("tox").as_deref(),
        Some("tox -e py -- PATH::TEST_NAME")
    );
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
    // That a Cargo package can be tested needs no statement; nothing else is added.
    assert_eq!(lines(&commands(&repo)), ["Test . [] cargo test"]);
}

fn one_test_of(document: &str, files: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    let repo = Repo::new();
    repo.write("CONTRIBUTING.md", document);
    for (path, text) in files {
        repo.write(path, text);
    }
    let found = commands(&repo).into_iter();
    found.map(|found| (found.command, found.one_test)).collect()
}

fn one_of(line: &str, files: &[(&str, &str)]) -> Option<String> {
    let found = one_test_of(&format!("```sh\n{line}\n```\n"), files);
    let entry = found.into_iter().find(|(command, _)| command == line);
    entry.and_then(|(_, one)| one)
}

#[test]
fn one_test_takes_the_place_of_a_filter() {
    for (line, one) in [
        (
            "cargo nextest run -p tests --test e2e tidy::x",
            "cargo nextest run -p tests --test e2e TEST_NAME",
        ),
        (
            "cargo test -p a --lib git:: -- --nocapture",
            "cargo test -p a --lib TEST_NAME",
        ),
        (
            "cargo nextest run -p a -E 'test(rounds::)' --locked",
            "cargo nextest run -p a --locked TEST_NAME",
        ),
        (
            "cargo +nightly test --features 'a b' name",
            "cargo +nightly test --features 'a b' TEST_NAME",
        ),
        (
            "cargo nextest run --filterset='test(x)' --workspace",
            "cargo nextest run --workspace TEST_NAME",
        ),
        (
            "ctest --test-dir build -R unit",
            "ctest --test-dir build -R TEST_NAME",
        ),
    ] {
        assert_eq!(one_of(line, &[]).as_deref(), Some(one), "{line}");
    }
}

#[test]
fn one_test_of_many_modules_does_not_fail_where_no_test_matches() {
    let reactor = (
        "pom.xml",
        "<project><modules><module>a</module></modules></project>",
    );
    let single = ("pom.xml", "<project><artifactId>a</artifactId></project>");
    let one = "mvn test -Dtest='CLASS#METHOD'";
    let all = "mvn test -Dtest='CLASS#METHOD' -Dsurefire.failIfNoSpecifiedTests=false";
    assert_eq!(one_of("mvn clean verify", &[single]).as_deref(), Some(one));
    assert_eq!(one_of("mvn clean verify", &[reactor]).as_deref(), Some(all));
    assert_eq!(
        one_of("mvn -pl a test", &[reactor]).as_deref(),
        Some("mvn -pl a test -Dtest='CLASS#METHOD'")
    );
}

#[test]
fn one_test_of_tox_names_an_environment_that_runs_tests() {
    let of = |ini: &str| {
        let found = one_test_of("", &[("tox.ini", ini)]);
        let tox = found.into_iter().find(|(command, _)| command == "tox");
        tox.and_then(|(_, one)| one)
    };
    let base = "[testenv]\ncommands = pytest {posargs}\n[testenv:lint]\ncommands = ruff check\n";
    for (list, environment) in [
        ("lint, py{310,311}-{a,b}, docs", "py310-a"),
        ("lint, py{310,311}", "py"),
        ("lint,unit", "unit"),
        ("\n    lint\n    django42-py310", "django42-py310"),
    ] {
        assert_eq!(
            of(&format!("[tox]\nenvlist = {list}\n{base}")),
            Some(format!("tox -e {environment} -- PATH::TEST_NAME")),
            "{list}"
        );
    }
    // With no list the environment of the Python that runs tox is always there.
    assert_eq!(of(base).as_deref(), Some("tox -e py -- PATH::TEST_NAME"));
}

#[test]
fn pipelines_resolve_literal_variables_in_templates() {
    let repo = Repo::new();
    repo.write("Cargo.toml", "[package]\nname = \"x\"\n").write(
        ".github/workflows/ci.yml",
        "env:\n  NONE: \"\"\n  SOME: --features 'a'\n  ODD: ${{ matrix.x }}\njobs:\n  a:\n    steps:\n      - run: cargo fmt -- --check\n      - run: cargo clippy --locked ${{ env.NONE }}\n      - run: cargo test --locked ${{env.SOME}}\n      - run: cargo build ${{ env.ODD }}\n      - run: cargo doc ${{ env.GONE }}\n",
    );
    assert_eq!(
        lines(&commands(&repo)),
        [
            "Test . [] cargo test --locked --features 'a'",
            "Lint . [] cargo fmt -- --check",
            "Lint . [] cargo clippy --locked",
        ]
    );
}

#[test]
fn what_skips_the_tests_is_no_test() {
    for (line, purpose) in [
        ("mvn verify -Dmaven.test.skip", Some(CommandPurpose::Build)),
        ("mvn -B test -DskipTests", None),
        ("mvn verify -DskipTests=false", Some(CommandPurpose::Test)),
        (
            "mvn package -Dmaven.test.skip=true",
            Some(CommandPurpose::Build),
        ),
        ("gradle build check -x test", Some(CommandPurpose::Build)),
        ("cargo test --no-run", Some(CommandPurpose::Build)),
    ] {
        let repo = Repo::new();
        repo.write("CONTRIBUTING.md", format!("```sh\n{line}\n```\n"));
        let found = commands(&repo);
        let found = found.iter().find(|found| found.command == line);
        assert_eq!(found.map(|found| found.purpose), purpose, "{line}");
    }
}

#[test]
fn scripts_are_judged_by_what_they_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = Repo::new();
    for (path, text) in [
        (
            "scripts/test",
            "#!/bin/sh\nunit() {\n  cargo nextest run\n}\nunit\ncargo clippy\n",
        ),
        (
            "scripts/claude-for-tests",
            "#!/bin/sh\n# Installs a pytest.\nnpm install x\n",
        ),
        ("scripts/check-start", "#!/bin/sh\nvalgrind x\n"),
        ("scripts/check-style", "#!/bin/sh\nexec eslint .\n"),
        ("scripts/build.sh", "#!/bin/sh\ncc x.c\n"),
        (
            "scripts/test.py",
            "#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['pytest'])\n",
        ),
        (
            ".ci/run",
            "#!/bin/sh\napt-get install -y make\nexec \"$(dirname \"$0\")/../scripts/test\"\n",
        ),
    ] {
        repo.write(path, text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(repo.join(path), mode).unwrap();
    }
    repo.write(
        "CONTRIBUTING.md",
        "Run `scripts/test all`, or:\n\n    scripts/test\n    scripts/check-start x\n",
    );
    let mut seen = lines(&commands(&repo));
    seen.sort();
    assert_eq!(
        seen,
        [
            "Build . [] ./scripts/build.sh",
            "ContinuousIntegration . [] ./.ci/run",
            "Lint . [] ./scripts/check-style",
            "Test . [] ./scripts/test.py",
            "Test . [] scripts/test",
            "Test . [] scripts/test all",
        ]
    );
}

#[test]
fn links_of_restructured_text_are_no_commands() {
    let repo = Repo::new();
    repo.write(
        "README.rst",
        "Thanks to the `pytest collective`_ and ``make it``.\nRun ``pytest -x tests``.\n",
    );
    assert_eq!(lines(&commands(&repo)), ["Test . [] pytest -x tests"]);
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

#[test]
fn make_alone_does_what_its_first_target_does() {
    for (makefile, purpose) in [
        ("init:\n\tpip install x\nall:\n\tcc x.c\n", None),
        ("x: x.c\n\tcc x.c\n", Some(CommandPurpose::Build)),
        (
            ".PHONY: test\ntest:\n\tpytest\n",
            Some(CommandPurpose::Test),
        ),
    ] {
        let repo = Repo::new();
        repo.write("Makefile", makefile)
            .write("CONTRIBUTING.md", "```sh\nmake\n```\n");
        let found = commands(&repo);
        let found = found.iter().find(|found| found.command == "make");
        assert_eq!(found.map(|found| found.purpose), purpose, "{makefile}");
    }
}
