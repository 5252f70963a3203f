//! Parts of forms. Every form works without scripts and carries the CSRF token.

use maud::{Markup, html};

use super::icons::icon;
use crate::view::{Action, Frame};

/// The CSRF field, which every form that changes something needs.
pub(super) fn csrf(frame: &Frame) -> Markup {
    html! { input type="hidden" name="csrf" value=(frame.csrf); }
}

/// A form that consists of one button.
#[derive(Debug, Clone, Copy)]
pub(super) struct Button<'t> {
    /// Identifies the form when the page is refreshed.
    pub(super) id: &'t str,
    pub(super) address: &'t str,
    pub(super) label: &'t str,
    pub(super) icon: &'t str,
    pub(super) class: &'t str,
    /// The question to confirm an action that cannot be undone.
    pub(super) confirm: Option<&'t str>,
    /// Further fields, hidden.
    pub(super) fields: &'t [(&'t str, &'t str)],
}

impl Button<'_> {
    /// The button, or a disabled one whose tooltip says why.
    pub(super) fn shown(self, frame: &Frame, action: Option<&Action>) -> Markup {
        let Some(action) = action else {
            return html! {};
        };
        if action.allowed && !frame.read_only {
            return self.live(frame);
        }
        let why = if frame.read_only {
            "this dashboard is read-only"
        } else {
            action.why_not.as_deref().unwrap_or("not possible now")
        };
        html! {
            button.btn #(self.id) type="button" disabled title=(why) { (icon(self.icon)) (self.label) }
        }
    }

    pub(super) fn live(self, frame: &Frame) -> Markup {
        html! {
            form.inline #(self.id) method="post" action=(self.address) data-confirm=[self.confirm] {
                (csrf(frame))
                @for (name, value) in self.fields {
                    input type="hidden" name=(name) value=(value);
                }
                button.btn .(self.class) type="submit" { (icon(self.icon)) (self.label) }
            }
        }
    }
}

/// Percent-encodes a value for a query.
pub(super) fn query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// A choice of repository that reloads the page; empty if there are fewer than two.
pub(super) fn repository_choice(
    repositories: &[String],
    chosen: Option<&str>,
    all: bool,
    kept: &[(&str, &str)],
) -> Markup {
    if repositories.len() < 2 {
        return html! {};
    }
    html! {
        form.choice method="get" data-auto {
            @for (name, value) in kept {
                input type="hidden" name=(name) value=(value);
            }
            label.sr for="repository" { "Repository" }
            select #repository name="repository" {
                @if all {
                    option value="" selected[chosen.is_none()] { "All repositories" }
                }
                @for repository in repositories {
                    option value=(repository) selected[chosen == Some(repository.as_str())] {
                        (crate::view::repository_name(repository))
                    }
                }
            }
            button.btn.no-script type="submit" { "Show" }
        }
    }
}
