//! Views of analysis reports.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use shared::model::Timestamp;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalysisList {
    /// Newest first.
    pub reports: Vec<AnalysisSummary>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalysisSummary {
    /// `codebase-deep-0123456789abcdef`.
    pub id: String,
    /// `architecture`, `codebase`, `dependencies` or `issues`.
    pub scope: String,
    /// `shallow`, `medium` or `deep`.
    pub depth: String,
    /// When it was created.
    pub at: Timestamp,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalysisView {
    #[serde(flatten)]
    pub summary: AnalysisSummary,
    /// As it is stored; its shape depends on the scope.
    pub report: Value,
}
