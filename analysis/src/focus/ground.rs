//! `Ground`: what every focus starts from: the files, their imports with those of tests, and the newest commits.

use std::collections::HashMap;
use std::path::Path;

use crate::architecture::{packages, resolve};
use crate::recent::Recent;
use crate::report::Incomplete;
use crate::tree::classify::Origin;
use crate::tree::scan::{self, Reading};
use crate::tree::syntax::Nature;
use crate::tree::working_tree::Tree;
use crate::{AnalysisError, Budget};

/// Commits with more files say nothing about pairs.
const MAX_PAIRED: usize = 40;

/// Share of the time that the commits may take.
const HISTORY_SHARE: f64 = 0.5;

pub(super) struct Ground<'a> {
    pub(super) root: &'a Path,
    pub(super) tree: Tree,
    /// Importer and imported file, tests included, by number in the tree.
    pub(super) imports: Vec<(usize, usize)>,
    pub(super) recent: Recent,
    /// How often each file changed lately, from 0 to 1.
    pub(super) churn: Vec<f64>,
}

impl<'a> Ground<'a> {
    /// Looks at the tree and at up to this many commits.
    pub(super) fn survey(
        root: &'a Path,
        commits: usize,
        budget: &Budget,
        incomplete: &mut Vec<Incomplete>,
    ) -> Result<Self, AnalysisError> {
        let (tree, raw) = std::thread::scope(|scope| {
            let for_history = budget.with_share(HISTORY_SHARE);
            let history = scope.spawn(move || Recent::read(root, commits, &for_history));
            let tree = scan::scan(root, Reading::Sources, budget, (0.0, 0.4));
            (tree, history.join())
        });
        let tree = tree?;
        budget.check()?;
        if tree.cut {
            incomplete.push(Incomplete::out_of_time("files"));
        }
        let recent = match raw {
            Ok(Ok(raw)) => raw.in_tree(&tree),
            Ok(Err(failure)) => {
                incomplete.push(Incomplete::new("history", failure.to_string()));
                Recent::default()
            }
            Err(_) => {
                incomplete.push(Incomplete::new("history", "it could not be read"));
                Recent::default()
            }
        };
        if let Some(why) = &recent.cut {
            incomplete.push(Incomplete::new("history", why));
        }
        budget.report(0.5, "following imports");
        let sources = packages::Sources { root, tree: &tree };
        let packages = packages::find(sources);
        budget.check()?;
        let graph = resolve::resolve(sources, &packages, budget)?;
        let mut imports = graph.edges;
        imports.extend(graph.test_edges);
        imports.sort_unstable();
        imports.dedup();
        let churn = recent.churn(tree.files.len());
        Ok(Self {
            root,
            tree,
            imports,
            recent,
            churn,
        })
    }

    /// Returns whether a file is code of this repository.
    pub(super) fn is_code(&self, number: usize) -> bool {
        let file = &self.tree.files[number];
        file.origin == Origin::Own
            && file.language().is_some_and(|language| {
                matches!(language.get().nature, Nature::Program | Nature::Markup)
            })
    }

    pub(super) fn is_production(&self, number: usize) -> bool {
        self.is_code(number) && !self.tree.files[number].is_test
    }

    /// Counts the commits of each file, and those that it shares with each of some files.
    pub(super) fn shared_commits(&self, with: &[usize]) -> (HashMap<usize, u32>, Shared) {
        let mut commits: HashMap<usize, u32> = HashMap::new();
        let mut shared = Shared::new();
        let recent = self.recent.commits.iter();
        for commit in recent.filter(|commit| commit.files.len() <= MAX_PAIRED) {
            for &file in &commit.files {
                *commits.entry(file).or_default() += 1;
            }
            for &one in with
                .iter()
                .filter(|one| commit.files.binary_search(one).is_ok())
            {
                for &other in commit.files.iter().filter(|&&other| other != one) {
                    *shared.entry((one, other)).or_default() += 1;
                }
            }
        }
        (commits, shared)
    }
}

/// Commits that changed both of a pair.
pub(super) type Shared = HashMap<(usize, usize), u32>;
