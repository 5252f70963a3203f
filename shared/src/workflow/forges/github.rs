//! Pull requests on GitHub: the branch pushed by git, the rest through the API.
//!
//! What GitHub last said is kept, so that asking again costs it nothing, and so is its wish to be left
//! alone for a while, which every process then respects.

use super::publication::{MergeTerms, Work, check_seen};
use crate::error::{Code, Error};
use crate::forge::{Fetched, ForgeError, Github, GithubRemote};
use crate::git::{Auth, Oid, PushSpec, Repository};
use crate::model::{Mergeable, NewPullRequest, PullRequest, PullState, Secret};
use crate::workflow::preconditions::merged_before;
use crate::workflow::{Context, Run, Step};

/// Back-off after a rate limit without a `Retry-After`.
const DEFAULT_BACKOFF_SECONDS: u64 = 60;

/// One repository on GitHub, to be asked and pushed to.
#[derive(Debug)]
pub(crate) struct GithubForge {
    client: Github,
    /// Of a git remote.
    remote_name: String,
    /// None where git has credentials of its own, as with ssh.
    auth: Option<Auth>,
    /// What its rows in the database begin with.
    key: String,
}

impl GithubForge {
    pub(crate) async fn open(
        context: &Context,
        repository: &Repository,
        remote: GithubRemote,
        token: &Secret,
    ) -> Result<Self, Error> {
        let remote_name = context.settings().forge.remote.clone();
        let url = repository.remote_url(&remote_name).await?;
        let scope = url.as_deref().and_then(GithubRemote::push_scope);
        let key = format!("{}/{}/{}", remote.host, remote.owner, remote.repository);
        let api = context.environment.get("GITHUB_API_URL");
        Ok(Self {
            client: Github::new(remote, api, token)?,
            remote_name,
            auth: scope.map(|url| Auth {
                url,
                header: GithubRemote::push_header(token),
            }),
            key,
        })
    }

    /// Returns the client, unless GitHub wants to be left alone.
    pub(crate) async fn client(&self, context: &Context) -> Result<&Github, Error> {
        let key = self.key.clone();
        match context.store.read(move |r| r.retry_after(&key)).await? {
            None => Ok(&self.client),
            Some(seconds) => Err(ForgeError::RateLimited {
                message: "it asked to be left alone a moment ago".to_owned(),
                retry_after: Some(std::time::Duration::from_secs(seconds)),
            }
            .into()),
        }
    }

    /// Takes an answer; a wish to be left alone is remembered.
    pub(crate) async fn remember_rate_limit<T>(
        &self,
        context: &Context,
        answer: Result<T, ForgeError>,
    ) -> Result<T, Error> {
        if let Err(ForgeError::RateLimited { retry_after, .. }) = &answer {
            let seconds = retry_after.map_or(DEFAULT_BACKOFF_SECONDS, |wait| wait.as_secs().max(1));
            let key = self.key.clone();
            context
                .store
                .write(move |w| w.set_retry_after(&key, seconds))
                .await?;
        }
        Ok(answer?)
    }

    /// Pushes the branch, and opens its pull request or brings the open one up to date.
    pub(crate) async fn publish(
        &self,
        context: &Context,
        run: &Run,
        repository: &Repository,
        work: &Work,
        new: &NewPullRequest,
    ) -> Result<(PullRequest, bool), Error> {
        let client = self.client(context).await?;
        // A branch that was deleted there is not brought back. If GitHub can't be asked, that shows after the push.
        let known = client.pulls_from(&new.head_branch).await;
        refuse_merged(&known.unwrap_or_default(), work, new)?;
        run.step(Step::PushingBranch)?;
        let push = self.push_spec(&work.commit, &work.branch);
        repository.push(&work.coder.worktree_path, &push).await?;
        run.step(Step::OpeningPullRequest)?;
        let mut open = self.open_for(context, client, work, new).await?;
        if open.is_none() {
            match client.create_pull(new).await {
                // Another call was faster; its pull request is the one.
                Err(ForgeError::PullRequestExists { .. }) => {
                    open = self.open_for(context, client, work, new).await?;
                    if open.is_none() {
                        return Err(exists_and_does_not(new));
                    }
                }
                created => return Ok((self.remember_rate_limit(context, created).await?, true)),
            }
        }
        let Some(open) = open else {
            return Err(exists_and_does_not(new));
        };
        let updated = client.update_pull(open.number, &new.title, &new.body).await;
        Ok((self.remember_rate_limit(context, updated).await?, false))
    }

    fn push_spec(&self, commit: &Oid, branch: &str) -> PushSpec {
        PushSpec {
            remote: self.remote_name.clone(),
            commit: commit.clone(),
            branch: branch.to_owned(),
            auth: self.auth.clone(),
        }
    }

    /// Pushes what the branch of a pull request has got; never by force.
    pub(crate) async fn update(
        &self,
        context: &Context,
        repository: &Repository,
        pull: &PullRequest,
        head: &Oid,
    ) -> Result<PullRequest, Error> {
        let push = self.push_spec(head, &pull.head_branch);
        repository.push(repository.root(), &push).await?;
        let mut updated = self.get(context, pull.number).await?;
        // GitHub may take a moment to see what it was given; what it says until then is about what was there before.
        if updated.head_commit != head.as_str() {
            head.as_str().clone_into(&mut updated.head_commit);
            updated.mergeable = Some(Mergeable::Unknown);
        }
        Ok(updated)
    }

    /// Returns the open pull request for some work: the one that it has had, or one from the same branch into the same base.
    ///
    /// One into another base is somebody else's.
    async fn open_for(
        &self,
        context: &Context,
        client: &Github,
        work: &Work,
        new: &NewPullRequest,
    ) -> Result<Option<PullRequest>, Error> {
        let found = client.pulls_from(&new.head_branch).await;
        let mut found = self.remember_rate_limit(context, found).await?;
        refuse_merged(&found, work, new)?;
        found.retain(|pull| pull.state == PullState::Open);
        let is_own = |pull: &PullRequest| work.coder.pr_url.as_deref() == Some(&pull.url);
        let is_alike = |pull: &PullRequest| pull.base_branch == new.base_branch;
        let chosen = found.iter().position(is_own);
        let chosen = chosen.or_else(|| found.iter().position(is_alike));
        Ok(chosen.map(|index| found.swap_remove(index)))
    }

    /// Returns the open pull request of a branch.
    pub(crate) async fn open_of(
        &self,
        context: &Context,
        branch: &str,
    ) -> Result<Option<PullRequest>, Error> {
        let answer = self.client(context).await?.open_pull(branch).await;
        self.remember_rate_limit(context, answer).await
    }

    /// Returns a pull request, by a conditional request (ETag): an unchanged one costs no rate limit.
    pub(crate) async fn get(&self, context: &Context, number: u64) -> Result<PullRequest, Error> {
        let client = self.client(context).await?;
        let resource = format!("{}/pulls/{number}", self.key);
        let asked = resource.clone();
        let known = context
            .store
            .read(move |r| r.cached_response(&asked))
            .await?;
        let known = known.and_then(|heard| {
            let pull = serde_json::from_str::<PullRequest>(&heard.body).ok()?;
            Some((heard.etag, pull))
        });
        // While it finds out whether there are conflicts, the tag may stay what it was.
        let is_known = |pull: &PullRequest| {
            let unsaid = matches!(pull.mergeable, None | Some(Mergeable::Unknown));
            pull.state != PullState::Open || !unsaid
        };
        let tag = known
            .as_ref()
            .filter(|(_, pull)| is_known(pull))
            .map(|(tag, _)| tag.as_str());
        let answer = client.pull(number, tag).await;
        match (self.remember_rate_limit(context, answer).await?, known) {
            (Fetched::Unchanged, Some((_, pull))) => Ok(pull),
            (Fetched::Unchanged, None) => Err(Error::new(
                Code::ForgeUnavailable,
                format!("GitHub says nothing about pull request {number}"),
            )
            .hint("Try again in a moment.")),
            (Fetched::New { value, etag }, _) => {
                let body = serde_json::json!(value).to_string();
                context
                    .store
                    .write(move |w| w.set_heard(&resource, etag.as_deref(), &body))
                    .await?;
                Ok(value)
            }
        }
    }

    pub(crate) async fn list(
        &self,
        context: &Context,
        state: Option<PullState>,
        limit: usize,
    ) -> Result<Vec<PullRequest>, Error> {
        let answer = self.client(context).await?.pulls(state, limit).await;
        Ok(self.remember_rate_limit(context, answer).await?.items)
    }

    pub(crate) async fn diff(
        &self,
        context: &Context,
        number: u64,
        limit: usize,
    ) -> Result<String, Error> {
        let answer = self.client(context).await?.pull_diff(number, limit).await;
        self.remember_rate_limit(context, answer).await
    }

    pub(crate) async fn close(&self, context: &Context, number: u64) -> Result<PullRequest, Error> {
        let answer = self.client(context).await?.close_pull(number).await;
        self.remember_rate_limit(context, answer).await
    }

    pub(crate) async fn merge(
        &self,
        context: &Context,
        number: u64,
        terms: &MergeTerms,
    ) -> Result<PullRequest, Error> {
        let pull = self.get(context, number).await?;
        match pull.state {
            PullState::Open => {}
            PullState::Merged => return Ok(pull),
            PullState::Closed => {
                return Err(Error::new(
                    Code::PullRequestNotOpen,
                    format!("pull request {number} is closed"),
                )
                .hint(format!("Reopen it at {} first.", pull.url)));
            }
        }
        check_seen(&pull, terms)?;
        let client = self.client(context).await?;
        let merged = client.merge_pull(number, terms.method, &pull.head_commit);
        let answer = merged.await;
        self.remember_rate_limit(context, answer).await?;
        self.get(context, number).await
    }
}

/// Refuses what a pull request has merged as other commits: git can't tell.
fn refuse_merged(known: &[PullRequest], work: &Work, new: &NewPullRequest) -> Result<(), Error> {
    let merged = known.iter().find(|pull| {
        pull.state == PullState::Merged
            && pull.base_branch == new.base_branch
            && pull.head_commit == work.commit.as_str()
    });
    match merged {
        Some(pull) => Err(merged_before(pull.number, &new.base_branch)),
        None => Ok(()),
    }
}

fn exists_and_does_not(new: &NewPullRequest) -> Error {
    ForgeError::PullRequestExists {
        head: new.head_branch.clone(),
    }
    .into()
}
