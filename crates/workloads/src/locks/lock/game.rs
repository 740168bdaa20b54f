//! What the threads of a cell do, and when they are done.

use super::work::Work;
use locks::Setup;
use std::time::Duration;

/// What the threads of a cell do.
pub(super) struct Game {
    pub(super) threads: u32,
    pub(super) setup: Setup,
    pub(super) inside: Work,
    pub(super) outside: Work,
    pub(super) ending: Ending,
}

/// What ends a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// So much time.
    After(Duration),
    /// So many acquisitions of each thread.
    Done(u64),
}

impl Ending {
    /// Half of it.
    pub(super) fn half(self) -> Ending {
        match self {
            Ending::After(time) => Ending::After(time / 2),
            Ending::Done(each) => Ending::Done(each.div_ceil(2)),
        }
    }
}
