//! A running `claude-codex dashboard`, and an HTTP client for it: requests, cookies, CSRF tokens, server-sent events.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::environment::TestEnv;
use crate::waiting::WAIT_TIMEOUT;

/// A running dashboard; it is ended when dropped.
#[derive(Debug)]
pub struct Dashboard {
    pub child: Child,
    pub address: String,
    pub token: String,
    pub url: String,
    /// How long a response may take.
    pub timeout: Duration,
}

/// A whole HTTP response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Returns the JSON of an answer that must be good.
    pub fn good(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.json()
    }

    /// Returns the code of an error.
    pub fn code(&self) -> String {
        let json = self.json();
        json["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Dashboard {
    pub fn start(env: &TestEnv, more: &[&str]) -> Self {
        let words = [&["dashboard", "--port", "0", "--json"], more].concat();
        let mut child = env
            .codex_command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let printed = child.stdout.take().unwrap();
        BufReader::new(printed).read_line(&mut line).unwrap();
        let Ok(said) = serde_json::from_str::<Value>(&line) else {
            let mut problem = String::new();
            child
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut problem)
                .unwrap();
            panic!("it did not begin: {line}{problem}");
        };
        let text = |key: &str| said[key].as_str().unwrap().to_owned();
        Self {
            address: text("address"),
            token: text("token"),
            url: text("url"),
            timeout: WAIT_TIMEOUT,
            child,
        }
    }

    /// Sends exactly these headers and this body.
    pub fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let stream = self.send(method, path, headers, body);
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        let chunked = headers
            .iter()
            .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if chunked { unchunked(&bytes) } else { bytes };
        Response {
            status,
            headers,
            body: String::from_utf8(body).unwrap(),
        }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(self.timeout)).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    pub fn get(&self, path: &str) -> Response {
        self.raw("GET", path, &[("authorization", &self.bearer())], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.post_with(path, body, &[])
    }

    pub fn post_with(&self, path: &str, body: &Value, more: &[(&str, &str)]) -> Response {
        let bearer = self.bearer();
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        headers.extend(more);
        self.raw("POST", path, &headers, &body.to_string())
    }

    pub fn delete(&self, path: &str, more: &[(&str, &str)]) -> Response {
        let bearer = self.bearer();
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(more);
        self.raw("DELETE", path, &headers, "")
    }

    /// Opens a stream of events.
    pub fn stream(&self, path: &str) -> EventStream {
        let stream = self.send("GET", path, &[("authorization", &self.bearer())], "");
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader);
        assert_eq!(status, 200);
        assert!(headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())));
        EventStream { reader }
    }

    /// Takes the cookie as a browser does: the address that was printed, and where that leads.
    pub fn cookie(&self) -> String {
        let path = format!("/?token={}", self.token);
        let answer = self.raw("GET", &path, &[], "");
        assert_eq!(answer.status, 303, "{answer:?}");
        assert_eq!(answer.header("location"), Some("/"));
        let cookie = answer.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    pub fn csrf(&self, cookie: &str) -> String {
        let page = self.raw("GET", "/", &[("cookie", cookie)], "");
        assert_eq!(page.status, 200, "{page:?}");
        let (_, rest) = page.body.split_once("name=\"csrf\" content=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        // Gone already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}"));
    let status = status.parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            return (status, headers);
        }
        let (name, value) = line.split_once(": ").unwrap();
        headers.push((name.to_lowercase(), value.to_owned()));
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.extend(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
    whole
}

/// Server-sent events as they come.
#[derive(Debug)]
pub struct EventStream {
    reader: BufReader<TcpStream>,
}

/// Yields the events' names and data.
impl Iterator for EventStream {
    type Item = (String, Value);

    fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The sizes of chunks stand between, and look like nothing that is looked for.
            let line = line.trim_end();
            if let Some(event) = line.strip_prefix("event: ") {
                event.clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).unwrap()));
            }
        }
    }
}

impl EventStream {
    /// Returns the first event that is wanted, and how long it took to come.
    pub fn until(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(&str, &Value) -> bool,
    ) -> (Value, Duration) {
        let began = Instant::now();
        for (name, data) in self.by_ref() {
            if wanted(&name, &data) {
                return (data, began.elapsed());
            }
            assert!(began.elapsed() < WAIT_TIMEOUT, "waited in vain for {what}");
        }
        panic!("the stream ended before {what}");
    }
}
