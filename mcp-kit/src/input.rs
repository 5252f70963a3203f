//! Standard input with oversized and malformed JSON-RPC requests replaced by requests that get an error response.
//!
//! rmcp silently drops lines over 16 MiB and invalid JSON, such as the lone surrogates that JavaScript clients send. The
//! client would wait for a response forever. The price is a second JSON parse of each line.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

use super::request_id::IdSearch;

/// The method that replaces a request that can't be parsed; its parameter `reason` has the error.
pub(super) const UNREADABLE: &str = "codex/unreadable";
/// The limit of rmcp, including the line break.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Passes whole lines on.
#[derive(Debug)]
pub(super) struct Input<R> {
    source: BufReader<R>,
    line: Vec<u8>,
    /// How many bytes of a complete line have been passed on; `None` while it is still being read.
    passed: Option<usize>,
    /// Searches a line that is too long to be buffered for its id.
    too_long: Option<IdSearch>,
    /// Set by the first valid message: before it there is no MCP session to respond in.
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

    /// Validates a complete line and replaces it if necessary.
    fn complete(&mut self) {
        self.passed = Some(0);
        if let Some(search) = self.too_long.take() {
            tracing::warn!("a message over 16 MiB was refused");
            self.replace_with_error(search.id(), "the message is longer than 16 MiB");
            return;
        }
        match serde_json::from_slice::<Value>(&self.line) {
            Ok(_) => self.begun = true,
            Err(error) => {
                let mut search = IdSearch::default();
                search.read(&self.line);
                if let Some(id) = search.id() {
                    self.replace_with_error(
                        Some(id),
                        &format!("the message is not valid JSON: {error}"),
                    );
                }
            }
        }
    }

    fn replace_with_error(&mut self, id: Option<Value>, reason: &str) {
        self.line.clear();
        if let (Some(id), true) = (id, self.begun) {
            // Required in each request since 2026-07-28; ignored by older versions.
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

/// Buffers part of a line or, once the line is too long, only searches it for the id.
fn append(line: &mut Vec<u8>, too_long: &mut Option<IdSearch>, bytes: &[u8]) {
    if let Some(search) = too_long {
        search.read(bytes);
    } else if line.len() + bytes.len() > MAX_LINE_BYTES {
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
                // EOF. A line without a line break is not a message.
                return Poll::Ready(Ok(()));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(available.len(), |end| end + 1);
            append(&mut this.line, &mut this.too_long, &available[..length]);
            Pin::new(&mut this.source).consume(length);
            if end.is_some() {
                this.complete();
            }
        }
    }
}
