//! `Step`: what a verb is doing, as progress reports it.

use std::fmt;

use crate::model::InstanceId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    AnsweringDialog,
    ChangingTask,
    CheckingLine,
    CheckingRepository,
    CheckingWork,
    Closing,
    DeliveringFeedback,
    DeliveringMessage,
    DiscardingWork,
    EndingSession,
    FindingIssue,
    LoadingPullRequest,
    MakingWorktree,
    Merging,
    OpeningIssue,
    OpeningPullRequest,
    PushingBranch,
    RecordingApproval,
    Reopening,
    ResumingAgent,
    SendingWorkBack,
    StartingSession,
    StoringFeedback,
    StoringTask,
    UpdatingPullRequest,
    WaitingForAgent,
    WritingAgentFiles,
    Cleaning(InstanceId),
    SyncingPullRequest(u64),
    WaitingForEnd(InstanceId),
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::AnsweringDialog => "Answering the dialog",
            Self::ChangingTask => "Changing the task",
            Self::CheckingLine => "Checking the line",
            Self::CheckingRepository => "Checking the repository",
            Self::CheckingWork => "Checking the work",
            Self::Closing => "Closing",
            Self::DeliveringFeedback => "Handing the feedback over",
            Self::DeliveringMessage => "Handing the message over",
            Self::DiscardingWork => "Deleting its work",
            Self::EndingSession => "Ending the session",
            Self::FindingIssue => "Looking for the issue of an earlier call",
            Self::LoadingPullRequest => "Looking at the pull request",
            Self::MakingWorktree => "Making the worktree",
            Self::Merging => "Merging",
            Self::OpeningIssue => "Opening the issue",
            Self::OpeningPullRequest => "Opening the pull request",
            Self::PushingBranch => "Pushing the branch",
            Self::RecordingApproval => "Recording the approval",
            Self::Reopening => "Reopening",
            Self::ResumingAgent => "Resuming the agent",
            Self::SendingWorkBack => "Sending the work back",
            Self::StartingSession => "Starting the session",
            Self::StoringFeedback => "Storing the feedback",
            Self::StoringTask => "Storing the task",
            Self::UpdatingPullRequest => "Bringing the pull request up to its branch",
            Self::WaitingForAgent => "Waiting for the agent",
            Self::WritingAgentFiles => "Writing the agent's files",
            Self::Cleaning(id) => return write!(formatter, "Cleaning up after {id}"),
            Self::SyncingPullRequest(number) => {
                return write!(formatter, "Asking about pull request {number}");
            }
            Self::WaitingForEnd(id) => return write!(formatter, "Waiting for {id} to end"),
        };
        formatter.write_str(text)
    }
}
