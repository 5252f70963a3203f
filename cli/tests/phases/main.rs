//! TDD phases on the real binary: hooks as Claude Code calls them, real git, real compilers where they are.

#[cfg(test)]
mod guarding;
#[cfg(test)]
mod installing;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod payloads;
#[cfg(test)]
mod projects;
#[cfg(test)]
mod real_claude;
#[cfg(test)]
mod support;
#[cfg(test)]
mod ways_around;
