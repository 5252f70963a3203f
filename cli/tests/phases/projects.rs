//! Real projects with their real compilers and runners, through all phases.
//!
//! Where a language's tools are missing and can't be had, its test says that it was skipped.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use shared::model::Phase;
use tests::comes_true;
use tests::phase_env::PhaseEnv;

/// One small project: files to begin with, then what each phase writes.
struct Sample<'a> {
    base: &'a [(&'a str, &'a str)],
    interface: (&'a str, &'a str),
    /// Does not compile or load.
    broken_test: (&'a str, &'a str),
    /// Compiles, and passes already.
    idle_test: (&'a str, &'a str),
    test: (&'a str, &'a str),
    wrong: (&'a str, &'a str),
    right: (&'a str, &'a str),
    /// What the runner's output has when an assertion fails.
    fails_with: &'a str,
    /// Leaves out what others show, where every run takes seconds.
    short: bool,
}

impl Sample<'_> {
    /// Goes through all phases; `prepare` installs what the project depends on.
    fn play(&self, prepare: impl FnOnce(&PhaseEnv) -> bool) {
        let env = PhaseEnv::with(self.base);
        if !prepare(&env) {
            return;
        }
        env.begin(Phase::Requirements);
        assert!(
            env.write_denied(self.interface.0, self.interface.1)
                .is_some()
        );
        env.prompt("/tdd confirm requirements");
        assert_eq!(env.phase(), Phase::Interfaces);

        assert!(
            env.write_denied(self.test.0, self.test.1).is_some(),
            "tests come later"
        );
        let told = edit(&env, self.interface);
        assert_eq!(told, None);
        env.prompt("/tdd confirm interfaces");
        let next = env.blocked(false);
        assert!(next.contains("phase 3 of 4"), "{next}");

        assert!(
            env.write_denied(self.right.0, self.right.1).is_some(),
            "no implementation yet"
        );
        env.prompt("/tdd confirm tests");
        let _ = edit(&env, self.broken_test);
        let missing = env.blocked(false);
        assert!(missing.contains("compile"), "{missing}");
        if !self.short {
            assert_eq!(edit(&env, self.idle_test), None);
            let missing = env.blocked(true);
            assert!(missing.contains("no test fails"), "{missing}");
        }
        assert_eq!(edit(&env, self.test), None);
        let next = env.blocked(true);
        assert!(next.contains("phase 4 of 4"), "{next}");

        let told = edit(&env, self.wrong).unwrap();
        assert!(told.contains(self.fails_with), "{told}");
        if !self.short {
            let missing = env.blocked(false);
            assert!(missing.contains(self.fails_with), "{missing}");
        }
        let written = modified(&env, self.wrong.0);
        assert_eq!(env.write_denied(self.right.0, self.right.1), None);
        env.write(self.right.0, self.right.1);
        if self.right.0.strip_suffix(".py").is_some() {
            // Python takes what it has compiled for fresh where size and time of the file are the same.
            let file = File::options()
                .write(true)
                .open(env.repository().join(self.right.0));
            file.unwrap().set_modified(written).unwrap();
        }
        assert_eq!(env.edited(self.right.0), None);
        let done = env.stop(true);
        assert!(done["decision"].is_null(), "{done}");
        assert_eq!(env.phase(), Phase::Done);
    }
}

/// Writes a file as the agent's tool would; returns what the agent is told.
fn edit(env: &PhaseEnv, (name, text): (&str, &str)) -> Option<String> {
    let denied = env.write_denied(name, text);
    assert_eq!(denied, None, "{name}");
    env.write(name, text);
    env.edited(name)
}

fn modified(env: &PhaseEnv, name: &str) -> SystemTime {
    let found = fs::metadata(env.repository().join(name));
    found.unwrap().modified().unwrap()
}

/// Runs a program, and tells whether it succeeds in time: a registry that answers slowly is as good as none.
fn works(env: &PhaseEnv, program: &str, words: &[&str]) -> bool {
    let mut command = env.command(program);
    command.args(words).stdin(Stdio::null());
    let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = started else {
        return false;
    };
    let mut ended = None;
    comes_true(|| {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    if ended.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    ended.is_some_and(|status| status.success())
}

#[test]
fn rust_with_cargo() {
    let stub = "pub fn double(n: i32) -> i32 {\n    let _ = n;\n    todo!()\n}\n";
    let with = |body: &str, tests: &str| {
        format!(
            "pub fn double(n: i32) -> i32 {{\n    {body}\n}}\n\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n{tests}\n}}\n"
        )
    };
    let todo = "let _ = n;\n    todo!()";
    let test = "    #[test]\n    fn doubles() {\n        assert_eq!(double(2), 4);\n    }";
    Sample {
        base: &[
            (
                "Cargo.toml",
                "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("src/lib.rs", ""),
            (".gitignore", "target/\nCargo.lock\n"),
        ],
        interface: ("src/lib.rs", stub),
        broken_test: (
            "src/lib.rs",
            &with(
                todo,
                "    #[test]\n    fn doubles() {\n        assert_eq!(triple(2), 4);\n    }",
            ),
        ),
        idle_test: ("src/lib.rs", &with(todo, "    #[test]\n    fn idle() {}")),
        test: ("src/lib.rs", &with(todo, test)),
        wrong: ("src/lib.rs", &with("n + 1", test)),
        right: ("src/lib.rs", &with("n * 2", test)),
        fails_with: "---- tests::doubles stdout",
        short: false,
    }
    .play(|_| true);
}

#[test]
fn javascript_with_nodes_own_runner() {
    let node = Command::new("node").arg("--version").output();
    if !node.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: node is not installed");
        return;
    }
    let test = |body: &str| {
        format!(
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport {{ double }} from '../src/double.js';\ntest('doubles', () => {{ {body} }});\n"
        )
    };
    Sample {
        base: &[("package.json", "{\"type\":\"module\"}"), ("src/a.js", "")],
        interface: ("src/double.js", "export function double(n) {\n  throw new Error('not implemented');\n}\n"),
        broken_test: ("test/double.test.js", "import test from 'node:test';\nimport { triple } from '../src/double.js';\ntest('x', () => triple(; // does not compile\n"),
        idle_test: ("test/double.test.js", "import test from 'node:test';\ntest('idle', () => {});\n"),
        test: ("test/double.test.js", &test("assert.strictEqual(double(2), 4);")),
        wrong: ("src/double.js", "export function double(n) {\n  return n + 1;\n}\n"),
        right: ("src/double.js", "export function double(n) {\n  return n * 2;\n}\n"),
        fails_with: "doubles",
        short: false,
    }
    .play(|_| true);
}

#[test]
fn typescript_with_vitest() {
    let test = |body: &str| {
        format!(
            "import {{ expect, test }} from 'vitest';\nimport {{ double }} from './double';\ntest('doubles', () => {{ {body} }});\n"
        )
    };
    Sample {
        base: &[
            ("package.json", "{\"type\":\"module\",\"private\":true,\"devDependencies\":{\"typescript\":\"5.6.3\",\"vitest\":\"2.1.9\"}}"),
            ("tsconfig.json", "{\"compilerOptions\":{\"strict\":true,\"module\":\"esnext\",\"moduleResolution\":\"bundler\",\"target\":\"es2022\",\"skipLibCheck\":true,\"noEmit\":true},\"include\":[\"src\"]}"),
            ("src/a.ts", "export {};\n"),
            (".gitignore", "node_modules/\n"),
        ],
        interface: ("src/double.ts", "export function double(n: number): number {\n  throw new Error(`not implemented: ${n}`);\n}\n"),
        broken_test: ("src/double.test.ts", &test("expect(double('2')).toBe(4);")),
        idle_test: ("src/double.test.ts", &test("expect(double).toBeTypeOf('function');")),
        test: ("src/double.test.ts", &test("expect(double(2)).toBe(4);")),
        wrong: ("src/double.ts", "export function double(n: number): number {\n  return n + 1;\n}\n"),
        right: ("src/double.ts", "export function double(n: number): number {\n  return n * 2;\n}\n"),
        fails_with: "AssertionError",
        short: true,
    }
    .play(|env| {
        // The user's own cache, where there is one, saves the network.
        let cache = std::env::var("HOME").unwrap_or_default() + "/.npm";
        let installed = works(env, "npm", &["install", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0", "--fetch-timeout=20000", "--cache", &cache]);
        if !installed {
            eprintln!("SKIPPED: npm can't install vitest here");
        }
        installed
    });
}

#[test]
fn python_with_pytest() {
    let test =
        |body: &str| format!("from double import double\n\n\ndef test_doubles():\n    {body}\n");
    Sample {
        base: &[
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\npythonpath = [\".\"]\n",
            ),
            (".gitignore", ".venv/\n__pycache__/\n.pytest_cache/\n"),
        ],
        interface: (
            "double.py",
            "def double(n):\n    raise NotImplementedError\n",
        ),
        broken_test: (
            "test_double.py",
            "from double import triple\n\n\ndef test_x():\n    assert triple(2) == 4\n",
        ),
        idle_test: ("test_double.py", &test("assert double")),
        test: ("test_double.py", &test("assert double(2) == 4")),
        wrong: ("double.py", "def double(n):\n    return n + 1\n"),
        right: ("double.py", "def double(n):\n    return n * 2\n"),
        fails_with: "assert 3 == 4",
        short: false,
    }
    .play(|env| {
        if works(env, "python3", &["-m", "pytest", "--version"]) {
            return true;
        }
        let installed = works(env, "python3", &["-m", "venv", ".venv"])
            && works(
                env,
                ".venv/bin/python",
                &[
                    "-m",
                    "pip",
                    "install",
                    "-q",
                    "--retries",
                    "0",
                    "--timeout",
                    "20",
                    "pytest",
                ],
            );
        if !installed {
            eprintln!("SKIPPED: pytest is not installed and can't be");
        }
        installed
    });
}

#[test]
fn go_with_its_own_runner() {
    let test = |body: &str| {
        format!(
            "package sample\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {{\n\t{body}\n}}\n"
        )
    };
    Sample {
        base: &[
            ("go.mod", "module sample\n\ngo 1.18\n"),
            ("doc.go", "package sample\n"),
        ],
        interface: (
            "double.go",
            "package sample\n\nfunc Double(n int) int {\n\tpanic(\"not implemented\")\n}\n",
        ),
        broken_test: (
            "double_test.go",
            &test("if Triple(2) != 4 {\n\t\tt.Error(\"no\")\n\t}"),
        ),
        idle_test: ("double_test.go", &test("_ = Double")),
        test: (
            "double_test.go",
            &test("if got := Double(2); got != 4 {\n\t\tt.Errorf(\"got %d\", got)\n\t}"),
        ),
        wrong: (
            "double.go",
            "package sample\n\nfunc Double(n int) int {\n\treturn n + 1\n}\n",
        ),
        right: (
            "double.go",
            "package sample\n\nfunc Double(n int) int {\n\treturn n * 2\n}\n",
        ),
        fails_with: "--- FAIL: TestDouble",
        short: false,
    }
    .play(|env| {
        let there = works(env, "go", &["version"]);
        if !there {
            eprintln!("SKIPPED: go is not installed");
        }
        there
    });
}
