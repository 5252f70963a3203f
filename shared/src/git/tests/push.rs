//! Pushes: exact commits, tokens, refusals.

use super::*;
use crate::model::Secret;

fn with_remote() -> (Fixture, PathBuf) {
    let fixture = Fixture::with_commit();
    let remote = fixture.path("remote.git");
    git(
        &fixture.root,
        &["init", "--quiet", "--bare", remote.to_str().unwrap()],
    );
    git(
        &fixture.root,
        &["remote", "add", "origin", remote.to_str().unwrap()],
    );
    (fixture, remote)
}

impl Fixture {
    /// A push of what the main worktree has checked out.
    fn push_of_head(&self) -> PushSpec {
        PushSpec {
            remote: "origin".into(),
            commit: Oid::parse(&git(&self.root, &["rev-parse", "HEAD"])).unwrap(),
            branch: "main".into(),
            auth: None,
        }
    }
}

#[tokio::test]
async fn created_updated_up_to_date_and_behind() {
    let (fixture, _) = with_remote();
    let root = &fixture.root;
    let repository = fixture.repository().await;
    assert_eq!(
        repository
            .push(root, &fixture.push_of_head())
            .await
            .unwrap(),
        PushOutcome::Created
    );
    assert_eq!(
        repository
            .config_get("branch.main.merge")
            .await
            .unwrap()
            .as_deref(),
        Some("refs/heads/main")
    );
    assert_eq!(
        repository
            .push(root, &fixture.push_of_head())
            .await
            .unwrap(),
        PushOutcome::UpToDate
    );
    commit(root, "a", "a");
    assert_eq!(
        repository
            .push(root, &fixture.push_of_head())
            .await
            .unwrap(),
        PushOutcome::Updated
    );
    git(root, &["reset", "-q", "--hard", "HEAD~1"]);
    commit(root, "b", "b");
    let error = repository
        .push(root, &fixture.push_of_head())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            GitError::PushRejected {
                reason: RejectReason::NonFastForward,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn hooks_on_both_sides_are_heard() {
    let (fixture, remote) = with_remote();
    let repository = fixture.repository().await;
    let hook = remote.join("hooks/pre-receive");
    for (message, expected) in [
        ("no way", RejectReason::Hook),
        (
            "GH006: Protected branch update failed",
            RejectReason::Protected,
        ),
    ] {
        executable(&hook, &format!("#!/bin/sh\necho '{message}' >&2\nexit 1\n"));
        let error = repository
            .push(&fixture.root, &fixture.push_of_head())
            .await
            .unwrap_err();
        match error {
            GitError::PushRejected { reason, detail } => {
                assert_eq!(reason, expected);
                assert!(detail.contains(message), "{detail}");
            }
            other => panic!("{other}"),
        }
    }
    executable(
        &fixture.root.join(".git/hooks/pre-push"),
        "#!/bin/sh\necho local no >&2\nexit 1\n",
    );
    let error = repository
        .push(&fixture.root, &fixture.push_of_head())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, GitError::PushRejected { reason: RejectReason::Hook, detail } if detail.contains("local no")),
        "{error}"
    );
}

#[tokio::test]
async fn missing_remotes_branches_and_hosts() {
    let (fixture, remote) = with_remote();
    let root = &fixture.root;
    let repository = fixture.repository().await;
    let other = PushSpec {
        remote: "other".into(),
        ..fixture.push_of_head()
    };
    assert!(matches!(
        repository.push(root, &other).await,
        Err(GitError::RemoteNotFound { .. })
    ));
    let option = PushSpec {
        remote: "--mirror".into(),
        ..fixture.push_of_head()
    };
    assert!(matches!(
        repository.push(root, &option).await,
        Err(GitError::InvalidName { .. })
    ));
    std::fs::remove_dir_all(remote).unwrap();
    let error = repository
        .push(root, &fixture.push_of_head())
        .await
        .unwrap_err();
    assert!(
        matches!(error, GitError::RemoteUnreachable { .. }),
        "{error}"
    );
    // Port 1 of the own machine: nobody listens there.
    git(
        root,
        &[
            "remote",
            "set-url",
            "origin",
            "http://user:hunter2@127.0.0.1:1/o/r.git",
        ],
    );
    let error = repository
        .push(root, &fixture.push_of_head())
        .await
        .unwrap_err();
    assert!(
        matches!(error, GitError::RemoteUnreachable { .. }),
        "{error}"
    );
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

/// Answers each request with 401 and hands over what it was asked.
fn refusing_server() -> (std::net::SocketAddr, std::sync::mpsc::Receiver<String>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !request.windows(4).any(|window| window == b"\r\n\r\n") {
                let count = stream.read(&mut buffer).unwrap();
                if count == 0 {
                    break;
                }
                request.extend_from_slice(&buffer[..count]);
            }
            let _ = stream.write_all(b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            if send
                .send(String::from_utf8_lossy(&request).into_owned())
                .is_err()
            {
                return;
            }
        }
    });
    (address, receive)
}

#[tokio::test]
async fn a_token_is_sent_once_and_shown_never() {
    let (fixture, _) = with_remote();
    let root = &fixture.root;
    let (address, requests) = refusing_server();
    let url = format!("http://{address}/");
    git(
        root,
        &["remote", "set-url", "origin", &format!("{url}o/r.git")],
    );
    git(
        root,
        &[
            "config",
            &format!("http.{url}.extraHeader"),
            "Authorization: Basic b2xk",
        ],
    );
    let helper = fixture.path("helper-ran");
    git(
        root,
        &[
            "config",
            "credential.helper",
            &format!("!touch '{}';", helper.display()),
        ],
    );
    let repository = fixture.repository().await;
    let header = "Authorization: Basic bmV3LXRva2Vu";
    let push = PushSpec {
        auth: Some(Auth {
            url,
            header: Secret::new(header),
        }),
        ..fixture.push_of_head()
    };
    let error = repository.push(root, &push).await.unwrap_err();
    assert!(
        matches!(error, GitError::AuthenticationFailed { .. }),
        "{error}"
    );
    assert!(!format!("{error:?} {push:?}").contains("bmV3LXRva2Vu"));
    let request = requests.recv().unwrap();
    assert_eq!(request.matches("Authorization:").count(), 1, "{request}");
    assert!(request.contains(header));
    assert!(!helper.exists());
}

#[tokio::test]
async fn settings_of_the_environment_hold_for_a_push_with_a_token_too() {
    let (fixture, _) = with_remote();
    let (address, requests) = refusing_server();
    let url = format!("http://{address}/");
    let elsewhere = "http://127.0.0.1:1/";
    git(
        &fixture.root,
        &[
            "remote",
            "set-url",
            "origin",
            &format!("{elsewhere}o/r.git"),
        ],
    );
    let rewritten = hermetic()
        .with_env("GIT_CONFIG_COUNT", "1")
        .with_env("GIT_CONFIG_KEY_0", format!("url.{url}.insteadOf"))
        .with_env("GIT_CONFIG_VALUE_0", elsewhere);
    let repository = rewritten.discover(&fixture.root).await.unwrap();
    let seen = repository.remote_url("origin").await.unwrap();
    assert_eq!(seen, Some(format!("{url}o/r.git")));
    let header = "Authorization: Basic bmV3LXRva2Vu";
    let push = PushSpec {
        auth: Some(Auth {
            url,
            header: Secret::new(header),
        }),
        ..fixture.push_of_head()
    };
    let error = repository.push(&fixture.root, &push).await.unwrap_err();
    assert!(
        matches!(error, GitError::AuthenticationFailed { .. }),
        "{error}"
    );
    assert!(requests.recv().unwrap().contains(header));
}

#[test]
fn answers_of_push() {
    let line = |flag| format!("*\tx:y\tof a hook\nTo x\n{flag}\tc:refs/heads/a\t[s] (why)\nDone\n");
    let parsed = |text: &[u8]| parse_push(text, "c:refs/heads/a");
    for (flag, outcome) in [
        ("*", Ok(PushOutcome::Created)),
        ("=", Ok(PushOutcome::UpToDate)),
        ("!", Err("[s] (why)".to_owned())),
    ] {
        assert_eq!(parsed(line(flag).as_bytes()), Some(outcome), "{flag}");
    }
    assert_eq!(parsed(b"*\tx:y\tof a hook\n"), None);
    assert_eq!(parsed(b"\xff\t\t\n"), None);
}

#[tokio::test]
async fn a_commit_made_after_the_check_is_not_pushed() {
    let (fixture, remote) = with_remote();
    let repository = fixture.repository().await;
    let checked = fixture.push_of_head();
    commit(&fixture.root, "later.txt", "not checked\n");
    let outcome = repository.push(&fixture.root, &checked).await.unwrap();
    assert_eq!(outcome, PushOutcome::Created);
    assert_eq!(
        git(&remote, &["rev-parse", "main"]),
        checked.commit.as_str()
    );
    let upstream = git(&fixture.root, &["rev-parse", "--abbrev-ref", "@{upstream}"]);
    assert_eq!(upstream, "origin/main");
}

/// `submodule.recurse` makes every push take submodules along, which git can't do for a commit without a name.
#[tokio::test]
async fn commits_of_submodules_that_nobody_has_are_named() {
    let (fixture, remote) = with_remote();
    let root = &fixture.root;
    let origin = fixture.path("lib.git");
    std::fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "--quiet", "--initial-branch=main"]);
    commit(&origin, "a", "a");
    let allow = "protocol.file.allow=always";
    let url = origin.to_str().unwrap();
    git(
        root,
        &["-c", allow, "submodule", "--quiet", "add", url, "lib"],
    );
    git(root, &["commit", "--quiet", "-m", "add a submodule"]);
    commit(&root.join("lib"), "b", "b");
    git(root, &["commit", "--quiet", "-a", "-m", "move it"]);
    let repository = fixture.repository().await;
    for (key, value) in [
        ("submodule.recurse", "true"),
        ("push.recurseSubmodules", "only"),
        ("push.recurseSubmodules", "check"),
    ] {
        git(root, &["config", key, value]);
        let error = repository.push(root, &fixture.push_of_head()).await;
        let error = error.unwrap_err();
        assert!(
            matches!(&error, GitError::PushRejected { reason: RejectReason::Submodule, detail } if detail == "lib"),
            "{key}: {error:?}"
        );
        assert_eq!(git(&remote, &["branch", "--list"]), "");
    }
    let lib = root.join("lib");
    git(&lib, &["push", "--quiet", "origin", "HEAD:refs/heads/b"]);
    git(root, &["config", "push.recurseSubmodules", "on-demand"]);
    let outcome = repository.push(root, &fixture.push_of_head()).await;
    assert_eq!(outcome.unwrap(), PushOutcome::Created);
}

#[tokio::test]
async fn a_remote_that_is_a_mirror_gets_the_one_branch() {
    let (fixture, remote) = with_remote();
    git(&fixture.root, &["branch", "private"]);
    git(&fixture.root, &["config", "remote.origin.mirror", "true"]);
    let repository = fixture.repository().await;
    let outcome = repository
        .push(&fixture.root, &fixture.push_of_head())
        .await;
    assert_eq!(outcome.unwrap(), PushOutcome::Created);
    let there = git(&remote, &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(there, "refs/heads/main");
}
