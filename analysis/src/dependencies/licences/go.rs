//! Modules in the module cache of Go, whose licence is the text of a file.

use std::path::Path;

use super::{inside, is_real_folder, text_of};

/// Names under which a module keeps its licence.
const FILES: [&str; 7] = [
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "LICENCE",
    "COPYING",
    "License",
    "LICENSE-MIT",
];

/// Returns the licence of a module.
pub(super) fn licence(cache: &Path, module: &str, version: &str) -> Option<String> {
    let folder = escaped(&format!("{module}@{version}"));
    let folder = inside(cache, folder.split('/')).filter(|folder| is_real_folder(folder))?;
    let mut texts = FILES.iter().filter_map(|name| text_of(&folder.join(name)));
    recognised(&texts.next()?).map(str::to_owned)
}

/// The cache writes capital letters as an exclamation mark and the small letter.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_uppercase() {
            result.push('!');
        }
        result.push(character.to_ascii_lowercase());
    }
    result
}

/// Recognises a licence by sentences that only it has; none if it may be several.
fn recognised(text: &str) -> Option<&'static str> {
    let text = text
        .to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let has = |sentence: &str| text.contains(sentence);
    let starts = |title: &str| text.find(title).is_some_and(|at| at < 200);
    let bsd = has("redistribution and use in source and binary forms");
    let free_of_charge = has("permission is hereby granted, free of charge, to any person");
    let any_purpose =
        has("permission to use, copy, modify, and/or distribute this software for any purpose")
            || has("permission to use, copy, modify, and distribute this software for any purpose");
    let candidates = [
        (
            starts("apache license version 2.0")
                || has("licensed under the apache license, version 2.0"),
            "Apache-2.0",
        ),
        (
            free_of_charge && has("this permission notice shall be included"),
            "MIT",
        ),
        (
            bsd && !has("all advertising materials")
                && (has("neither the name") || has("may not be used to endorse or promote")),
            "BSD-3-Clause",
        ),
        (
            bsd && !has("neither the name")
                && !has("may not be used to endorse or promote")
                && !has("all advertising materials"),
            "BSD-2-Clause",
        ),
        (
            any_purpose && has("provided that the above copyright notice"),
            "ISC",
        ),
        (
            starts("mozilla public license version 2.0")
                || starts("mozilla public license, version 2.0"),
            "MPL-2.0",
        ),
        (
            has("this is free and unencumbered software released into the public domain"),
            "Unlicense",
        ),
        (starts("gnu general public license version 3"), "GPL-3.0"),
        (starts("gnu general public license version 2"), "GPL-2.0"),
        (
            starts("gnu lesser general public license version 3"),
            "LGPL-3.0",
        ),
        (
            starts("gnu lesser general public license version 2.1"),
            "LGPL-2.1",
        ),
        (
            starts("gnu affero general public license version 3"),
            "AGPL-3.0",
        ),
    ];
    let mut found = candidates.iter().filter(|(holds, _)| *holds);
    let first = found.next()?;
    found.next().is_none().then_some(first.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIT: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software.\nThe above copyright notice and this permission notice shall be\nincluded in all copies.";

    #[test]
    fn texts_are_recognised_only_if_they_are_one_licence() {
        assert_eq!(recognised(MIT), Some("MIT"));
        let apache = "Apache License\n   Version 2.0, January 2004\n";
        assert_eq!(recognised(apache), Some("Apache-2.0"));
        assert_eq!(recognised(&format!("{apache}{MIT}")), None);
        let bsd = "Redistribution and use in source and binary forms are permitted.";
        assert_eq!(recognised(bsd), Some("BSD-2-Clause"));
        assert_eq!(
            recognised(&format!("{bsd} Neither the name of Google may be used.")),
            Some("BSD-3-Clause")
        );
        assert_eq!(recognised("All rights reserved."), None);
    }

    #[test]
    fn capitals_are_escaped() {
        assert_eq!(
            escaped("github.com/BurntSushi/toml"),
            "github.com/!burnt!sushi/toml"
        );
    }
}
