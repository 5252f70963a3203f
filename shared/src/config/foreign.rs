//! Variables of other programs that begin with `CODEX_`, mostly those of the Codex CLI, and are never a mistake.

/// Names and, where they end with `_`, beginnings of names.
const FOREIGN: &[&str] = &[
    "CODEX_ACCESS_TOKEN",
    "CODEX_API_KEY",
    "CODEX_APP_SERVER_",
    "CODEX_APPS_",
    "CODEX_BIN",
    "CODEX_CA_CERTIFICATE",
    "CODEX_CI",
    "CODEX_CLOUD_TASKS_",
    "CODEX_CONNECTORS_TOKEN",
    "CODEX_ESCALATE_SOCKET",
    "CODEX_EXEC_SERVER_",
    "CODEX_EXECUTABLE",
    "CODEX_GITHUB_PERSONAL_ACCESS_TOKEN",
    "CODEX_GITHUB_TOKEN",
    "CODEX_HOME",
    "CODEX_INSTALL_DIR",
    "CODEX_INTERNAL_",
    "CODEX_MANAGED_",
    "CODEX_NETWORK_",
    "CODEX_NON_INTERACTIVE",
    "CODEX_OSS_",
    "CODEX_PERMISSION_PROFILE",
    "CODEX_PLUGIN_ROOT",
    "CODEX_PROXY_",
    "CODEX_RELEASE",
    "CODEX_REMOTE_",
    "CODEX_ROLLOUT_TRACE_ROOT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_",
    "CODEX_SESSION_ID",
    "CODEX_SQLITE_HOME",
    "CODEX_STARTING_DIFF",
    "CODEX_THREAD_ID",
    "CODEX_TUI_",
    "CODEX_WRAPPER_LOG",
];

pub(super) fn is_foreign(name: &str) -> bool {
    FOREIGN
        .iter()
        .any(|foreign| *foreign == name || (foreign.ends_with('_') && name.starts_with(foreign)))
}

#[cfg(test)]
pub(super) fn examples() -> impl Iterator<Item = String> {
    FOREIGN.iter().map(|name| {
        if name.ends_with('_') {
            format!("{name}X")
        } else {
            (*name).to_owned()
        }
    })
}
