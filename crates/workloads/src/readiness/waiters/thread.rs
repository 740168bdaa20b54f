//! What one thread does, and what it has seen.

use super::events::{Events, Slot};
use super::sets::Shared;
use crate::shared::crew::Seat;
use crate::shared::waits;
use engine::Failure;
use hdrhistogram::Histogram;
use std::io;

/// What threads have seen from beginning to end.
pub(super) struct Seen {
    pub(super) events: u64,
    /// Returns of the wait.
    pub(super) returns: u64,
    /// Those after which there was nothing to take.
    pub(super) empty: u64,
    /// From the cause of each event until it was taken, in nanoseconds.
    pub(super) latencies: Histogram<u32>,
}

impl Seen {
    pub(super) fn new() -> Seen {
        Seen { events: 0, returns: 0, empty: 0, latencies: waits::histogram() }
    }

    pub(super) fn add(&mut self, more: Seen) {
        self.events += more.events;
        self.returns += more.returns;
        self.empty += more.empty;
        // Their bounds are the same.
        let _ = self.latencies.add(more.latencies);
    }
}

/// Waits, takes and passes on until the cell ends.
pub(super) fn life(events: &Events, shared: &Shared<'_>, seat: &Seat<'_>) -> Result<Seen, Failure> {
    let mut waiter = shared.waiter(seat.me)?;
    let drains = waiter.drains();
    let mut seen = Seen::new();
    let mut ready: Vec<Slot> = Vec::new();
    let mut tokens = Vec::new();
    let done = seat.repeat_counted(|_| {
        let ends = waiter.wait(&mut ready)?;
        let before = seen.events;
        for &slot in &ready {
            events.take(slot, drains, &mut tokens)?;
            waiter.rearm(slot)?;
            for token in tokens.drain(..) {
                seen.events += 1;
                seen.latencies.saturating_record(events.age_ns(&token));
                events.pass_on(slot, token)?;
            }
        }
        let came = seen.events - before;
        if !ends {
            seen.returns += 1;
            seen.empty += u64::from(came == 0);
        }
        io::Result::Ok(came)
    });
    // The others wait for ever, whatever ended this one.
    shared.end();
    done.map(|()| seen)
}
