-- The TDD phase of a Claude Code session in a worktree. Two sessions or worktrees never share one.
CREATE TABLE tdd_phases (
    worktree        TEXT NOT NULL,
    claude_session  TEXT NOT NULL,
    -- The common git directory: the session is guarded in the repository's other worktrees as well.
    repository      TEXT NOT NULL,
    phase           TEXT NOT NULL CHECK (phase IN ('requirements', 'interfaces', 'tests', 'implementation', 'done')),
    -- When a person confirmed this phase.
    confirmed_at    TEXT,
    -- Whether the agent was told already that it has to ask for that.
    asked           INTEGER NOT NULL DEFAULT 0 CHECK (asked IN (0, 1)),
    -- The folder below `phases` of the state folder with the files as they were when the phase began.
    snapshot        TEXT NOT NULL,
    -- JSON array of {path, kind, how}: changes that this phase does not allow and that still stand.
    violations      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(violations)),
    -- JSON array of the projects' folders in which files were edited.
    projects        TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(projects)),
    -- How often in a row the end of a turn was refused.
    blocks          INTEGER NOT NULL DEFAULT 0,
    -- Since when the agent's shell command runs that has not been reported as done.
    command_since   TEXT,
    -- When its last turn ended: what is heard right after it was typed before, by whomever.
    turn_ended_at   TEXT,
    -- The hook that is compiling or testing right now; the next one ends it.
    checker_pid     INTEGER,
    checker_started TEXT,
    -- When the session was cleared: the one that follows takes the phase over.
    released_at     TEXT,
    -- When the session ended; taken up again, it is in its phase as before.
    ended_at        TEXT,
    started_at      TEXT NOT NULL,
    phase_since     TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    PRIMARY KEY (worktree, claude_session)
) STRICT, WITHOUT ROWID;

-- Every hook asks by session.
CREATE INDEX tdd_phases_by_session ON tdd_phases (claude_session);
