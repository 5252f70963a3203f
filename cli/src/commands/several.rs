//! Several agents in one command (`stop A B`): each gets its result, and one that fails does not keep the others from theirs.

use serde::Serialize;
use serde_json::json;
use shared::error::Error;
use shared::model::InstanceId;
use shared::workflow::{self, Context};

use crate::failure::Failure;
use crate::output::Output;

/// Finds the agents that are meant, each once. An id that fits none or several fails before anything is done.
pub(super) async fn find(
    context: &Context,
    given: &[InstanceId],
) -> Result<Vec<InstanceId>, Error> {
    let mut found: Vec<InstanceId> = Vec::new();
    for one in given {
        let id = workflow::find_instance(context, one).await?;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    Ok(found)
}

/// The results so far. With `--json` they are one array at the end.
#[derive(Default)]
pub(super) struct Results {
    documents: Vec<serde_json::Value>,
    failed: bool,
}

impl Results {
    /// Prints the result for one agent, or keeps it for the array.
    pub(super) fn add<T: Serialize>(
        &mut self,
        id: &InstanceId,
        result: Result<T, Error>,
        print: impl FnOnce(&T) -> Result<(), Failure>,
        output: Output,
    ) -> Result<(), Failure> {
        self.failed |= result.is_err();
        match result {
            Ok(done) if output.is_json() => self.documents.push(json!(done)),
            Ok(done) => print(&done)?,
            Err(error) if output.is_json() => {
                let error = error.without_secrets();
                self.documents.push(json!({ "id": id, "error": error }));
            }
            Err(error) => output.problem_of(id.as_str(), error),
        }
        Ok(())
    }

    /// Prints the array; one failure makes the command fail.
    pub(super) fn finish(self, output: Output) -> Result<(), Failure> {
        if output.is_json() {
            output.document(&self.documents)?;
        }
        if self.failed {
            return Err(Failure::Reported);
        }
        Ok(())
    }
}
