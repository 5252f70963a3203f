//! The specification file of a TDD run: reading and bounds.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::model::hidden::drop_hidden;

/// The largest specification, in bytes: a long book. What is longer no model follows.
const MAX_BYTES: u64 = 256 << 10;

/// A specification that can be worked from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TddSpec {
    pub path: PathBuf,
    pub text: String,
}

/// Reads a specification, or says what is wrong with it.
pub fn read_spec(path: &Path) -> Result<TddSpec, Error> {
    let problem = |what: &str| Error::argument("SPEC", format!("{} {what}", path.display()));
    let unreadable = |source: &std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => problem("does not exist")
            .hint("Name the file that says what is to be built, such as SPEC.md."),
        std::io::ErrorKind::PermissionDenied => {
            problem("can't be read: permission denied").hint("Make it readable for this user.")
        }
        _ => problem(&format!("can't be read: {source}")),
    };
    let path_found = path.canonicalize().map_err(|source| unreadable(&source))?;
    let metadata = path_found
        .metadata()
        .map_err(|source| unreadable(&source))?;
    if !metadata.is_file() {
        return Err(problem("is not a file"));
    }
    let mut bytes = Vec::new();
    let read =
        File::open(&path_found).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|source| unreadable(&source))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(problem(&format!("is larger than {} KiB", MAX_BYTES >> 10))
            .hint("Say what matters in fewer words, or split it into several runs."));
    }
    if bytes.contains(&0) {
        return Err(problem("is not text: it has zero bytes in it"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| problem("is not UTF-8 text").hint("Save it as UTF-8."))?;
    let text = drop_hidden(&text);
    if text.trim().is_empty() {
        return Err(problem("is empty").hint("Write down what is to be built."));
    }
    Ok(TddSpec {
        path: path_found,
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(write: impl FnOnce(&Path)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("SPEC.md");
        write(&path);
        let error = read_spec(&path).unwrap_err();
        assert_eq!(error.code, crate::error::Code::InvalidArguments);
        error.message.split(" SPEC.md ").last().unwrap().to_owned()
    }

    #[test]
    fn what_can_not_be_worked_from_is_refused() {
        let file = |bytes: &[u8]| {
            let bytes = bytes.to_owned();
            refusal(move |path| std::fs::write(path, bytes).unwrap())
        };
        assert!(refusal(|_| ()).ends_with("does not exist"));
        assert!(refusal(|path| std::fs::create_dir(path).unwrap()).ends_with("is not a file"));
        assert!(file(b" \n\t\n").ends_with("is empty"));
        assert!(file(b"").ends_with("is empty"));
        assert!(file(b"a\0b").contains("is not text"));
        assert!(file(&[0xff, 0xfe, b'a']).ends_with("is not UTF-8 text"));
        assert!(
            file(&vec![b'a'; usize::try_from(MAX_BYTES).unwrap() + 1]).contains("is larger than")
        );
    }

    #[test]
    fn a_specification_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("SPEC.md");
        std::fs::write(&path, "\u{feff}# Build it\r\n\u{e0041}").unwrap();
        let spec = read_spec(&path).unwrap();
        assert_eq!(spec.text, "# Build it\n");
        assert!(spec.path.is_absolute());
    }
}
