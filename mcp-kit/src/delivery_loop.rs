//! Delivery loop: hands messages over to the server's own agent, reconciles in turns with other servers, and counts what
//! the agent uses.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use shared::model::InstanceId;
use shared::store::Changes;
use shared::workflow::{self, Context, Delivery, deliver};

/// A waiting message is retried at growing intervals: the end of an agent's turn or of a person's draft is not
/// visible in the database, and each look at the terminal costs a tmux command.
const MIN_RETRY_INTERVAL: Duration = Duration::from_millis(100);
const RETRY_INTERVAL_STEP: Duration = Duration::from_millis(10);
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// How late the cost of an agent may be in a list.
const USAGE_INTERVAL: Duration = Duration::from_secs(5);
const RECONCILE_INTERVAL: Duration = Duration::from_secs(30);

/// Delivers to one instance until the future is dropped.
pub(super) async fn run_delivery_loop(context: &Context, id: &InstanceId) {
    match context.store.messages_to(id) {
        Ok(messages) => {
            tokio::join!(
                deliver_each(messages, context, id),
                reconcile_in_turns(context),
                count_usage(context, id)
            );
        }
        Err(error) => {
            tracing::error!(%error, "cannot watch the database; messages will not be delivered");
        }
    }
}

async fn deliver_each(mut messages: Changes, context: &Context, id: &InstanceId) {
    let mut pause = MIN_RETRY_INTERVAL;
    let mut last_error = String::new();
    loop {
        // Before `deliver`, so that a message that arrives during it is not missed.
        messages.forget();
        match deliver(context, id).await {
            Ok(Delivery::Nothing) => {
                pause = MIN_RETRY_INTERVAL;
                messages.next().await;
                continue;
            }
            Ok(Delivery::Taken | Delivery::Unconfirmed) => {
                pause = MIN_RETRY_INTERVAL;
                continue;
            }
            Ok(Delivery::Waiting) => pause = (pause + RETRY_INTERVAL_STEP).min(MAX_RETRY_INTERVAL),
            Err(error) => {
                pause = (pause * 2).min(MAX_RETRY_INTERVAL);
                let text = error.to_string();
                if text != last_error {
                    tracing::warn!(code = %error.code, %error, "cannot deliver a message");
                    last_error = text;
                }
            }
        }
        sleep(pause).await;
    }
}

async fn reconcile_in_turns(context: &Context) {
    loop {
        sleep_until(Instant::now() + RECONCILE_INTERVAL).await;
        if !workflow::is_my_turn_to_reconcile(context, RECONCILE_INTERVAL).await {
            continue;
        }
        if let Err(error) = workflow::reconcile(context).await {
            tracing::warn!(code = %error.code, %error, "cannot reconcile");
        }
    }
}

async fn count_usage(context: &Context, id: &InstanceId) {
    loop {
        sleep(USAGE_INTERVAL).await;
        if let Err(error) = workflow::refresh_usage_of(context, id).await {
            tracing::warn!(code = %error.code, %error, "cannot read what the agent has used");
        }
    }
}
