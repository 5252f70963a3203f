//! HTTP/1.1 servers on loopback for tests: as much as well-behaved clients need, and connections that can be dropped.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Requests carry the whole conversation; more than this is a broken client.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// One request, read to its end.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    /// As it was sent, without the question mark.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// Returns the header of that name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the parameter of that name in the query, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut parameters = self
            .query
            .split('&')
            .filter_map(|parameter| parameter.split_once('='));
        parameters
            .find(|(other, _)| *other == name)
            .map(|(_, value)| decoded(value))
    }
}

/// Accepts connections and gives each to a task of its own; all of them end with this future.
pub async fn serve<F>(listener: TcpListener, handle: impl Fn(Connection) -> F)
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    // A JoinSet aborts its tasks on drop, so that no answer outlives the server.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        // A client that goes away is no error here.
        connections.spawn(handle(Connection::new(stream)));
        while connections.try_join_next().is_some() {}
    }
}

/// Starts a server on a thread and runtime of its own, for tests that are not async.
pub fn start_on_thread<S, F>(start: impl FnOnce() -> F + Send + 'static) -> io::Result<S>
where
    S: Send + 'static,
    F: Future<Output = io::Result<S>>,
{
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => runtime.block_on(async {
                // Nobody waits any more if the test has ended.
                let _ = sender.send(start().await);
                std::future::pending::<()>().await;
            }),
            Err(error) => drop(sender.send(Err(error))),
        }
    });
    receiver.recv().map_err(io::Error::other)?
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%')
            .then(|| std::str::from_utf8(after.get(..2)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (code, first) {
            (Some(byte), _) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (None, b'+') => {
                bytes.push(b' ');
                rest = after;
            }
            (None, byte) => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A client's connection, which stays open from request to request.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    head_only: bool,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
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
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
        let mut length = Some(0);
        let mut headers = Vec::new();
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
            let name = name.to_ascii_lowercase();
            match name.as_str() {
                "content-length" => length = value.parse().ok(),
                "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => length = None,
                "expect" => {
                    let go_on = b"HTTP/1.1 100 Continue\r\n\r\n";
                    self.stream.get_mut().write_all(go_on).await?;
                }
                _ => {}
            }
            headers.push((name, value.to_owned()));
        }
        self.head_only = method == "HEAD";
        let body = match length {
            Some(length) => self.read_exactly(length).await?,
            None => self.read_chunked().await?,
        };
        Ok(Some(Request {
            method,
            path,
            query,
            headers,
            body,
        }))
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
        let json = [("content-type".to_owned(), "application/json".to_owned())];
        self.respond(status, &json, body.to_string().as_bytes())
            .await
    }

    /// Answers with a body whose length is known.
    pub async fn respond(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        // A 304 has no body, and no length of one that it does not send.
        if status != 304 {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.stream.get_mut().write_all(head.as_bytes()).await?;
        if !self.head_only && status != 304 {
            self.stream.get_mut().write_all(body).await?;
        }
        self.stream.get_mut().flush().await
    }

    /// Begins an answer whose length nobody knows yet.
    pub async fn begin_stream(&mut self, content_type: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 200 Scripted\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        self.stream.get_mut().write_all(head.as_bytes()).await
    }

    /// Sends a piece of it.
    pub async fn chunk(&mut self, text: &str) -> io::Result<()> {
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        self.stream.get_mut().write_all(chunk.as_bytes()).await?;
        self.stream.get_mut().flush().await
    }

    /// Ends it; the connection stays usable.
    pub async fn end_stream(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(b"0\r\n\r\n").await?;
        self.stream.get_mut().flush().await
    }
}
