//! Trust classes of settings: which keys a repository's own file may set before the person trusts it.
//!
//! A clone brings its file along, so it counts as written by a stranger. Harmless is what can only
//! slow down, stop or bother the agents of that repository.

use std::fmt;

/// Why a key of a repository's file needs the person's trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    RunsProgram,
    WidensPermissions,
    ChoosesHost,
    ChoosesPath,
    /// What it says reaches agents of other repositories, or the person's limits for all of them.
    ReachesOthers,
    /// It makes something public without being asked.
    Publishes,
    /// It takes away a check that the person's own settings may ask for.
    DropsCheck,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::RunsProgram => "runs a program",
            Self::WidensPermissions => "widens what agents may do",
            Self::ChoosesHost => "chooses a host",
            Self::ChoosesPath => "chooses a path outside the repository",
            Self::ReachesOthers => "reaches agents of other repositories",
            Self::Publishes => "publishes without being asked",
            Self::DropsCheck => "takes a check away",
        })
    }
}

/// Every key. A test fails for a key that is missing here.
const CLASSES: &[(&str, Option<Reason>)] = &[
    ("agent.allow", Some(Reason::WidensPermissions)),
    ("agent.claude", Some(Reason::RunsProgram)),
    ("agent.codingPermissions", Some(Reason::WidensPermissions)),
    ("agent.command", Some(Reason::RunsProgram)),
    // It replaces the person's own list.
    ("agent.deny", Some(Reason::WidensPermissions)),
    ("agent.model", None),
    ("agent.planningPermissions", Some(Reason::WidensPermissions)),
    // A board shows the costs of all repositories by them.
    ("agent.prices", Some(Reason::ReachesOthers)),
    ("agent.reviewPermissions", Some(Reason::WidensPermissions)),
    ("agent.startTimeoutSeconds", None),
    ("coding.branchPrefix", None),
    ("coding.requireReview", Some(Reason::DropsCheck)),
    ("dashboard.port", Some(Reason::ReachesOthers)),
    ("dashboard.syncSeconds", Some(Reason::ReachesOthers)),
    ("dashboard.webhookSecretFile", Some(Reason::ChoosesPath)),
    ("forge.kind", Some(Reason::ChoosesHost)),
    ("forge.remote", Some(Reason::ChoosesHost)),
    ("notify.bell", Some(Reason::ReachesOthers)),
    ("notify.command", Some(Reason::RunsProgram)),
    ("notify.tmux", Some(Reason::ReachesOthers)),
    ("notify.webhook", Some(Reason::ChoosesHost)),
    ("planning.createIssues", Some(Reason::Publishes)),
    ("planning.issueTemplate", None),
    ("planning.maxIssuesPerPlan", Some(Reason::Publishes)),
    ("resources.cleanup", None),
    ("resources.cleanupAfterHours", None),
    ("resources.executionTimeoutHours", None),
    (
        "resources.maxConcurrentInstances",
        Some(Reason::ReachesOthers),
    ),
    ("resources.worktreeRoot", Some(Reason::ChoosesPath)),
    ("retention.eventDays", Some(Reason::ReachesOthers)),
    ("retention.fileDays", Some(Reason::ReachesOthers)),
    ("retention.maxEvents", Some(Reason::ReachesOthers)),
    ("retention.maxFileMegabytes", Some(Reason::ReachesOthers)),
    ("retention.messageDays", Some(Reason::ReachesOthers)),
    ("retention.refDays", Some(Reason::ReachesOthers)),
    ("review.maxReviewCycles", None),
    ("review.mayEdit", Some(Reason::WidensPermissions)),
    ("review.preserveChanges", None),
    ("review.timeoutMinutes", None),
    ("tmux.socket", Some(Reason::ReachesOthers)),
];

/// Returns why a value needs trust; nothing if it is harmless. An unknown key is not harmless.
pub(super) fn reason(key: &str, value: &toml::Value) -> Option<Reason> {
    // To ask for more review than the person does harms nobody.
    if key == "coding.requireReview" && value.as_bool() == Some(true) {
        return None;
    }
    CLASSES
        .iter()
        .find(|(known, _)| *known == key)
        .map_or(Some(Reason::ReachesOthers), |(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layered;

    #[test]
    fn every_key_is_classified_once() {
        let (_, values) = Layered::defaults().finish().unwrap();
        let keys: Vec<String> = values.into_iter().map(|value| value.key).collect();
        let classified: Vec<&str> = CLASSES.iter().map(|(key, _)| *key).collect();
        assert_eq!(
            keys, classified,
            "a new key stands in CLASSES, in the order of the alphabet"
        );
    }
}
