-- TDD runs.

-- A task from a specification file to a pull request (`claude-codex tdd`). Written before each step is
-- taken, so that a run whose process dies goes on where it was.
CREATE TABLE tdd_runs (
    -- Sorts by time, and is also the id of the run's coder in `instances`, which may not stand yet.
    id             TEXT PRIMARY KEY,
    repository     TEXT NOT NULL,
    spec_path      TEXT NOT NULL,
    original_spec  TEXT NOT NULL,
    iteration      INTEGER NOT NULL CHECK (iteration > 0),
    max_iterations INTEGER NOT NULL CHECK (max_iterations > 0),
    branch_name    TEXT NOT NULL,
    base_branch    TEXT NOT NULL,
    worktree_path  TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
    step           TEXT NOT NULL CHECK (step IN ('coding', 'reviewing')),
    -- The coder's turn that is under way or ended last, counted through all rounds.
    turn           INTEGER NOT NULL CHECK (turn > 0),
    -- What the coder is told in that turn.
    prompt         TEXT NOT NULL,
    -- 0: worktrees and sessions stay as they are at the end.
    cleanup        INTEGER NOT NULL CHECK (cleanup IN (0, 1)),
    pr_url         TEXT,
    -- Why it failed, for the person.
    error          TEXT,
    -- The process that drives the run, and when that began: no second one may.
    owner_pid      INTEGER,
    owner_started  TEXT,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL
) STRICT;

-- What coder and reviewers said at the end of their turns.
CREATE TABLE tdd_responses (
    id         INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL REFERENCES tdd_runs (id) ON DELETE CASCADE,
    role       TEXT NOT NULL CHECK (role IN ('coder', 'reviewer')),
    iteration  INTEGER NOT NULL CHECK (iteration > 0),
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX tdd_responses_by_run ON tdd_responses (run_id, id);
