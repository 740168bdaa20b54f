//! The processes of a server on this machine, found by the socket it listens at, and what they use.

use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{read_dir, read_link};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};
use sys::proc::{self, Stat};
use sys::sockets::{is_own, listeners, unix_listeners};

/// The first process of a system may listen for others, and everything is below it.
const INIT: i32 = 1;
/// How long a process that ends may take to be gone, and the pause between two looks.
const END_SHOWS_MAX: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(1);

/// Why the processes of a server can't be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// It is on another machine, or in a network namespace of its own.
    #[error("{} is not an address of this machine", .0.ip())]
    Elsewhere(SocketAddr),
    /// This network namespace has no socket that listens there.
    #[error("no process of this network namespace listens at {0} (a container has its own)")]
    NoListener(SocketAddr),
    /// Its socket is there, and belongs to a process of another user.
    #[error("the process that listens at {0} belongs to another user (root may look at it)")]
    NotPermitted(SocketAddr),
    /// No process that can be seen listens at its unix socket.
    #[error("no process that knee may look at listens at the socket by this path")]
    NoneAtSocket,
}

/// A server that runs on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The processes that have the listening socket.
    listening: Vec<i32>,
}

/// What a server's processes have and have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerUse {
    /// How many processes.
    pub processes: u64,
    /// All their threads.
    pub threads: u64,
    /// Their memory that is resident, in bytes; what they share counts in each.
    pub resident_bytes: u64,
    /// Their CPU time so far, user and system, with that of children that have ended, in nanoseconds.
    pub cpu_ns: u64,
}

impl LocalServer {
    /// The one that listens at `address`.
    ///
    /// # Errors
    /// Why it can't be found.
    pub fn at(address: SocketAddr) -> Result<LocalServer, NotFound> {
        let address = reached(address);
        if !is_own(address.ip()) {
            return Err(NotFound::Elsewhere(address));
        }
        let all = listeners().unwrap_or_default().into_iter();
        let inodes: BTreeSet<u64> = all
            .filter(|&(listener, _)| receives(listener, address))
            .map(|(_, inode)| inode)
            .collect();
        if inodes.is_empty() {
            return Err(NotFound::NoListener(address));
        }
        LocalServer::with(&inodes).ok_or(NotFound::NotPermitted(address))
    }

    /// The one that listens at the unix socket `path`.
    ///
    /// # Errors
    /// Where it can't be found.
    pub fn at_socket(path: &Path) -> Result<LocalServer, NotFound> {
        let inodes = unix_listeners(path).unwrap_or_default().into_iter().collect();
        LocalServer::with(&inodes).ok_or(NotFound::NoneAtSocket)
    }

    /// The one that has these sockets; none where no process that can be seen has.
    fn with(inodes: &BTreeSet<u64>) -> Option<LocalServer> {
        let mut listening = with_sockets(proc::pids().map(u32::cast_signed), inodes);
        if listening.len() > 1 {
            // Whoever started it with the socket open.
            listening.retain(|&pid| pid != INIT);
        }
        (!listening.is_empty()).then_some(LocalServer { listening })
    }

    /// Its processes at this moment, with all that they started.
    pub fn pids(&self) -> Vec<i32> {
        match self.listening[..] {
            [INIT] => vec![INIT],
            _ => processes_below(&self.listening),
        }
    }

    /// How many more descriptors its processes may have than they have, all together; none where that can't be read.
    pub fn descriptors_left(&self) -> Option<u64> {
        if self.listening == [INIT] {
            // It may start the server with the first connection.
            return None;
        }
        descriptors_left(&self.pids())
    }

    /// What its processes have and have used.
    pub fn look(&self) -> ServerUse {
        ServerUse::from_pids(&self.pids())
    }
}

/// How many more descriptors these processes may have than they have, all together; none where that can't be read.
pub fn descriptors_left(pids: &[i32]) -> Option<u64> {
    let left = pids.iter().map(|&pid| {
        let limit = descriptor_limit(pid)?;
        // The limit is of each table, which most threads share.
        Some(limit.saturating_sub(descriptors_in_tables(pid).ok()?.into_iter().max()?))
    });
    left.sum()
}

/// The processes of a server that started none of the others, each with its CPU time so far in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workers(BTreeMap<i32, u64>);

/// What the workers of a server did over a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Division {
    /// How many there were at its start.
    pub workers: u64,
    /// How many of them have ended.
    pub ended: u64,
    /// The CPU time of all, in nanoseconds.
    pub cpu_ns: u64,
    /// The part of it that one had, which had the most.
    pub busiest_share: f64,
}

impl Workers {
    /// Those among `pids`.
    pub fn from_pids(pids: &[i32]) -> Workers {
        let all: Vec<(i32, Stat)> =
            pids.iter().filter_map(|&pid| Some((pid, Stat::read(pid)?))).collect();
        let parents: HashSet<i32> = all.iter().map(|(_, stat)| stat.parent.cast_signed()).collect();
        let works = |(pid, stat): &&(i32, Stat)| !parents.contains(pid) && !stat.is_dead();
        let workers = all.iter().filter(works);
        Workers(
            workers.filter_map(|&(pid, _)| Some((pid, sys::cputime::cpu_ns(pid).ok()?))).collect(),
        )
    }

    /// How they divided the work since `before`.
    pub fn since(&self, before: &Workers) -> Division {
        let used = before
            .0
            .iter()
            .filter_map(|(pid, before_ns)| Some(self.0.get(pid)?.saturating_sub(*before_ns)));
        let used: Vec<u64> = used.collect();
        let (workers, cpu_ns) = (before.0.len() as u64, used.iter().sum::<u64>());
        let busiest_share = used.iter().max().map_or(0.0, |&max| max as f64 / cpu_ns.max(1) as f64);
        // One that has children now is no worker any more, and has not ended.
        let is_dead = |pid: &&i32| Stat::read(pid).is_none_or(|stat| stat.is_dead());
        let gone = before.0.keys().filter(|pid| !self.0.contains_key(pid));
        let ended = gone.filter(is_dead).count() as u64;
        Division { workers, ended, cpu_ns, busiest_share }
    }
}

impl ServerUse {
    /// Those of `pids`, without those that have ended meanwhile.
    pub fn from_pids(pids: &[i32]) -> ServerUse {
        let mut sum = ServerUse::default();
        for &pid in pids {
            let Some(stat) = Stat::read(pid) else { continue };
            sum.processes += 1;
            sum.threads += stat.threads;
            sum.resident_bytes += resident_bytes_of(pid).unwrap_or(0);
            sum.cpu_ns += sys::cputime::cpu_ns_with_ended(pid).unwrap_or(0);
        }
        sum
    }
}

/// More threads than this are not looked at while they are measured: it takes too long.
const THREADS_LOOKED_AT_MAX: usize = 256;

/// What the kernel has counted for the threads of a server so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Happened {
    /// Voluntary and involuntary context switches by thread.
    switches: BTreeMap<u32, [u64; 2]>,
    faults: u64,
}

impl Happened {
    /// Of all threads of `pids`; none where there are too many, or one ends meanwhile.
    pub fn from_pids(pids: &[i32]) -> Option<Happened> {
        let tids: Vec<u32> = pids.iter().flat_map(proc::threads).collect();
        if tids.is_empty() || tids.len() > THREADS_LOOKED_AT_MAX {
            return None;
        }
        let read = |tid: u32| {
            let status = proc::text(tid, "status").ok()?;
            let kinds = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"];
            let [voluntary, involuntary] = kinds.map(|kind| proc::number(&status, kind));
            Some((tid, [voluntary?, involuntary?]))
        };
        let faults = pids.iter().filter_map(Stat::read).map(|stat| stat.faults).sum();
        let switches = tids.into_iter().map(read).collect::<Option<_>>()?;
        Some(Happened { switches, faults })
    }

    /// Context switches, those of threads that waited and were woken, and page faults since `before`; none where threads came
    /// or went meanwhile, whose counts are lost.
    pub fn since(&self, before: &Happened) -> Option<[u64; 3]> {
        let sum = |happened: &Happened, kind: usize| -> u64 {
            happened.switches.values().map(|kinds| kinds[kind]).sum()
        };
        let [voluntary, involuntary] =
            [0, 1].map(|kind| sum(self, kind).saturating_sub(sum(before, kind)));
        let faults = self.faults.saturating_sub(before.faults);
        self.switches.keys().eq(before.switches.keys()).then_some([
            voluntary + involuntary,
            voluntary,
            faults,
        ])
    }
}

/// The CPU time of these processes and of their children that have ended, user and system, in nanoseconds;
/// without those that are gone.
pub fn cpu_ns_with_ended(pids: &[i32]) -> u64 {
    pids.iter().filter_map(|&pid| sys::cputime::cpu_ns_with_ended(pid).ok()).sum()
}

/// `roots` and all processes that they started and that still run.
pub fn processes_below(roots: &[i32]) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, stat) in Stat::all(Path::new("/proc")) {
        children.entry(stat.parent.cast_signed()).or_default().push(pid.cast_signed());
    }
    let mut pids: Vec<i32> = roots.to_vec();
    let mut all: HashSet<i32> = roots.iter().copied().collect();
    let mut next = 0;
    while next < pids.len() {
        let below = children.get(&pids[next]).into_iter().flatten();
        pids.extend(below.copied().filter(|&pid| all.insert(pid)));
        next += 1;
    }
    pids
}

/// Where one of `pids` listens.
pub fn listening_at(pids: &[i32]) -> BTreeSet<SocketAddr> {
    let tables = pids
        .iter()
        .flat_map(|pid| proc::threads(pid).map(move |tid| format!("/proc/{pid}/task/{tid}/fd")));
    let inodes: BTreeSet<u64> = tables.flat_map(sockets_in).collect();
    let all = listeners().unwrap_or_default().into_iter();
    all.filter(|(_, inode)| inodes.contains(inode)).map(|(listener, _)| listener).collect()
}

/// The CPU time of these processes so far, user and system, in nanoseconds.
///
/// # Errors
/// Where one of them is gone.
pub fn cpu_ns_of(pids: &[i32]) -> io::Result<u64> {
    pids.iter().map(|&pid| sys::cputime::cpu_ns(pid)).sum()
}

/// How many descriptors a process may have.
fn descriptor_limit(pid: i32) -> Option<u64> {
    let limits = proc::text(pid, "limits").ok()?;
    proc::number(&limits, "Max open files")
}

/// How many descriptors a process has, those of threads with tables of their own included; where threads
/// share one, it counts for each.
///
/// # Errors
/// Where it is gone, or another user's.
pub fn descriptors_of(pid: i32) -> io::Result<u64> {
    Ok(descriptors_in_tables(pid)?.into_iter().sum())
}

/// How many are in the table of each of its threads.
fn descriptors_in_tables(pid: i32) -> io::Result<Vec<u64>> {
    let threads = read_dir(format!("/proc/{pid}/task"))?;
    threads.map(|thread| descriptors_in(&thread?.path().join("fd"))).collect()
}

/// How many descriptors are in a thread's table; none where it has ended since it was listed.
fn descriptors_in(table: &Path) -> io::Result<u64> {
    // Linux 6.2 and later say the number at once: of thousands, a list takes long.
    let count = || match std::fs::metadata(table)?.len() {
        0 => Ok(read_dir(table)?.count() as u64),
        count => Ok(count),
    };
    let begun = Instant::now();
    loop {
        let counted: io::Result<u64> = count();
        match counted.as_ref().err().and_then(Errno::from_io_error) {
            Some(Errno::NOENT | Errno::SRCH) => return Ok(0),
            // While it ends, its table is root's.
            Some(Errno::ACCESS) if begun.elapsed() < END_SHOWS_MAX => std::thread::sleep(LOOK),
            _ => return counted,
        }
    }
}

/// The memory of a process that is resident, in bytes.
///
/// # Errors
/// Where it is gone, or another user's.
pub fn resident_bytes_of(pid: i32) -> io::Result<u64> {
    // The sum that `status` tells is counted in each thread, and behind by what they have not added yet.
    let kib = proc::number(&proc::text(pid, "smaps_rollup")?, "Rss:");
    kib.map(|kib| kib << 10).ok_or_else(|| io::Error::other("smaps_rollup has no Rss"))
}

/// Those of `pids` that have one of these sockets. The tables of threads are looked at where no process has
/// one in its own.
fn with_sockets(pids: impl Iterator<Item = i32>, inodes: &BTreeSet<u64>) -> Vec<i32> {
    let pids: Vec<i32> = pids.collect();
    let has_one = |pid: &&i32| table_has(format!("/proc/{pid}/fd"), inodes);
    let processes: Vec<i32> = pids.iter().filter(has_one).copied().collect();
    if !processes.is_empty() {
        return processes;
    }
    let thread_has_one = |pid: &i32| {
        let table = |tid| format!("/proc/{pid}/task/{tid}/fd");
        proc::threads(pid).any(|tid| table_has(table(tid), inodes))
    };
    pids.into_iter().filter(thread_has_one).collect()
}

/// Whether a table of descriptors has one of these sockets.
fn table_has(table: impl AsRef<Path>, inodes: &BTreeSet<u64>) -> bool {
    sockets_in(table).any(|inode| inodes.contains(&inode))
}

/// The sockets in a table of descriptors.
fn sockets_in(table: impl AsRef<Path>) -> impl Iterator<Item = u64> {
    let descriptors = read_dir(table).into_iter().flatten().flatten();
    descriptors.filter_map(|entry| {
        let link = read_link(entry.path()).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    })
}

/// Whether a connection to `address` comes to a socket that listens there.
fn receives(listener: SocketAddr, address: SocketAddr) -> bool {
    let (own, to) = (listener.ip().to_canonical(), address.ip().to_canonical());
    // One of IPv6 at no address in particular takes connections of IPv4 as well.
    listener.port() == address.port() && (own == to || own.is_unspecified())
}

/// Where a connection to `address` goes: to no address in particular is to this machine.
fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::process::{Command, Stdio};

    fn own_pid() -> i32 {
        std::process::id().cast_signed()
    }

    #[test]
    fn threads_that_share_a_table_share_its_limit() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = std::sync::Arc::new(std::sync::Mutex::new(ended));
        let wait = || {
            let ended = std::sync::Arc::clone(&ended);
            std::thread::spawn(move || ended.lock().map(|ended| ended.recv().is_ok()).is_ok())
        };
        let threads: Vec<_> = (0..40).map(|_| wait()).collect();
        let limit = descriptor_limit(own_pid()).unwrap();
        let tables = descriptors_in_tables(own_pid()).unwrap();
        let left = descriptors_left(&[own_pid()]).unwrap();
        drop(end);
        for thread in threads {
            assert!(thread.join().is_ok());
        }
        assert!(tables.len() > 40, "{tables:?}");
        let fullest = tables.into_iter().max().unwrap();
        assert!(left + 2 * fullest + 100 > limit, "{left} of {limit} left, {fullest} there");
    }

    #[test]
    fn a_server_is_found_by_the_socket_that_it_listens_at() {
        for at in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let port = listener.local_addr().unwrap().port();
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let server = LocalServer::at(address).unwrap();
            assert!(server.pids().contains(&own_pid()), "{at}: {server:?}");
            // As it is printed by who listens there. A process that another test starts has the socket too, until it
            // becomes its program: then one of the two looks sees it.
            let own = listener.local_addr().unwrap();
            let mut looks = (0..100).map(|_| (LocalServer::at(own), LocalServer::at(address)));
            assert!(looks.any(|(printed, asked)| printed == asked), "{at}");
            assert!(listening_at(&[own_pid()]).contains(&own), "{at}");
            drop(listener);
        }
    }

    #[test]
    fn what_can_not_be_found_says_why() {
        let elsewhere = "203.0.113.1:80".parse().unwrap();
        assert_eq!(LocalServer::at(elsewhere), Err(NotFound::Elsewhere(elsewhere)));
        // An address of its own, so that no listener of another test gets the port.
        let gone = TcpListener::bind("127.66.0.1:0").unwrap().local_addr().unwrap();
        let error = LocalServer::at(gone).unwrap_err();
        assert_eq!(error, NotFound::NoListener(gone));
        assert!(error.to_string().contains("no process of this network namespace listens"));
    }

    #[test]
    fn processes_are_counted_with_those_that_they_started() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 1000 & wait"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let root = child.id().cast_signed();
        let begun = Instant::now();
        while processes_below(&[root]).len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "the shell starts nothing");
            std::thread::yield_now();
        }
        let pids = processes_below(&[root]);
        let seen = ServerUse::from_pids(&pids);
        assert_eq!((seen.processes, seen.threads), (2, 2));
        assert!(seen.resident_bytes > 100_000, "{seen:?}");
        for pid in pids.into_iter().rev() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        child.wait().unwrap();
        assert_eq!(ServerUse::from_pids(&[root]), ServerUse::default());
    }

    #[test]
    fn work_is_divided_among_those_who_started_no_others() {
        // Beyond what a kernel numbers.
        let [a, b, c, d] = [1, 2, 3, 4].map(|number| i32::MAX - number);
        let before = Workers([(a, 500), (b, 100), (c, 0)].into());
        let after = Workers([(a, 1_400), (b, 200), (d, 900)].into());
        let Division { workers, ended, cpu_ns, busiest_share } = after.since(&before);
        assert_eq!((workers, ended, cpu_ns, busiest_share), (3, 1, 1_000, 0.9));
        let has_children_now = Workers::default().since(&Workers([(own_pid(), 500)].into()));
        assert_eq!((has_children_now.workers, has_children_now.ended), (1, 0));
        let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let pid = child.id().cast_signed();
        let workers = Workers::from_pids(&[own_pid(), pid]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(workers.0.keys().collect::<Vec<_>>(), [&pid]);
        assert_eq!(Workers::from_pids(&[pid]), Workers::default());
    }

    #[test]
    fn this_process_has_descriptors_and_memory() {
        assert_eq!(descriptor_limit(own_pid()), Some(engine::descriptors_max() as u64));
        let own = || descriptors_of(own_pid()).unwrap();
        let before = own();
        let files: Vec<_> = (0..500).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        // Other tests open and close some meanwhile.
        assert!(own() >= before + 400, "{before}, then {}", own());
        drop(files);
        let bytes = resident_bytes_of(own_pid()).unwrap();
        assert!(bytes > 100_000, "{bytes}");
    }
}
