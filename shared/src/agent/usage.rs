//! Token usage from transcripts: what each answer of a model took, counted once.
//!
//! Seen in 2.1.325: an `assistant` record for each block of an answer, all with the answer's `message.id` and its `usage`, of which
//! the last has the final count of output. Subagents write files of their own, `<session>/subagents/**/agent-*.jsonl`; older
//! releases wrote them into the session's (`isSidechain`). A conversation that was branched off begins with copies (`forkedFrom`).

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::error::AgentError;
use super::transcript_ends::End;
use super::transcript_lines::TranscriptLines;
use crate::model::hidden;
use crate::model::tokens::{LONG_PROMPT_TOKENS, Tokens};
use crate::model::{ContextSize, ModelUsage};

/// Records of one answer stand together, apart from results of tools between them.
const MAX_RECENT: usize = 16;
/// Of ids and names of models.
const MAX_NAME_CHARS: usize = 100;
/// More than any answer has: a hostile count does not spoil the sum.
const MAX_TOKENS: u64 = 1_000_000_000;
/// More models than anybody uses in one conversation; what names even more is no transcript of Claude Code's.
const MAX_MODELS: usize = 40;
/// How much of a file is read at a time.
const MAX_READ_BYTES: u64 = 32 << 20;
/// How deep folders of subagents are looked into, and how many files count.
const MAX_DEPTH: usize = 3;
const MAX_SUBAGENTS: usize = 2_000;
const MAX_SESSIONS: usize = 200;

/// Up to where a transcript was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageCursor {
    end: End,
    /// The last answers, of which more records may follow.
    recent: VecDeque<Counted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Counted {
    id: String,
    tokens: Tokens,
}

/// What a transcript has gained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRead {
    pub cursor: UsageCursor,
    /// The file is another one now and was counted from its beginning: what was counted before is in it, or gone.
    pub anew: bool,
    pub added: Vec<ModelUsage>,
    /// The conversation at the last answer, and when that was.
    pub context: Option<(ContextSize, String)>,
    /// There is more to read.
    pub more: bool,
}

/// The files of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles {
    pub transcript: PathBuf,
    pub subagents: Vec<PathBuf>,
}

/// Returns a session's transcript and those of its subagents.
pub fn session_files(transcript: &Path) -> SessionFiles {
    let mut subagents = Vec::new();
    let folder = transcript.with_extension("").join("subagents");
    collect_subagents(&folder, MAX_DEPTH, &mut subagents);
    SessionFiles {
        transcript: transcript.to_owned(),
        subagents,
    }
}

/// Returns the most recent sessions whose transcripts stand beside one, and that one, first.
pub fn session_files_beside(transcript: &Path) -> Vec<SessionFiles> {
    let mut paths = super::transcript::all_transcripts_beside(transcript);
    paths.insert(0, transcript.to_owned());
    paths.truncate(MAX_SESSIONS);
    paths.iter().map(|path| session_files(path)).collect()
}

fn collect_subagents(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && depth > 1 {
            collect_subagents(&path, depth - 1, found);
        } else if kind.is_file()
            && path.extension().is_some_and(|end| end == "jsonl")
            && found.len() < MAX_SUBAGENTS
        {
            found.push(path);
        }
    }
}

/// Counts what a transcript has gained since; none if nothing.
pub fn read_usage(path: &Path, cursor: &UsageCursor) -> Result<Option<UsageRead>, AgentError> {
    read(path, cursor).map_err(|source| AgentError::Read {
        path: path.to_owned(),
        source,
    })
}

fn read(path: &Path, cursor: &UsageCursor) -> io::Result<Option<UsageRead>> {
    let Some(mut lines) = TranscriptLines::open(path, &cursor.end)? else {
        return Ok(None);
    };
    let anew = lines.are_read_again();
    let mut count = Count {
        recent: if anew {
            VecDeque::new()
        } else {
            cursor.recent.clone()
        },
        added: Vec::new(),
        context: None,
    };
    let mut more = false;
    while let Some(line) = lines.next()? {
        count.take(line);
        if lines.bytes_read() >= MAX_READ_BYTES {
            more = true;
            break;
        }
    }
    if lines.bytes_read() == 0 && !anew {
        return Ok(None);
    }
    Ok(Some(UsageRead {
        cursor: UsageCursor {
            end: lines.into_end(),
            recent: count.recent,
        },
        anew,
        added: count.added,
        context: count.context,
        more,
    }))
}

struct Count {
    recent: VecDeque<Counted>,
    added: Vec<ModelUsage>,
    context: Option<(ContextSize, String)>,
}

impl Count {
    fn take(&mut self, line: &[u8]) {
        // Most lines are results of tools, some of them large.
        if memmem::find(line, b"\"usage\"").is_none() {
            return;
        }
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else {
            return;
        };
        let (Some(message), None) = (record.message, record.forked_from) else {
            return;
        };
        let (Some(model), Some(usage)) = (message.model, message.usage) else {
            return;
        };
        // Claude Code's own words, such as an error of the API.
        if record.kind != "assistant" || model == "<synthetic>" {
            return;
        }
        let (model, tokens) = (name(&model), usage.tokens());
        let id = message.id.or(record.request_id).or(record.uuid);
        let added = match id {
            Some(id) => self.count_once(&name(&id), tokens),
            None => tokens,
        };
        self.add(&model, tokens.prompt() > LONG_PROMPT_TOKENS, added);
        if !record.is_sidechain && tokens.prompt() > 0 {
            let size = ContextSize {
                model,
                tokens: tokens.prompt().saturating_add(tokens.output),
            };
            self.context = Some((size, name(&record.timestamp.unwrap_or_default())));
        }
    }

    /// Returns what an answer took that was not counted yet.
    fn count_once(&mut self, id: &str, tokens: Tokens) -> Tokens {
        if let Some(known) = self.recent.iter_mut().find(|known| known.id == id) {
            let new = tokens.zip(known.tokens, u64::saturating_sub);
            known.tokens += new;
            return new;
        }
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        let id = id.to_owned();
        self.recent.push_back(Counted { id, tokens });
        tokens
    }

    fn add(&mut self, model: &str, long_prompt: bool, tokens: Tokens) {
        if tokens.is_zero() {
            return;
        }
        let mut known = self.added.iter_mut();
        if let Some(known) =
            known.find(|known| known.model == model && known.long_prompt == long_prompt)
        {
            known.tokens += tokens;
        } else if self.added.len() < MAX_MODELS {
            self.added.push(ModelUsage {
                model: model.to_owned(),
                long_prompt,
                tokens,
            });
        }
    }
}

/// A name as it may be stored.
fn name(text: &str) -> String {
    hidden::drop_hidden_in_line(text)
        .chars()
        .take(MAX_NAME_CHARS)
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(borrow)]
    request_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    forked_from: Option<IgnoredAny>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    usage: Option<ApiUsage>,
}

/// `usage` of the Messages API.
#[derive(Deserialize)]
struct ApiUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
}

#[derive(Deserialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
}

impl ApiUsage {
    fn tokens(&self) -> Tokens {
        let count = |tokens: Option<u64>| tokens.unwrap_or_default().min(MAX_TOKENS);
        let written = count(self.cache_creation_input_tokens);
        let for_an_hour = self.cache_creation.as_ref();
        let for_an_hour = count(for_an_hour.and_then(|cache| cache.ephemeral_1h_input_tokens));
        let cache_write_1h = for_an_hour.min(written);
        Tokens {
            input: count(self.input_tokens),
            output: count(self.output_tokens),
            cache_write_5m: written - cache_write_1h,
            cache_write_1h,
            cache_read: count(self.cache_read_input_tokens),
        }
    }
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
