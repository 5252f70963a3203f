//! Programs of JavaScript: package managers with their scripts, bundlers, task runners, `node --test`.

use super::place::Place;
use super::purpose::by_name;
use super::recipes::scripts_of;
use super::words::{LINTERS, TEST_RUNNERS, subcommand_of};
use crate::report::architecture::CommandPurpose;
use CommandPurpose::{Build, Lint, Release, Run, Test};

const BUNDLERS: &[&str] = &[
    "vite", "webpack", "rollup", "esbuild", "tsup", "tsdown", "next", "nuxt", "astro", "parcel",
    "swc",
];

const OTHERS: &[&str] = &[
    "bun",
    "deno",
    "grunt",
    "gulp",
    "lerna",
    "ng",
    "node",
    "npm",
    "nx",
    "playwright",
    "pnpm",
    "tsc",
    "turbo",
    "vue-tsc",
    "wireit",
    "yarn",
];

/// Returns whether a program is judged here.
pub(super) fn knows(name: &str) -> bool {
    BUNDLERS.contains(&name) || OTHERS.contains(&name)
}

/// Judges one of these programs by its first word without a dash.
pub(super) fn purpose(
    name: &str,
    sub: &str,
    rest: &[String],
    place: Place<'_>,
) -> Option<CommandPurpose> {
    match name {
        "npm" | "pnpm" | "yarn" | "bun" => package_script(name, rest, place),
        "turbo" | "lerna" | "nx" | "wireit" | "gulp" | "grunt" | "ng" => rest
            .iter()
            .filter(|word| !word.starts_with("--filter"))
            .find_map(|word| by_name(word)),
        _ if BUNDLERS.contains(&name) => match sub {
            "dev" | "serve" | "start" | "preview" => Some(Run),
            "build" | "" => Some(Build),
            _ => matches!(name, "webpack" | "rollup" | "esbuild" | "tsup" | "tsdown")
                .then_some(Build),
        },
        "deno" => match sub {
            "test" => Some(Test),
            "lint" | "fmt" | "check" => Some(Lint),
            _ => None,
        },
        "playwright" => (sub == "test").then_some(Test),
        "tsc" | "vue-tsc" => {
            let builds = rest.iter().any(|word| word == "-b" || word == "--build");
            Some(if builds { Build } else { Lint })
        }
        "node" => rest.iter().any(|word| word == "--test").then_some(Test),
        _ => None,
    }
}

/// Judges `npm run x`, `yarn x`, `pnpm --filter y test`.
fn package_script(name: &str, rest: &[String], place: Place<'_>) -> Option<CommandPurpose> {
    let mut words = rest.iter().map(String::as_str).peekable();
    let mut elsewhere = false;
    let mut script = "";
    while let Some(word) = words.next() {
        match word {
            "--filter" | "-F" | "-w" | "--workspace" | "-C" | "--dir" | "--prefix" | "--cwd"
            | "workspace" => {
                elsewhere = true;
                // pnpm's `-w` is the top of the workspace and has no value.
                if !(name == "pnpm" && word == "-w") {
                    words.next();
                }
            }
            "-r" | "--recursive" | "--workspaces" | "-ws" => elsewhere = true,
            "run" | "run-script" => {}
            word if word.starts_with('-') => {
                elsewhere |= ["--filter=", "--workspace=", "--prefix=", "--cwd=", "--dir="]
                    .iter()
                    .any(|option| word.starts_with(option));
            }
            word => {
                script = word;
                break;
            }
        }
    }
    let script = match script {
        "t" | "tst" => "test",
        "" => return None,
        other => other,
    };
    if matches!(
        script,
        "install"
            | "ci"
            | "i"
            | "add"
            | "create"
            | "init"
            | "link"
            | "config"
            | "version"
            | "pack"
            | "workspaces"
            | "dlx"
            | "why"
            | "audit"
    ) {
        return None;
    }
    if script == "publish" {
        return Some(Release);
    }
    if name == "bun" && matches!(script, "test" | "build") {
        return by_name(script);
    }
    match scripts_of(place) {
        Some(scripts) if !elsewhere => match scripts.get(script) {
            Some(_) => by_name(script),
            // Without `run` these also find programs: `yarn tsc`.
            None if matches!(name, "pnpm" | "yarn" | "bun") => {
                let at = rest.iter().position(|word| word == script)?;
                let rest = &rest[at + 1..];
                match script {
                    _ if LINTERS.contains(&script) => Some(Lint),
                    _ if TEST_RUNNERS.contains(&script) => Some(Test),
                    "tsc" | "playwright" | "turbo" | "lerna" | "nx" => {
                        purpose(script, subcommand_of(rest), rest, place)
                    }
                    _ => None,
                }
            }
            None => None,
        },
        Some(_) => by_name(script),
        None => None,
    }
}
