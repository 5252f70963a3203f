//! Screens of Claude Code: input box, dialogs, drafts.

use super::*;

macro_rules! captured {
    ($name:literal) => {
        include_str!(concat!("../screens/", $name, ".ansi"))
    };
}

#[test]
fn an_empty_box_takes_text() {
    for (name, screen_text) in [
        ("idle_fresh", captured!("idle_fresh")),
        ("idle_after_turn", captured!("idle_after_turn")),
        ("busy_empty", captured!("busy_empty")),
        ("busy_queued", captured!("busy_queued")),
        ("plan_idle", captured!("plan_idle")),
        ("narrow", captured!("narrow")),
        ("shortcuts", captured!("shortcuts")),
    ] {
        assert_eq!(screen(screen_text), Screen::Prompt, "{name}");
        assert_eq!(draft(screen_text), Draft::Empty, "{name}");
    }
}

#[test]
fn a_draft_is_seen() {
    for (name, screen_text) in [
        ("draft_one_line", captured!("draft_one_line")),
        ("draft_multi_line", captured!("draft_multi_line")),
        ("draft_three_lines", captured!("draft_three_lines")),
        ("busy_draft", captured!("busy_draft")),
        ("slash_menu", captured!("slash_menu")),
        ("shell_mode_empty", captured!("shell_mode_empty")),
        ("draft_scrolled", captured!("draft_scrolled")),
    ] {
        assert_eq!(screen(screen_text), Screen::Prompt, "{name}");
        assert_eq!(draft(screen_text), Draft::Text, "{name}");
    }
}

#[test]
fn a_dialog_is_seen() {
    for (name, screen_text) in [
        ("permission", captured!("permission")),
        ("permission_bash", captured!("permission_bash")),
        ("permission_pending", captured!("permission_pending")),
        ("plan_approval", captured!("plan_approval")),
        ("question", captured!("question")),
        ("rewind", captured!("rewind")),
        ("model_picker", captured!("model_picker")),
        ("trust", captured!("trust")),
        ("project_mcp", captured!("project_mcp")),
    ] {
        assert_eq!(screen(screen_text), Screen::Dialog, "{name}");
    }
}

#[test]
fn a_box_may_have_words_in_its_upper_edge() {
    let edge = "─".repeat(60);
    for top in [
        format!("{} my-name ─", "─".repeat(50)),
        "── my-name ─".to_owned(),
        " very long name very long name very long name very long n… ─".to_owned(),
        format!("─── History 2/2 {}", "─".repeat(44)),
    ] {
        let seen = |content: &str| format!("{edge}\n❯ old\n{top}\n❯\u{a0}{content}\n{edge}\n");
        assert_eq!(screen(&seen("")), Screen::Prompt, "{top}");
        assert_eq!(draft(&seen("")), Draft::Empty, "{top}");
        assert_eq!(draft(&seen("mine\n  ─ ─")), Draft::Text, "{top}");
        let message = "[claude-codex m-00000001] Title";
        assert_eq!(drafted(&seen(message), message), Drafted::Named, "{top}");
    }
    // Words that end so in a draft are no edge.
    let draft_text = format!("{edge}\n❯\u{a0}a\n  0123456789 ─\n  ❯ b\n{edge}\n");
    assert_eq!(drafted(&draft_text, "b"), Drafted::No);
    assert_eq!(draft(&draft_text), Draft::Text);
}

#[test]
fn words_of_the_agent_are_no_dialog() {
    let edge = "─".repeat(40);
    let screen_text = format!(
        "● I am done.\n\n  Waiting for permission to go on.\n\n✻ Cooked for 2s\n{edge}\n❯\u{a0}\n{edge}\n"
    );
    assert_eq!(screen(&screen_text), Screen::Prompt);
    assert_eq!(draft(&screen_text), Draft::Empty);
}

#[test]
fn anything_else_is_unknown() {
    for (name, screen_text) in [
        ("transcript_view", captured!("transcript_view")),
        ("onboarding", captured!("onboarding")),
        ("a shell", "user@host:~$ ls\nfile\nuser@host:~$ "),
        ("nothing", ""),
        ("rules without a box", "──────────────\n──────────────\n"),
    ] {
        assert_eq!(screen(screen_text), Screen::Unknown, "{name}");
        assert_eq!(draft(screen_text), Draft::Unknown, "{name}");
    }
}

#[test]
fn a_capture_without_attributes_still_shows_drafts() {
    let edge = "─".repeat(40);
    for (content, expected) in [
        ("❯\u{a0}", Draft::Empty),
        ("❯\u{a0}x", Draft::Text),
        ("❯\u{a0}Press up to edit queued messages", Draft::Empty),
        ("❯\u{a0}\n  later line", Draft::Text),
    ] {
        assert_eq!(
            draft(&format!("● hi\n{edge}\n{content}\n{edge}\n  footer\n")),
            expected,
            "{content}"
        );
    }
}

#[test]
fn a_faint_hint_is_no_draft() {
    let edge = "─".repeat(40);
    let hint = "\u{1b}[7mT\u{1b}[0;2mry \"fix the tests\"\u{1b}[0m";
    let screen_text = format!("{edge}\n❯\u{a0}{hint}\n{edge}\n");
    assert_eq!(draft(&screen_text), Draft::Empty);
}

#[test]
fn only_the_whole_message_and_nothing_else_is_ours() {
    let edge = "─".repeat(60);
    let seen = |content: &str, message: &str| {
        drafted(
            &format!("● hi\n{edge}\n❯\u{a0}{content}\n{edge}\n  footer\n"),
            message,
        )
    };
    let short = "[claude-codex m-00000001] Title\n\nBody – ünï";
    let long = "[claude-codex m-00000001] Title\n\na\nb\nc";
    for (content, message, expected) in [
        (
            "[claude-codex m-00000001] Title\n\n  Body – ünï",
            short,
            Drafted::Named,
        ),
        (
            "[claude-codex m-00000001] Ti\n  tle\n\n  Body",
            short,
            Drafted::No,
        ),
        (
            "[claude-codex m-00000001] Title[Pasted text #3 +4 lines]",
            long,
            Drafted::Named,
        ),
        (
            "[claude-codex m-00000001] Title[Pasted text #3 +5 lines]",
            long,
            Drafted::No,
        ),
        (
            "[claude-codex m-00000001] Title[Pasted text #3 +4 lines]",
            "[claude-codex m-00000001] Title\n\na\n\n",
            Drafted::Named,
        ),
        (
            "[claude-codex m-00000001] Title\n\n  caf\u{e9} x",
            "[claude-codex m-00000001] Title\n\ncafe\u{301} x",
            Drafted::Named,
        ),
        (
            "[Pasted text #1 +4 lines]",
            long,
            Drafted::Unnamed("Pasted".to_owned()),
        ),
        // Somebody writes in another script.
        (
            "[claude-codex m-00000001] Title\n\n  Body – ünï да",
            short,
            Drafted::No,
        ),
        (
            "等[claude-codex m-00000001] Title[Pasted text #3 +4 lines]",
            long,
            Drafted::No,
        ),
        ("[Pasted text #1 +4 lines]等", long, Drafted::No),
        // Somebody's blank line, and perhaps more above it.
        (
            "\n  [claude-codex m-00000001] Title\n\n  Body – ünï",
            short,
            Drafted::Unnamed("00000001".to_owned()),
        ),
        // A box that has no room for more.
        (
            "m-00000001] Title\n\n  Body – ünï",
            short,
            Drafted::Unnamed("00000001".to_owned()),
        ),
        (
            "0001] Title[Pasted text #3 +4 lines]",
            long,
            Drafted::Unnamed("Pasted".to_owned()),
        ),
        ("0001] Title[Pasted text #3 +5 lines]", long, Drafted::No),
        ("mine 0001] Title\n\n  Body – ünï", short, Drafted::No),
        ("ünï", short, Drafted::No),
        ("[Pasted text #1 +9 lines]", long, Drafted::No),
        (
            "[claude-codex m-00000002] Title[Pasted text #3 +4 lines]",
            long,
            Drafted::No,
        ),
        (
            "mine[claude-codex m-00000001] Title[Pasted text #3 +4 lines]",
            long,
            Drafted::No,
        ),
        (
            "[claude-codex m-00000001] Title[Pasted text #3 +4 lines] and mine",
            long,
            Drafted::No,
        ),
        (
            "[claude-codex m-00000001] Title[Pasted text #1 +4 lines][Pasted text #2 +4 lines]",
            long,
            Drafted::No,
        ),
        ("what is [claude-codex m-00000001]?", short, Drafted::No),
        ("", short, Drafted::No),
    ] {
        assert_eq!(seen(content, message), expected, "{content}");
    }
}

#[test]
fn the_conversation_is_not_the_box() {
    let (edge, short) = (
        "─".repeat(60),
        "[claude-codex m-00000001] Title\n\nBody – ünï",
    );
    let above = format!("❯ {short}\n{edge}\n❯\u{a0}my own words\n{edge}\n");
    assert_eq!(drafted(&above, short), Drafted::No);
    assert_eq!(drafted(captured!("permission"), short), Drafted::No);
}

#[test]
fn one_letter_under_the_cursor_is_a_draft() {
    let edge = "─".repeat(40);
    let screen_text = format!("{edge}\n❯\u{a0}\u{1b}[7mx\u{1b}[0m\n{edge}\n");
    assert_eq!(draft(&screen_text), Draft::Text);
}
