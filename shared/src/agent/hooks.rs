//! Claude Code hooks: the JSON payload of each event, and the replies that a hook may give.
//!
//! Payloads gain fields with every release, so everything that is not needed is optional and what is
//! unknown is passed over.

use serde::Deserialize;
use serde_json::{Value, json};

/// The hooks that an agent's settings name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookName {
    SessionStart,
    UserPromptSubmit,
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    PermissionRequest,
    Notification,
    Stop,
    StopFailure,
    SessionEnd,
    ConfigChange,
}

impl HookName {
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PermissionRequest,
        Self::Notification,
        Self::Stop,
        Self::StopFailure,
        Self::SessionEnd,
        Self::ConfigChange,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PermissionRequest => "PermissionRequest",
            Self::Notification => "Notification",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::SessionEnd => "SessionEnd",
            Self::ConfigChange => "ConfigChange",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }
}

/// What every payload has.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Payload {
    pub session_id: String,
    #[serde(default)]
    pub transcript_path: String,
    #[serde(default)]
    pub cwd: String,
    /// The turn that it belongs to. A message typed while busy names the running turn.
    pub prompt_id: Option<String>,
    pub permission_mode: Option<String>,
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "hook_event_name")]
pub enum Event {
    SessionStart {
        #[serde(default)]
        source: Source,
    },
    /// Since 2.1.325 also for a message that is only queued: no proof that the model has it.
    UserPromptSubmit {
        prompt: String,
    },
    PreToolUse(ToolCall),
    PostToolUse {
        #[serde(flatten)]
        call: ToolCall,
        #[serde(default)]
        tool_response: Value,
    },
    /// The tool ran and failed: a command that ended with another status than 0.
    PostToolUseFailure(ToolCall),
    PermissionRequest(ToolCall),
    Notification {
        #[serde(default)]
        message: String,
        /// `permission_prompt`, `idle_prompt`, …
        notification_type: Option<String>,
    },
    Stop {
        /// Set when this turn is itself the work of a Stop hook.
        #[serde(default)]
        stop_hook_active: bool,
        last_assistant_message: Option<String>,
        /// Commands and subagents that it has left running, and whose end wakes it.
        #[serde(default)]
        background_tasks: Vec<Value>,
    },
    /// The turn ended because the model could not be asked: not logged in, offline, a usage limit. It takes no answer.
    StopFailure {
        /// One word for the kind of error.
        #[serde(default)]
        error: String,
        /// What the terminal shows of it.
        last_assistant_message: Option<String>,
    },
    SessionEnd {
        #[serde(default)]
        reason: EndReason,
    },
    /// A settings file was changed and would now be read again (seen in 2.1.325).
    ConfigChange {
        file_path: Option<String>,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolCall {
    pub tool_name: String,
    #[serde(default)]
    pub tool_input: Value,
    pub tool_use_id: Option<String>,
}

/// How a session began. After `clear` it has a new id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Startup,
    Resume,
    Clear,
    Compact,
    #[default]
    #[serde(other)]
    Other,
}

/// Why a session ended. A killed terminal is `other`; after `clear` another session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Clear,
    Logout,
    PromptInputExit,
    Resume,
    #[default]
    #[serde(other)]
    Other,
}

impl Payload {
    /// Reads what a hook got on standard input.
    pub fn parse(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }
}

/// What a hook prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookReply {
    /// Let it go on: print nothing.
    Nothing,
    /// At Stop: go on working. The model gets `Stop hook feedback:\n` and the reason, verbatim.
    KeepWorking { reason: String },
    /// At `SessionStart`, `UserPromptSubmit` or `PostToolUse`: tell the model something more.
    AddContext { event: HookName, context: String },
    /// At `UserPromptSubmit`: take the prompt away from the model; the person reads the reason.
    RefusePrompt { reason: String },
    /// At `ConfigChange`: go on with the settings as they were.
    RefuseChange { reason: String },
    /// At `PreToolUse`: refuse the call, even if permissions allow it.
    DenyTool { reason: String },
    /// At `PermissionRequest`: answer the dialog with no.
    DenyPermission { reason: String },
    /// At `PermissionRequest`: answer the dialog with yes.
    AllowPermission,
}

impl HookReply {
    /// Returns the JSON to print, with a line that Claude Code shows to the person.
    pub fn to_json_telling(&self, person: Option<&str>) -> Option<Value> {
        let Some(person) = person else {
            return self.to_json();
        };
        let mut answer = self.to_json().unwrap_or_else(|| json!({}));
        answer["systemMessage"] = person.into();
        Some(answer)
    }

    /// Returns the JSON to print; `None` means to print nothing.
    pub fn to_json(&self) -> Option<Value> {
        let specific = |event: HookName, mut fields: Value| {
            fields["hookEventName"] = event.as_str().into();
            json!({ "hookSpecificOutput": fields })
        };
        match self {
            Self::Nothing => None,
            Self::KeepWorking { reason }
            | Self::RefusePrompt { reason }
            | Self::RefuseChange { reason } => Some(json!({"decision": "block", "reason": reason})),
            Self::AddContext { event, context } => {
                Some(specific(*event, json!({ "additionalContext": context })))
            }
            Self::DenyTool { reason } => Some(specific(
                HookName::PreToolUse,
                json!({"permissionDecision": "deny", "permissionDecisionReason": reason}),
            )),
            Self::DenyPermission { reason } => Some(specific(
                HookName::PermissionRequest,
                json!({"decision": {"behavior": "deny", "message": reason}}),
            )),
            Self::AllowPermission => Some(specific(
                HookName::PermissionRequest,
                json!({"decision": {"behavior": "allow"}}),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(rest: &str) -> Event {
        let text = format!(
            r#"{{"session_id":"s","transcript_path":"/t","cwd":"/w","prompt_id":"p","effort":{{"level":"medium"}},{rest}}}"#
        );
        let payload = Payload::parse(text.as_bytes()).unwrap();
        assert_eq!(
            (payload.session_id.as_str(), payload.cwd.as_str()),
            ("s", "/w")
        );
        payload.event
    }

    #[test]
    fn payloads_of_a_real_session_are_read() {
        assert_eq!(
            event(r#""hook_event_name":"SessionStart","source":"resume","context_tokens":110"#),
            Event::SessionStart {
                source: Source::Resume
            }
        );
        assert_eq!(
            event(r#""hook_event_name":"UserPromptSubmit","prompt":"a\nb""#),
            Event::UserPromptSubmit {
                prompt: "a\nb".to_owned()
            }
        );
        assert_eq!(
            event(
                r#""hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"x","background_tasks":[]"#
            ),
            Event::Stop {
                stop_hook_active: true,
                last_assistant_message: Some("x".to_owned()),
                background_tasks: Vec::new(),
            }
        );
        assert_eq!(
            event(
                r#""hook_event_name":"StopFailure","error":"authentication_failed","last_assistant_message":"Not logged in""#
            ),
            Event::StopFailure {
                error: "authentication_failed".to_owned(),
                last_assistant_message: Some("Not logged in".to_owned()),
            }
        );
        assert_eq!(
            event(r#""hook_event_name":"SessionEnd","reason":"prompt_input_exit""#),
            Event::SessionEnd {
                reason: EndReason::PromptInputExit
            }
        );
        let Event::PostToolUse {
            call,
            tool_response,
        } = event(
            r#""hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"},"tool_use_id":"t","duration_ms":3"#,
        )
        else {
            panic!("not a PostToolUse");
        };
        assert_eq!(
            (call.tool_name.as_str(), &tool_response["stdout"]),
            ("Bash", &json!("x"))
        );
        assert!(matches!(
            event(
                r#""hook_event_name":"PermissionRequest","tool_name":"Write","tool_input":{},"permission_suggestions":[]"#
            ),
            Event::PermissionRequest(_)
        ));
    }

    #[test]
    fn what_later_releases_say_is_no_error() {
        assert_eq!(
            event(r#""hook_event_name":"SomethingNew","x":1"#),
            Event::Unknown
        );
        assert_eq!(
            event(r#""hook_event_name":"SessionStart","source":"teleported""#),
            Event::SessionStart {
                source: Source::Other
            }
        );
        assert_eq!(
            event(r#""hook_event_name":"SessionEnd""#),
            Event::SessionEnd {
                reason: EndReason::Other
            }
        );
        assert!(Payload::parse(b"{}").is_err());
    }

    #[test]
    fn answers_have_the_shape_that_claude_code_reads() {
        let reason = "r \"q\"".to_owned();
        assert_eq!(HookReply::Nothing.to_json(), None);
        assert_eq!(
            HookReply::KeepWorking {
                reason: reason.clone()
            }
            .to_json()
            .unwrap(),
            json!({"decision": "block", "reason": reason})
        );
        assert_eq!(
            HookReply::DenyTool {
                reason: reason.clone()
            }
            .to_json()
            .unwrap(),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}})
        );
        let context = HookReply::AddContext {
            event: HookName::SessionStart,
            context: "c".to_owned(),
        };
        assert_eq!(
            context.to_json().unwrap(),
            json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "c"}})
        );
        assert_eq!(
            HookReply::AllowPermission.to_json().unwrap(),
            json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}})
        );
    }

    /// Pieces of a payload, of the right kinds and of wrong ones.
    fn fields() -> impl Strategy<Value = serde_json::Map<String, Value>> {
        let names = [
            "session_id",
            "transcript_path",
            "cwd",
            "prompt_id",
            "permission_mode",
            "source",
            "prompt",
            "tool_name",
            "tool_input",
            "tool_use_id",
            "tool_response",
            "message",
            "notification_type",
            "stop_hook_active",
            "last_assistant_message",
            "reason",
            "hook_event_name",
        ];
        let name = prop_oneof![
            4 => prop::sample::select(names.map(str::to_owned).to_vec()),
            1 => any::<String>(),
        ];
        let value = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            prop::sample::select(HookName::ALL.to_vec()).prop_map(|hook| hook.as_str().into()),
            prop::collection::vec(any::<String>(), 0..3).prop_map(Value::from),
            any::<String>().prop_map(|text| json!({"command": text})),
        ];
        prop::collection::vec((name, value), 0..12).prop_map(|fields| fields.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = Payload::parse(&bytes);
        }

        #[test]
        fn any_fields_are_read_or_refused(fields in fields()) {
            let _ = Payload::parse(Value::Object(fields).to_string().as_bytes());
        }

        /// The proof of an arrival is in the prompt: not a byte of it may change, whatever else there is.
        #[test]
        fn a_prompt_is_read_as_it_was_typed(prompt: String, session: String, mut more in fields()) {
            for known in ["transcript_path", "cwd", "prompt_id", "permission_mode"] {
                more.remove(known);
            }
            more.insert("session_id".to_owned(), session.clone().into());
            more.insert("hook_event_name".to_owned(), "UserPromptSubmit".into());
            more.insert("prompt".to_owned(), prompt.clone().into());
            let payload = Payload::parse(Value::Object(more).to_string().as_bytes()).unwrap();
            prop_assert_eq!(payload.session_id, session);
            prop_assert_eq!(payload.event, Event::UserPromptSubmit { prompt });
        }

        #[test]
        fn an_event_of_a_later_release_is_passed_over(name in "[A-Za-z]{1,20}") {
            prop_assume!(HookName::parse(&name).is_none());
            let text = json!({"session_id": "s", "hook_event_name": name}).to_string();
            prop_assert_eq!(Payload::parse(text.as_bytes()).unwrap().event, Event::Unknown);
        }

        #[test]
        fn an_answer_says_its_text_whole(text: String) {
            for answer in [
                HookReply::KeepWorking { reason: text.clone() },
                HookReply::DenyTool { reason: text.clone() },
                HookReply::DenyPermission { reason: text.clone() },
                HookReply::AddContext { event: HookName::SessionStart, context: text.clone() },
            ] {
                let printed = answer.to_json().unwrap().to_string();
                prop_assert!(!printed.contains('\n'), "Claude Code reads one line");
                let read: Value = serde_json::from_str(&printed).unwrap();
                let whole = json!(text).to_string();
                prop_assert!(read.to_string().contains(&whole));
            }
        }
    }
}
