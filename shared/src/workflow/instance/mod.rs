//! An agent's row and files: facts that many verbs need, the files an agent is started with, headless turns.

pub(super) mod agent_files;
pub(super) mod facts;
pub(super) mod headless;
pub(super) mod ownership;
