//! What connections take in memory: of the server, and of the kernel.

use crate::servers::drivers::Running;
use crate::servers::local::ServerUse;
use crate::shared::shortage::available_kib;
use engine::{Failure, Fit, LimitCause, Probe, server_facts};
use std::fs::read_to_string;
use std::io;
use sys::map::page_bytes;
use sys::proc;

/// With fewer, what the server does besides is as large as what they take.
const DEAD_MIN: u64 = 1_000;
/// With fewer, what else happens on the machine is as large as what the kernel takes for them.
const DEAD_MIN_KERNEL: u64 = 5_000;
/// What both ends of a connection take at the most, with room to spare: 9 KiB of the kernel were measured.
const CONNECTION_KIB_MAX: u64 = 16;

/// A server at one moment: its memory and the kernel's, in bytes, and what may grow with its connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Absent where its processes can't be looked at.
    server: Option<u64>,
    kernel: u64,
    /// Processes and threads of a server of the user's own.
    own: Option<(u64, u64)>,
}

impl Look {
    pub fn new(server: &Running) -> Result<Look, Failure> {
        let failed = |error: io::Error| Failure::call("looking at the memory", error);
        let kernel = kernel_bytes().map_err(failed)?;
        if server.unknown().is_some() {
            return Ok(Look { server: None, kernel, own: None });
        }
        let own = server.is_own().then(|| {
            let ServerUse { processes, threads, .. } = server.look();
            (processes, threads)
        });
        Ok(Look { server: Some(server.resident_bytes().map_err(failed)?), kernel, own })
    }

    /// What each of `dead` connections took since `before`.
    pub fn state(&self, before: &Look, dead: u64, probe: &mut Probe) {
        if let (Some((processes, threads)), Some(without)) = (self.own, before.own)
            && dead > 0
        {
            probe.fact(server_facts::DEAD, dead);
            probe.fact(server_facts::PROCESSES_BEFORE, without.0);
            probe.fact(server_facts::PROCESSES_AFTER, processes);
            probe.fact(server_facts::THREADS_BEFORE, without.1);
            probe.fact(server_facts::THREADS_AFTER, threads);
        }
        if dead < DEAD_MIN {
            return;
        }
        // Where there is less than before, something else went: that says nothing of connections.
        let mut grew = |metric, after: Option<u64>, before: Option<u64>| {
            if let Some(bytes) =
                after.zip(before).and_then(|(after, before)| after.checked_sub(before))
            {
                probe.given(metric, &[bytes as f64 / dead as f64], dead);
            }
        };
        grew("memory", self.server, before.server);
        if dead >= DEAD_MIN_KERNEL {
            grew("kernel memory", Some(self.kernel), Some(before.kernel));
        }
    }
}

/// Slabs, where the kernel has its sockets, and the buffers of TCP.
fn kernel_bytes() -> io::Result<u64> {
    let sockets = read_to_string("/proc/net/sockstat")?;
    let kib = proc::memory_kib("Slab:").ok_or_else(|| io::Error::other("meminfo has no Slab"))?;
    Ok((kib << 10) + buffer_pages(&sockets).unwrap_or(0) * page_bytes() as u64)
}

/// `TCP: inuse 12 orphan 0 tw 3 alloc 14 mem 5`: pages of buffers are the last.
fn buffer_pages(sockets: &str) -> Option<u64> {
    proc::field(sockets, "TCP:")?.split_whitespace().nth(9)?.parse().ok()
}

/// Whether there is memory for so many connections, both ends.
pub(super) fn fit(parameter: &'static str, dead: u64) -> Fit {
    let available_kib = available_kib();
    let max = available_kib / CONNECTION_KIB_MAX;
    if dead <= max {
        return Fit::Measure;
    }
    Fit::AtMost {
        parameter,
        max,
        cause: LimitCause::Memory {
            available_mib: available_kib >> 10,
            each_kib: CONNECTION_KIB_MAX,
        },
        remedy: "end what else uses memory".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_taken_from_their_lines() {
        let sockets =
            "sockets: used 300\nTCP: inuse 12 orphan 0 tw 3 alloc 14 mem 5\nUDP: inuse 1 mem 0\n";
        assert_eq!(buffer_pages(sockets), Some(5));
        assert!(kernel_bytes().unwrap() > 0);
    }

    #[test]
    fn more_than_the_memory_holds_does_not_fit() {
        assert_eq!(fit("dead", 0), Fit::Measure);
        let Fit::AtMost { max, .. } = fit("dead", u64::MAX) else { panic!("all fit") };
        assert_eq!(fit("dead", max), Fit::Measure);
    }
}
