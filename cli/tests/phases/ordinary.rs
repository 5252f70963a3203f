//! Ordinary work: what projects, builds and people do every day passes.

use shared::model::Phase;
use tests::phase_env::PhaseEnv;

const MANIFEST: &str = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

fn cargo(files: &[(&str, &str)]) -> PhaseEnv {
    let mut all = vec![
        ("Cargo.toml", MANIFEST),
        (".gitignore", "target/\nCargo.lock\n"),
    ];
    all.extend(files);
    PhaseEnv::with(&all)
}

/// The tests are written and confirmed, and the turn ends.
fn ends_with_tests(body: &str) -> (PhaseEnv, String) {
    let env = cargo(&[(
        "src/lib.rs",
        "pub fn parse(_: &str) -> Result<u8, String> {\n    Err(\"no\".to_owned())\n}\n",
    )]);
    env.begin(Phase::Tests);
    env.write("tests/t.rs", body);
    env.prompt("/tdd confirm tests");
    let reason = env.blocked(false);
    (env, reason)
}

#[test]
fn every_way_to_fail_a_test_in_rust_is_red() {
    for body in [
        "#[test]\nfn t() {\n    assert!(sample::parse(\"1\").is_ok(), \"it parses\");\n}\n",
        "#[test]\n#[should_panic]\nfn t() {\n    let _ = sample::parse(\"\");\n}\n",
        "#[test]\nfn t() {\n    let _ = sample::parse(\"1\").map(|_| 0).map_err(|_| 1).unwrap();\n}\n",
        "#[test]\nfn t() -> Result<(), String> {\n    sample::parse(\"1\").map(|_| ())\n}\n",
    ] {
        let (env, reason) = ends_with_tests(body);
        assert_eq!(env.phase(), Phase::Implementation, "{body}{reason}");
    }
}

#[test]
fn a_test_that_a_signal_ended_is_not_red() {
    let (env, reason) = ends_with_tests("#[test]\nfn t() {\n    std::process::abort();\n}\n");
    assert!(reason.contains("no test ran and failed"), "{reason}");
    assert_eq!(env.phase(), Phase::Tests);
}

#[test]
fn an_interface_that_breaks_an_old_test_of_rust_leads_on() {
    let env = cargo(&[
        ("src/lib.rs", "pub fn f(n: u8) -> u8 {\n    n\n}\n"),
        (
            "tests/t.rs",
            "#[test]\nfn t() {\n    assert_eq!(sample::f(1), 1);\n}\n",
        ),
    ]);
    env.begin(Phase::Interfaces);
    let text = "pub fn f(n: u8, _more: bool) -> u8 {\n    n\n}\n";
    assert_eq!(env.write_denied("src/lib.rs", text), None);
    env.write("src/lib.rs", text);
    assert_eq!(env.edited("src/lib.rs"), None);
    env.prompt("/tdd confirm interfaces");
    let next = env.blocked(false);
    assert_eq!(env.phase(), Phase::Tests, "{next}");
    // There it has to compile again.
    env.prompt("/tdd confirm tests");
    assert!(env.blocked(false).contains("does not compile"));
    assert_eq!(env.phase(), Phase::Tests);
}

#[test]
fn an_interface_of_python_is_compiled_without_its_tests() {
    let env = PhaseEnv::with(&[
        ("pyproject.toml", ""),
        ("double.py", "def double(n):\n    return n\n"),
        ("test_double.py", "from double import gone_since\n"),
    ]);
    env.begin(Phase::Interfaces);
    env.write("double.py", "def double(n, more)\n    return n\n");
    let told = env.edited("double.py").unwrap_or_default();
    assert!(
        told.contains("does not compile") && told.contains("SyntaxError"),
        "{told}"
    );
    env.prompt("/tdd confirm interfaces");
    let missing = env.blocked(false);
    assert!(missing.contains("SyntaxError"), "{missing}");
    env.write("double.py", "def double(n, more):\n    return n\n");
    assert_eq!(env.edited("double.py"), None);
    let next = env.blocked(true);
    assert_eq!(env.phase(), Phase::Tests, "{next}");
}

const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

#[test]
fn what_builds_leave_behind_is_not_held_against_the_agent() {
    for (project, files) in [
        (
            ("pyproject.toml", ""),
            &[
                "src/pkg/__pycache__/a.cpython-312.pyc",
                "__pycache__/a.cpython-312.pyc",
                "venv/pyvenv.cfg",
                "venv/lib/a.py",
                ".venv/pyvenv.cfg",
                ".venv/lib/python/site.py",
            ] as &[&str],
        ),
        (
            ("CMakeLists.txt", ""),
            &[
                "build/CMakeCache.txt",
                "build/CMakeFiles/3/C/CMakeCCompilerId.c",
            ],
        ),
        (
            ("package.json", "{}"),
            &[
                "node_modules/a/index.js",
                "packages/b/node_modules/c/index.js",
                "coverage/lcov.info",
                "coverage/lcov-report/prettify.js",
                "coverage/lcov-report/x.js",
            ],
        ),
        (
            ("Cargo.toml", ""),
            &["target/CACHEDIR.TAG", "target/debug/build/x/out/gen.rs"],
        ),
    ] {
        let env = PhaseEnv::with(&[project]);
        for phase in [Phase::Requirements, Phase::Tests] {
            env.begin(phase);
            for file in files {
                let text = if file.ends_with("CACHEDIR.TAG") {
                    TAG
                } else {
                    "x"
                };
                env.write(file, text);
            }
            assert_eq!(env.bash("true"), None, "{project:?} {phase}");
        }
    }
}

#[test]
fn a_name_or_a_mark_alone_hides_no_code() {
    for (line, found) in [
        (
            "echo bin/ >> .git/info/exclude; mkdir -p src/bin; echo x > src/bin/x.rs",
            "src/bin/x.rs",
        ),
        (
            "echo deps/ >> .gitignore; mkdir -p src/deps; echo x > src/deps/x.rs",
            "src/deps/x.rs",
        ),
        (
            "echo build/ >> .gitignore; mkdir -p build; echo x > build/x.rs",
            "build/x.rs",
        ),
        (
            "mkdir -p src/m; cp ../tools/tag src/m/CACHEDIR.TAG; echo x > src/m/mod.rs",
            "src/m/mod.rs",
        ),
        (
            "mkdir -p more; cp ../tools/tag more/CACHEDIR.TAG; echo x > more/mod.rs",
            "more/mod.rs",
        ),
        (
            "mkdir -p src/__pycache__; echo x > src/__pycache__/x.rs",
            "src/__pycache__/x.rs",
        ),
        ("mkdir -p target; echo x > target/x.rs", "target/x.rs"),
    ] {
        let env = cargo(&[("src/lib.rs", ""), (".gitignore", "")]);
        std::fs::write(env.path("tools/tag"), TAG).unwrap();
        env.begin(Phase::Tests);
        let told = env.bash(line).unwrap_or_default();
        assert!(told.contains(found), "{line}: {told}");
    }
    // Ignored by rules from before, a folder for build output is not compared.
    let env = cargo(&[("src/lib.rs", "")]);
    env.begin(Phase::Tests);
    assert_eq!(env.bash("mkdir -p target; echo x > target/x.rs"), None);
}

#[test]
fn what_appears_while_our_own_check_runs_is_not_the_agents() {
    let env = PhaseEnv::scripted();
    let check = "mkdir -p build/gen dist; echo x > build/gen/x.rs; echo x > dist/a.js; echo x > src/sneaked.rs";
    let said = serde_json::json!({ "profile": "cargo", "compileCommand": ["sh", "-c", check] });
    env.write(".claude-codex/tdd.json", &said.to_string());
    env.begin(Phase::Tests);
    env.edited("tests/all.rs");
    let told = env.bash("true").unwrap_or_default();
    assert!(!told.contains("build") && !told.contains("dist"), "{told}");
    assert!(told.contains("src/sneaked.rs"), "{told}");
}

#[test]
fn a_checker_of_single_files_sees_its_own_language_only() {
    let env = PhaseEnv::with(&[("package.json", "{}"), ("index.js", "")]);
    env.begin(Phase::Interfaces);
    env.write("s.css", "a{}\n");
    assert_eq!(env.edited("s.css"), None);
    env.write("index.js", "(((\n");
    assert!(env.edited("index.js").is_some());
}

#[test]
fn a_confirmation_without_a_word_is_for_the_current_phase() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Requirements);
    env.prompt("/tdd confirm");
    assert_eq!(env.phase(), Phase::Interfaces);
    env.prompt("/tdd confirm");
    assert!(env.row().unwrap().confirmed_at.is_some());
    env.begin(Phase::Implementation);
    let answer = env.prompt("/tdd confirm");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("needs no confirmation"),
        "{answer}"
    );
}

#[test]
fn a_person_overrules_a_check_once_and_it_shows() {
    let env = PhaseEnv::scripted();
    env.script_tool("compile", "error: no linker", 101);
    env.begin(Phase::Interfaces);
    env.prompt("/tdd overrule there is no linker here");
    assert!(
        env.blocked(false).contains("no linker"),
        "it is not confirmed"
    );
    let status = String::from_utf8(env.codex(&["phase", "status"]).stdout).unwrap();
    assert!(status.contains("there is no linker here"), "{status}");
    env.prompt("/tdd confirm");
    env.blocked(false);
    assert_eq!(env.phase(), Phase::Tests);
    // It counted once.
    env.prompt("/tdd confirm");
    assert!(env.blocked(false).contains("does not compile"));
    let answer = env.prompt("/tdd status");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("was overruled in `interfaces`"),
        "{answer}"
    );
    let log = std::fs::read_to_string(env.path("state/logs/phases.log")).unwrap();
    assert!(log.contains("there is no linker here"), "{log}");
    // Agents don't.
    assert!(
        env.bash("claude-codex phase overrule x")
            .unwrap()
            .starts_with("DENIED")
    );
    let direct = env.codex(&["phase", "overrule", "x"]);
    assert!(!direct.status.success());
    // Files that must be undone are another matter.
    env.prompt("/tdd overrule again");
    env.write("src/lib.rs", "x");
    assert!(env.blocked(false).contains("src/lib.rs"));
    assert_eq!(env.phase(), Phase::Tests);
}

#[test]
fn what_a_command_edits_in_the_implementation_phase_is_checked_once() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Implementation);
    env.script_tool("test", "---- adds stdout ----\nassertion failed", 101);
    assert_eq!(env.bash("ls"), None);
    let told = env.bash("sed -i 's/a + b/a - b/' src/lib.rs").unwrap();
    assert!(told.contains("---- adds"), "{told}");
    assert_eq!(
        env.bash("cat src/lib.rs"),
        None,
        "nothing has changed since"
    );
    env.write("src/lib.rs", "pub fn other() {}\n");
    assert!(env.edited("src/lib.rs").is_some());
    assert_eq!(env.bash("ls"), None, "checked already");
    assert_eq!(env.bash("echo x >> README.md"), None);
}

#[test]
fn harmless_commands_run_and_what_writes_does_not() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    for line in [
        "git commit -q --allow-empty -m 'docs: explain /tdd confirm tests'",
        "cat .claude-codex/tdd.json",
        "grep -rn 'claude-codex phase confirm' . # tmux send-keys",
        "echo 'see claude-codex hook UserPromptSubmit'",
    ] {
        assert_eq!(env.bash(line), None, "{line}");
    }
    for line in [
        "echo 'claude-codex phase confirm tests' | sh",
        "echo x > .claude-codex/tdd.json",
        "cat x | claude-codex hook UserPromptSubmit --tdd",
    ] {
        let told = env.bash(line).unwrap_or_default();
        assert!(told.starts_with("DENIED"), "{line}: {told}");
    }
}
