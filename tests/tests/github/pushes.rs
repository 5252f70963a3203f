//! Pushes to a real remote over HTTP, with a token that nobody gets to see.

use scripted_github::{Bare, ScriptedGithub, TOKEN};
use shared::forge::{GithubRemote, parse_remote};
use shared::git::{Auth, Git, GitError, PushOutcome, PushSpec, RejectReason, Repository};
use shared::model::{MergeMethod, PullState, Secret};
use tests::TestEnv;

use super::{client, new_pull};

/// A clone whose origin is a GitHub on loopback.
struct Place {
    env: TestEnv,
    server: ScriptedGithub,
    repository: Repository,
}

impl Place {
    async fn new() -> Self {
        let env = TestEnv::new();
        let server = ScriptedGithub::with_repository(&env.path("github"))
            .await
            .unwrap();
        env.git(&["remote", "add", "origin", &server.git_url()]);
        let git = env
            .variables()
            .iter()
            .fold(Git::default(), |git, (name, value)| {
                git.with_env(name, value)
            });
        let repository = git.discover(env.repository()).await.unwrap();
        let place = Self {
            env,
            server,
            repository,
        };
        assert_eq!(
            place.push("main", TOKEN).await.unwrap(),
            PushOutcome::Created
        );
        place
    }

    async fn push(&self, branch: &str, token: &str) -> Result<PushOutcome, GitError> {
        let spec = PushSpec {
            remote: "origin".to_owned(),
            commit: self.repository.resolve(branch).await.unwrap(),
            branch: branch.to_owned(),
            auth: Some(Auth {
                url: GithubRemote::push_scope(&self.server.git_url()).unwrap(),
                header: GithubRemote::push_header(&Secret::new(token)),
            }),
        };
        let pushed = self.repository.push(self.env.repository(), &spec).await;
        let header = GithubRemote::push_header(&Secret::new(token));
        let value = header.expose().rsplit(' ').next().unwrap();
        let shown = match &pushed {
            Ok(outcome) => format!("{outcome:?} {spec:?}"),
            Err(error) => format!("{error:?} {error} {spec:?}"),
        };
        assert!(!shown.contains(token) && !shown.contains(value), "{shown}");
        pushed
    }

    async fn refused(&self, branch: &str) -> GitError {
        self.push(branch, TOKEN).await.unwrap_err()
    }

    fn commit(&self, branch: &str, file: &str, text: &str) {
        self.env.git(&["checkout", "-q", "-B", branch]);
        std::fs::write(self.env.repository().join(file), text).unwrap();
        self.env.git(&["add", "."]);
        self.env
            .git(&["commit", "-q", "-m", &format!("change {file}")]);
    }

    fn bare(&self) -> Bare {
        self.server.state().bare.clone().unwrap()
    }

    fn head(&self) -> String {
        self.env.git(&["rev-parse", "HEAD"])
    }
}

#[tokio::test]
async fn a_branch_arrives_becomes_a_pull_request_and_is_merged() {
    for (method, file) in [
        (MergeMethod::Merge, "a"),
        (MergeMethod::Squash, "b"),
        (MergeMethod::Rebase, "c"),
    ] {
        let place = Place::new().await;
        place.commit("codex/a", file, "one\n");
        assert_eq!(
            place.push("codex/a", TOKEN).await.unwrap(),
            PushOutcome::Created
        );
        assert_eq!(
            place.push("codex/a", TOKEN).await.unwrap(),
            PushOutcome::UpToDate
        );
        assert_eq!(place.bare().commit_of("codex/a"), Some(place.head()));

        let remote = parse_remote(&place.server.git_url()).unwrap();
        assert_eq!(
            (remote.owner.as_str(), remote.repository.as_str()),
            ("octo", "hello")
        );
        let github = client(&place.server);
        let pull = github.create_pull(&new_pull("codex/a")).await.unwrap();
        assert_eq!(pull.head_commit, place.head());
        let diff = github.pull_diff(pull.number, 100_000).await.unwrap();
        assert!(diff.contains("+one"), "{diff}");

        // Somebody else is merged first.
        place.env.git(&["checkout", "-q", "main"]);
        place.commit("main", "other", "x\n");
        place.push("main", TOKEN).await.unwrap();
        github
            .merge_pull(pull.number, method, &pull.head_commit)
            .await
            .unwrap();
        let merged = github.pulls(Some(PullState::Merged), 5).await.unwrap();
        assert_eq!(merged.items[0].merge_commit, place.bare().commit_of("main"));
        let file = format!("main:{file}");
        let bare = place.bare().path().display().to_string();
        assert_eq!(place.env.git(&["--git-dir", &bare, "show", &file]), "one");
    }
}

#[tokio::test]
async fn conflicts_and_empty_branches_are_those_of_the_repository() {
    let place = Place::new().await;
    place.commit("codex/a", "f", "ours\n");
    place.push("codex/a", TOKEN).await.unwrap();
    let github = client(&place.server);
    let pull = github.create_pull(&new_pull("codex/a")).await.unwrap();
    place.env.git(&["checkout", "-q", "main"]);
    place.commit("main", "f", "theirs\n");
    place.push("main", TOKEN).await.unwrap();
    let before = place.bare().commit_of("main");
    let error = github
        .merge_pull(pull.number, MergeMethod::Merge, &pull.head_commit)
        .await
        .unwrap_err();
    assert!(
        matches!(error, shared::forge::ForgeError::Conflict { .. }),
        "{error}"
    );
    assert_eq!(place.bare().commit_of("main"), before);

    place.env.git(&["checkout", "-q", "-b", "codex/b"]);
    place.push("codex/b", TOKEN).await.unwrap();
    let error = github.create_pull(&new_pull("codex/b")).await.unwrap_err();
    assert!(
        matches!(error, shared::forge::ForgeError::NothingToCompare { .. }),
        "{error}"
    );
    let error = github.create_pull(&new_pull("codex/c")).await.unwrap_err();
    assert!(
        matches!(error, shared::forge::ForgeError::HeadNotFound { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn who_may_not_push_is_told_why() {
    let place = Place::new().await;
    place.commit("codex/a", "f", "x\n");
    let error = place
        .push("codex/a", "ghp_0123456789wrong")
        .await
        .unwrap_err();
    assert!(
        matches!(error, GitError::AuthenticationFailed { .. }),
        "{error}"
    );

    place.server.state().read_only = true;
    let error = place.refused("codex/a").await.to_string();
    assert!(
        error.contains("Permission to octo/hello.git denied"),
        "{error}"
    );
    place.server.state().read_only = false;

    place.server.state().name = "renamed".to_owned();
    let error = place.refused("codex/a").await;
    assert!(matches!(error, GitError::RemoteNotFound { .. }), "{error}");
}

#[tokio::test]
async fn what_the_remote_rejects_is_told_apart() {
    let place = Place::new().await;
    place.commit("codex/a", "f", "x\n");
    let reason_of = async |branch: &str| match place.refused(branch).await {
        GitError::PushRejected { reason, detail } => (reason, detail),
        other => unreachable!("{other}"),
    };
    place.bare().reject_pushes("no pushes on Fridays").unwrap();
    let (reason, detail) = reason_of("codex/a").await;
    assert_eq!(reason, RejectReason::Hook);
    assert!(detail.contains("no pushes on Fridays"), "{detail}");
    place.bare().accept_pushes().unwrap();

    place.bare().protect("main").unwrap();
    place.push("codex/a", TOKEN).await.unwrap();
    place.commit("main", "g", "x\n");
    let (reason, detail) = reason_of("main").await;
    assert_eq!(reason, RejectReason::Protected);
    assert!(detail.contains("GH006"), "{detail}");
    place.bare().accept_pushes().unwrap();

    place.push("main", TOKEN).await.unwrap();
    place.env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    place.commit("main", "h", "x\n");
    let (reason, _) = reason_of("main").await;
    assert_eq!(reason, RejectReason::NonFastForward);
}
