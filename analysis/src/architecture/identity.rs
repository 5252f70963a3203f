//! The identity of a repository: name, summary, license and languages, from its README and manifests.

use std::collections::BTreeMap;

use model::hidden::drop_hidden;

use super::packages::{FoundPackage, Sources};
use crate::Budget;
use crate::git;
use crate::git_place::GitPlace;
use crate::paths::{folder_of, name_of, printable};
use crate::report::architecture::{Ecosystem, Identity, LanguageFiles};
use crate::text::{harmless, shortened};
use crate::tree::classify::Origin;
use crate::tree::syntax::Nature;

/// Longest summary taken from the README.
const MAX_SUMMARY_LENGTH: usize = 700;

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

/// Words of the titles of licences.
const LICENSES: &[&str] = &[
    "mit license",
    "apache license",
    "general public license",
    "bsd 2-clause",
    "bsd 3-clause",
    "bsd license",
    "mozilla public license",
    "isc license",
    "eclipse public license",
    "unlicense",
    "boost software license",
    "zlib license",
    "creative commons",
    "cc0",
    "artistic license",
    "european union public licence",
];

/// Describes the repository.
pub(crate) fn describe(
    sources: Sources<'_>,
    packages: &[FoundPackage],
    budget: &Budget,
) -> Identity {
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
    let manifest = top.map(name_in_manifest);
    let (whole, part) = match manifest {
        Some(name) if is_of_whole(&name) => (Some(name), None),
        name => (None, name.filter(|name| !name.starts_with('('))),
    };
    let name = whole
        .or_else(|| name_at_remote(sources, budget))
        .or_else(|| title.filter(|title| !is_generic(title)))
        .or(part);
    Identity {
        name: name.unwrap_or(folder),
        summary,
        description: top.and_then(|package| package.package.description.clone()),
        readme,
        license: top
            .and_then(|package| package.license.as_deref())
            .map(|license| harmless(license, 120))
            .or_else(|| license(sources)),
        languages: languages(sources),
        documents: documents(sources),
    }
}

/// Returns the name that a manifest gives: of a module of Go the last part of its address.
fn name_in_manifest(package: &FoundPackage) -> String {
    let name = package.package.name.as_str();
    if package.package.ecosystem != Ecosystem::Go {
        return name.to_owned();
    }
    let is_version = |part: &&str| {
        let digits = part.strip_prefix('v').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut parts = name.rsplit('/').skip_while(is_version);
    parts.next().unwrap_or(name).to_owned()
}

/// Tells the name of a repository from that of a manifest which only holds others together.
fn is_of_whole(name: &str) -> bool {
    const HOLDERS: [&str; 6] = [
        "root",
        "parent",
        "monorepo",
        "workspace",
        "workspaces",
        "top",
    ];
    let last = name.rsplit(['-', '_', '/', ' ', '.']).next();
    !name.starts_with('(') && last.is_some_and(|last| !HOLDERS.contains(&last))
}

/// Returns the last part of the address of the remote `origin`, if this is the top of the repository.
fn name_at_remote(sources: Sources<'_>, budget: &Budget) -> Option<String> {
    let is_top = GitPlace::of(sources.root).is_some_and(|place| place.top == sources.root);
    let args = ["config", "--get", "remote.origin.url"];
    let url = git::output(sources.root, &args, budget)
        .ok()
        .filter(|_| is_top)?;
    let url = printable(url.trim_ascii());
    let path = url.trim_end_matches('/').trim_end_matches(".git");
    let name = path.rsplit(['/', ':']).next()?;
    (!matches!(name, "" | "repo" | "repository" | "." | "..")).then(|| harmless(name, 100))
}

/// Tells a heading that any document may have from the name of a project.
fn is_generic(title: &str) -> bool {
    const GENERIC: [&str; 28] = [
        "about",
        "abstract",
        "background",
        "build",
        "contents",
        "description",
        "development",
        "documentation",
        "features",
        "getting started",
        "goals",
        "installation",
        "install",
        "installing",
        "intro",
        "introduction",
        "license",
        "motivation",
        "news",
        "overview",
        "quick start",
        "quickstart",
        "readme",
        "requirements",
        "setup",
        "status",
        "table of contents",
        "usage",
    ];
    let lower = title
        .trim_end_matches([':', '.', '!', '?'])
        .trim()
        .to_lowercase();
    let lower = lower.strip_suffix(".md").unwrap_or(&lower);
    GENERIC.contains(&lower) || lower.starts_with("welcome") || lower.starts_with("what is")
}

/// Finds the first heading and the first paragraph that is neither badge nor markup.
fn title_and_summary(text: &str) -> (Option<String>, Option<String>) {
    let mut title = None;
    let mut paragraph = String::new();
    let mut in_fence = false;
    let mut sections = 0;
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
                title = Some(shortened(&plain(heading), 120)).filter(|title| !title.is_empty());
            } else if title.is_some() {
                // What follows is about a part: it would not say what the whole is.
                sections += 1;
                if sections > 1 {
                    break;
                }
            }
            if underlined {
                lines.next();
            }
            continue;
        }
        let is_markup = in_fence
            || trimmed.starts_with(['<', '|', '!', '='])
            || trimmed.starts_with("```")
            || trimmed.starts_with("[![")
            || trimmed.starts_with("---")
            || trimmed.starts_with(".. ")
            || (trimmed.starts_with('[') && trimmed.contains("]: "));
        if trimmed.is_empty() || is_markup {
            // A line of links or a few words is not a description.
            let text = plain(&paragraph);
            let is_sentence = text.ends_with('.') && text.split_whitespace().count() > 3;
            if is_sentence || text.chars().count() > 40 && text.split_whitespace().count() > 4 {
                break;
            }
            paragraph.clear();
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(trimmed.trim_start_matches("> "));
            if paragraph.len() > MAX_SUMMARY_LENGTH {
                break;
            }
        }
    }
    // Where no heading tells what the text is about, it may be about anything.
    let summary = if title.is_some() {
        plain(&paragraph)
    } else {
        String::new()
    };
    (
        title,
        (!summary.is_empty()).then(|| shortened(&summary, MAX_SUMMARY_LENGTH)),
    )
}

/// Takes images out: their text describes a picture.
fn without_images(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, image)) = rest.split_once("![") {
        out.push_str(before);
        rest = image
            .split_once("](")
            .and_then(|(_, target)| target.split_once(')'))
            .map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// Takes HTML tags out; a `<` that no `>` follows stays.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let is_tag = after
            .starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '/' | '!'));
        if let Some(end) = after.find('>').filter(|_| is_tag) {
            rest = &after[end + 1..];
        } else {
            out.push('<');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Takes emphasis and link targets out of a line of Markdown.
fn plain(text: &str) -> String {
    let text = without_images(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("](") {
        out.push_str(&rest[..at]);
        rest = &rest[at + 2..];
        rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
    }
    out.push_str(rest);
    let mut out = without_tags(&out);
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
    // Only a title tells the licence; other first lines are a story about it.
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let title = lines.by_ref().take(6).find(|line| {
        let lower = line.to_ascii_lowercase();
        line.len() <= 80 && LICENSES.iter().any(|name| lower.contains(name))
    })?;
    Some(shortened(&printable(title.as_bytes()), 80))
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
        let (title, _) = title_and_summary("# [![logo](a.svg)](b)\n\nText\n");
        assert_eq!(title, None);
        let html = "# <img src=\"a.png\" width=\"9\">Thing\n\n[\u{4e2d}](a) [\u{d55c}](b)\n\n`thing` is a program to find things of all kinds quickly.\n\n## Use\n";
        let (title, summary) = title_and_summary(html);
        assert_eq!(title.as_deref(), Some("Thing"));
        assert_eq!(
            summary.as_deref(),
            Some("thing is a program to find things of all kinds quickly.")
        );
        // A paragraph of a later part does not say what the whole is.
        let parts =
            "# Thing\n\n## One\n\n## Two\n\nThe client above does not import any code from it.\n";
        assert_eq!(title_and_summary(parts).1, None);
        let (title, _) = title_and_summary("Thing\n=====\n\nText\n");
        assert_eq!(title.as_deref(), Some("Thing"));
    }
}
