//! Merges, and why some are not possible.

use scripted_github::{Fault, ScriptedGithub, Trouble};
use shared::forge::ForgeError;
use shared::model::MergeMethod;

use super::client;

#[tokio::test]
async fn a_merge_happens_once_whatever_the_network_does() {
    for trouble in [
        Trouble::DropBefore,
        Trouble::DropAfter,
        Trouble::AnswerAfter { status: 502 },
    ] {
        let server = ScriptedGithub::start().await.unwrap();
        let number = server.state().add_pull("title", "codex/a", "main");
        let head = server.state().pulls[&number].head_commit.clone();
        server.fail(Fault::once(trouble.clone()).method("PUT"));
        let merged = client(&server)
            .merge_pull(number, MergeMethod::Squash, &head)
            .await;
        assert!(merged.is_ok(), "{trouble:?}: {merged:?}");
        let state = server.state();
        assert!(state.pulls[&number].merged_at.is_some(), "{trouble:?}");
        let puts = if matches!(trouble, Trouble::DropBefore) {
            2
        } else {
            1
        };
        drop(state);
        assert_eq!(server.count("PUT", "/merge"), puts, "{trouble:?}");
        assert_eq!(server.requests()[0].body["merge_method"], "squash");
    }
}

#[tokio::test]
async fn what_keeps_it_from_being_merged_is_said() {
    let server = ScriptedGithub::start().await.unwrap();
    let number = server.state().add_pull("title", "codex/a", "main");
    let head = server.state().pulls[&number].head_commit.clone();
    let github = client(&server);
    let refusal = async || {
        github
            .merge_pull(number, MergeMethod::Merge, &head)
            .await
            .unwrap_err()
    };

    server.state().pulls.get_mut(&number).unwrap().conflicts = true;
    assert!(matches!(
        refusal().await,
        ForgeError::Conflict { number: 1 }
    ));
    server.state().pulls.get_mut(&number).unwrap().conflicts = false;

    server.state().pulls.get_mut(&number).unwrap().draft = true;
    assert_eq!(
        refusal().await.to_string(),
        "pull request 1 cannot be merged: it is a draft"
    );
    server.state().pulls.get_mut(&number).unwrap().draft = false;

    let refused = |text: &str| server.state().merge_refused = Some(text.to_owned());
    refused("Merge commits are not allowed on this repository.");
    assert!(matches!(
        refusal().await,
        ForgeError::MethodNotAllowed { .. }
    ));
    refused("At least 1 approving review is required by reviewers with write access.");
    assert!(matches!(refusal().await, ForgeError::Protected { .. }));
    refused("Repository rule violations found");
    assert!(matches!(refusal().await, ForgeError::Protected { .. }));
    refused("Base branch was modified. Review and try the merge again.");
    assert!(matches!(refusal().await, ForgeError::Moved { .. }));
    server.state().merge_refused = None;

    server.fail(Fault::status(409).method("PUT"));
    assert!(matches!(refusal().await, ForgeError::Moved { .. }));
    server.fail(Fault::status(404).method("PUT"));
    assert!(matches!(refusal().await, ForgeError::NotFound { .. }));

    // Somebody has pushed since the pull request was looked at.
    let error = github
        .merge_pull(number, MergeMethod::Rebase, &"9".repeat(40))
        .await
        .unwrap_err();
    assert!(matches!(error, ForgeError::Moved { .. }), "{error}");

    assert!(server.state().pulls[&number].open);
    github
        .merge_pull(number, MergeMethod::Rebase, &head)
        .await
        .unwrap();
    assert_eq!(
        refusal().await.to_string(),
        "pull request 1 cannot be merged: it is merged already"
    );
}
