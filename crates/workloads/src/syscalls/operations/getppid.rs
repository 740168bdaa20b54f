//! `getppid`: the control. It only reads, and scales everywhere.

use super::Operation;
use sys::plain::getppid;

pub(crate) const OPERATION: Operation = Operation {
    name: "getppid",
    group: "Control",
    summary: "getppid: asks for the parent's number",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let parent = getppid();
            seat.repeat(|check| check.that(getppid() == parent, "another parent"))
        }))
    },
    ..Operation::PLAIN
};
