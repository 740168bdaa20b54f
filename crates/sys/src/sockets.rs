//! TCP and unix sockets of this network namespace, as the kernel lists them.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

/// How the kernel's lists write that a connection is established, and that a socket listens.
const ESTABLISHED: &str = "01";
const LISTENS: &str = "0A";

/// How many connections are established on the side of the server at `address`; none where that is
/// on another machine, whose kernel can't be asked.
///
/// # Errors
/// Where the kernel's lists can't be read.
pub fn established_at(address: SocketAddr) -> io::Result<Option<u64>> {
    count(address, |_| true)
}

/// How many of the connections that [`established_at`] counts have been accepted.
///
/// # Errors
/// Where the kernel's lists can't be read.
pub fn accepted_at(address: SocketAddr) -> io::Result<Option<u64>> {
    // One that waits to be accepted has no inode yet.
    count(address, |socket| socket.inode != 0)
}

fn count(address: SocketAddr, counts: fn(&Socket) -> bool) -> io::Result<Option<u64>> {
    if !is_own(address.ip()) {
        return Ok(None);
    }
    // While other connections come and go, the kernel's lists have some lines twice.
    let mut peers = HashSet::new();
    each(|line| add_peer(&mut peers, line, address, counts))?;
    Ok(Some(peers.len() as u64))
}

fn add_peer(
    peers: &mut HashSet<SocketAddr>,
    line: &str,
    address: SocketAddr,
    counts: fn(&Socket) -> bool,
) {
    peers.extend(connection(line, address).filter(counts).map(|socket| socket.peer));
}

/// The sockets that listen: where, and their inodes.
///
/// # Errors
/// Where the kernel's lists can't be read.
pub fn listeners() -> io::Result<Vec<(SocketAddr, u64)>> {
    let mut all = Vec::new();
    each(|line| {
        let socket = Socket::parse(line, LISTENS);
        all.extend(socket.map(|socket| (socket.local, socket.inode)));
    })?;
    let mut inodes = HashSet::new();
    all.retain(|&(_, inode)| inodes.insert(inode));
    Ok(all)
}

/// The inodes of the unix sockets that listen at `path`, as it was bound or in full.
///
/// # Errors
/// Where the kernel's list can't be read.
pub fn unix_listeners(path: &Path) -> io::Result<Vec<u64>> {
    let text = std::fs::read("/proc/net/unix")?;
    let full = std::fs::canonicalize(path).ok();
    let is_there = |bound: &Path| bound == path || Some(bound) == full.as_deref();
    let lines = String::from_utf8_lossy(&text);
    Ok(lines
        .lines()
        .filter_map(unix_listener)
        .filter(|(bound, _)| is_there(bound))
        .map(|(_, inode)| inode)
        .collect())
}

/// The path and the inode of a line whose socket listens.
fn unix_listener(line: &str) -> Option<(&Path, u64)> {
    /// `__SO_ACCEPTCON` in the column of flags.
    const LISTENS: &str = "00010000";
    // An address in the kernel, a count and a protocol come before; type and state after the flags.
    let mut words = line.split_ascii_whitespace().skip(3);
    let (flags, inode) = (words.next()?, words.nth(2)?);
    let (_, path) = line.split_once(&format!(" {inode} "))?;
    (flags == LISTENS).then_some((Path::new(path), inode.parse().ok()?))
}

/// Whether it is an address of this machine: to reach one of its own, it would send from that very
/// address. Nothing is sent to find out.
pub fn is_own(address: IpAddr) -> bool {
    let nowhere = match address {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let from = || -> io::Result<SocketAddr> {
        let socket = UdpSocket::bind((nowhere, 0))?;
        // Any port will do.
        socket.connect((address, 9))?;
        socket.local_addr()
    };
    address.to_canonical().is_loopback() || from().is_ok_and(|from| from.ip() == address)
}

/// How often a connection met a full accept queue in this network namespace; absent where the kernel does not count that.
pub fn accept_queue_overflows() -> Option<u64> {
    overflows_in(&std::fs::read_to_string("/proc/net/netstat").ok()?)
}

/// Of lines in pairs, one with names and one with numbers.
fn overflows_in(netstat: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, numbers) = (lines.next()?.split(' '), lines.next()?.split(' '));
    let (_, number) = names.zip(numbers).find(|(name, _)| *name == "ListenOverflows")?;
    number.parse().ok()
}

/// Takes each line of the kernel's lists.
fn each(mut take: impl FnMut(&str)) -> io::Result<()> {
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        match File::open(path) {
            Ok(file) => {
                for line in BufReader::new(file).lines() {
                    take(&line?);
                }
            }
            // A kernel without IPv6 has no such list.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.ends_with('6') => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A line of the kernel's lists.
struct Socket {
    local: SocketAddr,
    peer: SocketAddr,
    /// 0 while it belongs to no process.
    inode: u64,
}

impl Socket {
    /// The one of a line, if it is in this state.
    fn parse(line: &str, in_state: &str) -> Option<Socket> {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (local, peer, state) = (words.next()?, words.next()?, words.next()?);
        // Queues, timer, what was sent again, the user and the timeouts come between.
        let inode = words.nth(5)?.parse().ok()?;
        let socket = || Some(Socket { local: address(local)?, peer: address(peer)?, inode });
        (state == in_state).then(socket).flatten()
    }
}

/// The socket of a line, if its connection is established at `address`.
fn connection(line: &str, address: SocketAddr) -> Option<Socket> {
    let socket = Socket::parse(line, ESTABLISHED)?;
    let is_there = socket.local.ip().to_canonical() == address.ip().to_canonical();
    (is_there && socket.local.port() == address.port()).then_some(socket)
}

/// An address and a port as the lists have them: in words of 32 bits as they lie in memory.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok();
    let ip = match address.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?.to_ne_bytes())),
        32 => {
            let mut bytes = [0; 16];
            for (number, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(number * 8)?.to_ne_bytes());
            }
            IpAddr::from(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_unix_socket_that_listens_is_found_by_its_path() {
        let listener = |path: &'static str, inode| Some((Path::new(path), inode));
        let listens = "0000000091c467f6: 00000002 00000000 00010000 0001 01    77 /run/a b.sock";
        assert_eq!(unix_listener(listens), listener("/run/a b.sock", 77));
        for wrong in [
            "0000000091c467f6: 00000003 00000000 00000000 0001 03 23673219 /run/a b.sock",
            "0000000091c467f6: 00000003 00000000 00000000 0001 03 23673219",
            "Num       RefCount Protocol Flags    Type St Inode Path",
        ] {
            assert_eq!(unix_listener(wrong), None, "{wrong}");
        }
        let directory = std::env::temp_dir().join(format!("knee-unix-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(unix_listeners(&path).unwrap().len(), 1);
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!(unix_listeners(&directory).unwrap(), [0_u64; 0]);
    }

    #[test]
    fn overflows_are_read_by_their_name() {
        let netstat = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 203 9\n\
                       IpExt: InNoRoutes\nIpExt: 0\n";
        assert_eq!(overflows_in(netstat), Some(203));
        assert_eq!(overflows_in("TcpExt: SyncookiesSent\nTcpExt: 1\n"), None);
        assert_eq!(overflows_in(""), None);
    }

    #[test]
    fn connections_are_counted_on_the_servers_side_only() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let address = listener.local_addr().unwrap();
            assert_eq!(established_at(address).unwrap(), Some(0), "{at}");
            let connections: Vec<TcpStream> =
                (0..5).map(|_| TcpStream::connect(address).unwrap()).collect();
            let accepted: Vec<TcpStream> = (0..3).map(|_| listener.accept().unwrap().0).collect();
            assert_eq!(established_at(address).unwrap(), Some(5), "{at}");
            assert_eq!(accepted_at(address).unwrap(), Some(3), "{at}");
            drop(connections);
            drop(accepted);
        }
    }

    #[test]
    fn a_line_that_comes_twice_counts_once_and_only_with_an_inode_it_is_accepted() {
        let line = |peer, state, inode| {
            format!("0: 0100007F:1F90 0100007F:{peer} {state} 0:0 00:0 0 0 0 {inode} 1 0")
        };
        let (first, second) = (line("C350", "01", 77), line("C351", "01", 0));
        let lines =
            ["sl local_address rem_address st", &first, &second, &first, &line("C352", "06", 5)];
        let count = |which| {
            let mut peers = HashSet::new();
            let address = "127.0.0.1:8080".parse().unwrap();
            for line in lines {
                add_peer(&mut peers, line, address, which);
            }
            peers.len()
        };
        assert_eq!(count(|_| true), 2);
        assert_eq!(count(|socket| socket.inode != 0), 1);
    }

    #[test]
    fn one_address_is_not_another_and_elsewhere_is_not_here() {
        let line = "4: 0100007F:1F90 0100007F:C350 01 0:0 00:0 00000000 0 0 77 1 0000000000000000";
        let at = |address: &str| connection(line, address.parse().unwrap()).is_some();
        assert!(at("127.0.0.1:8080"));
        assert!(at("[::ffff:127.0.0.1]:8080"));
        assert!(!at("127.0.0.2:8080"));
        assert!(!at("127.0.0.1:50000"));
        // Of a net for documentation, which has no hosts.
        assert_eq!(established_at("203.0.113.1:80".parse().unwrap()).unwrap(), None);
        assert!(is_own("127.3.2.1".parse().unwrap()) && !is_own("203.0.113.1".parse().unwrap()));
    }
}
