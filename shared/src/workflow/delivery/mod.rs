//! Message delivery to agents: lease, typing, proof in the transcript, receipt.

pub(super) mod claude;
pub(super) mod deliver;
pub(super) mod end_of_turn;
pub(super) mod lease;
pub(super) mod other;
pub(super) mod proof;
pub(super) mod receipt;
pub(super) mod reminder;
pub(super) mod settle;
