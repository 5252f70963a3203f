//! A GitHub on loopback as the origin of a test's repository, with a real git remote.

use std::ops::Deref;

use scripted_github::{Bare, ScriptedGithub, TOKEN};

use crate::environment::TestEnv;

/// The GitHub that an environment's repository was pushed to.
#[derive(Debug)]
pub struct GithubRemote {
    server: ScriptedGithub,
}

impl GithubRemote {
    /// Serves a repository to which `main` is pushed, as `origin`, and sets the token and address for it.
    pub fn new(env: &mut TestEnv) -> Self {
        let server = ScriptedGithub::on_thread(&env.path("github")).unwrap();
        let remote = Self { server };
        env.git(&["push", "-q", remote.bare().path().to_str().unwrap(), "main"]);
        env.git(&["remote", "add", "origin", &remote.git_url()]);
        env.set("GITHUB_TOKEN", TOKEN);
        env.set("GITHUB_API_URL", remote.url());
        remote
    }

    pub fn bare(&self) -> Bare {
        self.server.state().bare.clone().unwrap()
    }
}

impl Deref for GithubRemote {
    type Target = ScriptedGithub;

    fn deref(&self) -> &ScriptedGithub {
        &self.server
    }
}
