//! Opening connections without waiting, and the kinds of failure.

use crate::address::Address;
use crate::error::Error;
use crate::results::counts::Kind;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, socket_with, sockopt,
};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// What a unix socket whose accept queue is full comes to here: of TCP, AGAIN means another thing.
const QUEUE_FULL: Errno = Errno::NOBUFS;
/// Nothing reports that an accept queue has room again.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// Begins to connect a socket to `to`: the `turn`th, which takes one of the `sources` in turn where there are any. `epoll`
/// reports its events, edge-triggered for both directions, with `data`.
pub(crate) fn begin(
    to: &Address,
    sources: &[IpAddr],
    turn: usize,
    epoll: &OwnedFd,
    data: u64,
) -> Result<OwnedFd, Errno> {
    let socket = match to {
        Address::Tcp(to) => begin_tcp(*to, sources, turn)?,
        Address::Unix(path) => begin_unix(path)?,
    };
    let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    epoll::add(epoll, &socket, EventData::new_u64(data), flags)?;
    Ok(socket)
}

/// A connected unix socket that blocks. While the server's accept queue is full, it tries again, for at most `patience`.
pub(crate) fn unix_within(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let end = Instant::now() + patience;
    loop {
        match begin_unix(path) {
            Err(QUEUE_FULL) if Instant::now() < end => thread::sleep(RETRY_PAUSE),
            Err(QUEUE_FULL) => {
                let why = "the server's accept queue stays full";
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            connected => {
                let socket = UnixStream::from(connected?);
                socket.set_nonblocking(false)?;
                return Ok(socket);
            }
        }
    }
}

fn begin_unix(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match connect(&socket, &SocketAddrUnix::new(path)?) {
        Err(Errno::AGAIN) => Err(QUEUE_FULL),
        connected => connected.map(|()| socket),
    }
}

fn begin_tcp(to: SocketAddr, sources: &[IpAddr], turn: usize) -> Result<OwnedFd, Errno> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    // A request is one piece, and must not wait for the acknowledgement of another.
    sockopt::set_tcp_nodelay(&socket, true)?;
    if !sources.is_empty() {
        // Without this the port would be taken for every peer, before the peer is known.
        sys::tcp::bind_no_port(socket.as_fd())
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        bind(&socket, &SocketAddr::new(sources[turn % sources.len()], 0))?;
    }
    match connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error),
    }
    Ok(socket)
}

/// Whether a socket with these events is connected, or why it can't be.
pub(crate) fn is_connected(socket: &OwnedFd, flags: EventFlags) -> Result<bool, Errno> {
    if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
        let error = sockopt::socket_error(socket).unwrap_or_else(Err).err();
        return Err(error.unwrap_or(Errno::CONNRESET));
    }
    Ok(flags.contains(EventFlags::OUT))
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
        // A unix socket that was not made is no more than one without a listener.
        Errno::CONNREFUSED | Errno::NOENT => Kind::Refused,
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Kind::Reset,
        Errno::TIMEDOUT => Kind::Timeout,
        QUEUE_FULL => Kind::Queue,
        Errno::MFILE | Errno::NFILE => Kind::Descriptors,
        // AGAIN is what connect says where every port of the range is taken.
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => Kind::Ports,
        _ => Kind::Other,
    }
}
