//! Waiting for a condition, with a timeout that a loaded machine keeps and a hang does not.

use std::time::{Duration, Instant};

/// How long anything may take: two busy cores need this long for what takes a second.
pub const WAIT_TIMEOUT: Duration = Duration::from_mins(1);
/// How often a condition is looked at.
const WAIT_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until something holds.
pub fn until(what: &str, holds: impl FnMut() -> bool) {
    until_or(what, holds, String::new);
}

/// Waits until something holds; if it never does, the failure also shows the state.
pub fn until_or(what: &str, holds: impl FnMut() -> bool, state: impl Fn() -> String) {
    assert!(
        comes_true(holds),
        "waited in vain until {what}\n{}",
        state()
    );
}

/// Waits until something holds, and returns whether it did in time.
pub fn comes_true(mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(WAIT_INTERVAL);
    }
    true
}

/// Waits until something holds, on a runtime whose other tasks go on meanwhile.
pub async fn until_async(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(WAIT_INTERVAL).await;
    }
}
