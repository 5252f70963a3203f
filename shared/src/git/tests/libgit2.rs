//! libgit2 says what the git program says, and leaves to it what it can't read.

use super::*;

/// Asks libgit2 everything: where that does not answer, there is no program.
pub(super) fn by_library(repository: &Repository) -> Repository {
    let mut repository = repository.clone();
    repository.git = library();
    repository
}

pub(super) fn library() -> Git {
    let mut git = Git::new("no-such-git");
    git.uses_libgit2 = true;
    git
}

pub(super) fn program() -> Git {
    let mut git = hermetic();
    git.uses_libgit2 = false;
    git
}

/// Everything that libgit2 may answer about two revisions, each as text.
pub(super) async fn answers(
    repository: &Repository,
    worktree: &Path,
    one: &str,
    other: &str,
) -> Vec<String> {
    let resolved = [one, other].map(|revision| repository.resolve(revision));
    let [resolved, other_resolved] = resolved;
    vec![
        format!("{:?}", repository.head(worktree).await),
        format!("{:?}", repository.head_commit(worktree).await.ok()),
        format!("{:?}", repository.main_head().await),
        format!("{:?}", repository.default_branch().await),
        format!("{:?} {:?}", resolved.await, other_resolved.await),
        format!("{:?}", repository.branch_tip("c0").await),
        format!("{:?}", repository.branch_exists("gone").await),
        format!("{:?}", repository.git_dir(worktree).await),
        format!("{:?}", repository.ahead_behind(one, other).await),
        format!("{:?}", repository.merge_base(one, other).await),
    ]
}

/// What libgit2 must not answer, or answers as git does.
async fn assert_left_to_git(fixture: &Fixture, expected: &[&str]) {
    let repository = fixture.repository().await;
    let same = by_program(&repository);
    let by_git = answers(&same, &fixture.root, "main", "HEAD").await;
    let answered = answers(&repository, &fixture.root, "main", "HEAD").await;
    assert_eq!(answered, by_git);
    let alone = by_library(&repository);
    for name in expected {
        let left = match *name {
            "head" => alone.head(&fixture.root).await.is_err(),
            "ref" => alone.read_ref("refs/heads/main").await.is_err(),
            "count" => alone.ahead_behind("main", "HEAD").await.is_err(),
            "discover" => library().discover(&fixture.root).await.is_err(),
            name => panic!("{name}"),
        };
        assert!(left, "libgit2 has answered {name}");
    }
}

fn delete_object(fixture: &Fixture, id: &str) {
    let (folder, file) = id.split_at(2);
    let object = fixture.root.join(".git/objects").join(folder).join(file);
    std::fs::remove_file(object).unwrap();
}

#[tokio::test]
async fn it_answers_without_the_program() {
    let fixture = Fixture::with_commit();
    git(&fixture.root, &["branch", "c0"]);
    let worktree = fixture.worktree(&fixture.repository().await, "topic").await;
    commit(&worktree, "b.txt", "b\n");
    for place in [&fixture.root, &worktree] {
        let repository = library().discover(place).await.unwrap();
        let answered = answers(&repository, place, "main", "topic").await;
        let same = program().discover(place).await.unwrap();
        assert_eq!(answered, answers(&same, place, "main", "topic").await);
        assert!(answered[8].contains("ahead: 1, behind: 0"), "{answered:?}");
    }
}

/// What git is asked where libgit2 may not open the repository.
const EVERYTHING: [&str; 4] = ["head", "ref", "count", "discover"];

async fn assert_format_is_left_to_git(option: &str) {
    let fixture = Fixture::empty();
    std::fs::remove_dir_all(fixture.root.join(".git")).unwrap();
    let init = ["init", "--quiet", "--initial-branch=main", option];
    git(&fixture.root, &init);
    commit(&fixture.root, "a.txt", "a\n");
    assert_left_to_git(&fixture, &EVERYTHING).await;
}

#[tokio::test]
async fn reftable_is_left_to_git() {
    assert_format_is_left_to_git("--ref-format=reftable").await;
}

#[tokio::test]
async fn sha256_is_left_to_git() {
    assert_format_is_left_to_git("--object-format=sha256").await;
}

#[tokio::test]
async fn extensions_are_left_to_git() {
    let fixture = Fixture::with_commit();
    for version in ["0", "1"] {
        git(
            &fixture.root,
            &["config", "core.repositoryFormatVersion", version],
        );
        git(
            &fixture.root,
            &["config", "extensions.worktreeConfig", "true"],
        );
        assert_left_to_git(&fixture, &EVERYTHING).await;
    }
    git(
        &fixture.root,
        &[
            "config",
            "--file",
            ".git/config",
            "extensions.unheardOf",
            "true",
        ],
    );
    let error = hermetic().discover(&fixture.root).await.unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }), "{error}");
}

#[tokio::test]
async fn histories_that_are_not_whole_are_left_to_git() {
    let origin = Fixture::with_commit();
    for text in ["1", "2", "3"] {
        commit(&origin.root, "a.txt", text);
    }
    git(&origin.root, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.root.display());
    let clone = |option: &str| {
        let fixture = Fixture::empty();
        std::fs::remove_dir_all(&fixture.root).unwrap();
        let folder = fixture.path("");
        git(&folder, &["clone", "--quiet", option, &url, "project"]);
        fixture
    };
    assert_left_to_git(&clone("--depth=2"), &["count"]).await;

    let partial = clone("--filter=blob:none");
    let [before, first] = ["main~1", "main~3"].map(|name| git(&partial.root, &["rev-parse", name]));
    let packs = partial.root.join(".git/objects/pack");
    std::fs::rename(&packs, partial.path("packs")).unwrap();
    std::fs::create_dir(&packs).unwrap();
    for pack in std::fs::read_dir(partial.path("packs")).unwrap() {
        let pack = pack.unwrap().path();
        if pack.extension().is_some_and(|ending| ending == "pack") {
            let mut unpacking = git_command(&partial.root, &["unpack-objects", "-q"]);
            let unpacking = unpacking.stdin(std::fs::File::open(pack).unwrap());
            assert!(unpacking.status().unwrap().success());
        }
    }
    delete_object(&partial, &before);
    let repository = partial.repository().await;
    let alone = by_library(&repository);
    assert!(alone.ahead_behind(&first, "main").await.is_err());
    let said = repository.ahead_behind(&first, "main").await.unwrap_err();
    let by_git = by_program(&repository).ahead_behind(&first, "main").await;
    assert_eq!(said.to_string(), by_git.unwrap_err().to_string());
}

#[tokio::test]
async fn missing_objects_are_left_to_git() {
    let fixture = Fixture::with_commit();
    let tip = commit(&fixture.root, "a.txt", "a\n");
    delete_object(&fixture, tip.as_str());
    assert_left_to_git(&fixture, &["head", "ref", "count"]).await;
}

/// What git printed into `packed-refs` about a tag's commit is not believed.
#[tokio::test]
async fn a_peeled_id_hides_nothing() {
    let fixture = Fixture::with_commit();
    let harmless = commit(&fixture.root, "a.txt", "harmless\n");
    let payload = commit(&fixture.root, "a.txt", "payload\n");
    git(&fixture.root, &["pack-refs", "--all"]);
    let lines = format!(
        "# pack-refs with: peeled fully-peeled sorted \n{payload} refs/heads/main\n^{harmless}\n"
    );
    std::fs::write(fixture.root.join(".git/packed-refs"), lines).unwrap();
    let repository = library().discover(&fixture.root).await.unwrap();
    assert_eq!(repository.resolve("main").await.unwrap(), payload);
    assert_eq!(
        repository.head_commit(&fixture.root).await.unwrap(),
        payload
    );
}

#[tokio::test]
async fn changes_on_disk_are_seen_by_the_next_question() {
    let fixture = Fixture::with_commit();
    let repository = library().discover(&fixture.root).await.unwrap();
    for step in 0..4 {
        let tip = commit(&fixture.root, "a.txt", &step.to_string());
        match step {
            1 => drop(git(&fixture.root, &["pack-refs", "--all"])),
            2 => drop(git(&fixture.root, &["gc", "--quiet", "--prune=now"])),
            _ => {}
        }
        assert_eq!(repository.resolve("main").await.unwrap(), tip);
        let counted = repository.ahead_behind("main~1", "main").await;
        // `main~1` is for git alone to read.
        assert!(counted.is_err());
        let before = git(&fixture.root, &["rev-parse", "main~1"]);
        let counted = repository.ahead_behind(&before, "main").await.unwrap();
        assert_eq!((counted.ahead, counted.behind), (1, 0));
    }
    git(&fixture.root, &["checkout", "--quiet", "--detach"]);
    git(&fixture.root, &["branch", "-D", "main"]);
    assert!(!repository.branch_exists("main").await.unwrap());
    assert!(matches!(
        repository.main_head().await.unwrap(),
        Head::Detached(_)
    ));
}

#[tokio::test]
async fn a_hostile_configuration_runs_nothing() {
    let fixture = Fixture::with_commit();
    let mark = fixture.path("ran");
    let script = fixture.path("script");
    executable(&script, &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.alternateRefsCommand",
        "credential.helper",
        "diff.external",
        "gpg.program",
        "filter.x.clean",
        "filter.x.process",
        "uploadpack.packObjectsHook",
    ] {
        git(&fixture.root, &["config", key, script.to_str().unwrap()]);
    }
    git(
        &fixture.root,
        &[
            "config",
            "core.hooksPath",
            fixture.path("").to_str().unwrap(),
        ],
    );
    executable(
        &fixture.path("reference-transaction"),
        &format!("#!/bin/sh\ntouch {}\n", mark.display()),
    );
    let repository = library().discover(&fixture.root).await.unwrap();
    answers(&repository, &fixture.root, "main", "HEAD").await;
    assert!(!mark.exists());
}

/// Only root can give files away.
#[tokio::test]
async fn files_of_another_user_are_left_to_git() {
    let fixture = Fixture::with_commit();
    let linked = fixture
        .worktree(&fixture.repository().await, "linked")
        .await;
    let give = |path: &Path, user| std::os::unix::fs::lchown(path, Some(user), None).is_ok();
    let user = rustix::process::geteuid().as_raw();
    for (place, given) in [
        (&fixture.root, fixture.root.clone()),
        (&fixture.root, fixture.root.join(".git")),
        (&linked, linked.join(".git")),
        (&linked, fixture.root.join(".git/worktrees/linked")),
    ] {
        let repository = hermetic().discover(place).await.unwrap();
        if !give(&given, 12_345) {
            return;
        }
        for git in [hermetic(), program()] {
            let error = git.discover(place).await.unwrap_err();
            let is_refused = matches!(error, GitError::DubiousOwnership { .. });
            assert!(is_refused, "{given:?}: {error}");
        }
        let error = repository.head(place).await.unwrap_err();
        assert!(
            matches!(error, GitError::DubiousOwnership { .. }),
            "{error}"
        );
        give(&given, user);
    }
}

#[tokio::test]
async fn a_named_pipe_does_not_hold_up_the_caller() {
    let fixture = Fixture::with_commit();
    let repository = library().discover(&fixture.root).await.unwrap();
    let pipe = fixture.root.join(".git/refs/heads/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let asked = repository.read_ref("refs/heads/pipe");
    let at_once = repository.read_ref("refs/heads/main");
    let (asked, at_once) = tokio::join!(asked, at_once);
    assert!(asked.is_err());
    assert!(at_once.unwrap().is_some());
    // Ends the thread that waits.
    std::fs::write(&pipe, "").unwrap();
}
