//! Time-outs in the three shapes that the calls take: milliseconds, timeval and timespec.
//!
//! Each rounds up, so that no wait ends before its time, and stops at [`SECONDS_MAX`], beyond which
//! some kernels refuse: a caller that waits longer asks again.

// The widths and signs of C's types differ from system to system.
#![allow(clippy::cast_possible_wrap, clippy::cast_lossless)]

use std::time::Duration;

/// The longest wait in one call, in seconds: about three years (BSD kernels refuse more).
pub const SECONDS_MAX: u64 = 99_999_999;

/// Milliseconds, as `poll` and `epoll_wait` take them; -1 waits for ever.
#[inline]
pub fn millis(timeout: Option<Duration>) -> libc::c_int {
    let Some(timeout) = timeout else { return -1 };
    let up = u64::from(timeout.subsec_nanos().div_ceil(1_000_000));
    let ms = timeout.as_secs().saturating_mul(1_000).saturating_add(up);
    libc::c_int::try_from(ms).unwrap_or(libc::c_int::MAX)
}

/// A timeval, as `select` takes it.
#[inline]
pub fn timeval(timeout: Duration) -> libc::timeval {
    let us = timeout.subsec_nanos().div_ceil(1_000);
    let seconds = timeout.as_secs().saturating_add(u64::from(us / 1_000_000));
    libc::timeval {
        tv_sec: seconds.min(SECONDS_MAX) as libc::time_t,
        tv_usec: (us % 1_000_000) as libc::suseconds_t,
    }
}

/// A timespec, as `ppoll` and `kevent` take it.
#[inline]
pub fn timespec(timeout: Duration) -> libc::timespec {
    let seconds = timeout.as_secs().min(SECONDS_MAX) as libc::time_t;
    // Zeroed first: some targets pad this structure with fields of no name.
    // SAFETY: all zeroes is a valid timespec.
    let mut spec: libc::timespec = unsafe { std::mem::zeroed() };
    spec.tv_sec = seconds;
    spec.tv_nsec = timeout.subsec_nanos() as libc::c_long;
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_round_up_and_saturate() {
        let cases = [
            (None, -1),
            (Some(Duration::ZERO), 0),
            (Some(Duration::from_nanos(1)), 1),
            (Some(Duration::from_millis(1)), 1),
            (Some(Duration::from_nanos(1_000_001)), 2),
            (Some(Duration::from_nanos(1_999_999_999)), 2_000),
            (Some(Duration::from_millis(2_147_483_647)), libc::c_int::MAX),
            (Some(Duration::from_millis(2_147_483_648)), libc::c_int::MAX),
            (Some(Duration::MAX), libc::c_int::MAX),
        ];
        for (timeout, expected) in cases {
            assert_eq!(millis(timeout), expected, "{timeout:?}");
        }
    }

    #[test]
    fn a_timeval_rounds_up_and_carries_into_the_seconds() {
        let cases = [
            (Duration::ZERO, 0, 0),
            (Duration::from_nanos(1), 0, 1),
            (Duration::from_micros(1), 0, 1),
            (Duration::from_nanos(1_001), 0, 2),
            (Duration::from_nanos(1_999_999_001), 2, 0),
            (Duration::from_secs(SECONDS_MAX + 1), SECONDS_MAX, 0),
        ];
        for (timeout, seconds, micros) in cases {
            let value = timeval(timeout);
            assert_eq!(
                (value.tv_sec as u64, value.tv_usec as u64),
                (seconds, micros),
                "{timeout:?}"
            );
        }
    }

    #[test]
    fn a_timespec_keeps_the_nanoseconds() {
        let value = timespec(Duration::new(3, 999_999_999));
        assert_eq!((value.tv_sec, value.tv_nsec), (3, 999_999_999));
        assert_eq!(timespec(Duration::MAX).tv_sec as u64, SECONDS_MAX);
    }
}
