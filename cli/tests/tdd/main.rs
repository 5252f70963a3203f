//! TDD runs on real git, real tmux and the real servers, with scripted agents.

#[cfg(test)]
mod github;
#[cfg(test)]
#[path = "../review/github_support.rs"]
#[expect(dead_code, reason = "the tests of reviews use the rest of it")]
mod github_support;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod real_claude;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod stopping;
#[cfg(test)]
#[path = "../review/support.rs"]
#[expect(dead_code, reason = "the tests of reviews use the rest of it")]
mod support;
