//! The samples of one worker and of all that it starts.

use rustix::process::Pid;
use stacks::{ProfileLimit, Profiler, SampledStacks};
use std::io;
use std::time::Duration;

/// The kernel's buffers are emptied this often, before they overflow.
pub(super) const TAKE_INTERVAL: Duration = Duration::from_millis(20);

/// Samples a worker from before it has its order.
pub(crate) struct WorkerSampler {
    frequency_hz: u64,
    profiler: Option<Profiler>,
    /// Processes that could not be added.
    hidden: Vec<ProfileLimit>,
}

impl WorkerSampler {
    /// Samples each running thread so often a second.
    pub fn new(frequency_hz: u64) -> WorkerSampler {
        WorkerSampler { frequency_hz, profiler: None, hidden: Vec::new() }
    }

    /// Begins with this process.
    pub fn start(&mut self, worker: Pid) -> io::Result<()> {
        let profiler = Profiler::start(worker, self.frequency_hz).map_err(io::Error::other)?;
        self.profiler = Some(profiler);
        Ok(())
    }

    /// Adds a process that runs already, with its threads.
    pub fn attach(&mut self, pid: Pid) {
        if let Some(profiler) = &mut self.profiler
            && let Err(error) = profiler.attach(pid)
        {
            let program = sys::proc::comm(pid.as_raw_pid()).unwrap_or_else(|_| pid.to_string());
            self.hidden.push(ProfileLimit::ProcessHidden { program, error: error.to_string() });
        }
    }

    /// Empties the kernel's buffers.
    pub fn take(&mut self) {
        if let Some(profiler) = &mut self.profiler {
            profiler.take();
        }
    }

    /// Samples nothing more: whatever runs from now on is no part of the cell.
    pub fn stop(&mut self) {
        if let Some(profiler) = &mut self.profiler {
            profiler.stop();
        }
    }

    /// Ends, and names the samples of the times that are wanted; none where it did not begin.
    pub fn finish(self, wanted: &dyn Fn(u64) -> bool) -> Option<SampledStacks> {
        let mut sampled = self.profiler?.finish(wanted);
        sampled.limits.extend(self.hidden);
        Some(sampled)
    }
}
