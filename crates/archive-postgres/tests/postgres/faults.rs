//! Each thing that goes wrong ends in one clear line.

use crate::contract::complete;
use crate::server::{self, url};
use archive_postgres::PostgresArchive;
use record::{Archive, Error, ServerFault};
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// Within this time a cut link has been noticed, on a busy machine too.
const NOTICED_MAX: Duration = Duration::from_secs(30);

fn server_fault(error: Error) -> ServerFault {
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
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut &stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let fault = server_fault(
        PostgresArchive::open(&url(&format!("postgres://u@127.0.0.1:{port}/d"))).unwrap_err(),
    );
    assert!(matches!(fault, ServerFault::NotPostgres { .. }), "{fault:?}");
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
    assert!(matches!(fault, ServerFault::LoginRefused { .. }), "{fault:?}");
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
fn a_newer_and_an_older_schema_are_refused_and_left_alone() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    drop(PostgresArchive::open(&url).unwrap());
    let mut admin = server.admin(&database).unwrap();
    admin.batch_execute("UPDATE knee.version SET schema = schema + 1").unwrap();
    for opened in [PostgresArchive::open(&url), PostgresArchive::open_read_only(&url)] {
        let error = opened.unwrap_err();
        assert!(matches!(error, Error::NewerSchema { schema: 3, supported: 2, .. }), "{error}");
    }
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
