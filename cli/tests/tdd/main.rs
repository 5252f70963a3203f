//! TDD runs on real git, real tmux and the real servers, with scripted agents.

#[cfg(test)]
mod conflict;
#[cfg(test)]
mod github;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod real_claude;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod tdd_env;
