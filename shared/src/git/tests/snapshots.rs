//! Snapshots of a worktree: nothing of the person's is touched, and nothing stays hidden.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::model::Alteration;

struct Shot {
    fixture: Fixture,
    snapshot: Snapshot,
}

impl Shot {
    async fn of(files: &[(&str, &str)]) -> Self {
        let fixture = Fixture::with_commit();
        for (name, text) in files {
            let path = fixture.root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        if !files.is_empty() {
            git(&fixture.root, &["add", "-A"]);
            git(&fixture.root, &["commit", "-q", "-m", "files"]);
        }
        let repository = fixture.repository().await;
        let snapshot = Snapshot::new(&repository, &fixture.root, &fixture.path("kept"));
        Self { fixture, snapshot }
    }

    async fn take(&self) {
        self.snapshot.take(|_| true).await.unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.fixture.root.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.fixture.root.join(name)).unwrap()
    }

    async fn changes(&self) -> Vec<(String, Alteration)> {
        let changes = self.snapshot.changes().await.unwrap();
        changes
            .into_iter()
            .map(|change| (change.path.to_str().unwrap().to_owned(), change.how))
            .collect()
    }
}

#[tokio::test]
async fn what_changed_since_is_found_and_put_back() {
    let shot = Shot::of(&[("a.rs", "a\n"), ("b.rs", "b\n"), (".gitignore", "secret\n")]).await;
    // Uncommitted and untracked at the time: part of it.
    shot.write("a.rs", "a uncommitted\n");
    shot.write("new.rs", "new\n");
    let index = std::fs::read(shot.fixture.root.join(".git/index")).unwrap();
    let objects = git(&shot.fixture.root, &["count-objects"]);
    shot.take().await;
    assert_eq!(shot.changes().await, []);

    shot.write("a.rs", "a forbidden\n");
    shot.write("new.rs", "new forbidden\n");
    shot.write("extra.rs", "extra\n");
    std::fs::remove_file(shot.fixture.root.join("b.rs")).unwrap();
    let expected = [
        ("a.rs", Alteration::Modified),
        ("b.rs", Alteration::Deleted),
        ("extra.rs", Alteration::Added),
        ("new.rs", Alteration::Modified),
    ]
    .map(|(name, how)| (name.to_owned(), how));
    assert_eq!(shot.changes().await, expected);
    // A commit changes nothing about it.
    git(&shot.fixture.root, &["add", "extra.rs"]);
    assert_eq!(shot.changes().await, expected);
    git(&shot.fixture.root, &["reset", "-q"]);
    assert_eq!(
        shot.snapshot
            .content(Path::new("new.rs"))
            .await
            .unwrap()
            .unwrap(),
        b"new\n"
    );
    assert_eq!(
        shot.snapshot.content(Path::new("no.rs")).await.unwrap(),
        None
    );

    let kept = shot.fixture.path("undone");
    let changes = shot.snapshot.changes().await.unwrap();
    shot.snapshot.restore(&changes, &kept).await.unwrap();
    assert_eq!(shot.changes().await, []);
    assert_eq!(shot.read("a.rs"), "a uncommitted\n");
    assert_eq!(shot.read("b.rs"), "b\n");
    assert!(!shot.fixture.root.join("extra.rs").exists());
    assert_eq!(
        std::fs::read_to_string(kept.join("extra.rs")).unwrap(),
        "extra\n"
    );
    assert_eq!(
        std::fs::read_to_string(kept.join("a.rs")).unwrap(),
        "a forbidden\n"
    );
    let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    // What the person's own git has is as it was.
    let status = git(&shot.fixture.root, &["status", "--porcelain"]);
    assert_eq!(status, "M a.rs\n?? new.rs");
    assert_eq!(
        git(&shot.fixture.root, &["count-objects"])
            .split(',')
            .count(),
        objects.split(',').count()
    );
    assert!(!index.is_empty());
}

#[tokio::test]
async fn taking_it_leaves_index_and_objects_alone() {
    let shot = Shot::of(&[("a.rs", "a\n")]).await;
    shot.write("a.rs", "changed\n");
    shot.write("new.rs", "new\n");
    let index = std::fs::read(shot.fixture.root.join(".git/index")).unwrap();
    let objects = git(&shot.fixture.root, &["count-objects"]);
    shot.take().await;
    shot.changes().await;
    assert_eq!(
        std::fs::read(shot.fixture.root.join(".git/index")).unwrap(),
        index
    );
    assert_eq!(git(&shot.fixture.root, &["count-objects"]), objects);
}

#[tokio::test]
async fn it_can_be_taken_again() {
    let shot = Shot::of(&[("a.rs", "a\n")]).await;
    shot.take().await;
    shot.write("a.rs", "allowed\n");
    shot.write("b.rs", "b\n");
    shot.take().await;
    assert_eq!(shot.changes().await, []);
    shot.write("a.rs", "a\n");
    assert_eq!(
        shot.changes().await,
        [("a.rs".to_owned(), Alteration::Modified)]
    );
}

#[tokio::test]
async fn nothing_can_be_hidden_from_it() {
    let shot = Shot::of(&[("a.rs", "1111\n"), ("b.rs", "1111\n"), ("c.rs", "1111\n")]).await;
    let root = &shot.fixture.root;
    git(root, &["update-index", "--assume-unchanged", "a.rs"]);
    git(root, &["update-index", "--skip-worktree", "b.rs"]);
    git(root, &["config", "core.trustctime", "false"]);
    git(root, &["config", "core.checkStat", "minimal"]);
    git(root, &["config", "core.fsmonitor", "true"]);
    shot.take().await;
    for name in ["a.rs", "b.rs", "c.rs"] {
        let path = root.join(name);
        let before = std::fs::metadata(&path).unwrap().modified().unwrap();
        // The same size and the same time.
        std::fs::write(&path, "2222\n").unwrap();
        std::fs::File::open(&path)
            .unwrap()
            .set_modified(before)
            .unwrap();
    }
    shot.write(".git/info/exclude", "hidden.rs\nhidden/\n");
    shot.write("hidden.rs", "x\n");
    std::fs::create_dir(root.join("hidden")).unwrap();
    shot.write("hidden/x.rs", "x\n");
    let expected = [
        ("a.rs", Alteration::Modified),
        ("b.rs", Alteration::Modified),
        ("c.rs", Alteration::Modified),
        ("hidden.rs", Alteration::Ignored),
        ("hidden/", Alteration::Ignored),
    ]
    .map(|(name, how)| (name.to_owned(), how));
    let mut changes = shot.changes().await;
    changes.sort();
    assert_eq!(changes, expected);
}

#[tokio::test]
async fn a_repository_without_a_commit_and_a_linked_worktree_have_one_too() {
    let fixture = Fixture::empty();
    std::fs::write(fixture.root.join("a b\nc.rs"), "a\n").unwrap();
    let repository = fixture.repository().await;
    let snapshot = Snapshot::new(&repository, &fixture.root, &fixture.path("kept"));
    snapshot.take(|_| true).await.unwrap();
    std::fs::write(fixture.root.join("a b\nc.rs"), "b\n").unwrap();
    assert_eq!(snapshot.changes().await.unwrap().len(), 1);

    let fixture = Fixture::with_commit();
    let repository = fixture.repository().await;
    let worktree = fixture.worktree(&repository, "linked").await;
    let snapshot = Snapshot::new(&repository, &worktree, &fixture.path("kept"));
    snapshot.take(|_| true).await.unwrap();
    std::fs::write(worktree.join("readme.txt"), "x\n").unwrap();
    std::fs::write(fixture.root.join("readme.txt"), "y\n").unwrap();
    assert_eq!(snapshot.changes().await.unwrap().len(), 1);
    let around = worktree_around(&worktree.join("deep/er")).unwrap();
    assert_eq!(around.0, worktree);
    let main = worktree_around(&fixture.root).unwrap();
    assert_eq!((main.1, main.0), (around.1, fixture.root.clone()));
    assert_eq!(worktree_around(Path::new("/")), None);
}

#[tokio::test]
async fn a_snapshot_that_is_gone_is_an_error() {
    let shot = Shot::of(&[]).await;
    assert!(shot.snapshot.changes().await.is_err());
}
