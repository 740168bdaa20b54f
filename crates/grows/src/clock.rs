//! The time of a thread, without that in which it waits for a CPU: beside a compiler that is most of it, and no cost of a
//! function.

use std::cell::OnceCell;
use std::fs::File;
use std::time::{Duration, Instant};

/// What the kernel keeps for the calling thread: nanoseconds on a CPU, nanoseconds of waiting for one, and turns.
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

/// How often it was put off a CPU that it did not leave, among others.
const STATUS: &str = "/proc/thread-self/status";
const PREEMPTED: &str = "nonvoluntary_ctxt_switches:";

thread_local! {
    static FILE: OnceCell<Option<File>> = const { OnceCell::new() };
}

/// A stopwatch of the calling thread.
pub struct Stopwatch {
    start: Instant,
    waited: Duration,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        let waited = waited();
        Stopwatch { start: Instant::now(), waited }
    }

    /// The time since the start, whatever happened.
    pub fn wall(&self) -> Duration {
        self.start.elapsed()
    }

    /// How long the thread has waited for a CPU since the start.
    pub fn waited(&self) -> Duration {
        waited().saturating_sub(self.waited)
    }

    /// The time since the start in which the thread did not wait for a CPU.
    pub fn elapsed(&self) -> Duration {
        let wall = self.wall();
        wall.saturating_sub(self.waited())
    }
}

/// How often another thread has taken the CPU of the calling one; 0 where the system does not say.
pub fn preemptions() -> u64 {
    let status = std::fs::read_to_string(STATUS).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix(PREEMPTED));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// How long the calling thread has waited for a CPU; zero where the system does not say.
fn waited() -> Duration {
    let ns = FILE.with(|file| {
        let file = file.get_or_init(|| File::open(SCHEDSTAT).ok());
        file.as_ref().and_then(read)
    });
    Duration::from_nanos(ns.unwrap_or(0))
}

#[cfg(unix)]
fn read(file: &File) -> Option<u64> {
    use std::os::unix::fs::FileExt;
    let mut bytes = [0; 80];
    let length = file.read_at(&mut bytes, 0).ok()?;
    str::from_utf8(&bytes[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(not(unix))]
fn read(_: &File) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_no_cpu_is_counted() {
        let stopwatch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(2));
        let (elapsed, wall) = (stopwatch.elapsed(), stopwatch.wall());
        assert!(elapsed <= wall && elapsed + stopwatch.waited() >= Duration::from_millis(2));
    }
}
