//! The loopback interface of a network that was just made.

use crate::answer::done;
use std::ffi::c_short;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// Whether connections over loopback are possible in a family.
///
/// # Errors
/// Why they are not, with what fixes it.
pub fn check(v6: bool) -> Result<(), String> {
    let address: IpAddr = if v6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
    // Of UDP, which needs none of the ports that TCP may have run out of.
    let reached = UdpSocket::bind((address, 0))
        .and_then(|socket| socket.local_addr().and_then(|own| socket.connect(own)));
    reached.map_err(|error| {
        let remedy =
            if v6 { "sysctl -w net.ipv6.conf.lo.disable_ipv6=0" } else { "ip link set lo up" };
        format!("{address} can't be reached here ({error}); as root: {remedy}")
    })
}

/// Brings the loopback interface up.
///
/// # Errors
/// Why it can't be.
pub fn up() -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: a request of zeros is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or_default();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    // SAFETY: SIOCSIFFLAGS reads an ifreq with flags, which `request` is and outlives the call.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })
}
