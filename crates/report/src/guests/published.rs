//! Kernbench in a guest with four virtual CPUs on two, with three kinds of spinlocks in its kernel, by Jeremy Fitzhardinge:
//! "Some initial measurements comparing spinlock algorithms", xen-devel, 4 July 2008. docs/published.md reads it in full.

use super::{Elapsed, Row};

/// What was published.
pub(super) struct Published {
    pub(super) title: &'static str,
    pub(super) source: &'static str,
    pub(super) loads: &'static [&'static str],
    locks: &'static [Locks],
}

/// A kind of lock: its name, mean and deviation of five builds under each load, and the seconds of each virtual CPU.
struct Locks {
    name: &'static str,
    elapsed: [Result<(f64, f64), &'static str>; 2],
    cpus: &'static [f64],
}

pub(super) const PUBLISHED: Published = Published {
    title: "Kernbench of a kernel tree",
    source: "Means and deviations of five runs, and what xm vcpu-list showed after them: Jeremy Fitzhardinge, \"Some initial \
             measurements comparing spinlock algorithms\", xen-devel, 4 July 2008.",
    loads: &["half -j 3", "optimal -j 16"],
    locks: &[
        Locks {
            name: "byte locks (test-and-set)",
            elapsed: [Ok((410.686, 2.493)), Ok((326.226, 0.158))],
            cpus: &[2050.1, 2044.4, 2032.3, 2024.1],
        },
        Locks {
            name: "ticket locks (fair)",
            elapsed: [Ok((503.002, 19.374)), Err("aborted after about 6 hours")],
            cpus: &[],
        },
        Locks {
            name: "Xen's locks (paravirtual)",
            elapsed: [Ok((338.98, 0.932)), Ok((323.176, 0.252))],
            cpus: &[1857.3, 1821.7, 1821.0, 1787.3],
        },
    ],
};

impl Published {
    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |locks: &Locks| Row {
            name: locks.name.to_owned(),
            loads: locks.elapsed.iter().map(|elapsed| elapsed_of(*elapsed)).collect(),
            cpus: locks.cpus.to_vec(),
        };
        self.locks.iter().map(row).collect()
    }
}

fn elapsed_of(elapsed: Result<(f64, f64), &str>) -> Elapsed {
    match elapsed {
        Ok((seconds, deviation)) => Elapsed::Mean { seconds, deviation: Some(deviation) },
        Err(why) => Elapsed::None(why.to_owned()),
    }
}
