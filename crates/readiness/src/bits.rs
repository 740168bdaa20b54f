//! The bits of `poll`, which `epoll`, `/dev/poll`, event ports, AIO, `io_uring` and SIGIO share.

use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, c_short};

use crate::{Event, Interest, Token};

/// The bit that tells that the peer has shut its sending side down, where there is one.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "illumos"
))]
const PEER_SHUT: c_short = libc::POLLRDHUP;
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "illumos"
)))]
const PEER_SHUT: c_short = 0;

/// The bits to ask for.
#[inline]
pub(crate) fn from_interest(interest: Interest) -> c_short {
    let readable = if interest.is_readable() { POLLIN | PEER_SHUT } else { 0 };
    let writable = if interest.is_writable() { POLLOUT } else { 0 };
    readable | writable
}

/// The event that the kernel's answer means.
#[inline]
pub(crate) fn event(token: Token, bits: c_short) -> Event {
    const GONE: c_short = POLLHUP | POLLERR | POLLNVAL;
    Event {
        token,
        readable: bits & (POLLIN | PEER_SHUT | GONE) != 0,
        writable: bits & (POLLOUT | GONE) != 0,
        hangup: bits & (PEER_SHUT | GONE) != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_means_what_the_event_says() {
        let cases = [
            (POLLIN, (true, false, false)),
            (POLLOUT, (false, true, false)),
            (POLLIN | POLLOUT, (true, true, false)),
            (POLLHUP, (true, true, true)),
            (POLLERR, (true, true, true)),
            (POLLNVAL, (true, true, true)),
            (0, (false, false, false)),
        ];
        for (bits, expected) in cases {
            let event = event(Token(7), bits);
            assert_eq!((event.readable, event.writable, event.hangup), expected, "{bits:#x}");
            assert_eq!(event.token, Token(7));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_peer_that_stops_sending_is_a_hangup_to_a_reader() {
        let event = event(Token(0), POLLIN | libc::POLLRDHUP);
        assert!(event.readable && event.hangup && !event.writable);
        assert_eq!(from_interest(Interest::Writable), POLLOUT);
        assert_eq!(from_interest(Interest::Both), from_interest(Interest::Readable) | POLLOUT);
    }
}
