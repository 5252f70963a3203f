//! Modules in Go code.

use std::collections::HashSet;

use super::Import;
use super::masking::{Style, without_comments};

/// Finds `import "path"` and import blocks; the longest module that holds the path counts.
pub(super) fn imports(text: &str, known: &HashSet<String>) -> Vec<Import> {
    let code = without_comments(text, Style::C);
    let mut found = Vec::new();
    let mut in_block = false;
    for line in code.lines() {
        let line = line.trim();
        if in_block {
            in_block = !line.starts_with(')');
        } else if let Some(rest) = line.strip_prefix("import") {
            in_block = rest.trim_start().starts_with('(') && !rest.contains(')');
            if !rest.starts_with([' ', '\t', '(', '"']) {
                continue;
            }
        } else if line.starts_with("func ") || line.starts_with("type ") {
            // Imports come before everything else.
            break;
        } else {
            continue;
        }
        let path = line.split(['"', '`']).nth(1).unwrap_or_default();
        found.extend(module_of(path, known).map(|name| Import {
            name: name.to_owned(),
            weak: false,
        }));
    }
    found
}

fn module_of<'a>(path: &'a str, known: &HashSet<String>) -> Option<&'a str> {
    let mut module = path;
    loop {
        if known.contains(module) {
            return Some(module);
        }
        module = &module[..module.rfind('/')?];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lines_and_submodules() {
        let text = "package x\nimport \"a.com/one\"\nimport (\n\tz \"a.com/two/v2/sub\"\n\t// \"a.com/three\"\n)\nfunc f() { g(\"a.com/four\") }\n";
        let known: HashSet<String> = [
            "a.com/one",
            "a.com/two",
            "a.com/two/v2",
            "a.com/three",
            "a.com/four",
        ]
        .map(str::to_owned)
        .into();
        let found: Vec<String> = imports(text, &known)
            .into_iter()
            .map(|import| import.name)
            .collect();
        assert_eq!(found, ["a.com/one", "a.com/two/v2"]);
    }
}
