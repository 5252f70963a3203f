//! The access token, and the cookie and CSRF token derived from it.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use shared::error::{Code, Error};
use shared::model::Secret;

/// Bytes of the token: 256 bits.
const TOKEN_BYTES: usize = 32;
const TOKEN_FILE: &str = "dashboard.token";

/// Returns the token in a state folder, and creates it if there is none.
///
/// It stays the same across restarts, so that open pages reconnect. It is as protected as the database beside it.
pub(crate) fn token(state_dir: &Path) -> Result<Secret, Error> {
    let path = state_dir.join(TOKEN_FILE);
    if let Some(known) = read(&path) {
        return Ok(known);
    }
    let mut bytes = [0; TOKEN_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Error::new(Code::Internal, "the system provides no random numbers"))?;
    let token = URL_SAFE_NO_PAD.encode(bytes);
    let write = || -> io::Result<()> {
        fs::create_dir_all(state_dir)?;
        let draft = path.with_extension(format!("token-{}", std::process::id()));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(token.as_bytes())?;
        // A hard link is atomic: if two dashboards start at once, both use the token of the first.
        let linked = fs::hard_link(&draft, &path);
        fs::remove_file(&draft)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    };
    write().map_err(|source| {
        Error::new(
            Code::DatabaseUnavailable,
            format!("cannot store the token in {}: {source}", path.display()),
        )
        .hint("Make the state folder writable, or set CODEX_STATE_DIR to one that is.")
    })?;
    read(&path).ok_or_else(|| {
        Error::new(
            Code::DatabaseUnavailable,
            format!("{} does not contain a token", path.display()),
        )
        .hint("Remove the file; the next start creates a new one.")
    })
}

fn read(path: &Path) -> Option<Secret> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    let whole = URL_SAFE_NO_PAD
        .decode(text)
        .is_ok_and(|bytes| bytes.len() == TOKEN_BYTES);
    whole.then(|| Secret::new(text))
}

/// The secrets that requests are checked against, all in constant time.
pub(crate) struct Keys {
    token: Secret,
    csrf: String,
    cookie: String,
    cookie_name: String,
    key: hmac::Key,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Keys(***)")
    }
}

impl Keys {
    /// Derives all keys from the token. Browsers send cookies to every port of a host, so the cookie's name has the port.
    pub(crate) fn new(token: Secret, port: u16) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, token.expose().as_bytes());
        Self {
            csrf: derived(&key, "csrf"),
            cookie: derived(&key, "cookie"),
            cookie_name: format!("codex_dashboard_{port}"),
            key,
            token,
        }
    }

    pub(crate) fn is_token(&self, given: &str) -> bool {
        self.is_same(given, self.token.expose())
    }

    pub(crate) fn is_cookie(&self, given: &str) -> bool {
        self.is_same(given, &self.cookie)
    }

    pub(crate) fn is_csrf(&self, given: &str) -> bool {
        self.is_same(given, &self.csrf)
    }

    fn is_same(&self, given: &str, expected: &str) -> bool {
        let tag = hmac::sign(&self.key, expected.as_bytes());
        hmac::verify(&self.key, given.as_bytes(), tag.as_ref()).is_ok()
    }

    pub(crate) fn token(&self) -> &Secret {
        &self.token
    }

    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    pub(crate) fn cookie_name(&self) -> &str {
        &self.cookie_name
    }

    /// Returns the `Set-Cookie` header. `SameSite=Strict`: requests that another site causes do not carry the cookie.
    pub(crate) fn set_cookie(&self) -> String {
        format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000",
            self.cookie_name, self.cookie
        )
    }
}

fn derived(key: &hmac::Key, purpose: &str) -> String {
    let mut text = String::new();
    for byte in hmac::sign(key, purpose.as_bytes()).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_token_stays_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let first = token(&state).unwrap();
        assert_eq!(first.expose().len(), 43);
        assert_eq!(token(&state).unwrap().expose(), first.expose());
        let mode = fs::metadata(state.join(TOKEN_FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(state.join(TOKEN_FILE), "short").unwrap();
        assert!(token(&state).is_err());
        fs::remove_file(state.join(TOKEN_FILE)).unwrap();
        assert_ne!(token(&state).unwrap().expose(), first.expose());
        assert_eq!(fs::read_dir(&state).unwrap().count(), 1);
    }

    #[test]
    fn keys_differ_and_are_not_printed() {
        let keys = Keys::new(Secret::new("secret"), 4620);
        assert!(keys.is_token("secret") && !keys.is_token("secre") && !keys.is_token(""));
        assert!(keys.is_csrf(keys.csrf()) && !keys.is_csrf("secret"));
        assert!(!keys.is_cookie(keys.csrf()) && !keys.is_csrf(&keys.cookie));
        assert!(!format!("{keys:?}").contains("secret"));
        assert!(keys.set_cookie().contains("HttpOnly; SameSite=Strict"));
    }
}
