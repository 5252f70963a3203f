-- The dashboard: who types into a terminal, and which webhooks were heard.

CREATE TABLE pane_control (
    instance_id TEXT PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
    -- Random; only who took control knows it.
    lease       TEXT NOT NULL,
    -- As they call themselves, for everybody else.
    holder      TEXT NOT NULL,
    -- Not after this time, unless renewed.
    until       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_deliveries (
    id          TEXT PRIMARY KEY,
    received_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (received_at);
