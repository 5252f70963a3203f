//! A place whose origin is a GitHub on loopback, with a real git remote.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use scripted_github::{Bare, ScriptedGithub, TOKEN};
use serde_json::Value;
use shared::model::{InstanceId, Status};

use crate::support::Place;

pub(crate) struct Hub {
    pub(crate) server: Arc<ScriptedGithub>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Hub {
    /// Serves a repository to which the place's main is pushed, and tells the place about it.
    pub(crate) fn new(place: &mut Place) -> Self {
        let folder = place.path("github");
        let (say, hear) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = ScriptedGithub::with_repository(&folder).await.unwrap();
                say.send(Arc::new(server)).unwrap();
                let _ = stopped.await;
            });
        });
        let hub = Self {
            server: hear.recv().unwrap(),
            stop: Some(stop),
            thread: Some(thread),
        };
        place.git(&["push", "-q", hub.bare().path().to_str().unwrap(), "main"]);
        place.git(&["remote", "add", "origin", &hub.server.git_url()]);
        place.set("GITHUB_TOKEN", TOKEN);
        place.set("GITHUB_API_URL", &hub.server.url());
        hub
    }

    pub(crate) fn bare(&self) -> Bare {
        self.server.state().bare.clone().unwrap()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A coder with one commit.
pub(crate) fn committed(place: &Place) -> InstanceId {
    let coder = place.coder(&[]);
    place.commit(&coder, "work\n");
    coder
}

/// Lets a coder publish, which must be refused with a hint and change nothing here.
pub(crate) fn refused(place: &Place, coder: &InstanceId, code: &str) -> Value {
    let answer = place.create_pr(coder, "Title");
    assert_eq!(answer["error"], true, "{answer}");
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains(code), "{code}: {answer}");
    assert_eq!(place.status(coder), Status::Running);
    let instance = place.instance(coder);
    assert_eq!((instance.pr_number, instance.owner), (None, None));
    answer
}
