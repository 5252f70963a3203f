//! Version conflicts: requirements of several manifests that no version satisfies.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use pep440_rs::{Version as PythonVersion, VersionSpecifiers};

use super::facts::{Declared, ManifestFacts};
use super::names::key_of;
use crate::report::dependencies::{
    Conflict, Disagreement, Ecosystem, Kind, Origin, Place, Requirement, Role,
};

/// Finds the packages for which manifests ask in ways that do not go together.
pub(super) fn find(manifests: &[ManifestFacts]) -> Vec<Conflict> {
    let mut asked: BTreeMap<(Ecosystem, String), BTreeMap<&str, Vec<Place>>> = BTreeMap::new();
    for manifest in manifests
        .iter()
        .filter(|manifest| manifest.role == Role::Product)
    {
        for declared in &manifest.declared {
            let counts = declared.origin == Origin::Registry
                && declared.kind != Kind::Peer
                && declared.kind != Kind::Indirect
                && declared.location.is_none()
                && !is_alternative(manifest.ecosystem, declared);
            if let (true, Some(requirement)) = (counts, &declared.requirement) {
                asked
                    .entry((
                        manifest.ecosystem,
                        key_of(manifest.ecosystem, &declared.name),
                    ))
                    .or_default()
                    .entry(requirement)
                    .or_default()
                    .push(Place {
                        manifest: manifest.path.clone(),
                        line: declared.line,
                    });
            }
        }
    }
    let mut conflicts: Vec<Conflict> = asked
        .into_iter()
        .filter(|(_, requirements)| requirements.len() > 1)
        .filter_map(|((ecosystem, name), requirements)| {
            let texts: Vec<&str> = requirements.keys().copied().collect();
            let disagreement = compare(ecosystem, &texts)?;
            let requirements = requirements
                .into_iter()
                .map(|(requirement, places)| Requirement {
                    requirement: requirement.to_owned(),
                    places,
                    more_places: 0,
                })
                .collect();
            Some(Conflict {
                ecosystem,
                name,
                disagreement,
                requirements,
                more_requirements: 0,
            })
        })
        .collect();
    conflicts.sort_by(|a, b| {
        let places = |conflict: &Conflict| {
            conflict
                .requirements
                .iter()
                .map(|each| each.places.len())
                .sum::<usize>()
        };
        (a.disagreement, std::cmp::Reverse(places(a)), &a.name).cmp(&(
            b.disagreement,
            std::cmp::Reverse(places(b)),
            &b.name,
        ))
    });
    conflicts
}

/// Markers of Python choose between requirements; without a marker any version agrees with all others.
fn is_alternative(ecosystem: Ecosystem, declared: &Declared) -> bool {
    let condition = declared.condition.as_deref().unwrap_or_default();
    let marked = !condition.is_empty()
        && !condition.starts_with("group ")
        && !condition.starts_with("extra ");
    ecosystem == Ecosystem::Pypi && (marked || declared.requirement.as_deref() == Some("*"))
}

/// Compares different requirements; none means that one version suits all.
fn compare(ecosystem: Ecosystem, requirements: &[&str]) -> Option<Disagreement> {
    let agree = match ecosystem {
        Ecosystem::Cargo => cargo_agree(requirements),
        Ecosystem::Npm | Ecosystem::Composer => npm_agree(requirements),
        Ecosystem::Pypi => python_agree(requirements),
        Ecosystem::Go
        | Ecosystem::Maven
        | Ecosystem::Gradle
        | Ecosystem::Bundler
        | Ecosystem::Nuget => None,
    };
    match agree {
        Some(true) => None,
        Some(false) => Some(Disagreement::Incompatible),
        None => Some(Disagreement::Different),
    }
}

/// If ranges overlap, the highest of their lower ends lies in all of them.
fn cargo_agree(requirements: &[&str]) -> Option<bool> {
    let ranges: Vec<semver::VersionReq> = requirements
        .iter()
        .map(|text| semver::VersionReq::parse(text).ok())
        .collect::<Option<_>>()?;
    let mut ends = ranges
        .iter()
        .flat_map(|range| &range.comparators)
        .map(|comparator| {
            let mut version = semver::Version::new(
                comparator.major,
                comparator.minor.unwrap_or(0),
                comparator.patch.unwrap_or(0),
            );
            version.pre = comparator.pre.clone();
            if comparator.op == semver::Op::Greater {
                let last = match (comparator.minor, comparator.patch) {
                    (None, _) => &mut version.major,
                    (Some(_), None) => &mut version.minor,
                    (Some(_), Some(_)) => &mut version.patch,
                };
                *last = last.saturating_add(1);
            }
            version
        })
        // The lower end of ranges that have an upper one only.
        .chain([semver::Version::new(0, 0, 0)]);
    Some(
        ranges.iter().all(|range| range.comparators.is_empty())
            || ends.any(|version| ranges.iter().all(|range| range.matches(&version))),
    )
}

fn npm_agree(requirements: &[&str]) -> Option<bool> {
    let mut common = nodejs_semver::Range::any();
    for text in requirements {
        let range = nodejs_semver::Range::parse(text).ok()?;
        match common.intersect(&range) {
            Some(rest) => common = rest,
            None => return Some(false),
        }
    }
    Some(true)
}

fn python_agree(requirements: &[&str]) -> Option<bool> {
    let ranges: Vec<VersionSpecifiers> = requirements
        .iter()
        .map(|text| VersionSpecifiers::from_str(&standard(text)).ok())
        .collect::<Option<_>>()?;
    let ends: Vec<PythonVersion> = ranges
        .iter()
        .flat_map(|range| range.iter().map(|each| each.version().clone()))
        .collect();
    if ends
        .iter()
        .any(|version| ranges.iter().all(|range| range.contains(version)))
    {
        return Some(true);
    }
    let texts: Vec<String> = ranges
        .iter()
        .flat_map(|range| range.iter().map(ToString::to_string))
        .collect();
    if texts.iter().all(|text| text.starts_with(['<', '!'])) {
        return Some(true);
    }
    // An open or excluded lower end is no candidate itself, so that nothing is proven then.
    let open = |text: &String| {
        text.starts_with("!=") || (text.starts_with('>') && !text.starts_with(">="))
    };
    if texts.iter().any(open) {
        None
    } else {
        Some(false)
    }
}

/// Writes the ranges of poetry (`^1.2`, `~1.2`, `1.2`) as PEP 440 does.
fn standard(text: &str) -> String {
    let parts = text.split(',').map(str::trim).map(|part| {
        let (caret, rest) = match (part.strip_prefix('^'), part.strip_prefix('~')) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) if !rest.starts_with('=') => (false, rest),
            _ if part.starts_with(|first: char| first.is_ascii_digit()) => {
                return format!("=={part}");
            }
            _ => return part.to_owned(),
        };
        let numbers: Vec<u64> = rest
            .split('.')
            .map_while(|number| number.parse().ok())
            .collect();
        let keep = if caret {
            numbers
                .iter()
                .position(|&number| number > 0)
                .unwrap_or(numbers.len().saturating_sub(1))
        } else {
            usize::from(numbers.len() > 1)
        };
        let mut upper: Vec<u64> = numbers.iter().copied().take(keep + 1).collect();
        if let Some(last) = upper.last_mut() {
            *last = last.saturating_add(1);
        }
        let upper: Vec<String> = upper.iter().map(u64::to_string).collect();
        format!(">={rest},<{}", upper.join("."))
    });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_ranges() {
        assert_eq!(compare(Ecosystem::Cargo, &["1.0", "1.2.3"]), None);
        assert_eq!(
            compare(Ecosystem::Cargo, &["0.7", "0.8"]),
            Some(Disagreement::Incompatible)
        );
        assert_eq!(
            compare(Ecosystem::Cargo, &["=1.2.3", ">=1.3"]),
            Some(Disagreement::Incompatible)
        );
        assert_eq!(compare(Ecosystem::Cargo, &["*", "3"]), None);
        assert_eq!(compare(Ecosystem::Cargo, &["<1.5", "<2"]), None);
        assert_eq!(compare(Ecosystem::Cargo, &[">1", "<3"]), None);
    }

    #[test]
    fn npm_ranges() {
        assert_eq!(compare(Ecosystem::Npm, &["^17 || ^18", "^18.2.0"]), None);
        assert_eq!(
            compare(Ecosystem::Npm, &["^17.0.0", "^18.2.0"]),
            Some(Disagreement::Incompatible)
        );
        assert_eq!(
            compare(Ecosystem::Npm, &["latest", "^1"]),
            Some(Disagreement::Different)
        );
    }

    #[test]
    fn python_ranges() {
        assert_eq!(compare(Ecosystem::Pypi, &[">=1.0", "<2"]), None);
        assert_eq!(
            compare(Ecosystem::Pypi, &["==1.0", "==2.0"]),
            Some(Disagreement::Incompatible)
        );
        assert_eq!(compare(Ecosystem::Pypi, &["^1.2", "~1.4"]), None);
        assert_eq!(
            compare(Ecosystem::Pypi, &[">=1.0,!=1.0", "<2"]),
            Some(Disagreement::Different)
        );
        assert_eq!(
            compare(Ecosystem::Pypi, &["^1.2", ">=2.0"]),
            Some(Disagreement::Incompatible)
        );
    }

    #[test]
    fn plain_versions_differ() {
        assert_eq!(
            compare(Ecosystem::Maven, &["1.0", "1.1"]),
            Some(Disagreement::Different)
        );
    }
}
