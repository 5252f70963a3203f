//! Attention: what waits for a person, what does not, and in which words.

use super::*;
use crate::model::{LaunchStep, Timestamp, Unsaved};
use crate::store::{NewInstance, Store};

/// Returns a coder that we have launched and that runs.
fn coder() -> Instance {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("codex.db")).unwrap();
    let new = NewInstance {
        id: "work-1-a1".parse().unwrap(),
        kind: InstanceKind::Coding,
        origin: Origin::Launched,
        session_mode: SessionMode::Interactive,
        repository: "/r".to_owned(),
        worktree_path: "/nowhere".into(),
        branch_name: None,
        base_branch: "main".to_owned(),
        base_commit: None,
        tmux_session: None,
        tmux_pane: None,
        claude_session_id: None,
        issue_number: None,
        task_id: None,
        parent_instance_id: None,
        prompt: String::new(),
        require_review: false,
        max_reviews: 3,
        launch_step: LaunchStep::Ready,
        owner: None,
    };
    let coder = store.write_now(|w| w.insert_instance(&new, None)).unwrap();
    Instance {
        status: Status::Running,
        ..coder
    }
}

fn facts<'a>(instance: &'a Instance, activity: &'a Activity) -> Facts<'a> {
    Facts {
        instance,
        activity,
        rounds: None,
        owed_messages: 0,
        is_open_failure: instance.status == Status::Failed,
        is_dismissed: false,
        standing: None,
        turn: None,
    }
}

#[test]
fn only_commits_on_a_branch_can_wait() {
    let kept = |in_worktree| Attention::KeptWork {
        in_worktree,
        note: None,
        id: "work-a-a1".parse().unwrap(),
        kept: Kept::InReason,
    };
    assert!(Attention::OwedMessages { count: 1 }.is_urgent());
    assert!(kept(true).is_urgent());
    assert!(!kept(false).is_urgent());
}

#[test]
fn a_failed_agent_waits_until_somebody_has_dealt_with_it() {
    let mut instance = coder();
    instance.status = Status::Failed;
    instance.note.reason = Some("the agent exited with status 3".to_owned());
    let ended = Activity::Ended;
    let failed = attention(facts(&instance, &ended)).unwrap();
    assert_eq!(failed.short(), "failed: the agent exited with status 3");
    assert!(failed.is_urgent());
    let owed = Facts {
        owed_messages: 2,
        ..facts(&instance, &ended)
    };
    assert_eq!(attention(owed).unwrap().short(), "2 messages not taken");
    let dismissed = Facts {
        is_open_failure: false,
        is_dismissed: true,
        ..owed
    };
    assert_eq!(attention(dismissed), None);
    instance.note.kept = Some(Kept::UnsavedWork {
        worktree: "/nowhere".to_owned(),
        branch: None,
        work: Unsaved::default(),
    });
    let dismissed = Facts {
        is_open_failure: false,
        is_dismissed: true,
        ..facts(&instance, &ended)
    };
    assert!(matches!(
        attention(dismissed),
        Some(Attention::KeptWork { .. })
    ));
    instance.note.kept = None;
    for (kind, origin) in [
        (InstanceKind::Review, Origin::Launched),
        (InstanceKind::Coding, Origin::Adopted),
    ] {
        let other = Instance {
            kind,
            origin,
            ..instance.clone()
        };
        assert_eq!(attention(facts(&other, &ended)), None);
    }
}

fn ended(seconds_ago: i64, said: &str) -> EndedTurn {
    EndedTurn {
        at: Timestamp::from_unix_seconds(Timestamp::now().unix_seconds() - seconds_ago),
        said: Some(said.to_owned()),
    }
}

#[test]
fn an_agent_that_has_ended_its_turn_waits_for_a_person() {
    let instance = coder();
    let (idle, busy, unknown) = (Activity::Idle, Activity::Busy, Activity::Unknown);
    let turn = ended(60, "Postgres or SQLite?");
    let waiting = Facts {
        turn: Some(&turn),
        ..facts(&instance, &idle)
    };
    let found = attention(waiting).unwrap();
    assert_eq!(found.short(), "idle: Postgres or SQLite?");
    assert!(found.sentence().contains("Postgres or SQLite?"));

    let changed = |change: fn(&mut Instance)| {
        let mut other = instance.clone();
        change(&mut other);
        attention(Facts {
            instance: &other,
            ..waiting
        })
    };
    let adopted = |other: &mut Instance| other.origin = Origin::Adopted;
    let headless = |other: &mut Instance| other.session_mode = SessionMode::Headless;
    let in_review = |other: &mut Instance| other.status = Status::WaitingReview;
    let published = |other: &mut Instance| other.status = Status::PrCreated;
    let ending = |other: &mut Instance| other.owner = Some(crate::process::this_process());
    for change in [adopted, headless, in_review, published, ending] {
        assert_eq!(changed(change), None);
    }
    let reviewer = changed(|other| other.kind = InstanceKind::Review);
    assert!(matches!(reviewer, Some(Attention::Idle { .. })));

    let just_now = ended(0, "");
    let used_up = Rounds { used: 3, most: 3 };
    for (other, expected) in [
        (
            Facts {
                activity: &busy,
                ..waiting
            },
            false,
        ),
        (
            Facts {
                activity: &unknown,
                ..waiting
            },
            false,
        ),
        (
            Facts {
                owed_messages: 1,
                ..waiting
            },
            false,
        ),
        (
            Facts {
                turn: Some(&just_now),
                ..waiting
            },
            false,
        ),
        (
            Facts {
                turn: None,
                ..waiting
            },
            false,
        ),
        (
            Facts {
                rounds: Some(used_up),
                ..waiting
            },
            true,
        ),
    ] {
        let limit = matches!(attention(other), Some(Attention::ReviewLimit { .. }));
        assert_eq!(limit, expected, "{other:?}");
        assert_eq!(attention(other).is_some(), expected, "{other:?}");
    }
    let silent = Instance {
        last_activity: ended(30, "").at,
        ..instance.clone()
    };
    assert_eq!(
        attention(facts(&silent, &idle)),
        Some(Attention::Idle { said: None }),
        "its turn was interrupted"
    );
}

#[test]
fn the_review_limit_is_an_event_at_the_end_of_each_turn_and_says_what_the_agent_said() {
    let instance = coder();
    let idle = Activity::Idle;
    let (first, second) = (ended(60, "Which one?"), ended(30, "And now?"));
    let at = |turn| {
        let facts = Facts {
            rounds: Some(Rounds { used: 3, most: 3 }),
            turn: Some(turn),
            ..facts(&instance, &idle)
        };
        let limit = attention(facts).unwrap();
        assert_eq!(event(facts, &limit, None), event(facts, &limit, None));
        (limit.short(), limit.sentence(), event(facts, &limit, None))
    };
    let (short, sentence, event) = at(&first);
    assert_eq!(short, "review limit: Which one?");
    assert!(sentence.ends_with("It said: Which one?"), "{sentence}");
    assert_ne!(event, at(&second).2);
}

/// Its pull request is fine; what a person sent it waits.
#[test]
fn a_published_agent_that_could_not_go_on_waits_to_be_resumed() {
    let mut instance = coder();
    instance.status = Status::PrCreated;
    let ended = Activity::Ended;
    let owed = |instance: &Instance| {
        attention(Facts {
            owed_messages: 1,
            ..facts(instance, &ended)
        })
    };
    assert_eq!(owed(&instance), None, "it is being delivered");
    instance.note.reason = Some("could not be resumed".to_owned());
    assert_eq!(owed(&instance).unwrap().short(), "1 message not taken");
}

#[test]
fn a_pull_request_that_cannot_be_merged_waits_for_a_person() {
    let mut instance = coder();
    instance.status = Status::PrCreated;
    let over = Activity::Ended;
    let stuck = |instance: &Instance, conflicts: &[&str], new_commits| {
        let standing = PullStanding {
            repository: "/r".to_owned(),
            is_local: true,
            number: 2,
            base_commit: Some("b".to_owned()),
            head_commit: "h".to_owned(),
            branch_commit: None,
            mergeable: if conflicts.is_empty() {
                Mergeable::Clean
            } else {
                Mergeable::Conflicting
            },
            conflicts: conflicts.iter().map(|file| (*file).to_owned()).collect(),
            behind: Some(1),
            new_commits,
        };
        let facts = Facts {
            standing: Some(&standing),
            ..facts(instance, &over)
        };
        let found = attention(facts)?;
        assert_eq!(event(facts, &found, None), "stuck 2 h");
        assert!(found.is_urgent());
        Some((found.short(), found.sentence()))
    };
    assert_eq!(stuck(&instance, &[], 0), None);
    let (short, sentence) = stuck(&instance, &["a"], 1).unwrap();
    assert_eq!(short, "conflicts with main");
    assert!(
        sentence.contains("`claude-codex pr resolve 2`"),
        "{sentence}"
    );
    let (short, sentence) = stuck(&instance, &[], 1).unwrap();
    assert_eq!(short, "lacks 1 commit of its branch");
    assert!(
        sentence.contains("`claude-codex pr update 2`"),
        "{sentence}"
    );
    instance.session_mode = SessionMode::Headless;
    let (_, sentence) = stuck(&instance, &["a"], 0).unwrap();
    assert!(!sentence.contains("pr resolve"), "{sentence}");
    instance.status = Status::Terminated;
    assert!(stuck(&instance, &["a"], 0).is_some(), "nobody is");
    instance.status = Status::Running;
    assert_eq!(stuck(&instance, &["a"], 0), None, "it is at work on it");
}

#[test]
fn long_texts_are_cut_in_a_table_and_hidden_characters_are_shown() {
    let why = format!("a\u{202e}b {}", "x".repeat(200));
    let failed = Attention::Failed { why: Some(why) };
    let short = failed.short();
    assert!(short.starts_with("failed: a<U+202E>b xxx"), "{short}");
    assert!(short.ends_with('…') && short.chars().count() < 100);
}
