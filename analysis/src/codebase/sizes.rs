//! Sums files and lines by language, folder and kind.

use std::collections::{BTreeMap, HashMap};

use crate::Depth;
use crate::paths::{folder_of, top_folder_of};
use crate::report::Listing;
use crate::report::codebase::{
    CodebaseReport, FileSize, FolderSize, LanguageSize, Lines, Place, SetApart, Size, Skipped,
    TestShare,
};
use crate::tree::classify::Origin;
use crate::tree::language::LanguageId;
use crate::tree::lexer::LineCounts;
use crate::tree::syntax::Nature;
use crate::tree::working_tree::{Content, Tree, TreeFile};

/// Most files kept in the list of the largest ones.
const MAX_LARGEST_FILES: usize = 200;

fn add(size: &mut Size, lines: LineCounts) {
    size.files += 1;
    size.lines.code += lines.code;
    size.lines.comment += lines.comment;
    size.lines.blank += lines.blank;
}

#[derive(Default)]
struct Folder {
    size: Size,
    test_code: u64,
    languages: HashMap<LanguageId, u64>,
}

/// Writes the part of the report that the files alone tell.
pub(super) fn report(tree: &Tree, depth: Depth) -> CodebaseReport {
    let mut totals = Size::default();
    let mut languages: BTreeMap<LanguageId, Size> = BTreeMap::new();
    let mut folders: BTreeMap<&str, Folder> = BTreeMap::new();
    let mut tests = TestShare::default();
    let (mut generated, mut vendored) = (Apart::default(), Apart::default());
    let mut skipped = Skipped {
        symlinks: tree.symlinks,
        unreadable: tree.unreadable_folders,
        nested_repositories: tree.nested_repositories.clone().into(),
        ..Skipped::default()
    };
    for file in &tree.files {
        let language = match file.content {
            Content::Text(language) => language,
            Content::Other => {
                skipped.unknown += 1;
                continue;
            }
            Content::Binary => {
                skipped.binary += 1;
                continue;
            }
            Content::Huge => {
                skipped.huge += 1;
                continue;
            }
            Content::Unreadable => {
                skipped.unreadable += 1;
                continue;
            }
        };
        match file.origin {
            Origin::Generated => generated.add(file),
            Origin::Vendored => vendored.add(file),
            Origin::Own => {
                add(&mut totals, file.lines);
                add(languages.entry(language).or_default(), file.lines);
                let folder = folders.entry(top_folder_of(&file.path)).or_default();
                add(&mut folder.size, file.lines);
                *folder.languages.entry(language).or_default() += file.lines.code;
                folder.test_code += count_tests(file, language, &mut tests);
            }
        }
    }
    tests.ratio = ratio(tests.test_code, tests.production_code);
    CodebaseReport {
        depth,
        totals,
        languages: by_language(languages),
        folders: by_folder(folders),
        tests,
        largest_files: largest(tree),
        generated: generated.finish(),
        vendored: vendored.finish(),
        skipped,
        history: None,
        markers: None,
        complexity: None,
        duplication: None,
        incomplete: Listing::default(),
    }
}

/// Counts a file as test or production; returns its lines of test code.
fn count_tests(file: &TreeFile, language: LanguageId, tests: &mut TestShare) -> u64 {
    if language.get().nature != Nature::Program || (file.is_aside && !file.is_test) {
        return 0;
    }
    let test_code = if file.is_test {
        file.lines.code
    } else {
        file.test_lines.code.min(file.lines.code)
    };
    if file.is_test {
        tests.test_files += 1;
    } else {
        tests.production_files += 1;
    }
    tests.test_code += test_code;
    tests.production_code += file.lines.code - test_code;
    test_code
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        (part as f64 * 100.0 / whole as f64).round() / 100.0
    }
}

fn by_language(languages: BTreeMap<LanguageId, Size>) -> Listing<LanguageSize> {
    let mut list: Vec<LanguageSize> = languages
        .into_iter()
        .map(|(language, size)| LanguageSize {
            language: language.name().to_owned(),
            is_code: matches!(language.get().nature, Nature::Program | Nature::Markup),
            size,
        })
        .collect();
    list.sort_by_key(|entry| std::cmp::Reverse((entry.size.lines.code, entry.size.lines.comment)));
    list.into()
}

fn by_folder(folders: BTreeMap<&str, Folder>) -> Listing<FolderSize> {
    let mut list: Vec<FolderSize> = folders
        .into_iter()
        .map(|(name, folder)| FolderSize {
            folder: name.to_owned(),
            size: folder.size,
            test_code: folder.test_code,
            main_language: folder
                .languages
                .iter()
                .filter(|(_, code)| **code > 0)
                .max_by_key(|(language, code)| (**code, std::cmp::Reverse(**language)))
                .map(|(language, _)| language.name().to_owned()),
        })
        .collect();
    list.sort_by_key(|entry| std::cmp::Reverse((entry.size.lines.code, entry.size.lines.comment)));
    list.into()
}

fn largest(tree: &Tree) -> Listing<FileSize> {
    let mut files: Vec<&TreeFile> = tree
        .files
        .iter()
        .filter(|file| {
            file.origin == Origin::Own
                && file.language().is_some_and(|language| {
                    matches!(language.get().nature, Nature::Program | Nature::Markup)
                })
        })
        .collect();
    files.sort_by(|one, other| {
        other
            .lines
            .code
            .cmp(&one.lines.code)
            .then_with(|| one.path.cmp(&other.path))
    });
    let list = files
        .iter()
        .map(|file| FileSize {
            path: file.path.clone(),
            language: file.language().map_or("", LanguageId::name).to_owned(),
            code: file.lines.code,
            lines: file.lines.total(),
        })
        .take(MAX_LARGEST_FILES)
        .collect();
    Listing {
        items: list,
        omitted: files.len().saturating_sub(MAX_LARGEST_FILES) as u64,
    }
}

#[derive(Default)]
struct Apart<'a> {
    size: Size,
    places: BTreeMap<&'a str, (u64, u64)>,
}

impl<'a> Apart<'a> {
    fn add(&mut self, file: &'a TreeFile) {
        add(&mut self.size, file.lines);
        let folder = match folder_of(&file.path) {
            "" => ".",
            folder => folder,
        };
        let place = self.places.entry(folder).or_default();
        place.0 += 1;
        place.1 += file.lines.total();
    }

    fn finish(self) -> SetApart {
        let mut places: Vec<Place> = self
            .places
            .into_iter()
            .map(|(folder, (files, lines))| Place {
                folder: folder.to_owned(),
                files,
                lines,
            })
            .collect();
        places.sort_by(|one, other| {
            other
                .lines
                .cmp(&one.lines)
                .then_with(|| one.folder.cmp(&other.folder))
        });
        SetApart {
            size: self.size,
            places: Listing::bounded(places, MAX_LARGEST_FILES),
        }
    }
}

impl From<LineCounts> for Lines {
    fn from(counts: LineCounts) -> Self {
        Self {
            code: counts.code,
            comment: counts.comment,
            blank: counts.blank,
        }
    }
}
