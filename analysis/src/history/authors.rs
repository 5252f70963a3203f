//! Authors: merges the identities of one person (`.mailmap`, mail address, name) and tells bots.

use std::collections::{BTreeMap, HashMap};

use crate::git::GitFailure;
use crate::paths::printable;
use crate::text::shortened;

/// A person or a program that made commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) is_bot: bool,
}

/// Names that many people or none have.
const NOBODY: &[&str] = &[
    "root",
    "admin",
    "administrator",
    "user",
    "unknown",
    "ubuntu",
    "nobody",
    "anonymous",
    "your name",
    "no author",
    "none",
    "invalid",
    "(no author)",
    "developer",
    "vagrant",
    "github",
];

/// Programs whose name does not end like that of a bot.
const BOTS: &[&str] = &[
    "dependabot",
    "renovate",
    "github-actions",
    "github actions",
    "greenkeeper",
    "travis ci",
    "pre-commit-ci",
    "allcontributors",
    "weblate",
    "transifex",
    "copybara-service",
    "jenkins",
    "bors",
];

/// The pairs of mail address and name as they occur, `.mailmap` applied.
#[derive(Debug, Default)]
pub(super) struct Identities {
    numbers: HashMap<(Vec<u8>, Vec<u8>), u32>,
    /// Mail address in lower case, name, number of commits.
    found: Vec<(Vec<u8>, String, u64)>,
}

impl Identities {
    /// Returns the number of an identity and counts a commit of it.
    pub(super) fn number(&mut self, mail: &[u8], name: &[u8]) -> Result<u32, GitFailure> {
        let next = u32::try_from(self.found.len()).map_err(|_| GitFailure::Unexpected)?;
        let mail = mail.to_ascii_lowercase();
        let number = *self
            .numbers
            .entry((mail.clone(), name.to_vec()))
            .or_insert(next);
        if number == next {
            let shown = printable(if name.is_empty() { &mail } else { name });
            self.found.push((mail, shortened(shown.trim(), 80), 0));
        }
        self.found[number as usize].2 += 1;
        Ok(number)
    }

    /// Merges what belongs to one person; returns the people and the person of each identity.
    pub(super) fn merge(self) -> (Vec<Author>, Vec<u32>) {
        let mut first: Vec<usize> = (0..self.found.len()).collect();
        let mut by_mail: HashMap<&[u8], usize> = HashMap::new();
        let mut by_name: HashMap<String, usize> = HashMap::new();
        for (number, (mail, name, _)) in self.found.iter().enumerate() {
            let lower = name.to_lowercase();
            let same_mail = if is_personal_mail(mail) {
                *by_mail.entry(mail).or_insert(number)
            } else {
                number
            };
            let mut named = |name: String| {
                if is_personal_name(&name) {
                    *by_name.entry(name).or_insert(number)
                } else {
                    number
                }
            };
            let same_name = named(lower);
            // Who is called like the login of another is the same person.
            let same_login = login_of(mail).map_or(number, named);
            for other in [same_mail, same_name, same_login] {
                let (one, other) = (root_of(&mut first, number), root_of(&mut first, other));
                let (low, high) = (one.min(other), one.max(other));
                first[high] = low;
            }
        }
        let mut numbers: HashMap<usize, u32> = HashMap::new();
        let mut people: Vec<Person<'_>> = Vec::new();
        let mut author_of = Vec::with_capacity(first.len());
        for (number, (mail, name, commits)) in self.found.iter().enumerate() {
            let root = root_of(&mut first, number);
            let next = u32::try_from(people.len()).unwrap_or(u32::MAX);
            let author = *numbers.entry(root).or_insert(next);
            if author == next {
                people.push(Person::default());
            }
            let person = &mut people[author as usize];
            person.is_bot |= is_bot(name, mail);
            *person.names.entry(name).or_default() += commits;
            author_of.push(author);
        }
        let authors = people.into_iter().map(Person::shown).collect();
        (authors, author_of)
    }
}

/// Everything by which one author is known.
#[derive(Default)]
struct Person<'a> {
    names: BTreeMap<&'a str, u64>,
    is_bot: bool,
}

impl Person<'_> {
    /// Chooses the name that the person uses most, a full one if there is a choice.
    fn shown(self) -> Author {
        let most = self
            .names
            .into_iter()
            .max_by_key(|(name, commits)| (*commits, name.contains(' ')));
        Author {
            name: most.map(|(name, _)| name.to_owned()).unwrap_or_default(),
            is_bot: self.is_bot,
        }
    }
}

fn root_of(first: &mut [usize], mut number: usize) -> usize {
    while first[number] != number {
        first[number] = first[first[number]];
        number = first[number];
    }
    number
}

/// Returns whether a mail address belongs to one person.
fn is_personal_mail(mail: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', mail) else {
        return false;
    };
    let (local, host) = (&mail[..at], &mail[at + 1..]);
    let local = String::from_utf8_lossy(local);
    !NOBODY.contains(&local.as_ref())
        && !matches!(local.as_ref(), "" | "noreply" | "no-reply" | "info" | "dev")
        && !matches!(host, b"" | b"localhost" | b"localhost.localdomain")
}

/// Returns whether a name can be that of one person. Two people of one repository who both go by the same first name
/// alone are rare; one who commits from several addresses is not.
fn is_personal_name(lower: &str) -> bool {
    lower.chars().count() >= 3 && !NOBODY.contains(&lower)
}

/// Returns the login in an address that GitHub gives: `123+login@users.noreply.github.com`.
fn login_of(mail: &[u8]) -> Option<String> {
    let local = mail.strip_suffix(b"@users.noreply.github.com")?;
    let local = String::from_utf8_lossy(local);
    let login = local.rsplit('+').next().unwrap_or_default();
    Some(login.to_owned())
}

fn is_bot(name: &str, mail: &[u8]) -> bool {
    let name = name.to_lowercase();
    let local = mail.split(|&byte| byte == b'@').next().unwrap_or_default();
    let local = String::from_utf8_lossy(local);
    // GitHub writes `<number>+<login>@users.noreply.github.com`.
    let local = local.rsplit('+').next().unwrap_or_default();
    [name.as_str(), local].iter().any(|text| {
        text.ends_with("[bot]")
            || ["-bot", " bot", "_bot", "-robot", " robot", "-autoroll"]
                .iter()
                .any(|end| text.ends_with(end))
            || BOTS.contains(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(people: &[(&str, &str)]) -> (Vec<Author>, Vec<u32>) {
        let mut identities = Identities::default();
        for (name, mail) in people {
            identities.number(mail.as_bytes(), name.as_bytes()).unwrap();
        }
        identities.merge()
    }

    #[test]
    fn one_person_has_many_addresses_and_names() {
        let (authors, of) = merged(&[
            ("Ann Lee", "ann@work.com"),
            ("ann", "ann@home.org"),
            ("Ann Lee", "Ann@Home.org"),
            ("Bob Ray", "bob@x.com"),
            ("Ann Lee", "ann@work.com"),
            ("antirez", "a@gmail.com"),
            ("antirez", "a@redis.io"),
        ]);
        assert_eq!(of, [0, 0, 0, 1, 2, 2]);
        let names: Vec<&str> = authors.iter().map(|author| author.name.as_str()).collect();
        assert_eq!(names, ["Ann Lee", "Bob Ray", "antirez"]);
    }

    #[test]
    fn one_word_names_and_logins_are_one_person() {
        let (_, of) = merged(&[
            ("Marcono", "m@x.com"),
            ("Marcono", "123+Marcono@users.noreply.github.com"),
            ("Marc Ono", "marcono@users.noreply.github.com"),
            ("David", "d@a.com"),
            ("David", "d@b.com"),
        ]);
        assert_eq!(of, [0, 0, 0, 1, 1]);
    }

    #[test]
    fn different_people_stay_apart() {
        for people in [
            [("Al", "al@a.com"), ("Al", "al@b.com")],
            [("root", "root@localhost"), ("Ann Lee", "root@localhost")],
            [("unknown", "a@x.com"), ("unknown", "b@x.com")],
            [
                ("Ann Lee", "noreply@github.com"),
                ("Bob Ray", "noreply@github.com"),
            ],
            [("", ""), ("Ann Lee", "")],
        ] {
            assert_eq!(merged(&people).1, [0, 1], "{people:?}");
        }
    }

    #[test]
    fn bots_are_told_from_people() {
        let bots = [
            (
                "dependabot[bot]",
                "49699333+dependabot[bot]@users.noreply.github.com",
            ),
            ("Renovate Bot", "bot@renovateapp.com"),
            ("GitHub Actions", "actions@github.com"),
            ("k8s-ci-robot", "k8s@example.com"),
            ("dependabot", "support@dependabot.com"),
        ];
        let people = [
            ("Ann Talbot", "talbot@x.com"),
            ("Abbot", "abbot@x.com"),
            ("Robert", "rob@x.com"),
        ];
        for (name, mail) in bots {
            assert!(is_bot(name, mail.as_bytes()), "{name}");
        }
        for (name, mail) in people {
            assert!(!is_bot(name, mail.as_bytes()), "{name}");
        }
    }
}
