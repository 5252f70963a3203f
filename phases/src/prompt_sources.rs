//! Prompt sources: what puts words into a session's prompt that no person types, and how it is told apart.
//!
//! A scheduled prompt reaches the `UserPromptSubmit` hook like a typed one. Four signs tell it: the tools that
//! schedule are refused while a phase is active; Claude Code lists standing prompts at the end of each turn
//! (`session_crons`) and in `.claude/scheduled_tasks.json`; it records a fired one in the transcript before it
//! calls the hook (observed in 2.1.325); and it may name the source in the hook's payload.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Phases;
use super::human_check::not_a_person;
use shared::error::{Code, Error};
use shared::file;
use shared::model::Timestamp;

/// Claude Code's prompts on a schedule, below a project's folder.
pub(super) const SCHEDULE: &str = ".claude/scheduled_tasks.json";
const MAX_SCHEDULE_BYTES: u64 = 1 << 20;
/// The end of the transcript that is searched for a fired prompt.
const TAIL_BYTES: u64 = 64 << 10;
/// A prompt that was fired longer ago than this is another one.
const FIRED_SECONDS: f64 = 60.0;

/// Tools of Claude Code that prompt a session later, or from elsewhere.
const SCHEDULERS: [&str; 3] = ["CronCreate", "ScheduleWakeup", "RemoteTrigger"];
/// Tools that run programs, with changes that are known only afterwards.
const RUNNERS: [&str; 4] = ["Bash", "PowerShell", "REPL", "Monitor"];
/// Tools whose input may name a command: they edit or read files, or show text to the person or a subagent.
const NO_PROMPTS: [&str; 20] = [
    "Agent",
    "AskUserQuestion",
    "CronDelete",
    "CronList",
    "Edit",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LSP",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "SendUserMessage",
    "Task",
    "TaskCreate",
    "TaskUpdate",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// A prompt as a hook got it.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Who made it, if Claude Code says so.
    pub source: Option<&'a str>,
    /// The subagent that it is for.
    pub agent: Option<&'a str>,
    pub transcript: &'a Path,
    pub directory: &'a Path,
}

/// Returns whether a tool runs programs.
pub fn runs_programs(tool: &str) -> bool {
    RUNNERS.contains(&tool) || tool.starts_with("mcp__")
}

/// Returns why a tool is refused because it could put a confirmation into the prompt.
pub(super) fn refusal(tool: &str, input: &Value) -> Option<&'static str> {
    if SCHEDULERS.contains(&tool) {
        return Some("a scheduled prompt would look like one that the person typed");
    }
    if RUNNERS.contains(&tool) || NO_PROMPTS.contains(&tool) {
        return None;
    }
    let mut texts = Vec::new();
    strings(input, &mut texts);
    // The Skill tool names a command without its slash.
    let called = format!("/{}", texts.join(" "));
    (tool == "Skill" && commands(&called) || texts.iter().any(|text| commands(text)))
        .then_some("only a person can say `/tdd`, and this text could become a prompt")
}

/// Returns all strings of a tool's input.
pub(super) fn strings<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(values) => {
            for value in values {
                strings(value, into);
            }
        }
        Value::Object(fields) => {
            for value in fields.values() {
                strings(value, into);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns whether a text holds one of the commands that only a person may say, whatever stands between its letters.
fn commands(text: &str) -> bool {
    let plain: String = text
        .chars()
        .filter(|character| character.is_alphanumeric() || *character == '/')
        .flat_map(char::to_lowercase)
        .collect();
    // The plugin's command is `/codex:tdd`.
    ["confirm", "start", "accept", "stop", "overrule"]
        .iter()
        .any(|verb| {
            ["/tdd", "/codextdd"]
                .iter()
                .any(|name| plain.contains(&format!("{name}{verb}")))
        })
}

/// Requires that a prompt was not made by a program, as far as Claude Code tells.
pub fn require_typed(phases: &Phases, session: &str, said: Said<'_>) -> Result<(), Error> {
    if said.agent.is_some() {
        return Err(not_a_person("this prompt is a subagent's"));
    }
    if said
        .source
        .is_some_and(|source| !["user", "sdk"].contains(&source))
    {
        return Err(not_a_person("Claude Code says that nobody typed this"));
    }
    if fired(said.transcript) {
        return Err(not_a_person("this prompt was scheduled"));
    }
    if let Some(place) = standing(phases, session, said.directory) {
        return Err(Error::new(
            Code::NotAvailable,
            format!("a scheduled prompt says `/tdd` ({place}), so a typed one can't be told from it; nothing was changed"),
        )
        .hint("Have it deleted (CronList, CronDelete, or edit the file), let one turn end, and type this again."));
    }
    Ok(())
}

/// Records the scheduled prompts of a session that stand at the end of a turn. Returns what the agent has to delete.
pub fn note_scheduled(
    phases: &Phases,
    session: &str,
    directory: &Path,
    crons: &[Value],
) -> Option<String> {
    let note = note_of(phases, session);
    let mut texts = Vec::new();
    for cron in crons {
        strings(cron, &mut texts);
    }
    let found = texts.iter().any(|text| commands(text));
    if found || in_files(directory).is_some() {
        let folder = note.parent().map(file::make_private_folder);
        // Without the note, the transcript still tells a fired prompt.
        let _ = folder.map(|_| std::fs::write(&note, texts.join("\n")));
        return Some("a scheduled prompt says `/tdd`, which only the person may type: delete it (CronList, CronDelete; or its entry in .claude/scheduled_tasks.json)".to_owned());
    }
    let _ = std::fs::remove_file(&note);
    None
}

/// Returns where a scheduled prompt stands that would say a command.
pub(super) fn standing(phases: &Phases, session: &str, directory: &Path) -> Option<String> {
    if note_of(phases, session).exists() {
        return Some("found at the end of the last turn".to_owned());
    }
    in_files(directory).map(|path| path.display().to_string())
}

fn note_of(phases: &Phases, session: &str) -> PathBuf {
    let name: String = session
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || *character == '-')
        .collect();
    phases.state_dir.join("scheduled").join(name)
}

fn in_files(directory: &Path) -> Option<PathBuf> {
    directory
        .ancestors()
        .map(|folder| folder.join(SCHEDULE))
        .find(|path| file::read(path, MAX_SCHEDULE_BYTES).is_ok_and(|bytes| says_a_command(&bytes)))
}

/// Returns whether a file of scheduled prompts has one that says a command. What is no JSON is read as text.
pub(super) fn says_a_command(bytes: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return commands(&String::from_utf8_lossy(bytes));
    };
    let mut texts = Vec::new();
    strings(&value, &mut texts);
    texts.iter().any(|text| commands(text))
}

/// Returns whether the transcript ends with a scheduled prompt that says a command.
fn fired(transcript: &Path) -> bool {
    let Some(text) = tail(transcript) else {
        return false;
    };
    text.lines()
        .rev()
        .filter(|line| line.contains("scheduled_task_fire"))
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .any(|line| {
            let time = line["timestamp"]
                .as_str()
                .and_then(|time| time.parse().ok());
            line["subtype"] == "scheduled_task_fire"
                && line["prompt"].as_str().is_some_and(commands)
                && time.is_none_or(|time: Timestamp| time.seconds_ago() < FIRED_SECONDS)
        })
}

fn tail(path: &Path) -> Option<String> {
    // A pipe in its place would wait for ever.
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_that_could_prompt_are_refused() {
        let confirm = "/tdd confirm tests";
        for (tool, input) in [
            ("CronCreate", json!({ "prompt": "check the build" })),
            ("ScheduleWakeup", json!({ "prompt": "go on" })),
            ("RemoteTrigger", json!({})),
            ("SendMessage", json!({ "to": "x", "message": confirm })),
            ("Skill", json!({ "skill": "tdd", "args": "confirm tests" })),
            (
                "Skill",
                json!({ "skill": "codex:tdd", "args": "confirm tests" }),
            ),
            ("SendMessage", json!({ "message": "/codex:tdd accept" })),
            ("mcp__chat__say", json!({ "parts": [{ "text": confirm }] })),
            ("Unheard", json!({ "text": "/T\u{200b}dd  Con-firm tests" })),
        ] {
            assert!(refusal(tool, &input).is_some(), "{tool} {input}");
        }
        for (tool, input) in [
            ("AskUserQuestion", json!({ "question": confirm })),
            ("Write", json!({ "content": confirm })),
            (
                "SendMessage",
                json!({ "message": "see docs/tdd-phases.md" }),
            ),
            ("Skill", json!({ "skill": "tdd", "args": "status" })),
        ] {
            assert_eq!(refusal(tool, &input), None, "{tool} {input}");
        }
    }
}
