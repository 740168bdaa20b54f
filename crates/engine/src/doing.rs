//! What a process and all that it started are doing at this moment: which functions run, which system
//! calls are waited in.
//!
//! [`sample`] looks for a fraction of a second, and changes nothing: threads that run have their program
//! counters sampled, of those that wait it is asked where. It never fails. What can't be seen is told
//! in words.

mod look;
mod spots;
mod tasks;
mod words;

use look::{Look, Tap};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};
use sys::perf::Modes;

/// New threads are looked for, and samples are taken out of the kernel, so often.
const ROUND: Duration = Duration::from_millis(50);
/// Finding all threads takes some milliseconds, unless there is hardly a CPU left for it.
const FIRST_LOOK_MAX: Duration = Duration::from_secs(1);
/// Looking for new threads takes at most this part of a round.
const LOOKING: u32 = 2;

/// What was going on. `Display` tells all of it in some lines; [`summary`](Doing::summary) the most
/// important in a few words.
#[derive(Clone, Debug, Default)]
pub struct Doing {
    /// Those that ran most come first.
    programs: Vec<Program>,
    /// How many samples there were.
    samples: u64,
    took: Duration,
    /// What could not be seen, and why.
    troubles: Vec<String>,
}

/// All processes of one name.
#[derive(Clone, Debug, Default)]
struct Program {
    name: String,
    /// Whether it is what was asked about, and not only started by it.
    asked: bool,
    /// Whether it only serves the instrument.
    helper: bool,
    /// How many there were at first, and how many began meanwhile.
    processes: usize,
    later: usize,
    /// What the threads did that were there at first.
    threads: BTreeMap<Standing, usize>,
    /// How long all its threads ran.
    ran_ns: u64,
    samples: u64,
    /// Where they were, the most frequent first.
    functions: Vec<(Function, u64)>,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Runs,
    /// It could have run, but others did.
    WaitsForCpu,
    /// In this system call, which this function made.
    Waits(String, Option<Function>),
    Stopped,
    /// Nobody has waited for its end.
    Ended,
}

/// A function, or what is known in its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    name: Option<String>,
    /// Which file it is in, unless that is the program itself.
    module: Option<String>,
    /// Where in the function most samples were; where in the file, if its name is not known.
    offset: Option<u64>,
}

/// Looks for about `time` at what `roots` and all their descendants do, once they are found, and names
/// what was seen; a second at most is given to either. The first is the one that is asked about; the others may be orphans of its own.
///
/// When all is seen and before it is named, `stop` is called: it may halt them, but they have to be there.
pub fn sample(roots: &[Pid], time: Duration, stop: &dyn Fn()) -> Doing {
    sample_by(roots, time, stop, &Tap::open)
}

fn sample_by(
    roots: &[Pid],
    time: Duration,
    stop: &dyn Fn(),
    open: &dyn Fn(u32, Modes) -> io::Result<Tap>,
) -> Doing {
    let start = Instant::now();
    let mut look = Look::new(open);
    look.begin(roots, start + FIRST_LOOK_MAX);
    let end = Instant::now() + time;
    loop {
        let rest = end.saturating_duration_since(Instant::now());
        std::thread::sleep(rest.min(ROUND));
        look.take();
        if Instant::now() >= end {
            // Names are looked up while nobody competes for the CPUs.
            stop();
            return look.end(roots, start.elapsed());
        }
        look.begin(roots, Instant::now() + ROUND / LOOKING);
    }
}

#[cfg(test)]
mod tests;
