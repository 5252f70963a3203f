//! The program as people and agents run it.

#[cfg(test)]
mod agent_program;
#[cfg(test)]
mod attention;
#[cfg(test)]
mod completing;
#[cfg(test)]
mod continuing;
#[cfg(test)]
mod discarding;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod hostile_clone;
#[cfg(test)]
mod ids;
#[cfg(test)]
mod life;
#[cfg(test)]
mod not_ours;
#[cfg(test)]
mod notify;
#[cfg(test)]
mod printed;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod supervision;
#[cfg(test)]
mod support;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod watch;

/// The command line under test.
#[cfg(test)]
const PROGRAM: &str = env!("CARGO_BIN_EXE_claude-codex");
