//! The little of HTTP/1.1 that one well-behaved loopback client needs.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Requests carry the whole conversation; more than this is a broken client.
const MAX_BODY: usize = 64 * 1024 * 1024;

pub struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub body: Vec<u8>,
}

pub struct Connection {
    stream: BufReader<TcpStream>,
    head_only: bool,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream: BufReader::new(stream),
            head_only: false,
        }
    }

    /// Reads the next request; `None` when the client has closed the connection.
    pub async fn next_request(&mut self) -> io::Result<Option<Request>> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let mut words = line.split_ascii_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let (method, path) = (
            method.to_owned(),
            target.split('?').next().unwrap_or(target).to_owned(),
        );
        let mut length = Some(0);
        loop {
            let mut header = String::new();
            if self.stream.read_line(&mut header).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let header = header.trim_end();
            if header.is_empty() {
                break;
            }
            let Some((name, value)) = header.split_once(':') else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok(),
                "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => length = None,
                "expect" => {
                    let go_on = b"HTTP/1.1 100 Continue\r\n\r\n";
                    self.stream.get_mut().write_all(go_on).await?;
                }
                _ => {}
            }
        }
        self.head_only = method == "HEAD";
        let body = match length {
            Some(length) => self.read_exactly(length).await?,
            None => self.read_chunked().await?,
        };
        Ok(Some(Request { method, path, body }))
    }

    async fn read_exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length > MAX_BODY {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        Ok(body)
    }

    async fn read_chunked(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).await?;
            let size = line.trim().split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(size, 16)
                .map_err(|source| io::Error::new(io::ErrorKind::InvalidData, source))?;
            if body.len().saturating_add(size) > MAX_BODY {
                return Err(io::ErrorKind::InvalidData.into());
            }
            body.extend(self.read_exactly(size).await?);
            let mut end = String::new();
            self.stream.read_line(&mut end).await?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    /// Answers with one JSON document.
    pub async fn json(&mut self, status: u16, body: &Value) -> io::Result<()> {
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.stream.get_mut().write_all(head.as_bytes()).await?;
        if !self.head_only {
            self.stream.get_mut().write_all(body.as_bytes()).await?;
        }
        self.stream.get_mut().flush().await
    }

    /// Begins a stream of server-sent events.
    pub async fn begin_events(&mut self) -> io::Result<()> {
        let head = "HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        self.stream.get_mut().write_all(head.as_bytes()).await
    }

    /// Sends one event, named by its `type`.
    pub async fn event(&mut self, event: &Value) -> io::Result<()> {
        let name = event["type"].as_str().unwrap_or("message");
        let text = format!("event: {name}\ndata: {event}\n\n");
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        self.stream.get_mut().write_all(chunk.as_bytes()).await?;
        self.stream.get_mut().flush().await
    }

    /// Ends the stream; the connection stays usable.
    pub async fn end_events(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(b"0\r\n\r\n").await?;
        self.stream.get_mut().flush().await
    }
}
