//! `epoll_ctl`: each worker adds an eventfd of its own to a set of its own, and removes it.

use super::{Operation, add_and_remove, setting_up};
use std::os::fd::AsFd;

pub(crate) const OPERATION: Operation = Operation {
    name: "epoll-ctl-separate",
    group: "Waiting",
    summary: "epoll_ctl: adds an own eventfd to an own set, and removes it",
    contends: "the user's count of watched descriptors",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let set = sys::epoll::create().map_err(setting_up)?;
            add_and_remove(set.as_fd(), seat)
        }))
    },
    ..Operation::PLAIN
};
