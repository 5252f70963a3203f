//! Ranks the files of a focus: BM25 over paths, text, definitions and commit subjects, then neighbours and activity.

use std::collections::HashMap;
use std::collections::HashSet;

use rayon::prelude::*;
use tree_sitter::Parser;

use super::ground::Ground;
use super::words::{Query, each_word};
use crate::Budget;
use crate::paths::{folder_of, name_of};
use crate::report::focus::Evidence;
use crate::symbols::{Definition, MAX_FILE_SIZE, definitions_of, has_symbols};

/// Files whose definitions are looked at: those that the text speaks for.
const PARSED: usize = 150;

/// Earlier commits that speak for their files.
const VOTING: usize = 60;

/// Files whose neighbours gain from them.
const SEEDS: usize = 10;

const PATH: f64 = 1.0;
const TEXT: f64 = 0.8;
const DEFINITIONS: f64 = 0.5;
const COMMITS: f64 = 1.0;
const CHANGED_WITH: f64 = 0.5;
const IMPORTED: f64 = 0.08;
const ACTIVITY: f64 = 0.5;

/// Folders of code that shows or measures what is elsewhere, and the share of its score that it keeps.
const ASIDE: [&str; 9] = [
    "examples",
    "example",
    "samples",
    "demo",
    "docs",
    "website",
    "benches",
    "benchmarks",
    "benchmark",
];
const OF_ASIDE: f64 = 0.4;

/// A file with what speaks for it.
#[derive(Debug, Clone)]
pub(super) struct Ranked {
    pub(super) number: usize,
    pub(super) score: f64,
    pub(super) why: Vec<(f64, Evidence)>,
}

impl Ranked {
    fn add(&mut self, score: f64, evidence: Evidence) {
        if score > 0.0 {
            self.score += score;
            self.why.push((score, evidence));
        }
    }
}

/// The ranking, with the definitions that were looked at.
pub(super) struct Ranking {
    /// The best first.
    pub(super) files: Vec<Ranked>,
    pub(super) definitions: HashMap<usize, Vec<Definition>>,
    /// Similarity of each commit's subject, by number; only those that have some.
    pub(super) commits: Vec<(f64, usize)>,
    /// Whether all files were read.
    pub(super) complete: bool,
}

/// How often each term occurs in a text, and how long that is.
type Counts = (Vec<u32>, u32);

/// Ranks these files by the question.
pub(super) fn by_query(
    ground: &Ground<'_>,
    query: &Query,
    within: &[usize],
    budget: &Budget,
) -> Ranking {
    let texts: Vec<Option<(Counts, u32)>> = within
        .par_iter()
        .map(|&number| {
            if budget.must_stop() {
                return None;
            }
            let bytes = ground.tree.files[number].read(ground.root, MAX_FILE_SIZE);
            // What is too large to be read still has a path.
            let bytes = bytes.unwrap_or_default();
            let names = query
                .names
                .iter()
                .filter(|name| memchr::memmem::find(&bytes, name.as_bytes()).is_some())
                .count();
            Some((query.count(&bytes), u32::try_from(names).unwrap_or(0)))
        })
        .collect();
    let complete = texts.iter().all(Option::is_some);
    let empty = (vec![0; query.terms.len()], 0);
    let bodies: Vec<Counts> = texts
        .iter()
        .map(|text| {
            text.as_ref()
                .map_or_else(|| empty.clone(), |(counts, _)| counts.clone())
        })
        .collect();
    let paths: Vec<Counts> = within
        .iter()
        .map(|&number| path_counts(query, &ground.tree.files[number].path))
        .collect();
    let mut body_scores = bm25(&bodies, 1.2, 0.6);
    for (score, text) in body_scores.iter_mut().zip(&texts) {
        // A name that only code has says more than the words that it is made of.
        *score += text
            .as_ref()
            .map_or(0.0, |(_, names)| f64::from(*names) * 4.0);
    }
    let commits = similar_commits(ground, query);
    let votes = votes(ground, &commits);
    let by_path = normal(bm25(&paths, 1.2, 0.3));
    let by_text = normal(body_scores);
    let mut files: Vec<Ranked> = within
        .iter()
        .enumerate()
        .map(|(at, &number)| {
            let mut file = Ranked {
                number,
                score: 0.0,
                why: Vec::new(),
            };
            file.add(PATH * by_path[at], Evidence::Path);
            file.add(TEXT * by_text[at], Evidence::Text);
            let vote = votes.get(&number).copied().unwrap_or(0.0);
            file.add(COMMITS * vote, Evidence::Commits);
            file
        })
        .collect();
    sort(&mut files);
    let definitions = look_at_definitions(ground, query, &mut files, budget);
    neighbours(ground, &mut files);
    for file in &mut files {
        let activity = file.score * ACTIVITY * ground.churn[file.number];
        file.add(activity, Evidence::Activity);
        let mut folders = folder_of(&ground.tree.files[file.number].path).split('/');
        if folders.any(|folder| ASIDE.contains(&folder)) {
            file.score *= OF_ASIDE;
        }
        file.why.sort_by(|one, other| other.0.total_cmp(&one.0));
    }
    sort(&mut files);
    files.retain(|file| file.score > 0.0);
    Ranking {
        files,
        definitions,
        commits,
        complete,
    }
}

/// Ranks these files by what imports them and how often they change.
pub(super) fn by_activity(ground: &Ground<'_>, within: &[usize]) -> Vec<Ranked> {
    let mut importers: HashMap<usize, u32> = HashMap::new();
    for (_, to) in &ground.imports {
        *importers.entry(*to).or_default() += 1;
    }
    let mut files: Vec<Ranked> = within
        .iter()
        .map(|&number| {
            let mut file = Ranked {
                number,
                score: 0.001,
                why: Vec::new(),
            };
            let imported = importers.get(&number).copied().unwrap_or(0);
            file.add(ground.churn[number], Evidence::Activity);
            file.add(f64::from(imported).ln_1p() * 0.2, Evidence::Neighbours);
            file
        })
        .collect();
    sort(&mut files);
    files
}

fn sort(files: &mut [Ranked]) {
    files.sort_by(|one, other| {
        other
            .score
            .total_cmp(&one.score)
            .then(one.number.cmp(&other.number))
    });
}

/// The words of the file's name count three times, those of the folders once.
fn path_counts(query: &Query, path: &str) -> Counts {
    let (mut counts, mut all) = query.count(folder_of(path).as_bytes());
    let (name, length) = query.count(name_of(path).as_bytes());
    for (count, more) in counts.iter_mut().zip(name) {
        *count += 3 * more;
    }
    all += 3 * length;
    (counts, all)
}

/// Scores texts by terms that are rare among them.
fn bm25(texts: &[Counts], saturation: f64, by_length: f64) -> Vec<f64> {
    let rarity = rarity(texts);
    let total: f64 = texts.iter().map(|(_, length)| f64::from(*length)).sum();
    let mean = (total / count(texts.len()).max(1.0)).max(1.0);
    texts
        .iter()
        .map(|(counts, length)| {
            let norm = saturation * (1.0 - by_length + by_length * f64::from(*length) / mean);
            counts
                .iter()
                .zip(&rarity)
                .filter(|(count, _)| **count > 0)
                .map(|(&count, rarity)| {
                    let count = f64::from(count);
                    rarity * count * (saturation + 1.0) / (count + norm)
                })
                .sum()
        })
        .collect()
}

/// Returns the inverse document frequency of each term.
fn rarity(texts: &[Counts]) -> Vec<f64> {
    let terms = texts.first().map_or(0, |(counts, _)| counts.len());
    (0..terms)
        .map(|term| {
            let holding = texts.iter().filter(|(counts, _)| counts[term] > 0).count();
            let (all, holding) = (count(texts.len()), count(holding));
            (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of files")]
fn count(number: usize) -> f64 {
    number as f64
}

/// Divides by the highest.
fn normal(mut scores: Vec<f64>) -> Vec<f64> {
    let highest = scores.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        for score in &mut scores {
            *score /= highest;
        }
    }
    scores
}

/// Finds the commits whose subjects have words of the question, the closest first.
fn similar_commits(ground: &Ground<'_>, query: &Query) -> Vec<(f64, usize)> {
    let subjects: Vec<Counts> = ground
        .recent
        .commits
        .iter()
        .map(|commit| query.count(commit.subject.as_bytes()))
        .collect();
    let scores = bm25(&subjects, 0.5, 0.5);
    let mut commits: Vec<(f64, usize)> = scores
        .into_iter()
        .enumerate()
        .filter(|(_, score)| *score > 0.0)
        .map(|(number, score)| (score, number))
        .collect();
    commits.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    commits
}

/// Lets the closest commits vote for their files; one that changed many says little about each.
fn votes(ground: &Ground<'_>, commits: &[(f64, usize)]) -> HashMap<usize, f64> {
    let mut votes: HashMap<usize, f64> = HashMap::new();
    let highest = commits.first().map_or(1.0, |(score, _)| *score);
    for &(score, number) in commits.iter().take(VOTING) {
        let files = &ground.recent.commits[number].files;
        let vote = (score / highest).powi(2) / count(files.len()).max(1.0).sqrt();
        for &file in files {
            *votes.entry(file).or_default() += vote;
        }
    }
    // One commit of one file is a whole vote; where only wide ones speak, they must not outweigh paths and definitions.
    let most = votes.values().copied().fold(1.0, f64::max);
    for vote in votes.values_mut() {
        *vote = (*vote / most).sqrt();
    }
    votes
}

/// Adds what the definitions of the best files say.
fn look_at_definitions(
    ground: &Ground<'_>,
    query: &Query,
    files: &mut [Ranked],
    budget: &Budget,
) -> HashMap<usize, Vec<Definition>> {
    let best: Vec<usize> = files
        .iter()
        .map(|file| file.number)
        .filter(|&number| has_symbols(&ground.tree.files[number]))
        .take(PARSED)
        .collect();
    let definitions: HashMap<usize, Vec<Definition>> = best
        .par_iter()
        .with_max_len(1)
        .map_init(Parser::new, |parser, &number| {
            let file = &ground.tree.files[number];
            let found = definitions_of(ground.root, file, parser, budget)?;
            Some((number, found))
        })
        .collect::<Vec<_>>()
        .into_iter()
        .flatten()
        .collect();
    let fits: HashMap<usize, f64> = definitions
        .iter()
        .map(|(&number, definitions)| {
            let best = definitions
                .iter()
                .map(|definition| fit(query, &definition.name));
            let mut best: Vec<f64> = best.collect();
            best.sort_by(|one, other| other.total_cmp(one));
            (number, best.iter().take(3).sum::<f64>() / 3.0)
        })
        .collect();
    for file in files.iter_mut() {
        let fit = fits.get(&file.number).copied().unwrap_or(0.0);
        file.add(DEFINITIONS * fit, Evidence::Definitions);
    }
    sort(files);
    definitions
}

/// Says how well a name fits the question, from 0 to 1.
pub(super) fn fit(query: &Query, name: &str) -> f64 {
    if query.names.iter().any(|wanted| wanted == name) {
        return 1.0;
    }
    let mut seen = HashSet::new();
    let mut all = 0;
    each_word(name.as_bytes(), |word| {
        all += 1;
        seen.extend(query.position(word));
    });
    let share = count(seen.len()) / count(all).max(1.0);
    let wanted = count(query.terms.len()).clamp(1.0, 3.0);
    share * (count(seen.len()) / wanted).min(1.0)
}

/// Lets the best files speak for what changes with them and what they import or are imported by.
fn neighbours(ground: &Ground<'_>, files: &mut [Ranked]) {
    let seeds: Vec<(usize, f64)> = files
        .iter()
        .take(SEEDS)
        .map(|file| (file.number, file.score))
        .collect();
    let numbers: Vec<usize> = seeds.iter().map(|(number, _)| *number).collect();
    let (commits, shared) = ground.shared_commits(&numbers);
    let commits_of = |file: usize| f64::from(commits.get(&file).copied().unwrap_or(0));
    let scores: HashMap<usize, f64> = seeds.iter().copied().collect();
    let mut gains: HashMap<usize, f64> = HashMap::new();
    for (&(seed, other), &common) in shared.iter().filter(|(_, common)| **common > 1) {
        // Two more than there are, so that a few commits are no certainty.
        let share = f64::from(common)
            / (commits_of(seed) * commits_of(other))
                .sqrt()
                .mul_add(1.0, 2.0);
        let gain = CHANGED_WITH * share * scores.get(&seed).copied().unwrap_or(0.0);
        let most = gains.entry(other).or_default();
        *most = most.max(gain);
    }
    for &(from, to) in &ground.imports {
        for (seed, other) in [(from, to), (to, from)] {
            if let Some(score) = scores.get(&seed) {
                *gains.entry(other).or_default() += IMPORTED * score / 2.0;
            }
        }
    }
    for file in files.iter_mut() {
        let gain = gains.get(&file.number).copied().unwrap_or(0.0);
        file.add(gain.min(0.5), Evidence::Neighbours);
    }
}
