//! A dashboard that is up, and as much HTTP as it takes to ask it anything.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{PATIENCE, Place};

/// A running `claude-codex dashboard`; it goes with this value.
pub(super) struct Dashboard {
    pub(super) child: Child,
    pub(super) address: String,
    pub(super) token: String,
    pub(super) url: String,
}

/// An answer, whole.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Returns the JSON of an answer that must be good.
    pub(super) fn good(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.json()
    }

    /// Returns the code of an error.
    pub(super) fn code(&self) -> String {
        let json = self.json();
        json["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Dashboard {
    pub(super) fn start(place: &Place, more: &[&str]) -> Self {
        let words = [&["dashboard", "--port", "0", "--json"], more].concat();
        let mut child = place
            .command(&crate::support::program())
            .args(words)
            .stdin(Stdio::null())
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
            child,
        }
    }

    /// Sends exactly these headers and this body.
    pub(super) fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let stream = self.send(method, path, headers, body);
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        let chunked = headers
            .iter()
            .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if chunked { unchunked(&bytes) } else { bytes };
        Answer {
            status,
            headers,
            body: String::from_utf8(body).unwrap(),
        }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
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

    pub(super) fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, &[("authorization", &self.bearer())], "")
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, body, &[])
    }

    pub(super) fn post_with(&self, path: &str, body: &Value, more: &[(&str, &str)]) -> Answer {
        let bearer = self.bearer();
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        headers.extend(more);
        self.raw("POST", path, &headers, &body.to_string())
    }

    pub(super) fn delete(&self, path: &str, more: &[(&str, &str)]) -> Answer {
        let bearer = self.bearer();
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(more);
        self.raw("DELETE", path, &headers, "")
    }

    /// Opens a stream of events.
    pub(super) fn stream(&self, path: &str) -> Stream {
        let stream = self.send("GET", path, &[("authorization", &self.bearer())], "");
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader);
        assert_eq!(status, 200);
        assert!(headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())));
        Stream { reader }
    }

    /// Takes the cookie as a browser does: the address that was printed, and where that leads.
    pub(super) fn cookie(&self) -> String {
        let path = format!("/?token={}", self.token);
        let answer = self.raw("GET", &path, &[], "");
        assert_eq!(answer.status, 303, "{answer:?}");
        assert_eq!(answer.header("location"), Some("/"));
        let cookie = answer.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    pub(super) fn csrf(&self, cookie: &str) -> String {
        let page = self.raw("GET", "/", &[("cookie", cookie)], "");
        assert_eq!(page.status, 200, "{page:?}");
        let (_, rest) = page.body.split_once("name=\"csrf\" content=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    pub(super) fn signal(&self, signal: rustix::process::Signal) {
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
pub(super) struct Stream {
    reader: BufReader<TcpStream>,
}

impl Stream {
    /// Returns the next event's name and data; none at the end of the stream.
    pub(super) fn next(&mut self) -> Option<(String, Value)> {
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

    /// Returns the first event that is wanted, and how long it took to come.
    pub(super) fn until(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(&str, &Value) -> bool,
    ) -> (Value, Duration) {
        let began = Instant::now();
        while let Some((name, data)) = self.next() {
            if wanted(&name, &data) {
                return (data, began.elapsed());
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        }
        panic!("the stream ended before {what}");
    }
}
