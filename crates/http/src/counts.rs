//! The counts of a server.

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
