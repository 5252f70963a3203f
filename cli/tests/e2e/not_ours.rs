//! What lies in a worktree and is somebody else's.

use crate::support::{PROGRAM, Place};

/// Runs a command of ours where a folder is also to be found at another place; none where the system does not allow that.
fn mounted(place: &Place, [from, to]: [&str; 2], words: &[&str]) -> Option<std::process::Output> {
    let unshare = || {
        let mut command = place.command("unshare");
        command.args(["--map-root-user", "--mount"]);
        command
    };
    if !unshare()
        .arg("true")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("SKIPPED: nothing can be mounted here");
        return None;
    }
    let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
    let mut command = unshare();
    command.args(["sh", "-c", script, "sh", from, to, PROGRAM]);
    Some(command.args(words).output().unwrap())
}

#[test]
fn what_is_mounted_in_a_worktree_is_not_deleted_with_it() {
    let place = Place::new();
    let instance = place.json(&["code", "Fix the login"]);
    let id = instance["id"].as_str().unwrap();
    let worktree = std::path::Path::new(instance["worktreePath"].as_str().unwrap());
    std::fs::write(place.repository().join(".git/info/exclude"), "data/\n").unwrap();
    let (data, share) = (worktree.join("data"), place.path().join("share"));
    std::fs::create_dir(&data).unwrap();
    std::fs::create_dir(&share).unwrap();
    std::fs::write(share.join("only-copy"), "precious").unwrap();
    let places = [share.to_str().unwrap(), data.to_str().unwrap()];
    let Some(stopped) = mounted(&place, places, &["stop", id]) else {
        return;
    };
    assert!(stopped.status.success(), "{stopped:?}");
    assert!(share.join("only-copy").exists(), "{stopped:?}");
    let said = String::from_utf8_lossy(&stopped.stderr) + String::from_utf8_lossy(&stopped.stdout);
    assert!(said.contains("what is mounted at data inside"), "{said}");
    let cleaned = mounted(&place, places, &["clean"]).unwrap();
    assert!(cleaned.status.success(), "{cleaned:?}");
    assert!(worktree.exists() && share.join("only-copy").exists());
    // Where nothing is mounted any more it goes.
    place.text(&["clean"]);
    assert!(!worktree.exists() && share.join("only-copy").exists());
}
