//! `epoll_ctl`: each worker adds an eventfd of its own to one set, and removes it.

use super::{Operation, add_and_remove, setting_up};
use std::os::fd::AsFd;

pub(crate) const OPERATION: Operation = Operation {
    name: "epoll-ctl-one",
    group: "Waiting",
    summary: "epoll_ctl: adds an own eventfd to one set of all, and removes it",
    contends: "the lock of the set (ep->mtx)",
    prepare: |_| {
        let set = sys::epoll::create().map_err(setting_up)?;
        Ok(Box::new(move |seat| add_and_remove(set.as_fd(), seat)))
    },
    ..Operation::PLAIN
};
