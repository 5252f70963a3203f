//! `linguist-generated` and `linguist-vendored` in `.gitattributes`.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::classify::Origin;
use crate::paths::folder_of;

/// The rules of all `.gitattributes` files that speak of origin.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    folder: String,
    pattern: Gitignore,
    origin: Origin,
}

impl Attributes {
    /// Adds the rules of one file; `path` is its place in the tree.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        let folder = folder_of(path);
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with('#'))
        {
            let mut words = line.split_whitespace();
            let Some(pattern) = words.next() else {
                continue;
            };
            for word in words {
                let origin = match word {
                    "linguist-generated" | "linguist-generated=true" => Origin::Generated,
                    "linguist-vendored" | "linguist-vendored=true" => Origin::Vendored,
                    "-linguist-generated"
                    | "linguist-generated=false"
                    | "-linguist-vendored"
                    | "linguist-vendored=false" => Origin::Own,
                    _ => continue,
                };
                let mut builder = GitignoreBuilder::new("");
                if builder.add_line(None, pattern).is_ok()
                    && let Ok(pattern) = builder.build()
                {
                    self.rules.push(Rule {
                        folder: folder.to_owned(),
                        pattern,
                        origin,
                    });
                }
            }
        }
    }

    /// Puts rules of deeper folders last, where they win.
    pub(crate) fn finish(&mut self) {
        self.rules.sort_by_key(|rule| rule.folder.len());
    }

    /// Returns what the last matching rule says.
    pub(crate) fn origin(&self, path: &str) -> Option<Origin> {
        self.rules.iter().rev().find_map(|rule| {
            let inside = if rule.folder.is_empty() {
                path
            } else {
                path.strip_prefix(rule.folder.as_str())?.strip_prefix('/')?
            };
            rule.pattern
                .matched(inside, false)
                .is_ignore()
                .then_some(rule.origin)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeper_and_later_rules_win() {
        let mut attributes = Attributes::default();
        attributes.add("lib/.gitattributes", "keep.c -linguist-vendored\n");
        attributes.add(
            ".gitattributes",
            "# x\nlib/** linguist-vendored\n*.gen.c text linguist-generated=true\n",
        );
        attributes.finish();
        assert_eq!(attributes.origin("lib/a.c"), Some(Origin::Vendored));
        assert_eq!(attributes.origin("lib/keep.c"), Some(Origin::Own));
        assert_eq!(attributes.origin("src/x.gen.c"), Some(Origin::Generated));
        assert_eq!(attributes.origin("src/x.c"), None);
    }
}
