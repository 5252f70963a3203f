//! Analysis of a repository: what a planner wants to know before writing tasks.
//!
//! [`codebase()`] tells what the code is made of and where its risks are, [`architecture()`] how it is built and
//! how its parts depend on each other, [`dependencies()`] what it stands on, [`issues()`] what work is open. All
//! are synchronous and busy: call them on a blocking thread. Nothing here talks to a forge or a database:
//! what they know comes in as arguments. A report is complete; [`summarise`] cuts it to a number of tokens.

mod architecture;
mod archive;
mod codebase;
mod control;
mod dependencies;
mod error;
mod fingerprint;
mod git;
mod history;
mod issues;
mod job;
mod paths;
pub mod report;
mod scope;
mod text;
mod tree;
mod workers;

pub use architecture::architecture;
pub use archive::{Archive, KEPT, Page, StoredReport};
pub use codebase::codebase;
pub use control::{Control, Depth, Progress};
pub use dependencies::dependencies;
pub use error::AnalysisError;
pub use fingerprint::fingerprint;
pub use issues::input::{Issue, IssuesInput, Pull, Source, Task};
pub use issues::issues;
pub use job::{Analysed, Job, Outcome, Question};
pub use report::architecture::ArchitectureReport;
pub use report::codebase::CodebaseReport;
pub use report::dependencies::DependencyReport;
pub use report::issues::IssueReport;
pub use report::{DEFAULT_BUDGET, Incomplete, Listing, MAXIMUM_BUDGET, Report, summarise};
pub use scope::Scope;
