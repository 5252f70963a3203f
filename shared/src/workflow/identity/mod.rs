//! Identity of the caller: which instance a server, a hook or a session without a launch acts for.

pub(super) mod adopt;
pub(super) mod connect;
pub(super) mod hook_session;
