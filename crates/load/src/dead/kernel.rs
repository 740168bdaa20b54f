//! Connections as the kernel lists them: a second witness besides their holders.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// How the kernel's lists write that a connection is established.
const ESTABLISHED: &str = "01";

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
    count(address, |line| line.is_accepted)
}

fn count(address: SocketAddr, which: fn(&Line) -> bool) -> io::Result<Option<u64>> {
    if !is_own(address.ip()) {
        return Ok(None);
    }
    // While other connections come and go, the kernel's lists have some lines twice.
    let mut peers = HashSet::new();
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        match File::open(path) {
            Ok(file) => list(BufReader::new(file), address, which, &mut peers)?,
            // A kernel without IPv6 has no such list.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.ends_with('6') => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(peers.len() as u64))
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

/// Adds the peers of the connections that are established at `address`, of those that are asked for.
fn list(
    text: impl BufRead,
    address: SocketAddr,
    which: fn(&Line) -> bool,
    peers: &mut HashSet<(IpAddr, u16)>,
) -> io::Result<()> {
    for text in text.lines() {
        peers.extend(line(&text?, address).filter(which).map(|line| line.peer));
    }
    Ok(())
}

/// What a line tells of a connection.
struct Line {
    peer: (IpAddr, u16),
    /// Somebody has it: one that waits to be accepted has no inode yet.
    is_accepted: bool,
}

/// What the line tells, if it is of a connection that is established at `address`.
fn line(text: &str, address: SocketAddr) -> Option<Line> {
    let mut words = text.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (words.next()?, words.next()?, words.next()?);
    // Queues, timer, what was sent again, the user and the timeouts come between.
    let inode = words.nth(5)?;
    let (ip, port) = socket(local)?;
    let is_it = port == address.port() && ip.to_canonical() == address.ip().to_canonical();
    if !is_it || state != ESTABLISHED {
        return None;
    }
    Some(Line { peer: socket(remote)?, is_accepted: inode != "0" })
}

/// An address and a port as the lists have them: in words of 32 bits as they lie in memory.
pub(crate) fn socket(text: &str) -> Option<(IpAddr, u16)> {
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
    Some((ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

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
            format!("0: 0100007F:1F90 0100007F:{peer} {state} 0:0 00:0 0 0 0 {inode} 1 0\n")
        };
        let (first, second) = (line("C350", "01", 77), line("C351", "01", 0));
        let text =
            ["sl local_address rem_address st\n", &first, &second, &first, &line("C352", "06", 5)];
        let count = |which| {
            let mut peers = HashSet::new();
            let address = "127.0.0.1:8080".parse().unwrap();
            list(text.concat().as_bytes(), address, which, &mut peers).unwrap();
            peers.len()
        };
        assert_eq!(count(|_| true), 2);
        assert_eq!(count(|line| line.is_accepted), 1);
    }

    #[test]
    fn one_address_is_not_another_and_elsewhere_is_not_here() {
        let line = "4: 0100007F:1F90 0100007F:C350 01 0:0 00:0 00000000 0 0 77 1 0000000000000000";
        let at = |address: &str| super::line(line, address.parse().unwrap()).is_some();
        assert!(at("127.0.0.1:8080"));
        assert!(at("[::ffff:127.0.0.1]:8080"));
        assert!(!at("127.0.0.2:8080"));
        assert!(!at("127.0.0.1:50000"));
        // Of a net that is for documentation, and nobody's.
        assert_eq!(established_at("203.0.113.1:80".parse().unwrap()).unwrap(), None);
        assert!(is_own("127.3.2.1".parse().unwrap()) && !is_own("203.0.113.1".parse().unwrap()));
    }
}
