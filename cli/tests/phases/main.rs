//! TDD phases on the real binary: hooks as Claude Code calls them, real git, real compilers where they are.

#[cfg(test)]
mod approved;
#[cfg(test)]
mod attacks;
#[cfg(test)]
mod detached;
#[cfg(test)]
mod guarding;
#[cfg(test)]
mod installing;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod ordinary;
#[cfg(test)]
mod payloads;
#[cfg(test)]
mod plugin;
#[cfg(test)]
mod projects;
#[cfg(test)]
mod real_claude;
#[cfg(test)]
mod unseen;
#[cfg(test)]
mod ways_around;

/// The command line under test.
#[cfg(test)]
const PROGRAM: &str = env!("CARGO_BIN_EXE_claude-codex");
