//! What a repository is, by its README and manifests.

use std::collections::BTreeMap;

use model::hidden::drop_hidden;

use super::packages::{Found, Sources};
use crate::paths::{folder_of, name_of, printable};
use crate::report::architecture::{Identity, LanguageFiles};
use crate::text::shortened;
use crate::tree::classify::Origin;
use crate::tree::language::Nature;

/// Longest summary taken from the README.
const SUMMARY: usize = 700;

const DOCUMENTS: &[&str] = &[
    "architecture.md",
    "design.md",
    "contributing.md",
    "claude.md",
    "agents.md",
    "hacking.md",
    "development.md",
    "changelog.md",
    "roadmap.md",
    "security.md",
    "codeowners",
    "style.md",
    "copilot-instructions.md",
];

/// Describes the repository.
pub(crate) fn describe(sources: Sources<'_>, packages: &[Found]) -> Identity {
    let top = packages.iter().find(|package| package.folder.is_empty());
    let readme = sources
        .tree
        .files
        .iter()
        .filter(|file| {
            !file.path.contains('/') && file.path.to_ascii_lowercase().starts_with("readme")
        })
        .map(|file| file.path.clone())
        .min_by_key(|path| (!path.to_ascii_lowercase().ends_with(".md"), path.len()));
    let text = readme
        .as_ref()
        .and_then(|path| sources.text(path))
        .unwrap_or_default();
    let (title, summary) = title_and_summary(&text);
    let folder = sources
        .root
        .canonicalize()
        .ok()
        .and_then(|root| Some(printable(root.file_name()?.as_encoded_bytes())))
        .unwrap_or_default();
    let manifest_name = top
        .map(|package| package.package.name.clone())
        .filter(|name| !name.starts_with('('));
    Identity {
        name: title.or(manifest_name).unwrap_or(folder),
        summary,
        description: top.and_then(|package| package.package.description.clone()),
        readme,
        license: top
            .and_then(|package| package.license.clone())
            .or_else(|| license(sources)),
        languages: languages(sources),
        documents: documents(sources),
    }
}

/// Finds the first heading and the first paragraph that is neither badge nor markup.
fn title_and_summary(text: &str) -> (Option<String>, Option<String>) {
    let mut title = None;
    let mut paragraph = String::new();
    let mut in_fence = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            in_fence = !in_fence;
        }
        let underlined = lines.peek().is_some_and(|next| {
            next.len() > 2
                && !trimmed.is_empty()
                && (next.bytes().all(|byte| byte == b'=') || next.bytes().all(|byte| byte == b'-'))
        });
        let heading = trimmed
            .strip_prefix('#')
            .map(|rest| rest.trim_start_matches('#').trim());
        if let Some(heading) = heading
            .filter(|_| !in_fence)
            .or(underlined.then_some(trimmed))
        {
            if !paragraph.is_empty() {
                break;
            }
            if title.is_none() && !heading.is_empty() {
                title = Some(shortened(&plain(heading), 120));
            }
            if underlined {
                lines.next();
            }
            continue;
        }
        let is_markup = in_fence
            || trimmed.starts_with(['<', '|', '!', '`', '='])
            || trimmed.starts_with("[![")
            || trimmed.starts_with("---")
            || trimmed.starts_with(".. ")
            || (trimmed.starts_with('[') && trimmed.contains("]: "));
        if trimmed.is_empty() || is_markup {
            // A line of links or a few words is no description.
            if paragraph.len() > 40 {
                break;
            }
            paragraph.clear();
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(trimmed.trim_start_matches("> "));
            if paragraph.len() > SUMMARY {
                break;
            }
        }
    }
    let summary = plain(&paragraph);
    (
        title,
        (!summary.is_empty()).then(|| shortened(&summary, SUMMARY)),
    )
}

/// Takes emphasis and link targets out of a line of Markdown.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        out.push_str(&rest[..at]);
        rest = &rest[at + 2..];
        rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
    }
    out.push_str(rest);
    out.retain(|character| !matches!(character, '[' | ']' | '*' | '`'));
    drop_hidden(&out).trim().to_owned()
}

fn license(sources: Sources<'_>) -> Option<String> {
    let path = sources
        .tree
        .files
        .iter()
        .map(|file| file.path.as_str())
        .find(|path| {
            let lower = path.to_ascii_lowercase();
            !path.contains('/')
                && (lower.starts_with("license")
                    || lower.starts_with("licence")
                    || lower.starts_with("copying"))
        })?;
    let text = sources.text(path)?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(shortened(&printable(line.as_bytes()), 80))
}

fn languages(sources: Sources<'_>) -> Vec<LanguageFiles> {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for file in sources
        .tree
        .files
        .iter()
        .filter(|file| file.origin == Origin::Own)
    {
        if let Some(language) = file
            .language()
            .filter(|language| language.get().nature == Nature::Program)
        {
            *counts.entry(language.name()).or_default() += 1;
        }
    }
    let mut list: Vec<LanguageFiles> = counts
        .into_iter()
        .map(|(language, files)| LanguageFiles {
            language: language.to_owned(),
            files,
        })
        .collect();
    list.sort_by_key(|entry| std::cmp::Reverse(entry.files));
    list.truncate(8);
    list
}

fn documents(sources: Sources<'_>) -> Vec<String> {
    sources
        .tree
        .files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| {
            matches!(folder_of(path), "" | "docs" | "doc" | ".github")
                && DOCUMENTS.contains(&name_of(path).to_ascii_lowercase().as_str())
        })
        .map(str::to_owned)
        .take(20)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_title_and_first_paragraph() {
        let text = "<p align=center>\n<img src=x>\n</p>\n\n# The *Thing*\n\n[![ci](a)](b)\n\nA [tool](http://x) that does `much`\nfor many people who need it.\n\nMore.\n";
        let (title, summary) = title_and_summary(text);
        assert_eq!(title.as_deref(), Some("The Thing"));
        assert_eq!(
            summary.as_deref(),
            Some("A tool that does much for many people who need it.")
        );
        assert_eq!(title_and_summary(""), (None, None));
        let (title, _) = title_and_summary("Thing\n=====\n\nText\n");
        assert_eq!(title.as_deref(), Some("Thing"));
    }
}
