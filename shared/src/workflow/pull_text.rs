//! Title and body of a pull request: description, `Closes #N`, task and review summary.

use crate::model::hidden::{drop_hidden, drop_hidden_in_line};
use crate::model::pull_request::MAX_TITLE_CHARS;
use crate::model::{Instance, Review, Severity, Task, Verdict};

/// GitHub takes 65,536 characters; what is added to a description needs far less than the rest.
const MAX_BODY: usize = 65_000;
/// What comes before the summary of the reviews, and how each begins.
const SUMMARY: &str = "\n\n---\n";
const HEADLINE: &str = "**Reviewed";

/// Returns a title on one line, with nothing in it that acts or deceives.
pub(crate) fn title(text: &str) -> String {
    drop_hidden_in_line(text)
        .trim()
        .chars()
        .take(MAX_TITLE_CHARS)
        .collect()
}

/// Returns the description with what belongs to it.
pub(crate) fn body(
    description: &str,
    coder: &Instance,
    task: Option<&Task>,
    reviews: &[Review],
) -> String {
    let mut body = drop_hidden(description).trim().to_owned();
    let issue = coder
        .issue_number
        .or_else(|| task.and_then(|task| task.issue_number));
    if let Some(number) = issue
        && !closes(&body, number)
    {
        body += &format!("\n\nCloses #{number}");
    }
    if let Some(task) = task {
        body += &format!("\n\nTask: {} ({})", title(&task.title), task.id);
    }
    if let Some(summary) = review_summary(coder, reviews) {
        body += &format!("{SUMMARY}{summary}");
    }
    body.chars().take(MAX_BODY).collect()
}

/// Returns the body of a pull request with another summary of its reviews; none if there is none.
pub(crate) fn with_summary(body: &str, coder: &Instance, reviews: &[Review]) -> Option<String> {
    let summary = review_summary(coder, reviews)?;
    let end = body.rfind(&format!("{SUMMARY}{HEADLINE}"));
    let described = &body[..end.unwrap_or(body.len())];
    let body = format!("{described}{SUMMARY}{summary}");
    Some(body.chars().take(MAX_BODY).collect())
}

/// Tells whether a text says already that it closes an issue.
fn closes(text: &str, number: u64) -> bool {
    let text = text.to_lowercase();
    let words = [
        "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
    ];
    let reference = format!("#{number}");
    let mut before = "";
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches(['.', ',', ';', ')', ':']);
        if bare == reference && words.contains(&before.trim_end_matches(':')) {
            return true;
        }
        before = word;
    }
    false
}

/// Says how the work was reviewed: each round that counts in a line.
fn review_summary(coder: &Instance, reviews: &[Review]) -> Option<String> {
    let lines: Vec<String> = reviews
        .iter()
        .filter_map(|review| {
            let verdict = match review.verdict {
                Verdict::ChangesRequested => "changes requested",
                Verdict::Approved => "approved",
                Verdict::Pending | Verdict::Lost => return None,
            };
            let round = if review.is_by_person() {
                "By a person".to_owned()
            } else {
                let (round, of) = (review.round, coder.max_reviews);
                format!("Round {round} of {of} by {}", review.reviewer_name())
            };
            Some(format!("- {round}: {verdict}{}", counted(review)))
        })
        .collect();
    let last = reviews
        .iter()
        .rfind(|review| !matches!(review.verdict, Verdict::Lost | Verdict::Pending))?;
    let headline = if last.verdict == Verdict::Approved {
        if last.is_by_person() {
            "**Reviewed and approved** by a person"
        } else {
            "**Reviewed and approved** by an agent"
        }
    } else {
        "**Reviewed, not approved**: the last round asked for changes"
    };
    Some(format!("{headline}\n{}", lines.join("\n")))
}

/// Counts a round's findings by how much they matter.
fn counted(review: &Review) -> String {
    let parts: Vec<String> = Severity::ALL
        .iter()
        .filter_map(|severity| {
            let count = review
                .findings
                .iter()
                .filter(|finding| finding.severity == *severity)
                .count();
            (count > 0).then(|| format!("{count} {severity}"))
        })
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_is_closed_once() {
        assert!(closes("This fixes #12.", 12));
        assert!(closes("Closes: #12", 12));
        assert!(!closes("Closes #123", 12));
        assert!(!closes("See #12", 12));
    }

    #[test]
    fn a_title_is_one_clean_line() {
        assert_eq!(title(" a\u{1b}[31m\u{202e}b\u{e0041}\nc "), "a[31mb c");
        assert_eq!(title(&"é".repeat(500)).chars().count(), MAX_TITLE_CHARS);
    }
}
