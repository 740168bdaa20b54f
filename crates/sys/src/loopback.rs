//! The loopback interface of a network that was just made.

use std::ffi::c_short;
use std::io;
use std::os::fd::AsRawFd;

/// Brings the loopback interface up.
///
/// # Errors
/// Why it can't be.
pub fn up() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind((std::net::Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: a request of zeros is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or_default();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    // SAFETY: SIOCSIFFLAGS reads an ifreq with flags, which `request` is and outlives the call.
    let set = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
