//! Fresh standings: computed again for pull requests whose base, head or branch has moved, before anybody looks at what is kept.
//!
//! Where the references are is one question to libgit2 for each repository. A merge is computed only for what has moved, and a
//! look takes no more of these than fit into a moment; the next one goes on where it ended.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::standing::{computed, heard};
use crate::error::Error;
use crate::git::{Oid, Repository, check_reference};
use crate::model::pull_request::is_local_url;
use crate::model::{Instance, PullRequest};
use crate::store::{OpenPull, PullStanding};
use crate::workflow::Context;
use crate::workflow::detached::notify_in_background;
use crate::workflow::forges::publication::Work;

/// More open pull requests than anybody has.
const MAX_OPEN: usize = 2_000;
/// A person waits for `list`. One merge is always computed, however long it takes.
const LOOK: Limits = Limits {
    merges: 20,
    time: Duration::from_millis(150),
};
/// After a verb has moved something.
const ACT: Limits = Limits {
    merges: 100,
    time: Duration::from_secs(5),
};

/// Two looks of one process would compute the same.
static LOOKING: Mutex<()> = Mutex::const_new(());

/// How much a pass may compute.
#[derive(Debug, Clone, Copy)]
struct Limits {
    merges: usize,
    time: Duration,
}

/// Which pull requests a pass is about.
#[derive(Debug, Clone, Copy)]
enum Which<'a> {
    All,
    Of(&'a Path),
    One(&'a Path, u64),
}

impl Which<'_> {
    fn has(self, pull: &OpenPull) -> bool {
        match self {
            Self::All => true,
            Self::Of(repository) => Path::new(&pull.repository) == repository,
            Self::One(repository, number) => {
                Path::new(&pull.repository) == repository && pull.number == number
            }
        }
    }
}

/// Brings the standings of all open pull requests up to date before a look at many agents; tells whether one has got stuck.
/// What can't be read stays as it was.
pub(crate) async fn look_at_all(context: &Context) -> bool {
    try_to_refresh(context, Which::All, LOOK).await
}

/// Does the same for the pull request of one agent.
pub(crate) async fn look_at_one(context: &Context, instance: &Instance) {
    if let (Some(number), Some(url)) = (instance.pr_number, &instance.pr_url)
        && is_local_url(url)
    {
        let one = Which::One(&instance.repository, number);
        if try_to_refresh(context, one, LOOK).await {
            tell(context);
        }
    }
}

/// Brings the standings of a repository's open pull requests up to date after something has moved, and tells the person of
/// what has got stuck. What was done stands, whether or not this succeeds.
pub(crate) async fn refresh_after(context: &Context, repository: &Path) {
    if try_to_refresh(context, Which::Of(repository), ACT).await {
        tell(context);
    }
}

/// Does the same for one pull request, which was just published.
pub(crate) async fn refresh_one_after(
    context: &Context,
    repository: &Repository,
    work: &Work,
    pull: &PullRequest,
) {
    if is_local_url(&pull.url) {
        let one = Which::One(repository.root(), pull.number);
        if try_to_refresh(context, one, ACT).await {
            tell(context);
        }
        return;
    }
    // GitHub may take a moment to see what was pushed, and what it has said of the last head does not hold any more.
    let mut pull = pull.clone();
    if pull.head_commit != work.commit.as_str() {
        work.commit.as_str().clone_into(&mut pull.head_commit);
        pull.mergeable = None;
    }
    if let Err(error) = heard(context, repository, &pull).await {
        tracing::warn!(code = %error.code, %error, "cannot tell how {} stands", pull.url);
    }
}

/// Has the person told of what needs them.
pub(crate) fn tell(context: &Context) {
    if let Err(error) = notify_in_background(&context.environment, None) {
        tracing::warn!(code = %error.code, %error, "cannot notify");
    }
}

async fn try_to_refresh(context: &Context, which: Which<'_>, limits: Limits) -> bool {
    refresh(context, which, limits)
        .await
        .unwrap_or_else(|error| {
            tracing::warn!(code = %error.code, %error, "cannot tell how pull requests stand");
            false
        })
}

async fn refresh(context: &Context, which: Which<'_>, limits: Limits) -> Result<bool, Error> {
    let _alone = LOOKING.lock().await;
    let open = context.store.read(|r| r.open_pulls(MAX_OPEN)).await?;
    let open: Vec<OpenPull> = open.into_iter().filter(|pull| which.has(pull)).collect();
    let began = Instant::now();
    let (mut merges, mut got_stuck) = (0, false);
    for of_one in open.chunk_by(|one, other| one.repository == other.repository) {
        let Some(first) = of_one.first() else {
            continue;
        };
        let moved = match moved(Path::new(&first.repository), of_one).await {
            Ok(moved) => moved,
            // It may have been deleted or renamed since.
            Err(error) => {
                tracing::debug!(%error, "cannot tell how the pull requests of {} stand", first.repository);
                continue;
            }
        };
        let Some((repository, moved)) = moved else {
            continue;
        };
        for pull in moved {
            if merges >= limits.merges || (merges > 0 && began.elapsed() >= limits.time) {
                return Ok(got_stuck);
            }
            merges += 1;
            match computed_again(context, &repository, pull).await {
                Ok(has_got_stuck) => got_stuck |= has_got_stuck,
                Err(error) => {
                    let number = pull.number;
                    tracing::debug!(code = %error.code, %error, "cannot tell how pull request {number} stands");
                }
            }
        }
    }
    Ok(got_stuck)
}

/// Returns those of a repository's pull requests whose standing was computed between other commits than there are now.
async fn moved<'a>(
    root: &Path,
    pulls: &'a [OpenPull],
) -> Result<Option<(Repository, Vec<&'a OpenPull>)>, Error> {
    let repository = Repository::at(root).await?;
    let mut names: Vec<String> = pulls.iter().flat_map(references).collect();
    names.sort();
    names.dedup();
    names.retain(|name| check_reference(name).is_ok());
    let tips = repository.tips(names).await?;
    let moved: Vec<&OpenPull> = pulls.iter().filter(|pull| has_moved(pull, &tips)).collect();
    Ok((!moved.is_empty()).then_some((repository, moved)))
}

/// Returns where a base branch may be, which comes first, and where the branch is.
fn references(pull: &OpenPull) -> [String; 3] {
    let (base, head) = (&pull.base_branch, &pull.head_branch);
    [
        format!("refs/heads/{base}"),
        format!("refs/remotes/origin/{base}"),
        format!("refs/heads/{head}"),
    ]
}

fn has_moved(pull: &OpenPull, tips: &HashMap<String, Oid>) -> bool {
    let [local, fetched, branch] = references(pull).map(|name| tips.get(&name));
    let base = local.or(fetched);
    pull.seen.as_ref().is_none_or(|seen| {
        let base_has_moved = match base {
            Some(base) => seen.base_is_gone || seen.base.as_deref() != Some(base.as_str()),
            None => !seen.base_is_gone,
        };
        base_has_moved
            || seen.head != pull.head_commit
            || seen.branch.as_deref() != branch.map(Oid::as_str)
    })
}

/// Computes how a pull request stands, and tells whether it has got stuck by what has moved.
async fn computed_again(
    context: &Context,
    repository: &Repository,
    pull: &OpenPull,
) -> Result<bool, Error> {
    let (key, number) = (pull.repository.clone(), pull.number);
    let (before, pull) = context
        .store
        .read(move |r| {
            let before = r.pull_standing(&key, true, number)?;
            Ok((before, r.pull_request(&key, number)?))
        })
        .await?;
    let now = computed(context, repository, &pull).await?;
    let is_stuck = now.as_ref().is_some_and(PullStanding::is_stuck);
    let was_stuck = before.is_some_and(|before| {
        before.is_stuck() && now.is_some_and(|now| now.head_commit == before.head_commit)
    });
    Ok(is_stuck && !was_stuck)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SeenCommits;

    #[test]
    fn only_what_has_moved_is_computed_again() {
        let oid = |digit: &str| Oid::parse(&digit.repeat(40)).unwrap();
        let mut tips = HashMap::from([
            ("refs/heads/main".to_owned(), oid("a")),
            ("refs/heads/work".to_owned(), oid("b")),
        ]);
        let mut pull = OpenPull {
            repository: "/r".to_owned(),
            number: 1,
            base_branch: "main".to_owned(),
            head_branch: "work".to_owned(),
            head_commit: "b".repeat(40),
            seen: None,
        };
        assert!(has_moved(&pull, &tips), "it is new");
        pull.seen = Some(SeenCommits {
            base: Some("a".repeat(40)),
            head: "b".repeat(40),
            branch: Some("b".repeat(40)),
            base_is_gone: false,
        });
        assert!(!has_moved(&pull, &tips));
        // What was fetched does not count beside a branch of one's own.
        tips.insert("refs/remotes/origin/main".to_owned(), oid("c"));
        assert!(!has_moved(&pull, &tips));
        tips.insert("refs/heads/work".to_owned(), oid("d"));
        assert!(has_moved(&pull, &tips), "its branch has got commits");
        tips.remove("refs/heads/work");
        assert!(has_moved(&pull, &tips), "its branch is gone");
        tips.insert("refs/heads/work".to_owned(), oid("b"));
        tips.remove("refs/heads/main");
        assert!(has_moved(&pull, &tips), "its base is another");
        tips.remove("refs/remotes/origin/main");
        assert!(has_moved(&pull, &tips), "its base is gone");
        pull.seen.as_mut().unwrap().base_is_gone = true;
        assert!(!has_moved(&pull, &tips), "that is known");
        tips.insert("refs/heads/main".to_owned(), oid("a"));
        assert!(has_moved(&pull, &tips), "its base is back where it was");
        pull.seen.as_mut().unwrap().base_is_gone = false;
        assert!(!has_moved(&pull, &tips));
        pull.head_commit = "e".repeat(40);
        assert!(has_moved(&pull, &tips), "it was published again");
    }
}
