//! Encryption and passwords, against a real server with a certificate of its own.

use crate::faults::server_fault;
use crate::server::{Server, UNPRIVILEGED, is_root, url};
use archive::PostgresArchive;
use archive::{Archive, ServerFault};
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A certificate that vouches for itself, as docs/archive.md makes it.
fn certificate(directory: &Path, name: &str, host: &str) -> Option<[PathBuf; 2]> {
    let [key, file] = ["key", "crt"].map(|end| directory.join(format!("{name}.{end}")));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-noenc", "-days", "3650", "-subj", &format!("/CN={host}")])
        .args(["-addext", &format!("subjectAltName=DNS:{host}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&file)
        .output();
    let Ok(made) = made else {
        eprintln!("SKIPPED: there is no openssl here");
        return None;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    if is_root() {
        chown(&key, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
    Some([key, file])
}

#[test]
fn certificates_and_passwords_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let Some([key, right]) = certificate(path, "server", "localhost") else { return };
    let Some([_, wrong]) = certificate(path, "other", "localhost") else { return };
    let logins = path.join("logins");
    fs::write(&logins, "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n")
        .unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = [
        "ssl=on".to_owned(),
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("hba_file={}", logins.display()),
        format!("ssl_cert_file={}", right.display()),
        format!("ssl_key_file={}", key.display()),
    ];
    let settings = settings.each_ref().map(String::as_str);
    let Some(server) = Server::new(None, &settings) else { return };
    let database = server.database();
    let role = "CREATE ROLE writer LOGIN SUPERUSER PASSWORD 'secret-right'";
    server.admin("postgres").unwrap().batch_execute(role).unwrap();
    let open = |password: &str, host: &str, rest: &str| {
        let login = format!("writer:{password}@{host}:{port}");
        PostgresArchive::open(&url(&format!("postgres://{login}/{database}?{rest}")))
    };
    let vouched = |file: &Path| format!("sslmode=verify-full&sslrootcert={}", file.display());

    let archive = open("secret-right", "localhost", &vouched(&right)).unwrap();
    assert_eq!(archive.runs().unwrap(), []);
    let sql = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
         WHERE ssl AND application_name = 'knee'";
    let encrypted: i64 = server.admin("postgres").unwrap().query_one(sql, &[]).unwrap().get(0);
    assert_eq!(encrypted, 1);

    let fault = |password: &str, host: &str, rest: &str| {
        server_fault(open(password, host, rest).unwrap_err())
    };
    let unknown = fault("secret-right", "localhost", &vouched(&wrong));
    assert!(matches!(unknown, ServerFault::Tls { .. }), "{unknown:?}");
    let misnamed = fault("secret-right", "127.0.0.1", &vouched(&right));
    assert!(matches!(&misnamed, ServerFault::Tls(cause) if cause.contains("name")), "{misnamed:?}");
    let refused = fault("secret-wrong", "localhost", &vouched(&right));
    assert!(
        matches!(&refused, ServerFault::LoginRefused(cause) if cause.contains("password")),
        "{refused:?}"
    );
    let plain = fault("secret-right", "localhost", "sslmode=disable");
    assert!(matches!(plain, ServerFault::LoginRefused { .. }), "{plain:?}");
}

#[test]
fn a_server_without_encryption_is_refused_where_it_is_wanted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let directory = tempfile::tempdir().unwrap();
    let Some([_, root]) = certificate(directory.path(), "root", "localhost") else { return };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The answer to the question for encryption: none.
            let _ = std::io::Read::read_exact(&mut &stream, &mut [0; 8]);
            let _ = (&stream).write_all(b"N");
        }
    });
    let root = root.display();
    let asked = format!("postgres://u@127.0.0.1:{port}/d?sslmode=verify-full&sslrootcert={root}");
    let fault = server_fault(PostgresArchive::open(&url(&asked)).unwrap_err());
    assert!(matches!(fault, ServerFault::Tls { .. }), "{fault:?}");
}
