//! Linux's `epoll`, oneshot (`EPOLLONESHOT`): reported once, and armed again by `EPOLL_CTL_MOD`.

use crate::{Mechanism, Trigger, epoll};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "epoll-oneshot",
    label: "epoll-oneshot",
    summary: "epoll(7), oneshot (EPOLLONESHOT), armed again by EPOLL_CTL_MOD",
    trigger: Trigger::Oneshot,
    queued: false,
    reports_hangup: true,
    detaches: true,
    limits: epoll::LIMITS,
    available: epoll::available,
    open: |capacity| epoll::open(capacity, Trigger::Oneshot),
};
