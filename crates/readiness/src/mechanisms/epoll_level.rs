//! Linux's `epoll`, level-triggered, which is what it does unasked: reported again for as long as it is ready.

use crate::{Mechanism, Trigger, epoll};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "epoll-level",
    label: "epoll-level",
    summary: "epoll(7), level-triggered",
    trigger: Trigger::Level,
    queued: false,
    reports_hangup: true,
    detaches: true,
    limits: epoll::LIMITS,
    available: epoll::available,
    open: |capacity| epoll::open(capacity, Trigger::Level),
};
