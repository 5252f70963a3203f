//! The review loop on real git, real tmux and the real servers, with scripted agents.

#[cfg(test)]
mod failures;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod kills;
#[cfg(test)]
#[cfg(test)]
mod real_claude;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod support;
