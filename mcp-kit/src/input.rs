//! Standard input, with requests that rmcp would drop without a word turned into ones that get an answer.
//!
//! rmcp drops lines over 16 MiB and all that is not valid JSON, such as half of a surrogate pair, which JavaScript clients
//! send as it is. Whoever sent such a request would wait for its answer forever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

use super::request_id::IdSearch;

/// The method that stands in for a request that can't be read; its parameter `reason` says why.
pub(super) const UNREADABLE: &str = "codex/unreadable";
/// What rmcp takes, with the line break.
const LONGEST_LINE: usize = 16 << 20;

/// Passes whole lines on.
#[derive(Debug)]
pub(super) struct Input<R> {
    source: BufReader<R>,
    line: Vec<u8>,
    /// How much of a complete line has been passed on; none while it is still being read.
    passed: Option<usize>,
    /// Reads a line that is too long to be kept.
    too_long: Option<IdSearch>,
    /// Before the first message that can be read there is no session in which to answer.
    begun: bool,
}

impl<R: AsyncRead> Input<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source: BufReader::new(source),
            line: Vec::new(),
            passed: None,
            too_long: None,
            begun: false,
        }
    }

    /// Decides what to pass on of a line that has been read to its end.
    fn complete(&mut self) {
        self.passed = Some(0);
        if let Some(search) = self.too_long.take() {
            tracing::warn!("a message over 16 MiB was refused");
            self.stand_in(search.id(), "the message is longer than 16 MiB");
            return;
        }
        match serde_json::from_slice::<Value>(&self.line) {
            Ok(_) => self.begun = true,
            Err(error) => {
                let mut search = IdSearch::default();
                search.read(&self.line);
                if let Some(id) = search.id() {
                    self.stand_in(Some(id), &format!("the message can't be read: {error}"));
                }
            }
        }
    }

    fn stand_in(&mut self, id: Option<Value>, reason: &str) {
        self.line.clear();
        if let (Some(id), true) = (id, self.begun) {
            // What the modern era wants in each request; the older one passes it over.
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let params = json!({"reason": reason, "_meta": meta});
            let request =
                json!({"jsonrpc": "2.0", "id": id, "method": UNREADABLE, "params": params});
            self.line = format!("{request}\n").into_bytes();
        }
    }
}

/// Keeps what was read of a line, or, once it is too long, only looks for its id.
fn keep(line: &mut Vec<u8>, too_long: &mut Option<IdSearch>, bytes: &[u8]) {
    if let Some(search) = too_long {
        search.read(bytes);
    } else if line.len() + bytes.len() > LONGEST_LINE {
        let search = too_long.insert(IdSearch::default());
        search.read(&std::mem::take(line));
        search.read(bytes);
    } else {
        line.extend_from_slice(bytes);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if let Some(passed) = this.passed {
                let rest = &this.line[passed..];
                if !rest.is_empty() {
                    let length = rest.len().min(buffer.remaining());
                    buffer.put_slice(&rest[..length]);
                    this.passed = Some(passed + length);
                    return Poll::Ready(Ok(()));
                }
                this.line.clear();
                this.passed = None;
            }
            let available = ready!(Pin::new(&mut this.source).poll_fill_buf(context))?;
            if available.is_empty() {
                // The end. A line without its break is no message.
                return Poll::Ready(Ok(()));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(available.len(), |end| end + 1);
            keep(&mut this.line, &mut this.too_long, &available[..length]);
            Pin::new(&mut this.source).consume(length);
            if end.is_some() {
                this.complete();
            }
        }
    }
}
