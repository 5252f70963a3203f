//! Delivering to a server's own agent, beside the calls.

use std::time::Duration;

use crate::model::InstanceId;
use crate::workflow::{Context, Delivery, deliver, reconcile};

/// Delivers to one instance for as long as its server lives.
pub(super) async fn deliver_always(context: &Context, id: &InstanceId) {
    /// Another process's commit is seen within this time.
    const LOOK: Duration = Duration::from_millis(100);
    /// What has waited for long is looked at this often: each look may cost tmux some work.
    const SLOWEST: Duration = Duration::from_secs(1);
    const RECONCILE_EVERY: Duration = Duration::from_secs(30);
    let mut seen = None;
    let mut pause = LOOK;
    let mut reconciled = tokio::time::Instant::now();
    let mut complaint = String::new();
    loop {
        let version = context.store.data_version().ok();
        if version != seen {
            match deliver(context, id).await {
                Ok(Delivery::Nothing) => (seen, pause) = (version, LOOK),
                Ok(Delivery::Taken) => pause = LOOK,
                Ok(Delivery::Waiting) => pause = (pause + LOOK / 10).min(SLOWEST),
                Err(error) => {
                    pause = (pause * 2).min(SLOWEST);
                    let text = error.to_string();
                    if text != complaint {
                        tracing::warn!(code = %error.code, %error, "cannot deliver");
                        complaint = text;
                    }
                }
            }
        }
        if reconciled.elapsed() >= RECONCILE_EVERY {
            reconciled = tokio::time::Instant::now();
            if let Err(error) = reconcile(context).await {
                tracing::warn!(code = %error.code, %error, "cannot reconcile");
            }
        }
        tokio::time::sleep(pause).await;
    }
}
