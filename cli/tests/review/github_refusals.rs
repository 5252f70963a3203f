//! What GitHub and its git remote refuse: a code for each, nothing changed, and no token anywhere.

use std::io::{Read, Write};

use scripted_github::TOKEN;
use shared::model::Status;
use tests::{AgentEnv, GithubRemote, write_program};

#[test]
fn each_refusal_has_its_own_code() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    let branch = format!("codex/{coder}");

    github.state().read_only = true;
    env.create_pr_refused(&coder, "PUSH_FORBIDDEN");
    github.state().read_only = false;

    github.state().token = "ghp_another0123456789".to_owned();
    env.create_pr_refused(&coder, "PUSH_UNAUTHORIZED");
    github.state().token = TOKEN.to_owned();

    github.bare().protect(&branch).unwrap();
    env.create_pr_refused(&coder, "PUSH_PROTECTED");
    github.bare().accept_pushes().unwrap();
    github
        .bare()
        .reject_pushes("the linter is not amused")
        .unwrap();
    let answer = env.create_pr_refused(&coder, "PUSH_DECLINED_BY_HOOK");
    assert!(answer["text"].as_str().unwrap().contains("not amused"));
    github.bare().accept_pushes().unwrap();

    let remote = github.git_url();
    let nowhere = remote.replace("hello.git", "nowhere.git");
    env.git(&["remote", "set-url", "origin", &nowhere]);
    env.create_pr_refused(&coder, "REMOTE_NOT_FOUND");
    env.git(&[
        "remote",
        "set-url",
        "--push",
        "origin",
        "http://127.0.0.1:1/octo/hello.git",
    ]);
    env.create_pr_refused(&coder, "REMOTE_UNREACHABLE");
    env.git(&["config", "--unset", "remote.origin.pushurl"]);
    env.git(&["remote", "set-url", "origin", &remote]);

    // Somebody else's commits are on the branch.
    let bare = github.bare();
    let bare = bare.path().to_str().unwrap();
    let tree = env.git(&["write-tree"]);
    let other = env.git(&["commit-tree", tree.trim(), "-m", "other"]);
    env.git(&[
        "push",
        "-q",
        bare,
        &format!("{}:refs/heads/{branch}", other.trim()),
    ]);
    env.create_pr_refused(&coder, "PUSH_NOT_FAST_FORWARD");
    env.git(&["push", "-q", bare, &format!(":refs/heads/{branch}")]);

    github.state().missing_branches.insert("main".to_owned());
    env.create_pr_refused(&coder, "BASE_NOT_FOUND");
    github.state().missing_branches.clear();

    assert!(github.state().pulls.is_empty());
    let answer = env.create_pr(&coder, "Title");
    assert_eq!(answer["error"], false, "{answer}");
}

/// Everything that is written down, or could be looked at, while publishing fails and then succeeds.
#[test]
fn the_token_is_nowhere_to_be_seen() {
    let mut env = AgentEnv::new("idle", "idle");
    env.set("CODEX_LOG", "trace");
    let github = GithubRemote::new(&mut env);
    let coder = env.coder_with_commit();
    // Runs in the middle of each push, and notes the arguments of every process there is.
    let hook = env.path("repo/.git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let script = "#!/bin/sh\nfor p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done >>\"$SCRIPT_DIR/argv\" 2>/dev/null\nexit 0\n";
    write_program(&hook, script);

    github
        .bare()
        .reject_pushes(&format!("you sent {TOKEN}, how careless"))
        .unwrap();
    env.create_pr_refused(&coder, "PUSH_DECLINED_BY_HOOK");
    github.bare().accept_pushes().unwrap();
    github.state().read_only = true;
    env.create_pr_refused(&coder, "PUSH_FORBIDDEN");
    github.state().read_only = false;
    assert_eq!(env.create_pr(&coder, "Title")["error"], false);
    env.until("the coder is put away", || {
        env.status(&coder) == Status::PrCreated && env.instance(&coder).owner.is_none()
    });
    github.state().token = "ghp_another0123456789".to_owned();
    let mut seen = String::new();
    for args in [
        &["sync"] as &[&str],
        &["pr", "list"],
        &["pr", "merge", "1"],
        &["doctor"],
        &["config"],
        &["events", "--json"],
        &["show", coder.as_str(), "--json"],
    ] {
        let output = env.codex(args);
        seen += &String::from_utf8_lossy(&output.stdout);
        seen += &String::from_utf8_lossy(&output.stderr);
    }
    let argv = std::fs::read_to_string(env.path("script/argv")).unwrap();
    assert!(
        argv.contains("push --porcelain"),
        "the hook saw no push: {argv}"
    );
    seen += &argv;
    for folder in ["state/logs", "script"] {
        for entry in std::fs::read_dir(env.path(folder)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            seen += &String::from_utf8_lossy(&bytes);
        }
    }
    for name in ["codex.db", "codex.db-wal"] {
        if let Ok(bytes) = std::fs::read(env.path("state").join(name)) {
            seen += &String::from_utf8_lossy(&bytes);
        }
    }
    seen += &std::fs::read_to_string(env.path("repo/.git/config")).unwrap();
    assert!(seen.contains("create_pr") && seen.contains("PUSH_FORBIDDEN"));
    for secret in [
        TOKEN.to_owned(),
        encoded(&format!("x-access-token:{TOKEN}")),
    ] {
        let at = seen.find(&secret);
        let around = at.map(|at| {
            let from = (0..=at.saturating_sub(200)).rfind(|from| seen.is_char_boundary(*from));
            &seen[from.unwrap_or(0)..at]
        });
        assert_eq!(around, None, "the token is shown after this");
    }
    // The failed calls are on record all the same.
    let recorded: Vec<_> = env
        .recorded("create_pr")
        .into_iter()
        .map(|event| event.error_code.unwrap_or_default())
        .collect();
    assert_eq!(recorded, ["PUSH_DECLINED_BY_HOOK", "PUSH_FORBIDDEN", ""]);
    assert!(env.text(&["events"]).contains("create_pr"));
}

/// Base64, as git's header has the token.
fn encoded(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks_exact(3) {
        let bits = chunk
            .iter()
            .fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for shift in [18, 12, 6, 0] {
            encoded.push(char::from(LETTERS[bits >> shift & 63]));
        }
    }
    // What is left over after whole groups of three does not matter to a search.
    assert_eq!(encoded[..16], *"eC1hY2Nlc3MtdG9r");
    encoded
}

/// The repository chooses its remote, and may ask for GitHub in its settings.
#[test]
fn a_host_that_the_repository_chooses_gets_no_token() {
    let mut env = AgentEnv::new("idle", "idle");
    let github = GithubRemote::new(&mut env);
    env.set("CODEX_FORGE", "github");
    let coder = env.coder_with_commit();
    // The API's own name with another port, and another name.
    for name in ["127.0.0.1:0", "127.0.0.2:0"] {
        let (address, hear) = recorder(name);
        let url = format!("http://{address}/octo/hello.git");
        env.git(&["remote", "set-url", "origin", &url]);
        env.create_pr_refused(&coder, "FORGE_NOT_CONFIGURED");
        assert_eq!(
            env.refused(&["code", "--issue", "1"]),
            "FORGE_NOT_CONFIGURED"
        );
        env.codex(&["sync"]);
        env.codex(&["doctor"]);
        let asked: Vec<String> = hear.try_iter().collect();
        assert_eq!(asked, Vec::<String>::new());

        // The fetch address is GitHub's, the push address is not.
        env.git(&["remote", "set-url", "origin", &github.git_url()]);
        env.git(&["remote", "set-url", "--push", "origin", &url]);
        env.create_pr_refused(&coder, "PUSH_UNAUTHORIZED");
        env.git(&["config", "--unset", "remote.origin.pushurl"]);
        let asked: Vec<String> = hear.try_iter().collect();
        assert!(
            asked.iter().any(|request| request.contains("info/refs")),
            "{asked:?}"
        );
        for request in &asked {
            assert!(
                !request.to_lowercase().contains("authorization"),
                "{request}"
            );
        }
    }
    assert!(github.state().pulls.is_empty());
}

/// Serves 401 and says what it was asked.
fn recorder(address: &str) -> (std::net::SocketAddr, std::sync::mpsc::Receiver<String>) {
    let listener = std::net::TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    let (say, hear) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 8192];
            let read = stream.read(&mut bytes).unwrap_or(0);
            if say
                .send(String::from_utf8_lossy(&bytes[..read]).into_owned())
                .is_err()
            {
                return;
            }
            let answer = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Basic realm=\"x\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, hear)
}
