//! Walks the working tree in parallel and reads each file at most once.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::attributes::Attributes;
use super::classify::{self, Origin};
use super::ignored::Ignored;
use super::language::{self, Guess, LanguageId};
use super::lexer::{self, LineCounts};
use super::markers;
use super::rust_tests;
use super::syntax::Nature;
use super::vendored;
use super::working_tree::{Content, Tree, TreeFile};
use crate::open;
use crate::paths::{name_of, printable};
use crate::tree::imports;
use crate::{AnalysisError, Budget};

/// Files larger than this are counted but not read.
pub(crate) const MAX_FILE_SIZE: u64 = 16 << 20;

/// Largest `.gitattributes` that is read.
const MAX_ATTRIBUTES: u64 = 1 << 20;

/// How much of a file is searched for a zero byte.
const BINARY_HEAD: usize = 8_000;

/// How much of each file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Names and sizes only.
    Names,
    Lines,
    LinesAndMarkers,
    Markers,
    /// Imports and exported items.
    Sources,
}

/// Walks the tree; `span` is the part of the progress bar that this takes.
pub(crate) fn scan(
    root: &Path,
    reading: Reading,
    budget: &Budget,
    span: (f64, f64),
) -> Result<Tree, AnalysisError> {
    let metadata = std::fs::metadata(root).map_err(|source| AnalysisError::Root {
        path: root.to_owned(),
        source,
    })?;
    if !metadata.is_dir() {
        return Err(AnalysisError::NotADirectory {
            path: root.to_owned(),
        });
    }
    let shared = Arc::new(Shared {
        tree: Mutex::new(Tree::default()),
        attributes: Mutex::new(Attributes::default()),
        seen: AtomicU64::new(0),
    });
    let threads = std::thread::available_parallelism()
        .map_or(2, usize::from)
        .min(16);
    let ignored = Ignored::of(root);
    let walk = WalkBuilder::new(root)
        // It would open whatever has the name of such a file.
        .standard_filters(false)
        .filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            !ignored.contains(entry.path(), is_dir)
        })
        .threads(threads)
        .build_parallel();
    walk.run(|| {
        let mut visitor = Visitor {
            root,
            reading,
            budget,
            span,
            shared: Arc::clone(&shared),
            part: Tree::default(),
            buffer: Vec::new(),
        };
        Box::new(move |entry| visitor.visit(entry))
    });
    budget.check()?;
    let mut tree = std::mem::take(&mut *lock(&shared.tree));
    let mut attributes = std::mem::take(&mut *lock(&shared.attributes));
    attributes.finish();
    for file in &mut tree.files {
        if let Some(origin) = attributes.origin(&file.path) {
            file.origin = origin;
        }
    }
    tree.files
        .sort_unstable_by(|one, other| one.path.cmp(&other.path));
    vendored::mark_by_folder(root, &mut tree, &attributes);
    tree.nested_repositories.sort_unstable();
    keep_what_there_is(&mut tree);
    Ok(tree)
}

/// In a repository of examples or documentation these are the product.
fn keep_what_there_is(tree: &mut Tree) {
    let code = |file: &&TreeFile| {
        let is_program = |language: LanguageId| language.get().nature == Nature::Program;
        file.origin == Origin::Own && !file.is_test && file.language().is_some_and(is_program)
    };
    let all = tree.files.iter().filter(code).count();
    let aside = tree.files.iter().filter(code).filter(|file| file.is_aside);
    if aside.count() * 2 > all {
        for file in &mut tree.files {
            file.is_aside = false;
        }
    }
}

struct Shared {
    tree: Mutex<Tree>,
    attributes: Mutex<Attributes>,
    seen: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The part of one thread; handed over when the thread ends.
struct Visitor<'a> {
    root: &'a Path,
    reading: Reading,
    budget: &'a Budget,
    span: (f64, f64),
    shared: Arc<Shared>,
    part: Tree,
    buffer: Vec<u8>,
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        let mut tree = lock(&self.shared.tree);
        tree.files.append(&mut self.part.files);
        tree.nested_repositories
            .append(&mut self.part.nested_repositories);
        tree.symlinks += self.part.symlinks;
        tree.unreadable_folders += self.part.unreadable_folders;
        tree.cut |= self.part.cut;
    }
}

impl Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.budget.must_stop() {
            self.part.cut = true;
            return WalkState::Quit;
        }
        let Ok(entry) = entry else {
            self.part.unreadable_folders += 1;
            return WalkState::Continue;
        };
        let Some(kind) = entry.file_type().filter(|_| entry.depth() > 0) else {
            return WalkState::Continue;
        };
        if kind.is_dir() {
            if entry.file_name() == ".git" {
                return WalkState::Skip;
            }
            if std::fs::symlink_metadata(entry.path().join(".git")).is_ok() {
                let path = self.relative(entry.path());
                self.part
                    .nested_repositories
                    .push(printable(path.as_os_str().as_bytes()));
                return WalkState::Skip;
            }
        } else if kind.is_symlink() {
            self.part.symlinks += 1;
        } else if kind.is_file() && entry.file_name() != ".git" {
            let file = self.file(&entry);
            self.part.files.push(file);
            self.report_progress();
        }
        WalkState::Continue
    }

    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(self.root).unwrap_or(path)
    }

    /// The number of files is not known beforehand, so the bar approaches its end without reaching it.
    #[expect(clippy::cast_precision_loss, reason = "a fraction for people")]
    fn report_progress(&self) {
        let seen = self.shared.seen.fetch_add(1, Ordering::Relaxed);
        if seen % 1_024 == 1_023 {
            let share = 1.0 - (-(seen as f64) / 20_000.0).exp();
            let (from, to) = self.span;
            self.budget
                .report(from + (to - from) * share, "reading files");
        }
    }

    fn file(&mut self, entry: &DirEntry) -> TreeFile {
        let relative = self.relative(entry.path()).as_os_str();
        let path = printable(relative.as_bytes());
        let real = (path.as_bytes() != relative.as_bytes()).then(|| relative.to_owned());
        let mut file = TreeFile {
            origin: classify::origin_by_path(&path),
            is_test: classify::is_test_path(&path),
            is_aside: classify::is_aside_path(&path),
            path,
            real,
            size: 0,
            content: Content::Other,
            lines: LineCounts::default(),
            test_lines: LineCounts::default(),
            markers: Vec::new(),
            source: None,
        };
        let name = name_of(&file.path);
        if name == ".gitattributes" {
            self.buffer.clear();
            let size = open::read(entry.path(), MAX_ATTRIBUTES, &mut self.buffer);
            if size.is_ok_and(|size| size <= MAX_ATTRIBUTES) {
                let text = String::from_utf8_lossy(&self.buffer);
                lock(&self.shared.attributes).add(&file.path, &text);
            }
        }
        let guess = language::by_name(name);
        let wanted = match (guess, self.reading) {
            (Guess::Binary, _) => {
                file.content = Content::Binary;
                false
            }
            (Guess::Known(language), Reading::Names) => {
                file.content = Content::Text(language);
                false
            }
            (Guess::Known(language), Reading::Sources) => {
                file.content = Content::Text(language);
                imports::understands(language)
            }
            (
                Guess::Known(_) | Guess::AskFirstLine,
                Reading::Lines | Reading::LinesAndMarkers | Reading::Markers,
            ) => true,
            (Guess::AskFirstLine, Reading::Names | Reading::Sources) | (Guess::Unknown, _) => false,
        };
        if wanted {
            self.read(entry.path(), guess, &mut file);
        }
        file
    }

    fn read(&mut self, path: &Path, guess: Guess, file: &mut TreeFile) {
        self.buffer.clear();
        let Ok(size) = open::read(path, MAX_FILE_SIZE, &mut self.buffer) else {
            file.content = Content::Unreadable;
            return;
        };
        file.size = size;
        if size > MAX_FILE_SIZE {
            file.content = Content::Huge;
            return;
        }
        let head = &self.buffer[..self.buffer.len().min(BINARY_HEAD)];
        if memchr::memchr(0, head).is_some() {
            file.content = Content::Binary;
            return;
        }
        let text = self.buffer.as_slice();
        let bytes = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let language = match guess {
            Guess::Known(language) => Some(language),
            Guess::AskFirstLine if path.extension().is_some_and(|ending| ending == "pro") => {
                language::named("QMake").filter(|_| language::is_qmake(bytes))
            }
            Guess::AskFirstLine => language::by_first_line(bytes),
            Guess::Binary | Guess::Unknown => None,
        };
        let Some(language) = language else { return };
        file.content = Content::Text(language);
        inspect(bytes, language, self.reading, file);
    }
}

/// Takes from the text what is wanted of it.
fn inspect(bytes: &[u8], language: LanguageId, reading: Reading, file: &mut TreeFile) {
    let grammar = language.grammar();
    match reading {
        Reading::Names => {}
        Reading::Markers => {
            if file.origin == Origin::Own
                && !classify::is_generated_text(language.name(), bytes, u64::MAX)
            {
                file.markers = markers::find(bytes, grammar);
            }
        }
        Reading::Sources => {
            file.is_test |= rust_tests::is_test_file(&file.path, bytes, grammar);
            if file.origin == Origin::Own
                && !classify::is_generated_text(language.name(), bytes, u64::MAX)
            {
                file.source = Some(Box::new(imports::extract(bytes, language)));
            } else if file.origin == Origin::Own {
                file.origin = Origin::Generated;
            }
        }
        Reading::Lines | Reading::LinesAndMarkers => {
            file.lines = lexer::count(bytes, grammar);
            if file.origin == Origin::Own
                && classify::is_generated_text(language.name(), bytes, file.lines.total())
            {
                file.origin = Origin::Generated;
            }
            file.is_test |= rust_tests::is_test_file(&file.path, bytes, grammar);
            if language.name() == "Rust" && !file.is_test {
                for range in rust_tests::test_ranges(bytes, grammar) {
                    file.test_lines += lexer::count(&bytes[range], grammar);
                }
            }
            if reading == Reading::LinesAndMarkers && file.origin == Origin::Own {
                file.markers = markers::find(bytes, grammar);
            }
        }
    }
}
