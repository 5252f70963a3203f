//! The address of a pull request that a person gives instead of its number: it must be one of this repository.

use crate::error::{Code, Error};
use crate::forge::{GithubRemote, parse_remote};
use crate::model::pull_request::local_url;
use crate::workflow::{Context, Forge, forge};

/// Refuses the address of another repository's pull request, whose number means something else here.
///
/// Addresses of the built-in forge name the repository's folder: of two folders with the same name, either is taken.
pub async fn check_pull_address(
    context: &Context,
    address: &str,
    number: u64,
) -> Result<(), Error> {
    let repository = context.repository()?;
    let is_of_this =
        match forge(&context.environment, &context.settings().forge, repository).await? {
            Forge::Github { remote, .. } => is_on(&remote, address),
            Forge::Local { .. } => {
                address == local_url(&Context::repository_key(repository.root()), number)
            }
        };
    if is_of_this {
        return Ok(());
    }
    Err(Error::new(
        Code::PullRequestNotFound,
        format!("{address} is not a pull request of this repository"),
    )
    .hint("Run the command in its repository. `claude-codex pr list` lists the pull requests of this one."))
}

fn is_on(remote: &GithubRemote, address: &str) -> bool {
    let repository = address
        .split_once("/pull/")
        .and_then(|(url, _)| parse_remote(url));
    repository.is_some_and(|named| {
        named.host == remote.host
            && named.owner.eq_ignore_ascii_case(&remote.owner)
            && named.repository.eq_ignore_ascii_case(&remote.repository)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_repository() {
        let remote = parse_remote("git@github.com:octo/hello.git").unwrap();
        for address in [
            "https://github.com/octo/hello/pull/3",
            "https://GitHub.com/Octo/Hello/pull/3",
        ] {
            assert!(is_on(&remote, address), "{address}");
        }
        for address in [
            "https://github.com/octo/other/pull/3",
            "https://github.com/pull/3",
            "https://example.com/octo/hello/pull/3",
            "codex://pull/hello/3",
        ] {
            assert!(!is_on(&remote, address), "{address}");
        }
    }
}
