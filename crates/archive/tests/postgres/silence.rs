//! A server that is stopped while it has something to do, and limits of its own for statements.

use crate::contract::complete;
use crate::faults::server_fault;
use crate::server::{PATIENCE, Server, shared};
use archive::{Archive, Meeting, ServerFault};
use archive::{PostgresArchive, PostgresMeeting};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const SILENCE_MAX: Duration = Duration::from_secs(3);
/// A server's work that shows nothing takes this long: more than its limit for statements, or than it may be silent.
const LONG_WORK_S: f64 = 4.0;
/// The server's limit for statements. What is short keeps within it on a busy machine too.
const STATEMENT_MAX: &str = "2s";
/// Within this time a silent server has been given up, on a busy machine too.
const NOTICED_MAX: Duration = Duration::from_secs(60);

/// A server's process that is stopped until this is dropped.
struct Stopped(Pid);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

/// Stops the server's process for knee's connection to a database, as soon as that is at a statement which begins so.
fn stop(server: &Server, database: &str, statement: &str) -> Stopped {
    let mut admin = server.admin("postgres").unwrap();
    let sql = "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND application_name = 'knee' \
         AND starts_with(query, $2)";
    let begun = Instant::now();
    loop {
        if let Some(row) = admin.query_opt(sql, &[&database, &statement]).unwrap() {
            let pid = Pid::from_raw(row.get::<_, i32>(0)).unwrap();
            kill_process(pid, Signal::STOP).unwrap();
            return Stopped(pid);
        }
        assert!(begun.elapsed() < PATIENCE, "no statement {statement}");
        thread::yield_now();
    }
}

/// Makes the server call a function for each row of a table that is inserted or deleted, or at the commit.
fn before_rows(server: &Server, database: &str, table: &str, event: &str, call: &str) {
    let (kind, when) = match event {
        "COMMIT" => ("CONSTRAINT TRIGGER", "AFTER INSERT"),
        "DELETE" => ("TRIGGER", "BEFORE DELETE"),
        _ => ("TRIGGER", "BEFORE INSERT"),
    };
    let deferred = if event == "COMMIT" { "DEFERRABLE INITIALLY DEFERRED" } else { "" };
    let sql = format!(
        "CREATE FUNCTION slow_{event}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM {call}; RETURN coalesce(new, old); END $$; CREATE {kind} slow_{event} \
         {when} ON {table} {deferred} FOR EACH ROW EXECUTE FUNCTION slow_{event}()"
    );
    server.admin(database).unwrap().batch_execute(&sql).unwrap();
}

/// Each row of a table takes long when it is inserted or deleted, or at the commit.
fn slow_down(server: &Server, database: &str, table: &str, event: &str) {
    before_rows(server, database, table, event, &format!("pg_sleep({LONG_WORK_S})"));
}

#[test]
fn a_server_that_is_stopped_is_given_up_and_keeps_nothing_half() {
    // Its own: a process that is stopped holds up the others of its server.
    let Some(server) = Server::new(None, &[]) else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    let open = || {
        let mut archive = PostgresArchive::open(&url).unwrap();
        archive.set_silence_max(SILENCE_MAX, SILENCE_MAX);
        archive
    };

    // While it reads: behind a lock, so that it is in the middle of it. When it has stopped, the lock is free.
    let archive = open();
    let mut admin = server.admin(&database).unwrap();
    admin.batch_execute("BEGIN; LOCK TABLE knee.run IN ACCESS EXCLUSIVE MODE").unwrap();
    thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            let stopped = stop(&server, &database, "SELECT number");
            admin.batch_execute("ROLLBACK").unwrap();
            stopped
        });
        let begun = Instant::now();
        let fault = server_fault(archive.runs().unwrap_err());
        assert_eq!(fault, ServerFault::Silent(SILENCE_MAX.as_secs()));
        assert!(begun.elapsed() < NOTICED_MAX, "{:?}", begun.elapsed());
        let fault = server_fault(archive.find("x").unwrap_err());
        assert!(matches!(fault, ServerFault::Lost { .. }), "no second wait: {fault:?}");
        drop(stopper.join().unwrap());
    });

    // In the middle of a COPY, in the same way.
    drop(archive);
    let mut archive = open();
    before_rows(&server, &database, "knee.cell", "INSERT", "pg_advisory_xact_lock(1)");
    let number = archive.keep(&complete("0123456789abcdef", 2, 0), "merge").unwrap();
    admin.batch_execute("SELECT pg_advisory_lock(1)").unwrap();
    thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            let stopped = stop(&server, &database, "COPY knee.cell");
            admin.batch_execute("SELECT pg_advisory_unlock(1)").unwrap();
            stopped
        });
        let kept = archive.keep(&complete("fedcba9876543210", 2, 0), "merge");
        let fault = server_fault(kept.unwrap_err());
        assert_eq!(fault, ServerFault::Silent(SILENCE_MAX.as_secs()));
        drop(stopper.join().unwrap());
    });
    let there = PostgresArchive::open_read_only(&url).unwrap().runs().unwrap();
    let there: Vec<i64> = there.iter().map(|run| run.number).collect();
    assert_eq!(there, [number]);
}

#[test]
fn a_server_that_works_at_the_end_of_a_copy_or_at_a_commit_is_waited_for() {
    let Some(server) = shared() else { return };
    thread::scope(|scope| {
        for (table, event) in [("knee.cell", "INSERT"), ("knee.run", "COMMIT")] {
            scope.spawn(move || {
                let database = server.database();
                let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
                archive.set_silence_max(SILENCE_MAX, PATIENCE);
                slow_down(server, &database, table, event);
                let kept = archive.keep(&complete("0123456789abcdef", 1, 0), "merge");
                assert!(kept.is_ok(), "{event}: {kept:?}");
            });
        }
    });
}

#[test]
fn a_signal_ends_the_wait_of_a_meeting_for_a_server_that_is_stopped() {
    let Some(server) = Server::new(None, &[]) else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    let signal = Arc::new(AtomicBool::new(false));
    let mut meeting = PostgresMeeting::join(&url, "a", 0, 7, Arc::clone(&signal)).unwrap();
    // A signal does not cut off what still works: the ranks post their parts after it, all at once.
    slow_down(&server, &database, "knee.meeting", "INSERT");
    signal.store(true, Ordering::Relaxed);
    meeting.post("part", "mine").unwrap();
    let stopped = stop(&server, &database, "INSERT INTO knee.meeting");
    let fault = server_fault(meeting.postings("part", true).unwrap_err());
    assert_eq!(fault, ServerFault::Interrupted);
    drop(stopped);
}

#[test]
fn a_limit_of_the_server_for_statements_ends_no_push_and_no_deletion() {
    let Some(server) = shared() else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    // Not under the limit: the whole load of a run is no matter of this test.
    let reader = PostgresArchive::open(&url).unwrap();
    let mut admin = server.admin(&database).unwrap();
    let limit = format!("ALTER DATABASE {database} SET statement_timeout = '{STATEMENT_MAX}'");
    admin.batch_execute(&limit).unwrap();
    slow_down(server, &database, "knee.cell", "INSERT");
    slow_down(server, &database, "knee.run", "DELETE");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut archive = PostgresArchive::open(&url).unwrap();
            let mut number = 0;
            let mut keep = |archive: &mut dyn Archive| {
                number = archive.keep(&complete("0123456789abcdef", 1, 0), "merge")?;
                Ok(())
            };
            archive.wholly(&mut keep).unwrap();
            archive.delete(number).unwrap();
        });
        let mut archive = PostgresArchive::open(&url).unwrap();
        let whole = complete("fedcba9876543210", 1, 0);
        let number = archive.keep(&whole, "merge").unwrap();
        assert_eq!(reader.load(number).unwrap().cells, whole.cells);
    });
    // Of what reads, the administrator says how long it may take.
    let archive = PostgresArchive::open(&url).unwrap();
    admin.batch_execute("BEGIN; LOCK TABLE knee.run IN ACCESS EXCLUSIVE MODE").unwrap();
    let fault = server_fault(archive.runs().unwrap_err());
    assert!(matches!(fault, ServerFault::Canceled { .. }), "{fault:?}");
}

#[test]
fn a_limit_of_the_server_for_statements_ends_no_migration_nor_the_wait_for_another() {
    let Some(server) = shared() else { return };
    let database = server.database();
    let mut admin = server.admin(&database).unwrap();
    // A command of the migration takes longer.
    admin
        .batch_execute(&format!(
            "CREATE FUNCTION slow_command() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
             PERFORM pg_sleep({LONG_WORK_S}); END $$; CREATE EVENT TRIGGER slow_command \
             ON ddl_command_start WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION slow_command(); \
             ALTER DATABASE {database} SET statement_timeout = '{STATEMENT_MAX}'"
        ))
        .unwrap();
    let url = server.url("knee", &database);
    thread::scope(|scope| {
        let open = || drop(PostgresArchive::open(&url).unwrap());
        // The second of them waits for the first.
        scope.spawn(open);
        scope.spawn(open);
    });
}
