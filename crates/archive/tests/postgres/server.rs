//! A PostgreSQL server of this test program's own: on a socket in a temporary directory, as a user who is not root.

use archive::PostgresArchive;
use archive::{DatabaseUrl, Location};
use fixtures::postgres_programs;
use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write as _;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Long enough for the slowest machine: a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The user `nobody`, which every system has: PostgreSQL refuses root.
pub const UNPRIVILEGED: u32 = 65_534;

/// Ends the server when this program has ended, however it did, and removes what it left.
const JANITOR: &str = "read -r line; \
     pid=$(head -n 1 \"$1/data/postmaster.pid\" 2>/dev/null); \
     [ -n \"$pid\" ] && kill -QUIT \"$pid\" 2>/dev/null; \
     while [ -n \"$pid\" ] && kill -0 \"$pid\" 2>/dev/null; do sleep 0.05; done; rm -rf \"$1\"";

/// A server. It ends with this program, and what is in it is gone then.
pub struct Server {
    directory: PathBuf,
    programs: PathBuf,
    settings: Vec<String>,
    port: u16,
    _janitor: Child,
}

/// The server that the tests of this program share; `None` where none can be started.
pub fn shared() -> Option<&'static Server> {
    static SHARED: OnceLock<Option<Server>> = OnceLock::new();
    let server = SHARED.get_or_init(|| Server::new(None, &[]));
    if server.is_none() {
        // Each of the tests is skipped, and not only the first.
        skip();
    }
    server.as_ref()
}

fn skip() {
    eprintln!("SKIPPED: there is no PostgreSQL here (initdb)");
}

impl Server {
    /// A new server with its data in a new directory: in `parent`, where that is named.
    pub fn new(parent: Option<&Path>, settings: &[&str]) -> Option<Server> {
        let Some(programs) = postgres_programs() else {
            skip();
            return None;
        };
        let made = match parent {
            Some(parent) => tempfile::tempdir_in(parent),
            None => tempfile::tempdir(),
        };
        let directory = made.unwrap().keep();
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
        if is_root() {
            chown(&directory, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        let janitor = Command::new("setsid")
            .args(["sh", "-c", JANITOR, "janitor"])
            .arg(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let port = settings.iter().find_map(|setting| setting.strip_prefix("port=")?.parse().ok());
        let port = port.unwrap_or(5432);
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let server = Server { directory, programs, settings, port, _janitor: janitor };
        let made = server
            .program("initdb")
            .args(["-N", "-A", "trust", "-U", "knee", "-E", "UTF8", "--locale=C", "-D"])
            .arg(server.data())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.start();
        Some(server)
    }

    /// Where its socket is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// A program of PostgreSQL, as a user who is not root.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if is_root() {
            let user = UNPRIVILEGED.to_string();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(&self.directory).stdin(Stdio::null());
        command
    }

    /// Starts the server, and waits until it answers. The memory of a server that was killed may still be in use.
    pub fn start(&self) {
        let start = Instant::now();
        let mut log = String::new();
        loop {
            let mut command = self.program("postgres");
            command.arg("-D").arg(self.data()).arg("-k").arg(&self.directory);
            for setting in
                ["listen_addresses=", "fsync=off", "shared_buffers=16MB", "max_wal_size=64MB"]
            {
                command.args(["-c", setting]);
            }
            command.args(self.settings.iter().flat_map(|setting| ["-c", setting]));
            let file = self.directory.join("log");
            let out = std::fs::File::create(&file).unwrap();
            let mut child = command.stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
            while child.try_wait().unwrap().is_none() {
                if self.admin("postgres").is_ok() {
                    // It is not waited for: the janitor ends it.
                    std::thread::spawn(move || child.wait());
                    return;
                }
                std::thread::sleep(BETWEEN_LOOKS);
            }
            log.clear();
            let _ = write!(log, "{}", std::fs::read_to_string(&file).unwrap_or_default());
            assert!(start.elapsed() < PATIENCE, "PostgreSQL does not start: {log}");
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Starts the server if it has ended by itself.
    pub fn start_again(&self) {
        if self.admin("postgres").is_err() {
            self.start();
        }
    }

    /// Kills the server as a power cut would, but for the disk.
    pub fn kill(&self) {
        let text = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let number = text.lines().next().unwrap().trim().parse().unwrap();
        kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).unwrap();
        let alive = || Path::new("/proc").join(number.to_string()).exists();
        let start = Instant::now();
        while alive() {
            assert!(start.elapsed() < PATIENCE, "{number} does not end");
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Kills the server's process for a connection to this database, and waits until the server has recovered.
    pub fn crash(&self, database: &str) {
        let sql =
            "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND application_name = 'knee'";
        let row = self.admin("postgres").unwrap().query_opt(sql, &[&database]).unwrap();
        // The push may have ended already.
        let Some(row) = row else { return };
        let pid = Pid::from_raw(row.get::<_, i32>(0)).unwrap();
        let _ = kill_process(pid, Signal::KILL);
        let alive = || Path::new("/proc").join(pid.to_string()).exists();
        let start = Instant::now();
        while alive() || self.admin("postgres").is_err() {
            assert!(start.elapsed() < PATIENCE, "the server does not recover");
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(format!(".s.PGSQL.{}", self.port))
    }

    /// A connection past knee.
    pub fn admin(&self, database: &str) -> Result<Client, postgres::Error> {
        self.client("knee", database)
    }

    /// The same as another role.
    pub fn client(&self, role: &str, database: &str) -> Result<Client, postgres::Error> {
        let directory = self.directory.display();
        let port = self.port;
        Client::connect(
            &format!("host={directory} port={port} user={role} dbname={database}"),
            NoTls,
        )
    }

    /// The name of a new, empty database.
    pub fn database(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("archive_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut admin = self.admin("postgres").unwrap();
        admin.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        name
    }

    /// The URL of a database for a role.
    pub fn url(&self, role: &str, database: &str) -> DatabaseUrl {
        let (directory, port) = (self.directory.display(), self.port);
        let text = format!("postgres://{role}@/{database}?host={directory}&port={port}");
        url(&text)
    }

    /// A new archive in a new database, and its URL.
    pub fn archive(&self) -> (PostgresArchive, DatabaseUrl) {
        let url = self.url("knee", &self.database());
        (PostgresArchive::open(&url).unwrap(), url)
    }
}

/// The URL in a text.
pub fn url(text: &str) -> DatabaseUrl {
    match Location::from(text) {
        Location::Postgres(url) => url,
        Location::File(file) => panic!("{}", file.display()),
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
