//! Which GitHub repository a git remote is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::model::Secret;

/// A repository on GitHub or on a GitHub Enterprise server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubRemote {
    pub host: String,
    pub owner: String,
    pub repository: String,
}

impl GithubRemote {
    /// Returns the address of the API for this host.
    pub fn api_url(&self) -> String {
        // Tenants of ghe.com have their API as github.com has it; servers of one's own, below a path.
        if self.host == "github.com" || self.host.ends_with(".ghe.com") {
            format!("https://api.{}", self.host)
        } else {
            format!("https://{}/api/v3", self.host)
        }
    }

    /// Returns the header with which git itself shows the token.
    pub fn push_header(token: &Secret) -> Secret {
        let credentials = STANDARD.encode(format!("x-access-token:{}", token.expose()));
        Secret::new(format!("Authorization: Basic {credentials}"))
    }

    /// Returns the address below which git may send the token: scheme, host and port of an https remote.
    ///
    /// None for ssh, which has keys of its own, and for http to anything but this machine: a token
    /// must not cross a network in the open.
    pub fn push_scope(url: &str) -> Option<String> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let name = host.split(':').next().unwrap_or(host);
        let private = scheme == "http" && ["127.0.0.1", "localhost"].contains(&name);
        let usable = !name.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
        (usable && (scheme == "https" || private)).then(|| format!("{scheme}://{host}/"))
    }
}

/// Takes a remote's address apart: https, ssh and scp-like forms.
pub fn parse_remote(url: &str) -> Option<GithubRemote> {
    let (authority, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git" | "git+ssh", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        // `git@github.com:owner/repository.git`
        None => url.split_once(':')?,
    };
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _port)| host);
    // GitHub's own address for ssh over the https port.
    let host = if host == "ssh.github.com" {
        "github.com"
    } else {
        host
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let (owner, repository) = path.split_once('/')?;
    let is_name = |text: &str| {
        !text.is_empty()
            && text != "."
            && text != ".."
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    (is_name(host) && host.contains('.') && is_name(owner) && is_name(repository)).then(|| {
        GithubRemote {
            host: host.to_ascii_lowercase(),
            owner: owner.to_owned(),
            repository: repository.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_common_forms_are_understood() {
        for url in [
            "https://github.com/octo/hello.git",
            "https://github.com/octo/hello",
            "https://token@github.com/octo/hello/",
            "ssh://git@github.com/octo/hello.git",
            "ssh://git@ssh.github.com:443/octo/hello.git",
            "git@github.com:octo/hello.git",
            "github.com:octo/hello",
            "git://GitHub.com/octo/hello",
        ] {
            let remote = parse_remote(url).unwrap();
            let parts = (
                remote.host.as_str(),
                remote.owner.as_str(),
                remote.repository.as_str(),
            );
            assert_eq!(parts, ("github.com", "octo", "hello"), "{url}");
        }
        let enterprise = parse_remote("git@git.corp.example:team/app.git").unwrap();
        assert_eq!(enterprise.api_url(), "https://git.corp.example/api/v3");
    }

    #[test]
    fn what_is_no_such_address_is_refused() {
        for url in [
            "",
            "/srv/git/hello.git",
            "../hello",
            "file:///srv/hello.git",
            "C:\\git\\hello",
            "https://github.com/octo",
            "https://github.com/octo/hello/pulls",
            "git@github.com:../..",
            "https://github.com/octo/he llo",
            "https:///octo/hello",
        ] {
            assert_eq!(parse_remote(url), None, "{url}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_answered(url in ".{0,200}") {
            if let Some(remote) = parse_remote(&url) {
                proptest::prop_assert!(!remote.owner.contains('/'));
            }
        }
    }
}
