//! Which repository on GitHub a remote's address names.

/// Returns `owner/name` if the address is one of the given host.
pub(crate) fn repository(address: &str, host: &str) -> Option<String> {
    // `ssh://git@host:22/path` has its port in the authority; `git@host:path` has the path there.
    let (authority, path) = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => address.split_once(':')?,
    };
    let found = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let found = found.split_once(':').map_or(found, |(host, _)| host);
    if !found.eq_ignore_ascii_case(host) {
        return None;
    }
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let (owner, name) = path.split_once('/')?;
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character))
    };
    (plain(owner) && plain(name)).then(|| format!("{owner}/{name}"))
}

/// Returns the host that repositories have when the API is at the given address.
pub(crate) fn host(api: Option<&str>) -> String {
    let host = api
        .and_then(|api| api.split_once("://"))
        .and_then(|(_, rest)| rest.split(['/', ':']).next())
        .unwrap_or("github.com");
    host.strip_prefix("api.").unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_all_kinds_are_read() {
        for address in [
            "https://github.com/me/it.git",
            "https://user:token@GitHub.com/me/it",
            "git@github.com:me/it.git",
            "ssh://git@github.com:22/me/it",
            "github.com:me/it/",
        ] {
            assert_eq!(
                repository(address, "github.com").as_deref(),
                Some("me/it"),
                "{address}"
            );
        }
        for address in [
            "https://gitlab.com/me/it",
            "/srv/git/it.git",
            "https://github.com.evil.org/me/it",
            "https://github.com/me",
            "git@github.com:me/it/deeper",
            "git@github.com:me/\x1b[2J",
        ] {
            assert_eq!(repository(address, "github.com"), None, "{address}");
        }
    }

    #[test]
    fn the_host_follows_the_api() {
        assert_eq!(host(None), "github.com");
        assert_eq!(host(Some("https://api.github.com")), "github.com");
        assert_eq!(
            host(Some("https://git.example.org/api/v3")),
            "git.example.org"
        );
    }
}
