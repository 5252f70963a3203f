//! libgit2 and the git program give the same answers, for repositories of every layout and random histories.

use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;

use proptest::collection::vec;
use proptest::prelude::*;

use super::libgit2::{answers, by_library, library, program};
use super::*;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one list of cases")]
async fn where_files_are_is_found_as_git_finds_it() {
    let fixture = Fixture::with_commit();
    let base = fixture.path("");
    let linked = fixture
        .worktree(&fixture.repository().await, "linked")
        .await;
    std::fs::create_dir(fixture.root.join("folder")).unwrap();
    symlink(&fixture.root, fixture.path("link")).unwrap();
    let odd = base.join(std::ffi::OsString::from_vec(b"odd \xff\n'".to_vec()));
    std::fs::create_dir(&odd).unwrap();
    git(&odd, &["init", "--quiet"]);
    commit(&odd, "a.txt", "a\n");
    git(
        &base,
        &["init", "--quiet", "--separate-git-dir=elsewhere", "apart"],
    );
    commit(&fixture.path("apart"), "a.txt", "a\n");
    git(
        &fixture.path("apart"),
        &["worktree", "add", "--quiet", "../of-apart"],
    );
    git(
        &base,
        &["clone", "--quiet", "--bare", "project", "bare.git"],
    );
    git(
        &fixture.path("bare.git"),
        &["worktree", "add", "--quiet", "../of-bare"],
    );
    git(&base, &["init", "--quiet", "around"]);
    let source = fixture.root.to_str().unwrap();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "--quiet",
        source,
        "sub",
    ];
    git(&fixture.path("around"), &add);
    git(
        &fixture.path("around/sub"),
        &["worktree", "add", "--quiet", "../../of-sub"],
    );
    // A `.git` that is no repository: git goes on with the one around it.
    std::fs::create_dir_all(fixture.root.join("hollow/.git")).unwrap();
    git(&fixture.root, &["init", "--quiet", "broken"]);
    std::fs::write(fixture.root.join("broken/.git/HEAD"), "nonsense\n").unwrap();
    git(&base, &["init", "--quiet", "moved"]);
    git(
        &fixture.path("moved"),
        &["config", "core.worktree", "../../linked"],
    );
    symlink(
        fixture.root.join(".git"),
        fixture.path("of-bare/folder-git"),
    )
    .unwrap();
    std::fs::create_dir(fixture.path("borrowed")).unwrap();
    symlink(fixture.root.join(".git"), fixture.path("borrowed/.git")).unwrap();
    let names = [
        "project",
        "project/folder",
        "project/readme.txt",
        "project/.git",
        "link",
        "apart",
        "elsewhere",
        "of-apart",
        "bare.git",
        "of-bare",
        "around",
        "around/sub",
        "of-sub",
        "project/hollow",
        "project/broken",
        "moved",
        "borrowed",
        "linked",
        "nowhere",
    ];
    let places = names.map(|name| fixture.path(name));
    for place in places.iter().chain([&odd, &linked]) {
        let found = async |git: Git| match git.discover(place).await {
            Ok(found) => format!(
                "{:?} {:?} {:?}",
                found.common_dir(),
                found.root(),
                found.worktree()
            ),
            Err(error) => format!("{error}"),
        };
        assert_eq!(found(hermetic()).await, found(program()).await, "{place:?}");
    }
    for place in [
        &fixture.root,
        &linked,
        &odd,
        &fixture.path("apart"),
        &fixture.path("of-apart"),
    ] {
        library().discover(place).await.unwrap();
    }
    // The repository of a linked worktree is deleted.
    std::fs::remove_dir_all(fixture.root.join(".git")).unwrap();
    for git in [hermetic(), program()] {
        assert!(git.discover(&linked).await.is_err());
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one list of cases")]
async fn references_of_every_kind_are_read_as_git_reads_them() {
    let fixture = Fixture::with_commit();
    let root = &fixture.root;
    let repository = fixture.repository().await;
    let worktree = fixture.worktree(&repository, "linked").await;
    let first = commit(root, "a.txt", "a\n");
    let second = commit(&worktree, "b.txt", "b\n");
    git(root, &["tag", "-a", "-m", "x", "annotated"]);
    git(root, &["tag", "-a", "-m", "x", "twice", "annotated"]);
    git(root, &["update-ref", "refs/codex/tree", "HEAD^{tree}"]);
    git(
        root,
        &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
    );
    git(
        root,
        &["symbolic-ref", "refs/heads/alias2", "refs/heads/alias"],
    );
    git(
        root,
        &["symbolic-ref", "refs/heads/dangling", "refs/heads/gone"],
    );
    git(
        root,
        &["symbolic-ref", "refs/heads/loop", "refs/heads/loop"],
    );
    git(root, &["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
    git(root, &["update-ref", "refs/remotes/origin/other", "HEAD~1"]);
    git(
        root,
        &[
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/other",
        ],
    );
    git(&worktree, &["update-ref", "refs/worktree/own", "HEAD"]);
    symlink("refs/heads/main", root.join(".git/refs/heads/linked-name")).unwrap();
    std::fs::write(root.join(".git/refs/heads/empty"), "").unwrap();
    let names = [
        "heads/main",
        "heads/linked",
        "heads/alias",
        "heads/alias2",
        "heads/dangling",
        "heads/loop",
        "heads/gone",
        "heads/linked-name",
        "heads/empty",
        "heads/directory",
        "tags/annotated",
        "tags/twice",
        "codex/tree",
        "remotes/origin/HEAD",
        "remotes/origin/main",
        "worktree/own",
    ];
    git(root, &["branch", "directory/below"]);
    for packed in [false, true] {
        if packed {
            std::fs::remove_file(root.join(".git/refs/heads/empty")).unwrap();
            git(root, &["pack-refs", "--all"]);
        }
        for name in names {
            let name = format!("refs/{name}");
            let by_git = by_program(&repository);
            let expected = format!("{:?}", by_git.read_ref(&name).await.ok());
            assert_eq!(
                format!("{:?}", repository.read_ref(&name).await.ok()),
                expected,
                "{name}"
            );
            let expected = format!("{:?}", by_git.resolve(&name).await.ok());
            assert_eq!(
                format!("{:?}", repository.resolve(&name).await.ok()),
                expected,
                "{name}"
            );
        }
    }
    // Symbolic links are left out of lists.
    let is_listed = |name: &&&str| name.starts_with("heads/") && !name.ends_with("linked-name");
    let branches = names.iter().filter(is_listed);
    let branches: Vec<String> = branches.map(|name| format!("refs/{name}")).collect();
    let tips = repository.tips(branches.clone()).await.unwrap();
    for name in &branches {
        let expected = repository.read_ref(name).await.ok().flatten();
        assert_eq!(tips.get(name), expected.as_ref(), "{name}");
    }
    let by_git = by_program(&repository).tips(branches).await.unwrap();
    assert_eq!(by_git.get("refs/heads/main"), tips.get("refs/heads/main"));
    assert!(!by_git.contains_key("refs/heads/directory/below"));
    let alone = by_library(&repository);
    assert_eq!(
        alone
            .tips(vec!["refs/heads/main".to_owned()])
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        alone.read_ref("refs/tags/twice").await.unwrap(),
        Some(first)
    );
    assert_eq!(
        alone.default_branch().await.unwrap().as_deref(),
        Some("other")
    );
    for head in [
        "ref: refs/heads/alias2",
        "ref: refs/heads/dangling",
        "ref: refs/codex/odd",
        second.as_str(),
    ] {
        std::fs::write(root.join(".git/HEAD"), format!("{head}\n")).unwrap();
        let expected = format!("{:?}", by_program(&repository).main_head().await.unwrap());
        assert_eq!(format!("{:?}", alone.main_head().await.unwrap()), expected);
    }
    std::fs::remove_file(root.join(".git/HEAD")).unwrap();
    symlink("refs/heads/main", root.join(".git/HEAD")).unwrap();
    assert_eq!(
        repository.main_head().await.unwrap(),
        Head::Branch("main".to_owned())
    );
}

/// A commit of a random history: its parents, as distances backwards, and how its clock was off.
type Link = (Vec<usize>, i64);

fn history() -> impl Strategy<Value = Vec<Link>> {
    let clock = prop_oneof![4 => Just(0_i64), 1 => -20_i64..20];
    vec((vec(1_usize..4, 0..3), clock), 2..14)
}

/// Makes the commits in one go, commit `n` on branch `cn`.
fn import(root: &Path, history: &[Link]) {
    use std::io::Write;
    let mut stream = String::new();
    for (number, (parents, clock)) in history.iter().enumerate() {
        let time = 1_700_000_000 + i64::try_from(number).unwrap() * 4 + clock;
        stream += &format!("commit refs/heads/c{number}\nmark :{}\n", number + 1);
        stream += &format!("committer Ada <ada@example.com> {time} +0000\ndata 1\n{number:x}\n");
        let mut seen = Vec::new();
        for parent in parents.iter().filter_map(|back| number.checked_sub(*back)) {
            if seen.contains(&parent) {
                continue;
            }
            let word = if seen.is_empty() { "from" } else { "merge" };
            stream += &format!("{word} :{}\n", parent + 1);
            seen.push(parent);
        }
        stream += "\n";
    }
    let mut importing = git_command(root, &["fast-import", "--quiet"]);
    let mut importing = importing
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    importing
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    assert!(importing.wait().unwrap().success());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_are_read_as_git_reads_them(
        history in history(),
        pairs in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 2),
        is_packed: bool,
        graph in prop::option::of(any::<prop::sample::Index>()),
        checked_out: prop::sample::Index,
    ) {
        let fixture = Fixture::with_commit();
        let root = &fixture.root;
        import(root, &history);
        let branch = |index: &prop::sample::Index| format!("c{}", index.index(history.len()));
        if is_packed {
            git(root, &["pack-refs", "--all"]);
            git(root, &["repack", "--quiet", "-a", "-d"]);
        }
        if let Some(tip) = graph {
            let mut writing = git_command(root, &["commit-graph", "write", "--stdin-commits"]);
            let writing = writing.stdin(std::process::Stdio::piped()).spawn();
            let mut writing = writing.unwrap();
            let tip = git(root, &["rev-parse", &branch(&tip)]);
            std::io::Write::write_all(&mut writing.stdin.take().unwrap(), tip.as_bytes()).unwrap();
            assert!(writing.wait().unwrap().success());
        }
        let worktree = fixture.path("wt");
        git(root, &["worktree", "add", "--quiet", worktree.to_str().unwrap(), &branch(&checked_out)]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let repository = hermetic().discover(&worktree).await.unwrap();
            let by_git = by_program(&repository);
            for (one, other) in &pairs {
                let (one, other) = (branch(one), branch(other));
                let expected = answers(&by_git, &worktree, &one, &other).await;
                let found = answers(&repository, &worktree, &one, &other).await;
                assert_eq!(found, expected, "{one} {other}");
            }
        });
    }
}
