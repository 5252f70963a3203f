//! Analysis of a repository for planning: code, architecture, dependencies and open work.
//!
//! One function per scope: [`codebase()`], [`architecture()`], [`dependencies()`] and [`issues()`]. All are synchronous and
//! CPU-bound: call them on a blocking thread. Nothing here uses a forge or a database: their data are arguments. A
//! report is complete; [`summarise`] cuts it to a number of tokens.
//!
//! Without the feature `engine` there are only the reports and their archive, for those who show them: parsers take long to compile.

#![cfg_attr(
    not(feature = "engine"),
    expect(dead_code, reason = "the engine alone uses it")
)]

#[cfg(feature = "engine")]
mod architecture;
mod archive;
#[cfg(feature = "engine")]
mod budget;
#[cfg(feature = "engine")]
mod codebase;
#[cfg(feature = "engine")]
mod dependencies;
mod depth;
#[cfg(feature = "engine")]
mod error;
#[cfg(feature = "engine")]
mod fingerprint;
#[cfg(feature = "engine")]
mod focus;
#[cfg(feature = "engine")]
mod git;
#[cfg(feature = "engine")]
mod git_place;
#[cfg(feature = "engine")]
mod history;
#[cfg(feature = "engine")]
mod issues;
#[cfg(feature = "engine")]
mod job;
#[cfg(feature = "engine")]
mod line_index;
mod open;
#[cfg(feature = "engine")]
mod paths;
#[cfg(feature = "engine")]
mod recent;
pub mod report;
mod scope;
#[cfg(feature = "engine")]
mod symbols;
mod text;
#[cfg(feature = "engine")]
mod tree;
#[cfg(feature = "engine")]
mod workers;

#[cfg(feature = "engine")]
pub use architecture::architecture;
pub use archive::{Archive, MAX_REPORTS, Page, StoredReport};
#[cfg(feature = "engine")]
pub use budget::{Budget, Progress};
#[cfg(feature = "engine")]
pub use codebase::codebase;
#[cfg(feature = "engine")]
pub use dependencies::dependencies;
#[cfg(feature = "engine")]
pub use dependencies::licences::PackageCaches;
pub use depth::Depth;
#[cfg(feature = "engine")]
pub use error::AnalysisError;
#[cfg(feature = "engine")]
pub use fingerprint::fingerprint;
#[cfg(feature = "engine")]
pub use focus::{Focus, MAX_PATH, MAX_QUERY, affected_tests, focus};
#[cfg(feature = "engine")]
pub use issues::input::IssuesInput;
#[cfg(feature = "engine")]
pub use issues::issues;
#[cfg(feature = "engine")]
pub use job::{Analysed, Job, ScopeReport};
pub use report::architecture::ArchitectureReport;
pub use report::codebase::CodebaseReport;
pub use report::dependencies::DependencyReport;
pub use report::focus::FocusReport;
pub use report::issues::IssueReport;
pub use report::{DEFAULT_TOKENS, Incomplete, Listing, MAX_TOKENS, Report, schema, summarise};
pub use scope::Scope;
