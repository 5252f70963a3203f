//! Parses git remotes into GitHub repositories, and decides which hosts may get the token.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::model::Secret;

/// A repository on GitHub or on a GitHub Enterprise server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubRemote {
    pub host: String,
    /// Port of the web site and the API, if an https URL names another one than 443.
    pub port: Option<u16>,
    pub owner: String,
    pub repository: String,
}

impl GithubRemote {
    /// Returns the API's base URL for this host.
    pub fn api_url(&self) -> String {
        // Tenants of ghe.com have an API host as github.com has; Enterprise servers use a path.
        if self.host == "github.com" || self.host.ends_with(".ghe.com") {
            format!("https://api.{}", self.host)
        } else {
            let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
            format!("https://{}{port}/api/v3", self.host)
        }
    }

    /// Returns the HTTP header by which git sends the token.
    pub fn push_header(token: &Secret) -> Secret {
        let credentials = STANDARD.encode(format!("x-access-token:{}", token.expose()));
        Secret::new(format!("Authorization: Basic {credentials}"))
    }

    /// Returns the URL prefix to which git may send the token: scheme, host and port of an https remote.
    ///
    /// `None` for ssh, which uses keys, and for http to another machine: a token must not cross a
    /// network unencrypted.
    pub fn push_scope(url: &str) -> Option<String> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let name = host.split(':').next().unwrap_or(host);
        let private = scheme == "http" && is_loopback(name);
        let usable = !name.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
        (usable && (scheme == "https" || private)).then(|| format!("{scheme}://{host}/"))
    }
}

/// Returns whether the token may be sent to the host of a remote.
///
/// Allowed are github.com, or exactly the host (and, over http, the port) of the API URL that the person has set. The
/// repository controls its remote, so nothing else about the remote counts. CI services set the URL of github.com's
/// own API.
pub fn is_host_of_token(url: &str, api_url: Option<&str>) -> bool {
    let Some(remote) = Site::of(url) else {
        return false;
    };
    let is_github = remote.host == "github.com";
    match api_url.map(Site::of) {
        None => is_github && matches!(remote.port, None | Some(443)),
        Some(None) => false,
        Some(Some(api)) => {
            let web = match api.host.strip_prefix("api.") {
                Some(host) if host == "github.com" || host.ends_with(".ghe.com") => host,
                _ => &api.host,
            };
            let same_port = remote.port.is_none() || remote.port == api.port;
            // A test server on this machine stands in for github.com's API.
            let is_test_server = is_github && is_loopback(&api.host);
            is_test_server || (remote.host == web && same_port)
        }
    }
}

/// Host and port of a URL.
struct Site {
    host: String,
    /// Only of http and https: the port of ssh is unrelated to the API's.
    port: Option<u16>,
}

impl Site {
    fn of(url: &str) -> Option<Self> {
        let (usual, rest) = match url.split_once("://") {
            Some(("https", rest)) => (Some(443), rest),
            Some(("http", rest)) => (Some(80), rest),
            Some(("ssh" | "git" | "git+ssh", rest)) => (None, rest),
            Some(_) => return None,
            None => (None, url.split_once(':')?.0),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let (host, port) = match host.split_once(':') {
            Some((host, port)) => (host, Some(port.parse::<u16>().ok()?)),
            None => (host, None),
        };
        let host = match host.to_ascii_lowercase().as_str() {
            "" => return None,
            "ssh.github.com" => "github.com".to_owned(),
            host => host.to_owned(),
        };
        Some(Self {
            host,
            port: usual.map(|usual| port.unwrap_or(usual)),
        })
    }
}

/// Returns whether a URL would be requested over a network unencrypted.
pub(super) fn is_unencrypted(url: &str) -> bool {
    url.starts_with("http://") && !Site::of(url).is_some_and(|site| is_loopback(&site.host))
}

fn is_loopback(host: &str) -> bool {
    ["127.0.0.1", "localhost"].contains(&host)
}

/// Parses the URL of a remote: https, ssh and scp-like forms.
pub fn parse_remote(url: &str) -> Option<GithubRemote> {
    let (scheme, authority, path) = match url.split_once("://") {
        Some((scheme @ ("https" | "http" | "ssh" | "git" | "git+ssh"), rest)) => {
            let (authority, path) = rest.split_once('/')?;
            (scheme, authority, path)
        }
        Some(_) => return None,
        None => {
            // `git@github.com:owner/repository.git`
            let (authority, path) = url.split_once(':')?;
            ("ssh", authority, path)
        }
    };
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let (host, port) = match host.split_once(':') {
        Some((host, port)) => (host, Some(port.parse::<u16>().ok()?)),
        None => (host, None),
    };
    // The port of ssh is unrelated to the API's.
    let port = port.filter(|port| scheme == "https" && *port != 443);
    // GitHub's host for ssh over the https port.
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
    // Hosts and owners never begin with a hyphen, and one that did could be parsed as an option. Repositories may.
    let is_host = is_name(host) && host.contains('.') && !host.starts_with('-');
    let is_owner = is_name(owner) && !owner.starts_with('-');
    (is_host && is_owner && is_name(repository)).then(|| GithubRemote {
        host: host.to_ascii_lowercase(),
        port,
        owner: owner.to_owned(),
        repository: repository.to_owned(),
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
    }

    #[test]
    fn the_api_is_where_the_web_site_is() {
        for (url, api) in [
            ("git@github.com:o/r", "https://api.github.com"),
            ("https://github.com:443/o/r", "https://api.github.com"),
            (
                "git@git.corp.example:o/r.git",
                "https://git.corp.example/api/v3",
            ),
            (
                "https://git.corp.example/o/r",
                "https://git.corp.example/api/v3",
            ),
            (
                "https://git.corp.example:8443/o/r",
                "https://git.corp.example:8443/api/v3",
            ),
            (
                "ssh://git@git.corp.example:2222/o/r",
                "https://git.corp.example/api/v3",
            ),
            ("https://corp.ghe.com/o/r", "https://api.corp.ghe.com"),
        ] {
            assert_eq!(parse_remote(url).unwrap().api_url(), api, "{url}");
        }
    }

    #[test]
    fn the_token_goes_where_it_belongs_and_nowhere_in_the_open() {
        for (url, scope) in [
            ("https://github.com/o/r.git", Some("https://github.com/")),
            (
                "https://me:pw@github.com/o/r@1",
                Some("https://github.com/"),
            ),
            ("https://git.corp:8443/o/r", Some("https://git.corp:8443/")),
            ("http://127.0.0.1:80/o/r", Some("http://127.0.0.1:80/")),
            ("http://github.com/o/r", None),
            ("http://127.0.0.1.evil.example/o/r", None),
            ("git@github.com:o/r", None),
            ("ssh://git@github.com/o/r", None),
            ("https:///o/r", None),
            ("https://a b/o/r", None),
        ] {
            assert_eq!(GithubRemote::push_scope(url).as_deref(), scope, "{url}");
        }
        let header = GithubRemote::push_header(&Secret::new("abc"));
        assert_eq!(
            header.expose(),
            "Authorization: Basic eC1hY2Nlc3MtdG9rZW46YWJj"
        );
    }

    #[test]
    fn the_token_is_for_github_or_the_host_of_the_api() {
        let enterprise = Some("https://git.corp.example/api/v3");
        let other_port = Some("https://git.corp.example:8443/api/v3");
        let ci = Some("https://api.github.com");
        let stand_in = Some("http://127.0.0.1:4000");
        for (url, api, expected) in [
            ("https://github.com/o/r", None, true),
            ("git@github.com:o/r", None, true),
            ("ssh://git@ssh.github.com:443/o/r", None, true),
            ("https://github.com/o/r", ci, true),
            ("git@github.com:o/r", ci, true),
            ("https://github.com/o/r", stand_in, true),
            ("http://127.0.0.1:4000/o/r", stand_in, true),
            ("https://git.corp.example/o/r", enterprise, true),
            ("git@git.corp.example:o/r", enterprise, true),
            ("ssh://git@git.corp.example:2222/o/r", enterprise, true),
            ("https://git.corp.example:8443/o/r", other_port, true),
            ("git@git.corp.example:o/r", other_port, true),
            ("https://a.ghe.com/o/r", Some("https://api.a.ghe.com"), true),
            ("https://evil.example/o/r", None, false),
            ("https://evil.example/o/r", ci, false),
            ("https://evil.example/o/r", enterprise, false),
            ("git@evil.example:o/r", ci, false),
            ("https://api.github.com/o/r", ci, false),
            ("https://github.com:8443/o/r", None, false),
            ("https://github.com.evil.example/o/r", ci, false),
            ("https://github.com@evil.example/o/r", ci, false),
            (
                "https://evil.ghe.com/o/r",
                Some("https://api.a.ghe.com"),
                false,
            ),
            // A token of GitHub Enterprise is none of github.com's business.
            ("https://github.com/o/r", enterprise, false),
            ("https://git.corp.example:9000/o/r", enterprise, false),
            ("http://127.0.0.1:4001/o/r", stand_in, false),
            ("https://github.com/o/r", Some("nonsense"), false),
        ] {
            assert_eq!(is_host_of_token(url, api), expected, "{url} {api:?}");
        }
        assert!(is_unencrypted("http://git.corp.example/api/v3"));
        assert!(is_unencrypted("http://127.0.0.1.evil.example/"));
        assert!(!is_unencrypted("http://127.0.0.1:4000"));
        assert!(!is_unencrypted("https://git.corp.example/api/v3"));
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
            "https://github.com:port/octo/hello",
            "https://[::1]/octo/hello",
            "https://github.com?/octo/hello",
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
