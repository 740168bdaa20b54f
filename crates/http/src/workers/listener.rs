//! Listening: an address that is claimed once, and a listener on it for each worker.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use crate::Error;

/// Connections that may wait to be accepted; the kernel's own limit is usually lower.
const BACKLOG: i32 = 65_535;

/// A claim on an address: bound, and never listening. Workers can listen there, other servers can't.
#[derive(Debug)]
pub(crate) struct Claim {
    pub address: SocketAddr,
    _socket: OwnedFd,
}

/// Claims the address and the port, or one of the kernel's choice; without an address, all addresses
/// of IPv6 and IPv4, or of IPv4 where there is no IPv6.
pub(crate) fn claim(address: Option<IpAddr>, port: u16) -> Result<Claim, Error> {
    let every = [IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED)];
    let named = address.map(|address| [address]);
    let candidates = named.as_ref().map_or(&every[..], |named| &named[..]);
    let mut refusal = None;
    for &candidate in candidates {
        match claim_one(SocketAddr::new(candidate, port)) {
            Ok(claim) => return Ok(claim),
            Err(error) => {
                let absent = matches!(error, Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL);
                refusal = Some((candidate, error));
                if !absent {
                    break;
                }
            }
        }
    }
    let (address, error) = refusal.unwrap_or((every[0], Errno::ADDRNOTAVAIL));
    Err(Error::Failed(refused(SocketAddr::new(address, port), error)))
}

fn refused(address: SocketAddr, error: Errno) -> String {
    let remedy = match error {
        Errno::ADDRINUSE => "; another program listens there: choose another port, or 0",
        Errno::ACCESS => "; ports below 1024 are for root: choose a higher one, or 0",
        Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT => "; this machine has no such address",
        _ => "",
    };
    format!("listening on {address}: {}{remedy}", io::Error::from(error))
}

fn claim_one(address: SocketAddr) -> rustix::io::Result<Claim> {
    let socket = socket(address)?;
    net::bind(&socket, &address)?;
    // Only after that: else a second server could claim the same address, and share it.
    sockopt::set_socket_reuseport(&socket, true)?;
    let address = SocketAddr::try_from(net::getsockname(&socket)?)?;
    Ok(Claim { address, _socket: socket })
}

/// A socket that can be bound where connections of an earlier server are still about to end.
fn socket(address: SocketAddr) -> rustix::io::Result<OwnedFd> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, !address.ip().is_unspecified())?;
    }
    Ok(socket)
}

/// A listener of one worker on a claimed address. What it accepts sends at once (`TCP_NODELAY`), which
/// connections have from their listener.
pub(crate) fn open(address: SocketAddr) -> Result<OwnedFd, Error> {
    let open = || -> rustix::io::Result<OwnedFd> {
        let socket = socket(address)?;
        sockopt::set_socket_reuseport(&socket, true)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        net::bind(&socket, &address)?;
        net::listen(&socket, BACKLOG)?;
        Ok(socket)
    };
    open().map_err(|error| Error::Failed(refused(address, error)))
}

/// Stops listening at once. Closing the descriptor would not: some mechanisms still keep it open.
pub(crate) fn close(listener: &OwnedFd) {
    // This can't fail on a listening socket.
    let _ = net::shutdown(listener, net::Shutdown::Read);
}

pub(crate) enum Accepted {
    Socket(OwnedFd),
    Nothing,
    /// One that has gone already; the next may wait.
    Gone,
    /// There is no descriptor, or no memory, for another one.
    Exhausted,
}

#[inline]
pub(crate) fn accept(listener: BorrowedFd<'_>) -> Accepted {
    match net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok(socket) => Accepted::Socket(socket),
        Err(error) => classify(error),
    }
}

pub(crate) fn classify(error: Errno) -> Accepted {
    match error {
        Errno::AGAIN => Accepted::Nothing,
        Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Accepted::Exhausted,
        _ => Accepted::Gone,
    }
}

/// The address of the other side; an IPv4 address that is mapped into IPv6 as IPv4.
pub(crate) fn peer(socket: impl AsFd) -> Option<SocketAddr> {
    let address = SocketAddr::try_from(net::getpeername(socket).ok()??).ok()?;
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn a_claim_keeps_others_out_and_lets_workers_in() {
        let claimed = claim(Some(IpAddr::V4(Ipv4Addr::LOCALHOST)), 0).unwrap();
        let port = claimed.address.port();
        let listeners = [open(claimed.address).unwrap(), open(claimed.address).unwrap()];
        let error = claim(Some(IpAddr::V4(Ipv4Addr::LOCALHOST)), port).unwrap_err();
        assert!(error.to_string().contains("another program listens there"), "{error}");
        assert!(std::net::TcpListener::bind(claimed.address).is_err());
        let client = TcpStream::connect(claimed.address).unwrap();
        let accepted = listeners.iter().find_map(|listener| match accept(listener.as_fd()) {
            Accepted::Socket(socket) => Some(socket),
            _ => None,
        });
        let accepted = accepted.unwrap();
        assert_eq!(peer(&accepted), client.local_addr().ok());
        assert!(sockopt::tcp_nodelay(&accepted).unwrap(), "it has that from its listener");
    }

    #[test]
    fn no_address_is_both_families() {
        let claimed = claim(None, 0).unwrap();
        let listener = open(claimed.address).unwrap();
        let client = TcpStream::connect(("127.0.0.1", claimed.address.port())).unwrap();
        let Accepted::Socket(socket) = accept(listener.as_fd()) else { panic!("no connection") };
        assert_eq!(peer(&socket).unwrap(), client.local_addr().unwrap());
    }

    #[test]
    fn an_address_of_somebody_else_says_so() {
        let error = claim(Some("192.0.2.1".parse().unwrap()), 0).unwrap_err();
        assert!(error.to_string().contains("no such address"), "{error}");
    }
}
