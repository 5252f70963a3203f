//! Finds the JSON-RPC id of a request that can't be parsed, so that it gets an error response.

/// No client uses longer ids.
const MAX_ID_BYTES: usize = 200;

/// Scans the outermost object of a line in constant space, without validating values.
#[derive(Debug, Default)]
pub(super) struct IdSearch {
    depth: usize,
    string: Text,
    /// Key of the outermost object whose value is being read.
    key: Option<Vec<u8>>,
    /// The string or number that is being read in the outermost object.
    text: Vec<u8>,
    ids: Vec<Vec<u8>>,
    has_method: bool,
    extent: Extent,
}

/// Whether a string is being read.
#[derive(Debug, Default)]
enum Text {
    #[default]
    Outside,
    Inside,
    Escaped,
}

/// Whether the outermost object is complete.
#[derive(Debug, Default, PartialEq)]
enum Extent {
    #[default]
    Open,
    Closed,
    /// Not an object, or more than one.
    Broken,
}

impl IdSearch {
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// Returns the id if the line was a request with exactly one valid id.
    pub(super) fn id(self) -> Option<serde_json::Value> {
        let [id] = self.ids.as_slice() else {
            return None;
        };
        if self.extent != Extent::Closed || !self.has_method {
            return None;
        }
        let id: serde_json::Value = serde_json::from_slice(id).ok()?;
        (id.is_i64() || id.is_string()).then_some(id)
    }

    fn step(&mut self, byte: u8) {
        match self.string {
            Text::Outside => self.step_outside(byte),
            Text::Escaped => {
                self.keep(byte);
                self.string = Text::Inside;
            }
            Text::Inside => {
                self.keep(byte);
                match byte {
                    b'\\' => self.string = Text::Escaped,
                    b'"' => self.string = Text::Outside,
                    _ => {}
                }
            }
        }
    }

    fn step_outside(&mut self, byte: u8) {
        if byte.is_ascii_whitespace() {
            return;
        }
        if self.extent != Extent::Open || (self.depth == 0 && byte != b'{') {
            self.extent = Extent::Broken;
            return;
        }
        match byte {
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
            }
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.end_of_value();
                    self.extent = Extent::Closed;
                }
            }
            b',' if self.depth == 1 => self.end_of_value(),
            b':' if self.depth == 1 => self.key = Some(std::mem::take(&mut self.text)),
            b'"' => {
                self.keep(byte);
                self.string = Text::Inside;
            }
            _ => self.keep(byte),
        }
    }

    /// Keeps a byte of the outermost object. A text over the limit is no longer valid as an id.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.text.len() <= MAX_ID_BYTES {
            self.text.push(byte);
        }
    }

    fn end_of_value(&mut self) {
        let value = std::mem::take(&mut self.text);
        match self.key.take().as_deref() {
            Some(b"\"id\"") => self.ids.push(value),
            Some(b"\"method\"") => self.has_method = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn id_of(line: &[u8]) -> Option<Value> {
        let mut search = IdSearch::default();
        search.read(line);
        search.id()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        for (line, id) in [
            (r#"{"id":7,"method":"m"}"#, json!(7)),
            (r#" { "method" : "m" , "id" : -7 } "#, json!(-7)),
            (
                r#"{"method":"m","params":{"id":1,"x":[{"id":2}]},"id":"a\"b"}"#,
                json!("a\"b"),
            ),
            (r#"{"params":"\"id\":1}","method":"m","id":3}"#, json!(3)),
            (r#"{"method":"\ud800","id":3}"#, json!(3)),
        ] {
            assert_eq!(id_of(line.as_bytes()), Some(id), "{line}");
        }
        let deep = format!(
            r#"{{"method":"m","params":{}{},"id":9}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(id_of(deep.as_bytes()), Some(json!(9)));
        assert_eq!(id_of(b"{\"method\":\"\xff\",\"id\":9}"), Some(json!(9)));
    }

    #[test]
    fn what_is_no_request_has_none() {
        for line in [
            "",
            "{}",
            "id",
            r#"[{"id":1,"method":"m"}]"#,
            r#"{"id":1,"method":"m""#,
            r#"{"id":1,"method":"m"}}"#,
            r#"{"id":1,"method":"m"}{"id":2,"method":"m"}"#,
            r#"{"id":1,"id":2,"method":"m"}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"id":null,"method":"m"}"#,
            r#"{"id":1.5,"method":"m"}"#,
            r#"{"id":{},"method":"m"}"#,
            r#"{"id":[1],"method":"m"}"#,
            r#"{"id":"\ud800","method":"m"}"#,
            r#"}"id":1,"method":"m"}"#,
        ] {
            assert_eq!(id_of(line.as_bytes()), None, "{line}");
        }
        let long = format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(1000));
        assert_eq!(id_of(long.as_bytes()), None);
    }

    /// Any JSON, three levels deep.
    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_agrees_with_a_parser(id in json(), params in json(), last: bool) {
            let message = if last {
                json!({"method": "m", "params": params, "id": id})
            } else {
                json!({"id": id, "method": "m", "params": params})
            };
            let expected = (id.is_i64() || id.as_str().is_some_and(|_| id.to_string().len() <= MAX_ID_BYTES)).then_some(id);
            prop_assert_eq!(id_of(message.to_string().as_bytes()), expected);
        }

        #[test]
        fn it_takes_any_bytes(bytes: Vec<u8>) {
            id_of(&bytes);
        }

        #[test]
        fn it_takes_any_brackets(text in r#"[\[\]{}",:\\id 1]{0,40}"#) {
            id_of(text.as_bytes());
        }
    }
}
