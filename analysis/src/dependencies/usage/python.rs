//! Module names by which Python code imports a distribution.

use super::super::names::normalised;
use crate::report::dependencies::Confidence;

/// Distributions whose modules have another name.
const KNOWN: [(&str, &[&str]); 46] = [
    ("attrs", &["attr", "attrs"]),
    ("beautifulsoup4", &["bs4"]),
    ("djangorestframework", &["rest_framework"]),
    ("dnspython", &["dns"]),
    ("gitpython", &["git"]),
    ("google-api-python-client", &["googleapiclient"]),
    ("google-auth", &["google.auth"]),
    ("grpcio", &["grpc"]),
    ("grpcio-tools", &["grpc_tools"]),
    ("ipython", &["IPython"]),
    ("jinja2", &["jinja2"]),
    ("markdown-it-py", &["markdown_it"]),
    ("msgpack-python", &["msgpack"]),
    ("mysqlclient", &["MySQLdb"]),
    ("opencv-contrib-python", &["cv2"]),
    ("opencv-python", &["cv2"]),
    ("opencv-python-headless", &["cv2"]),
    ("paho-mqtt", &["paho"]),
    ("pillow", &["PIL"]),
    ("protobuf", &["google.protobuf"]),
    ("psycopg2-binary", &["psycopg2"]),
    ("py-cpuinfo", &["cpuinfo"]),
    ("pycryptodome", &["Crypto"]),
    ("pyjwt", &["jwt"]),
    ("pymupdf", &["fitz", "pymupdf"]),
    ("pynacl", &["nacl"]),
    ("pyopenssl", &["OpenSSL"]),
    ("pyqt5", &["PyQt5"]),
    ("pyqt6", &["PyQt6"]),
    ("pyserial", &["serial"]),
    ("pysocks", &["socks"]),
    ("python-dateutil", &["dateutil"]),
    ("python-docx", &["docx"]),
    ("python-dotenv", &["dotenv"]),
    ("python-jose", &["jose"]),
    ("python-levenshtein", &["Levenshtein"]),
    ("python-multipart", &["multipart", "python_multipart"]),
    ("python-slugify", &["slugify"]),
    ("pywin32", &["win32api", "win32con", "pythoncom"]),
    ("pyyaml", &["yaml"]),
    ("pyzmq", &["zmq"]),
    ("scikit-image", &["skimage"]),
    ("scikit-learn", &["sklearn"]),
    ("setuptools", &["setuptools", "pkg_resources"]),
    ("typing-extensions", &["typing_extensions"]),
    ("websocket-client", &["websocket"]),
];

/// Returns the modules that a distribution may hold.
pub(super) fn names_of(distribution: &str) -> Vec<(String, Confidence)> {
    let name = normalised(distribution);
    if let Some(modules) = known(&name) {
        return modules
            .iter()
            .map(|&module| (module.to_owned(), Confidence::High))
            .collect();
    }
    let module = name.replace('-', "_");
    let mut names = vec![(module.clone(), Confidence::High)];
    if name.contains('-') {
        // Parts of a namespace: google-cloud-storage is google.cloud.storage.
        names.push((name.replace('-', "."), Confidence::Medium));
    }
    names
}

fn known(name: &str) -> Option<&'static [&'static str]> {
    let at = KNOWN
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    KNOWN.get(at).map(|(_, modules)| *modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(KNOWN.is_sorted_by_key(|(name, _)| *name));
        assert_eq!(names_of("PyYAML"), [("yaml".to_owned(), Confidence::High)]);
    }
}
