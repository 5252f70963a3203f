//! What every verb stands on: where we are, what is configured, the database.

use std::path::Path;

use crate::config::{Config, Environment, Settings};
use crate::error::Error;
use crate::git::{GitError, Repository};
use crate::store::Store;

/// The surroundings of one process.
#[derive(Debug, Clone)]
pub struct Context {
    pub environment: Environment,
    pub config: Config,
    pub store: Store,
    repository: Option<Repository>,
}

impl Context {
    /// Finds the repository, reads the settings and opens the database.
    pub async fn open(environment: Environment, flags: &[(String, String)]) -> Result<Self, Error> {
        let repository = match Repository::discover(environment.directory()).await {
            Ok(repository) => Some(repository),
            Err(GitError::NotARepository { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let root = repository.as_ref().map(Repository::root);
        let config = Config::load(&environment, root, flags)?;
        let path = environment.database()?;
        let store = Store::open(&path)?;
        Ok(Self {
            environment,
            config,
            store,
            repository,
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.config.settings
    }

    /// Returns the repository that the process runs in.
    pub fn repository(&self) -> Result<&Repository, Error> {
        self.repository.as_ref().ok_or_else(|| {
            GitError::NotARepository {
                path: self.environment.directory().to_owned(),
            }
            .into()
        })
    }

    /// Returns the name under which a repository's rows are kept.
    pub fn repository_key(root: &Path) -> String {
        root.to_string_lossy().into_owned()
    }
}
