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
    accepted: AtomicU64,
    closed: AtomicU64,
    replies: AtomicU64,
    aborted: AtomicU64,
    bytes: AtomicU64,
    pauses: AtomicU64,
    unlogged: AtomicU64,
}

/// Adds where no other thread writes: a plain load and store, without a locked instruction.
#[inline]
fn add(counter: &AtomicU64, increment: u64) {
    counter.store(counter.load(Ordering::Relaxed) + increment, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn accepted(&self) {
        add(&self.accepted, 1);
    }

    pub(crate) fn closed(&self) {
        add(&self.closed, 1);
    }

    #[inline]
    pub(crate) fn replied(&self) {
        add(&self.replies, 1);
    }

    pub(crate) fn aborted(&self) {
        add(&self.aborted, 1);
    }

    #[inline]
    pub(crate) fn sent(&self, bytes: usize) {
        add(&self.bytes, bytes as u64);
    }

    pub(crate) fn paused(&self) {
        add(&self.pauses, 1);
    }

    pub(super) fn set_unlogged(&self, lines: u64) {
        self.unlogged.store(lines, Ordering::Relaxed);
    }

    pub(crate) fn add_to(&self, sum: &mut Counts) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Closed first: a connection that closes meanwhile counts as open, and never as less than none.
        let closed = read(&self.closed);
        let accepted = read(&self.accepted);
        sum.accepted += accepted;
        sum.open += accepted.saturating_sub(closed);
        sum.replies += read(&self.replies);
        sum.aborted += read(&self.aborted);
        sum.bytes += read(&self.bytes);
        sum.pauses += read(&self.pauses);
        sum.unlogged += read(&self.unlogged);
    }
}
