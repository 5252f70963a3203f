//! Packages in JavaScript and TypeScript code.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Import;
use super::masking::{Style, without_comments};

static IMPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:\bfrom|\bimport|\brequire(?:\.resolve)?|\bmock|\bimportActual|@import|\breference types=)\s*\(?\s*["'`]([^"'`\n]+)["'`]"#).ok()
});

/// Finds `import`, `export … from`, `require` and `import()`.
pub(super) fn imports(text: &str, known: &HashSet<String>) -> Vec<Import> {
    // `/// <reference types="x" />` is a comment that imports.
    let references = text
        .lines()
        .filter(|line| line.trim_start().starts_with("/// <reference"));
    let references: String = references.collect();
    let code = without_comments(text, Style::C);
    [code.as_str(), references.as_str()]
        .into_iter()
        .flat_map(|text| {
            IMPORT
                .iter()
                .flat_map(move |regex| regex.captures_iter(text))
        })
        .filter_map(|found| package_of(found.get(1)?.as_str()).map(str::to_owned))
        .filter(|name| known.contains(name))
        .map(|name| Import { name, weak: false })
        .collect()
}

/// Returns the package of an import: `@scope/name/part` is part of `@scope/name`.
fn package_of(specifier: &str) -> Option<&str> {
    let specifier = specifier.trim_start_matches('~');
    if specifier.starts_with(['.', '/', '#']) || specifier.contains(':') {
        return None;
    }
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier
        .match_indices('/')
        .nth(parts - 1)
        .map_or(specifier.len(), |(at, _)| at);
    // A loader or query follows the name in some bundlers.
    specifier[..end].split(['!', '?']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_import() {
        let text = r#"
            import a, { b } from "alpha";
            import "beta/style.css";
            export * from '@scope/gamma/deep';
            const d = require('delta'); const e = await import(`epsilon`);
            // import zeta from "zeta"
            import x from './local'; import fs from 'node:fs';
        "#;
        let names = [
            "alpha",
            "beta",
            "@scope/gamma",
            "delta",
            "epsilon",
            "zeta",
            "./local",
        ];
        let known: HashSet<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut found: Vec<String> = imports(text, &known)
            .into_iter()
            .map(|import| import.name)
            .collect();
        found.sort();
        assert_eq!(found, ["@scope/gamma", "alpha", "beta", "delta", "epsilon"]);
    }
}
