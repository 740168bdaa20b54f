//! Each thing that goes wrong ends in one clear line.

use crate::contract::complete;
use crate::server::{self, url};
use archive::PostgresArchive;
use archive::{Archive, Error, ServerFault};
use model::{HOST_NAME, RunSummary};
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
        let error = opened.unwrap_err().to_string();
        assert!(error.contains("was written by a newer knee (schema 2, this one reads"), "{error}");
    }
}

#[test]
fn an_archive_of_no_released_knee_is_refused_and_left_alone() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let mut admin = server.admin(&database).unwrap();
    let older = "CREATE SCHEMA knee; CREATE TABLE knee.version (schema bigint); \
         INSERT INTO knee.version VALUES (4); CREATE TABLE knee.profile_cell (run bigint)";
    admin.batch_execute(older).unwrap();
    let url = server.url("knee", &database);
    for opened in [PostgresArchive::open(&url), PostgresArchive::open_read_only(&url)] {
        assert_eq!(server_fault(opened.unwrap_err()), ServerFault::Unreleased);
    }
}

#[test]
fn a_run_that_is_damaged_hides_no_other() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
    let mut runs = (1..=5).map(|n: u64| complete(&format!("{n:016x}"), 9, 2));
    let numbers: Vec<i64> = runs.by_ref().map(|run| archive.keep(&run, "").unwrap()).collect();
    let [whole, unreadable, cells, sealed, profiled] = numbers[..] else { panic!() };
    let before = archive.runs().unwrap();
    let changes = [
        format!("UPDATE knee.run SET summary = '{{\"host\": \"\"}}' WHERE number = {unreadable}"),
        format!("DELETE FROM knee.cell WHERE run = {cells} AND sequence = 1"),
        format!("UPDATE knee.run SET seal = seal + 1 WHERE number = {sealed}"),
        format!("DELETE FROM knee.profile WHERE run = {profiled} AND ordinal = 1"),
    ];
    server.admin(&database).unwrap().batch_execute(&changes.join("; ")).unwrap();
    assert_eq!(archive.damaged().unwrap(), [unreadable, cells, sealed, profiled]);
    for number in [unreadable, cells, sealed, profiled] {
        let error = archive.load(number).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
    archive.load(whole).unwrap();
    let after = archive.runs().unwrap();
    for (before, after) in before.into_iter().zip(after) {
        if before.number == unreadable {
            assert_eq!((after.number, after.id), (before.number, before.id));
        } else if before.number == cells {
            assert_eq!(after, RunSummary { cells_ended: 8, ..before });
        } else {
            assert_eq!(after, before);
        }
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
    let sql = "SELECT count(*) FROM knee.profile WHERE json_array_length(body -> 'frames') > 0";
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
             END $$; CREATE TRIGGER full_disk BEFORE INSERT ON knee.cell \
             FOR EACH ROW EXECUTE FUNCTION full_disk()",
        )
        .unwrap();
    assert_eq!(server_fault(archive.keep(&whole, "merge").unwrap_err()), ServerFault::DiskFull);
    assert_eq!(archive.runs().unwrap(), [], "nothing half is kept");
    admin.batch_execute("DROP TRIGGER full_disk ON knee.cell").unwrap();
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
    of_host.host_before.facts.insert(HOST_NAME.to_owned(), name.clone().into());
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
