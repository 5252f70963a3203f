//! `claude-codex config`

use clap::Args;
use shared::config::{Config, Environment};
use shared::git::{GitError, Repository};

use crate::failure::Failure;
use crate::output::{DIM, NAME, Output, WARNING, width};
use crate::table::{Cell, Table};

const EXAMPLES: &str = "\
Examples:
  claude-codex config
  CODEX_REVIEW_MAX_REVIEW_CYCLES=5 claude-codex config --json

Later sources override earlier ones: defaults, ~/.config/claude-codex/config.toml,
.claude-codex/config.toml, CODEX_* variables, flags. The variable of review.maxReviewCycles is
CODEX_REVIEW_MAX_REVIEW_CYCLES.";

/// Print every setting, its value and its source
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConfigArgs {}

pub(crate) async fn config(output: Output) -> Result<(), Failure> {
    let environment = Environment::current();
    let repository = match Repository::discover(environment.directory()).await {
        Ok(repository) => Some(repository),
        Err(GitError::NotARepository { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let root = repository.as_ref().map(Repository::root);
    let config = Config::load(&environment, root, &[]).map_err(shared::error::Error::from)?;
    if output.is_json() {
        return output.document(&config.values);
    }
    let mut table = Table::new(&["KEY", "VALUE", "FROM"]);
    for value in &config.values {
        table.row(vec![
            Cell::styled(&value.key, NAME),
            Cell::new(value.value.to_string()),
            match &value.ignored {
                Some(ignored) => Cell::styled(
                    format!(
                        "{}; {ignored} in the repository is ignored until trusted",
                        value.origin
                    ),
                    WARNING,
                ),
                None if value.origin == "default" => Cell::styled(&value.origin, DIM),
                None => Cell::new(&value.origin),
            },
        ]);
    }
    output.print(&table.render(width()))?;
    if let Some(notice) = config.ignored.notice() {
        output.note("warning", WARNING, &notice);
    }
    Ok(())
}
