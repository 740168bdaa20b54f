//! Where it was measured, and for how long.

use crate::caveats::cpu_taken::quota;
use crate::emulation::EMULATED;
use crate::format::{counted, duration};
use model::Run;
use schemars::JsonSchema;
use serde::Serialize;

/// Where it was measured, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measurement {
    /// The machine; absent where nothing is known of it.
    pub machine: Option<String>,
    /// Time that the cells took, in milliseconds.
    pub time_ms: u64,
}

impl Measurement {
    pub(super) fn new(run: &Run) -> Self {
        let time_ns: u64 = run.cells.iter().map(|cell| cell.elapsed_ns).sum();
        Self { machine: machine(run), time_ms: time_ns / 1_000_000 }
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

/// CPU, their number, kernel: as far as they are known.
pub fn machine(run: &Run) -> Option<String> {
    let host = &run.host_before;
    let cpus = host.facts.get("cpu.count").or(host.facts.get("cpu.online"));
    let cpus = cpus.map(|number| counted(&number.to_string(), "CPUs"));
    if analysis::is_predicted(run) {
        return Some(
            cpus.map_or_else(|| "a model".to_owned(), |cpus| format!("a model of {cpus}")),
        );
    }
    let quota = host.cpu_quota().map(|cpus| quota(Some(cpus)));
    let system = host.fact("kernel.name").unwrap_or("Linux");
    let kernel = host.fact("kernel.release").map(|release| format!("{system} {release}"));
    let model = host.fact("cpu.model").map(str::to_owned);
    let emulated = host.is_emulated().then(|| EMULATED.to_owned());
    let parts: Vec<String> = [model, cpus, quota, kernel, emulated].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
