//! The program as people and agents run it.

#[cfg(test)]
mod hooks;
#[cfg(test)]
mod hostile_clone;
#[cfg(test)]
mod life;
#[cfg(test)]
mod not_ours;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod supervision;
#[cfg(test)]
mod support;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod trust;
