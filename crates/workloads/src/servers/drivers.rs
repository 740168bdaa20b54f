//! Servers: ours over every mechanism, and those of others that are installed. Each is started on
//! loopback with a plain configuration, and is gone with whoever started it.
//!
//! A new one is one file here and one line in the table.

mod lighttpd;
mod nginx;
mod ours;
pub(crate) mod own;
mod start;

use crate::servers::local::{
    LocalServer, NotFound, ServerUse, cpu_ns_of, cpu_ns_with_ended, descriptors_of,
    resident_bytes_of,
};
pub use crate::servers::tls::Encryption;
use crate::servers::tls::Unfit;
use crate::shared::quota::QuotaWatch;
use engine::{
    Failure, Guarded, Probe, ProgramEnd, QuotaGroup, RunEnd, caller_descriptors_max,
    descriptors_max,
};
use load::{Target, Tls};
use own::OwnServer;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The rows of each file.
const TABLE: &[fn() -> Vec<Server>] = &[ours::rows, nginx::rows, lighttpd::rows];

/// Every server, those that can't be started here included.
pub fn all() -> Vec<Server> {
    TABLE.iter().flat_map(|rows| rows()).collect()
}

/// The server of that name: `epoll-level`, `nginx`.
pub fn find(name: &str) -> Option<Server> {
    all().into_iter().find(|server| server.name == name)
}

/// A server that can be started.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its name; of ours, that of the mechanism.
    pub name: &'static str,
    /// The name in reports.
    pub label: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What a reader has to know to read its figures rightly; may be empty.
    pub note: &'static str,
    /// Whether it is `knee httpd`, which counts what it does.
    pub is_ours: bool,
    /// How many connections a worker holds with so many descriptors.
    capacity: fn(usize) -> usize,
    /// Whether it is here, or why not.
    installed: fn(&Server) -> Result<(), String>,
    start: fn(&Server, &Setup) -> Result<Running, Failure>,
    /// Whether it can speak TLS here.
    tls: fn() -> Result<(), Unfit>,
    /// How one of the user's own is reached.
    own: Option<&'static OwnServer>,
}

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The directory that it serves.
    pub root: PathBuf,
    /// A directory that there is, for its configuration and its own files.
    pub scratch: PathBuf,
    /// Workers: threads of ours, processes of others.
    pub workers: usize,
    /// The CPUs that it runs on; empty for any.
    pub cpus: Vec<usize>,
    /// How long it may take until it listens.
    pub start_max: Duration,
    /// The program `knee`: this one, unless another asks.
    pub knee: PathBuf,
    /// How ours sends files, where that is chosen: `sendfile`, `mmap`, `splice`.
    pub sending: Option<&'static str>,
    /// What its connections are encrypted with, where they are.
    pub encryption: Option<Encryption>,
    /// The control group that it runs in, where it has a CPU quota.
    pub group: Option<Arc<QuotaGroup>>,
    /// The values of the words that a user's own command has.
    pub words: BTreeMap<String, String>,
}

impl Setup {
    /// One worker on any CPU, which listens within 10 s.
    pub fn new(root: &Path, scratch: &Path) -> Setup {
        Setup {
            root: root.into(),
            scratch: scratch.into(),
            workers: 1,
            cpus: Vec::new(),
            start_max: Duration::from_secs(10),
            knee: sys::process::THIS_PROGRAM.into(),
            sending: None,
            encryption: None,
            group: None,
            words: BTreeMap::new(),
        }
    }
}

impl Setup {
    /// Starts the program of a server in `directory`: see [`Guarded::start`].
    fn start(
        &self,
        words: &[OsString],
        directory: &Path,
        log: Option<&Path>,
    ) -> io::Result<Guarded> {
        let group = self.group.as_ref().map(|group| group.entrance());
        Guarded::start(&self.knee, words, directory, &self.cpus, group.as_deref(), log)
    }
}

impl Server {
    /// How many connections one worker can hold here.
    pub fn capacity(&self) -> usize {
        (self.capacity)(descriptors_max())
    }

    /// How many descriptors a process of it may have: one of the user's has no more than whoever called knee.
    pub fn descriptors_max(&self) -> usize {
        if self.is_command() { caller_descriptors_max() } else { descriptors_max() }
    }

    /// What raises that, where it is not knee's to raise.
    pub fn descriptors_remedy(&self) -> &'static str {
        if self.is_command() { "ulimit -n $(ulimit -Hn), before knee starts" } else { "" }
    }

    /// Whether it runs already, and is not started here.
    pub fn is_running(&self) -> bool {
        self.is_own() && !self.is_command()
    }

    fn is_command(&self) -> bool {
        self.own.is_some_and(OwnServer::is_command)
    }

    /// The command or address of one of the user's own; empty for others.
    pub fn text(&self) -> &str {
        self.own.map_or("", OwnServer::text)
    }

    /// Whether it is one of the user's own.
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Whether it serves the files that it is given.
    pub fn serves_files(&self) -> bool {
        self.own.is_none_or(OwnServer::serves_root)
    }

    /// Whether it is started by a command that does not say which directory it serves.
    pub fn needs_root(&self) -> bool {
        self.own.is_some_and(|own| own.is_command() && !own.serves_root())
    }

    /// Whether it speaks TLS, or without: what it does by itself it does always.
    pub fn speaks(&self, is_tls: bool) -> Result<(), Unfit> {
        match self.own.and_then(OwnServer::is_tls) {
            Some(speaks_tls) if speaks_tls != is_tls => Err(Unfit {
                clause: "its address says so".to_owned(),
                remedy: if speaks_tls { "--tls full" } else { "--tls no" },
            }),
            _ if is_tls => (self.tls)(),
            _ => Ok(()),
        }
    }

    /// What of TLS it is asked for by default: `no`, `full`; none of those of knee.
    pub(crate) fn usual_tls(&self) -> Option<&'static str> {
        self.own.map(OwnServer::usual_tls)
    }

    /// Whether it can be started and reached here.
    ///
    /// # Errors
    /// With the reason, where it can't.
    pub fn available(&self) -> Result<(), String> {
        (self.installed)(self)?;
        match self.own {
            None => sys::loopback::check(false),
            Some(OwnServer::Command { .. }) => {
                sys::loopback::check(false).or_else(|_| sys::loopback::check(true))
            }
            Some(OwnServer::Url { .. }) => Ok(()),
        }
    }

    /// Starts it: when this returns, it accepts connections.
    pub fn start(&self, setup: &Setup) -> Result<Running, Failure> {
        self.available().map_err(|why| Failure::new(format!("{}: {why}", self.label)))?;
        let own = setup.scratch.join(self.name);
        std::fs::create_dir_all(&own)
            .map_err(|error| Failure::call(format!("a directory for {}", self.label), error))?;
        let mut running = (self.start)(self, &Setup { scratch: own, ..setup.clone() })?;
        running.group.clone_from(&setup.group);
        // One that runs already has an address that says what it speaks.
        if let Some(encryption) = setup.encryption.as_ref().filter(|_| running.is_started()) {
            let own = self.own.and_then(OwnServer::tls).map(|own| encryption.with_handshake(own));
            let options = own.unwrap_or_else(|| encryption.options());
            let tls = Tls::new(CERTIFIED_NAME, &options);
            running.tls = Some(tls.map_err(Failure::new)?);
        }
        Ok(running)
    }
}

/// The name in the certificate of a server that is started here.
const CERTIFIED_NAME: &str = "localhost";

/// What one of ours counted, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Connections accepted.
    pub accepted: u64,
    /// Replies sent to their end.
    pub replies: u64,
}

/// How long the end of a server may take to show.
const END_SHOWS_MAX: Duration = Duration::from_millis(500);

/// Where the processes of a server that runs come from.
#[derive(Debug)]
enum ServerOrigin {
    /// It was started here, and ends here.
    Started(Guarded),
    /// It ran before, and goes on; or why its processes can't be looked at.
    Running(Result<LocalServer, NotFound>),
}

/// A server that runs. If it was started here, it is ended when this is dropped.
#[derive(Debug)]
pub struct Running {
    origin: ServerOrigin,
    name: &'static str,
    is_ours: bool,
    /// Whether it is one of the user's own.
    is_own: bool,
    /// Whether it was named by a name, which may have several addresses.
    has_name: bool,
    address: SocketAddr,
    /// Where it says what went wrong.
    log: Option<PathBuf>,
    /// What its requests are encrypted with, where it was started here.
    tls: Option<Tls>,
    /// What it is asked for, if that is not a file of its directory.
    target: Option<Target>,
    /// The control group that it runs in: it goes after the processes.
    group: Option<Arc<QuotaGroup>>,
}

impl Running {
    /// One that has no log, no name and no target of its own.
    fn new(server: &Server, origin: ServerOrigin, address: SocketAddr) -> Running {
        let (name, is_ours, is_own) = (server.label, server.is_ours, server.is_own());
        Running {
            origin,
            name,
            is_ours,
            is_own,
            has_name: false,
            address,
            log: None,
            tls: None,
            target: None,
            group: None,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it is asked for: `file` of the directory that it serves, or what a user's own one is asked for.
    pub fn target(&self, file: &str) -> Target {
        let address = self.address;
        let served = || Target::new(address, address.to_string(), format!("/{file}"));
        let target = self.target.clone().unwrap_or_else(served);
        let tls = self.tls.clone().or(target.tls);
        Target { tls, ..target }
    }

    /// Whether it was started here.
    pub(crate) fn is_started(&self) -> bool {
        matches!(self.origin, ServerOrigin::Started(_))
    }

    /// Its processes.
    pub fn pids(&self) -> Vec<i32> {
        match &self.origin {
            ServerOrigin::Started(guarded) => guarded.pids(),
            ServerOrigin::Running(server) => {
                server.as_ref().map_or_else(|_| Vec::new(), LocalServer::pids)
            }
        }
    }

    /// What its CPU quota does from now on, where it has one.
    pub(crate) fn watch_quota(&self) -> Result<Option<QuotaWatch>, Failure> {
        QuotaWatch::begin(self.group.as_ref())
    }

    /// States what a reader of the cell has to know: the address that its name led to, and its processes, where
    /// they ran before the cell began: they are none that a worker started.
    pub fn state(&self, probe: &mut Probe) {
        if self.has_name {
            probe.fact("address of the server", self.address.to_string());
        }
        if let ServerOrigin::Running(_) = self.origin {
            probe.measures_processes(&self.pids());
        }
    }

    /// Why its processes can't be looked at.
    pub fn unknown(&self) -> Option<NotFound> {
        match &self.origin {
            ServerOrigin::Running(Err(why)) => Some(*why),
            _ => None,
        }
    }

    /// Whether it is one of the user's own.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// What its processes have and have used.
    pub fn look(&self) -> ServerUse {
        ServerUse::from_pids(&self.pids())
    }

    /// The CPU time of all its processes so far, user and system, in nanoseconds.
    pub fn cpu_ns(&self) -> io::Result<u64> {
        match &self.origin {
            ServerOrigin::Running(Err(why)) => Err(io::Error::other(why.to_string())),
            // Processes of any server may come and go.
            _ if self.is_own => Ok(cpu_ns_with_ended(&self.pids())),
            _ => cpu_ns_of(&self.pids()),
        }
    }

    /// How many descriptors its processes have, those of threads with tables of their own included;
    /// where threads share one, it counts for each.
    pub fn descriptors(&self) -> io::Result<u64> {
        self.pids().into_iter().map(descriptors_of).sum()
    }

    /// The memory of all its processes that is resident, in bytes; what they share counts in each.
    pub fn resident_bytes(&self) -> io::Result<u64> {
        if self.is_own {
            return Ok(self.look().resident_bytes);
        }
        self.pids().into_iter().map(resident_bytes_of).sum()
    }

    /// How many connections it holds that it has accepted: its ends of them, as the kernel lists them.
    pub fn connections(&self) -> io::Result<u64> {
        let accepted = sys::sockets::accepted_at(self.address)?;
        accepted.ok_or_else(|| io::Error::other(format!("{} is not of this machine", self.address)))
    }

    /// Nothing, or why it has ended by itself.
    pub fn alive(&mut self) -> Result<(), Failure> {
        self.alive_for(Duration::ZERO)
    }

    /// Waits for this time, or until it has ended by itself: then why.
    fn alive_for(&mut self, time: Duration) -> Result<(), Failure> {
        let ServerOrigin::Started(guarded) = &mut self.origin else { return Ok(()) };
        match guarded.ended_within(time) {
            Ok(None) => Ok(()),
            Ok(Some(ended)) => {
                let ended = ended.clone();
                Err(self.ended(&ended))
            }
            Err(error) => Err(Failure::call(self.name, error)),
        }
    }

    /// Why it is not there any more.
    fn ended(&self, ended: &ProgramEnd) -> Failure {
        let name = self.name;
        let last_words = match ended.output.trim() {
            "" => self.end_of_log(),
            output => output.to_owned(),
        };
        match ended.end {
            Some(RunEnd::Exited(0)) if ended.has_left_processes || self.is_served_by_others() => {
                Failure::new(format!(
                    "{name} left the foreground: its command exited with 0, and what it started went on → keep it in \
                     the foreground, e.g. nginx -g 'daemon off;'"
                ))
            }
            Some(end) => Failure::command("", name.to_owned(), end.to_string(), &last_words),
            None => Failure::command("", name.to_owned(), "ended".to_owned(), &last_words),
        }
    }

    /// Whether there is a listener at its port, now that its processes are gone: a service that its command started.
    fn is_served_by_others(&self) -> bool {
        let all = sys::sockets::listeners().unwrap_or_default();
        all.iter().any(|(listener, _)| listener.port() == self.address.port())
    }

    /// The outcome of what was done with it: that it has ended explains more than an error of its clients
    /// does, who may see that their connections are gone before it is.
    pub fn judged<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        if outcome.is_err() {
            self.alive_for(END_SHOWS_MAX)?;
        }
        outcome
    }

    /// Ends it, and waits until all its processes are gone. Ours ends what is under way first, and
    /// says what it counted.
    pub fn stop(mut self) -> Result<Option<Counted>, Failure> {
        self.alive()?;
        let name = self.name;
        let failed = |error: io::Error| Failure::call(format!("ending {name}"), error);
        let ServerOrigin::Started(guarded) = self.origin else { return Ok(None) };
        if !self.is_ours {
            return guarded.end().map(|()| None).map_err(failed);
        }
        let output = guarded.terminate().map_err(failed)?;
        ours::counted(&output).map(Some)
    }

    /// The end of its log; empty where it has none.
    fn end_of_log(&self) -> String {
        self.log.as_ref().and_then(|log| end_of(log).ok()).unwrap_or_default()
    }
}

/// The last few kilobytes of a file, which may be far longer.
fn end_of(path: &Path) -> io::Result<String> {
    const BYTES_MAX: u64 = 8 << 10;
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(BYTES_MAX)))?;
    let mut end = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}

/// What a server of others is started by, at a port that is kept for it.
struct Foreign<'a> {
    server: &'a Server,
    setup: &'a Setup,
    program: PathBuf,
}

impl Foreign<'_> {
    /// Writes the configuration and starts the program with it. Somebody may have asked for that very
    /// port before: then another one is tried.
    fn start(
        &self,
        configuration: impl Fn(u16) -> String,
        arguments: &[&str],
    ) -> Result<Running, Failure> {
        let Foreign { server, setup, program } = self;
        let name = server.label;
        let failed = |error: io::Error| Failure::call(format!("starting {name}"), error);
        harmless(&setup.root)?;
        harmless(&setup.scratch)?;
        let words = [program.into()].into_iter().chain(arguments.iter().map(OsString::from));
        let words: Vec<OsString> = words.collect();
        let mut tries = 3;
        loop {
            let (_kept, port) = reserved_port().map_err(failed)?;
            let text = configuration(port);
            std::fs::write(setup.scratch.join(CONFIGURATION), text).map_err(failed)?;
            let guarded = setup.start(&words, &setup.scratch, None).map_err(failed)?;
            let origin = ServerOrigin::Started(guarded);
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let log = Some(setup.scratch.join(LOG));
            let mut running = Running { log, ..Running::new(server, origin, address) };
            tries -= 1;
            match running.wait_until_it_listens(&[address.ip()], setup.start_max) {
                Err(_) if tries > 0 && running.alive().is_err() => {}
                outcome => return outcome.map(|_| running),
            }
        }
    }
}

/// The name of a server's configuration in its directory.
const CONFIGURATION: &str = "configuration";
/// The name of the file that it says in what went wrong.
const LOG: &str = "log";

/// A port without a listener, and the socket that keeps the kernel from giving it to others: a
/// server that asks for this very port gets it all the same, as both are willing to share it.
fn reserved_port() -> io::Result<(OwnedFd, u16)> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = SocketAddr::try_from(getsockname(&socket)?)?;
    Ok((socket, address.port()))
}

/// Whether a path can stand in quotes in a configuration.
fn harmless(path: &Path) -> Result<(), Failure> {
    match path.to_str() {
        Some(text) if !text.contains(['"', '$', '\\', '\n', ';', '{', '}']) => Ok(()),
        _ => {
            let what = format!("{} can't stand in a server's configuration", path.display());
            Err(Failure::new(format!("{what} → TMPDIR=/another/directory knee run …")))
        }
    }
}

/// Where the program is, among the directories of PATH and those of the system's daemons.
fn program(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let mut files = directories.map(|directory| directory.join(name));
    files.find(|file| file.is_file()).ok_or_else(|| format!("{name} is not installed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_found_by_its_name() {
        let all = all();
        for server in &all {
            assert_eq!(find(server.name).unwrap().label, server.label);
            assert!(server.capacity() > 0 && server.capacity() < descriptors_max());
        }
        assert!(find("nginx").is_some() && find("lighttpd").is_some() && find("poll").is_some());
        assert_eq!(all.iter().filter(|server| server.name == "nginx").count(), 1);
    }

    #[test]
    fn a_path_that_would_change_a_configuration_is_refused() {
        assert!(harmless(Path::new("/tmp/with a space/x")).is_ok());
        assert!(harmless(Path::new("/tmp/\"; user nobody; \"")).is_err());
        assert!(program("no-such-server").unwrap_err().contains("not installed"));
    }

    #[test]
    fn a_reserved_port_refuses_until_a_server_binds_it() {
        let (kept, port) = reserved_port().unwrap();
        let connect = || std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        // The standard library is willing to share addresses, as nginx and lighttpd are.
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        drop(kept);
        assert!(connect().is_ok() && listener.accept().is_ok());
    }
}
