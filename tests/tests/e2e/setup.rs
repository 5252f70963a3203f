//! `scripts/setup` where something is missing, with package managers that say what they were asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A PATH of our own: nothing on it but what a test puts there.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    /// Makes a machine that has all that is needed.
    fn complete() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for tool in ["bash", "cat", "chmod", "env", "grep", "head", "id", "sort"] {
            let found = std::env::var_os("PATH").and_then(|search| {
                std::env::split_paths(&search)
                    .map(|folder| folder.join(tool))
                    .find(|path| path.is_file())
            });
            std::os::unix::fs::symlink(found.unwrap(), machine.path(tool)).unwrap();
        }
        for (tool, version) in [
            ("git", "git version 2.47.3"),
            ("tmux", "tmux 3.3a"),
            ("python3", "Python 3.11.2"),
            ("cc", "cc 12.2"),
            ("rustc", "rustc 1.95.0 (59807616e 2026-04-14)"),
            ("cargo", "cargo 1.95.0"),
            ("cargo-fmt", "rustfmt 1.9.0"),
            ("cargo-clippy", "clippy 0.1.95"),
        ] {
            machine.program(tool, &format!("echo '{version}'"));
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.path(name);
        fs::write(
            &path,
            format!("#!{}\n{body}\n", self.path("bash").display()),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn lacks(self, name: &str) -> Self {
        fs::remove_file(self.path(name)).unwrap();
        self
    }

    /// Adds a package manager that makes `tool` appear when asked for `package`.
    fn with_manager(self, manager: &str, package: &str, tool: &str, version: &str) -> Self {
        let asked = self.path("asked").display().to_string();
        let installed = self.path(tool).display().to_string();
        let bash = self.path("bash").display().to_string();
        let body = format!(
            "echo \"$*\" >> '{asked}'
case \" $* \" in
*' update '*) echo done > '{asked}.updated' ;;
*' {package} '*)
  [ '{manager}' = apt-get ] && [ ! -e '{asked}.updated' ] && exit 100
  printf '#!%s\\necho \"{version}\"\\n' '{bash}' > '{installed}' && chmod 755 '{installed}' ;;
*) exit 1 ;;
esac"
        );
        self.program(manager, &body);
        // A person without rights: sudo is what there is, if anything.
        self.program("sudo", "shift; exec \"$@\"");
        self
    }

    fn setup(&self) -> Output {
        let script = tests::project_root().join("scripts/setup");
        Command::new(self.path("bash"))
            .arg(script)
            .env_clear()
            .env("PATH", self.folder.path())
            .env("HOME", self.folder.path())
            .output()
            .unwrap()
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.path("asked")).unwrap_or_default()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn nothing_is_installed_where_nothing_is_missing() {
    let machine = Machine::complete().with_manager("apt-get", "tmux", "tmux", "tmux 3.5");
    let output = machine.setup();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(machine.asked(), "");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in ["git 2.47.3", "tmux 3.3", "python3 3.11.2", "Rust 1.95.0"] {
        assert!(said.contains(&format!("setup: {line}")), "{said}");
    }
}

#[test]
fn each_package_manager_is_asked_for_what_is_missing() {
    for manager in ["apt-get", "dnf", "brew"] {
        let machine =
            Machine::complete()
                .lacks("tmux")
                .with_manager(manager, "tmux", "tmux", "tmux 3.5a");
        let output = machine.setup();
        assert!(output.status.success(), "{manager}: {}", stderr(&output));
        assert!(machine.asked().contains("tmux"), "{}", machine.asked());
        // A package list that is out of date is renewed.
        assert_eq!(machine.asked().contains("update"), manager == "apt-get");
    }
    let machine =
        Machine::complete()
            .lacks("cc")
            .with_manager("apt-get", "build-essential", "cc", "cc 12");
    assert!(machine.setup().status.success());
}

#[test]
fn one_that_is_too_old_is_renewed_or_named() {
    let machine = Machine::complete().with_manager("dnf", "tmux", "tmux", "tmux 3.5a");
    machine.program("tmux", "echo 'tmux 2.9'");
    let output = machine.setup();
    assert!(output.status.success(), "{}", stderr(&output));

    let machine = Machine::complete().with_manager("dnf", "tmux", "tmux", "tmux 3.1");
    machine.program("tmux", "echo 'tmux 2.9'");
    let output = machine.setup();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("tmux 3.2 or newer: 3.1 is too old"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn where_nothing_can_be_installed_it_says_what_to_do() {
    let machine = Machine::complete()
        .lacks("git")
        .lacks("tmux")
        .lacks("cc")
        .lacks("python3")
        .lacks("rustc");
    let output = machine.setup();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    for advice in [
        "apt-get install git",
        "brew install tmux",
        "dnf install python3",
        "xcode-select --install",
        "https://rustup.rs",
    ] {
        assert!(said.contains(advice), "{advice}: {said}");
    }
}

#[test]
fn an_old_rust_is_updated_by_rustup() {
    let machine = Machine::complete();
    machine.program("rustc", "echo 'rustc 1.80.0'");
    let rustc = machine.path("rustc");
    let asked = machine.path("asked");
    machine.program("rustup", &update(&rustc, &asked, "1.95.0"));
    let output = machine.setup();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(machine.asked().contains("toolchain install stable"));

    machine.program("rustc", "echo 'rustc 1.80.0'");
    machine.program("rustup", &update(&rustc, &asked, "1.81.0"));
    let output = machine.setup();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("rustup default stable"));
}

/// What a rustup that installs the given version does.
fn update(rustc: &Path, asked: &Path, version: &str) -> String {
    format!(
        "echo \"$*\" >> '{}'\ncat > '{2}' <<'END'\n#!/bin/sh\necho 'rustc {1}'\nEND",
        asked.display(),
        version,
        rustc.display()
    )
}
