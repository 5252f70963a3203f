//! Makes a database as it is after years: a million events, 100,000 tasks, 5,000 ended agents.
//!
//! `cargo build --release --workspace --bins && target/release/make_large_database STATE_FOLDER REPOSITORY`, and then
//! `CODEX_STATE_DIR=STATE_FOLDER claude-codex list` in that repository.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints how long it took; one that fails has nothing to say"
)]

use std::path::PathBuf;
use std::time::Instant;

use tests::large_database::{Size, fill};

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(state), Some(repository)) = (arguments.next(), arguments.next()) else {
        println!("usage: make_large_database STATE_FOLDER REPOSITORY");
        return;
    };
    let began = Instant::now();
    let repository = repository.canonicalize().unwrap();
    let database = state.join("codex.db");
    fill(&database, &repository.to_string_lossy(), Size::LARGE).unwrap();
    println!("{} in {:.1?}", database.display(), began.elapsed());
}
