//! Tips of many branches in one question: whether pull requests moved is looked at before every list of agents.

use std::collections::HashMap;

use super::discovery::Repository;
use super::error::GitError;
use super::libgit2;
use super::names::check_reference;
use super::oid::Oid;

impl Repository {
    /// Returns the commits that branches and remote-tracking branches are at, by full name; those that are not there, or only
    /// as symbolic links, are left out.
    pub async fn tips(&self, names: Vec<String>) -> Result<HashMap<String, Oid>, GitError> {
        for name in &names {
            check_reference(name)?;
        }
        let wanted = names.clone();
        let in_process = move |repository: &git2::Repository| {
            let mut tips = HashMap::new();
            for name in wanted {
                if let Some(tip) = libgit2::read_ref(repository, &name)? {
                    tips.insert(name, tip);
                }
            }
            Ok(tips)
        };
        if let Some(tips) = self.ask(in_process).await {
            return Ok(tips);
        }
        if names.is_empty() {
            return Ok(HashMap::new());
        }
        let listed = self
            .call("for-each-ref")
            .args(["--format=%(objectname) %(refname)", "--"])
            .args(&names)
            .success()
            .await?;
        let text = listed.stdout_text();
        // A name also means what is below it; that nobody has asked for is left out.
        let found = text.lines().filter_map(|line| {
            let (commit, name) = line.split_once(' ')?;
            let is_wanted = names.iter().any(|wanted| wanted == name);
            is_wanted.then_some((name.to_owned(), Oid::parse(commit)?))
        });
        Ok(found.collect())
    }
}
