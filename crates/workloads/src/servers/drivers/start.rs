//! The wait for a server that starts, and why it is over without one.

use super::Running;
use crate::servers::client::Client;
use crate::servers::local::{cpu_ns_with_ended, listening_at};
use engine::{Failure, last_line};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// The pause between two attempts to connect to a server that starts: a sixteenth of the time so far, within these.
const START_PAUSE_MIN: Duration = Duration::from_millis(1);
const START_PAUSE_MAX: Duration = Duration::from_millis(100);
/// How often it is looked up where a server listens that can't be reached. One that does so idly for this time is not
/// on its way to its port.
const ELSEWHERE_LOOK: Duration = Duration::from_millis(250);
const ELSEWHERE_MAX: Duration = Duration::from_secs(2);

impl Running {
    /// Waits until it accepts connections at its port of one of `ips`, and returns that address. It is not waited for any
    /// more where it has ended, or where it has settled at another port.
    pub(super) fn wait_until_it_listens(
        &mut self,
        ips: &[IpAddr],
        start_max: Duration,
    ) -> Result<SocketAddr, Failure> {
        let begun = Instant::now();
        let mut elsewhere = Elsewhere::new();
        loop {
            if let Some(address) = self.accepting(ips)? {
                return self.alive().map(|()| address);
            }
            let waited = begun.elapsed();
            let is_over = waited >= start_max;
            if elsewhere.look(|| self.pids()) || is_over && !elsewhere.addresses.is_empty() {
                return Err(self.listens_elsewhere(&elsewhere.addresses));
            }
            if is_over {
                return Err(self.does_not_listen(waited));
            }
            // One that is slow to start is not disturbed by many attempts.
            self.alive_for((waited / 16).clamp(START_PAUSE_MIN, START_PAUSE_MAX))?;
        }
    }

    /// The first of `ips` where it accepts connections.
    fn accepting(&self, ips: &[IpAddr]) -> Result<Option<SocketAddr>, Failure> {
        for &ip in ips {
            let address = SocketAddr::from((ip, self.address.port()));
            match Client::connect(address) {
                Ok(_) => return Ok(Some(address)),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                // A machine without this family.
                Err(_) if sys::loopback::check(ip.is_ipv6()).is_err() => {}
                Err(error) => return Err(Failure::call(format!("reaching {}", self.name), error)),
            }
        }
        Ok(None)
    }

    fn listens_elsewhere(&self, addresses: &BTreeSet<SocketAddr>) -> Failure {
        let (name, port) = (self.name, self.address.port());
        let list = |texts: Vec<String>| texts.join(", ");
        if addresses.iter().any(|address| address.port() == port) {
            let all = list(addresses.iter().map(ToString::to_string).collect());
            return Failure::new(format!("{name} listens at {all} instead of 127.0.0.1 or ::1"));
        }
        let ports: BTreeSet<u16> = addresses.iter().map(SocketAddr::port).collect();
        let ports = list(ports.iter().map(ToString::to_string).collect());
        Failure::new(format!(
            "{name} listens at another port, {ports}, instead of {port} ({{port}})"
        ))
    }

    fn does_not_listen(&self, waited: Duration) -> Failure {
        let (name, port, seconds) = (self.name, self.address.port(), waited.as_secs());
        let last = match last_line(&self.end_of_log()) {
            line if line.is_empty() => line,
            line => format!(": {line}"),
        };
        Failure::new(format!(
            "{name} does not listen on port {port} within {seconds} s{last} → the same with a longer --deadline"
        ))
    }
}

/// Where a server listens that does not accept connections at its port.
struct Elsewhere {
    addresses: BTreeSet<SocketAddr>,
    /// Since when it listens there and nowhere else, as far as it is known, and the CPU time that it had used then.
    since: Instant,
    cpu_ns: u64,
    next_look: Instant,
    /// Where this process listens, as what it starts may with it.
    inherited: BTreeSet<SocketAddr>,
}

impl Elsewhere {
    fn new() -> Elsewhere {
        let (now, inherited) = (Instant::now(), listening_at(&[std::process::id().cast_signed()]));
        let next_look = now + ELSEWHERE_LOOK;
        Elsewhere { addresses: BTreeSet::new(), since: now, cpu_ns: 0, next_look, inherited }
    }

    /// Looks at its processes if that is due. Returns whether it [has settled](Elsewhere::has_settled).
    fn look(&mut self, pids: impl FnOnce() -> Vec<i32>) -> bool {
        let now = Instant::now();
        if now < self.next_look {
            return false;
        }
        self.next_look = now + ELSEWHERE_LOOK;
        let pids = pids();
        let addresses = &listening_at(&pids) - &self.inherited;
        self.has_settled(addresses, cpu_ns_with_ended(&pids), now)
    }

    /// Whether it listens at the same addresses for a while in which it has done next to nothing: one that opens a port for
    /// its administrator first goes on to start.
    fn has_settled(&mut self, addresses: BTreeSet<SocketAddr>, cpu_ns: u64, now: Instant) -> bool {
        let time = now.saturating_duration_since(self.since);
        let is_same = addresses == self.addresses;
        if is_same && time < ELSEWHERE_MAX {
            return false;
        }
        let used = Duration::from_nanos(cpu_ns.saturating_sub(self.cpu_ns));
        if is_same && !addresses.is_empty() && used < time / 10 {
            return true;
        }
        (self.addresses, self.since, self.cpu_ns) = (addresses, now, cpu_ns);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::drivers::{ServerOrigin, find, reserved_port};
    use crate::servers::local::LocalServer;
    use std::net::Ipv4Addr;

    #[test]
    fn a_server_that_does_not_listen_is_waited_for_and_named() {
        let (_kept, port) = reserved_port().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let origin = ServerOrigin::Running(LocalServer::at(address));
        let mut running = Running::new(&find("nginx").unwrap(), origin, address);
        let failure = running.wait_until_it_listens(&[address.ip()], Duration::ZERO).unwrap_err();
        let expected = format!("nginx does not listen on port {port} within 0 s → ");
        assert!(failure.to_string().starts_with(&expected), "{failure}");
    }

    #[test]
    fn a_server_has_settled_elsewhere_when_it_does_nothing_more() {
        let at = |ports: &[u16]| -> BTreeSet<SocketAddr> {
            ports.iter().map(|&port| (Ipv4Addr::LOCALHOST, port).into()).collect()
        };
        let mut elsewhere = Elsewhere::new();
        let begun = Instant::now();
        let mut looked = |ports: &[u16], cpu_s: u64, after_s: u64| {
            let after = Duration::from_secs(after_s);
            elsewhere.has_settled(at(ports), cpu_s * 1_000_000_000, begun + after)
        };
        assert!(!looked(&[], 0, 10), "it listens nowhere");
        assert!(!looked(&[8080], 1, 11) && !looked(&[8080], 1, 12), "for a second");
        assert!(!looked(&[8080], 2, 13), "it has used a second of CPU time");
        assert!(!looked(&[8080, 8081], 2, 15), "it has opened another port");
        assert!(!looked(&[8080, 8081], 2, 16) && looked(&[8080, 8081], 2, 17));
    }
}
