//! `poll(2)`: the whole array goes into the kernel and is looked through at every wait.

use crate::{Mechanism, Trigger, pollset};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "poll",
    label: "poll",
    summary: "poll(2) over a dense array",
    trigger: Trigger::Level,
    queued: false,
    reports_hangup: true,
    detaches: false,
    limits: &["looks through all watched descriptors at every wait"],
    available: || Ok(()),
    open: |capacity| Ok(pollset::open(capacity, sys::poll::poll)),
};
