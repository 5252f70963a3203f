//! Query plans (`EXPLAIN QUERY PLAN`): every statement must be answered by an index, however large the database is.
//!
//! Debug builds check each statement that runs and panic at one that reads a whole table, so no query can be
//! forgotten. Release builds have none of this.

#[cfg(not(debug_assertions))]
pub(super) use inactive::{check, watch};

#[cfg(debug_assertions)]
pub(super) use active::{check, watch};

#[cfg(not(debug_assertions))]
mod inactive {
    use rusqlite::Connection;

    pub(in super::super) fn watch(_: &mut Connection) {}

    pub(in super::super) fn check(_: &Connection) {}
}

#[cfg(debug_assertions)]
mod active {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use rusqlite::Connection;
    use rusqlite::trace::{TraceEvent, TraceEventCodes};

    /// What may be read as a whole: how its plan begins, what the statement has in it, and why.
    const ALLOWED: &[(&str, &str, &str)] = &[
        (
            "SCAN instances",
            "FROM instances ORDER BY created_at, id",
            "`list --all` asks for all",
        ),
        (
            "SCAN instances USING INDEX instances_over",
            "LIMIT",
            "the newest",
        ),
        (
            "SCAN instances USING COVERING INDEX instances_by_status",
            "GROUP BY status",
            "a count of agents",
        ),
        (
            "SCAN instances",
            "FROM kept",
            "retention compares the files of all agents, hourly",
        ),
        (
            "SCAN agent",
            "FROM kept",
            "retention, once there is something old: hourly",
        ),
        ("SCAN mcp_events", "ORDER BY id LIMIT 5000", "the oldest"),
        (
            "SCAN mcp_events USING COVERING INDEX",
            "SELECT count(*)",
            "SQLite counts by pages: 10 ms for a million",
        ),
        (
            "SCAN messages USING COVERING INDEX",
            "SELECT count(*)",
            "as above",
        ),
        (
            "SCAN messages USING COVERING INDEX messages_by_state",
            "GROUP BY state",
            "a count: 5 ms for 100,000",
        ),
        (
            "SCAN webhook_deliveries USING COVERING INDEX",
            "OFFSET",
            "5,000 are kept",
        ),
        ("SCAN event_totals", "", "a row for each tool and command"),
        ("SCAN usage_totals", "", "a row or two for each model"),
        (
            "SCAN local_merges",
            "",
            "one row for each repository at most",
        ),
        (
            "SCAN tdd_runs",
            "",
            "a row for each run that a person has begun",
        ),
        (
            "SCAN tdd_phases",
            "",
            "sessions that nobody continues are forgotten",
        ),
        (
            "SCAN waiting",
            "RECURSIVE waiting",
            "the tasks behind one, found by an index",
        ),
        ("SCAN pragma_", "", "no table"),
        ("SCAN CONSTANT ROW", "", "no table"),
        ("SCAN (subquery", "", "what it reads has a line of its own"),
    ];

    thread_local! {
        /// What this thread has run since the last check.
        static RUN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }
    /// What was looked at already.
    static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

    /// Takes note of every statement that the connection runs from now on.
    pub(in super::super) fn watch(connection: &mut Connection) {
        let noted = |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(_, sql) = event {
                RUN.with_borrow_mut(|run| run.push(sql.to_owned()));
            }
        };
        let watched = connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(noted));
        debug_assert!(watched.is_ok(), "statements can be traced");
    }

    /// Looks at what was run since.
    pub(in super::super) fn check(connection: &Connection) {
        for sql in RUN.take() {
            let word = sql.split_whitespace().next().unwrap_or_default();
            let is_query = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains(&word);
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            if !is_query || !known.insert(sql.clone()) {
                continue;
            }
            drop(known);
            let scans = scans(connection, &sql).unwrap_or_default();
            debug_assert!(scans.is_empty(), "{scans:?} in the statement {sql}");
        }
        RUN.take();
    }

    /// Returns the lines of a statement's plan that read a whole table and may not.
    pub(super) fn scans(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
        let mut partial = connection.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'",
        )?;
        // Partial indexes hold what is under way, not what has piled up; except those of what is over.
        let partial = partial
            .query_map([], |row| row.get::<_, String>(0))?
            .filter(|name| !name.as_ref().is_ok_and(|name| name.ends_with("_over")))
            .collect::<Result<Vec<_>, _>>()?;
        let mut named =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
        let tables = named
            .query_map([], |row| row.get::<_, String>(0))?
            .collect::<Result<BTreeSet<_>, _>>()?;
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        let plan = explained
            .raw_query()
            .mapped(|row| row.get::<_, String>("detail"))
            .collect::<Result<Vec<_>, _>>()?;
        let is_allowed = |line: &String| {
            let mut words = line.split(' ').skip(1);
            let name = words.next().unwrap_or_default();
            let by_partial = partial
                .iter()
                .any(|index| line.ends_with(&format!(" INDEX {index}")));
            // A name that is no table's is that of a WITH clause or a table-valued function, or another name for a table.
            let other = !tables.contains(name) && !is_alias(sql, name, &tables);
            by_partial
                || other
                || ALLOWED
                    .iter()
                    .any(|(begin, part, _)| line.starts_with(begin) && sql.contains(part))
        };
        let scans = plan.into_iter().filter(|line| line.starts_with("SCAN "));
        Ok(scans.filter(|line| !is_allowed(line)).collect())
    }

    /// Tells whether a statement calls a table by this other name.
    fn is_alias(sql: &str, name: &str, tables: &BTreeSet<String>) -> bool {
        let words: Vec<&str> = sql
            .split(|c: char| c.is_whitespace() || "(),".contains(c))
            .filter(|word| !word.is_empty() && *word != "AS")
            .collect();
        words
            .windows(2)
            .any(|pair| pair[1] == name && tables.contains(pair[0]))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::store::schema::SCHEMA;

        fn database() -> Connection {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(SCHEMA).unwrap();
            connection
        }

        #[test]
        fn a_statement_that_reads_a_whole_table_is_found() {
            let connection = database();
            for (sql, found) in [
                ("SELECT * FROM tasks WHERE id = ?1", ""),
                ("SELECT * FROM tasks WHERE title = ?1", "SCAN tasks"),
                ("SELECT t.id FROM tasks AS t WHERE t.title = ?1", "SCAN t"),
                ("SELECT t.id FROM tasks t WHERE t.title = ?1", "SCAN t"),
                (
                    "UPDATE messages SET body = '' WHERE sender = 'x'",
                    "SCAN messages",
                ),
                (
                    "DELETE FROM mcp_events WHERE duration_ms > 1",
                    "SCAN mcp_events",
                ),
                (
                    "SELECT instance_id FROM messages WHERE state IN ('owed', 'typed') ORDER BY instance_id",
                    "",
                ),
                ("SELECT value FROM json_each(?1)", ""),
                (
                    "WITH few AS (SELECT id FROM tasks WHERE id = ?1 UNION SELECT 1) SELECT * FROM few",
                    "",
                ),
            ] {
                let lines = scans(&connection, sql).unwrap();
                assert_eq!(lines.join("\n"), found, "{sql}");
            }
        }

        /// Deleting a row looks for those that refer to it, which no plan shows.
        #[test]
        fn every_reference_has_an_index() {
            let connection = database();
            let mut statement = connection
                .prepare(
                    "SELECT t.name || '.' || f.\"from\" FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
                     WHERE t.type = 'table' AND NOT EXISTS (
                         SELECT 1 FROM pragma_index_list(t.name) AS i, pragma_index_info(i.name) AS c
                         WHERE c.seqno = 0 AND c.name = f.\"from\"
                           AND (i.partial = 0 OR (SELECT sql FROM sqlite_schema WHERE name = i.name)
                                                 LIKE '%WHERE ' || f.\"from\" || ' IS NOT NULL'))",
                )
                .unwrap();
            let without: Vec<String> = statement
                .query_map([], |row| row.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert_eq!(without, Vec::<String>::new());
        }
    }
}
