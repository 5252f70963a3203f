//! Busy timeout: how long and how often a writer tries while others hold the database.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a writer waits for others. Each holds the lock for a fraction of a millisecond; this is
/// for many at once, and for a machine that stalls.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// A waiting writer tries again after 1 to 10 ms. `SQLite`'s own steps grow to 100 ms, in which
/// dozens of others overtake it.
const MIN_BUSY_INTERVAL: Duration = Duration::from_millis(1);
const JITTER_MICROSECONDS: u32 = 9_000;
/// Waits for a moment before trying again.
pub(super) fn pause() {
    std::thread::sleep(MIN_BUSY_INTERVAL + jitter());
}

/// The clock's last digits differ between processes, which is all that is asked of them.
fn jitter() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let digits = now.map_or(0, |since| since.subsec_nanos());
    Duration::from_micros(u64::from(digits % JITTER_MICROSECONDS))
}
