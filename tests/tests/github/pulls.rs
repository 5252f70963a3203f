//! Pull requests are found, made, changed and listed.

use scripted_github::{Fault, ScriptedGithub, Trouble};
use serde_json::json;
use shared::forge::{Fetched, ForgeError};
use shared::model::{NewPullRequest, PullRequest, PullState};

use super::{client, new_pull};

/// Lists leave out whether a pull request can be merged.
fn as_listed(pull: PullRequest) -> PullRequest {
    PullRequest {
        mergeable: None,
        ..pull
    }
}

#[tokio::test]
async fn one_is_made_found_changed_and_closed() {
    let server = ScriptedGithub::start().await.unwrap();
    let github = client(&server);
    assert_eq!(github.open_pull("codex/a").await.unwrap(), None);
    let draft = NewPullRequest {
        draft: true,
        ..new_pull("codex/a")
    };
    let made = github.create_pull(&draft).await.unwrap();
    assert_eq!(
        (made.number, made.state, made.draft),
        (1, PullState::Open, true)
    );
    assert_eq!(
        (made.head_branch.as_str(), made.base_branch.as_str()),
        ("codex/a", "main")
    );
    assert_eq!(made.url, format!("{}/octo/hello/pull/1", server.url()));
    // The commit of GitHub's trial merge is nobody's merge.
    assert_eq!((&made.merge_commit, &made.merged_at), (&None, &None));
    let listed = github.open_pull("codex/a").await.unwrap();
    assert_eq!(listed, Some(as_listed(made)));

    let changed = github.update_pull(1, "Another", "text").await.unwrap();
    assert_eq!(
        (changed.title.as_str(), changed.body.as_str()),
        ("Another", "text")
    );
    let closed = github.close_pull(1).await.unwrap();
    assert_eq!(closed.state, PullState::Closed);
    assert_eq!(github.open_pull("codex/a").await.unwrap(), None);

    let body = &server.requests()[1].body;
    assert_eq!(
        *body,
        json!({"title": "Add a greeting", "body": "Says hello.\n\nCloses #1", "head": "codex/a", "base": "main", "draft": true})
    );
}

#[tokio::test]
async fn only_the_branch_itself_counts() {
    let server = ScriptedGithub::start().await.unwrap();
    server.state().add_pull("longer", "codex/a-b", "main");
    let fork = server.state().add_pull("fork", "codex/a", "main");
    server.state().pulls.get_mut(&fork).unwrap().head = "somebody:codex/a".to_owned();
    let odd = server.state().add_pull("odd", "fix/ü&head=x#1+2", "main");
    let github = client(&server);
    assert_eq!(github.open_pull("codex/a").await.unwrap(), None);
    let found = github.open_pull("somebody:codex/a").await.unwrap().unwrap();
    assert_eq!(found.number, fork);
    let found = github.open_pull("fix/ü&head=x#1+2").await.unwrap().unwrap();
    assert_eq!(found.number, odd);
}

/// Answers a list of pull requests with one of these heads each, whatever was asked.
fn listing(heads: &[&str], link: &str) -> Fault {
    let branch = |label: &str| {
        let name = label.split_once(':').unwrap().1;
        json!({"label": label, "ref": name, "sha": "a".repeat(40)})
    };
    let pulls = heads.iter().zip(1..).map(|(head, number)| {
        json!({
            "id": number,
            "number": number,
            "url": "https://api.github.com/repos/octo/hello/pulls/1",
            "html_url": "https://github.com/octo/hello/pull/1",
            "title": "title",
            "body": null,
            "state": "open",
            "head": branch(head),
            "base": branch("octo:main"),
            "merge_commit_sha": null,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            "merged_at": null,
        })
    });
    Fault::once(Trouble::Answer {
        status: 200,
        headers: vec![("link".to_owned(), link.to_owned())],
        body: pulls.collect(),
    })
}

#[tokio::test]
async fn a_filter_that_github_ignores_misleads_nobody() {
    let server = ScriptedGithub::start().await.unwrap();
    let github = client(&server);
    server.fail(listing(&["somebody:codex/a", "octo:codex/ab"], ""));
    assert_eq!(github.open_pull("codex/a").await.unwrap(), None);
    server.fail(listing(&["somebody:codex/a", "Octo:codex/a"], ""));
    let found = github.open_pull("codex/a").await.unwrap().unwrap();
    assert_eq!(found.number, 2);
}

#[tokio::test]
async fn what_moves_to_the_next_page_is_listed_once() {
    let server = ScriptedGithub::start().await.unwrap();
    let next = r#"<https://elsewhere.example/?page=2>; rel="next", <https://elsewhere.example/?page=2>; rel="last""#;
    server.fail(listing(&["octo:a", "octo:b"], next));
    server.fail(listing(&["octo:a", "octo:b", "octo:c"], ""));
    let listed = client(&server).pulls(None, 3).await.unwrap();
    let numbers: Vec<u64> = listed.items.iter().map(|pull| pull.number).collect();
    assert_eq!((numbers.as_slice(), listed.more), (&[1, 2, 3][..], false));
    assert!(server.requests()[1].query.ends_with("page=2"));
}

#[tokio::test]
async fn two_at_once_make_one() {
    let server = ScriptedGithub::start().await.unwrap();
    let (one, other) = (client(&server), client(&server));
    let new = new_pull("codex/a");
    let (one, other) = tokio::join!(one.create_pull(&new), other.create_pull(&new));
    let (made, refused) = if one.is_ok() {
        (one, other)
    } else {
        (other, one)
    };
    assert_eq!(made.unwrap().number, 1);
    assert!(
        matches!(&refused, Err(ForgeError::PullRequestExists { head }) if head == "codex/a"),
        "{refused:?}"
    );
    assert_eq!(server.state().pulls.len(), 1);
}

#[tokio::test]
async fn each_refusal_is_its_own() {
    let server = ScriptedGithub::start().await.unwrap();
    {
        let mut state = server.state();
        state
            .missing_branches
            .extend(["gone".to_owned(), "nobase".to_owned()]);
        state.merged_branches.insert("merged".to_owned());
        state.drafts_offered = false;
    }
    let github = client(&server);
    let refusal = async |new: NewPullRequest| github.create_pull(&new).await.unwrap_err();
    let error = refusal(new_pull("gone")).await;
    assert!(
        matches!(&error, ForgeError::HeadNotFound { head } if head == "gone"),
        "{error}"
    );
    let error = refusal(new_pull("merged")).await;
    assert!(
        matches!(&error, ForgeError::NothingToCompare { .. }),
        "{error}"
    );
    let without_base = NewPullRequest {
        base_branch: "nobase".to_owned(),
        ..new_pull("codex/a")
    };
    let error = refusal(without_base).await;
    assert!(
        matches!(&error, ForgeError::BaseNotFound { base } if base == "nobase"),
        "{error}"
    );
    let draft = NewPullRequest {
        draft: true,
        ..new_pull("codex/a")
    };
    let error = refusal(draft).await;
    assert!(matches!(&error, ForgeError::DraftsNotOffered), "{error}");
    let untitled = NewPullRequest {
        title: String::new(),
        ..new_pull("codex/a")
    };
    let error = refusal(untitled).await;
    assert_eq!(
        error.to_string(),
        "GitHub rejected the request as invalid: `title` is missing"
    );
    assert!(server.state().pulls.is_empty());
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let server = ScriptedGithub::start().await.unwrap();
    let number = server.state().add_pull("title", "codex/a", "main");
    let github = client(&server);
    let Fetched::New { value, etag } = github.pull(number, None).await.unwrap() else {
        unreachable!("nothing was known")
    };
    assert_eq!(value.state, PullState::Open);
    let left = server.state().rate.remaining;
    let again = github.pull(number, etag.as_deref()).await.unwrap();
    assert_eq!(again, Fetched::Unchanged);
    assert_eq!(server.state().rate.remaining, left, "a 304 costs nothing");

    server.state().merge(number);
    let Fetched::New { value, etag: newer } = github.pull(number, etag.as_deref()).await.unwrap()
    else {
        unreachable!("it was merged")
    };
    assert_eq!(value.state, PullState::Merged);
    assert!(value.merged_at.is_some() && value.merge_commit.is_some());
    assert_ne!(newer, etag);
    // A tag that could be no header is as good as none.
    let fetched = github.pull(number, Some("a\r\nb")).await.unwrap();
    assert!(matches!(fetched, Fetched::New { .. }));
}

#[tokio::test]
async fn lists_go_over_pages_up_to_their_limit() {
    let server = ScriptedGithub::start().await.unwrap();
    {
        let mut state = server.state();
        for number in 0..230 {
            state.add_pull(
                &format!("pull {number}"),
                &format!("codex/{number}"),
                "main",
            );
        }
        for number in 1..=3 {
            state.merge(number);
        }
        state.pulls.get_mut(&4).unwrap().open = false;
    }
    let github = client(&server);
    let all = github.pulls(None, 1_000).await.unwrap();
    assert_eq!((all.items.len(), all.more), (230, false));
    assert_eq!(all.items[0].number, 230);
    let some = github.pulls(Some(PullState::Open), 226).await.unwrap();
    assert_eq!((some.items.len(), some.more), (226, false));
    let some = github.pulls(Some(PullState::Open), 225).await.unwrap();
    assert_eq!((some.items.len(), some.more), (225, true));
    let merged = github.pulls(Some(PullState::Merged), 10).await.unwrap();
    let numbers: Vec<u64> = merged.items.iter().map(|pull| pull.number).collect();
    assert_eq!(numbers, [3, 2, 1]);
    let closed = github.pulls(Some(PullState::Closed), 10).await.unwrap();
    assert_eq!((closed.items.len(), closed.items[0].number), (1, 4));
    let before = server.requests().len();
    let none = github.pulls(None, 0).await.unwrap();
    assert_eq!((none.items.len(), none.more), (0, true));
    assert_eq!(
        server.requests().len(),
        before + 1,
        "one page is enough to know"
    );
}

#[tokio::test]
async fn a_diff_is_cut_after_a_whole_line() {
    let server = ScriptedGithub::start().await.unwrap();
    let number = server.state().add_pull("title", "codex/a", "main");
    let github = client(&server);
    let whole = github.pull_diff(number, 10_000).await.unwrap();
    assert!(whole.starts_with("diff --git a/f b/f\n") && whole.ends_with("+new\n"));
    assert_eq!(github.pull_diff(number, whole.len()).await.unwrap(), whole);
    let cut = github.pull_diff(number, 25).await.unwrap();
    assert_eq!(
        cut,
        "diff --git a/f b/f\n[… cut: the diff has more than 25 bytes]\n"
    );
    server.fail(Fault::status(403));
    let error = github.pull_diff(number, 5).await.unwrap_err();
    assert_eq!(error.to_string(), "GitHub refused permission: scripted 403");
    server.fail(Fault::status(406));
    let error = github.pull_diff(number, 25).await.unwrap_err();
    assert!(
        matches!(error, ForgeError::DiffTooLarge { number: 1 }),
        "{error}"
    );
}

#[tokio::test]
async fn a_renamed_repository_is_followed_and_no_stranger() {
    let server = ScriptedGithub::start().await.unwrap();
    server.state().former_name = Some("hello".to_owned());
    server.state().name = "renamed".to_owned();
    let github = client(&server);
    let made = github.create_pull(&new_pull("codex/a")).await.unwrap();
    let listed = github.open_pull("codex/a").await.unwrap();
    assert_eq!(listed, Some(as_listed(made)));
    assert_eq!(server.state().pulls.len(), 1);

    let stranger = ScriptedGithub::start().await.unwrap();
    server.fail(Fault::once(Trouble::Answer {
        status: 301,
        headers: vec![(
            "location".to_owned(),
            format!("{}/repositories/1/pulls", stranger.url()),
        )],
        body: json!({"message": "Moved Permanently"}),
    }));
    let error = github.open_pull("codex/a").await.unwrap_err();
    assert!(
        matches!(error, ForgeError::Refused { status: 301, .. }),
        "{error}"
    );
    assert!(stranger.requests().is_empty());
}
