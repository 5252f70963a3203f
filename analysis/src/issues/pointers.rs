//! Pointers from issues to files: paths, file names, identifiers and words that both have.

use std::collections::{HashMap, HashSet};

use super::input::IssuesInput;
use super::terms::{parts, words};
use crate::paths::{folder_of, name_of};
use crate::report::issues::{FilePointer, Pointer};
use crate::text::harmless;
use crate::tree::file_list::FileList;
use crate::workers::in_parallel;
use crate::{AnalysisError, Budget};

/// Issues searched, the most recently changed first.
const MAX_ISSUES: usize = 2_000;

/// Identifiers of all issues that files are searched for.
const MAX_IDENTIFIERS: usize = 20_000;

/// Files named for one issue.
const MAX_FILES: usize = 10;

/// A lower score is chance.
const MIN_SCORE: f32 = 2.0;

/// Bytes of an issue's text that are read.
const MAX_TEXT_LENGTH: usize = 20_000;

const MAX_FILE_SIZE: u64 = 1 << 20;

const WHOLE_PATH: f32 = 10.0;
const FILE_NAME: f32 = 7.0;
const STEM: f32 = 4.0;
const IDENTIFIER: f32 = 4.0;
const WORD: f32 = 1.5;
const FOLDER: f32 = 0.7;

/// The findings, and whether all of the input was searched.
pub(super) struct PointerSearch {
    pub(super) pointers: Vec<Pointer>,
    pub(super) complete: bool,
}

/// Finds the files that open issues speak of.
pub(super) fn find(
    listing: &FileList,
    input: &IssuesInput,
    budget: &Budget,
) -> Result<PointerSearch, AnalysisError> {
    let mut order: Vec<usize> = (0..input.work.issues.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(input.work.issues[index].updated_at));
    let mut complete = order.len() <= MAX_ISSUES;
    order.truncate(MAX_ISSUES);
    let texts: Vec<Text> = order
        .iter()
        .map(|&index| {
            Text::of(
                &input.work.issues[index].title,
                &input.work.issues[index].body,
            )
        })
        .collect();
    let wanted: HashSet<&str> = texts
        .iter()
        .flat_map(|text| text.identifiers.iter().map(String::as_str))
        .take(MAX_IDENTIFIERS)
        .collect();
    let names = Names::of(listing);
    budget.check()?;
    let (holders, searched) = holders(listing, &wanted, budget)?;
    complete &= searched;
    let pairs: Vec<(usize, Text)> = order.into_iter().zip(texts).collect();
    let (found, all) = in_parallel(&pairs, budget, |(index, text)| {
        let issue = &input.work.issues[*index];
        let files = names.files_for(text, &holders);
        (!files.is_empty()).then(|| Pointer {
            number: issue.number,
            title: harmless(&issue.title, 120),
            files,
        })
    });
    budget.check()?;
    Ok(PointerSearch {
        pointers: found.into_iter().flatten().collect(),
        complete: complete && all,
    })
}

/// What an issue says that may name a file.
struct Text {
    /// Tokens that look like a path or a file name.
    paths: HashSet<String>,
    /// Names that only code has: `snake_case`, `camelCase`, `CamelCase`.
    identifiers: HashSet<String>,
    words: HashSet<String>,
}

impl Text {
    fn of(title: &str, body: &str) -> Self {
        let mut end = body.len().min(MAX_TEXT_LENGTH);
        while !body.is_char_boundary(end) {
            end -= 1;
        }
        let text = format!("{title}\n{}", &body[..end]);
        let is_part = |character: char| character.is_alphanumeric() || "_-./".contains(character);
        let tokens: Vec<&str> = text
            .split(|character| !is_part(character))
            .filter(|token| token.len() >= 3)
            .collect();
        let paths = tokens
            .iter()
            .map(|token| token.trim_end_matches(['.', '/']).trim_start_matches("./"))
            .filter(|token| token.contains(['/', '.']) && token.len() <= 200)
            .map(str::to_owned)
            .collect();
        let identifiers = tokens
            .iter()
            .flat_map(|token| token.split(['-', '.', '/']))
            .filter(|word| is_identifier(word))
            .map(str::to_owned)
            .collect();
        Self {
            paths,
            identifiers,
            words: words(&text).into_iter().collect(),
        }
    }
}

fn is_identifier(word: &str) -> bool {
    let snake = word.trim_matches('_').contains('_');
    let camel = word
        .chars()
        .zip(word.chars().skip(1))
        .any(|(left, right)| left.is_lowercase() && right.is_uppercase());
    word.len() >= 5 && word.len() <= 80 && (snake || camel)
}

/// Finds the files that hold an identifier.
fn holders(
    listing: &FileList,
    wanted: &HashSet<&str>,
    budget: &Budget,
) -> Result<(HashMap<String, Vec<u32>>, bool), AnalysisError> {
    if wanted.is_empty() {
        return Ok((HashMap::new(), true));
    }
    let files: Vec<(u32, &String)> = (0..)
        .zip(&listing.files)
        .filter(|(_, path)| !is_data(path))
        .collect();
    let (found, complete) = in_parallel(&files, budget, |(position, path)| {
        let bytes = listing.bytes(path, MAX_FILE_SIZE).unwrap_or_default();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut held: HashSet<String> = HashSet::new();
        for word in bytes
            .split(|byte| !is_word(byte))
            .filter(|word| word.len() >= 5)
        {
            if let Ok(word) = std::str::from_utf8(word)
                && wanted.contains(word)
            {
                held.insert(word.to_owned());
            }
        }
        (*position, held)
    });
    budget.check()?;
    let mut holders: HashMap<String, Vec<u32>> = HashMap::new();
    for (position, held) in found {
        for word in held {
            holders.entry(word).or_default().push(position);
        }
    }
    Ok((holders, complete))
}

fn is_data(path: &str) -> bool {
    let ending = name_of(path)
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending);
    matches!(
        ending,
        "lock" | "sum" | "svg" | "csv" | "map" | "snap" | "png" | "jpg" | "pdf" | "zip" | "gz"
    )
}

/// An index of the files by the parts of their paths.
struct Names<'a> {
    files: &'a [String],
    by_name: HashMap<&'a str, Vec<u32>>,
    by_stem: HashMap<String, Vec<u32>>,
    by_word: HashMap<String, Vec<u32>>,
    by_folder: HashMap<String, Vec<u32>>,
}

impl<'a> Names<'a> {
    fn of(listing: &'a FileList) -> Self {
        let mut names = Self {
            files: &listing.files,
            by_name: HashMap::new(),
            by_stem: HashMap::new(),
            by_word: HashMap::new(),
            by_folder: HashMap::new(),
        };
        for (position, path) in (0..).zip(&listing.files) {
            let name = name_of(path);
            let stem = name.split('.').next().unwrap_or(name);
            names.by_name.entry(name).or_default().push(position);
            names.by_stem.entry(flat(stem)).or_default().push(position);
            for part in parts(stem) {
                names.by_word.entry(part).or_default().push(position);
            }
            let folders: HashSet<String> = folder_of(path).split('/').flat_map(parts).collect();
            for part in folders {
                names.by_folder.entry(part).or_default().push(position);
            }
        }
        names
    }

    fn files_for(&self, text: &Text, holders: &HashMap<String, Vec<u32>>) -> Vec<FilePointer> {
        let mut scores: HashMap<u32, (f32, Vec<&str>)> = HashMap::new();
        for path in &text.paths {
            let named = self
                .by_name
                .get(name_of(path))
                .map_or(&[][..], Vec::as_slice);
            let (exact, loose): (Vec<u32>, Vec<u32>) =
                named.iter().partition(|&&file| self.ends_with(file, path));
            let weight = if path.contains('/') {
                WHOLE_PATH
            } else {
                FILE_NAME
            };
            add(&mut scores, &exact, shared(weight, exact.len()), path);
            if exact.is_empty() {
                add(
                    &mut scores,
                    &loose,
                    shared(FILE_NAME / 2.0, loose.len()),
                    path,
                );
            }
        }
        for identifier in &text.identifiers {
            if let Some(files) = self.by_stem.get(&flat(identifier)) {
                add(&mut scores, files, shared(STEM, files.len()), identifier);
            }
            if let Some(files) = holders.get(identifier) {
                add(
                    &mut scores,
                    files,
                    shared(IDENTIFIER, files.len()),
                    identifier,
                );
            }
        }
        for word in &text.words {
            if let Some(files) = self.by_word.get(word) {
                add(&mut scores, files, shared(WORD, files.len()), word);
            }
            if let Some(files) = self.by_folder.get(word) {
                add(&mut scores, files, shared(FOLDER, files.len()), word);
            }
        }
        let mut pointers: Vec<FilePointer> = scores
            .into_iter()
            .filter(|(_, (score, _))| *score >= MIN_SCORE)
            .filter_map(|(file, (score, words))| {
                let mut words: Vec<String> =
                    words.into_iter().map(|word| harmless(word, 80)).collect();
                words.sort_unstable();
                words.dedup();
                words.truncate(6);
                Some(FilePointer {
                    path: self.files.get(file as usize)?.clone(),
                    score: (score * 10.0).round() / 10.0,
                    words,
                })
            })
            .collect();
        pointers.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.path.cmp(&b.path)));
        pointers.truncate(MAX_FILES);
        pointers
    }

    fn ends_with(&self, file: u32, path: &str) -> bool {
        let Some(file) = self.files.get(file as usize) else {
            return false;
        };
        file.strip_suffix(path)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    }
}

/// A word that many files share says little of each.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of files are far below 2^24"
)]
fn shared(weight: f32, files: usize) -> f32 {
    weight / (files.max(1) as f32).sqrt()
}

/// Adds to the scores; a word of more files than this points nowhere.
fn add<'a>(
    scores: &mut HashMap<u32, (f32, Vec<&'a str>)>,
    files: &[u32],
    weight: f32,
    word: &'a str,
) {
    const TOO_MANY: usize = 200;
    if files.len() > TOO_MANY {
        return;
    }
    for &file in files {
        let entry = scores.entry(file).or_default();
        entry.0 += weight;
        entry.1.push(word);
    }
}

fn flat(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
