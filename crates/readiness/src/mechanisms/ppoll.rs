//! `ppoll(2)`: `poll` with a time-out in nanoseconds and a signal mask, which stays unset here.

use std::io;

use crate::{Mechanism, Readiness, Trigger, Why, pollset};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "ppoll",
    label: "ppoll",
    summary: "ppoll(2) over a dense array, without a signal mask",
    trigger: Trigger::Level,
    queued: false,
    reports_hangup: true,
    detaches: false,
    limits: &["looks through all watched descriptors at every wait"],
    available,
    open,
};

fn available() -> Result<(), Why> {
    match sys::poll::PPOLL {
        Some(_) => Ok(()),
        None => Err(absent()),
    }
}

fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
    let call = sys::poll::PPOLL.ok_or_else(absent)?;
    Ok(pollset::open(capacity, call))
}

fn absent() -> Why {
    Why("Linux, FreeBSD, DragonFly, NetBSD and OpenBSD only".to_owned())
}
