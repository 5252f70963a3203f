//! JSON schemas of the complete reports, for whoever wants to know what a field means.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::architecture::ArchitectureReport;
use super::codebase::CodebaseReport;
use super::dependencies::DependencyReport;
use super::focus::FocusReport;
use super::issues::IssueReport;
use crate::Scope;

/// Returns the JSON schema of a scope's report, or of a focus without a scope; every field has a description.
pub fn schema(scope: Option<Scope>) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    match scope {
        None => generator.into_root_schema_for::<FocusReport>(),
        Some(Scope::Architecture) => generator.into_root_schema_for::<ArchitectureReport>(),
        Some(Scope::Codebase) => generator.into_root_schema_for::<CodebaseReport>(),
        Some(Scope::Dependencies) => generator.into_root_schema_for::<DependencyReport>(),
        Some(Scope::Issues) => generator.into_root_schema_for::<IssueReport>(),
    }
    .to_value()
}
