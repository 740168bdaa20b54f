//! The time of a thread, without that in which it waits for a CPU: while a compiler runs, that is most of it, and no cost of a
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
        let Reading { now, after, .. } = Reading::new(waited);
        Stopwatch { start: now, waited: after }
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
        let Reading { before, now, .. } = Reading::new(waited);
        let waited = before.saturating_sub(self.waited);
        now.saturating_duration_since(self.start).saturating_sub(waited)
    }
}

/// The clock between two readings of how long the thread has waited. They are the same unless it was put off the CPU at each
/// try; then what lies between must not be subtracted from a time that it is no part of.
struct Reading {
    before: Duration,
    now: Instant,
    after: Duration,
}

impl Reading {
    /// By what `waited` says.
    fn new(mut waited: impl FnMut() -> Duration) -> Reading {
        const TRIES: usize = 4;
        let mut before = waited();
        let mut tries = 0;
        loop {
            let (now, after) = (Instant::now(), waited());
            tries += 1;
            if before == after || tries == TRIES {
                return Reading { before, now, after };
            }
            before = after;
        }
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
        let file = file.get_or_init(|| File::open(SCHEDSTAT).ok()).as_ref()?;
        let mut bytes = [0; 80];
        let length = read(file, &mut bytes)?;
        waited_ns(str::from_utf8(&bytes[..length]).ok()?)
    });
    Duration::from_nanos(ns.unwrap_or(0))
}

/// The second number of [`SCHEDSTAT`].
fn waited_ns(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(unix)]
fn read(file: &File, bytes: &mut [u8]) -> Option<usize> {
    use std::os::unix::fs::FileExt;
    file.read_at(bytes, 0).ok()
}

#[cfg(not(unix))]
fn read(_: &File, _: &mut [u8]) -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_the_second_number() {
        assert_eq!(waited_ns("12 345 6\n"), Some(345));
        assert_eq!(waited_ns("12"), None);
    }

    /// Reads these waits one after the other, in milliseconds; returns how many it read, too.
    fn reading(waits_ms: &[u64]) -> (Reading, usize) {
        let mut left = waits_ms.iter();
        let reading = Reading::new(|| Duration::from_millis(*left.next().expect("a wait")));
        (reading, waits_ms.len() - left.len())
    }

    #[test]
    fn the_clock_is_read_again_until_nothing_waited_meanwhile() {
        let (read, count) = reading(&[1, 4, 4, 9]);
        assert_eq!((read.before.as_millis(), read.after.as_millis(), count), (4, 4, 3));
        let (read, count) = reading(&[1, 2, 3, 4, 5, 6]);
        assert_eq!((read.before.as_millis(), read.after.as_millis(), count), (4, 5, 5));
    }

    #[test]
    fn what_waits_for_no_cpu_is_counted() {
        let stopwatch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(2));
        let (elapsed, wall) = (stopwatch.elapsed(), stopwatch.wall());
        assert!(elapsed <= wall && elapsed + stopwatch.waited() >= Duration::from_millis(2));
    }
}
