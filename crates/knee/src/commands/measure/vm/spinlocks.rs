//! How the spinlocks of this kernel wait, as the kernel itself decided when it booted.
//!
//! Linux on x86 has three ways, and takes one at boot: a test-and-set lock where it finds a hypervisor
//! (`virt_spin_lock_key` is on), a paravirtual one where that hypervisor lets a waiting CPU sleep (`pv_lock_hash` is
//! there), and a queued, fair lock on bare metal, or where `nopvspin` asks for it. What is read are these variables, in
//! the kernel's memory: no rule is guessed from the CPU's flags.

use ::model::{Fact, SPINLOCKS};
use std::collections::BTreeMap;

/// A static key: where its count is not zero, locks are test-and-set.
const TEST_AND_SET: &str = "virt_spin_lock_key";
/// The table of CPUs that sleep until a paravirtual lock is released.
const PARAVIRTUAL: &str = "pv_lock_hash";
/// A kernel with this function has queued locks and no other: arm64.
const ONLY_QUEUED: &str = "queued_spin_lock_slowpath";

pub fn facts() -> BTreeMap<String, Fact> {
    let variables = stacks::kernel_variables(&[TEST_AND_SET, PARAVIRTUAL, ONLY_QUEUED]);
    let waiting = variables.ok().and_then(|variables| waiting(&variables));
    waiting.map(|waiting| (SPINLOCKS.to_owned(), waiting.into())).into_iter().collect()
}

fn waiting(variables: &BTreeMap<String, u64>) -> Option<&'static str> {
    let value = |name: &str| variables.get(name).copied();
    // The count is the first of the two 32-bit halves in memory.
    let count =
        value(TEST_AND_SET).map(|word| word.to_ne_bytes()[..4].iter().any(|byte| *byte != 0));
    match (count, value(PARAVIRTUAL)) {
        // Where locks are paravirtual, the kernel no longer asks the key; below Xen it stays on.
        (_, Some(1..)) => Some("paravirtual"),
        (Some(true), _) => Some("test-and-set"),
        (Some(false), _) => Some("queued"),
        (None, _) => value(ONLY_QUEUED).map(|_| "queued"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_decides_once_how_its_locks_wait() {
        let waiting = |variables: &[(&str, u64)]| {
            let variables = variables.iter().map(|(name, word)| ((*name).to_owned(), *word));
            super::waiting(&variables.collect())
        };
        assert_eq!(waiting(&[(TEST_AND_SET, 1), (PARAVIRTUAL, 0)]), Some("test-and-set"));
        assert_eq!(waiting(&[(TEST_AND_SET, 0), (PARAVIRTUAL, 0)]), Some("queued"));
        let half = u64::from_ne_bytes([0, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(waiting(&[(TEST_AND_SET, half)]), Some("queued"));
        assert_eq!(waiting(&[(TEST_AND_SET, 0), (PARAVIRTUAL, 7)]), Some("paravirtual"));
        assert_eq!(waiting(&[(TEST_AND_SET, 1), (PARAVIRTUAL, 7)]), Some("paravirtual"));
        assert_eq!(waiting(&[(ONLY_QUEUED, 0x1234)]), Some("queued"));
        assert_eq!(waiting(&[]), None);
    }
}
