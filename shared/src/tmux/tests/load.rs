//! Measurements; run with `--ignored --nocapture`.

use std::time::{Duration, Instant};

use super::{Server, session_name};

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::test]
#[ignore = "a measurement"]
async fn costs() {
    let server = Server::new();
    server.start("keep", &["sleep", "600"]).await;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        let start = Instant::now();
        server.start("a", &["sleep", "600"]).await;
        server.tmux.kill(&session_name("a")).await.unwrap();
        ours.push(start.elapsed());
        let start = Instant::now();
        for args in [
            &["new-session", "-d", "-s", "b", "sleep", "600"][..],
            &["kill-session", "-t", "=b"],
        ] {
            let status = std::process::Command::new("tmux")
                .args(["-L", server.socket()])
                .args(args)
                .status();
            assert!(status.unwrap().success());
        }
        bare.push(start.elapsed());
    }
    eprintln!(
        "create + kill: ours {:?}, bare tmux {:?}",
        median(ours),
        median(bare)
    );
    for index in 0..200 {
        server.start(&format!("s{index}"), &["sleep", "600"]).await;
    }
    let (mut list, mut pane, mut paste) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..60 {
        let start = Instant::now();
        assert_eq!(server.tmux.list().await.unwrap().len(), 201);
        list.push(start.elapsed());
        let start = Instant::now();
        server.pane("s100").await;
        pane.push(start.elapsed());
        let start = Instant::now();
        server
            .tmux
            .paste(&session_name("s100"), "hello", None)
            .await
            .unwrap();
        paste.push(start.elapsed());
    }
    let (list, pane, paste) = (median(list), median(pane), median(paste));
    eprintln!("at 201 sessions: list {list:?}, pane {pane:?}, paste {paste:?}");
}
