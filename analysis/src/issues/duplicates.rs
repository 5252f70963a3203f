//! Likely duplicates among open issues, by TF-IDF similarity.

use std::collections::{HashMap, HashSet};

use super::input::IssuesInput;
use super::terms::{Rarity, words};
use crate::report::issues::DUPLICATE_THRESHOLD;
use crate::report::issues::LikelyDuplicate;
use crate::text::harmless;
use crate::{AnalysisError, Budget};

/// Items compared; beyond that the pairs are too many to be of use.
const MAX_ITEMS: usize = 5_000;

/// A title says more than its share of the text.
const TITLE_WEIGHT: f32 = 3.0;

/// A vector of words, of length one.
type Vector = HashMap<String, f32>;

/// The findings, and whether all pairs were compared.
pub(super) struct DuplicateSearch {
    pub(super) duplicates: Vec<LikelyDuplicate>,
    pub(super) complete: bool,
}

/// Compares all open issues with each other by the cosine of their TF-IDF vectors.
pub(super) fn find(input: &IssuesInput, budget: &Budget) -> Result<DuplicateSearch, AnalysisError> {
    let issues = &input.work.issues[..input.work.issues.len().min(MAX_ITEMS)];
    let counted: Vec<Vector> = issues
        .iter()
        .map(|issue| counted(&issue.title, &issue.body))
        .collect();
    let sets: Vec<HashSet<String>> = counted
        .iter()
        .map(|words| words.keys().cloned().collect())
        .collect();
    let rarity = Rarity::of(&sets);
    let vectors: Vec<Vector> = counted
        .into_iter()
        .map(|words| normalised(words, &rarity))
        .collect();
    let mut holders: HashMap<&str, Vec<(usize, f32)>> = HashMap::new();
    let mut found = Vec::new();
    let mut complete = issues.len() == input.work.issues.len();
    for (index, vector) in vectors.iter().enumerate() {
        budget.check()?;
        if budget.is_late() {
            complete = false;
            break;
        }
        let mut cosines: HashMap<usize, f32> = HashMap::new();
        for (word, weight) in vector {
            for &(other, other_weight) in holders.get(word.as_str()).into_iter().flatten() {
                *cosines.entry(other).or_default() += weight * other_weight;
            }
        }
        for (other, similarity) in cosines
            .into_iter()
            .filter(|(_, similarity)| *similarity >= DUPLICATE_THRESHOLD)
        {
            found.push(pair(
                input,
                (other, index),
                similarity.min(1.0),
                (&vectors[other], vector),
            ));
        }
        for (word, weight) in vector {
            holders.entry(word).or_default().push((index, *weight));
        }
    }
    found.sort_by(|a, b| {
        b.similarity
            .total_cmp(&a.similarity)
            .then((a.first, a.second).cmp(&(b.first, b.second)))
    });
    Ok(DuplicateSearch {
        duplicates: found,
        complete,
    })
}

fn counted(title: &str, body: &str) -> Vector {
    let mut vector = Vector::new();
    for word in words(title) {
        *vector.entry(word).or_default() += TITLE_WEIGHT;
    }
    for word in words(body) {
        *vector.entry(word).or_default() += 1.0;
    }
    vector
}

fn normalised(mut words: Vector, rarity: &Rarity) -> Vector {
    for (word, weight) in &mut words {
        // Saying a word ten times makes it important, but not ten times as much.
        *weight = (1.0 + weight.ln()) * rarity.weight(word);
    }
    let length = words
        .values()
        .map(|weight| weight * weight)
        .sum::<f32>()
        .sqrt();
    if length > 0.0 {
        for weight in words.values_mut() {
            *weight /= length;
        }
    }
    words
}

fn pair(
    input: &IssuesInput,
    (a, b): (usize, usize),
    similarity: f32,
    (left, right): (&Vector, &Vector),
) -> LikelyDuplicate {
    let (a, b) = (&input.work.issues[a], &input.work.issues[b]);
    let (first, second) = if a.number <= b.number { (a, b) } else { (b, a) };
    let mut shared: Vec<(f32, &String)> = left
        .iter()
        .filter_map(|(word, weight)| Some((weight * right.get(word)?, word)))
        .collect();
    shared.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    LikelyDuplicate {
        first: first.number,
        second: second.number,
        first_title: harmless(&first.title, 120),
        second_title: harmless(&second.title, 120),
        similarity,
        words: shared
            .into_iter()
            .take(6)
            .map(|(_, word)| word.clone())
            .collect(),
    }
}
