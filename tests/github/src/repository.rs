//! The bare repository behind a GitHub: its branches, merges in it, and hooks that say no.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bare repository below a folder that git can serve.
#[derive(Debug, Clone)]
pub struct Bare {
    root: PathBuf,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Merge {
    Commit,
    Squash,
    Rebase,
}

impl Bare {
    /// Makes `OWNER/NAME.git` in a folder, empty and with `main` as its branch.
    pub fn create(root: &Path, owner: &str, name: &str) -> io::Result<Self> {
        let path = root.join(owner).join(format!("{name}.git"));
        std::fs::create_dir_all(&path)?;
        let bare = Self {
            root: root.to_owned(),
            path,
        };
        for arguments in [
            &["init", "--quiet", "--bare", "--initial-branch=main", "."][..],
            &["config", "http.receivepack", "true"],
        ] {
            bare.git(arguments)
                .ok_or_else(|| io::Error::other(format!("git {arguments:?} failed")))?;
        }
        Ok(bare)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder that git serves.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Refuses every push with this text, as a hook of the repository's owner would.
    pub fn reject_pushes(&self, text: &str) -> io::Result<()> {
        let script = format!("#!/bin/sh\ncat >&2 <<'END'\n{text}\nEND\nexit 1\n");
        self.install_hook("pre-receive", &script)
    }

    /// Refuses pushes to a branch with the words of GitHub's branch protection.
    pub fn protect(&self, branch: &str) -> io::Result<()> {
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = 'refs/heads/{branch}' ] || exit 0\ncat >&2 <<'END'\n\
             error: GH006: Protected branch update failed for refs/heads/{branch}.\n\
             error: Changes must be made through a pull request.\nEND\nexit 1\n"
        );
        self.install_hook("update", &script)
    }

    /// Lets every push wait in the middle, until `accept_pushes` or until its client has gone: `sign` says that one does.
    pub fn hold_pushes(&self, sign: &Path) -> io::Result<()> {
        let hook = self.path.join("hooks/pre-receive");
        let script = format!(
            "#!/bin/sh\necho waiting >'{}'\nwhile [ -e '{}' ]; do sleep 0.05; done\n",
            sign.display(),
            hook.display()
        );
        self.install_hook("pre-receive", &script)
    }

    /// Takes all refusals back.
    pub fn accept_pushes(&self) -> io::Result<()> {
        for hook in ["pre-receive", "update"] {
            match std::fs::remove_file(self.path.join("hooks").join(hook)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn install_hook(&self, name: &str, script: &str) -> io::Result<()> {
        let folder = self.path.join("hooks");
        std::fs::create_dir_all(&folder)?;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o755)
            .open(folder.join(name))?;
        file.write_all(script.as_bytes())
    }

    /// Returns the commit at the tip of a branch.
    pub fn commit_of(&self, branch: &str) -> Option<String> {
        self.git(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("refs/heads/{branch}"),
        ])
    }

    pub(crate) fn is_ahead(&self, branch: &str, base: &str) -> bool {
        let range = format!("refs/heads/{base}..refs/heads/{branch}");
        self.git(&["rev-list", "--count", &range])
            .is_some_and(|count| count != "0")
    }

    pub(crate) fn conflicts(&self, branch: &str, base: &str) -> bool {
        let (Some(ours), Some(theirs)) = (self.commit_of(base), self.commit_of(branch)) else {
            return false;
        };
        self.git(&["merge-tree", "--write-tree", &ours, &theirs])
            .is_none()
    }

    pub(crate) fn diff(&self, base: &str, head: &str) -> String {
        let text = self.git(&["diff", &format!("{base}...{head}")]);
        text.map(|text| text + "\n").unwrap_or_default()
    }

    /// Merges a branch into its base; none if that is not possible.
    pub(crate) fn merge(
        &self,
        branch: &str,
        base: &str,
        how: Merge,
        title: &str,
    ) -> Option<String> {
        let (ours, theirs) = (self.commit_of(base)?, self.commit_of(branch)?);
        let merged = match how {
            Merge::Rebase => self.replayed(&ours, &theirs)?,
            Merge::Commit | Merge::Squash => {
                let tree = self.git(&["merge-tree", "--write-tree", &ours, &theirs])?;
                let parents = match how {
                    Merge::Commit => vec!["-p", &ours, "-p", &theirs],
                    Merge::Squash | Merge::Rebase => vec!["-p", &ours],
                };
                let mut arguments = vec!["commit-tree", &tree, "-m", title];
                arguments.extend(parents);
                self.git(&arguments)?
            }
        };
        self.git(&["update-ref", &format!("refs/heads/{base}"), &merged, &ours])?;
        Some(merged)
    }

    /// Returns the last of a branch's commits, each made again on top of another commit.
    fn replayed(&self, onto: &str, tip: &str) -> Option<String> {
        let commits = self.git(&[
            "rev-list",
            "--reverse",
            "--no-merges",
            &format!("{onto}..{tip}"),
        ])?;
        commits.lines().try_fold(onto.to_owned(), |top, commit| {
            let parent = format!("--merge-base={commit}^");
            let tree = self.git(&["merge-tree", "--write-tree", &parent, &top, commit])?;
            let message = self.git(&["log", "-1", "--format=%B", commit])?;
            self.git(&["commit-tree", &tree, "-p", &top, "-m", &message])
        })
    }

    /// Runs git here; what it printed, if it succeeded.
    fn git(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("git");
        for (name, value) in environment(&self.root) {
            command.env(name, value);
        }
        let output = command
            .args(arguments)
            .current_dir(&self.path)
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned();
        output.status.success().then_some(text)
    }
}

/// Returns what keeps the user's own settings out of it.
pub(crate) fn environment(home: &Path) -> Vec<(&'static str, String)> {
    let mut variables: Vec<(&'static str, String)> = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "GitHub"),
        ("GIT_AUTHOR_EMAIL", "noreply@github.com"),
        ("GIT_COMMITTER_NAME", "GitHub"),
        ("GIT_COMMITTER_EMAIL", "noreply@github.com"),
        ("LC_ALL", "C"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into();
    variables.push(("HOME", home.display().to_string()));
    variables
}
