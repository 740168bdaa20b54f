//! What the execution of a plan needs besides the plan.

use crate::calibrate::Calibrated;
use crate::run::stop::Stop;

/// What the execution of a plan needs besides the plan.
#[derive(Debug)]
pub struct Settings {
    /// The clock, calibrated in this process.
    pub clock: Calibrated,
    /// Ends the run early.
    pub stop: Stop,
    mark: String,
}

impl Settings {
    /// The mark of the workers of this process, and of no other's.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Settings for this process.
    pub fn new(clock: Calibrated, stop: Stop) -> Settings {
        let mark = format!("{}-{:016x}", std::process::id(), fastrand::u64(..));
        Settings { clock, stop, mark }
    }
}
