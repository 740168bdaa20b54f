//! Each thing that goes wrong ends in one clear line.

use crate::contract::complete;
use crate::server::{self, url};
use archive_postgres::PostgresArchive;
use postgres::Client;
use record::{Archive, Error, HOST_NAME, RunSummary, ServerFault};
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// Within this time a cut link has been noticed, on a busy machine too.
const NOTICED_MAX: Duration = Duration::from_secs(30);

pub fn server_fault(error: Error) -> ServerFault {
    let line = error.to_string();
    assert!(!line.contains('\n') && !line.contains("secret"), "{line}");
    match error {
        Error::Server { fault, .. } => fault,
        error => panic!("{error}"),
    }
}

#[test]
fn nothing_answers() {
    let directory = tempfile::tempdir().unwrap();
    let socket = format!("postgres://u@/d?host={}", directory.path().display());
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for text in [socket, format!("postgres://u:secret@127.0.0.1:{port}/d")] {
        let fault = server_fault(PostgresArchive::open(&url(&text)).unwrap_err());
        assert!(matches!(fault, ServerFault::Unreachable { .. }), "{fault:?}");
    }
}

#[test]
fn something_else_answers() {
    let greetings: [&[u8]; 4] = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"J\0\0\0\n8.0.36\0\x08\0\0\0caching_sha2_password\0",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ];
    for greeting in greetings {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = std::io::Write::write_all(&mut &stream, greeting);
            }
        });
        let there = url(&format!("postgres://u@127.0.0.1:{port}/d"));
        let fault = server_fault(PostgresArchive::open(&there).unwrap_err());
        let greeting = String::from_utf8_lossy(greeting);
        assert!(matches!(fault, ServerFault::NotPostgres { .. }), "{greeting}: {fault:?}");
    }
}

#[test]
fn something_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let start = Instant::now();
    let fault = server_fault(
        PostgresArchive::open(&url(&format!("postgres://u@127.0.0.1:{port}/d"))).unwrap_err(),
    );
    assert!(matches!(fault, ServerFault::Unreachable { .. }), "{fault:?}");
    assert!(start.elapsed() < NOTICED_MAX, "{:?}", start.elapsed());
}

#[test]
fn a_wrong_role_and_a_wrong_database_are_reported() {
    let Some(server) = server::shared() else { return };
    let fault = server_fault(PostgresArchive::open(&server.url("knee", "nowhere")).unwrap_err());
    assert!(matches!(fault, ServerFault::NoDatabase { .. }), "{fault:?}");
    assert!(!fault.to_string().contains("PGPASSWORD"), "{fault}");
    let fault =
        server_fault(PostgresArchive::open(&server.url("stranger", "postgres")).unwrap_err());
    assert!(matches!(fault, ServerFault::LoginRefused { .. }), "{fault:?}");
}

#[test]
fn a_database_without_an_archive_is_not_read_but_made_by_writing() {
    let Some(server) = server::shared() else { return };
    let url = server.url("knee", &server.database());
    let fault = server_fault(PostgresArchive::open_read_only(&url).unwrap_err());
    assert_eq!(fault, ServerFault::NoArchive);
    drop(PostgresArchive::open(&url).unwrap());
    let mut reader = PostgresArchive::open_read_only(&url).unwrap();
    assert_eq!(reader.runs().unwrap(), []);
    let fault = server_fault(reader.keep(&complete("0123456789abcdef", 1, 0), "").unwrap_err());
    assert!(matches!(fault, ServerFault::Denied { .. }), "{fault:?}");
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    drop(PostgresArchive::open(&url).unwrap());
    let mut admin = server.admin(&database).unwrap();
    admin.batch_execute("UPDATE knee.version SET schema = schema + 1").unwrap();
    for opened in [PostgresArchive::open(&url), PostgresArchive::open_read_only(&url)] {
        let error = opened.unwrap_err();
        assert!(
            matches!(error, Error::NewerSchema { schema, supported, .. } if schema == supported + 1),
            "{error}"
        );
    }
}

/// Takes an archive back to schema 1, with the runs that are in it.
fn back_to_1(admin: &mut Client) {
    admin.batch_execute("ALTER SCHEMA knee RENAME TO newer; CREATE SCHEMA knee").unwrap();
    admin.batch_execute(include_str!("../../src/schema_1.sql")).unwrap();
    admin.batch_execute("INSERT INTO knee.version VALUES (1)").unwrap();
    for table in ["run", "metric_info", "cell", "metric", "profile_cell"] {
        let sql = "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns \
             WHERE table_schema = 'knee' AND table_name = $1";
        let columns: String = admin.query_one(sql, &[&table]).unwrap().get(0);
        let sql =
            format!("INSERT INTO knee.{table} ({columns}) SELECT {columns} FROM newer.{table}");
        admin.batch_execute(&sql).unwrap();
    }
    admin.batch_execute("DROP SCHEMA newer CASCADE").unwrap();
}

#[test]
fn an_older_schema_is_brought_up_to_date_by_its_owner_alone() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    let whole = complete("0123456789abcdef", 9, 2);
    let number = PostgresArchive::open(&url).unwrap().keep(&whole, "merge").unwrap();
    let mut admin = server.admin(&database).unwrap();
    back_to_1(&mut admin);
    admin
        .batch_execute(
            "CREATE ROLE late_writer LOGIN; GRANT USAGE ON SCHEMA knee TO late_writer; \
             GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA knee TO late_writer",
        )
        .unwrap();
    let writer = server.url("late_writer", &database);
    for opened in [PostgresArchive::open_read_only(&url), PostgresArchive::open(&writer)] {
        let fault = server_fault(opened.unwrap_err());
        assert!(matches!(fault, ServerFault::OlderSchema { schema: 1, .. }), "{fault:?}");
    }
    let archive = PostgresArchive::open(&url).unwrap();
    assert_eq!(archive.load(number).unwrap().cells, whole.cells);
    assert_eq!(PostgresArchive::open_read_only(&url).unwrap().runs().unwrap().len(), 1);
}

#[test]
fn a_run_that_is_damaged_hides_no_other() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
    let mut runs = (1..=5).map(|n: u64| complete(&format!("{n:016x}"), 9, 2));
    let numbers: Vec<i64> = runs.by_ref().map(|run| archive.keep(&run, "").unwrap()).collect();
    let [whole, unreadable, cells, metrics, profiled] = numbers[..] else { panic!() };
    let before = archive.runs().unwrap();
    let changes = [
        format!("UPDATE knee.run SET summary = '{{}}' WHERE number = {unreadable}"),
        format!("DELETE FROM knee.cell WHERE run = {cells} AND sequence = 1"),
        format!("DELETE FROM knee.metric WHERE run = {metrics} AND sequence = 1 AND ordinal = 1"),
        format!("DELETE FROM knee.profile_cell WHERE run = {profiled} AND ordinal = 1"),
    ];
    server.admin(&database).unwrap().batch_execute(&changes.join("; ")).unwrap();
    assert_eq!(archive.damaged().unwrap(), [unreadable, cells, metrics, profiled]);
    for number in [unreadable, cells, metrics, profiled] {
        let error = archive.load(number).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
    archive.load(whole).unwrap();
    let after = archive.runs().unwrap();
    for (before, after) in before.into_iter().zip(after) {
        // The command line is nowhere else, and moments are of the server's time zone.
        let is_unreadable = before.number == unreadable;
        let before = if is_unreadable {
            RunSummary {
                command: Vec::new(),
                started: after.started.clone(),
                ended: after.ended.clone(),
                ..before
            }
        } else {
            before
        };
        assert!(after.started.parse::<jiff::Timestamp>().is_ok(), "{}", after.started);
        assert_eq!(after, before);
    }
}

#[test]
fn the_last_run_is_the_one_that_began_last_whoever_pushed_last() {
    let Some(server) = server::shared() else { return };
    let mut archive = server.archive().0;
    let mut keep = |id: &str, started: &str, host: &str| {
        let mut run = complete(id, 1, 0);
        run.summary.started = started.to_owned();
        host.clone_into(&mut run.summary.host);
        run.host_before.facts.insert("host.name".into(), host.into());
        archive.keep(&run, "merge").unwrap()
    };
    // As moments: the offsets differ.
    let newest = keep("1000000000000000", "2026-11-21T12:00:00-05:00", "amber");
    let middle = keep("2000000000000000", "2026-11-21T16:30:00+00:00", "blue");
    let oldest = keep("3000000000000000", "2026-11-21T17:00:00+02:00", "amber");
    let timeless = keep("4000000000000000", "some day", "blue");
    assert_eq!(archive.resolve("last").unwrap(), newest);
    assert_eq!(archive.resolve("last@amber").unwrap(), newest);
    assert_eq!(archive.resolve("last@blue").unwrap(), middle);
    let numbers: Vec<i64> = archive.runs().unwrap().iter().map(|run| run.number).collect();
    assert_eq!(numbers, [timeless, oldest, middle, newest]);
}

#[test]
fn a_profile_is_written_once_and_not_once_a_cell() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
    let whole = complete("0123456789abcdef", 3, 40);
    let number = archive.keep(&whole, "merge").unwrap();
    assert_eq!(archive.load(number).unwrap().profile, whole.profile);
    let sql = "SELECT count(*) FROM knee.profile_cell WHERE json_array_length(frames) > 0";
    let rows: i64 = server.admin(&database).unwrap().query_one(sql, &[]).unwrap().get(0);
    assert_eq!(rows, 1, "the first cell brings all frames");
}

#[test]
fn many_make_the_archive_at_a_time() {
    let Some(server) = server::shared() else { return };
    let url = server.url("knee", &server.database());
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| drop(PostgresArchive::open(&url).unwrap()));
        }
    });
    assert_eq!(PostgresArchive::open_read_only(&url).unwrap().runs().unwrap(), []);
}

#[test]
fn a_full_disk_of_the_server_is_reported_and_nothing_half_is_kept() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    let mut archive = PostgresArchive::open(&url).unwrap();
    let whole = complete("0123456789abcdef", 9, 1);
    let mut admin = server.admin(&database).unwrap();
    // What a server says whose disk is full, from the first row on.
    admin
        .batch_execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; \
             END $$; CREATE TRIGGER full_disk BEFORE INSERT ON knee.metric \
             FOR EACH ROW EXECUTE FUNCTION full_disk()",
        )
        .unwrap();
    assert_eq!(server_fault(archive.keep(&whole, "merge").unwrap_err()), ServerFault::DiskFull);
    assert_eq!(archive.runs().unwrap(), [], "nothing half is kept");
    admin.batch_execute("DROP TRIGGER full_disk ON knee.metric").unwrap();
    archive.keep(&whole, "merge").unwrap();
}

#[test]
fn a_name_that_is_too_long_for_an_index_is_named_and_keeps_no_other_run_out() {
    let Some(server) = server::shared() else { return };
    let mut archive = server.archive().0;
    // Letters at random: the server compresses what repeats.
    let mut random = fastrand::Rng::with_seed(7);
    let name: String = (0..6_000).map(|_| random.alphanumeric()).collect();
    let mut of_metric = complete("0123456789abcdef", 1, 0);
    of_metric.plan.workloads[0].metrics[0].name.clone_from(&name);
    let mut of_host = complete("0123456789abcdef", 1, 0);
    of_host.host_before.facts.insert(HOST_NAME.to_owned(), name.clone());
    let mut faults: Vec<Error> =
        [of_metric, of_host].map(|long| archive.keep(&long, "merge").unwrap_err()).into();
    assert_eq!(archive.runs().unwrap(), [], "nothing half is kept");
    let number = archive.keep(&complete("1123456789abcdef", 1, 0), "merge").unwrap();
    faults.push(archive.set_baseline(&name, number).unwrap_err());
    assert_eq!(archive.baselines().unwrap(), []);
    archive.set_baseline("main", number).unwrap();
    for error in faults {
        let line = error.to_string();
        assert!(
            line.contains(&name[..60]) && line.contains("6000 bytes") && line.len() < 300,
            "{line}"
        );
        let fault = server_fault(error);
        assert!(matches!(fault, ServerFault::NameTooLong { .. }), "{fault:?}");
    }
}
