-- A database of schema version 7, with rows in every table: what an upgrade must bring through whole.

PRAGMA user_version = 7;

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

-- How open pull requests of the built-in forge stand to their base and their branch, as last computed: boards run no merge.
CREATE TABLE pull_standings (
    repository  TEXT NOT NULL,
    number      INTEGER NOT NULL,
    -- Between which commits it was computed; between others it says nothing.
    base_commit TEXT NOT NULL,
    head_commit TEXT NOT NULL,
    -- JSON array of the files in which a merge conflicts.
    conflicts   TEXT NOT NULL,
    -- Commits of the base that the head lacks, and of the branch.
    behind      INTEGER NOT NULL,
    new_commits INTEGER NOT NULL,
    PRIMARY KEY (repository, number)
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

PRAGMA foreign_keys = OFF;
BEGIN;
INSERT INTO tasks (id, repository, title, description, priority, estimated_hours, status, created_by, issue_number, issue_url, issue_asked_at, created_at, updated_at)
    VALUES ('task-1', '/home/ada/src/app', 'Cache the index', 'It is read on every request.
So it''s slow.', 'high', 2.5, 'in_progress', 'plan-cache-a1', 42, 'https://github.com/ada/app/issues/42', '2026-07-28T12:34:51.789Z', '2026-07-28T12:34:50.789Z', '2026-07-28T12:34:52.789Z');
INSERT INTO tasks (id, repository, title, description, priority, estimated_hours, status, created_by, issue_number, issue_url, issue_asked_at, created_at, updated_at)
    VALUES ('task-2', '/home/ada/src/app', 'Grüße, 你好 🦀', '', 'low', NULL, 'open', NULL, NULL, NULL, NULL, '2026-07-28T12:34:51.789Z', '2026-07-28T12:34:51.789Z');
INSERT INTO task_dependencies (task_id, depends_on)
    VALUES ('task-2', 'task-1');
INSERT INTO instances (id, kind, status, status_before, origin, repository, worktree_path, branch_name, base_branch, base_commit, tmux_session, tmux_socket, launch_id, agent_pid, agent_started, started_boot, started_monotonic, tmux_pane, claude_session_id, issue_number, task_id, parent_instance_id, prompt, require_review, max_reviews, pr_number, pr_url, launch_step, owner_pid, owner_started, server_pid, server_started, put_away_at, note, delivery_epoch, created_at, last_activity, status_since, completed_at)
    VALUES ('plan-cache-a1', 'planning', 'completed', NULL, 'launched', '/home/ada/src/app', '/home/ada/src/.claude-codex/app/plan-cache-a1', NULL, 'main', '0123456789abcdef0123456789abcdef01234567', 'plan-cache-a1', 'codex', 'a1b2c3d4', 4001, 'boot 1', 'boot', 12, NULL, '6f0e5d4c-0000-4000-8000-000000000001', NULL, NULL, NULL, 'Plan the cache', 0, 0, NULL, NULL, 'ready', NULL, NULL, NULL, NULL, '2026-07-28T12:34:53.789Z', NULL, 0, '2026-07-28T12:34:50.789Z', '2026-07-28T12:34:51.789Z', '2026-07-28T12:34:51.789Z', '2026-07-28T12:34:51.789Z');
INSERT INTO instances (id, kind, status, status_before, origin, repository, worktree_path, branch_name, base_branch, base_commit, tmux_session, tmux_socket, launch_id, agent_pid, agent_started, started_boot, started_monotonic, tmux_pane, claude_session_id, issue_number, task_id, parent_instance_id, prompt, require_review, max_reviews, pr_number, pr_url, launch_step, owner_pid, owner_started, server_pid, server_started, put_away_at, note, delivery_epoch, created_at, last_activity, status_since, completed_at)
    VALUES ('work-42-a1', 'coding', 'creating_pr', 'running', 'launched', '/home/ada/src/app', '/home/ada/src/.claude-codex/app/work-42-a1', 'codex/work-42-a1', 'main', '0123456789abcdef0123456789abcdef01234567', 'work-42-a1', 'codex', 'e5f6a7b8', 4002, 'boot 2', 'boot', 34, NULL, '6f0e5d4c-0000-4000-8000-000000000002', 42, 'task-1', NULL, 'Fix issue 42; don''t break ''quotes''', 1, 3, 7, 'codex://pull/app/7', 'ready', 4003, 'boot 3', 4004, 'boot 4', NULL, 'a note', 5, '2026-07-28T12:34:51.789Z', '2026-07-28T12:34:55.789Z', '2026-07-28T12:34:55.789Z', NULL);
INSERT INTO instances (id, kind, status, status_before, origin, repository, worktree_path, branch_name, base_branch, base_commit, tmux_session, tmux_socket, launch_id, agent_pid, agent_started, started_boot, started_monotonic, tmux_pane, claude_session_id, issue_number, task_id, parent_instance_id, prompt, require_review, max_reviews, pr_number, pr_url, launch_step, owner_pid, owner_started, server_pid, server_started, put_away_at, note, delivery_epoch, created_at, last_activity, status_since, completed_at)
    VALUES ('review-42-a1-r1', 'review', 'running', NULL, 'adopted', '/home/ada/src/app', '/home/ada/src/app', NULL, 'main', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '%3', NULL, NULL, NULL, 'work-42-a1', 'Review it', 0, 0, NULL, NULL, 'ready', NULL, NULL, NULL, NULL, NULL, NULL, 0, '2026-07-28T12:34:52.789Z', '2026-07-28T12:34:53.789Z', '2026-07-28T12:34:52.789Z', NULL);
INSERT INTO issue_instances (repository, issue_number, instance_id)
    VALUES ('/home/ada/src/app', 42, 'work-42-a1');
INSERT INTO review_feedback (id, coding_instance_id, review_instance_id, round, commit_id, description, verdict, feedback, findings, requested_at, decided_at)
    VALUES (3, 'work-42-a1', 'review-42-a1-r1', 1, '89abcdef0123456789abcdef0123456789abcdef', 'Please look', 'changes_requested', 'Two things', '[{"file":"src/lib.rs","line":7,"severity":"error","message":"off by one"}]', '2026-07-28T12:34:52.789Z', '2026-07-28T12:34:53.789Z');
INSERT INTO messages (id, instance_id, sender, kind, body, state, taken_by, attempts, lease_holder, lease_until, lease_epoch, typed_epoch, not_before, waiting_for, created_at, typed_at, taken_at)
    VALUES ('m-bbbbbbbb', 'work-42-a1', 'review-42-a1-r1', 'feedback', '[codex m-bbbbbbbb] Two things', 'taken', 'stop_hook', 2, 'pid 1', '2026-07-28T12:34:54.789Z', 4, 4, '2026-07-28T12:34:53.789Z', NULL, '2026-07-28T12:34:53.789Z', '2026-07-28T12:34:53.789Z', '2026-07-28T12:34:54.789Z');
INSERT INTO messages (id, instance_id, sender, kind, body, state, taken_by, attempts, lease_holder, lease_until, lease_epoch, typed_epoch, not_before, waiting_for, created_at, typed_at, taken_at)
    VALUES ('m-aaaaaaaa', 'work-42-a1', 'ada', 'note', '[codex m-aaaaaaaa] And be quick', 'owed', NULL, 0, NULL, NULL, 0, 0, NULL, 'busy', '2026-07-28T12:34:53.789Z', NULL, NULL);
INSERT INTO pull_requests (repository, number, title, body, state, draft, head_branch, base_branch, head_commit, merge_commit, instance_id, created_at, updated_at, merged_at)
    VALUES ('/home/ada/src/app', 7, 'Cache', 'Closes #42', 'open', 1, 'codex/work-42-a1', 'main', '89abcdef0123456789abcdef0123456789abcdef', NULL, 'work-42-a1', '2026-07-28T12:34:55.789Z', '2026-07-28T12:34:55.789Z', NULL);
INSERT INTO pull_requests (repository, number, title, body, state, draft, head_branch, base_branch, head_commit, merge_commit, instance_id, created_at, updated_at, merged_at)
    VALUES ('/home/ada/src/app', 6, 'Before', '', 'merged', 0, 'codex/old', 'main', '4567456745674567456745674567456745674567', '7654765476547654765476547654765476547654', NULL, '2026-07-28T12:34:50.789Z', '2026-07-28T12:34:51.789Z', '2026-07-28T12:34:51.789Z');
INSERT INTO local_merges (repository, number, base_branch, old_commit, new_commit, begun_at)
    VALUES ('/home/ada/src/app', 7, 'main', '0123456789abcdef0123456789abcdef01234567', 'fedcba9876543210fedcba9876543210fedcba98', '2026-07-28T12:34:56.789Z');
INSERT INTO github_state (resource, etag, body, retry_at, updated_at)
    VALUES ('issues/ada/app', '"e"', '[]', '2026-07-28T12:34:57.789Z', '2026-07-28T12:34:56.789Z');
INSERT INTO mcp_events (id, instance_id, source, server, name, parameters, result, error_code, status_changes, duration_ms, created_at)
    VALUES (1, 'work-42-a1', 'tool', 'mcp-coding', 'request_review', '{"description":"Please look"}', '{"round":1}', NULL, '[{"instance":"work-42-a1","from":"running","to":"waiting_review"}]', 12.25, '2026-07-28T12:34:52.789Z');
INSERT INTO mcp_events (id, instance_id, source, server, name, parameters, result, error_code, status_changes, duration_ms, created_at)
    VALUES (9, NULL, 'command', 'claude-codex', 'stop', '{}', NULL, 'INSTANCE_NOT_FOUND', '[]', 0.5, '2026-07-28T12:34:58.789Z');
INSERT INTO pane_control (instance_id, lease, holder, until)
    VALUES ('work-42-a1', 'secret-less', 'ada', '2026-07-28T12:34:59.789Z');
INSERT INTO webhook_deliveries (id, received_at)
    VALUES ('72d3162e-cc78-11e3-81ab-4c9367dc0958', '2026-07-28T12:34:54.789Z');
INSERT INTO tdd_runs (id, repository, spec_path, original_spec, iteration, max_iterations, branch_name, base_branch, worktree_path, status, step, turn, prompt, cleanup, pr_url, error, owner_pid, owner_started, created_at, updated_at)
    VALUES ('20260728-123456-abcdef', '/home/ada/src/app', 'SPEC.md', '# Spec

Do it.', 2, 5, 'codex/tdd', 'main', '/home/ada/src/.claude-codex/app/tdd', 'running', 'reviewing', 3, 'Go on', 1, NULL, NULL, 4005, 'boot 5', '2026-07-28T12:34:50.789Z', '2026-07-28T12:34:56.789Z');
INSERT INTO tdd_responses (id, run_id, role, iteration, body, created_at)
    VALUES (4, '20260728-123456-abcdef', 'coder', 1, 'Done', '2026-07-28T12:34:53.789Z');
INSERT INTO tdd_phases (worktree, claude_session, repository, phase, confirmed_at, asked, snapshot, violations, projects, blocks, command_since, turn_ended_at, checker_pid, checker_started, released_at, ended_at, started_at, phase_since, updated_at)
    VALUES ('/home/ada/src/app', '6f0e5d4c-0000-4000-8000-000000000003', '/home/ada/src/app/.git', 'tests', '2026-07-28T12:34:52.789Z', 1, 's-1', '[{"path":"src/lib.rs","kind":"source","how":"changed"}]', '["."]', 1, '2026-07-28T12:34:53.789Z', '2026-07-28T12:34:54.789Z', 4006, 'boot 6', '2026-07-28T12:34:55.789Z', '2026-07-28T12:34:56.789Z', '2026-07-28T12:34:50.789Z', '2026-07-28T12:34:51.789Z', '2026-07-28T12:34:56.789Z');
UPDATE tasks SET waits_for = 1 WHERE id = 'task-2';
INSERT INTO event_totals (source, server, name, failed, events, milliseconds)
    VALUES ('tool', 'mcp-coding', 'request_review', 0, 1, 12.25);
INSERT INTO event_totals (source, server, name, failed, events, milliseconds)
    VALUES ('command', 'claude-codex', 'stop', 1, 1, 0.5);
INSERT INTO continued_branches (instance_id)
    VALUES ('work-42-a1');
INSERT INTO draft_comments (id, instance_id, commit_id, file, line, body, created_at)
    VALUES (2, 'work-42-a1', '89abcdef0123456789abcdef0123456789abcdef', 'src/lib.rs', 7, 'Why?', '2026-07-28T12:34:56.789Z');
INSERT INTO endings (instance_id, exit_status, signal, screen, at)
    VALUES ('plan-cache-a1', 0, NULL, 'Done', '2026-07-28T12:34:53.789Z');
INSERT INTO notifications (instance_id, event, created_at)
    VALUES ('work-42-a1', 'idle 2026-07-28T12:34:55.789Z', '2026-07-28T12:34:57.789Z');
INSERT INTO pull_standings (repository, number, base_commit, head_commit, conflicts, behind, new_commits)
    VALUES ('/home/ada/src/app', 7, '0123456789abcdef0123456789abcdef01234567', '89abcdef0123456789abcdef0123456789abcdef', '["src/lib.rs"]', 3, 1);
INSERT INTO pull_standings (repository, number, base_commit, head_commit, conflicts, behind, new_commits)
    VALUES ('/home/ada/src/app', 8, '0123456789abcdef0123456789abcdef01234567', '4567456745674567456745674567456745674567', '[]', 0, 0);
INSERT INTO turns (instance_id, ended_at, said, reminded)
    VALUES ('work-42-a1', '2026-07-28T12:34:55.789Z', 'Which one?', 1);
INSERT INTO transcripts (id, path, instance_id, revision, cursor, context_tokens, context_model, context_at)
    VALUES (3, '/home/ada/.claude/projects/app/1.jsonl', 'work-42-a1', 2, '{}', 12000, 'claude-opus', '2026-07-28T12:34:55.789Z');
INSERT INTO usage (transcript_id, instance_id, model, long_prompt, input, output, cache_write_5m, cache_write_1h, cache_read)
    VALUES (3, 'work-42-a1', 'claude-opus', 0, 10, 20, 30, 40, 50);
INSERT INTO usage_totals (model, long_prompt, input, output, cache_write_5m, cache_write_1h, cache_read)
    VALUES ('claude-opus', 0, 10, 20, 30, 40, 50);
COMMIT;
