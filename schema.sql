-- Claude Codex: the whole database.
--
-- One SQLite file serves all repositories of a user. Every process that takes part (three kinds of MCP
-- server, the command line, Claude Code's hooks) opens it with WAL, and changes it only inside
-- BEGIN IMMEDIATE. Agents never talk to each other: what one says becomes a row here, and the rows
-- decide what the other is told.
--
-- Times are UTC text, `2026-07-28T12:34:56.789Z`, so that they sort and can be read.
-- Each CHECK below repeats an enum of the `model` module; a test holds the two equal.
-- A change here needs a higher user_version (CURRENT in shared/src/store/schema.rs). An older database is
-- migrated by copying the columns that both versions have, so a new column has a default, and a CHECK only
-- gets wider; a test proves that an old database migrates to exactly this.
-- Queries must be answered by an index, whatever the database has grown to: debug builds refuse a statement that
-- reads a whole table (shared/src/store/plans.rs). A reference to another table has an index, too, or
-- whatever deletes there looks at every row here.

PRAGMA user_version = 8;

-- Planned work, made by create_task. `number` counts up within one repository.
CREATE TABLE tasks (
    id              TEXT PRIMARY KEY,
    repository      TEXT NOT NULL,
    title           TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    description     TEXT NOT NULL,
    priority        TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high')),
    estimated_hours REAL CHECK (estimated_hours > 0),
    status          TEXT NOT NULL CHECK (status IN ('open', 'in_progress', 'done', 'cancelled')),
    -- The planning instance that made it; counts against planning.maxIssuesPerPlan.
    created_by      TEXT REFERENCES instances (id) ON DELETE SET NULL,
    issue_number    INTEGER CHECK (issue_number > 0),
    issue_url       TEXT,
    -- When GitHub was asked to open its issue. Written before the request, so that after a cancelled call, a kill or a
    -- lost answer the issue is looked for (by the mark in its body) before another is asked for.
    issue_asked_at  TEXT,
    -- How many of the tasks that it depends on are not done. Kept with every status that changes, because
    -- nobody could list what is ready without looking at every task.
    waits_for       INTEGER NOT NULL DEFAULT 0 CHECK (waits_for >= 0),
    -- Where it stands in a list: what is ready (0 to 2), what waits, what is in progress, done and cancelled;
    -- within each the more urgent first.
    place           INTEGER NOT NULL GENERATED ALWAYS AS (
                        CASE status WHEN 'open' THEN iif(waits_for = 0, 0, 3)
                                    WHEN 'in_progress' THEN 6 WHEN 'done' THEN 9 ELSE 12 END
                        + CASE priority WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END) VIRTUAL,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
) STRICT;

-- The list of a repository's tasks, newest last, paged.
CREATE INDEX tasks_by_repository ON tasks (repository, created_at, id);
-- The same as people see it.
CREATE INDEX tasks_by_place ON tasks (repository, place, created_at DESC, id);
-- A planner's tasks; a call that is repeated finds what it has made.
CREATE INDEX tasks_by_planner ON tasks (created_by, status, title);
-- How many issues a planner has opened, and whether two tasks share one.
CREATE INDEX tasks_with_issue ON tasks (created_by, repository, issue_number) WHERE issue_number IS NOT NULL;
CREATE INDEX tasks_in_progress ON tasks (id) WHERE status = 'in_progress';

-- `task_id` can't start before `depends_on` is done. There are no cycles: a new task can only name
-- tasks that exist, and edit_task refuses one that waits for the task.
CREATE TABLE task_dependencies (
    task_id    TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    depends_on TEXT NOT NULL REFERENCES tasks (id) ON DELETE RESTRICT,
    PRIMARY KEY (task_id, depends_on),
    CHECK (task_id <> depends_on)
) STRICT, WITHOUT ROWID;

-- "Which tasks wait for this one?"
CREATE INDEX task_dependencies_by_target ON task_dependencies (depends_on);

-- One agent at work, or that was.
CREATE TABLE instances (
    -- Readable, and also the name of the tmux session: work-42-a1, review-42-a1-r2, plan-cache-a1.
    id                 TEXT PRIMARY KEY,
    kind               TEXT NOT NULL CHECK (kind IN ('coding', 'review', 'planning')),
    status             TEXT NOT NULL CHECK (status IN (
                           'started', 'running', 'waiting_review', 'under_review',
                           'feedback_received', 'creating_pr', 'pr_created', 'pr_merged',
                           'pr_closed', 'completed', 'failed', 'terminated')),
    -- Where `publish failed` goes back to; set only while status is creating_pr.
    status_before      TEXT,
    -- launched: we made worktree and session. adopted: a person's own session called a tool.
    origin             TEXT NOT NULL CHECK (origin IN ('launched', 'adopted')),
    -- headless: takes its turns by `claude -p`, without a prompt to type at (agents of TDD runs).
    session_mode       TEXT NOT NULL DEFAULT 'interactive' CHECK (session_mode IN ('interactive', 'headless')),
    -- Top level of the main worktree; the key under which tasks and pull requests are kept.
    repository         TEXT NOT NULL,
    worktree_path      TEXT NOT NULL,
    -- NULL on a detached HEAD (reviewers work on one).
    branch_name        TEXT,
    base_branch        TEXT NOT NULL,
    -- The commit the branch started from; the branch is deleted on undo only if it still is there.
    base_commit        TEXT,
    tmux_session       TEXT,
    -- The socket (`tmux -L`) of the server that has the session, whatever the settings say by now.
    tmux_socket        TEXT,
    -- Random for each start: the session and the agent's processes carry it (CODEX_LAUNCH_ID), and nothing
    -- without it is typed into or killed. NULL before the first session, and in rows of older releases.
    launch_id          TEXT,
    -- The process in the pane, and when it began. While it lives the agent is alive, whatever tmux says. For
    -- adopted sessions: the Claude Code that started the server.
    agent_pid          INTEGER,
    agent_started      TEXT,
    -- When the agent was last started: the boot, and CLOCK_MONOTONIC in seconds, which can't be set and
    -- stands still while the machine sleeps. Time limits count from here.
    started_boot       TEXT,
    started_monotonic  INTEGER,
    -- Set for adopted sessions inside a tmux of the person's own.
    tmux_pane          TEXT,
    claude_session_id  TEXT,
    issue_number       INTEGER CHECK (issue_number > 0),
    task_id            TEXT REFERENCES tasks (id) ON DELETE SET NULL,
    -- A reviewer's coder.
    parent_instance_id TEXT REFERENCES instances (id) ON DELETE CASCADE,
    -- What the agent was asked to do, as given.
    prompt             TEXT NOT NULL,
    require_review     INTEGER NOT NULL CHECK (require_review IN (0, 1)),
    max_reviews        INTEGER NOT NULL CHECK (max_reviews >= 0),
    pr_number          INTEGER CHECK (pr_number > 0),
    pr_url             TEXT,
    -- How far a launch has come: each step is written here before it is taken, so that whoever finds
    -- this row after a crash knows what may have to be undone. 'ready' when everything stands.
    launch_step        TEXT NOT NULL CHECK (launch_step IN ('row', 'worktree', 'files', 'session', 'ready')),
    -- The process that is launching or ending this instance right now, and when it began, so that
    -- reconcile leaves it alone while that process lives.
    owner_pid          INTEGER,
    owner_started      TEXT,
    -- The MCP server that speaks for this agent, and when that process began.
    server_pid         INTEGER,
    server_started     TEXT,
    -- When its worktree was removed, or found to hold work that is nowhere else; NULL before that.
    put_away_at        TEXT,
    -- Why its worktree or branch was not removed (`model::Kept` as JSON); NULL if nothing was kept.
    kept               TEXT CHECK (json_valid(kept)),
    -- Why it ended, for the person.
    note               TEXT,
    -- When a person cleaned up after its failure: it needs nobody any more. NULL before that and after a new start.
    dismissed_at       TEXT,
    -- Counts the leases on its messages: each gets the next number as its fencing token.
    delivery_epoch     INTEGER NOT NULL DEFAULT 0,
    created_at         TEXT NOT NULL,
    last_activity      TEXT NOT NULL,
    -- When it reached the status it has.
    status_since       TEXT NOT NULL,
    completed_at       TEXT
) STRICT;

-- The list of live agents, and the limit on how many there may be.
CREATE INDEX instances_by_status ON instances (status, created_at);
-- A coder's reviewers.
CREATE INDEX instances_by_parent ON instances (parent_instance_id);
-- Adoption asks who lives in this worktree already.
CREATE INDEX instances_by_worktree ON instances (worktree_path);
-- Which repositories there are.
CREATE INDEX instances_by_repository ON instances (repository);
-- The newest of those that are over.
CREATE INDEX instances_over ON instances (status_since DESC, id)
    WHERE status IN ('pr_merged', 'pr_closed', 'completed', 'failed', 'terminated');
-- Those whose failure nobody has dealt with.
CREATE INDEX instances_failed ON instances (status_since) WHERE status = 'failed' AND dismissed_at IS NULL;
-- Those whose worktrees were kept although nobody asked for that.
CREATE INDEX instances_kept ON instances (status_since)
    WHERE kept ->> 'why' NOT IN ('policy', 'branch_commits', 'branch_in_use');
-- Those that some process launches or ends.
CREATE INDEX instances_owned ON instances (owner_pid) WHERE owner_pid IS NOT NULL;
-- Those that have ended and whose worktrees nobody has put away.
CREATE INDEX instances_left ON instances (repository)
    WHERE origin = 'launched' AND put_away_at IS NULL AND owner_pid IS NULL
      AND status IN ('completed', 'failed', 'terminated', 'pr_merged', 'pr_closed');
-- Every hook asks by session.
CREATE INDEX instances_by_session ON instances (claude_session_id) WHERE claude_session_id IS NOT NULL;
-- Who works, or has worked, on a task.
CREATE INDEX instances_by_task ON instances (task_id) WHERE task_id IS NOT NULL;
-- Whose pull request it is.
CREATE INDEX instances_by_pull ON instances (pr_url, repository) WHERE pr_url IS NOT NULL;
-- Those whose pull requests may still change.
CREATE INDEX instances_published ON instances (repository) WHERE pr_url IS NOT NULL AND status <> 'pr_merged';

-- Which agents work, or have worked, on an issue.
CREATE TABLE issue_instances (
    repository   TEXT NOT NULL,
    issue_number INTEGER NOT NULL CHECK (issue_number > 0),
    instance_id  TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    PRIMARY KEY (repository, issue_number, instance_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX issue_instances_by_instance ON issue_instances (instance_id);

-- One review round: who asked, on which commit, what was said.
CREATE TABLE review_feedback (
    id                 INTEGER PRIMARY KEY,
    coding_instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    -- NULL: a person reviewed.
    review_instance_id TEXT REFERENCES instances (id) ON DELETE CASCADE,
    -- 1, 2, 3 … among the rounds that count; a lost round's number is used again. Rounds of a person are counted apart.
    round              INTEGER NOT NULL CHECK (round > 0),
    commit_id          TEXT NOT NULL,
    -- What the coder said when asking.
    description        TEXT NOT NULL,
    verdict            TEXT NOT NULL CHECK (verdict IN ('pending', 'changes_requested', 'approved', 'lost')),
    feedback           TEXT,
    -- JSON array of {file, line?, severity, message}.
    findings           TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(findings)),
    requested_at       TEXT NOT NULL,
    decided_at         TEXT
) STRICT;

CREATE UNIQUE INDEX review_feedback_by_reviewer ON review_feedback (review_instance_id);
CREATE INDEX review_feedback_by_coder ON review_feedback (coding_instance_id, round);
-- At most one review of a coder is under way.
CREATE UNIQUE INDEX review_feedback_pending ON review_feedback (coding_instance_id) WHERE verdict = 'pending';

-- Line comments of a person that are not sent yet; all of an agent's become one round.
CREATE TABLE draft_comments (
    id          INTEGER PRIMARY KEY,
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    -- What the person was looking at.
    commit_id   TEXT NOT NULL,
    file        TEXT NOT NULL,
    line        INTEGER NOT NULL CHECK (line > 0),
    body        TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE INDEX draft_comments_by_instance ON draft_comments (instance_id, id);

-- Text owed to an agent. Written in the same transaction as the change that causes it.
CREATE TABLE messages (
    -- Random, and part of the text the agent sees, so that its arrival can be proven.
    id           TEXT PRIMARY KEY,
    instance_id  TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    sender       TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('feedback', 'review_lost', 'limit_reached', 'note')),
    body         TEXT NOT NULL,
    -- owed: nothing done yet. typed: pasted, proof awaited. taken: the agent has it. unconfirmed: typed, and nothing
    -- proves that the agent has it; only a person sends it again. dropped: its agent ended for good.
    state        TEXT NOT NULL CHECK (state IN ('owed', 'typed', 'taken', 'unconfirmed', 'dropped')),
    -- How it was taken.
    taken_by     TEXT CHECK (taken_by IN ('prompt_hook', 'stop_hook', 'session_hook', 'transcript', 'screen')),
    attempts     INTEGER NOT NULL DEFAULT 0,
    -- Who is delivering it now, until when nobody else may.
    lease_holder TEXT,
    lease_until  TEXT,
    -- The fencing token of that lease, from instances.delivery_epoch.
    lease_epoch  INTEGER NOT NULL DEFAULT 0,
    -- The lease under which it was typed last: tmux knows, per pane, what was done under it.
    typed_epoch  INTEGER NOT NULL DEFAULT 0,
    -- Not before this time (back-off).
    not_before   TEXT,
    -- Where the agent's transcripts ended when it was first handed over (JSON): it can't stand before that.
    transcript_ends TEXT,
    -- Why it still waits: a word of model::WaitReason.
    waiting_for  TEXT,
    created_at   TEXT NOT NULL,
    typed_at     TEXT,
    taken_at     TEXT
) STRICT;

CREATE INDEX messages_by_instance ON messages (instance_id, created_at);
CREATE INDEX messages_open ON messages (instance_id) WHERE state IN ('owed', 'typed');
-- How many there are in each state, and by what proved that one was taken.
CREATE INDEX messages_by_state ON messages (state, taken_by);
-- The oldest of those that nobody waits for.
CREATE INDEX messages_over ON messages (created_at) WHERE state IN ('taken', 'dropped');

-- Pull requests of the built-in forge, numbered per repository.
CREATE TABLE pull_requests (
    repository   TEXT NOT NULL,
    number       INTEGER NOT NULL CHECK (number > 0),
    title        TEXT NOT NULL,
    body         TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    draft        INTEGER NOT NULL CHECK (draft IN (0, 1)),
    head_branch  TEXT NOT NULL,
    base_branch  TEXT NOT NULL,
    -- Kept alive by refs/codex/pull/<number>/head, so that the request survives its branch.
    head_commit  TEXT NOT NULL,
    merge_commit TEXT,
    instance_id  TEXT REFERENCES instances (id) ON DELETE SET NULL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    merged_at    TEXT,
    PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;

-- One open pull request per branch: a race makes one row, not two.
CREATE UNIQUE INDEX pull_requests_open_head ON pull_requests (repository, head_branch) WHERE state = 'open';
CREATE INDEX pull_requests_by_head ON pull_requests (repository, head_branch);
CREATE INDEX pull_requests_by_state ON pull_requests (repository, state, number);
CREATE INDEX pull_requests_by_instance ON pull_requests (instance_id);

-- How open pull requests stand to their base and their branch: in the built-in forge as last computed, of GitHub as last heard.
-- Boards run no merge and ask nobody, as long as nothing has moved.
CREATE TABLE pull_standings (
    repository    TEXT NOT NULL,
    -- Both forges count from one.
    is_local      INTEGER NOT NULL DEFAULT 1 CHECK (is_local IN (0, 1)),
    number        INTEGER NOT NULL,
    -- Between which commits it was computed; between others it says nothing. GitHub does not say which base it looked at.
    base_commit   TEXT,
    head_commit   TEXT NOT NULL,
    -- Where its branch was then; NULL if there was none.
    branch_commit TEXT,
    mergeable     TEXT NOT NULL DEFAULT 'unknown' CHECK (mergeable IN ('clean', 'conflicting', 'blocked', 'unknown')),
    -- JSON array of the files in which a merge conflicts; GitHub names none.
    conflicts     TEXT NOT NULL,
    -- Commits of the base that the head lacks (NULL: unknown), and of the branch.
    behind        INTEGER,
    new_commits   INTEGER NOT NULL,
    PRIMARY KEY (repository, is_local, number)
) STRICT, WITHOUT ROWID;

-- A merge that is under way, recorded before it is taken: whoever finds it after a crash finishes it.
CREATE TABLE local_merges (
    repository  TEXT PRIMARY KEY,
    number      INTEGER NOT NULL,
    base_branch TEXT NOT NULL,
    -- Where the base branch is before and after.
    old_commit  TEXT NOT NULL,
    new_commit  TEXT NOT NULL,
    begun_at    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was last heard from GitHub, for conditional requests and rate limits.
CREATE TABLE github_state (
    resource   TEXT PRIMARY KEY,
    etag       TEXT,
    body       TEXT,
    -- No request before this time.
    retry_at   TEXT,
    updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX github_state_by_time ON github_state (updated_at);

-- One tool call, or one command that changed something.
CREATE TABLE mcp_events (
    id             INTEGER PRIMARY KEY,
    -- NULL when the call failed before anybody knew for whom it was.
    instance_id    TEXT REFERENCES instances (id) ON DELETE SET NULL,
    source         TEXT NOT NULL CHECK (source IN ('tool', 'command', 'hook', 'system')),
    -- mcp-coding, mcp-review, mcp-planning or claude-codex.
    server         TEXT NOT NULL,
    name           TEXT NOT NULL,
    -- JSON, secrets redacted, long texts cut.
    parameters     TEXT NOT NULL CHECK (json_valid(parameters)),
    result         TEXT CHECK (json_valid(result)),
    error_code     TEXT,
    -- JSON array of {instance, from, to}.
    status_changes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(status_changes)),
    duration_ms    REAL NOT NULL,
    created_at     TEXT NOT NULL
) STRICT;

CREATE INDEX mcp_events_by_instance ON mcp_events (instance_id, id);
CREATE INDEX mcp_events_by_name ON mcp_events (name, id);
CREATE INDEX mcp_events_failed ON mcp_events (id, name) WHERE error_code IS NOT NULL;

-- How many events were ever recorded and how long they took, also of those that were deleted since.
CREATE TABLE event_totals (
    source       TEXT NOT NULL CHECK (source IN ('tool', 'command', 'hook', 'system')),
    server       TEXT NOT NULL,
    name         TEXT NOT NULL,
    failed       INTEGER NOT NULL CHECK (failed IN (0, 1)),
    events       INTEGER NOT NULL,
    milliseconds REAL NOT NULL,
    PRIMARY KEY (source, server, name, failed)
) STRICT, WITHOUT ROWID;

-- How far the transcripts of agents were read for what they used. A file is read from where the last read ended, by whoever
-- comes first; `revision` is compared in the same statement, so that nothing counts twice.
CREATE TABLE transcripts (
    id             INTEGER PRIMARY KEY,
    path           TEXT NOT NULL UNIQUE,
    -- Whose it is; the agent that a person's session works for may change.
    instance_id    TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    revision       INTEGER NOT NULL,
    -- `agent::UsageCursor` as JSON.
    cursor         TEXT NOT NULL CHECK (json_valid(cursor)),
    -- The size of the conversation in tokens at the last answer, its model and its time; NULL in files of subagents.
    context_tokens INTEGER,
    context_model  TEXT,
    context_at     TEXT
) STRICT;

CREATE INDEX transcripts_by_instance ON transcripts (instance_id, context_at);

-- The tokens that agents have used. Kept when a transcript is deleted.
CREATE TABLE usage (
    transcript_id  INTEGER NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,
    instance_id    TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    model          TEXT NOT NULL,
    -- With prompts above 100,000 tokens, which cost more at some models.
    long_prompt    INTEGER NOT NULL CHECK (long_prompt IN (0, 1)),
    input          INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    PRIMARY KEY (transcript_id, instance_id, model, long_prompt)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_instance ON usage (instance_id);

-- The same of all agents there ever were.
CREATE TABLE usage_totals (
    model          TEXT NOT NULL,
    long_prompt    INTEGER NOT NULL CHECK (long_prompt IN (0, 1)),
    input          INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    PRIMARY KEY (model, long_prompt)
) STRICT, WITHOUT ROWID;

-- The turn of an agent, as Claude Code's hooks tell it. A prompt begins one, and what a Stop hook says continues it.
CREATE TABLE turns (
    instance_id TEXT PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
    -- NULL while it is under way.
    ended_at    TEXT,
    -- The last paragraph that the agent said: no hidden characters, secrets redacted, 2 KB at most.
    said        TEXT,
    -- Whether it was reminded in this turn of what it left undone.
    reminded    INTEGER NOT NULL DEFAULT 0 CHECK (reminded IN (0, 1))
) STRICT, WITHOUT ROWID;

-- What a person was told of outside the page; whoever adds the row tells it.
CREATE TABLE notifications (
    instance_id TEXT NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
    -- What needed them, and what tells it apart from the last time.
    event       TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    PRIMARY KEY (instance_id, event)
) STRICT, WITHOUT ROWID;

-- Who has taken control of an agent's terminal in the dashboard: nothing is typed into it for anybody else.
CREATE TABLE pane_control (
    instance_id TEXT PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
    -- Random; only who took control knows it.
    lease       TEXT NOT NULL,
    -- As they call themselves, for everybody else.
    holder      TEXT NOT NULL,
    -- Not after this time, unless renewed.
    until       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How an agent's last session ended: what is left of it once the session is gone.
CREATE TABLE endings (
    instance_id TEXT PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
    -- Both NULL: the program was still running when its session was ended.
    exit_status INTEGER,
    signal      INTEGER,
    -- The last lines of its terminal, secrets redacted.
    screen      TEXT NOT NULL,
    at          TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The oldest.
CREATE INDEX endings_by_time ON endings (at);

-- Agents that continue a branch which was there before them: it is never deleted with their worktrees.
CREATE TABLE continued_branches (
    instance_id TEXT PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Webhooks that were heard: GitHub names each, and one that comes again changes nothing. The newest are kept.
CREATE TABLE webhook_deliveries (
    id          TEXT PRIMARY KEY,
    received_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (received_at);

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
