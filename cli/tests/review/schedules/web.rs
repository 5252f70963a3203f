//! A dashboard in which people click while everything else goes on.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;
use tests::AgentEnv;
use tests::dashboard::Dashboard;

/// As long as a command may take.
const CLICK_TIMEOUT: Duration = Duration::from_secs(100);

pub(super) struct Web {
    dashboard: Arc<Dashboard>,
    clicks: Vec<JoinHandle<()>>,
}

impl Web {
    pub(super) fn start(env: &AgentEnv) -> Self {
        let mut dashboard = Dashboard::start(env, &[]);
        dashboard.timeout = CLICK_TIMEOUT;
        Self {
            dashboard: Arc::new(dashboard),
            clicks: Vec::new(),
        }
    }

    /// Sends a request without waiting for the response.
    pub(super) fn click(&mut self, path: &str) {
        let (dashboard, path) = (Arc::clone(&self.dashboard), path.to_owned());
        self.clicks.push(std::thread::spawn(move || {
            // Refused is fine, and so is what the faults around it have made impossible. A panic is not.
            let response = dashboard.post(&path, &json!({}));
            assert!(!response.body.contains("panic"), "{path}: {response:?}");
        }));
    }

    /// Waits until every click is answered.
    pub(super) fn settle(&mut self) {
        for click in self.clicks.drain(..) {
            click.join().expect("a click was not answered");
        }
    }
}
