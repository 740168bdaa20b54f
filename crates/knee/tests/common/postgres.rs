//! A PostgreSQL server for a test of the program, on a socket of its own.

use super::PATIENCE;
use fixtures::postgres_programs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The user `nobody`, which every system has: PostgreSQL refuses root.
const UNPRIVILEGED: u32 = 65_534;

/// Makes a server in `$2` by the programs in `$1`, as the user `$3` where that is not empty, and ends it when this program
/// has ended, however it did.
const KEEPER: &str = r#"
    programs=$1; directory=$2; user=$3; cd "$directory" || exit 1
    as() { if [ -n "$user" ]; then setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; else "$@"; fi; }
    as "$programs/initdb" -N -A trust -U knee -E UTF8 --locale=C -D data >log 2>&1 &&
        as "$programs/pg_ctl" -D data -w -t 100 -l server.log -o "-k $directory -c listen_addresses= -c fsync=off" start >>log 2>&1 &&
        touch started
    touch ended
    read -r line
    as "$programs/pg_ctl" -D data -m immediate stop >/dev/null 2>&1
    rm -rf "$directory""#;

/// A server. It ends with this value, and what is in it is gone then.
pub struct Postgres {
    directory: PathBuf,
    _keeper: Child,
}

impl Postgres {
    /// A new server; `None`, and a line that says so, where there is no PostgreSQL.
    pub fn new() -> Option<Postgres> {
        let Some(programs) = postgres_programs() else {
            eprintln!("SKIPPED: there is no PostgreSQL here (initdb)");
            return None;
        };
        let directory = tempfile::tempdir().unwrap().keep();
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            chown(&directory, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        let keeper = Command::new("setsid")
            .args(["sh", "-c", KEEPER, "keeper"])
            .args([&programs, &directory])
            .arg(if is_root { UNPRIVILEGED.to_string() } else { String::new() })
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !directory.join("ended").exists() {
            assert!(start.elapsed() < PATIENCE, "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let log = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
        let logs = || log("log") + &log("server.log");
        assert!(directory.join("started").exists(), "PostgreSQL does not start: {}", logs());
        Some(Postgres { directory, _keeper: keeper })
    }

    /// Executes statements as the administrator.
    pub fn execute(&self, sql: &str) {
        let psql = postgres_programs().unwrap().join("psql");
        let output = Command::new(psql).args(["-X", "-d", &self.url(), "-c", sql]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The URL of its database.
    pub fn url(&self) -> String {
        format!("postgres://knee@/postgres?host={}", self.directory.display())
    }
}
