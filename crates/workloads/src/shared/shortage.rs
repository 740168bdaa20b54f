//! Shortages of the machine, before and while a workload meets them: each with its limit and its remedy.

use crate::readiness::mechanisms::{OWN_DESCRIPTORS, at_most};
use engine::{Cell, Failure, Fit, Parking, descriptors_max};
use rustix::io::Errno;
use std::io;
use std::sync::OnceLock;
use sys::limits::{Limit, memory, sysctl};
use sys::proc::{memory_kib, setting};

/// Whether a process may have as many descriptors as `axis` asks for: their other ends, if they have
/// any, are parked.
pub(crate) fn descriptors(cell: &Cell, axis: &'static str) -> Fit {
    let max = descriptors_max().saturating_sub(OWN_DESCRIPTORS + Parking::chunk()) as u64;
    match cell.number(axis) {
        Ok(asked) if asked > max => at_most(axis, asked, max),
        _ => Fit::Measure,
    }
}

/// Memory that is available without the kernel killing a process; without limit where the kernel does not say.
/// Read once: the plan has to treat all subjects alike.
pub(crate) fn available_kib() -> u64 {
    static AVAILABLE_KIB: OnceLock<u64> = OnceLock::new();
    *AVAILABLE_KIB.get_or_init(|| memory_kib("MemAvailable:").unwrap_or(u64::MAX))
}

/// Makes a [`failure`] of an error, for `map_err`.
pub(crate) fn during(operation: &'static str) -> impl Fn(io::Error) -> Failure + Copy {
    move |error| failure(operation, &error)
}

/// The failure of `what` was being done: where the kernel has no more of something to give, what was
/// measured up to there counts.
pub(crate) fn failure(what: &str, error: &io::Error) -> Failure {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    match errno.and_then(limit) {
        Some(limit) => Failure::ran_out(what, error, limit),
        None => Failure::call(what, error),
    }
}

/// The limit behind an error and what raises it; none where the error is no shortage.
fn limit(errno: Errno) -> Option<Limit> {
    let plain = |limit: &str, remedy: &str| (limit.to_owned(), remedy.to_owned());
    Some(match errno {
        Errno::MFILE => {
            let limit = descriptors_max();
            let text = format!("a process may have {limit} descriptors");
            (text, format!("as root: ulimit -n {}", limit.saturating_mul(2)))
        }
        Errno::NFILE => sysctl("fs.file-max", "2000000"),
        // Connections are over loopback, and mostly of IPv4. Without it, no number of ports would do.
        Errno::ADDRNOTAVAIL if sys::loopback::check(false).is_err() => return None,
        Errno::ADDRINUSE | Errno::ADDRNOTAVAIL => ports(),
        Errno::NOMEM => memory(),
        Errno::NOSPC => {
            let directory = std::env::temp_dir();
            let text = format!("no space left in {}", directory.display());
            (text, "TMPDIR=/a/directory/with/space knee run …".into())
        }
        Errno::ROFS => {
            let directory = std::env::temp_dir();
            let text = format!("{} is on a read-only file system", directory.display());
            (text, "TMPDIR=/a/directory/that/can/be/written knee run …".into())
        }
        Errno::DQUOT => {
            plain("a quota on disk space", "TMPDIR=/a/directory/without/quota knee run …")
        }
        Errno::FBIG => plain("a limit on the size of files", "ulimit -f unlimited"),
        Errno::NOBUFS => plain("no memory for sockets", "end what else uses memory"),
        _ => return None,
    })
}

/// The range that the kernel takes ports from.
fn ports() -> Limit {
    let range: String = setting("net.ipv4.ip_local_port_range").unwrap_or_default();
    let numbers: Vec<u64> = range.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let text = match numbers[..] {
        [low, high] if high >= low => {
            format!("net.ipv4.ip_local_port_range is {low} to {high}: {} ports", high - low + 1)
        }
        _ => "every port that the kernel gives is taken".to_owned(),
    };
    (text, "sysctl -w net.ipv4.ip_local_port_range='1024 65535'".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_names_its_limit() {
        let message = |errno: Errno| failure("a call", &errno.into()).to_string();
        assert!(message(Errno::MFILE).contains("descriptors"), "{}", message(Errno::MFILE));
        assert!(message(Errno::NFILE).contains("fs.file-max is "), "{}", message(Errno::NFILE));
        assert!(message(Errno::ADDRINUSE).contains("ports"), "{}", message(Errno::ADDRINUSE));
        assert_eq!(
            message(Errno::INVAL),
            Failure::call("a call", io::Error::from(Errno::INVAL)).to_string()
        );
    }
}
