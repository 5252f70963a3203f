//! Classifies folders by role: source, tests, documentation, tools, assets.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::packages::FoundPackage;
use crate::paths::name_of;
use crate::report::Listing;
use crate::report::architecture::{FolderRole, Role};
use crate::tree::classify::Origin;
use crate::tree::language::LanguageId;
use crate::tree::syntax::Nature;
use crate::tree::working_tree::Tree;

#[derive(Default)]
struct Contents {
    files: u64,
    vendored: u64,
    generated: u64,
    data: u64,
    prose: u64,
    /// Tests among the files of programming languages.
    tests: u64,
    programs: u64,
    languages: HashMap<LanguageId, u64>,
}

/// Classifies the folders of the first two levels.
pub(crate) fn find(tree: &Tree, packages: &[FoundPackage]) -> Listing<FolderRole> {
    let package_folders: HashSet<&str> = packages
        .iter()
        .map(|package| package.folder.as_str())
        .collect();
    let mut folders: BTreeMap<&str, Contents> = BTreeMap::new();
    for file in &tree.files {
        for (level, (at, _)) in file.path.match_indices('/').enumerate() {
            let folder = &file.path[..at];
            if level >= 2 && !package_folders.contains(folder) {
                continue;
            }
            let contents = folders.entry(folder).or_default();
            contents.files += 1;
            match file.origin {
                Origin::Own => {}
                Origin::Generated => contents.generated += 1,
                Origin::Vendored => contents.vendored += 1,
            }
            if let Some(language) = file.language() {
                if language.get().nature == Nature::Program {
                    contents.programs += 1;
                    contents.tests += u64::from(file.is_test);
                }
                match language.get().nature {
                    Nature::Program | Nature::Markup => {
                        *contents.languages.entry(language).or_default() += 1;
                    }
                    Nature::Data => contents.data += 1,
                    Nature::Prose => contents.prose += 1,
                }
            }
        }
    }
    let mut roles: Vec<FolderRole> = folders
        .into_iter()
        .filter_map(|(folder, contents)| {
            let by_name = role_by_name(name_of(folder));
            let role = role(folder, &contents, by_name, package_folders.contains(folder));
            // Below the top only what says something is worth a line.
            let deep = folder.contains('/');
            // Below documents and tests the names say nothing of their own.
            let above = folder.split('/').next().and_then(role_by_name);
            let is_own = !matches!(
                above,
                Some(Role::Documentation | Role::Tests | Role::Examples)
            );
            // Nor do those of parts of a program: `src/benchmark` of a benchmarking tool is what it does.
            let is_own = is_own
                && !(above == Some(Role::Source) && matches!(role, Role::Benchmarks | Role::Tools));
            let telling = matches!(role, Role::Package)
                || (is_own
                    && by_name == Some(role)
                    && role != Role::Source
                    && folder.matches('/').count() == 1);
            (!deep || telling).then(|| FolderRole {
                folder: folder.to_owned(),
                role,
                files: contents.files,
                main_language: contents
                    .languages
                    .iter()
                    .max_by_key(|(language, files)| (**files, std::cmp::Reverse(**language)))
                    .map(|(language, _)| language.name().to_owned()),
            })
        })
        .collect();
    roles.sort_by(|one, other| {
        let level = |role: &FolderRole| role.folder.matches('/').count();
        level(one)
            .cmp(&level(other))
            .then(other.files.cmp(&one.files))
            .then_with(|| one.folder.cmp(&other.folder))
    });
    roles.into()
}

/// Judges a folder by its manifest, its contents and its name; a name alone says little about code.
fn role(folder: &str, contents: &Contents, by_name: Option<Role>, is_package: bool) -> Role {
    let code: u64 = contents.languages.values().sum();
    let mostly = |part: u64| part * 2 > contents.files;
    if is_package {
        return Role::Package;
    }
    match by_name {
        // `media`, `config` or `data` may as well be a part of the program.
        Some(Role::Assets | Role::Configuration | Role::Data) if mostly(code) => {}
        Some(Role::Source) | None => {}
        Some(role) => return role,
    }
    if mostly(contents.vendored) {
        Role::Vendored
    } else if mostly(contents.generated) {
        Role::Generated
    } else if folder.starts_with('.') {
        Role::Configuration
    } else if by_name == Some(Role::Source) {
        Role::Source
    } else if contents.programs > 0 && contents.tests * 2 > contents.programs {
        Role::Tests
    } else if mostly(code) || contents.programs > 0 {
        Role::Source
    } else {
        role_by_contents(contents)
    }
}

fn role_by_name(name: &str) -> Option<Role> {
    let name = name.to_ascii_lowercase();
    if name.ends_with("-tests") || name.ends_with("_tests") {
        return Some(Role::Tests);
    }
    Some(match name.as_str() {
        "src" | "lib" | "app" | "apps" | "packages" | "crates" | "internal" | "pkg" | "cmd"
        | "core" | "include" | "source" | "sources" | "server" | "client" | "frontend"
        | "backend" | "api" | "modules" | "services" => Role::Source,
        "test" | "tests" | "__tests__" | "spec" | "specs" | "e2e" | "testing" | "testdata"
        | "fixtures" | "integration" => Role::Tests,
        "doc" | "docs" | "documentation" | "book" | "website" | "man" | "wiki" => {
            Role::Documentation
        }
        "example" | "examples" | "samples" | "demo" | "demos" => Role::Examples,
        "bench" | "benches" | "benchmark" | "benchmarks" | "perf" => Role::Benchmarks,
        "tools" | "tool" | "scripts" | "script" | "bin" | "hack" | "contrib" | "util" | "utils"
        | "xtask" | "dev" => Role::Tools,
        "config" | "configs" | "conf" | "etc" | ".vscode" | ".idea" | ".cargo" | ".config"
        | "deploy" | "deployment" | "docker" | "k8s" | "helm" | "charts" | "infra"
        | "terraform" | "ansible" => Role::Configuration,
        ".github" | ".gitlab" | ".circleci" | ".ci" | "ci" | ".buildkite" | "workflows"
        | ".gitea" | ".forgejo" => Role::ContinuousIntegration,
        "assets" | "static" | "public" | "images" | "img" | "icons" | "fonts" | "media"
        | "resources" | "res" => Role::Assets,
        "data" | "datasets" | "migrations" | "schema" | "schemas" | "proto" | "protos" => {
            Role::Data
        }
        _ => return None,
    })
}

fn role_by_contents(contents: &Contents) -> Role {
    let code: u64 = contents.languages.values().sum();
    if code > 0 && code >= contents.prose {
        Role::Source
    } else if contents.prose * 2 > contents.files && contents.data == 0 {
        Role::Documentation
    } else if contents.prose > 0 {
        // Prose beside data or pictures may be anything: a plugin of an assistant, say.
        Role::Other
    } else if contents.data > 0 {
        Role::Data
    } else {
        Role::Other
    }
}
