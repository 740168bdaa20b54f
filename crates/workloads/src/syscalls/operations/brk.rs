//! `brk`, a page up and down: threads have one break, and each moves it to places of its own.

use super::{Operation, setting_up};
use sys::heap::Break;

pub(crate) const OPERATION: Operation = Operation {
    name: "brk",
    group: "Memory",
    summary: "brk: raises the break by a page, or lowers it again",
    contends: "the lock of the address space (mmap_lock)",
    shared_by_threads: "the address space",
    prepare: |_| {
        let program_break = Break::take().map_err(setting_up)?;
        Ok(Box::new(move |seat| {
            seat.repeat_counted(|check| {
                check.that(program_break.up_and_down(seat.me).is_ok(), "the break did not move")?;
                Ok(2)
            })
        }))
    },
    ..Operation::PLAIN
};
