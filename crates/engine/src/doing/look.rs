//! Looking at threads while it goes on: a clock on each, its samples by place, and what it all comes to.

use super::spots::{Files, Place, Spot};
use super::tasks::{Found, Process, Task, ran_ns};
use super::{Doing, Function, Program, Standing};
use rustix::io::Errno;
use rustix::process::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};
use sys::perf::{Counter, Event, Modes, Ring, counters};

/// Between two samples of a thread that runs; odd, so that it keeps no step with what it looks at.
pub(super) const PERIOD_NS: u64 = 997_000;
/// So many threads are sampled. Each takes a descriptor, and two pages of memory that stays.
const TAPS_MAX: usize = 256;
/// A thread that mostly waits runs for less than this share of the time.
pub(super) const WORTH: f64 = 0.05;
/// Fewer samples in the kernel, or less than the share above, are not worth its long list of functions.
const KERNEL_SAMPLES_MIN: u64 = 5;
/// So many functions of a program are told.
const FUNCTIONS_MAX: usize = 5;

/// A thread's clock, and the ring that its samples go to.
pub(super) struct Tap {
    /// Unmapped before the event is closed.
    ring: Ring,
    event: Event,
}

impl Tap {
    pub fn open(tid: u32, modes: Modes) -> io::Result<Tap> {
        let event = Event::cpu_clock(tid, PERIOD_NS, modes)?;
        let ring = Ring::new(&event, 1).map_err(|error| {
            let what = "no more memory may be locked (kernel.perf_event_mlock_kb)";
            io::Error::other(format!("{what}: {error}"))
        })?;
        event.enable()?;
        Ok(Tap { ring, event })
    }
}

pub(super) struct Look<'a> {
    open: &'a dyn Fn(u32, Modes) -> io::Result<Tap>,
    found: Found,
    files: Files,
    /// One for each thread that was found, in their order.
    watched: Vec<Watched>,
    taps: usize,
    lost: u64,
    /// How many threads may be sampled in their program only, how many not at all, and why.
    user_only: usize,
    denied: usize,
    denial: Option<io::Error>,
    /// Why no more threads can be sampled.
    full: Option<String>,
}

#[derive(Default)]
struct Watched {
    tap: Option<Tap>,
    hits: BTreeMap<Spot, u64>,
    waits_at: Option<Spot>,
}

impl<'a> Look<'a> {
    pub fn new(open: &'a dyn Fn(u32, Modes) -> io::Result<Tap>) -> Self {
        Look {
            open,
            found: Found::default(),
            files: Files::default(),
            watched: Vec::new(),
            taps: 0,
            lost: 0,
            user_only: 0,
            denied: 0,
            denial: None,
            full: None,
        }
    }

    /// Looks for threads that are not known yet, and puts a clock on each: first on those that run.
    pub fn begin(&mut self, roots: &[Pid], until: Instant) {
        self.found.look(roots, until);
        let new = self.watched.len()..self.found.tasks.len();
        self.watched.resize_with(new.end, Watched::default);
        let (run, wait): (Vec<usize>, Vec<usize>) =
            new.clone().partition(|&index| self.found.tasks[index].state == 'R');
        for index in run.into_iter().chain(wait) {
            self.watched[index].tap = self.tap(self.found.tasks[index].tid);
        }
        let mut seen = None;
        for index in new {
            let Task { process, waits, .. } = &self.found.tasks[index];
            let Some(counter) = waits.as_ref().and_then(|wait| wait.counter) else { continue };
            let Process { pid, program, memory, .. } = &mut self.found.processes[*process];
            // The threads of a process follow each other.
            if seen.replace(*pid) != Some(*pid) {
                memory.look_again(*pid);
            }
            let spot = self.files.spot(*pid, program, memory, Counter::User(counter));
            self.watched[index].waits_at = Some(spot);
        }
    }

    fn tap(&mut self, tid: u32) -> Option<Tap> {
        if self.full.is_some() {
            return None;
        }
        if self.taps >= TAPS_MAX {
            self.full = Some("knee samples no more".into());
            return None;
        }
        let mut tap = (self.open)(tid, Modes::All);
        if tap.as_ref().is_err_and(is_denial) {
            tap = (self.open)(tid, Modes::User);
            self.user_only += usize::from(tap.is_ok());
        }
        self.taps += usize::from(tap.is_ok());
        let error = match tap {
            Ok(tap) => return Some(tap),
            Err(error) => error,
        };
        match Errno::from_io_error(&error) {
            // It has ended.
            Some(Errno::SRCH) => {}
            Some(Errno::MFILE | Errno::NFILE) => {
                self.full = Some("no more descriptors may be open (ulimit -n)".into());
            }
            None => self.full = Some(error.to_string()),
            Some(_) => {
                self.denied += 1;
                self.denial = Some(error);
            }
        }
        None
    }

    /// Takes the samples that have come, and sees in which files they are while the processes live.
    pub fn take(&mut self) {
        let mut bytes = Vec::new();
        let mut seen = None;
        for (task, watched) in self.found.tasks.iter().zip(&mut self.watched) {
            let Some(tap) = &mut watched.tap else { continue };
            bytes.clear();
            tap.ring.take(&mut bytes);
            let (counters, lost) = counters(&bytes);
            self.lost += lost;
            let Process { pid, program, memory, .. } = &mut self.found.processes[task.process];
            if !counters.is_empty() && seen.replace(*pid) != Some(*pid) {
                memory.look_again(*pid);
            }
            for counter in counters {
                let spot = self.files.spot(*pid, program, memory, counter);
                *watched.hits.entry(spot).or_default() += 1;
            }
        }
    }

    /// Puts together what was seen.
    pub fn end(mut self, roots: &[Pid], took: Duration) -> Doing {
        for watched in &mut self.watched {
            // Sampling is over before symbols are looked up, which takes longer.
            if let Some(tap) = watched.tap.take() {
                let _ = tap.event.disable();
            }
        }
        let ran_ns: Vec<u64> = (0..self.watched.len()).map(|index| self.ran_ns(index)).collect();
        let all = || self.watched.iter().flat_map(|watched| &watched.hits);
        let samples: u64 = all().map(|(_, count)| count).sum();
        let in_kernel = all().filter(|(spot, _)| matches!(spot, Spot::Kernel(_)));
        let in_kernel: u64 = in_kernel.map(|(_, count)| count).sum();
        let troubles = self.troubles(samples);

        let waits = self.watched.iter().filter_map(|watched| watched.waits_at.as_ref());
        let spots: BTreeSet<Spot> = all().map(|(spot, _)| spot).chain(waits).cloned().collect();
        let files = std::mem::take(&mut self.files);
        let kernel = in_kernel >= KERNEL_SAMPLES_MIN && in_kernel as f64 >= WORTH * samples as f64;
        let places = files.places(&spots, kernel);
        let programs = self.programs(roots.first(), took, &ran_ns, &places);
        Doing { programs, samples, took, troubles }
    }

    /// How long a thread ran: by the kernel's account of it, or by its samples where it has gone.
    fn ran_ns(&self, index: usize) -> u64 {
        let task = &self.found.tasks[index];
        let now = ran_ns(self.found.processes[task.process].pid, task.tid);
        let by_account = now.zip(task.ran_ns).map(|(now, then)| now.saturating_sub(then));
        by_account.unwrap_or_else(|| PERIOD_NS * self.watched[index].hits.values().sum::<u64>())
    }

    fn programs(
        &self,
        first: Option<&Pid>,
        took: Duration,
        ran_ns: &[u64],
        places: &BTreeMap<Spot, Place>,
    ) -> Vec<Program> {
        let mut programs = Vec::new();
        let mut hits: Vec<Hits> = Vec::new();
        let mut counted = BTreeSet::new();
        for ((task, watched), &ran_ns) in self.found.tasks.iter().zip(&self.watched).zip(ran_ns) {
            let process = &self.found.processes[task.process];
            let index = program_of(process, first, &mut programs);
            hits.resize_with(programs.len(), Hits::new);
            let program = &mut programs[index];
            program.ran_ns += ran_ns;
            if counted.insert(task.process) {
                *(if task.later { &mut program.later } else { &mut program.processes }) += 1;
            }
            if !task.later {
                let at = watched.waits_at.as_ref().map(|spot| function(spot, process, places));
                let standing = standing(task, at, ran_ns, took);
                *program.threads.entry(standing).or_default() += 1;
            }
            for (spot, count) in &watched.hits {
                let (function, offset) = function(spot, process, places);
                *hits[index].entry(function).or_default().entry(offset).or_default() += count;
                program.samples += count;
            }
        }
        for (program, hits) in programs.iter_mut().zip(hits) {
            program.functions = most_frequent(hits);
        }
        programs.sort_by_key(|program| std::cmp::Reverse(program.ran_ns));
        programs
    }

    /// What could not be seen, and why.
    fn troubles(&self, samples: u64) -> Vec<String> {
        let mut troubles = Vec::new();
        let watched = self.found.tasks.len();
        if self.found.more {
            troubles.push(format!("Only the first {watched} threads were looked at."));
        }
        if let Some(why) = &self.full {
            troubles.push(format!("{} threads were sampled of {watched}: {why}.", self.taps));
        }
        if let Some(error) = &self.denial {
            let (denied, why) = (self.denied, why_denied(error));
            troubles.push(format!("{denied} of {watched} threads could not be sampled: {why}"));
        }
        if self.user_only > 0 {
            let level = perf_level().unwrap_or_else(|| "it is not allowed".into());
            let remedy = "sudo sysctl kernel.perf_event_paranoid=1";
            troubles.push(format!("Nothing was sampled in the kernel: {level} → {remedy}"));
        }
        if self.lost > 0 {
            troubles.push(format!("{} samples were lost besides {samples}.", self.lost));
        }
        troubles
    }
}

fn is_denial(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn why_denied(error: &io::Error) -> String {
    if !is_denial(error) {
        return format!("perf_event_open: {error}");
    }
    match perf_level() {
        Some(level) => format!("{error} ({level}, or a sandbox, or another's) → run as root"),
        None => format!("{error} (this kernel has no perf events)"),
    }
}

/// What the kernel allows whom.
fn perf_level() -> Option<String> {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    Some(format!("kernel.perf_event_paranoid is {}", level.trim()))
}

/// Samples by function, and by the place in it.
type Hits = BTreeMap<Function, BTreeMap<Option<u64>, u64>>;

/// The one of `programs` that a process belongs to, by its place in them.
fn program_of(process: &Process, first: Option<&Pid>, programs: &mut Vec<Program>) -> usize {
    let asked = first.is_some_and(|pid| pid.as_raw_pid().cast_unsigned() == process.pid);
    let same = |program: &Program| (&program.name, program.asked) == (&process.name, asked);
    programs.iter().position(same).unwrap_or_else(|| {
        let (name, helper) = (process.name.clone(), process.helper);
        programs.push(Program { name, asked, helper, ..Program::default() });
        programs.len() - 1
    })
}

/// What a thread did, that waits `at` a function if it waits.
fn standing(
    task: &Task,
    at: Option<(Function, Option<u64>)>,
    ran_ns: u64,
    took: Duration,
) -> Standing {
    let share = ran_ns as f64 / took.as_nanos() as f64;
    match task.state {
        'R' if ran_ns > 0 || task.ran_ns.is_none() => Standing::Runs,
        _ if share >= WORTH => Standing::Runs,
        'R' => Standing::WaitsForCpu,
        'T' | 't' => Standing::Stopped,
        'Z' | 'X' => Standing::Ended,
        _ => {
            let call = task.waits.as_ref().map(|wait| wait.call.clone());
            let at = at.map(|(function, offset)| Function { offset, ..function });
            Standing::Waits(call.unwrap_or_else(|| "a place that is not told".into()), at)
        }
    }
}

/// The function at a spot, without its place in it, and that.
fn function(
    spot: &Spot,
    process: &Process,
    places: &BTreeMap<Spot, Place>,
) -> (Function, Option<u64>) {
    let plain = |name: &str| Function { name: Some(name.into()), module: None, offset: None };
    let place = match (spot, places.get(spot)) {
        (Spot::Elsewhere(what), _) => return (plain(what), None),
        (Spot::Kernel(_), Some(Place { name: None, .. })) | (_, None) => {
            return (plain("the kernel"), None);
        }
        (_, Some(place)) => place,
    };
    let module = match &place.file {
        None => Some("kernel".to_owned()),
        Some((path, _)) if *path == process.program && place.name.is_some() => None,
        Some((_, module)) => Some(module.clone()),
    };
    (Function { name: place.name.clone(), module, offset: None }, place.offset)
}

/// The functions with most samples, each with the offset that most of them have.
fn most_frequent(hits: Hits) -> Vec<(Function, u64)> {
    let sum = |(function, offsets): (Function, BTreeMap<Option<u64>, u64>)| {
        let most = offsets.iter().max_by_key(|(_, count)| **count);
        let offset = most.and_then(|(offset, _)| *offset);
        (Function { offset, ..function }, offsets.values().sum())
    };
    let mut functions: Vec<(Function, u64)> = hits.into_iter().map(sum).collect();
    functions.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    functions.truncate(FUNCTIONS_MAX);
    functions
}
