//! Where it was measured, and for how long.

use crate::caveats::cpu_taken::quota;
use crate::emulation::EMULATED;
use crate::format::{Unit, counted, duration};
use model::{CPUS_ONLINE, Host, MEMORY_LIMIT, Outcome, Run};
use schemars::JsonSchema;
use serde::Serialize;

/// Where it was measured, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measurement {
    /// The machine; absent where nothing is known of it.
    pub machine: Option<String>,
    /// Time that the cells took, in milliseconds.
    pub time_ms: u64,
    /// How many cells were measured, without those of controls.
    pub cells: usize,
}

impl Measurement {
    pub(super) fn new(run: &Run) -> Self {
        let time_ns: u64 = run.cells.iter().map(|cell| cell.elapsed_ns).sum();
        let measured = run.cells.iter().filter(|cell| cell.outcome == Outcome::Measured);
        let cells = measured.filter(|cell| !run.is_control(&cell.key)).count();
        Self { machine: machine(run), time_ms: time_ns / 1_000_000, cells }
    }

    /// `1 min 54 s on AMD EPYC, 2 CPUs, Linux 6.18`; empty where nothing is known.
    pub fn sentence(&self) -> String {
        let time = (self.time_ms > 0).then(|| duration(self.time_ms));
        match (time, &self.machine) {
            (Some(time), Some(machine)) => format!("{time} on {machine}"),
            (time, machine) => time.or(machine.clone()).unwrap_or_default(),
        }
    }
}

/// `CPUs`, or `of 8 CPUs` where a cpuset or a mask allows fewer than the machine has.
fn cpus_of(host: &Host) -> String {
    let all = host
        .number(CPUS_ONLINE)
        .filter(|&all| host.number("cpu.count").is_some_and(|own| own < all));
    all.map_or_else(|| "CPUs".to_owned(), |all| format!("of {all} CPUs"))
}

/// CPU, their number, limits, kernel: as far as they are known.
pub fn machine(run: &Run) -> Option<String> {
    let host = &run.host_before;
    let cpus = host.facts.get("cpu.count").or(host.facts.get(CPUS_ONLINE));
    let cpus = cpus.map(|number| counted(&number.to_string(), &cpus_of(host)));
    if analysis::is_predicted(run) {
        return Some(
            cpus.map_or_else(|| "a model".to_owned(), |cpus| format!("a model of {cpus}")),
        );
    }
    let quota = host.cpu_quota().map(|cpus| format!("a {}", quota(Some(cpus))));
    let system = host.fact("kernel.name").unwrap_or("Linux");
    let kernel = host.fact("kernel.release").map(|release| format!("{system} {release}"));
    let model = host.fact("cpu.model").map(str::to_owned);
    let emulated = host.is_emulated().then(|| EMULATED.to_owned());
    let memory_kib = host.number(MEMORY_LIMIT).map(|kib| kib * 1024.0);
    let memory = memory_kib.map(|bytes| {
        format!("a memory limit of {}", Unit::for_table("B", &[bytes]).with_symbol(bytes))
    });
    let parts: Vec<String> =
        [model, cpus, quota, memory, kernel, emulated].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CPU_QUOTA;

    #[test]
    fn what_knee_may_use_of_the_machine_is_named() {
        let mut run = fixtures::run(fixtures::workload("poll")).complete();
        let facts =
            [("cpu.count", 2.0), (CPUS_ONLINE, 8.0), (CPU_QUOTA, 0.5), (MEMORY_LIMIT, 524_288.0)];
        run.host_before = fixtures::host("", facts);
        let limited = "2 of 8 CPUs, a CPU quota of 0.5 CPUs, a memory limit of 512 MiB";
        assert_eq!(machine(&run).as_deref(), Some(limited));
        run.host_before = fixtures::host("", [("cpu.count", 1.0), (CPUS_ONLINE, 1.0)]);
        assert_eq!(machine(&run).as_deref(), Some("1 CPU"));
    }
}
