//! What a worker did, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub accepted: u64,
    /// Connections open now.
    pub open: u64,
    /// Replies sent to their end.
    pub replies: u64,
    /// Replies that ended before, because the client left, a limit was reached or the file shrank.
    pub aborted: u64,
    /// Bytes sent, those of heads included.
    pub bytes: u64,
    /// Times that accepting was paused, since descriptors ran out.
    pub pauses: u64,
    /// Lines of the log that were dropped.
    pub unlogged: u64,
}

/// Written by one worker alone, read by any thread.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub accepted: Counter,
    pub closed: Counter,
    pub replies: Counter,
    pub aborted: Counter,
    pub bytes: Counter,
    pub pauses: Counter,
    pub unlogged: Counter,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// No other thread writes: a plain load and store, without a locked instruction.
    #[inline]
    pub(crate) fn add(&self, increment: u64) {
        self.set(self.get() + increment);
    }

    #[inline]
    pub(crate) fn set(&self, count: u64) {
        self.0.store(count, Ordering::Relaxed);
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(crate) fn add_to(&self, sum: &mut Counts) {
        // Closed first: a connection that closes meanwhile counts as open, and never as less than none.
        let closed = self.closed.get();
        let accepted = self.accepted.get();
        sum.accepted += accepted;
        sum.open += accepted.saturating_sub(closed);
        sum.replies += self.replies.get();
        sum.aborted += self.aborted.get();
        sum.bytes += self.bytes.get();
        sum.pauses += self.pauses.get();
        sum.unlogged += self.unlogged.get();
    }
}
