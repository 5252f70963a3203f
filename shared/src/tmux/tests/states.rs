//! States: how panes ended, who watches them, what hostile programs call themselves.

use super::{Server, session_name};
use crate::tmux::{Key, Life};

#[tokio::test]
async fn ends_are_reported() {
    let server = Server::new();
    server.start_script("fine", "exit 0").await;
    server.start_script("seven", "exit 7").await;
    server.start_script("killed", "kill -9 $$").await;
    server.start_script("alive", "exec sleep 600").await;
    let over = |pane: &crate::tmux::PaneState| pane.life != Life::Running;
    assert_eq!(
        server.wait_pane("fine", over).await.life,
        Life::Exited { status: 0 }
    );
    assert_eq!(
        server.wait_pane("seven", over).await.life,
        Life::Exited { status: 7 }
    );
    assert_eq!(
        server.wait_pane("killed", over).await.life,
        Life::Killed { signal: Some(9) }
    );
    let alive = server
        .wait_pane("alive", |pane| pane.command == "sleep")
        .await;
    assert_eq!(
        (alive.life, alive.attached, alive.in_mode),
        (Life::Running, 0, false)
    );
    assert_eq!(server.tmux.list().await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_created_pane_is_the_listed_one() {
    let server = Server::new();
    let created = server.start("a", &["sleep", "600"]).await;
    let pane = server.pane("a").await;
    assert_eq!((pane.pane_id, pane.pid), (created.pane_id, created.pid));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    assert!(pane.created <= now && now - pane.created < 60);
    assert!(pane.last_output >= pane.created);
}

#[tokio::test]
async fn hostile_program_names_forge_nothing() {
    let server = Server::new();
    let name = "x\ty\nforged|%9|1|1|0|||0|0|1|1|claude #{pid};";
    server
        .start("hostile", &["bash", "-c", "exec -a \"$0\" sleep 600", name])
        .await;
    server.start("other", &["sleep", "600"]).await;
    let pane = server
        .wait_pane("hostile", |pane| pane.command.starts_with('x'))
        .await;
    assert!(
        pane.command
            .bytes()
            .all(|b| b.is_ascii_graphic() && b != b'|'),
        "{}",
        pane.command
    );
    let listed = server.tmux.list().await.unwrap();
    let mut names: Vec<_> = listed.iter().map(|pane| pane.session.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["hostile", "other"]);
}

#[tokio::test]
async fn panes_that_a_person_adds_are_told_apart() {
    let server = Server::new();
    let created = server.start("a", &["sleep", "600"]).await;
    server
        .raw("split-window", &["-b", "-t", "=a:", "sleep 601"])
        .await;
    server.raw("new-window", &["-t", "=a:", "sleep 602"]).await;
    server
        .raw("new-session", &["-d", "-s", "odd name|x", "sleep 603"])
        .await;
    let listed = server.tmux.list().await.unwrap();
    assert_eq!(listed.len(), 3);
    assert_eq!(listed.iter().filter(|pane| pane.is_agent).count(), 1);
    assert_eq!(server.pane("a").await.pane_id, created.pane_id);
}

/// A second server stands in for a person's terminal; so this also attaches from inside tmux.
#[tokio::test]
async fn a_person_attaches_types_and_is_seen() {
    let (server, terminal) = (Server::new(), Server::new());
    server.start_cat("a").await;
    let agent = session_name("a");
    assert_eq!(
        server.tmux.clients(&agent).await.unwrap().last_activity,
        None
    );
    let mut person = terminal.session("person", &[]);
    person.argv = server.tmux.attach_argv(&agent);
    person.environment = [
        ("TMUX_TMPDIR", terminal.directory.path().to_str().unwrap()),
        ("DISPLAY", ":7"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    terminal.tmux.create(&person).await.unwrap();
    server.wait_pane("a", |pane| pane.attached == 1).await;
    let before = server.tmux.clients(&agent).await.unwrap();
    assert_eq!(before.count, 1);
    // The clock of client activity has whole seconds.
    let typed_later = async {
        loop {
            terminal
                .tmux
                .press(&session_name("person"), Key::Enter, None)
                .await
                .unwrap();
            let now = server.tmux.clients(&agent).await.unwrap();
            if now.last_activity > before.last_activity {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(super::TIMEOUT, typed_later)
        .await
        .unwrap();
    // Attaching must not carry the terminal's environment into the session.
    let environment = server.raw("show-environment", &["-t", "=a"]).await;
    assert!(!environment.contains("TMUX_TMPDIR") && !environment.contains("DISPLAY="));
    terminal.tmux.kill(&session_name("person")).await.unwrap();
    server.wait_pane("a", |pane| pane.attached == 0).await;
}

/// `new-session -t` and `link-window` give another session the same windows.
#[tokio::test]
async fn a_person_is_seen_through_another_session_with_the_same_windows() {
    for shared in [
        &["new-session", "-d", "-s", "second", "-t", "=a"][..],
        &["link-window", "-s", "=a:0", "-t", "=second:7"][..],
    ] {
        let (server, terminal) = (Server::new(), Server::new());
        let pane = server.start_cat("a").await;
        let own = super::own_panes::own(&server, &pane).await;
        if shared[0] == "link-window" {
            server.start_cat("second").await;
        }
        server.raw(shared[0], &shared[1..]).await;
        server.start_cat("unrelated").await;
        let attach = async |session: &str| {
            let mut person = terminal.session(session, &[]);
            person.argv = server.tmux.attach_argv(&session_name(session));
            terminal.tmux.create(&person).await.unwrap();
            server.wait_pane(session, |pane| pane.attached == 1).await;
        };
        attach("unrelated").await;
        let nobody = server.tmux.clients(&session_name("a")).await.unwrap();
        assert_eq!(nobody.count, 0, "{shared:?}");
        assert_eq!(own.last_activity().await.unwrap(), None, "{shared:?}");
        attach("second").await;
        let somebody = server.tmux.clients(&session_name("a")).await.unwrap();
        assert_eq!(somebody.count, 1, "{shared:?}");
        let seen = own.last_activity().await.unwrap();
        assert!(seen.is_some(), "{shared:?}");
        assert_eq!(seen, somebody.last_activity, "{shared:?}");
    }
}
