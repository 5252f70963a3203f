//! Pipelines of continuous integration: `run:` steps and `script:` lists with their folder, shell and variables.
//!
//! Line by line on purpose: pipelines are full of templates and aliases that a YAML reader would expand.

use std::collections::BTreeMap;
use std::iter::Peekable;

use super::script::{Start, follow};
use crate::architecture::packages::{Sources, join};
use crate::paths::{folder_of, name_of};
use crate::report::architecture::FoundCommand;

/// Most commands of one pipeline.
const MAX_COMMANDS: usize = 60;

/// Returns whether a file is a pipeline.
pub(super) fn is_pipeline(path: &str) -> bool {
    let is_yaml = matches!(path.rsplit('.').next(), Some("yml" | "yaml"));
    let in_folder = matches!(
        folder_of(path),
        ".github/workflows" | ".circleci" | ".gitea/workflows" | ".forgejo/workflows"
    );
    let alone = matches!(
        path,
        ".gitlab-ci.yml"
            | "azure-pipelines.yml"
            | ".travis.yml"
            | ".buildkite/pipeline.yml"
            | ".cirrus.yml"
    );
    is_yaml && (in_folder || alone)
}

/// What a key opened: lines that are indented further belong to it.
struct Scope {
    indent: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `env:`, a mapping of variables, of the block at this indentation.
    Environment(usize),
    /// `defaults:`, likewise.
    Defaults(usize),
    /// Something whose keys mean something else, such as `with:`.
    Foreign,
}

/// A step: the item of a list, or a job that has its own script.
#[derive(Default)]
struct Step {
    indent: usize,
    scripts: Vec<String>,
    folder: Option<String>,
    shell: Option<String>,
}

/// Reads the commands of a pipeline.
pub(super) fn read(sources: Sources<'_>, path: &str, text: &str) -> Vec<FoundCommand> {
    let is_actions = name_of(folder_of(path)) == "workflows";
    let mut reader = Pipeline {
        sources,
        path,
        keys: if is_actions {
            &["run"]
        } else {
            &[
                "run",
                "script",
                "command",
                "before_script",
                "bash",
                "install",
            ]
        },
        scopes: Vec::new(),
        variables: Vec::new(),
        folders: Vec::new(),
        step: Step::default(),
        found: Vec::new(),
    };
    reader.read(text);
    reader.found.truncate(MAX_COMMANDS);
    reader.found
}

struct Pipeline<'a> {
    sources: Sources<'a>,
    path: &'a str,
    keys: &'static [&'static str],
    scopes: Vec<Scope>,
    /// Variables with the indentation of the block that they hold for; `None` is a value that is not literal.
    variables: Vec<(usize, String, Option<String>)>,
    /// Default folders, likewise.
    folders: Vec<(usize, String)>,
    step: Step,
    found: Vec<FoundCommand>,
}

impl Pipeline<'_> {
    fn read(&mut self, text: &str) {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let dash = line.len() - line.trim_start().len();
            let mut indent = dash;
            let mut key = trimmed;
            let is_item = trimmed.starts_with("- ");
            if let Some(rest) = trimmed.strip_prefix("- ") {
                indent += 2 + rest.len() - rest.trim_start().len();
                key = rest.trim_start();
            }
            self.leave(dash);
            if is_item && self.step.indent == 0 {
                self.step.indent = indent;
            }
            let Some((name, value)) = key.split_once(':') else {
                continue;
            };
            let value = value.trim();
            if self.scopes.iter().any(|scope| scope.kind == Kind::Foreign) {
                continue;
            }
            if self.keys.contains(&name) {
                if self.in_defaults() || (value.is_empty() && self.keys.len() == 1) {
                    continue;
                }
                if self.step.indent != indent {
                    self.finish_step(indent);
                }
                let script = self.script(&mut lines, indent, value);
                self.step.scripts.push(script);
                continue;
            }
            match name {
                "working-directory" | "working_directory" | "workingDirectory" => {
                    let folder = scalar(value).to_owned();
                    match self.defaults() {
                        Some(of) => self.folders.push((of, folder)),
                        None => self.step.folder = Some(folder),
                    }
                }
                "shell" if !self.in_defaults() => self.step.shell = Some(scalar(value).to_owned()),
                "env" | "environment" | "variables" if value.is_empty() => {
                    self.scopes.push(Scope {
                        indent,
                        kind: Kind::Environment(indent),
                    });
                }
                "defaults" if value.is_empty() => self.scopes.push(Scope {
                    indent,
                    kind: Kind::Defaults(indent),
                }),
                "with" | "matrix" | "inputs" | "outputs" | "on" | "services"
                    if value.is_empty() =>
                {
                    self.scopes.push(Scope {
                        indent,
                        kind: Kind::Foreign,
                    });
                }
                _ => {
                    if let Some(Scope {
                        kind: Kind::Environment(of),
                        ..
                    }) = self.scopes.last()
                    {
                        let literal = !value.is_empty()
                            && !value.contains(['$', '{', '*', '&'])
                            && !value.starts_with(['|', '>']);
                        let value = literal.then(|| scalar(value).to_owned());
                        self.variables.push((*of, name.to_owned(), value));
                    }
                }
            }
        }
        self.finish_step(0);
    }

    /// Reads the script behind a key: on its line, in a block or as a list.
    fn script<'t>(
        &mut self,
        lines: &mut Peekable<impl Iterator<Item = &'t str>>,
        indent: usize,
        value: &str,
    ) -> String {
        let block = value.is_empty() || value.starts_with(['|', '>']);
        let mut script = String::new();
        if block {
            let folds = value.starts_with('>');
            while let Some(line) = lines.next_if(|line| {
                let own = line.len() - line.trim_start().len();
                // A list may stand at the indentation of its key.
                line.trim().is_empty()
                    || own > indent
                    || (value.is_empty() && own == indent && line.trim_start().starts_with("- "))
            }) {
                let line = line.trim();
                let nested = value.is_empty().then(|| line.split_once(": ")).flatten();
                match (nested, line.strip_prefix("- ").filter(|_| value.is_empty())) {
                    (_, Some(item)) => script.push_str(scalar(item)),
                    // CircleCI: `run:` with `command:` below it.
                    (Some(("command", command)), _) => {
                        if !command.starts_with('|') {
                            script.push_str(scalar(command));
                        }
                    }
                    (Some(("working_directory", folder)), _) => {
                        self.step.folder = Some(scalar(folder).to_owned());
                    }
                    (
                        Some(("name" | "when" | "no_output_timeout" | "environment" | "shell", _)),
                        _,
                    ) => {}
                    _ => script.push_str(line),
                }
                script.push(if folds { ' ' } else { '\n' });
            }
        } else {
            script.push_str(scalar(value));
        }
        script
    }

    /// Leaves what ends before a line of this indentation.
    fn leave(&mut self, indent: usize) {
        // The variables of a step are needed until it is finished.
        if self.step.indent > indent {
            self.finish_step(0);
        }
        self.scopes.retain(|scope| scope.indent < indent);
        self.variables.retain(|(of, ..)| *of <= indent);
        self.folders.retain(|(of, _)| *of <= indent);
    }

    fn defaults(&self) -> Option<usize> {
        self.scopes.iter().find_map(|scope| match scope.kind {
            Kind::Defaults(of) => Some(of),
            Kind::Environment(_) | Kind::Foreign => None,
        })
    }

    fn in_defaults(&self) -> bool {
        self.defaults().is_some()
    }

    fn finish_step(&mut self, next: usize) {
        let step = std::mem::take(&mut self.step);
        self.step.indent = next;
        let is_shell = step.shell.as_deref().is_none_or(|shell| {
            ["bash", "sh", "zsh"]
                .iter()
                .any(|name| shell.starts_with(name))
        });
        let folder = step
            .folder
            .or_else(|| self.folders.last().map(|(_, folder)| folder.clone()));
        let Some(folder) = join("", folder.as_deref().unwrap_or("")) else {
            return;
        };
        if !is_shell || folder.contains('$') {
            return;
        }
        let (mut environment, mut outer) = (BTreeMap::<String, String>::new(), BTreeMap::new());
        for (of, name, value) in &self.variables {
            let is_own = *of >= step.indent && step.indent > 0;
            environment.remove(name);
            outer.remove(name);
            if let Some(value) = value {
                let variables = if is_own { &mut environment } else { &mut outer };
                variables.insert(name.clone(), value.clone());
            }
        }
        let scripts: Vec<String> = step
            .scripts
            .iter()
            .map(|script| {
                with_literals(script, |name| {
                    environment.get(name).or_else(|| outer.get(name)).cloned()
                })
            })
            .collect();
        let start = Start {
            sources: self.sources,
            source: self.path,
            is_document: false,
            folder,
            environment,
            outer,
        };
        for script in scripts {
            self.found.extend(follow(&start, &script));
        }
    }
}

/// Puts the literal values of variables in the place of `${{ env.NAME }}`.
fn with_literals(script: &str, value_of: impl Fn(&str) -> Option<String>) -> String {
    let mut written = String::new();
    let mut rest = script;
    while let Some((before, from)) = rest.split_once("${{") {
        written.push_str(before);
        let Some((inside, after)) = from.split_once("}}") else {
            rest = &rest[before.len()..];
            break;
        };
        match inside.trim().strip_prefix("env.").and_then(&value_of) {
            Some(value) => written.push_str(&value),
            None => written.extend(["${{", inside, "}}"]),
        }
        rest = after;
    }
    written.push_str(rest);
    written
}

/// Takes the quotes off a scalar when the whole of it is quoted, and a comment off a plain one.
fn scalar(value: &str) -> &str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inside) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
            && !inside.contains(quote)
        {
            return inside;
        }
    }
    if value.starts_with(['"', '\'']) {
        return value;
    }
    value.split(" #").next().unwrap_or(value)
}
