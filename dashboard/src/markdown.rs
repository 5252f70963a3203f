//! Markdown from agents, repositories and GitHub, rendered as HTML that can do no harm.
//!
//! Only a fixed set of tags is written, with classes and addresses of our own making. HTML in the text stays text, an
//! image becomes a link to it, and a link leads to http or https or nowhere. Text is escaped by maud.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Longer texts are shown as they are: nobody formats that much by hand.
const MAX_BYTES: usize = 200_000;
/// Deeper nesting is flattened, so that a page of `>` does not become thousands of nested boxes.
const MAX_DEPTH: usize = 40;

/// Renders a text.
pub(crate) fn markdown(text: &str) -> Markup {
    if text.len() > MAX_BYTES {
        return html! { pre.text { (text) } };
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::default();
    for event in Parser::new_ext(text, options) {
        writer.write(event);
    }
    html! { div.markdown { (PreEscaped(writer.html)) } }
}

#[derive(Default)]
struct Writer {
    /// Only tags of ours and escaped text.
    html: String,
    /// What closes each open tag; empty for one that was not written.
    open: Vec<&'static str>,
}

impl Writer {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.text(&text),
            Event::Code(text) => self.add(&html! { code { (&*text) } }),
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(_) => {}
        }
    }

    fn add(&mut self, markup: &Markup) {
        self.html.push_str(&markup.0);
    }

    fn text(&mut self, text: &str) {
        self.add(&html! { (text) });
    }

    fn begin(&mut self, tag: &Tag<'_>) {
        if self.open.len() >= MAX_DEPTH {
            self.open.push("");
            return;
        }
        let (begin, end) = match tag {
            Tag::Paragraph | Tag::HtmlBlock => ("<p>", "</p>"),
            // The page has the first two levels.
            Tag::Heading { level, .. } => match level {
                HeadingLevel::H1 => ("<h3>", "</h3>"),
                HeadingLevel::H2 => ("<h4>", "</h4>"),
                HeadingLevel::H3 => ("<h5>", "</h5>"),
                HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => ("<h6>", "</h6>"),
            },
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(_) | Tag::MetadataBlock(_) => ("<pre><code>", "</code></pre>"),
            Tag::List(None) | Tag::DefinitionList => ("<ul>", "</ul>"),
            Tag::List(Some(first)) => {
                self.add(&html! { (PreEscaped(format!("<ol start=\"{first}\">"))) });
                self.open.push("</ol>");
                return;
            }
            Tag::Item | Tag::DefinitionListTitle | Tag::DefinitionListDefinition => {
                ("<li>", "</li>")
            }
            Tag::Table(_) => ("<table>", "</table>"),
            Tag::TableHead | Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell => ("<td>", "</td>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<s>", "</s>"),
            // An image would be loaded from elsewhere; its description links to it.
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.begin_link(dest_url);
                return;
            }
            Tag::FootnoteDefinition(_) | Tag::Superscript | Tag::Subscript => ("", ""),
        };
        self.html.push_str(begin);
        self.open.push(end);
    }

    fn begin_link(&mut self, address: &str) {
        if !is_web(address) {
            self.open.push("");
            return;
        }
        let link = html! { a href=(address) rel="noopener noreferrer nofollow" {} };
        self.html.push_str(link.0.trim_end_matches("</a>"));
        self.open.push("</a>");
    }

    fn end(&mut self, _: TagEnd) {
        if let Some(end) = self.open.pop() {
            self.html.push_str(end);
        }
    }
}

/// Whether an address leads to a web server, and to no place of this dashboard's own.
fn is_web(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    lower.starts_with("https://") || lower.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        markdown(text).into_string()
    }

    #[test]
    fn what_people_write_is_formatted() {
        let html = shown(
            "# Why\n\nIt **works**, see `x < y`:\n\n1. one\n2. ~~two~~\n\n- [x] done\n\n| a |\n|---|\n| b |\n\n```rust\nlet x = \"<b>\";\n```\n",
        );
        for part in [
            "<h3>Why</h3>",
            "<strong>works</strong>",
            "<code>x &lt; y</code>",
            "<ol start=\"1\"><li>one</li>",
            "<s>two</s>",
            "☑ done",
            "<td>b</td>",
            "<pre><code>let x = &quot;&lt;b&gt;&quot;;\n</code></pre>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn html_stays_text_and_images_are_links() {
        let html = shown(
            "<script>alert(1)</script>\n\nx <img src=x onerror=y>\n\n![logo](https://a.example/x.png)",
        );
        assert!(html.contains("&lt;script&gt;"), "{html}");
        assert!(
            !html.contains("<img") && !html.contains("<script"),
            "{html}"
        );
        assert!(
            html.contains(
                "<a href=\"https://a.example/x.png\" rel=\"noopener noreferrer nofollow\">logo</a>"
            ),
            "{html}"
        );
    }

    #[test]
    fn links_lead_to_the_web_or_nowhere() {
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "/api/instances",
            "//evil.example",
            "vbscript:x",
        ] {
            let html = shown(&format!("[text]({address}) and <{address}>"));
            assert!(!html.contains("href"), "{address}: {html}");
            assert!(html.contains("text"), "{html}");
        }
        let html = shown("[a](https://x.example/\"onclick=\"y)");
        assert!(!html.contains("\"onclick"), "{html}");
    }

    #[test]
    fn deep_nesting_is_flattened() {
        let html = shown(&format!("{} x", ">".repeat(5_000)));
        assert!(html.matches("<blockquote>").count() <= MAX_DEPTH);
        assert_eq!(
            html.matches("<blockquote>").count(),
            html.matches("</blockquote>").count()
        );
    }

    proptest! {
        #[test]
        fn nothing_but_known_tags_is_written(text in "[ -~\n]{0,300}") {
            let tags = regex::Regex::new(r"<(/?)([a-z0-9]+)([^>]*)>").unwrap();
            let html = shown(&text);
            for tag in tags.captures_iter(&html) {
                let name = &tag[2];
                prop_assert!(
                    ["div", "p", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "ul", "ol", "li", "table", "tr", "td", "em", "strong", "s", "a", "br", "hr"].contains(&name),
                    "{} in {}", name, html
                );
                let rest = &tag[3];
                prop_assert!(
                    rest.is_empty()
                        || rest == " class=\"markdown\""
                        || rest.starts_with(" start=\"")
                        || rest.starts_with(" href=\"http"),
                    "{} in {}", rest, html
                );
            }
        }
    }
}
