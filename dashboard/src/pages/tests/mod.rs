//! Pages of hostile content: nothing of it may become markup, and nothing may need what the policy forbids.

mod analysis_samples;
mod review_samples;
mod samples;

use super::{agent_diff, board};
use crate::load::parse_diff;
use crate::view::{AgentDiffView, Card, DiffLayout, Frame};
use review_samples::review_view;
use samples::{board_view, card, diff_view, frame, pages};

#[test]
fn no_text_becomes_markup() {
    for (name, html) in pages(&frame()) {
        assert!(!html.contains("<script>"), "{name}: {html}");
        assert!(!html.contains("<img"), "{name}: {html}");
        assert!(!html.contains("javascript:"), "{name} links to a script");
        assert!(
            name == "locked" || html.contains("&lt;script&gt;"),
            "{name} shows none of it"
        );
    }
}

#[test]
fn nothing_needs_what_the_policy_forbids() {
    let values = regex::Regex::new(r#"="[^"]*""#).unwrap();
    let handlers = regex::Regex::new(r"<[a-z]+[^<>]* (style|on[a-z]+)=").unwrap();
    let scripts = regex::Regex::new(r"<script(?: [^>]*)?>([^<]*)</script>").unwrap();
    for (name, html) in pages(&frame()) {
        // Hostile text in a value has no quotation mark of its own, so what is left are the names.
        let names = values.replace_all(&html, "=");
        assert!(
            !handlers.is_match(&names),
            "{name} has an inline handler or style"
        );
        assert!(!html.contains("<style"), "{name} has an inline stylesheet");
        for script in scripts.captures_iter(&html) {
            assert_eq!(&script[1], "", "{name} has an inline script");
        }
    }
}

#[test]
fn every_form_that_changes_something_carries_the_token() {
    let forms = regex::Regex::new(r"(?s)<form[^>]*>.*?</form>").unwrap();
    let mut seen = 0;
    for (name, html) in pages(&frame()) {
        for form in forms.find_iter(&html) {
            let form = form.as_str();
            if form.contains("method=\"post\"") {
                seen += 1;
                assert!(
                    form.contains("name=\"csrf\" value=\"token\""),
                    "{name}: {form}"
                );
            }
        }
    }
    assert!(seen >= 7, "{seen}");
}

#[test]
fn a_fragment_is_main_and_nothing_else() {
    let fragment = Frame {
        fragment: true,
        ..frame()
    };
    for (name, html) in pages(&fragment) {
        if name != "locked" {
            assert!(
                html.starts_with("<main") && html.ends_with("</main>"),
                "{name}: {html}"
            );
        }
    }
}

#[test]
fn a_read_only_dashboard_offers_no_change() {
    let read_only = Frame {
        read_only: true,
        ..frame()
    };
    for (name, html) in pages(&read_only) {
        assert!(
            !html.contains("method=\"post\""),
            "{name} can change something"
        );
    }
}

#[test]
fn whoever_waits_is_counted_in_the_title() {
    let html = board(&board_view(), &frame()).into_string();
    assert!(
        html.contains("<title>(1) Board · Claude Codex</title>"),
        "{html}"
    );
    assert!(html.contains("class=\"column waiting alarm\""), "{html}");
}

#[test]
fn a_diff_shows_characters_that_hide() {
    let diff = AgentDiffView {
        card: card(),
        diff: diff_view(),
        review: None,
    };
    let html = agent_diff(&diff, &frame()).into_string();
    assert!(
        html.contains("U+202E") && !html.contains('\u{202e}'),
        "{html}"
    );
    assert!(html.contains("class=\"hk\""), "no keyword has its colour");
}

#[test]
fn a_diff_shows_what_only_a_model_would_read() {
    let patch =
        "diff --git a/x.rs b/x.rs\n@@ -1 +1 @@\n-// ok\n+// o\u{e0041}\u{200b}k 👩\u{200d}💻\n";
    let diff = AgentDiffView {
        card: card(),
        diff: parse_diff("main".to_owned(), "codex/a".to_owned(), patch, false),
        review: None,
    };
    let html = agent_diff(&diff, &frame()).into_string();
    assert!(
        html.contains("U+E0041") && html.contains("U+200B"),
        "{html}"
    );
    assert!(!html.contains(['\u{e0041}', '\u{200b}']), "{html}");
}

#[test]
fn a_page_shows_hidden_characters_wherever_they_stand() {
    let page = maud::html! { p title="a\u{202e}b" { "c\u{e0041}d\n" } };
    let shown = crate::reply::revealed(&page.0);
    assert_eq!(
        shown,
        "<p title=\"a&lt;U+202E&gt;b\">c&lt;U+E0041&gt;d\n</p>"
    );
}

#[test]
fn a_diff_marks_what_changed_within_a_line() {
    let patch =
        "diff --git a/x.rs b/x.rs\n@@ -1 +1 @@\n-let total = price;\n+let total = price - 5;\n";
    let diff = AgentDiffView {
        card: card(),
        diff: parse_diff("main".to_owned(), "codex/a".to_owned(), patch, false),
        review: None,
    };
    let html = agent_diff(&diff, &frame()).into_string();
    assert!(
        html.contains("<span class=\"em\"> - </span><span class=\"em hn\">5</span>"),
        "{html}"
    );
}

#[test]
fn comments_and_findings_stand_at_their_lines() {
    for layout in [DiffLayout::Unified, DiffLayout::Split] {
        let diff = AgentDiffView {
            card: card(),
            diff: diff_view(),
            review: Some(review_view(layout)),
        };
        let html = agent_diff(&diff, &frame()).into_string();
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}: {html}"));
        assert!(
            at("not-in-the-diff.rs") < at("id=\"diff\""),
            "above the files"
        );
        // The draft is on the first line of the new file, the finding on the second.
        let diff = &html[at("id=\"diff\"")..];
        let places = ["data-n=\"1\"", "id=\"draft-5\"", "data-n=\"2\"", "round 2"];
        let places = places.map(|text| diff.find(text));
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{places:?}: {diff}"
        );
        assert!(html.contains("Request changes (1)"), "{html}");
        assert!(html.contains("2 files are not committed"), "{html}");
        assert!(html.contains("since=person-1"), "{html}");
    }
}

/// Two hundred agents, as the speed test has them.
#[test]
fn a_full_board_is_not_heavy() {
    let mut view = board_view();
    // Of no more than twenty agents the dialog is looked at.
    let without_dialog = Card {
        dialog: None,
        ..card()
    };
    view.columns[1].cards = vec![without_dialog; 200];
    let html = board(&view, &frame()).into_string();
    assert!(html.len() < 600_000, "{}", html.len());
}

#[test]
fn what_a_report_says_is_drawn() {
    let shown: std::collections::BTreeMap<_, _> = pages(&frame()).into_iter().collect();
    let drawn = |page: &str, id: &str| shown[page].contains(&format!("id=\"{id}-drawn\""));
    for id in ["languages", "hotspots", "tests", "complexity"] {
        assert!(drawn("codebase", id), "{id}");
    }
    for id in ["identity", "layers", "coupling"] {
        assert!(drawn("architecture", id), "{id}");
    }
}
