//! Detection, patterns, override files and outcomes, on small projects made of empty files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::table::built_in;
use super::*;

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn with(files: &[(&str, &str)]) -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            let path = project.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn found(&self, name: &str) -> Option<Profile> {
        detect(self.folder.path(), &self.path(name))
    }
}

#[test]
fn project_files_say_what_a_project_is() {
    for (files, edited, expected) in [
        (
            &[("Cargo.toml", "")] as &[(&str, &str)],
            "src/lib.rs",
            ProfileName::Cargo,
        ),
        (&[("go.mod", "")], "a.go", ProfileName::Go),
        (
            &[("package.json", r#"{"devDependencies":{"vitest":"3"}}"#)],
            "a.ts",
            ProfileName::Vitest,
        ),
        (
            &[("package.json", r#"{"scripts":{"test":"jest --ci"}}"#)],
            "a.ts",
            ProfileName::Jest,
        ),
        (&[("package.json", "{}")], "a.js", ProfileName::Node),
        (&[("package.json", "not JSON")], "a.js", ProfileName::Node),
        (&[("pyproject.toml", "")], "a.py", ProfileName::Pytest),
        (&[("requirements.txt", "")], "pkg/a.py", ProfileName::Pytest),
        (
            &[("pom.xml", "")],
            "src/main/java/A.java",
            ProfileName::Maven,
        ),
        (
            &[("build.gradle.kts", "")],
            "src/main/kotlin/A.kt",
            ProfileName::Gradle,
        ),
        (&[("App.csproj", "")], "A.cs", ProfileName::Dotnet),
        (
            &[("Gemfile", ""), ("spec/a_spec.rb", "")],
            "lib/a.rb",
            ProfileName::Rspec,
        ),
        (
            &[("Gemfile", ""), ("test/a_test.rb", "")],
            "lib/a.rb",
            ProfileName::Minitest,
        ),
        (&[("composer.json", "")], "src/A.php", ProfileName::Phpunit),
        (&[("mix.exs", "")], "lib/a.ex", ProfileName::Mix),
        (&[("CMakeLists.txt", "")], "src/a.cpp", ProfileName::Cmake),
    ] {
        let project = Project::with(files);
        let found = project.found(edited).unwrap();
        assert_eq!(found.name, expected, "{files:?}");
        assert_eq!(found.root, project.folder.path());
    }
    assert_eq!(Project::with(&[("a.txt", "")]).found("a.txt"), None);
}

#[test]
fn the_nearest_project_that_speaks_the_language_wins() {
    let project = Project::with(&[
        ("Cargo.toml", ""),
        ("web/package.json", r#"{"devDependencies":{"vitest":"3"}}"#),
        ("web/native/Cargo.toml", ""),
        ("tools/requirements.txt", ""),
    ]);
    for (edited, name, root) in [
        ("src/lib.rs", ProfileName::Cargo, ""),
        ("web/src/a.ts", ProfileName::Vitest, "web"),
        ("web/native/src/lib.rs", ProfileName::Cargo, "web/native"),
        ("tools/run.py", ProfileName::Pytest, "tools"),
        // Above the package that does not speak it.
        ("web/build.rs", ProfileName::Cargo, ""),
        // Nobody speaks it: the nearest.
        ("web/a.csv", ProfileName::Vitest, "web"),
    ] {
        let found = project.found(edited).unwrap();
        assert_eq!(
            (found.name, found.root),
            (name, project.path(root)),
            "{edited}"
        );
    }
}

/// Paths of real projects in each ecosystem.
const PATHS: &str = include_str!("../../tests/paths.txt");

#[test]
fn every_file_has_a_kind() {
    let mut profile = built_in(ProfileName::Custom, Path::new("/p"), Path::new("/p"));
    let (mut count, mut wrong) = (0, Vec::new());
    for line in PATHS.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end_matches(']').parse().unwrap();
            profile = built_in(name, Path::new("/p"), Path::new("/p"));
        } else if let Some((verdict, path)) = line.split_once(' ') {
            count += 1;
            let found = match profile.kind(&Path::new("/p").join(path)) {
                FileKind::Production => "main",
                FileKind::Test => "test",
                FileKind::Configuration => "config",
                FileKind::Documentation => "docs",
                _ => "other",
            };
            if found != verdict {
                wrong.push(format!("{} {path}: {found}, not {verdict}", profile.name));
            }
        }
    }
    assert!(count >= 400, "{count}");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_folder_of_a_project_says_what_is_in_it() {
    let project = Project::with(&[
        ("App.sln", ""),
        ("src/App/App.csproj", ""),
        ("App.Tests/App.Tests.csproj", ""),
    ]);
    for (file, kind) in [
        ("App.Tests/Helpers.cs", FileKind::Test),
        ("src/App/Helpers.cs", FileKind::Production),
    ] {
        let found = project.found(file).unwrap();
        assert_eq!(found.kind(&project.path(file)), kind, "{file}");
    }
}

#[test]
fn what_a_person_says_wins() {
    let project = Project::with(&[
        ("Cargo.toml", ""),
        (
            ".claude-codex/tdd.json",
            r#"{"test":["checks/**"],"testCommand":["make","check"],"compileCommand":[],"timeLimitSeconds":7}"#,
        ),
    ]);
    let root = project.folder.path();
    let find = |home: Option<&Path>| find(root, &project.path("src/lib.rs"), home, None, |_| true);
    let profile = find(None).unwrap().unwrap();
    assert_eq!(profile.name, ProfileName::Cargo);
    assert_eq!(profile.kind(&project.path("checks/a.sh")), FileKind::Test);
    assert_eq!(
        profile.kind(&project.path("tests/a.rs")),
        FileKind::Production
    );
    assert_eq!(profile.tests, [["make", "check"]]);
    assert!(profile.compile.is_empty());
    assert_eq!(profile.time_limit, Duration::from_secs(7));

    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let file = home.path().join(USER_FILE);
    std::fs::write(&file, r#"{"profile":"go"}"#).unwrap();
    assert_eq!(
        find(Some(home.path())).unwrap().unwrap().name,
        ProfileName::Go
    );
    for broken in [
        "{",
        "7",
        r#"{"profile":"cobol"}"#,
        r#"{"tset":[]}"#,
        r#"{"timeLimitSeconds":0}"#,
    ] {
        std::fs::write(&file, broken).unwrap();
        let error = find(Some(home.path())).unwrap_err().to_string();
        assert!(error.contains("tdd-override.json"), "{error}");
    }
}

#[test]
fn a_default_is_for_what_is_not_recognised() {
    let project = Project::with(&[("a.txt", "")]);
    let find = |default| {
        find(
            project.folder.path(),
            &project.path("a.txt"),
            None,
            default,
            |_| true,
        )
        .unwrap()
    };
    assert_eq!(find(None), None);
    assert_eq!(
        find(Some(ProfileName::Pytest)).unwrap().name,
        ProfileName::Pytest
    );
}

#[test]
fn the_projects_own_tools_are_called() {
    let vitest = ("package.json", r#"{"devDependencies":{"vitest":"3"}}"#);
    for (more, test) in [
        (
            ("package-lock.json", ""),
            vec!["npx", "--no-install", "vitest", "run"],
        ),
        (
            ("pnpm-lock.yaml", ""),
            vec!["pnpm", "exec", "vitest", "run"],
        ),
        (("yarn.lock", ""), vec!["yarn", "run", "vitest", "run"]),
    ] {
        let found = Project::with(&[vitest, more]).found("a.ts").unwrap();
        assert_eq!(found.tests[0][..test.len()], test);
        assert!(found.compile.is_empty());
    }
    let typed = Project::with(&[vitest, ("tsconfig.json", "{}")])
        .found("a.ts")
        .unwrap();
    assert_eq!(typed.compile, [["npx", "--no-install", "tsc", "--noEmit"]]);
    let wrapped = Project::with(&[("pom.xml", ""), ("mvnw", "")])
        .found("A.java")
        .unwrap();
    assert_eq!(wrapped.tests[0][0], "./mvnw");
}

#[test]
fn a_checker_sees_only_files_of_its_language() {
    for (name, ending, expected) in [
        (ProfileName::Rspec, "rb", true),
        (ProfileName::Rspec, "erb", false),
        (ProfileName::Node, "mjs", true),
        (ProfileName::Node, "css", false),
        (ProfileName::Node, "ts", false),
        (ProfileName::Phpunit, "php", true),
        (ProfileName::Phpunit, "js", false),
    ] {
        let profile = built_in(name, Path::new("/p"), Path::new("/p"));
        let file = PathBuf::from(format!("/p/a.{ending}"));
        let names = Names {
            file: Some(&file),
            ..Names::default()
        };
        let commands = profile.commands(&profile.compile, &names);
        assert_eq!(!commands.is_empty(), expected, "{name} {ending}");
        assert!(
            profile
                .commands(&profile.compile, &Names::default())
                .is_empty()
        );
        if expected {
            assert_eq!(commands[0].last(), Some(&format!("/p/a.{ending}")));
        }
    }
}

#[test]
fn errors_in_tests_are_told_from_errors_in_production_code() {
    let profile = built_in(ProfileName::Vitest, Path::new("/p"), Path::new("/p"));
    for (output, expected) in [
        ("src/a.test.ts(3,5): error TS2345: Argument", true),
        (
            "src/a.test.ts(3,5): error TS2345: x\nsrc/a.ts(1,1): error TS1: y",
            false,
        ),
        ("tests/a_test.c:1:2: error: x", true),
        ("error TS18003: No inputs were found", false),
        ("", false),
    ] {
        assert_eq!(profile.fails_in_tests_only(output), expected, "{output}");
    }
}

#[test]
fn outcomes_are_read_from_what_runners_print() {
    use TestOutcome::{Broken, Failing, Green, NoTests, OtherFailure};
    for (name, code, output, expected) in [
        (ProfileName::Cargo, 0, "test result: ok. 1 passed", Green),
        (
            ProfileName::Cargo,
            101,
            "assertion `left == right` failed\n  left: 1",
            Failing,
        ),
        (
            ProfileName::Cargo,
            101,
            "panicked at src/lib.rs:2:5:\nnot yet implemented",
            Failing,
        ),
        (
            ProfileName::Cargo,
            101,
            "called `Option::unwrap()` on a `None` value",
            OtherFailure,
        ),
        (
            ProfileName::Cargo,
            101,
            "error[E0425]: cannot find\nerror: could not compile `x`",
            Broken,
        ),
        (
            ProfileName::Pytest,
            1,
            "E       assert 1 == 2\nFAILED",
            Failing,
        ),
        (ProfileName::Pytest, 1, "E   NotImplementedError", Failing),
        (ProfileName::Pytest, 1, "E   KeyError: 'x'", OtherFailure),
        (ProfileName::Pytest, 2, "1 error during collection", Broken),
        (ProfileName::Pytest, 5, "no tests ran", NoTests),
        (ProfileName::Go, 1, "--- FAIL: TestA (0.00s)", Failing),
        (ProfileName::Go, 2, "FAIL\tx [build failed]", Broken),
        (ProfileName::Node, 1, "code: 'ERR_ASSERTION'", Failing),
        (
            ProfileName::Node,
            1,
            "SyntaxError: Unexpected token",
            Broken,
        ),
        (
            ProfileName::Vitest,
            1,
            "AssertionError: expected 1 to be 2",
            Failing,
        ),
        (
            ProfileName::Vitest,
            1,
            "TypeError: f is not a function",
            OtherFailure,
        ),
        (ProfileName::Jest, 1, "● Test suite failed to run", Broken),
        (
            ProfileName::Maven,
            1,
            "AssertionFailedError: expected: <1>",
            Failing,
        ),
        (ProfileName::Maven, 1, "COMPILATION ERROR", Broken),
    ] {
        let profile = built_in(name, Path::new("/p"), Path::new("/p"));
        assert_eq!(
            profile.outcome(Some(code), output, profile.counts(output, None)),
            expected,
            "{name}: {output}"
        );
    }
    // Ended by a signal.
    let profile = built_in(ProfileName::Cargo, Path::new("/p"), Path::new("/p"));
    assert_eq!(profile.outcome(None, "", None), OtherFailure);
}

#[test]
fn what_ran_and_failed_is_red_and_what_did_not_run_is_not_green() {
    use TestOutcome::{Broken, Failing, NoTests, OtherFailure};
    for (name, code, output, expected) in [
        (
            ProfileName::Cargo,
            101,
            "---- a stdout ----\nthread 'a' panicked at tests/t.rs:1:1:\nit must add\ntest result: FAILED. 0 passed; 1 failed; 0 ignored",
            Failing,
        ),
        (
            ProfileName::Cargo,
            101,
            "---- a stdout ----\nnote: test did not panic as expected\ntest result: FAILED. 0 passed; 1 failed; 0 ignored",
            Failing,
        ),
        (
            ProfileName::Cargo,
            101,
            "Error: ParseIntError { kind: InvalidDigit }\ntest result: FAILED. 0 passed; 1 failed; 0 ignored",
            Failing,
        ),
        (
            ProfileName::Cargo,
            101,
            "process didn't exit successfully: `x` (signal: 6, SIGABRT: process abort signal)\ntest result: FAILED. 0 passed; 1 failed; 0 ignored",
            OtherFailure,
        ),
        (
            ProfileName::Cargo,
            101,
            "Couldn't compile the test.\ntest result: FAILED. 0 passed; 1 failed; 0 ignored",
            Broken,
        ),
        (
            ProfileName::Cargo,
            0,
            "test result: ok. 0 passed; 0 failed; 2 ignored",
            NoTests,
        ),
        (
            ProfileName::Node,
            0,
            "# pass 0\n# fail 0\n# skipped 1",
            NoTests,
        ),
        (
            ProfileName::Node,
            1,
            "not ok 1 - x\n  error: 'x is undefined'\n# pass 0\n# fail 1",
            Failing,
        ),
        (
            ProfileName::Go,
            0,
            "{\"Action\":\"skip\",\"Package\":\"x\"}",
            NoTests,
        ),
    ] {
        let profile = built_in(name, Path::new("/p"), Path::new("/p"));
        let counts = profile.counts(output, None);
        let found = profile.outcome(Some(code), output, counts);
        assert_eq!(found, expected, "{name}: {output}");
    }
}

#[test]
fn the_first_failure_comes_first_and_the_rest_is_counted() {
    let mut output = String::from(
        "running 3 tests\nnoise\n\u{1b}[31m---- first stdout ----\u{1b}[0m\nassertion failed\n",
    );
    output.push_str(&"more\n".repeat(1_000));
    let shown =
        built_in(ProfileName::Cargo, Path::new("/p"), Path::new("/p")).failing_part(&output, 400);
    assert!(
        shown.starts_with("---- first stdout ----\nassertion failed"),
        "{shown}"
    );
    assert!(
        shown.len() < 450 && shown.ends_with("more lines"),
        "{shown}"
    );
    assert_eq!(excerpt("a\nb\nlast", &["error"], 5), "last");
    let long = format!("error{}", "x".repeat(10_000));
    assert!(excerpt(&long, &["error"], 400).len() < 450);
    assert!(excerpt("", &["error"], 100).is_empty());
}
