//! Build, test and other commands, as documents, task runners, manifests, scripts and CI state them.
//!
//! What is offered was found, parses as shell words, and names scripts, targets and folders that exist.

mod documents;
mod javascript;
mod one_test;
mod pipelines;
mod place;
mod programs;
mod purpose;
mod recipes;
mod script;
mod script_files;
mod shell;
mod task_entry;
mod task_files;
mod tox;
mod words;

use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::PermissionsExt as _;

use model::toolchain::PackageManager;

use super::packages::{FoundPackage, Sources, join};
use crate::paths::{folder_of, name_of};
use crate::report::Listing;
use crate::report::architecture::{CommandPurpose, Ecosystem, FoundCommand};
use crate::tree::classify::Origin;
use place::Place;

/// Most commands kept.
const MAX_COMMANDS: usize = 150;

/// Most scripts of one `package.json`.
const MAX_SCRIPTS: usize = 60;

/// Most commands of one purpose that only pipelines or examples state.
const MAX_MINOR: usize = 8;

/// A command with its rank: the lower, the better it is known that contributors use it.
type Ranked = (usize, FoundCommand);

const RANK_OF_README: usize = 2;
const RANK_OF_SCRIPTS: usize = 3;
const RANK_OF_MEMBERS: usize = 4;
const RANK_OF_PIPELINES: usize = 5;
const RANK_OF_EXAMPLES: usize = 6;

/// Collects the commands of a repository: for each purpose the most trustworthy first, the purposes in turn.
pub(crate) fn find(sources: Sources<'_>, packages: &[FoundPackage]) -> Listing<FoundCommand> {
    let top = Place {
        sources,
        folder: "",
        level: 0,
    };
    let mut found: Vec<Ranked> = Vec::new();
    for file in sources
        .tree
        .files
        .iter()
        .filter(|file| file.origin != Origin::Vendored && !file.is_test)
    {
        let path = file.path.as_str();
        if pipelines::is_pipeline(path) {
            let commands = pipelines::read(sources, path, &sources.text(path).unwrap_or_default());
            found.extend(
                commands
                    .into_iter()
                    .map(|command| (RANK_OF_PIPELINES, command)),
            );
        } else if let Some(rank) = documents::rank(path) {
            let text = sources.text(path).unwrap_or_default();
            let commands = documents::read(sources, packages, path, &text);
            found.extend(
                commands
                    .into_iter()
                    .map(|command| (rank * RANK_OF_README, command)),
            );
        } else if matches!(
            folder_of(path),
            "" | "scripts" | "script" | "bin" | ".ci" | "ci"
        ) {
            found.extend(script_file(sources, path).map(|command| (RANK_OF_SCRIPTS, command)));
        }
    }
    found.extend(
        task_files::find(top)
            .into_iter()
            .map(|command| (1, command)),
    );
    for package in packages {
        let place = Place {
            sources,
            folder: &package.folder,
            level: 0,
        };
        let rank = match package.folder.as_str() {
            "" => 1,
            folder if is_example(folder) => RANK_OF_EXAMPLES,
            _ => RANK_OF_MEMBERS,
        };
        if package.package.ecosystem == Ecosystem::Npm {
            found.extend(
                npm_scripts(place)
                    .into_iter()
                    .map(|command| (rank, command)),
            );
        }
        if rank == RANK_OF_MEMBERS {
            found.extend(
                task_files::find(place)
                    .into_iter()
                    .map(|command| (rank, command)),
            );
        }
    }
    let mut found = folded(found);
    if !found
        .iter()
        .any(|(_, command)| command.purpose == CommandPurpose::Test)
    {
        found.extend(cargo_test(sources));
    }
    in_turn(found)
}

/// Returns what tests every Cargo package, stated or not.
fn cargo_test(sources: Sources<'_>) -> Option<Ranked> {
    let manifest: toml::Table = sources.text("Cargo.toml")?.parse().ok()?;
    let all = if manifest.contains_key("workspace") {
        " --workspace"
    } else {
        ""
    };
    let command = FoundCommand {
        purpose: CommandPurpose::Test,
        command: format!("cargo test{all}"),
        source: "Cargo.toml".to_owned(),
        directory: None,
        environment: Vec::new(),
        runs: None,
        one_test: Some(format!("cargo test{all} TEST_NAME")),
        also_in: 0,
    };
    Some((RANK_OF_PIPELINES, command))
}

fn is_example(folder: &str) -> bool {
    folder.split('/').any(|part| {
        matches!(
            part,
            "example"
                | "examples"
                | "samples"
                | "demo"
                | "demos"
                | "fixtures"
                | "templates"
                | "benchmarks"
                | "docs"
                | "www"
                | "website"
        )
    })
}

/// An executable script of the repository whose name tells its purpose.
fn script_file(sources: Sources<'_>, path: &str) -> Option<FoundCommand> {
    let name = name_of(path);
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    if stem.is_empty() || !matches!(ending, "" | "sh" | "bash" | "py" | "js" | "ts" | "rb") {
        return None;
    }
    let place = Place {
        sources,
        folder: "",
        level: 0,
    };
    let purpose = programs::of_script(path, place)?;
    let metadata = std::fs::symlink_metadata(sources.root.join(path)).ok()?;
    let is_runnable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    let is_word = path
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    (is_runnable && is_word).then(|| FoundCommand {
        purpose,
        command: format!("./{path}"),
        source: path.to_owned(),
        directory: None,
        environment: Vec::new(),
        runs: None,
        one_test: None,
        also_in: 0,
    })
}

/// Reads the scripts of a `package.json`.
fn npm_scripts(place: Place<'_>) -> Vec<FoundCommand> {
    let Some(scripts) = recipes::scripts_of(place) else {
        return Vec::new();
    };
    let path = join(place.folder, "package.json").unwrap_or_default();
    let program = package_manager(place).program();
    let exec = match program {
        "pnpm" => "pnpm exec",
        "yarn" => "yarn",
        "bun" => "bunx",
        _ => "npx",
    };
    let is_word = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte))
    };
    let is_hook = |name: &str| {
        ["pre", "post"].iter().any(|hook| {
            name.strip_prefix(hook).is_some_and(|of| {
                scripts.contains_key(of) || of == "install" || of == "pack" || of == "publish"
            })
        }) || matches!(
            name,
            "prepare" | "prepublishOnly" | "prepublish" | "preinstall"
        )
    };
    let mut commands = Vec::new();
    for (name, runs) in scripts
        .iter()
        .filter(|(name, _)| is_word(name) && !is_hook(name))
        .take(MAX_SCRIPTS)
    {
        let runs = runs.as_str().unwrap_or_default();
        // What `npm init` writes.
        if runs.contains("no test specified") {
            continue;
        }
        let purpose = task_entry::of_script(name, runs, place);
        let mut command =
            task_entry::task(place, format!("{program} run {name}"), &path, purpose, runs);
        command.one_test = command.one_test.map(|one| installed(exec, &one));
        commands.push(command);
    }
    commands
}

/// Lets the package manager find the program of a command, which a shell does not; variables stay in front.
fn installed(exec: &str, command: &str) -> String {
    let is_variable = |word: &&str| words::is_assignment(word);
    let before: usize = command
        .split_inclusive(' ')
        .take_while(|word| is_variable(&word.trim_end()))
        .map(str::len)
        .sum();
    let (variables, program) = command.split_at(before);
    let runners = ["vitest ", "jest ", "mocha ", "playwright "];
    if runners.iter().any(|runner| program.starts_with(runner)) {
        format!("{variables}{exec} {program}")
    } else {
        command.to_owned()
    }
}

/// Finds the lock file beside the manifest, else at the top: a workspace has one for all its packages.
fn package_manager(place: Place<'_>) -> PackageManager {
    let manager = [place.folder, ""].into_iter().find_map(|folder| {
        let has = |lock: &str| join(folder, lock).is_some_and(|path| place.sources.has(&path));
        PackageManager::of_lock_file(has)
    });
    manager.unwrap_or(PackageManager::Npm)
}

/// Drops repetitions; the same command of many packages becomes one with a count.
fn folded(mut found: Vec<Ranked>) -> Vec<Ranked> {
    found.sort_by_key(|(rank, command)| {
        (
            *rank,
            command
                .directory
                .as_ref()
                .map_or(0, |folder| folder.split('/').count()),
        )
    });
    let mut places: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    let mut members: BTreeMap<(String, CommandPurpose), usize> = BTreeMap::new();
    let mut kept: Vec<Ranked> = Vec::new();
    let mut of_purpose: BTreeMap<(CommandPurpose, bool), usize> = BTreeMap::new();
    for (rank, command) in found {
        // `pnpm run x` and `pnpm x` are the same, `scripts/x` and `./scripts/x` too.
        let name = command.command.replacen(" run ", " ", 1);
        let name = name.strip_prefix("./").map_or(name.clone(), str::to_owned);
        if let Some(first) = places
            .get(&(name.clone(), command.directory.clone()))
            .and_then(|&at| kept.get_mut(at))
        {
            first.1.runs = first.1.runs.take().or(command.runs);
            first.1.one_test = first.1.one_test.take().or(command.one_test);
            continue;
        }
        let is_member = command.directory.is_some() && rank != RANK_OF_PIPELINES;
        if command.purpose == CommandPurpose::Other && (rank > 1 || is_member) {
            continue;
        }
        if is_member
            && let Some(first) = members
                .get(&(name.clone(), command.purpose))
                .and_then(|&at| kept.get_mut(at))
        {
            first.1.also_in += 1;
            continue;
        }
        // Variants that only pipelines and examples know say little once there is something better.
        let is_minor = rank >= RANK_OF_PIPELINES;
        let others = *of_purpose.get(&(command.purpose, false)).unwrap_or(&0);
        let minor = of_purpose.entry((command.purpose, is_minor)).or_default();
        if is_minor && (*minor >= MAX_MINOR || (rank == RANK_OF_EXAMPLES && others > 0)) {
            continue;
        }
        *minor += 1;
        places.insert((name.clone(), command.directory.clone()), kept.len());
        if is_member {
            members.insert((name, command.purpose), kept.len());
        }
        kept.push((rank, command));
    }
    kept
}

/// Takes the best of each purpose, then the second best, so that no purpose is lost when the list is cut.
fn in_turn(found: Vec<Ranked>) -> Listing<FoundCommand> {
    let mut of_purpose: BTreeMap<CommandPurpose, usize> = BTreeMap::new();
    let mut shown: HashSet<String> = HashSet::new();
    let mut turns: Vec<(bool, usize, FoundCommand)> = found
        .into_iter()
        .map(|(_, mut command)| {
            let turn = of_purpose.entry(command.purpose).or_default();
            *turn += 1;
            command.one_test = command.one_test.filter(|one| shown.insert(one.clone()));
            // Commands of no known purpose are the last to be missed.
            (command.purpose == CommandPurpose::Other, *turn, command)
        })
        .collect();
    turns.sort_by_key(|(is_other, turn, command)| (*is_other, *turn, command.purpose));
    Listing::bounded(
        turns.into_iter().map(|(.., command)| command).collect(),
        MAX_COMMANDS,
    )
}
