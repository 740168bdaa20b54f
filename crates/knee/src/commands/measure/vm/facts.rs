//! What each run keeps about the machine that it was measured on: QEMU, its words, and the host that it ran on.

use super::flags::Vm;
use guest::{Accelerator, Hardware};
use model::{CPU_QUOTA, Fact, GUEST_HOST_BOOT, GUEST_HOST_CPU_QUOTA, HOST_BOOT, HOST_ID};
use std::collections::BTreeMap;

const NOTHING: &str = "none";

/// What is the same for all guests, which run on the CPUs `cpus` of the host; on all, where there are none.
pub fn of_ground(
    vm: &Vm,
    qemu: &str,
    accelerator: Accelerator,
    cpus: &[usize],
) -> BTreeMap<String, Fact> {
    let host = engine::host();
    let count =
        if cpus.is_empty() { sys::cpus::allowed().map_or(0, |all| all.len()) } else { cpus.len() };
    let own = [
        ("vm.accelerator", accelerator.name().into()),
        ("vm.qemu", qemu.into()),
        ("vm.cpus", u64::from(vm.cpus()).into()),
        ("vm.host.cpus", (count as u64).into()),
    ];
    // A guest has no identity of its own, and an emulated CPU is called the same everywhere.
    let keys = [
        (GUEST_HOST_BOOT, HOST_BOOT),
        ("vm.host.kernel", "kernel.release"),
        ("vm.host.machine_id", HOST_ID),
        ("vm.host.cpu", "cpu.model"),
        (GUEST_HOST_CPU_QUOTA, CPU_QUOTA),
    ];
    let of_host =
        keys.into_iter().filter_map(|(key, of_host)| Some((key, host.facts.get(of_host)?.clone())));
    let xen = vm.xen.iter().map(|image| ("vm.xen", image.display().to_string().into()));
    own.into_iter().chain(of_host).chain(xen).map(|(key, value)| (key.to_owned(), value)).collect()
}

pub fn of_hardware(hardware: &Hardware) -> BTreeMap<String, Fact> {
    let append = match hardware.append.trim() {
        "" => NOTHING,
        words => words,
    };
    let facts = [
        ("vm.cpu_model", Fact::Text(hardware.cpu.clone())),
        ("vm.memory_mib", hardware.memory_mib.into()),
        ("vm.append", append.into()),
    ];
    facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
