//! TCP sockets by way of the C library, as nearly every program makes these calls.
//!
//! rustix enters the kernel where it stands, without a call of the C library around it. On CPUs whose
//! kernel guards its returns that saves a sixth of what `socket` costs a C program: too much to be
//! left out of a figure that stands for what programs pay.

use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// A socket address as the kernel takes it, made before it is needed.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    storage: Storage,
    bytes: libc::socklen_t,
}

#[derive(Clone, Copy)]
union Storage {
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sockaddr")
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        match address {
            SocketAddr::V4(address) => {
                // SAFETY: a sockaddr_in of zeros is a valid one.
                let mut v4: libc::sockaddr_in = unsafe { mem::zeroed() };
                v4.sin_family = libc::AF_INET as libc::sa_family_t;
                v4.sin_port = address.port().to_be();
                v4.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
                let bytes = mem::size_of_val(&v4) as libc::socklen_t;
                Address { storage: Storage { v4 }, bytes }
            }
            SocketAddr::V6(address) => {
                // SAFETY: a sockaddr_in6 of zeros is a valid one.
                let mut v6: libc::sockaddr_in6 = unsafe { mem::zeroed() };
                v6.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                v6.sin6_port = address.port().to_be();
                v6.sin6_addr.s6_addr = address.ip().octets();
                v6.sin6_scope_id = address.scope_id();
                let bytes = mem::size_of_val(&v6) as libc::socklen_t;
                Address { storage: Storage { v6 }, bytes }
            }
        }
    }
}

impl Address {
    fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }
}

/// A stream socket of IPv6 or IPv4, closed on exec.
///
/// # Errors
/// As socket(2): `EMFILE`, `ENFILE`, `EAFNOSUPPORT`, …
#[inline]
pub fn socket(v6: bool) -> io::Result<OwnedFd> {
    let family = if v6 { libc::AF_INET6 } else { libc::AF_INET };
    // SAFETY: three numbers; nothing is pointed to.
    owned(unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })
}

/// Binds a socket.
///
/// # Errors
/// As bind(2): `EADDRINUSE` where port 0 is asked for and none is free, …
#[inline]
pub fn bind(socket: BorrowedFd<'_>, address: &Address) -> io::Result<()> {
    // SAFETY: the address is one, and as long as it says.
    done(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr(), address.bytes) })
}

/// Leaves the choice of a port to `connect`, where `bind` names an address and port 0: a port is
/// then taken only for the one peer, and the same one can serve connections to others.
///
/// # Errors
/// As setsockopt(2).
pub fn bind_no_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    let bytes = mem::size_of_val(&on) as libc::socklen_t;
    // SAFETY: the option takes a C int, which lives through the call.
    done(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            bytes,
        )
    })
}

/// Connects a socket.
///
/// # Errors
/// As connect(2): `EADDRNOTAVAIL` where no port is free, `ECONNREFUSED`, …
#[inline]
pub fn connect(socket: BorrowedFd<'_>, address: &Address) -> io::Result<()> {
    // SAFETY: the address is one, and as long as it says.
    done(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr(), address.bytes) })
}

/// The next connection that waits, closed on exec.
///
/// # Errors
/// As accept4(2): `EMFILE`, `ENFILE`, …
#[inline]
pub fn accept(listener: BorrowedFd<'_>, nonblocking: bool) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_CLOEXEC | if nonblocking { libc::SOCK_NONBLOCK } else { 0 };
    let (no_address, no_length) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: who connects is not asked for, so nothing is written.
    owned(unsafe { libc::accept4(listener.as_raw_fd(), no_address, no_length, flags) })
}

#[inline]
fn done(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[inline]
fn owned(returned: RawFd) -> io::Result<OwnedFd> {
    done(returned)?;
    // SAFETY: a descriptor that the call has just made, and nothing else knows.
    Ok(unsafe { OwnedFd::from_raw_fd(returned) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn a_connection_is_made_and_accepted() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let address = Address::from(listener.local_addr().unwrap());
            let client = socket(at.starts_with('[')).unwrap();
            bind(client.as_fd(), &Address::from(at.parse::<SocketAddr>().unwrap())).unwrap();
            connect(client.as_fd(), &address).unwrap();
            let mut accepted = TcpStream::from(accept(listener.as_fd(), false).unwrap());
            TcpStream::from(client).write_all(b"x").unwrap();
            let mut byte = [0];
            accepted.read_exact(&mut byte).unwrap();
            assert_eq!(byte, *b"x", "{at}");
        }
    }

    #[test]
    fn a_port_is_chosen_when_it_connects() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = socket(false).unwrap();
        bind_no_port(client.as_fd()).unwrap();
        let from: SocketAddr = "127.0.0.9:0".parse().unwrap();
        bind(client.as_fd(), &Address::from(from)).unwrap();
        let stream = TcpStream::from(client);
        assert_eq!(stream.local_addr().unwrap(), from, "bound, and still without a port");
        connect(stream.as_fd(), &Address::from(listener.local_addr().unwrap())).unwrap();
        assert_ne!(stream.local_addr().unwrap().port(), 0);
    }

    #[test]
    fn what_can_not_be_is_an_error() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::from(taken.local_addr().unwrap());
        let error = bind(socket(false).unwrap().as_fd(), &address).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EADDRINUSE));
    }
}
