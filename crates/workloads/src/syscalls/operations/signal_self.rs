//! `raise`: a signal to the calling thread, whose handler counts it.

use super::{Operation, setting_up};
use sys::plain::{count_signals, raise_counted};

pub(crate) const OPERATION: Operation = Operation {
    name: "signal-self",
    group: "Processes",
    summary: "raise of a signal to the calling thread, which handles it",
    contends: "the lock of the signal handlers (siglock)",
    shared_by_threads: "the signal handlers",
    prepare: |_| {
        count_signals().map_err(setting_up)?;
        Ok(Box::new(|seat| {
            let mut handled = raise_counted().map_err(setting_up)?;
            seat.repeat(|check| {
                handled += 1;
                check.that(raise_counted()? == handled, "a signal was not handled at once")
            })
        }))
    },
    ..Operation::PLAIN
};
