//! `io_uring`'s poll requests, each tells until it is cancelled.

use crate::{Mechanism, Trigger};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "io_uring-multishot",
    label: "io_uring-multishot",
    summary: "IORING_OP_POLL_ADD, multishot",
    trigger: Trigger::Edge,
    queued: true,
    reports_hangup: true,
    detaches: true,
    limits: LIMITS,
    available,
    open,
};

#[cfg(not(target_os = "linux"))]
crate::elsewhere::elsewhere!("Linux only");
#[cfg(not(target_os = "linux"))]
const LIMITS: &[&str] = &[];

#[cfg(target_os = "linux")]
use here::{LIMITS, available, open};

#[cfg(target_os = "linux")]
mod here {
    use std::io;

    use crate::uring::{self, Shots};
    use crate::{Readiness, Why};

    pub(super) use crate::uring::LIMITS;

    pub(super) fn available() -> Result<(), Why> {
        uring::available(Shots::Many)
    }

    pub(super) fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
        uring::open(capacity, Shots::Many)
    }
}
