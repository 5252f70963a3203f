//! Groups open issues and pull requests by label and by age.

use std::collections::BTreeMap;

use model::{OpenWork, OpenWorkSource, Timestamp};

use super::input::IssuesInput;
use crate::report::issues::{AgeBand, AgeGroup, IssueReport, Item, ItemKind, LabelGroup};
use crate::text::harmless;

/// Days without a change after which an issue counts as stale.
const STALE_ISSUE_DAYS: u32 = 90;

/// Days without a change after which a pull request counts as stale; they rot faster.
const STALE_PULL_DAYS: u32 = 30;

const DAY: i64 = 24 * 60 * 60;

/// Returns whole days between two moments, none if the first is the later.
pub(super) fn days_between(from: Timestamp, to: Timestamp) -> u32 {
    let seconds = to.unix_seconds().saturating_sub(from.unix_seconds()).max(0);
    u32::try_from(seconds / DAY).unwrap_or(u32::MAX)
}

/// What is known of the open work; what could not be read is unknown, not zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) issues: bool,
    pub(super) pulls: bool,
    /// Some of them were not read.
    pub(super) more: bool,
}

impl Known {
    pub(super) fn of(work: &OpenWork) -> Self {
        let missing = |what: &str| work.missing.iter().any(|missing| missing.what == what);
        let (no_issues, no_pulls) = (missing("issues"), missing("pull requests"));
        match work.source {
            OpenWorkSource::Github => Self {
                issues: !no_issues || !work.issues.is_empty(),
                pulls: !no_pulls || !work.pulls.is_empty(),
                more: (no_issues && !work.issues.is_empty())
                    || (no_pulls && !work.pulls.is_empty()),
            },
            // The pull requests made here are known; issues live on a forge that was not asked.
            OpenWorkSource::Local => Self {
                issues: false,
                pulls: work
                    .missing
                    .iter()
                    .all(|missing| !missing.what.contains("pull requests")),
                more: false,
            },
            OpenWorkSource::Unavailable { .. } => Self {
                issues: false,
                pulls: false,
                more: false,
            },
        }
    }

    /// Whether an issue that is not among the open ones is closed.
    pub(super) fn all_issues(self) -> bool {
        self.issues && self.pulls && !self.more
    }
}

/// Fills the lists of items, labels and ages.
pub(super) fn fill(report: &mut IssueReport, input: &IssuesInput) {
    report.items = items(input).into();
    let known = Known::of(&input.work);
    let of_kind = |kind| count(&report.items, |item| item.kind == kind);
    report.issues = known.issues.then(|| of_kind(ItemKind::Issue));
    report.pulls = known.pulls.then(|| of_kind(ItemKind::Pull));
    report.more_than_read = known.more;
    report.stale = count(&report.items, |item| item.stale);
    report.ages = ages(&report.items);
    report.labels = labels(&report.items).into();
}

fn count(items: &[Item], test: impl Fn(&Item) -> bool) -> u32 {
    u32::try_from(items.iter().filter(|item| test(item)).count()).unwrap_or(u32::MAX)
}

fn items(input: &IssuesInput) -> Vec<Item> {
    let now = input.now;
    let issues = input.work.issues.iter().map(|issue| {
        let idle_days = days_between(issue.updated_at, now);
        Item {
            kind: ItemKind::Issue,
            number: issue.number,
            title: harmless(&issue.title, 160),
            author: harmless(issue.author.as_deref().unwrap_or_default(), 60),
            labels: issue
                .labels
                .iter()
                .map(|label| harmless(label, 60))
                .collect(),
            age_days: days_between(issue.created_at, now),
            idle_days,
            comments: u32::try_from(issue.comments).ok(),
            stale: idle_days >= STALE_ISSUE_DAYS,
            draft: false,
            url: harmless(&issue.url, 200),
        }
    });
    // Pull requests are read without their labels, authors and comments.
    let pulls = input.work.pulls.iter().map(|pull| {
        let idle_days = days_between(pull.updated_at, now);
        Item {
            kind: ItemKind::Pull,
            number: pull.number,
            title: harmless(&pull.title, 160),
            author: String::new(),
            labels: Vec::new(),
            age_days: days_between(pull.created_at, now),
            idle_days,
            comments: None,
            stale: idle_days >= STALE_PULL_DAYS,
            draft: pull.draft,
            url: harmless(&pull.url, 200),
        }
    });
    let mut items: Vec<Item> = issues.chain(pulls).collect();
    items.sort_by_key(|item| (item.idle_days, std::cmp::Reverse(item.number)));
    items
}

fn ages(items: &[Item]) -> Vec<AgeGroup> {
    let mut groups: BTreeMap<AgeBand, AgeGroup> = BTreeMap::new();
    for item in items {
        let age = match item.age_days {
            0..=7 => AgeBand::Week,
            8..=30 => AgeBand::Month,
            31..=90 => AgeBand::Quarter,
            91..=365 => AgeBand::Year,
            366.. => AgeBand::Older,
        };
        let group = groups.entry(age).or_insert(AgeGroup {
            age,
            issues: 0,
            pulls: 0,
        });
        match item.kind {
            ItemKind::Issue => group.issues += 1,
            ItemKind::Pull => group.pulls += 1,
        }
    }
    groups.into_values().collect()
}

fn labels(items: &[Item]) -> Vec<LabelGroup> {
    let mut groups: BTreeMap<&str, LabelGroup> = BTreeMap::new();
    // The labels of pull requests are not read.
    let issues = items.iter().filter(|item| item.kind == ItemKind::Issue);
    for item in issues {
        let none = [String::new()];
        let labels = if item.labels.is_empty() {
            &none[..]
        } else {
            &item.labels[..]
        };
        for label in labels {
            let key = item
                .labels
                .iter()
                .find(|known| *known == label)
                .map_or("", String::as_str);
            let group = groups.entry(key).or_insert_with(|| LabelGroup {
                label: label.clone(),
                issues: 0,
                stale: 0,
                oldest_days: 0,
                numbers: Vec::new(),
                more_numbers: 0,
            });
            group.issues += 1;
            group.stale += u32::from(item.stale);
            group.oldest_days = group.oldest_days.max(item.age_days);
            group.numbers.push(item.number);
        }
    }
    let mut groups: Vec<LabelGroup> = groups.into_values().collect();
    groups.sort_by(|a, b| (b.numbers.len(), &a.label).cmp(&(a.numbers.len(), &b.label)));
    groups
}
