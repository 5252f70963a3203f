//! Activity of an agent from its transcripts: what it said, ran and changed, as it happens.

use crate::agent::{self, ActivityCursor, ActivityPage};
use crate::error::Error;
use crate::model::{ActivityItem, Instance, SessionMode};
use crate::workflow::Context;
use crate::workflow::usage::{off_thread, session_files};

/// How many items one look returns at most.
const MAX_NEW_ITEMS: usize = 1_000;

/// Returns what an agent did after a cursor, at most about `limit` items; without a cursor, the last `limit`.
///
/// None if it has no transcript: another program than Claude Code, or a headless agent, whose log has what it does.
pub async fn activity(
    context: &Context,
    instance: &Instance,
    after: Option<&ActivityCursor>,
    limit: usize,
) -> Result<Option<ActivityPage>, Error> {
    if instance.session_mode == SessionMode::Headless {
        return Ok(None);
    }
    let sessions = session_files(context, instance).await?;
    let transcripts: Vec<_> = sessions
        .into_iter()
        .map(|session| session.transcript)
        .filter(|path| path.is_file())
        .collect();
    if transcripts.is_empty() {
        return Ok(None);
    }
    let (worktree, after) = (instance.worktree_path.clone(), after.cloned());
    let read =
        off_thread(move || agent::read_activity(transcripts, &worktree, after.as_ref(), limit));
    Ok(read.await.transpose()?)
}

/// Follows what an agent does behind a cursor, or from the beginning.
pub fn follow_activity(after: Option<ActivityCursor>) -> FollowedActivity {
    FollowedActivity {
        cursor: after.unwrap_or_default(),
    }
}

/// How far an agent's activity was followed.
#[derive(Debug)]
pub struct FollowedActivity {
    cursor: ActivityCursor,
}

impl FollowedActivity {
    /// Returns what the agent did since the last call, also in transcripts that were begun since.
    ///
    /// The instance should be read anew each time: `/clear` changes the session of a person's own.
    pub async fn next(
        &mut self,
        context: &Context,
        instance: &Instance,
    ) -> Result<Vec<ActivityItem>, Error> {
        let page = activity(context, instance, Some(&self.cursor), MAX_NEW_ITEMS).await?;
        let Some(page) = page else {
            return Ok(Vec::new());
        };
        self.cursor = page.cursor;
        Ok(page.items)
    }
}
