//! Entry points: files in which programs and libraries start, by manifests, conventions and `main` functions.

use std::collections::HashSet;

use super::packages::{FoundPackage, Sources};
use crate::paths::{folder_of, name_of};
use crate::report::Listing;
use crate::report::architecture::{EntryKind, EntryPoint};
use crate::tree::classify::Origin;
use crate::tree::language::LanguageId;

/// Most examples and most benchmarks listed; the others are counted.
const MAX_MINOR: usize = 5;

/// Collects where programs start: what manifests name, then what the code shows.
pub(crate) fn find(sources: Sources<'_>, packages: &[FoundPackage]) -> Listing<EntryPoint> {
    let mut entries: Vec<EntryPoint> = packages
        .iter()
        .flat_map(|package| package.entry_points.iter().cloned())
        // Tests are run, but nothing starts in them.
        .filter(|entry| entry.kind != EntryKind::Test)
        // Nor are programs that only tests run part of the product.
        .filter(|entry| {
            let file = sources.tree.find(&entry.path);
            entry.kind != EntryKind::Binary || file.is_none_or(|file| !file.is_test)
        })
        .collect();
    // A manifest may name what is by convention the program of another package.
    entries.sort_by_key(|entry| entry.basis == "convention");
    let mut seen: HashSet<(String, bool)> = HashSet::new();
    entries.retain(|entry| seen.insert((entry.path.clone(), entry.kind == EntryKind::Binary)));
    let named: HashSet<String> = entries.iter().map(|entry| entry.path.clone()).collect();
    let files = sources.tree.files.iter();
    for file in files.filter(|file| file.origin == Origin::Own && !file.is_test) {
        let name = name_of(&file.path);
        let language = file.language().map_or("", LanguageId::name);
        let by_name = matches!(name, "__main__.py" | "manage.py" | "wsgi.py" | "asgi.py");
        let by_code =
            file.source.as_ref().is_some_and(|facts| facts.has_main) && language != "Rust";
        if !(by_name || by_code) || named.contains(&file.path) {
            continue;
        }
        let is_c = matches!(language, "C" | "C++");
        if is_c
            && !sources
                .text(&file.path)
                .is_some_and(|text| has_unconditional_main(&text))
        {
            continue;
        }
        let folder = name_of(folder_of(&file.path));
        let stem = name.split('.').next().unwrap_or(name);
        let label = if matches!(stem, "main" | "__main__") && !folder.is_empty() {
            folder
        } else {
            stem
        };
        let kind = if language == "Python" {
            EntryKind::Script
        } else {
            EntryKind::Binary
        };
        entries.push(EntryPoint {
            name: label.to_owned(),
            kind,
            path: file.path.clone(),
            basis: if by_code {
                "main in the code"
            } else {
                "convention"
            }
            .to_owned(),
        });
    }
    for entry in &mut entries {
        if let Some(kind) = kind_of_path(&entry.path) {
            entry.kind = kind;
        }
    }
    entries.sort_by(|one, other| {
        let level = |entry: &EntryPoint| entry.path.matches('/').count();
        let rank = |entry: &EntryPoint| (entry.kind, is_tool(&entry.path), level(entry));
        (rank(one), &one.path).cmp(&(rank(other), &other.path))
    });
    let before = entries.len();
    let (mut examples, mut benchmarks) = (0, 0);
    entries.retain(|entry| {
        let seen = match entry.kind {
            EntryKind::Example => &mut examples,
            EntryKind::Benchmark => &mut benchmarks,
            _ => return true,
        };
        *seen += 1;
        *seen <= MAX_MINOR
    });
    let omitted = (before - entries.len()) as u64;
    Listing {
        items: entries,
        omitted,
    }
}

/// Returns what a program is by its path, whatever its manifest calls it.
fn kind_of_path(path: &str) -> Option<EntryKind> {
    let stem = name_of(path).split('.').next().unwrap_or_default();
    if stem.ends_with("Benchmark") || stem.ends_with("_benchmark") || stem.ends_with("_bench") {
        return Some(EntryKind::Benchmark);
    }
    folder_of(path).split('/').find_map(|part| match part {
        "example" | "examples" | "samples" | "demo" | "demos" => Some(EntryKind::Example),
        "bench" | "benches" | "benchmark" | "benchmarks" => Some(EntryKind::Benchmark),
        _ => None,
    })
}

/// Returns whether a file belongs to the tools beside the product.
pub(super) fn is_tool(path: &str) -> bool {
    folder_of(path).split('/').any(|part| {
        matches!(
            part,
            "scripts"
                | "script"
                | "tools"
                | "tool"
                | "utils"
                | "util"
                | "hack"
                | "contrib"
                | "xtask"
                | "fuzz"
                | "docs"
                | "doc"
                | "documentation"
                | "internal"
                | "gen"
                | "build"
        )
    })
}

/// Returns whether a C file has a `main` that no `#if` guards: many have one for their own test.
fn has_unconditional_main(text: &str) -> bool {
    let mut depth = 0_usize;
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(directive) = line.strip_prefix('#') {
            let directive = directive.trim_start();
            if directive.starts_with("if") {
                depth += 1;
            } else if directive.starts_with("endif") {
                depth = depth.saturating_sub(1);
            }
        } else if depth == 0
            && line.split_once("main").is_some_and(|(before, after)| {
                let kind = before.split_whitespace().next().unwrap_or_default();
                let is_return_type = matches!(kind, "int" | "void" | "extern" | "auto");
                let separate = before.is_empty() || before.ends_with([' ', '\t']);
                let is_declared = after.trim_end().ends_with(';');
                (before.is_empty() || is_return_type)
                    && separate
                    && after.trim_start().starts_with('(')
                    && !is_declared
            })
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_main_is_a_test_of_the_file() {
        let own = "#ifdef SELF_TEST\nint main(void) {\n}\n#endif\nint f(void);\n";
        assert!(!has_unconditional_main(own));
        let real = "#if X\n#endif\nint main(int argc, char **argv) {\n";
        assert!(has_unconditional_main(real));
        assert!(has_unconditional_main("int\nmain(void)\n{\n"));
        assert!(!has_unconditional_main(
            "  run_main(x);\nint domain(int a) {\n"
        ));
    }
}
