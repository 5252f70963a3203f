//! Build tools, test runners and linters by their programs and subcommands: `cargo test`, `npm run lint`, `tox -e py`.
//!
//! Continuous integration and documents hold all kinds of shell lines. A line counts as a command of the repository
//! only when it is known here what it does, and when the script or target that it names exists.

use std::collections::HashSet;

use super::javascript;
use super::place::{Place, is_folder, text_in};
use super::purpose::{by_name, by_target};
use super::recipes::{self, makefile_has, task_exists};
use super::script_files::by_script;
use super::words::{LINTERS, TEST_RUNNERS, is_assignment, program_name, subcommand_of};
use crate::architecture::packages::join;
use crate::report::architecture::CommandPurpose;
use CommandPurpose::{Build, Lint, Release, Run, Test};

/// Programs that only run another program.
const WRAPPERS: &[&str] = &[
    "sudo",
    "time",
    "env",
    "nice",
    "command",
    "exec",
    "xvfb-run",
    "stdbuf",
    "uvx",
    "pipx",
    "npx",
    "bunx",
    "pnpx",
    "bundle",
    "c8",
    "nyc",
    "cross-env",
    "dotenv",
    "winpty",
    "wine",
    "cov-build",
];

/// First targets of makefiles, which `make` alone runs, that build nothing.
const DEFAULTS_THAT_BUILD_NOTHING: &[&str] = &[
    "help", "init", "install", "clean", "docs", "setup", "deps", "usage",
];

/// What is known of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) purpose: CommandPurpose,
    /// Position of the word that is the program, after variables and wrappers.
    pub(super) program: usize,
}

/// Returns what a command does, if its program is known and what it names exists.
pub(super) fn judge(words: &[String], place: Place<'_>) -> Option<Known> {
    let mut at = 0;
    loop {
        at += words[at..]
            .iter()
            .take_while(|word| is_assignment(word))
            .count();
        let name = program_name(words.get(at)?);
        let rest = words.get(at + 1..)?;
        let skipped = if WRAPPERS.contains(&name) {
            let options = rest
                .iter()
                .take_while(|word| word.starts_with('-') || is_assignment(word))
                .count();
            let runs = usize::from(matches!(name, "bundle" | "pipx"));
            1 + options + runs
        } else {
            match runs_another(name, rest) {
                Some(skipped) => 1 + skipped,
                None => break,
            }
        };
        at += skipped;
    }
    if words[at..]
        .iter()
        .any(|word| matches!(word.as_str(), "--help" | "--version" | "-h"))
    {
        return None;
    }
    // A path of the example in a document, or of something that is made first.
    let is_missing =
        |word: &String| word.starts_with("./") && !exists(word.trim_end_matches('.'), place);
    if words[at + 1..].iter().any(is_missing) {
        return None;
    }
    let purpose = purpose(&words[at], &words[at + 1..], place)?;
    Some(Known {
        purpose,
        program: at,
    })
}

/// Returns how many words to skip in `uv run …`, `python -m …`, `pnpm exec …`.
fn runs_another(name: &str, rest: &[String]) -> Option<usize> {
    let first = rest.first().map_or("", String::as_str);
    match name {
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" | "coverage" | "rustup"
            if first == "run" =>
        {
            // Options may have values; the program is the first word that is known.
            rest.iter()
                .skip(1)
                .position(|word| is_known(word))
                .map(|at| at + 1)
        }
        "python" | "python3" | "python2" => {
            let module = rest.iter().position(|word| word == "-m")?;
            rest[..module]
                .iter()
                .all(|word| word.starts_with('-'))
                .then_some(module + 1)
        }
        "pnpm" | "npm" | "yarn" | "bun" if matches!(first, "exec" | "dlx" | "x") => Some(
            1 + rest[1..]
                .iter()
                .take_while(|word| word.starts_with('-'))
                .count(),
        ),
        _ => None,
    }
}

/// Returns whether the program of a command is one of these.
pub(super) fn runs_one_of(words: &[String], programs: &HashSet<&str>) -> bool {
    words
        .iter()
        .map(|word| program_name(word))
        .find(|word| !word.starts_with('-') && !is_assignment(word) && !WRAPPERS.contains(word))
        .is_some_and(|program| programs.contains(program))
}

/// Returns whether a command is a linter called by its name.
pub(super) fn runs_linter(words: &[String]) -> bool {
    words
        .first()
        .is_some_and(|word| LINTERS.contains(&program_name(word)))
}

fn is_known(word: &str) -> bool {
    let name = program_name(word);
    LINTERS.contains(&name)
        || TEST_RUNNERS.contains(&name)
        || matches!(
            name,
            "python"
                | "python3"
                | "tox"
                | "nox"
                | "pre-commit"
                | "prek"
                | "cargo"
                | "coverage"
                | "build"
        )
}

fn exists(path: &str, place: Place<'_>) -> bool {
    join(place.folder, path)
        .is_some_and(|path| place.sources.has(&path) || is_folder(place.sources, &path))
}

/// Returns the value of an option, as `-e value` or `--env=value`.
fn option<'w>(rest: &'w [String], names: &[&str]) -> Option<&'w str> {
    rest.iter()
        .enumerate()
        .find_map(|(at, word)| match word.split_once('=') {
            Some((name, value)) if names.contains(&name) => Some(value),
            _ if names.contains(&word.as_str()) => rest.get(at + 1).map(String::as_str),
            _ => None,
        })
}

fn purpose(program: &str, rest: &[String], place: Place<'_>) -> Option<CommandPurpose> {
    let name = program_name(program);
    let in_tree =
        |path: &str| join(place.folder, path).is_some_and(|path| place.sources.has(&path));
    let is_installed = program.contains("node_modules/") || program.contains("vendor/bin/");
    if program.contains('/') && !is_installed && !in_tree(program) {
        return None;
    }
    let sub = subcommand_of(rest);
    match name {
        _ if LINTERS.contains(&name) => Some(Lint),
        _ if TEST_RUNNERS.contains(&name) => Some(Test),
        "pre-commit" | "prek" | "lefthook" => (sub == "run").then_some(Lint),
        "tox" => {
            option(rest, &["-e", "-m"]).map_or(Some(Test), |env| Some(by_name(env).unwrap_or(Test)))
        }
        "nox" => option(rest, &["-s", "-e", "--session", "--sessions"]).map_or(Some(Test), by_name),
        "cargo" | "cross" => cargo(sub, rest, place).map(|purpose| {
            let only_builds = purpose == Test && rest.iter().any(|word| word == "--no-run");
            if only_builds { Build } else { purpose }
        }),
        "go" => match sub {
            "build" | "generate" => Some(Build),
            // With an address it installs somebody else's program.
            "install" => rest[1..]
                .iter()
                .all(|word| word.starts_with(['-', '.']))
                .then_some(Build),
            "test" => Some(Test),
            "vet" => Some(Lint),
            "run" => rest.iter().all(|word| !word.contains('@')).then_some(Run),
            _ => None,
        },
        "make" | "gmake" => make(rest, place),
        "just" | "task" | "mage" | "rake" | "poe" | "invoke" | "inv" => {
            let file = match name {
                "just" => "justfile",
                "task" => "Taskfile.yml",
                _ => "",
            };
            let known = file.is_empty() || task_exists(place, name, sub);
            known.then(|| by_name(sub)).flatten()
        }
        "gradle" | "gradlew" | "mvn" | "mvnw" | "mvnd" => jvm_goals(rest),
        "sbt" | "mill" | "lein" | "mix" | "swift" | "zig" | "stack" | "cabal" | "dart"
        | "flutter" | "bazel" | "bazelisk" | "buck2" | "dotnet" | "meson" | "hatch" | "poetry"
        | "uv" | "pdm" | "composer" => subcommand(name, sub),
        "ninja" => {
            let builds = sub.is_empty() || option(rest, &["-C"]) == Some(sub);
            if builds { Some(Build) } else { by_target(sub) }
        }
        "cmake" => match option(rest, &["--target", "-t"]) {
            Some(target) => Some(by_target(target).unwrap_or(Build)),
            None => rest
                .iter()
                .any(|word| {
                    word == "--build"
                        || word.starts_with("-B")
                        || word.starts_with("-S")
                        || word == "--preset"
                        || word == "."
                        || word.starts_with("..")
                })
                .then_some(Build),
        },
        "twine" => (sub == "upload").then_some(Release),
        "bash" | "sh" | "zsh" | "python" | "python3" | "ruby" | "perl" | "php" | "tsx"
        | "ts-node" => {
            if sub == "setup.py" {
                return rest.iter().find_map(|word| match word.as_str() {
                    "test" => Some(Test),
                    "build" | "build_ext" | "sdist" | "bdist_wheel" => Some(Build),
                    _ => None,
                });
            }
            of_script(sub, place)
        }
        "build" | "scons" | "autoreconf" => Some(Build),
        _ if javascript::knows(name) => javascript::purpose(name, sub, rest, place)
            .or_else(|| (name == "node").then(|| of_script(sub, place)).flatten()),
        // A script of the repository.
        _ if program.contains('/') => of_script(program, place).or_else(|| by_name(sub)),
        _ => None,
    }
}

fn cargo(sub: &str, rest: &[String], place: Place<'_>) -> Option<CommandPurpose> {
    match sub {
        "build" | "b" | "check" | "c" => Some(Build),
        "test" | "t" | "nextest" | "llvm-cov" | "tarpaulin" => Some(Test),
        "fmt" | "clippy" | "deny" | "audit" | "machete" | "semver-checks" | "udeps" | "shear" => {
            Some(Lint)
        }
        "publish" | "release" => Some(Release),
        "run" | "r" => Some(Run),
        "xtask" | "make" => {
            let alias =
                text_in(place, ".cargo/config.toml").or_else(|| text_in(place, ".cargo/config"));
            if sub == "xtask" && alias.is_none_or(|text| !text.contains("xtask")) {
                return None;
            }
            let task = rest.iter().skip_while(|word| *word != sub).nth(1)?;
            by_name(task)
        }
        _ => None,
    }
}

/// Returns the purpose of a script of the repository.
pub(super) fn of_script(path: &str, place: Place<'_>) -> Option<CommandPurpose> {
    by_script(path, place, |words, place| {
        judge(words, place).map(|known| known.purpose)
    })
}

/// Judges the goals of Maven or the tasks of Gradle; one that leaves the tests out is no test.
fn jvm_goals(rest: &[String]) -> Option<CommandPurpose> {
    let excluded = option(rest, &["-x", "--exclude-task"]);
    let skips = excluded.is_some_and(|task| task.ends_with("test"))
        || rest.iter().any(|word| {
            let (name, value) = word
                .split_once('=')
                .map_or((word.as_str(), ""), |(name, value)| (name, value));
            matches!(name, "-Dmaven.test.skip" | "-DskipTests") && value != "false"
        });
    rest.iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-') && Some(*word) != excluded)
        .filter_map(|goal| {
            let goal = goal.rsplit(':').next().unwrap_or(goal);
            match by_target(goal) {
                Some(Test) if skips => matches!(goal, "verify" | "check").then_some(Build),
                known => known,
            }
        })
        .min()
}

fn make(rest: &[String], place: Place<'_>) -> Option<CommandPurpose> {
    let folder = match option(rest, &["-C", "--directory"]) {
        Some(folder) => join(place.folder, folder)?,
        None => place.folder.to_owned(),
    };
    let mut targets = Vec::new();
    let mut skip = false;
    for word in rest {
        if std::mem::take(&mut skip) || is_assignment(word) || word.contains('=') {
            continue;
        }
        if word.starts_with('-') {
            skip = matches!(word.as_str(), "-C" | "-f" | "-j" | "-l" | "-I");
        } else if !word.bytes().all(|byte| byte.is_ascii_digit()) && !word.starts_with('$') {
            targets.push(word.as_str());
        }
    }
    // `-j 4` has a value, `-j` need not have one.
    if let Some(after) = rest
        .iter()
        .position(|word| word == "-j")
        .and_then(|at| rest.get(at + 1))
        && !after.starts_with('-')
        && !after.contains('=')
        && !after.bytes().all(|byte| byte.is_ascii_digit())
        && !after.starts_with('$')
    {
        targets.push(after);
    }
    let place = Place {
        folder: &folder,
        ..place
    };
    if option(rest, &["-f", "--file"]).is_none()
        && !targets.iter().all(|target| makefile_has(place, target))
    {
        return None;
    }
    if targets.is_empty() {
        // Without a makefile in the repository something else makes it first: `./configure`, say.
        let first = recipes::make(place).and_then(|(_, recipes)| recipes.into_iter().next());
        let is_other = first
            .as_ref()
            .is_some_and(|recipe| DEFAULTS_THAT_BUILD_NOTHING.contains(&recipe.name.as_str()));
        let purpose = first.and_then(|recipe| by_target(&recipe.name));
        return (makefile_has(place, "") && !is_other).then(|| purpose.unwrap_or(Build));
    }
    targets.into_iter().filter_map(by_target).min()
}

fn subcommand(name: &str, sub: &str) -> Option<CommandPurpose> {
    match sub {
        "test" => Some(Test),
        "build" | "compile" | "assembly" | "setup" => Some(Build),
        "publish" if name == "dotnet" => Some(Build),
        "publish" => Some(Release),
        "lint" | "format" | "fmt" | "scalafmtCheck" | "scalafmtCheckAll" | "analyze" | "credo" => {
            Some(Lint)
        }
        "run" if matches!(name, "dotnet" | "swift" | "sbt" | "flutter" | "bazel") => Some(Run),
        "dev" | "start" if name == "composer" => None,
        _ => None,
    }
}
