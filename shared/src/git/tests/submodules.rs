//! Work inside submodules, whose repositories are deleted with the worktree.

use super::*;

const ALLOW: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// A superproject with the submodule `lib`, which has a submodule `deep` itself, and a worktree of it.
async fn with_submodules() -> (Fixture, Repository, PathBuf) {
    let fixture = Fixture::with_commit();
    for name in ["deep", "lib"] {
        let origin = fixture.path(format!("{name}.git"));
        std::fs::create_dir(&origin).unwrap();
        git(&origin, &["init", "--quiet", "--initial-branch=main"]);
        commit(&origin, "a.txt", "a\n");
    }
    let add = |place: &Path, url: &Path, name: &str| {
        let url = url.to_str().unwrap();
        git(
            place,
            &[&ALLOW[..], &["submodule", "--quiet", "add", url, name]].concat(),
        );
        git(place, &["commit", "--quiet", "-m", "add a submodule"]);
    };
    add(&fixture.path("lib.git"), &fixture.path("deep.git"), "deep");
    add(&fixture.root, &fixture.path("lib.git"), "lib");
    let repository = fixture.repository().await;
    let path = fixture.worktree(&repository, "topic").await;
    let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
    git(&path, &[&ALLOW[..], &update].concat());
    (fixture, repository, path)
}

async fn is_nothing(repository: &Repository, path: &Path) -> bool {
    let unsaved = repository.unsaved_work(path, Some("topic")).await.unwrap();
    unsaved.is_nothing()
}

/// Commits the gitlinks, and gives the superproject's commits a second home.
fn save_superproject(path: &Path) {
    git(
        path,
        &["commit", "--quiet", "-a", "-m", "move the submodule"],
    );
    git(path, &["update-ref", "refs/remotes/origin/topic", "HEAD"]);
}

#[tokio::test]
async fn commits_in_a_submodule_are_unsaved_until_its_remote_has_them() {
    let (_fixture, repository, path) = with_submodules().await;
    assert!(is_nothing(&repository, &path).await, "only checked out");
    let lib = path.join("lib");
    commit(&lib, "b.txt", "b\n");
    save_superproject(&path);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await, "a commit in lib");
    git(
        &lib,
        &["push", "--quiet", "origin", "HEAD:refs/heads/topic"],
    );
    assert!(is_nothing(&repository, &path).await, "pushed");
    // On a branch that is not checked out.
    git(&lib, &["switch", "--quiet", "-c", "aside"]);
    commit(&lib, "c.txt", "c\n");
    git(&lib, &["checkout", "--quiet", "--detach", "HEAD~1"]);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await, "a branch in lib");
}

#[tokio::test]
async fn stashes_and_files_in_a_submodule_are_unsaved() {
    let (_fixture, repository, path) = with_submodules().await;
    let lib = path.join("lib");
    std::fs::write(lib.join("a.txt"), "changed\n").unwrap();
    assert!(!is_nothing(&repository, &path).await, "a changed file");
    git(&lib, &["stash", "--quiet"]);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await, "a stash");
    git(&lib, &["stash", "drop", "--quiet"]);
    assert!(is_nothing(&repository, &path).await);
    std::fs::write(lib.join("new.txt"), "new\n").unwrap();
    assert!(!is_nothing(&repository, &path).await, "an untracked file");
}

#[tokio::test]
async fn what_only_a_tag_or_a_mark_in_the_index_of_a_submodule_tells_of_is_unsaved() {
    let (_fixture, repository, path) = with_submodules().await;
    let lib = path.join("lib");
    git(&lib, &["checkout", "--quiet", "--detach"]);
    commit(&lib, "b.txt", "b\n");
    git(&lib, &["tag", "mine"]);
    git(&lib, &["checkout", "--quiet", "HEAD~1"]);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await, "a tag");
    git(&lib, &["tag", "--delete", "mine"]);
    assert!(is_nothing(&repository, &path).await);
    git(&lib, &["update-index", "--assume-unchanged", "a.txt"]);
    assert!(is_nothing(&repository, &path).await);
    std::fs::write(lib.join("a.txt"), "changed\n").unwrap();
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await, "a changed file");
}

#[tokio::test]
async fn nested_submodules_are_looked_into() {
    let (_fixture, repository, path) = with_submodules().await;
    let deep = path.join("lib/deep");
    commit(&deep, "b.txt", "b\n");
    let lib = path.join("lib");
    git(&lib, &["commit", "--quiet", "-a", "-m", "move deep"]);
    git(
        &lib,
        &["push", "--quiet", "origin", "HEAD:refs/heads/topic"],
    );
    save_superproject(&path);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await);
    git(
        &deep,
        &["push", "--quiet", "origin", "HEAD:refs/heads/topic"],
    );
    assert!(is_nothing(&repository, &path).await);
}

#[tokio::test]
async fn a_repository_that_was_made_inside_the_worktree_counts() {
    let (_fixture, repository, path) = with_submodules().await;
    let own = path.join("own");
    std::fs::create_dir(&own).unwrap();
    git(&own, &["init", "--quiet"]);
    commit(&own, "a.txt", "a\n");
    git(&path, &["add", "own"]);
    git(&path, &["commit", "--quiet", "-m", "embed a repository"]);
    save_superproject_if_changed(&path);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await);
}

fn save_superproject_if_changed(path: &Path) {
    git(path, &["update-ref", "refs/remotes/origin/topic", "HEAD"]);
}

#[tokio::test]
async fn nothing_that_a_submodule_configures_is_run() {
    let (fixture, repository, path) = with_submodules().await;
    let lib = path.join("lib");
    let proof = fixture.path("proof");
    let program = fixture.path("program");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", proof.display());
    executable(&program, &script);
    let program = program.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "filter.own.clean",
        "filter.own.process",
        "filter.own.smudge",
        "core.sshCommand",
        "core.pager",
    ] {
        git(&lib, &["config", key, program]);
    }
    std::fs::write(lib.join(".gitattributes"), "* filter=own\n").unwrap();
    // As old as the index, so that git has to read the contents.
    git_command(&lib, &["update-index", "--refresh"])
        .output()
        .unwrap();
    std::fs::write(lib.join("a.txt"), "b\n").unwrap();
    let _ = std::fs::remove_file(&proof);
    assert!(!is_nothing(&repository, &path).await);
    let proof = std::fs::read_to_string(proof).unwrap_or_default();
    assert_eq!(proof, "");
}

#[tokio::test]
async fn commits_of_references_that_belong_to_the_worktree_are_unsaved() {
    for reference in [
        "refs/worktree/mine",
        "refs/bisect/mine",
        "refs/rewritten/mine",
    ] {
        let fixture = Fixture::with_commit();
        let repository = fixture.repository().await;
        let path = fixture.worktree(&repository, "topic").await;
        commit(&path, "b.txt", "b\n");
        git(&path, &["update-ref", reference, "HEAD"]);
        git(&path, &["reset", "--quiet", "--hard", "HEAD~1"]);
        assert!(!is_nothing(&repository, &path).await, "{reference}");
        git(&path, &["update-ref", "-d", reference]);
        assert!(is_nothing(&repository, &path).await, "{reference}");
    }
}

/// The tags of a clone are packed, but so are all tags once git has tidied up.
#[tokio::test]
async fn a_tag_of_a_submodule_is_unsaved_after_git_has_packed_it() {
    let (_fixture, repository, path) = with_submodules().await;
    let lib = path.join("lib");
    commit(&lib, "b.txt", "b\n");
    git(&lib, &["tag", "-a", "-m", "mine", "mine"]);
    git(&lib, &["pack-refs", "--all"]);
    save_superproject(&path);
    assert!(!is_nothing(&repository, &path).await, "a tag in lib");
}

#[tokio::test]
async fn what_a_rebase_in_a_submodule_has_put_aside_is_unsaved() {
    let (_fixture, repository, path) = with_submodules().await;
    let lib = path.join("lib");
    git(&lib, &["switch", "--quiet", "main"]);
    std::fs::write(lib.join("a.txt"), "changed\n").unwrap();
    let stop = ["-c", "sequence.editor=sed -i 1ibreak"];
    let rebase = ["rebase", "--quiet", "-i", "--autostash", "HEAD~1"];
    git(&lib, &[&stop[..], &rebase].concat());
    git(&path, &["submodule", "--quiet", "update", "--force"]);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(
        !is_nothing(&repository, &path).await,
        "it put the change aside"
    );
}

#[tokio::test]
async fn worktrees_of_a_submodule_count() {
    let (fixture, repository, path) = with_submodules().await;
    let lib = path.join("lib");
    let exclude = git(&lib, &["rev-parse", "--git-path", "info/exclude"]);
    std::fs::write(exclude, "wt/\n").unwrap();
    let add = |place: &str| git(&lib, &["worktree", "add", "--quiet", "--detach", place]);
    add("wt/inside");
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(is_nothing(&repository, &path).await, "nothing is in it");
    std::fs::write(lib.join("wt/inside/a.txt"), "changed\n").unwrap();
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(
        !is_nothing(&repository, &path).await,
        "a changed file in it"
    );
    git(&lib, &["worktree", "remove", "--force", "wt/inside"]);
    assert!(is_nothing(&repository, &path).await);
    let elsewhere = fixture.path("elsewhere");
    add(elsewhere.to_str().unwrap());
    assert!(
        !is_nothing(&repository, &path).await,
        "one elsewhere needs it"
    );
    std::fs::remove_dir_all(&elsewhere).unwrap();
    assert!(is_nothing(&repository, &path).await, "a record of nothing");
}

#[tokio::test]
async fn a_repository_whose_files_lie_elsewhere_in_the_worktree_counts() {
    let (fixture, repository, path) = with_submodules().await;
    std::fs::write(fixture.root.join(".git/info/exclude"), "store/\n").unwrap();
    std::fs::create_dir(path.join("store")).unwrap();
    let init = [
        "init",
        "--quiet",
        "--separate-git-dir",
        "store/own.git",
        "own",
    ];
    git(&path, &init);
    let own = path.join("own");
    std::fs::write(own.join(".git"), "gitdir: ../store/own.git\n").unwrap();
    commit(&own, "a.txt", "a\n");
    git(&path, &["add", "own"]);
    git(&path, &["commit", "--quiet", "-m", "embed a repository"]);
    save_superproject_if_changed(&path);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!is_nothing(&repository, &path).await);
    let unsaved = repository.remove_worktree(&path, Some("topic")).await;
    assert!(unsaved.unwrap().is_some() && path.join("store/own.git").exists());
}
