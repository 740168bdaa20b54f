//! Linux's `epoll`, edge-triggered (`EPOLLET`): reported once for each arrival.

use crate::{Mechanism, Trigger, epoll};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "epoll-edge",
    label: "epoll-edge",
    summary: "epoll(7), edge-triggered (EPOLLET)",
    trigger: Trigger::Edge,
    queued: false,
    reports_hangup: true,
    detaches: true,
    limits: epoll::LIMITS,
    available: epoll::available,
    open: |capacity| epoll::open(capacity, Trigger::Edge),
};
