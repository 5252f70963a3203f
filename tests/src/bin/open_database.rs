//! Opens the database as every program does, and does nothing else: for faults at the steps of a migration.

use std::process::ExitCode;

use shared::config::Environment;
use shared::store::Store;

fn main() -> ExitCode {
    let path = Environment::current().database();
    let opened = path.map_err(|error| error.to_string()).and_then(|path| {
        let store = Store::open(&path).and_then(|store| store.read_now(|r| r.instances(false)));
        store.map_err(|error| error.to_string())
    });
    ExitCode::from(u8::from(opened.is_err()))
}
