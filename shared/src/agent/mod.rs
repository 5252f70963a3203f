//! Agents: how to start Claude Code (or any other program) unattended, and how to see what it does.
//!
//! Much of what is here rests on undocumented behaviour of Claude Code. Each such assumption stands in
//! one file, says on which release it was seen, and gives way to "unknown" when it no longer holds.
//! Sessions of a terminal, git and the database are none of this module's business.

mod activity;
mod caller;
mod claude;
mod detect;
mod dialog;
mod environment;
mod error;
mod handover;
mod hooks;
mod launch;
mod launch_spec;
mod login;
mod other;
mod permissions;
mod project_commands;
mod prompt;
mod screen;
mod state;
mod stream;
mod transcript;
mod transcript_activity;
mod transcript_ends;
mod transcript_lines;
mod transcript_reader;
mod trust;
mod turn;
mod usage;
mod version;
mod version_check;

pub use activity::ActivityLines;
pub use caller::{Caller, caller, nearest_claude, session_of, state_among};
pub use claude::MAX_PROMPT_ARGUMENT;
pub use detect::{find_claude, version};
pub use dialog::{Dialog, DialogChoice, dialog};
pub use environment::{DETACHED, Environment, FROM_THE_PANE, LAUNCH_ID, clean};
pub use error::AgentError;
pub use handover::{Handover, take_environment};
pub use hooks::{EndReason, Event, HookName, HookReply, Payload, Source, ToolCall};
pub use launch::{AgentFiles, DEFAULT_HOOKS, Launch, Prepared, prepare};
pub use launch_spec::{ClaudeOptions, LaunchSpec, Program, Session};
pub use login::{Login, login};
pub use other::{check_command, ends_in_message};
pub use permissions::{PermissionOptions, Rules, rules};
pub use project_commands::{Command, recognise_commands};
pub use prompt::{PLACEHOLDERS, Template, Values, first_message, render, template};
pub use screen::{Draft, Drafted, Screen, draft, drafted, message_parts, screen};
pub use state::{
    AgentState, Session as LiveSession, Waiting, Wanted, config_directory, find_session, sessions,
    state,
};
pub use stream::{LastMessage, StreamEvent, parse as parse_stream};
pub use transcript::{
    MessagePresence, all_transcripts_beside, named_by, path as transcript_path, written_ago,
};
pub use transcript_activity::{ActivityCursor, ActivityPage, read_activity};
pub use transcript_ends::TranscriptEnds;
pub use transcript_reader::{TranscriptReader, times_taken};
pub use trust::{Change, config_file, forget, is_trusted, trust};
pub use turn::{
    Turn, TurnEnd, ask_for_turn, end_turn, is_asked_for, last_turn, next_turn, prepare_turns,
    stream_file, turn_end,
};
pub use usage::{
    SessionFiles, UsageCursor, UsageRead, read_usage, session_files, session_files_beside,
};
pub use version::{MINIMUM_VERSION, Version};
pub use version_check::check_version;
