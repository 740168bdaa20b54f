//! Opening connections without waiting, and the kinds of failure.

use crate::error::Error;
use crate::outcome::Kind;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

/// A socket that is about to be connected to `to`, from the address `from` where one is given.
pub(crate) fn begin(to: SocketAddr, from: Option<IpAddr>) -> Result<OwnedFd, Errno> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    // A request is one piece, and must not wait for the acknowledgement of another.
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(from) = from {
        // Without this the port would be taken for every peer, before the peer is known.
        sys::tcp::bind_no_port(socket.as_fd())
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        bind(&socket, &SocketAddr::new(from, 0))?;
    }
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// Whether this machine has an address from which `to` can be reached, and the address `from` where one is given.
pub(crate) fn check(to: SocketAddr, from: Option<IpAddr>) -> Result<(), Error> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Of UDP, which sends nothing, and needs none of the ports that TCP may have run out of.
    let reached = UdpSocket::bind((from.unwrap_or(any), 0)).and_then(|socket| socket.connect(to));
    let Err(error) = reached else { return Ok(()) };
    match Errno::from_io_error(&error) {
        Some(Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT | Errno::NETUNREACH | Errno::HOSTUNREACH) => {
            let from = from.map(|from| format!(" from {from}")).unwrap_or_default();
            let reason = format!("{} can't be reached{from}: {error}", to.ip());
            let missing = || sys::loopback::check(to.is_ipv6()).err();
            let loopback = to.ip().is_loopback().then(missing).flatten();
            Err(Error::NotPossibleHere(loopback.unwrap_or(reason)))
        }
        _ => Ok(()),
    }
}

/// The kind of an error. That of a missing address ended the load before.
pub(crate) fn kind(error: Errno) -> Kind {
    match error {
        Errno::CONNREFUSED => Kind::Refused,
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Kind::Reset,
        Errno::TIMEDOUT => Kind::Timeout,
        Errno::MFILE | Errno::NFILE => Kind::Descriptors,
        // AGAIN is what connect says where every port of the range is taken.
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => Kind::Ports,
        _ => Kind::Other,
    }
}
