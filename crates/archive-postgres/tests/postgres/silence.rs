//! A server that is stopped while it has something to do, and limits of its own for statements.

use crate::contract::complete;
use crate::faults::server_fault;
use crate::server::{PATIENCE, Server, shared};
use archive_postgres::{PostgresArchive, PostgresMeeting};
use record::{Archive, Meeting, ServerFault};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const SILENCE_MAX: Duration = Duration::from_secs(1);
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

/// Every row that is inserted takes this long.
fn slow_down(server: &Server, database: &str, table: &str, event: &str, seconds: f64) {
    let sql = format!(
        "CREATE FUNCTION slow_{event}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM pg_sleep({seconds}); RETURN coalesce(new, old); END $$; CREATE TRIGGER slow_{event} \
         BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION slow_{event}()"
    );
    server.admin(database).unwrap().batch_execute(&sql).unwrap();
}

#[test]
fn a_server_that_is_stopped_is_given_up_and_keeps_nothing_half() {
    // Its own: a process that is stopped holds up the others of its server.
    let Some(server) = Server::new(None, &[]) else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    let open = || {
        let mut archive = PostgresArchive::open(&url).unwrap();
        archive.set_silence_max(SILENCE_MAX);
        archive
    };

    // While it reads: behind a lock, so that it is in the middle of it.
    let archive = open();
    let mut admin = server.admin(&database).unwrap();
    admin.batch_execute("BEGIN; LOCK TABLE knee.run IN ACCESS EXCLUSIVE MODE").unwrap();
    thread::scope(|scope| {
        let stopper = scope.spawn(|| stop(&server, &database, "SELECT number"));
        let begun = Instant::now();
        let fault = server_fault(archive.runs().unwrap_err());
        assert_eq!(fault, ServerFault::Silent { seconds: 1 });
        assert!(begun.elapsed() < NOTICED_MAX, "{:?}", begun.elapsed());
        let fault = server_fault(archive.find("x").unwrap_err());
        assert!(matches!(fault, ServerFault::Lost { .. }), "no second wait: {fault:?}");
        drop(stopper.join().unwrap());
    });
    admin.batch_execute("ROLLBACK").unwrap();

    // In the middle of a COPY.
    drop(archive);
    let mut archive = open();
    slow_down(&server, &database, "knee.cell", "INSERT", 0.2);
    thread::scope(|scope| {
        let stopper = scope.spawn(|| stop(&server, &database, "COPY knee.cell"));
        let kept = archive.keep(&complete("0123456789abcdef", 400, 0), "merge");
        assert_eq!(server_fault(kept.unwrap_err()), ServerFault::Silent { seconds: 1 });
        drop(stopper.join().unwrap());
    });
    assert_eq!(PostgresArchive::open_read_only(&url).unwrap().runs().unwrap(), []);
}

#[test]
fn a_signal_ends_the_wait_of_a_meeting_for_a_server_that_is_stopped() {
    let Some(server) = Server::new(None, &[]) else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    let signal = Arc::new(AtomicBool::new(false));
    let mut meeting = PostgresMeeting::join(&url, "a", 0, 7, Arc::clone(&signal)).unwrap();
    // A signal does not cut off what still works: the ranks post their parts after it.
    signal.store(true, Ordering::Relaxed);
    meeting.post("part", "mine").unwrap();
    let stopped = stop(&server, &database, "INSERT INTO knee.meeting");
    let fault = server_fault(meeting.postings("part", true).unwrap_err());
    assert_eq!(fault, ServerFault::Interrupted);
    drop(stopped);
    assert!(PostgresMeeting::join(&url, "a", 0, 8, signal).is_ok());
}

#[test]
fn a_limit_of_the_server_for_statements_ends_no_push_and_no_deletion() {
    let Some(server) = shared() else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    drop(PostgresArchive::open(&url).unwrap());
    let mut admin = server.admin(&database).unwrap();
    let limit = format!("ALTER DATABASE {database} SET statement_timeout = '100ms'");
    admin.batch_execute(&limit).unwrap();
    slow_down(server, &database, "knee.cell", "INSERT", 0.2);
    slow_down(server, &database, "knee.run", "DELETE", 0.2);
    let mut archive = PostgresArchive::open(&url).unwrap();
    let whole = complete("0123456789abcdef", 2, 0);
    let mut number = 0;
    let mut keep = |archive: &mut dyn Archive| {
        number = archive.keep(&whole, "merge")?;
        Ok(())
    };
    archive.wholly(&mut keep).unwrap();
    archive.delete(number).unwrap();
    let number = archive.keep(&whole, "merge").unwrap();
    assert_eq!(archive.load(number).unwrap().cells, whole.cells);
    // Of what reads, the administrator says how long it may take.
    admin.batch_execute("BEGIN; LOCK TABLE knee.run IN ACCESS EXCLUSIVE MODE").unwrap();
    let fault = server_fault(archive.runs().unwrap_err());
    assert!(matches!(fault, ServerFault::Canceled { .. }), "{fault:?}");
}

#[test]
fn a_limit_of_the_server_for_statements_ends_no_migration() {
    let Some(server) = shared() else { return };
    let database = server.database();
    let mut admin = server.admin(&database).unwrap();
    // Every command of a migration takes longer.
    admin
        .batch_execute(&format!(
            "CREATE FUNCTION slow_command() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
             PERFORM pg_sleep(0.1); END $$; CREATE EVENT TRIGGER slow_command ON ddl_command_start \
             EXECUTE FUNCTION slow_command(); \
             ALTER DATABASE {database} SET statement_timeout = '100ms'"
        ))
        .unwrap();
    drop(PostgresArchive::open(&server.url("knee", &database)).unwrap());
}
