//! Where the binaries under test are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use shared::model::InstanceKind;

/// Returns the top of this project's own source tree.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// One of the three servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    Coding,
    Review,
    Planning,
}

impl Server {
    pub const ALL: [Self; 3] = [Self::Coding, Self::Review, Self::Planning];

    /// Returns its name, which is also its binary's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coding => InstanceKind::Coding.server_name(),
            Self::Review => InstanceKind::Review.server_name(),
            Self::Planning => InstanceKind::Planning.server_name(),
        }
    }

    pub fn path(self) -> PathBuf {
        binary(self.name())
    }
}

/// Returns the path of a binary of this workspace.
///
/// Cargo names binaries to the tests of their own package only, so this one looks beside the running
/// executable. `cargo test --workspace` builds them there; `cargo test -p tests` alone does not, and
/// then they are built here.
pub fn binary(name: &str) -> PathBuf {
    let executable = std::env::current_exe().expect("the running executable has a path");
    let folder = executable
        .ancestors()
        .skip(1)
        .find(|folder| !folder.ends_with("deps"))
        .expect("the target folder");
    let path = folder.join(name);
    if !path.is_file() {
        build(folder);
    }
    assert!(
        path.is_file(),
        "{} is missing: run `cargo build --workspace --bins` in the same profile first",
        path.display()
    );
    path
}

fn build(folder: &Path) {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args(["build", "--quiet", "--workspace", "--bins"])
            .current_dir(project_root());
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        let status = cargo.status().expect("cargo can be run");
        assert!(status.success(), "the binaries under test do not build");
    });
}
