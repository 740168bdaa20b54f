//! TCP sockets by way of the C library, as nearly every program makes these calls.
//!
//! rustix enters the kernel where it stands, without a call of the C library around it. On CPUs whose
//! kernel guards its returns that saves a sixth of what `socket` costs a C program: too much to be
//! left out of a figure that stands for what programs pay.

use crate::answer::{done, owned};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// A socket address as the kernel takes it, made before it is needed.
pub use rustix::net::SocketAddrAny as Address;

/// A stream socket of IPv6 or IPv4, closed on exec.
///
/// # Errors
/// As socket(2): `EMFILE`, `ENFILE`, `EAFNOSUPPORT`, …
#[inline]
pub fn socket(v6: bool) -> io::Result<OwnedFd> {
    let family = if v6 { libc::AF_INET6 } else { libc::AF_INET };
    // SAFETY: three numbers; nothing is pointed to. The call makes a descriptor.
    unsafe { owned(libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0)) }
}

/// Binds a socket.
///
/// # Errors
/// As bind(2): `EADDRINUSE` where port 0 is asked for and none is free, …
#[inline]
pub fn bind(socket: BorrowedFd<'_>, address: &Address) -> io::Result<()> {
    // SAFETY: the address is one, and as long as it says.
    done(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), address.addr_len()) })
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

/// Bytes that were sent over a socket and that the other side has not taken yet.
///
/// # Errors
/// As ioctl(2): `EINVAL` for one that listens, …
pub fn untaken_bytes(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request, which a terminal has by another name, writes a C int, which lives through the call.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(u64::from(bytes.cast_unsigned()))
}

/// Connects a socket.
///
/// # Errors
/// As connect(2): `EADDRNOTAVAIL` where no port is free, `ECONNREFUSED`, …
#[inline]
pub fn connect(socket: BorrowedFd<'_>, address: &Address) -> io::Result<()> {
    // SAFETY: the address is one, and as long as it says.
    done(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), address.addr_len()) })
}

/// The next connection that waits, closed on exec.
///
/// # Errors
/// As accept4(2): `EMFILE`, `ENFILE`, …
#[inline]
pub fn accept(listener: BorrowedFd<'_>, nonblocking: bool) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_CLOEXEC | if nonblocking { libc::SOCK_NONBLOCK } else { 0 };
    let (no_address, no_length) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: who connects is not asked for, so nothing is written. The call makes a descriptor.
    unsafe { owned(libc::accept4(listener.as_raw_fd(), no_address, no_length, flags)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
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
