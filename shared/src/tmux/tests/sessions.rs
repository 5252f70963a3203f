//! Sessions: what runs in them, where, under which name.

use std::path::Path;

use super::{Server, session_name, wait_file};
use crate::tmux::{Life, SessionName, TmuxError};

/// Writes a program that records its directory and arguments, one per line, in `$PWD/record`.
fn recorder(path: &Path) {
    let script = "#!/bin/sh\n{ pwd -P; for a in \"$@\"; do printf '[%s]\\n' \"$a\"; done; echo end; } > record.tmp\nmv record.tmp record\nexec sleep 600\n";
    let source = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(source.path(), script).unwrap();
    // Another process writes the program: a descriptor of ours, open for writing and inherited by a
    // child of a parallel test, would make it "text file busy".
    let installed = std::process::Command::new("install")
        .args(["-m", "755"])
        .args([source.path(), path])
        .status();
    assert!(installed.unwrap().success());
}

async fn recorded(directory: &Path) -> Vec<String> {
    let bytes = wait_file(&directory.join("record"), |bytes| !bytes.is_empty()).await;
    String::from_utf8(bytes)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn a_lone_program_never_meets_a_shell() {
    let server = Server::new();
    for (index, name) in [
        "it's \"a\" #{pane_id} $(touch pwned) b=c;",
        "x=y",
        "#(touch pwned)",
        "a;b",
    ]
    .into_iter()
    .enumerate()
    {
        let directory = server.path(&format!("d{index}"));
        std::fs::create_dir(&directory).unwrap();
        let program = directory.join(name);
        recorder(&program);
        let mut session = server.session(&format!("s{index}"), &[]);
        session.directory.clone_from(&directory);
        session.argv = vec![program.into()];
        server.tmux.create(&session).await.unwrap();
        assert_eq!(
            recorded(&directory).await,
            [directory.canonicalize().unwrap().to_str().unwrap(), "end"]
        );
        assert!(!directory.join("pwned").exists());
    }
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let server = Server::new();
    let program = server.path("recorder");
    recorder(&program);
    let arguments = [
        "",
        ";",
        "a;",
        r"a\;",
        r"a\\;",
        "a;b",
        "#{pane_id}",
        "#(touch pwned)",
        "$(touch pwned)",
        "`touch pwned`",
        "$HOME",
        "~",
        "*",
        "-d",
        "--",
        "it's",
        "\"q\"",
        "two words",
        "é🦀",
        "%H",
        "{",
        "}",
    ];
    let mut session = server.session("args", &arguments);
    session.argv.insert(0, program.into());
    server.tmux.create(&session).await.unwrap();
    let lines = recorded(server.directory.path()).await;
    let expected: Vec<String> = arguments.iter().map(|a| format!("[{a}]")).collect();
    assert_eq!(lines[1..lines.len() - 1], expected);
    assert!(!server.path("pwned").exists());
}

#[tokio::test]
async fn directories_are_taken_literally() {
    let server = Server::new();
    let program = server.path("recorder");
    recorder(&program);
    let names = [
        "a#b",
        "##",
        "#[x",
        "##[x",
        "###[",
        "#{pane_id}",
        "#(touch pwned)",
        "#,#}",
        "%H%%d",
        "it's \"q\"",
        "é $(touch pwned)",
        "semi;",
        r"back\;",
        "a,b}",
        "-x",
        "#",
    ];
    for (index, name) in names.into_iter().enumerate() {
        let directory = server.path(name);
        std::fs::create_dir(&directory).unwrap();
        let mut session = server.session(&format!("s{index}"), &[]);
        session.directory.clone_from(&directory);
        session.argv = vec![program.clone().into(), "x".into()];
        server.tmux.create(&session).await.unwrap();
        let canonical = directory.canonicalize().unwrap();
        assert_eq!(recorded(&directory).await[0], canonical.to_str().unwrap());
    }
    let mut found = std::fs::read_dir(server.directory.path()).unwrap();
    assert!(found.all(|entry| entry.unwrap().file_name() != "pwned"));
    assert!(!Path::new("/pwned").exists());
}

#[tokio::test]
async fn a_directory_that_cannot_be_entered_is_refused() {
    let server = Server::new();
    std::fs::write(server.path("file"), "").unwrap();
    for directory in [
        server.path("missing"),
        server.path("file"),
        "relative".into(),
    ] {
        let mut session = server.session("a", &["sleep", "600"]);
        session.directory = directory;
        let refused = server.tmux.create(&session).await;
        assert!(matches!(refused, Err(TmuxError::InvalidDirectory { .. })));
    }
    assert_eq!(server.tmux.list().await.unwrap(), []);
}

#[test]
fn names_that_tmux_would_interpret_are_refused() {
    let long = "x".repeat(101);
    for name in [
        "",
        "a.b",
        "a:b",
        "#(touch x)",
        "a b",
        "=a",
        "-a",
        "é",
        "a\n",
        "*",
        long.as_str(),
    ] {
        assert!(SessionName::new(name).is_err(), "{name:?}");
    }
    assert!(SessionName::new("work-42_A1").is_ok());
}

#[tokio::test]
async fn names_match_exactly() {
    let server = Server::new();
    server.start("work-10", &["sleep", "600"]).await;
    let (shorter, exact) = (session_name("work-1"), session_name("work-10"));
    assert!(!server.tmux.has(&shorter).await.unwrap());
    assert!(server.tmux.pane(&shorter).await.unwrap().is_none());
    assert!(!server.tmux.kill(&shorter).await.unwrap());
    assert!(server.tmux.has(&exact).await.unwrap());
    assert!(server.tmux.kill(&exact).await.unwrap());
    assert!(!server.tmux.kill(&exact).await.unwrap());
    assert!(!server.tmux.has(&exact).await.unwrap());
}

#[tokio::test]
async fn a_name_is_given_once() {
    let server = Server::new();
    let session = server.session("only", &["sleep", "600"]);
    let (first, second) = tokio::join!(server.tmux.create(&session), server.tmux.create(&session));
    let refused = match (first, second) {
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => error,
        other => panic!("one must win: {other:?}"),
    };
    assert!(matches!(refused, TmuxError::SessionExists { session } if session == "only"));
    assert_eq!(server.tmux.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn long_commands_are_refused_before_tmux_sees_them() {
    let server = Server::new();
    let longest = "x".repeat(11 * 1024);
    server
        .start("fits", &["sh", "-c", "exec sleep 600", &longest])
        .await;
    let mut session = server.session("long", &["sleep", "600"]);
    session.environment = vec![("A".to_owned(), "x".repeat(13 * 1024))];
    let refused = server.tmux.create(&session).await;
    assert!(matches!(
        refused,
        Err(TmuxError::CommandTooLong { limit: 12_288, .. })
    ));
    session.environment.clear();
    session.argv.clear();
    assert!(matches!(
        server.tmux.create(&session).await,
        Err(TmuxError::EmptyCommand)
    ));
}

#[tokio::test]
async fn the_environment_is_the_callers_and_not_the_servers() {
    let path = || ("PATH".into(), std::env::var_os("PATH").unwrap());
    let first = Server::with_environment(vec![
        path(),
        ("WHO".into(), "first".into()),
        ("TERM".into(), "dumb".into()),
        ("TMUX".into(), "/x,1,2".into()),
    ]);
    assert!(
        first
            .tmux
            .base_environment
            .iter()
            .all(|(name, _)| name != "TMUX")
    );
    first.start("first", &["sleep", "600"]).await;
    let mut second = first.tmux.clone();
    second.base_environment = vec![
        path(),
        ("WHO".into(), "second".into()),
        ("TERM".into(), "dumb".into()),
    ];
    let file = first.path("env");
    let mut session = first.session(
        "second",
        &["sh", "-c", "env > env.tmp; mv env.tmp env; exec sleep 600"],
    );
    session.environment = vec![
        (
            "GIVEN".to_owned(),
            "#{pane_id} $(touch pwned) 'q';".to_owned(),
        ),
        ("EMPTY".to_owned(), String::new()),
    ];
    second.create(&session).await.unwrap();
    let printed = String::from_utf8(wait_file(&file, |bytes| !bytes.is_empty()).await).unwrap();
    let value = |name: &str| {
        printed
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")))
    };
    assert_eq!(value("WHO"), Some("second"));
    assert_eq!(value("GIVEN"), Some("#{pane_id} $(touch pwned) 'q';"));
    assert_eq!(value("EMPTY"), Some(""));
    assert_eq!(value("TERM"), Some("screen-256color"));
    assert_eq!(value("COLORTERM"), Some("truecolor"));
    assert!(value("TMUX").unwrap().contains("codex-test-"));
    // Cargo sets this for the test: nothing of our own environment may arrive.
    assert_eq!(value("CARGO_MANIFEST_DIR"), None);
    session.environment = vec![("A=B".to_owned(), String::new())];
    assert!(matches!(
        second.create(&session).await,
        Err(TmuxError::InvalidVariable { .. })
    ));
}

#[tokio::test]
async fn a_missing_program_is_a_dead_pane() {
    let server = Server::new();
    server.start("none", &["/no/such/program"]).await;
    let pane = server
        .wait_pane("none", |pane| pane.life != Life::Running)
        .await;
    assert_eq!(pane.life, Life::Exited { status: 127 });
}
