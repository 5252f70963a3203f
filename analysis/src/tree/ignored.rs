//! What `.gitignore` and `.git/info/exclude` leave out, read like every other file: no link, no pipe, no endless file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use model::hidden::without_byte_order_mark;

use crate::git_place::GitPlace;
use crate::open;

/// Largest file of patterns that is read.
const MAX_SIZE: u64 = 1 << 20;

/// The patterns that hold in a folder, those of the nearest file first.
type Rules = Arc<Vec<Arc<Gitignore>>>;

/// The patterns of a working tree, each file read when its folder is first asked about.
pub(super) struct Ignored {
    folders: RwLock<HashMap<PathBuf, Rules>>,
    /// What holds above the root: the files of outer folders of the repository, and `info/exclude`.
    outer: Rules,
    root: PathBuf,
}

impl Ignored {
    pub(super) fn of(root: &Path) -> Self {
        let mut outer = Vec::new();
        if let Some(place) = GitPlace::of(root) {
            let above = root.ancestors().skip(1);
            let inside = above.take_while(|folder| folder.starts_with(&place.top));
            outer.extend(inside.filter_map(|folder| read(folder, &folder.join(".gitignore"))));
            outer.extend(read(&place.top, &place.common_dir.join("info/exclude")));
        }
        Self {
            folders: RwLock::default(),
            outer: Arc::new(outer),
            root: root.to_owned(),
        }
    }

    /// Returns whether git leaves this out. What lies in a folder that is left out is never asked about.
    pub(super) fn contains(&self, path: &Path, is_dir: bool) -> bool {
        let Some(folder) = path.parent().filter(|_| path != self.root) else {
            return false;
        };
        let rules = self.rules_of(folder);
        let mut found = rules.iter().map(|rules| rules.matched(path, is_dir));
        matches!(found.find(|found| !found.is_none()), Some(Match::Ignore(_)))
    }

    fn rules_of(&self, folder: &Path) -> Rules {
        let known = self.folders.read();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known.get(folder) {
            return Arc::clone(rules);
        }
        drop(known);
        let above = match folder.parent().filter(|_| folder != self.root) {
            Some(parent) => self.rules_of(parent),
            None => Arc::clone(&self.outer),
        };
        let rules = match read(folder, &folder.join(".gitignore")) {
            Some(own) => Arc::new(std::iter::once(own).chain(above.iter().cloned()).collect()),
            None => above,
        };
        let folders = self.folders.write();
        let mut folders = folders.unwrap_or_else(PoisonError::into_inner);
        folders.insert(folder.to_owned(), Arc::clone(&rules));
        rules
    }
}

/// Reads a file of patterns that hold below a folder; one that can't be read has none.
fn read(folder: &Path, file: &Path) -> Option<Arc<Gitignore>> {
    let mut bytes = Vec::new();
    let size = open::read(file, MAX_SIZE, &mut bytes).ok()?;
    let text = without_byte_order_mark(String::from_utf8_lossy(&bytes).into_owned());
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.lines() {
        // A pattern that is none matches nothing; the others hold.
        let _ = builder.add_line(None, line);
    }
    let rules = builder.build().ok()?;
    (size <= MAX_SIZE && !rules.is_empty()).then(|| Arc::new(rules))
}
