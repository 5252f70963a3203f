//! The map of symbols: the files whose definitions matter most, with these definitions.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use rayon::prelude::*;
use tree_sitter::Parser;

use super::references::{References, family_of};
use super::{Definition, MAX_FILE_SIZE, definitions, has_symbols};
use crate::Budget;
use crate::report::symbols::{Symbol, SymbolFile};
use crate::report::{Incomplete, Listing};
use crate::tree::classify::Origin;
use crate::tree::masking;
use crate::tree::working_tree::{Tree, TreeFile};

/// Definitions listed of one file.
const MAX_OF_FILE: usize = 12;

/// Files in the complete report.
const MAX_FILES: usize = 2_000;

/// Definitions of a file that decide on its place; a long file is not important for its length.
const DECIDING: usize = 6;

/// What the map is made of.
pub(crate) struct Map<'a> {
    pub(crate) root: &'a Path,
    pub(crate) tree: &'a Tree,
    /// How often each file changed lately, by number in the tree, the newest commits counting most; may be empty.
    pub(crate) churn: &'a [f64],
    /// Most files parsed, those that change and that are imported first.
    pub(crate) most: usize,
    /// Importers of each file, by number in the tree; may be empty.
    pub(crate) imported_by: &'a HashMap<usize, u32>,
}

/// A file with its definitions.
struct Parsed<'a> {
    number: usize,
    file: &'a TreeFile,
    bytes: usize,
    definitions: Vec<Definition>,
}

/// Ranks the definitions of the production files.
pub(crate) fn map(
    input: &Map<'_>,
    budget: &Budget,
    incomplete: &mut Vec<Incomplete>,
) -> Listing<SymbolFile> {
    let mut numbers: Vec<usize> = (0..input.tree.files.len())
        .filter(|&number| {
            let file = &input.tree.files[number];
            file.origin == Origin::Own && file.is_product() && has_symbols(file)
        })
        .collect();
    let wanted = numbers.len();
    numbers.sort_by(|one, other| input.weight(*other).total_cmp(&input.weight(*one)));
    numbers.truncate(input.most);
    let references = References::new();
    let parsed: Vec<Option<Parsed<'_>>> = numbers
        .par_iter()
        .with_max_len(8)
        .map_init(Parser::new, |parser, &number| {
            if budget.must_stop() {
                return None;
            }
            let file = &input.tree.files[number];
            let language = file.language()?;
            let bytes = file.read(input.root, MAX_FILE_SIZE)?;
            let definitions = definitions(file, &bytes, parser, budget)?;
            let code = masking::code_only(&bytes, language.grammar());
            references.add(family_of(language.name()), &code);
            Some(Parsed {
                number,
                file,
                bytes: bytes.len(),
                definitions,
            })
        })
        .collect();
    let parsed: Vec<Parsed<'_>> = parsed.into_iter().flatten().collect();
    if parsed.len() < wanted {
        incomplete.push(Incomplete::new(
            "symbols",
            format!(
                "{} of {wanted} files were looked at, those imported and changed most first (the others are above \
                 the number or the size for this depth, or the time was up)",
                parsed.len()
            ),
        ));
    }
    input.ranked(&parsed, &references)
}

#[expect(clippy::cast_precision_loss, reason = "scores")]
impl Map<'_> {
    fn churn_of(&self, number: usize) -> f64 {
        self.churn.get(number).copied().unwrap_or(0.0)
    }

    fn weight(&self, number: usize) -> f64 {
        let importers = self.imported_by.get(&number).copied().unwrap_or(0);
        self.churn_of(number) + f64::from(importers).sqrt()
    }

    fn ranked(&self, parsed: &[Parsed<'_>], references: &References) -> Listing<SymbolFile> {
        let mut holders: HashMap<(&str, &str), u32> = HashMap::new();
        for one in parsed {
            let family = one.family();
            let mut names: Vec<&str> = one.definitions.iter().map(|d| d.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                *holders.entry((family, name)).or_default() += 1;
            }
        }
        let mut files: Vec<(f64, SymbolFile)> = parsed
            .iter()
            .filter_map(|one| {
                let family = one.family();
                let mut scored: Vec<(f64, Symbol)> = one
                    .definitions
                    .iter()
                    .map(|definition| {
                        let held = holders
                            .get(&(family, definition.name.as_str()))
                            .copied()
                            .unwrap_or(1)
                            .max(1);
                        // Who else defines the name refers to its own.
                        let used = references.of(family, &definition.name).saturating_sub(held);
                        scored(definition, used, held)
                    })
                    .collect();
                scored.sort_by(|one, other| {
                    other
                        .0
                        .total_cmp(&one.0)
                        .then(one.1.line.cmp(&other.1.line))
                });
                // Overloads and accessors of one name are one entry.
                let mut seen = BTreeSet::new();
                scored.retain(|(_, symbol)| seen.insert((symbol.kind, symbol.name.clone())));
                let sum: f64 = scored.iter().take(DECIDING).map(|(score, _)| score).sum();
                let omitted = scored.len().saturating_sub(MAX_OF_FILE);
                scored.truncate(MAX_OF_FILE);
                // Weighed on histories: what changed lately changes again, and so does what is large.
                let size = (one.bytes as f64).ln_1p() * 0.05;
                let score = self.churn_of(one.number) + size + sum.ln_1p() * 0.04;
                (!scored.is_empty()).then(|| {
                    let file = SymbolFile {
                        path: one.file.path.clone(),
                        symbols: scored.into_iter().map(|(_, symbol)| symbol).collect(),
                        omitted: u32::try_from(omitted).unwrap_or(u32::MAX),
                    };
                    (score, file)
                })
            })
            .collect();
        files.sort_by(|one, other| {
            other
                .0
                .total_cmp(&one.0)
                .then_with(|| one.1.path.cmp(&other.1.path))
        });
        Listing::bounded(files.into_iter().map(|(_, file)| file).collect(), MAX_FILES)
    }
}

impl Parsed<'_> {
    fn family(&self) -> &'static str {
        self.file
            .language()
            .map_or("", |language| family_of(language.name()))
    }
}

/// Weighs one definition. A name that many files define says little about any of them.
fn scored(definition: &Definition, used: u32, held: u32) -> (f64, Symbol) {
    let share = f64::from(used) / f64::from(held).powf(1.5);
    let mut weight = (0.1 + share.ln_1p()) * if definition.exported { 1.0 } else { 0.5 };
    // Nothing in the code need refer to what is offered to those outside.
    if definition.kind.is_offer() {
        weight += 0.7;
    }
    let symbol = Symbol {
        name: definition.name.clone(),
        kind: definition.kind,
        line: definition.line,
    };
    (weight, symbol)
}
