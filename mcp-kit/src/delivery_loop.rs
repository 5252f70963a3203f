//! Delivering to a server's own agent, beside the calls.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use shared::model::InstanceId;
use shared::store::Changes;
use shared::workflow::{self, Context, Delivery, deliver};

/// A message that waits is tried again after this time, and then less and less often: what it waits
/// for, an agent's turn or a person's draft, shows in no database. Each look may cost tmux some work.
const RETRY: Duration = Duration::from_millis(100);
const LATER_BY: Duration = Duration::from_millis(10);
const SLOWEST: Duration = Duration::from_secs(1);
const RECONCILE_EVERY: Duration = Duration::from_secs(30);

/// Delivers to one instance for as long as its server lives.
pub(super) async fn deliver_always(context: &Context, id: &InstanceId) {
    match context.store.messages_to(id) {
        Ok(messages) => {
            tokio::join!(
                deliver_after(messages, context, id),
                reconcile_always(context)
            );
        }
        Err(error) => tracing::error!(%error, "cannot watch the database: nothing is delivered"),
    }
}

async fn deliver_after(mut messages: Changes, context: &Context, id: &InstanceId) {
    let mut pause = RETRY;
    let mut complaint = String::new();
    loop {
        // Before the look, so that what comes after it is not missed.
        messages.forget();
        match deliver(context, id).await {
            Ok(Delivery::Nothing) => {
                pause = RETRY;
                messages.next().await;
                continue;
            }
            Ok(Delivery::Taken | Delivery::Unconfirmed) => {
                pause = RETRY;
                continue;
            }
            Ok(Delivery::Waiting) => pause = (pause + LATER_BY).min(SLOWEST),
            Err(error) => {
                pause = (pause * 2).min(SLOWEST);
                let text = error.to_string();
                if text != complaint {
                    tracing::warn!(code = %error.code, %error, "cannot deliver");
                    complaint = text;
                }
            }
        }
        sleep(pause).await;
    }
}

/// Repairs what others left, in turns with all other servers.
async fn reconcile_always(context: &Context) {
    loop {
        sleep_until(Instant::now() + RECONCILE_EVERY).await;
        if !workflow::is_my_turn_to_reconcile(context, RECONCILE_EVERY).await {
            continue;
        }
        if let Err(error) = workflow::reconcile(context).await {
            tracing::warn!(code = %error.code, %error, "cannot reconcile");
        }
    }
}
