//! Session state of Claude Code (idle, busy, waiting), from the session file that it writes.
//!
//! `<config>/sessions/<pid>.json` is undocumented (seen in 2.1.197 and 2.1.325). It stays behind with
//! a stale status after `kill -9`, and a resumed session gets a second file with the same session id;
//! so only files of living processes count.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde::Deserialize;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentState {
    /// At its prompt, ready for a message.
    Idle,
    /// In a turn.
    Busy,
    /// Something is open that a person must answer, or close. Enter would answer it.
    Waiting { on: Waiting },
    /// No living process has this session.
    Gone,
    /// It lives, but doesn't say what it does: still starting, or a release that says it otherwise.
    Unknown,
}

/// What a waiting session has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    Permission,
    /// A menu or a picker (`/model`, Rewind).
    Dialog,
    /// A question of the model, or of an MCP server.
    Input,
    /// A person has moved the conversation to the background, where it is another session: the terminal shows whatever they look at.
    Background,
    Other(String),
}

impl Waiting {
    fn parse(text: &str) -> Self {
        match text {
            "permission prompt" => Self::Permission,
            "dialog open" => Self::Dialog,
            "input needed" => Self::Input,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the words in which to tell a person.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Permission => "permission prompt",
            Self::Dialog => "dialog open",
            Self::Input => "input needed",
            Self::Background => "conversation in the background",
            Self::Other(text) => text,
        }
    }
}

/// A session whose process lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub pid: i32,
    pub session_id: Uuid,
    pub cwd: String,
    pub version: Option<String>,
    pub state: AgentState,
    /// Changes whenever the state does.
    pub state_mark: Option<String>,
}

/// Whom to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Process(i32),
    Session(Uuid),
}

/// The part of a session file that is used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    pid: i32,
    session_id: Uuid,
    #[serde(default)]
    cwd: String,
    version: Option<String>,
    status: Option<String>,
    waiting_for: Option<String>,
    /// When the status changed (seen in 2.1.325), of whatever type.
    #[serde(default)]
    status_updated_at: serde_json::Value,
    /// When the process started, in clock ticks since boot (Linux). Tells a recycled pid.
    proc_start: Option<String>,
    /// Says in which job the conversation goes on. The status is then that of nobody.
    parked_job_id: Option<String>,
}

/// Returns the directory in which Claude Code keeps sessions and transcripts.
pub fn config_directory(home: &Path, configured: Option<&Path>) -> PathBuf {
    configured.map_or_else(|| home.join(".claude"), Path::to_owned)
}

/// Returns what a session is doing, in any process that has it open. `config` is Claude Code's directory (`~/.claude`).
pub fn state(config: &Path, session: Uuid) -> AgentState {
    find_session(config, Wanted::Session(session)).map_or(AgentState::Gone, |found| found.state)
}

/// Finds the living session of a process or an id. Reads one directory and the small files in it.
pub fn find_session(config: &Path, wanted: Wanted) -> Option<Session> {
    let entries = std::fs::read_dir(config.join("sessions")).ok()?;
    entries
        .filter_map(Result::ok)
        .filter(|entry| match wanted {
            Wanted::Process(pid) => entry.file_name() == format!("{pid}.json").as_str(),
            Wanted::Session(_) => true,
        })
        .filter_map(|entry| read(&entry.path()))
        .filter(|record| match wanted {
            Wanted::Process(pid) => record.pid == pid,
            Wanted::Session(id) => record.session_id == id,
        })
        .find(is_alive)
        .map(session)
}

/// Returns all living sessions. Reads one directory and the small files in it, once.
pub fn sessions(config: &Path) -> Vec<Session> {
    let Ok(entries) = std::fs::read_dir(config.join("sessions")) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| read(&entry.path()))
        .filter(is_alive)
        .map(session)
        .collect()
}

fn session(record: Record) -> Session {
    Session {
        state: state_of(&record),
        state_mark: (!record.status_updated_at.is_null())
            .then(|| record.status_updated_at.to_string()),
        pid: record.pid,
        session_id: record.session_id,
        cwd: record.cwd,
        version: record.version,
    }
}

/// Reads one record; a file that is being replaced or has another shape is passed over.
fn read(path: &Path) -> Option<Record> {
    if path.extension()? != "json" {
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn state_of(record: &Record) -> AgentState {
    if record.parked_job_id.is_some() {
        return AgentState::Waiting {
            on: Waiting::Background,
        };
    }
    match record.status.as_deref() {
        Some("idle") => AgentState::Idle,
        Some("busy") => AgentState::Busy,
        Some("waiting") => AgentState::Waiting {
            on: Waiting::parse(record.waiting_for.as_deref().unwrap_or_default()),
        },
        Some(_) | None => AgentState::Unknown,
    }
}

fn is_alive(record: &Record) -> bool {
    let Some(pid) = Pid::from_raw(record.pid) else {
        return false;
    };
    match (&record.proc_start, start_of(record.pid)) {
        (Some(recorded), Start::At(actual)) => *recorded == actual,
        (_, Start::Gone) => false,
        // Without both, the pid is all there is. EPERM means that it lives as another user.
        (None, Start::At(_)) | (_, Start::NotTold) => {
            !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
        }
    }
}

enum Start {
    At(String),
    Gone,
    /// There is no `/proc` (macOS).
    NotTold,
}

/// Reads when a process started: the 22nd field of `/proc/<pid>/stat`. A zombie counts as gone.
fn start_of(pid: i32) -> Start {
    if !Path::new("/proc/self/stat").exists() {
        return Start::NotTold;
    }
    let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else {
        return Start::Gone;
    };
    // The second field is the name in parentheses, which may itself contain blanks and parentheses.
    let stat = String::from_utf8_lossy(&stat);
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return Start::Gone;
    };
    let mut fields = fields.split_ascii_whitespace();
    match (fields.next(), fields.nth(18)) {
        (Some("Z" | "X"), _) | (_, None) => Start::Gone,
        (_, Some(ticks)) => Start::At(ticks.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::state_among;
    use crate::model::ProcessMark;
    use crate::process;
    use std::process::{Child, Command, Stdio};

    struct Sleeper(Child);

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    impl Sleeper {
        fn start() -> Self {
            Self(
                Command::new("sleep")
                    .arg("60")
                    .stdin(Stdio::null())
                    .spawn()
                    .unwrap(),
            )
        }

        fn pid(&self) -> i32 {
            self.0.id().try_into().unwrap()
        }
    }

    fn started(pid: i32) -> String {
        match start_of(pid) {
            Start::At(start) => start,
            Start::Gone | Start::NotTold => panic!("{pid} has no start"),
        }
    }

    fn write(config: &Path, pid: i32, session: Uuid, start: &str, rest: &str) {
        let sessions = config.join("sessions");
        std::fs::create_dir_all(&sessions).unwrap();
        let text = format!(
            r#"{{"pid":{pid},"sessionId":"{session}","cwd":"/w","procStart":"{start}","version":"2.1.325","new":[1]{rest}}}"#
        );
        std::fs::write(sessions.join(format!("{pid}.json")), text).unwrap();
    }

    #[test]
    fn a_living_session_tells_its_state() {
        let (config, sleeper, id) = (
            tempfile::tempdir().unwrap(),
            Sleeper::start(),
            Uuid::new_v4(),
        );
        let start = started(sleeper.pid());
        for (rest, expected) in [
            (r#","status":"idle""#, AgentState::Idle),
            (r#","status":"busy""#, AgentState::Busy),
            (
                r#","status":"waiting","waitingFor":"permission prompt""#,
                AgentState::Waiting {
                    on: Waiting::Permission,
                },
            ),
            (
                r#","status":"waiting","waitingFor":"goal proposal""#,
                AgentState::Waiting {
                    on: Waiting::Other("goal proposal".to_owned()),
                },
            ),
            (
                r#","status":"idle","parkedJobId":"34f56195""#,
                AgentState::Waiting {
                    on: Waiting::Background,
                },
            ),
            (r#","status":"dreaming""#, AgentState::Unknown),
            ("", AgentState::Unknown),
        ] {
            write(config.path(), sleeper.pid(), id, &start, rest);
            assert_eq!(state(config.path(), id), expected);
        }
        let found = find_session(config.path(), Wanted::Process(sleeper.pid())).unwrap();
        assert_eq!((found.session_id, found.cwd.as_str()), (id, "/w"));
    }

    #[test]
    fn a_dead_process_and_a_recycled_pid_are_gone() {
        let (config, id) = (tempfile::tempdir().unwrap(), Uuid::new_v4());
        assert_eq!(state(config.path(), id), AgentState::Gone);
        let sleeper = Sleeper::start();
        let (pid, start) = (sleeper.pid(), started(sleeper.pid()));
        write(config.path(), pid, id, "1", r#","status":"idle""#);
        assert_eq!(state(config.path(), id), AgentState::Gone);
        write(config.path(), pid, id, &start, r#","status":"idle""#);
        assert_eq!(state(config.path(), id), AgentState::Idle);
        let mut sleeper = sleeper;
        sleeper.0.kill().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while state(config.path(), id) != AgentState::Gone {
            assert!(
                std::time::Instant::now() < deadline,
                "a zombie that nobody waits for is gone"
            );
            std::thread::yield_now();
        }
        drop(sleeper);
        assert_eq!(state(config.path(), id), AgentState::Gone);
    }

    #[test]
    fn only_the_agents_own_process_counts() {
        let (config, id) = (tempfile::tempdir().unwrap(), Uuid::new_v4());
        let sleepers = [(); 3].map(|()| Sleeper::start());
        let marks = sleepers
            .each_ref()
            .map(|one| process::mark(one.0.id()).unwrap());
        let among = |session: Uuid, agent: Option<&ProcessMark>| {
            state_among(&sessions(config.path()), session, agent)
        };
        for own in &sleepers {
            for sleeper in &sleepers {
                let is_own = sleeper.pid() == own.pid();
                let status = if is_own { "busy" } else { "idle" };
                let rest = format!(r#","status":"{status}""#);
                let start = started(sleeper.pid());
                write(config.path(), sleeper.pid(), id, &start, &rest);
            }
            let agent = process::mark(own.0.id());
            assert_eq!(among(id, agent.as_ref()), AgentState::Busy);
        }
        assert_eq!(among(Uuid::new_v4(), Some(&marks[0])), AgentState::Gone);
        assert_eq!(among(id, None), AgentState::Unknown, "nobody is guessed at");
        // A person has resumed the session of an agent that has another now, or is dead.
        std::fs::remove_file(
            config
                .path()
                .join(format!("sessions/{}.json", marks[0].pid)),
        )
        .unwrap();
        assert_eq!(among(id, Some(&marks[0])), AgentState::Gone);
        let [first, second, _others] = sleepers;
        drop(first);
        assert_eq!(among(id, Some(&marks[0])), AgentState::Gone);
        // Not even if it is the only one left.
        std::fs::remove_file(
            config
                .path()
                .join(format!("sessions/{}.json", marks[2].pid)),
        )
        .unwrap();
        assert_eq!(among(id, Some(&marks[0])), AgentState::Gone);
        assert_eq!(among(id, Some(&marks[1])), AgentState::Idle);
        // Below the process that was started for the agent, as Claude Code is in a terminal of ours.
        let me = process::this_process();
        assert_eq!(among(id, Some(&me)), AgentState::Idle);
        drop(second);
    }

    #[test]
    fn a_stale_file_does_not_hide_the_resumed_session() {
        let (config, id) = (tempfile::tempdir().unwrap(), Uuid::new_v4());
        let (dead, alive) = (Sleeper::start(), Sleeper::start());
        write(
            config.path(),
            dead.pid(),
            id,
            &started(dead.pid()),
            r#","status":"busy""#,
        );
        write(
            config.path(),
            alive.pid(),
            id,
            &started(alive.pid()),
            r#","status":"idle""#,
        );
        drop(dead);
        std::fs::write(config.path().join("sessions/1.json"), "{half a fi").unwrap();
        assert_eq!(state(config.path(), id), AgentState::Idle);
    }
}
