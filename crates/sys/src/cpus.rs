//! The CPUs that a thread may run on.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// The CPUs that this thread may run on, in ascending order.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

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
