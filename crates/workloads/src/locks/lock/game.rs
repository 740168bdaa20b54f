//! What the threads of a cell do, and when they are done.

use super::work::Work;
use crate::shared::crew::Ending;
use locks::Setup;

/// What the threads of a cell do.
pub(super) struct Game {
    pub(super) threads: u32,
    pub(super) setup: Setup,
    pub(super) inside: Work,
    pub(super) outside: Work,
    pub(super) ending: Ending,
}
