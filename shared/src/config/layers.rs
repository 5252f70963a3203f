//! Configuration layers: merges defaults, files, variables and flags, key by key, and keeps the origin of each value.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::IntoDeserializer;
use toml::{Table, Value as Toml};

use crate::nearest::nearest;

use super::{ConfigError, Environment, Reason, Settings, classes, foreign};

/// Variables that are not settings: read by [`super::Environment`], or set for agents.
const OTHER_VARIABLES: &[&str] = &[
    "CODEX_STATE_DIR",
    "CODEX_DB",
    "CODEX_INSTANCE_ID",
    "CODEX_ROLE",
    "CODEX_LAUNCH_ID",
    "CODEX_DETACHED",
    "CODEX_PROMPT_FILE",
    "CODEX_MCP_CONFIG",
    "CODEX_LOG",
];

/// Variables whose name is shorter than their key.
const ALIASES: &[(&str, &str)] = &[
    ("CODEX_CLAUDE", "agent.claude"),
    ("CODEX_FORGE", "forge.kind"),
];

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(PathBuf),
    Variable(String),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Variable(name) => write!(formatter, "${name}"),
            Self::Flag(key) => write!(formatter, "flag for {key}"),
        }
    }
}

/// One setting as it is in force.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    pub key: String,
    pub value: serde_json::Value,
    pub origin: String,
    /// What the repository's own file says, if that is ignored until it is trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<serde_json::Value>,
}

/// A key of a repository's file that is ignored until the person trusts the file.
#[derive(Debug, Clone, PartialEq)]
pub struct IgnoredKey {
    pub key: String,
    pub value: serde_json::Value,
    /// What is in force below the repository's file.
    pub instead: serde_json::Value,
    pub reason: Reason,
}

/// The layers added so far, flattened to dotted keys.
#[derive(Debug)]
pub struct Layered {
    values: BTreeMap<String, (Toml, Origin)>,
}

impl Layered {
    /// Begins with the defaults, which are also the list of keys that exist.
    pub fn defaults() -> Self {
        let mut values = BTreeMap::new();
        // Settings are made of tables, strings, numbers and booleans: they always fit into TOML.
        if let Ok(table) = Table::try_from(Settings::default()) {
            for (key, value) in flatten("", table) {
                values.insert(key, (value, Origin::Default));
            }
        }
        Self { values }
    }

    /// The defaults and the person's own file: what is below a repository's.
    pub fn of_person(environment: &Environment) -> Result<Self, ConfigError> {
        let mut layered = Self::defaults();
        if let Some(path) = environment.user_config_file() {
            layered.add_file(&path)?;
        }
        Ok(layered)
    }

    /// Adds a file; one that does not exist adds nothing.
    pub fn add_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(());
            }
            Err(source) => {
                return Err(ConfigError::Unreadable {
                    path: path.to_owned(),
                    source,
                });
            }
        };
        let origin = Origin::File(path.to_owned());
        for (key, value) in parse(&text, &origin)? {
            self.set(key, value, origin.clone())?;
        }
        Ok(())
    }

    /// Adds the text of a repository's own file. Untrusted, only its harmless keys count; returns the others.
    pub fn add_repository_file(
        &mut self,
        path: &Path,
        text: &str,
        trusted: bool,
    ) -> Result<Vec<IgnoredKey>, ConfigError> {
        let origin = Origin::File(path.to_owned());
        let mut ignored = Vec::new();
        for (key, value) in parse(text, &origin)? {
            let reason = classes::reason(&key, &value).filter(|_| !trusted);
            match (reason, self.values.get(&key)) {
                // Saying what is in force anyway changes nothing.
                (Some(reason), Some((present, _))) if *present != value => {
                    ignored.push(IgnoredKey {
                        instead: json(present),
                        value: json(&value),
                        key,
                        reason,
                    });
                }
                _ => self.set(key, value, origin.clone())?,
            }
        }
        Ok(ignored)
    }

    /// Adds a `CODEX_*` variable: `CODEX_REVIEW_MAX_REVIEW_CYCLES` is `review.maxReviewCycles`.
    pub fn add_variable(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        if OTHER_VARIABLES.contains(&name) {
            return Ok(());
        }
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let key = match alias {
            Some((_, key)) => (*key).to_owned(),
            None => match self.values.keys().find(|key| variable_name(key) == name) {
                Some(key) => key.clone(),
                None => return self.refuse_if_mistyped(name),
            },
        };
        self.set_text(key, value, Origin::Variable(name.to_owned()))
    }

    /// The Codex CLI, another program, has variables that begin with `CODEX_` too; only a typing mistake is an error.
    fn refuse_if_mistyped(&self, name: &str) -> Result<(), ConfigError> {
        let known = self.values.keys().map(|key| variable_name(key));
        let known = known.chain(OTHER_VARIABLES.iter().map(|name| (*name).to_owned()));
        let known = known.chain(ALIASES.iter().map(|(name, _)| (*name).to_owned()));
        match known
            .into_iter()
            .find(|candidate| is_mistyped(name, candidate))
        {
            Some(nearest) if !foreign::is_foreign(name) => Err(ConfigError::UnknownKey {
                origin: Origin::Variable(name.to_owned()),
                key: name.to_owned(),
                nearest: Some(nearest),
            }),
            _ => Ok(()),
        }
    }

    /// Adds a flag, by its dotted key.
    pub fn add_flag(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        self.set_text(key.to_owned(), value, Origin::Flag(key.to_owned()))
    }

    /// Makes typed settings of it all.
    pub fn finish(self) -> Result<(Settings, Vec<Value>), ConfigError> {
        let mut root = Table::new();
        for (key, (value, origin)) in &self.values {
            check_alone(key, value, origin)?;
            insert(&mut root, key, value.clone());
        }
        let settings = root.try_into().map_err(|source| ConfigError::Syntax {
            origin: Origin::Default,
            source: Box::new(source),
        })?;
        let values = self
            .values
            .into_iter()
            .map(|(key, (value, origin))| Value {
                key,
                value: json(&value),
                origin: origin.to_string(),
                ignored: None,
            })
            .collect();
        Ok((settings, values))
    }

    fn set(&mut self, key: String, value: Toml, origin: Origin) -> Result<(), ConfigError> {
        if !self.values.contains_key(&key) {
            let nearest = nearest(&key, self.values.keys().cloned(), 0.75);
            return Err(ConfigError::UnknownKey {
                origin,
                key,
                nearest,
            });
        }
        self.values.insert(key, (value, origin));
        Ok(())
    }

    /// Reads text as the type that the key has by default.
    fn set_text(&mut self, key: String, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let value = match self.values.get(&key).map(|(value, _)| value) {
            Some(Toml::Integer(_)) => text.parse().map(Toml::Integer).ok(),
            Some(Toml::Boolean(_)) => match text {
                "true" | "1" | "yes" | "on" => Some(Toml::Boolean(true)),
                "false" | "0" | "no" | "off" => Some(Toml::Boolean(false)),
                _ => None,
            },
            Some(Toml::Array(_)) => Some(Toml::Array(
                text.split(',')
                    .map(|item| Toml::String(item.trim().to_owned()))
                    .collect(),
            )),
            _ => Some(Toml::String(text.to_owned())),
        };
        match value {
            Some(value) => self.set(key, value, origin),
            None => Err(ConfigError::WrongValue {
                reason: format!("`{text}` is not what this key takes"),
                origin,
                key,
            }),
        }
    }
}

/// Deserialises the settings with this one value, so that an error can name key and origin.
fn check_alone(key: &str, value: &Toml, origin: &Origin) -> Result<(), ConfigError> {
    let mut root = Table::new();
    insert(&mut root, key, value.clone());
    let check: Result<Settings, toml::de::Error> =
        serde::Deserialize::deserialize(root.into_deserializer());
    match check {
        Ok(_) => Ok(()),
        Err(error) => Err(ConfigError::WrongValue {
            origin: origin.clone(),
            key: key.to_owned(),
            reason: error.message().to_owned(),
        }),
    }
}

fn parse(text: &str, origin: &Origin) -> Result<Vec<(String, Toml)>, ConfigError> {
    let table = text
        .parse::<Table>()
        .map_err(|source| ConfigError::Syntax {
            origin: origin.clone(),
            source: Box::new(source),
        })?;
    Ok(flatten("", table))
}

fn json(value: &Toml) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn flatten(prefix: &str, table: Table) -> Vec<(String, Toml)> {
    table
        .into_iter()
        .flat_map(|(key, value)| {
            let key = if prefix.is_empty() {
                key
            } else {
                format!("{prefix}.{key}")
            };
            match value {
                Toml::Table(inner) => flatten(&key, inner),
                value => vec![(key, value)],
            }
        })
        .collect()
}

fn insert(root: &mut Table, key: &str, value: Toml) {
    match key.split_once('.') {
        None => {
            root.insert(key.to_owned(), value);
        }
        Some((head, rest)) => {
            let inner = root
                .entry(head)
                .or_insert_with(|| Toml::Table(Table::new()));
            if let Toml::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// Turns `review.maxReviewCycles` into `CODEX_REVIEW_MAX_REVIEW_CYCLES`.
fn variable_name(key: &str) -> String {
    let mut name = String::from("CODEX_");
    for character in key.chars() {
        if character == '.' {
            name.push('_');
        } else {
            if character.is_uppercase() {
                name.push('_');
            }
            name.push(character.to_ascii_uppercase());
        }
    }
    name
}

/// Tells whether a variable is one that this program reads or sets.
pub(super) fn is_own_variable(name: &str) -> bool {
    OTHER_VARIABLES.contains(&name)
        || ALIASES.iter().any(|(alias, _)| *alias == name)
        || Layered::defaults()
            .values
            .keys()
            .any(|key| variable_name(key) == name)
}

/// Tells whether a variable is one of ours with a letter or two wrong: one from 5 letters on, two from 10.
fn is_mistyped(name: &str, ours: &str) -> bool {
    let tail = |name: &str| name.trim_start_matches("CODEX_").to_owned();
    let allowed = match tail(ours).len() {
        0..5 => return false,
        5..10 => 1,
        _ => 2,
    };
    strsim::osa_distance(&tail(name), &tail(ours)) <= allowed
}
