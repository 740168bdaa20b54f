//! The CPUs that a thread may run on.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// The CPUs that this thread may run on, in ascending order.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// The CPUs that are online, in ascending order; `None` where the kernel does not say.
pub fn online() -> Option<Vec<usize>> {
    in_list(&std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?)
}

/// The CPUs of a list as the kernel writes it: `0-3,8`; `None` for any other text.
pub fn in_list(list: &str) -> Option<Vec<usize>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    let ranges = list.trim().split(',').map(range).collect::<Option<Vec<_>>>()?;
    Some(ranges.into_iter().flatten().collect())
}

/// Keeps this thread, and what it starts from now on, to these CPUs. None at all leave it where it is.
///
/// # Errors
/// One of them does not exist, or this process may not use them.
pub fn pin(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(io::Error::other(format!("there is no CPU {cpu}")));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|error| match error {
        Errno::INVAL => io::Error::other("there is no such CPU, or this process may not use it"),
        error => error.into(),
    })
}

/// What the hypervisor that this machine is a guest of calls itself; `None` on the bare machine, and where its CPU has no
/// instruction for it.
#[cfg(target_arch = "x86_64")]
pub fn hypervisor() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    /// Bit 31 of ECX: a hypervisor is there (Intel and AMD leave it 0).
    const PRESENT: u32 = 1 << 31;
    /// The leaf with its name.
    const NAME: u32 = 0x4000_0000;
    #[expect(unused_unsafe, reason = "safe from Rust 1.94 on")]
    // SAFETY: each x86-64 CPU has the instruction, which changes nothing in memory.
    let cpuid = |leaf: u32| unsafe { __cpuid(leaf) };
    if cpuid(1).ecx & PRESENT == 0 {
        return None;
    }
    let registers = cpuid(NAME);
    let bytes = [registers.ebx, registers.ecx, registers.edx].map(u32::to_le_bytes).concat();
    let name = String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned();
    let row = HYPERVISORS.iter().find(|(signature, _)| *signature == name);
    let is_text =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_graphic() || letter == ' ');
    row.map(|(_, short)| (*short).to_owned()).or(is_text.then_some(name))
}

/// The same.
#[cfg(not(target_arch = "x86_64"))]
pub fn hypervisor() -> Option<String> {
    None
}

/// Hypervisors by what they call themselves.
#[cfg(target_arch = "x86_64")]
const HYPERVISORS: &[(&str, &str)] = &[
    ("KVMKVMKVM", "kvm"),
    ("Linux KVM Hv", "kvm"),
    ("Microsoft Hv", "hyper-v"),
    ("VMwareVMware", "vmware"),
    ("XenVMMXenVMM", "xen"),
    ("TCGTCGTCGTCG", "qemu"),
    ("bhyve bhyve", "bhyve"),
    ("ACRNACRNACRN", "acrn"),
    ("VBoxVBoxVBox", "virtualbox"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hypervisor_is_named_where_the_kernel_sees_one() {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let is_guest = crate::proc::has_cpu_flag(&info, "hypervisor");
        if cfg!(target_arch = "x86_64") && is_guest == Some(false) {
            assert_eq!(hypervisor(), None);
        }
        assert!(hypervisor().is_none_or(|name| !name.is_empty()));
    }

    #[test]
    fn the_cpus_of_a_list_are_read() {
        assert_eq!(in_list("0-3,6\n"), Some(vec![0, 1, 2, 3, 6]));
        assert_eq!(in_list("0"), Some(vec![0]));
        assert_eq!((in_list(""), in_list("x-1")), (None, None));
        assert!(online().is_none_or(|cpus| !cpus.is_empty()));
    }

    #[test]
    fn a_thread_stays_on_the_cpus_that_it_was_pinned_to() {
        std::thread::spawn(|| {
            let all = allowed().unwrap();
            pin(&[]).unwrap();
            assert_eq!(allowed().unwrap(), all);
            let last = &all[all.len() - 1..];
            pin(last).unwrap();
            assert_eq!(allowed().unwrap(), last);
            assert!(pin(&[CpuSet::MAX_CPU]).is_err());
            assert!(pin(&[CpuSet::MAX_CPU - 1]).is_err(), "no machine has so many");
        })
        .join()
        .unwrap();
    }
}
