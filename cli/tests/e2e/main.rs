//! The program as people and agents run it.

mod life;
mod support;
mod surface;
