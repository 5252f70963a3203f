//! TDD phases: what may be changed when, and who moves on. No I/O.

use crate::closed_enum;

closed_enum!(
    /// Where a piece of test-driven work stands.
    Phase, "phase" {
        Requirements = "requirements",
        Interfaces = "interfaces",
        Tests = "tests",
        Implementation = "implementation",
        Done = "done",
    }
);

closed_enum!(
    /// What a change touches.
    FileKind, "kind of file" {
        Production = "production",
        Test = "test",
        Documentation = "documentation",
        Configuration = "configuration",
        /// What no pattern knows: data, pictures.
        Other = "other",
        /// What the phases themselves stand on: hooks, profiles, the database.
        Guard = "guard",
        /// Not in a worktree that a phase is about.
        Outside = "outside",
    }
);

closed_enum!(
    /// The tools that change files.
    ToolKind, "tool" {
        Write = "Write",
        Edit = "Edit",
        MultiEdit = "MultiEdit",
        NotebookEdit = "NotebookEdit",
        /// Its changes are found when it has run.
        Bash = "Bash",
    }
);

closed_enum!(
    /// How a file differs from what it was when the phase began.
    Alteration, "alteration" {
        Added = "added",
        Modified = "modified",
        Deleted = "deleted",
        /// It is new, and git was told since to ignore it.
        Ignored = "ignored",
    }
);

/// What the guard says to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ruling {
    Allowed,
    /// Not in this phase.
    Denied,
    /// Never: the phases stand on it.
    Protected,
    /// It runs, and is looked at afterwards.
    Checked,
}

impl Phase {
    /// Returns its number as people count them; none once all is done.
    pub fn number(self) -> Option<u8> {
        match self {
            Self::Requirements => Some(1),
            Self::Interfaces => Some(2),
            Self::Tests => Some(3),
            Self::Implementation => Some(4),
            Self::Done => None,
        }
    }

    /// Returns what follows.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Requirements => Some(Self::Interfaces),
            Self::Interfaces => Some(Self::Tests),
            Self::Tests => Some(Self::Implementation),
            Self::Implementation => Some(Self::Done),
            Self::Done => None,
        }
    }

    /// Tells whether a person has to say that it is over.
    pub fn needs_confirmation(self) -> bool {
        match self {
            Self::Requirements | Self::Interfaces | Self::Tests => true,
            Self::Implementation | Self::Done => false,
        }
    }

    /// Tells whether files of a kind may change in this phase.
    pub fn allows(self, kind: FileKind) -> bool {
        match kind {
            FileKind::Documentation | FileKind::Configuration | FileKind::Outside => true,
            FileKind::Production => match self {
                Self::Requirements | Self::Tests => false,
                Self::Interfaces | Self::Implementation | Self::Done => true,
            },
            FileKind::Test => match self {
                Self::Requirements | Self::Interfaces => false,
                Self::Tests | Self::Implementation | Self::Done => true,
            },
            FileKind::Other => match self {
                Self::Requirements => false,
                Self::Interfaces | Self::Tests | Self::Implementation | Self::Done => true,
            },
            FileKind::Guard => self == Self::Done,
        }
    }

    /// Decides on a tool's change before it is made.
    pub fn ruling(self, tool: ToolKind, kind: FileKind) -> Ruling {
        match tool {
            ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit => {
                if self.allows(kind) {
                    Ruling::Allowed
                } else if kind == FileKind::Guard {
                    Ruling::Protected
                } else {
                    Ruling::Denied
                }
            }
            // What it changes is known only afterwards; what it names of the guard's own is known before.
            ToolKind::Bash => match (self, kind) {
                (Self::Done, _) => Ruling::Allowed,
                (_, FileKind::Guard) => Ruling::Protected,
                (_, _) => Ruling::Checked,
            },
        }
    }
}

#[cfg(test)]
mod tests;
