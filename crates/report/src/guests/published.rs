//! Kernbench in a guest with four virtual CPUs on two, with three kinds of spinlocks in its kernel, by Jeremy Fitzhardinge:
//! "Some initial measurements comparing spinlock algorithms", xen-devel, 4 July 2008. docs/published.md reads it in full.

use super::{Elapsed, GuestRow};

pub(super) const TITLE: &str = "Kernbench of a kernel tree";
pub(super) const SOURCE: &str = "Means and deviations of five runs, and what xm vcpu-list showed after them: Jeremy Fitzhardinge, \
                                 \"Some initial measurements comparing spinlock algorithms\", xen-devel, 4 July 2008.";
pub(super) const LOADS: &[&str] = &["half -j 3", "optimal -j 16"];

/// A row for each kind of lock: five builds under each load, and the seconds of each virtual CPU.
pub(super) fn rows() -> Vec<GuestRow> {
    let row = |name: &str, loads: [Elapsed; 2], cpus: &[f64]| GuestRow {
        name: name.to_owned(),
        loads: loads.to_vec(),
        cpus: cpus.to_vec(),
    };
    let mean = |seconds, deviation| Ok((seconds, Some(deviation)));
    let aborted = || Err("aborted after about 6 hours".to_owned());
    vec![
        row(
            "byte locks (test-and-set)",
            [mean(410.686, 2.493), mean(326.226, 0.158)],
            &[2050.1, 2044.4, 2032.3, 2024.1],
        ),
        row("ticket locks (fair)", [mean(503.002, 19.374), aborted()], &[]),
        row(
            "Xen's locks (paravirtual)",
            [mean(338.98, 0.932), mean(323.176, 0.252)],
            &[1857.3, 1821.7, 1821.0, 1787.3],
        ),
    ]
}
