//! The clocks of a profile: one on each CPU, and the rings that they write to.

use super::error::{ProfileError, perf_level};
use crate::threads::THREADS_MAX;
use model::SampledEvent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use std::collections::BTreeSet;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use sys::perf::{CountedEvent, Counter, Event, Modes, Ring, SampleClock, Sampling, Target};

/// The size of a ring's data for a thousand samples a second. At higher rates it is larger, up to a limit.
const RING_PAGES: usize = 128;
const RING_PAGES_MAX: usize = 2048;
/// A smaller ring than this loses samples before it is emptied.
const RING_PAGES_MIN: usize = 8;
const PAGE_BYTES: usize = 4096;

/// Of a ring that takes switches of threads, too: a CPU makes some hundred thousand a second, of a kilobyte at the most
/// each. All of them together have a limit.
const RING_PAGES_OF_SWITCHES: usize = 2048;
const RING_PAGES_OF_ALL: usize = 1 << 15;

/// The CPU works for this time before its cycles are counted, so that it has left its idle speed, and then for as long.
const WARM_UP: Duration = Duration::from_millis(5);

/// A ring is full after this time at the earliest.
const RING_S: f64 = 0.25;
/// The best priority of a thread that is no real-time one.
const NICE_MIN: i32 = -20;
/// The kernel says when half of it is full; not of a thread that has ended, though its descendants write on. From then on
/// all are looked at this often.
const LOOKED_AT_AFTER: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
/// Bytes of a program's stack in the sample of a clock: of most programs all of it. Where rings are small, it is less.
const STACK_BYTES_MAX: u32 = 8192;
const STACK_BYTES_MIN: u32 = 512;
/// And in that of a switch; there are many more of these: enough to leave the C library.
const STACK_BYTES_OF_SWITCHES: u32 = 512;
/// A sample has as much besides the stack at the most: the call chain.
const OTHER_BYTES_MAX: f64 = 1024.0;

pub(crate) type Open<'a> = &'a dyn Fn(Target, Sampling) -> io::Result<Event>;

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All that runs, of which the followed processes are taken. Nothing is added to a process.
    System,
    /// Threads that were named, and what they start: each has its own clocks, and hands them on.
    Descent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub scope: Scope,
    pub sampling: Sampling,
}

pub(super) struct Clocks {
    pub setting: Setting,
    cpus: Arc<[CpuClock]>,
    rings: Arc<Mutex<Rings>>,
    /// Whatever empties the rings ends when this is closed.
    emptied: Option<PipeWriter>,
    /// The clocks of threads that were attached later: they write to the rings of [`Clocks::cpus`].
    attached: Vec<Event>,
    /// The tracepoints and switches of each CPU, which write to its ring.
    tracepoints: Vec<Event>,
    threads: BTreeSet<u32>,
    /// Threads that are given clocks at most.
    pub threads_max: usize,
    /// Whether they were disabled for good.
    is_over: bool,
}

struct CpuClock {
    event: Event,
    cpu: u32,
}

/// The ring of each clock, and what came out of them.
struct Rings {
    each: Vec<Ring>,
    bytes: Vec<u8>,
}

impl Rings {
    fn empty(&mut self) {
        for ring in &mut self.each {
            ring.take(&mut self.bytes);
        }
    }
}

impl Clocks {
    /// Opens the clocks for the thread `root`: the best that this system allows. They do not run yet.
    ///
    /// A sample stands for a fixed number of cycles, which is what `cycles_per_s` makes of a fixed time; none where cycles
    /// can't be counted.
    pub fn open_with(
        root: u32,
        frequency_hz: u64,
        cycles_per_s: Option<f64>,
        open: Open<'_>,
    ) -> Result<Clocks, ProfileError> {
        let frequency_hz = frequency_hz.max(1);
        let cpu_time = SampleClock::CpuTime { period_ns: 1_000_000_000 / frequency_hz };
        let cycles = cycles_per_s
            .map(|cycles| SampleClock::Cycles { period: (cycles / frequency_hz as f64) as u64 });
        let clocks: Vec<SampleClock> = cycles.into_iter().chain([cpu_time]).collect();
        let scopes = [
            (Scope::System, Modes::All),
            (Scope::Descent, Modes::All),
            (Scope::Descent, Modes::User),
        ];
        let mut refusal = None;
        for (scope, modes) in scopes {
            let pages = ring_pages(frequency_hz, scope);
            let stack_bytes = stack_bytes(frequency_hz, pages);
            for &clock in &clocks {
                let setting = Setting { scope, sampling: Sampling { clock, modes, stack_bytes } };
                let error = match open_all(root, setting, open) {
                    Ok(events) => return Clocks::new(setting, root, events, pages),
                    Err(error) => error,
                };
                match Errno::from_io_error(&error) {
                    // The next scope may be allowed.
                    Some(Errno::ACCESS | Errno::PERM) => {
                        refusal = Some(error);
                        break;
                    }
                    Some(errno) if Some(clock) == cycles && has_no_counter(errno) => {}
                    _ => return Err(refused(&error, root)),
                }
            }
        }
        Err(refusal.map_or(ProfileError::NoPerfEvents, |error| refused(&error, root)))
    }

    fn new(
        setting: Setting,
        root: u32,
        events: Vec<(u32, Event)>,
        pages: usize,
    ) -> Result<Clocks, ProfileError> {
        let each =
            largest_rings(&events, pages).map_err(|error| ProfileError::from_ring(&error))?;
        Ok(Clocks {
            setting,
            cpus: events.into_iter().map(|(cpu, event)| CpuClock { event, cpu }).collect(),
            rings: Arc::new(Mutex::new(Rings { each, bytes: Vec::new() })),
            emptied: None,
            attached: Vec::new(),
            tracepoints: Vec::new(),
            threads: BTreeSet::from([root]),
            threads_max: THREADS_MAX,
            is_over: false,
        })
    }

    /// Also records each passage of these tracepoints on every CPU, and each thread that gets it.
    ///
    /// # Errors
    /// The system does not allow that, or only threads are sampled.
    pub fn add_tracepoints(&mut self, ids: &[u64]) -> io::Result<()> {
        if self.setting.scope != Scope::System {
            return Err(Errno::PERM.into());
        }
        let mut events = Vec::new();
        for CpuClock { event: clock, cpu } in &*self.cpus {
            let tracepoint = |&id| Event::tracepoint_on_cpu(id, *cpu, STACK_BYTES_OF_SWITCHES);
            for event in ids.iter().map(tracepoint).chain([Event::switches_on_cpu(*cpu)]) {
                let event = event?;
                event.share(clock)?;
                events.push(event);
            }
        }
        self.tracepoints = events;
        Ok(())
    }

    /// From now on they run, and a thread empties their rings: the first look at records reads the tables of the
    /// programs, which takes longer than a ring lasts.
    pub fn enable(&mut self) -> Result<(), ProfileError> {
        let refused = |error: io::Error| ProfileError::System(error.to_string());
        let (ended, emptied) = io::pipe().map_err(refused)?;
        let (rings, cpus) = (Arc::clone(&self.rings), Arc::clone(&self.cpus));
        thread::Builder::new().spawn(move || empty(&rings, &cpus, &ended)).map_err(refused)?;
        self.emptied = Some(emptied);
        let mut events = self.cpus.iter().map(|clock| &clock.event).chain(&self.tracepoints);
        events.try_for_each(Event::enable).map_err(refused)
    }

    /// Whether each thread needs clocks of its own, or of the thread that started it.
    pub fn are_of_threads(&self) -> bool {
        self.setting.scope == Scope::Descent && !self.is_over
    }

    /// Whether a thread was given clocks.
    pub fn has(&self, tid: u32) -> bool {
        self.threads.contains(&tid)
    }

    /// Also samples these threads, which have no clocks yet. Says how many were too many.
    pub fn attach(&mut self, pid: u32, threads: &[u32]) -> Result<usize, ProfileError> {
        let free = self.threads_max.saturating_sub(self.threads.len());
        let (attached, excess) = threads.split_at(free.min(threads.len()));
        for &tid in attached {
            self.attach_thread(tid).map_err(|error| refused(&error, pid))?;
        }
        Ok(excess.len())
    }

    fn attach_thread(&mut self, tid: u32) -> io::Result<()> {
        for clock in &*self.cpus {
            let target = Target::Descent { tid, cpu: clock.cpu };
            let event = match Event::clock(target, self.setting.sampling) {
                Ok(event) => event,
                // It has ended.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => return Ok(()),
                Err(error) => return Err(error),
            };
            event.share(&clock.event)?;
            event.enable()?;
            self.attached.push(event);
        }
        self.threads.insert(tid);
        Ok(())
    }

    /// They no longer run, for good. What is in their rings stays.
    pub fn disable(&mut self) {
        (self.is_over, self.emptied) = (true, None);
        let clocks = self.cpus.iter().map(|clock| &clock.event);
        for event in clocks.chain(&self.attached).chain(&self.tracepoints) {
            // It can only fail where nothing comes anyway.
            let _ = event.disable();
        }
    }

    /// Appends what has come since the last call, in the order of each CPU.
    pub fn take(&self, bytes: &mut Vec<u8>) {
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        rings.empty();
        bytes.append(&mut rings.bytes);
    }

    pub fn event(&self) -> SampledEvent {
        match self.setting.sampling.clock {
            SampleClock::CpuTime { .. } => SampledEvent::CpuClock,
            SampleClock::Cycles { .. } => SampledEvent::Cycles,
        }
    }
}

/// Empties the rings of `cpus` as they fill, until `ended` is closed on its other side.
fn empty(rings: &Mutex<Rings>, cpus: &[CpuClock], ended: &PipeReader) {
    // A ring fills while others have the CPUs. Without the right to a higher priority, this thread waits like them.
    let _ = setpriority_process(Some(gettid()), NICE_MIN);
    let of_end = [PollFd::new(ended, PollFlags::IN)];
    let of_rings = cpus.iter().map(|clock| PollFd::new(&clock.event, PollFlags::IN));
    let (mut watched, mut after): (Vec<PollFd<'_>>, _) =
        (of_end.into_iter().chain(of_rings).collect(), None);
    loop {
        let failed = poll(&mut watched, after.as_ref()).is_err_and(|errno| errno != Errno::INTR);
        if failed || !watched[0].revents().is_empty() {
            return;
        }
        let is_over =
            |event: &PollFd<'_>| event.revents().intersects(PollFlags::HUP | PollFlags::ERR);
        if watched.iter().any(is_over) {
            after = Some(LOOKED_AT_AFTER);
            watched.truncate(1);
        }
        rings.lock().unwrap_or_else(PoisonError::into_inner).empty();
    }
}

fn open_all(
    root: u32,
    Setting { scope, sampling }: Setting,
    open: Open<'_>,
) -> io::Result<Vec<(u32, Event)>> {
    let mut events = Vec::new();
    for cpu in online_cpus() {
        let target = match scope {
            Scope::System => Target::Cpu(cpu),
            Scope::Descent => Target::Descent { tid: root, cpu },
        };
        match open(target, sampling) {
            Ok(event) => events.push((cpu, event)),
            // It went offline just now.
            Err(error)
                if Errno::from_io_error(&error) == Some(Errno::NODEV) && !events.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(events)
}

/// Cycles of a second of CPU time at the speed that a busy CPU has now; none where they can't be counted.
pub(super) fn cycles_per_s() -> Option<f64> {
    let start = |event| Counter::start(event, Modes::User).ok();
    let (cycles, cpu_time) = (start(CountedEvent::Cycles)?, start(CountedEvent::CpuTime)?);
    spin();
    let (cycles_before, ns_before) = (cycles.read().ok()?, cpu_time.read().ok()?);
    spin();
    let counted = cycles.read().ok()?.since(cycles_before)?;
    let ns = cpu_time.read().ok()?.since(ns_before)?;
    (counted > 0 && ns > 0).then(|| counted as f64 * 1e9 / ns as f64)
}

fn spin() {
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        std::hint::spin_loop();
    }
}

/// Whether this answer means that there is no counter of cycles, or none for this use.
fn has_no_counter(errno: Errno) -> bool {
    [Errno::NOENT, Errno::OPNOTSUPP, Errno::NODEV, Errno::INVAL, Errno::BUSY].contains(&errno)
}

fn refused(error: &io::Error, pid: u32) -> ProfileError {
    ProfileError::from_open(error, pid, perf_level(), rustix::process::geteuid().is_root())
}

/// The pages of a ring at this rate.
fn ring_pages(frequency_hz: u64, scope: Scope) -> usize {
    let pages = usize::try_from(frequency_hz).unwrap_or(usize::MAX) / 1000;
    let pages = pages.saturating_add(1).saturating_mul(RING_PAGES).min(RING_PAGES_MAX);
    let pages = pages.next_power_of_two();
    if scope == Scope::Descent {
        return pages;
    }
    let each = (RING_PAGES_OF_ALL / online_cpus().len().max(1)).max(1);
    pages.max(RING_PAGES_OF_SWITCHES.min(1 << each.ilog2()))
}

/// Bytes of a program's stack in each sample, so that a ring of `pages` is not full too soon.
fn stack_bytes(frequency_hz: u64, pages: usize) -> u32 {
    let bytes = (pages * PAGE_BYTES) as f64 / (frequency_hz as f64 * RING_S) - OTHER_BYTES_MAX;
    let bytes = (bytes as u32).clamp(STACK_BYTES_MIN, STACK_BYTES_MAX);
    bytes - bytes % 8
}

/// A ring for each event, all of one size: what a user may lock is shared by them.
fn largest_rings(events: &[(u32, Event)], mut pages: usize) -> io::Result<Vec<Ring>> {
    let is_too_much = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory)
    };
    loop {
        match events.iter().map(|(_, event)| Ring::new(event, pages)).collect() {
            Err(error) if is_too_much(&error) && pages > RING_PAGES_MIN => pages /= 2,
            result => return result,
        }
    }
}

fn online_cpus() -> Vec<u32> {
    // std's number of CPUs is smaller under a CPU quota.
    let allowed = || sys::cpus::allowed().unwrap_or_else(|_| vec![0]);
    let cpus = sys::cpus::online().unwrap_or_else(allowed);
    cpus.into_iter().map(|cpu| cpu as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::start;
    use rustix::process::{Pid, Signal};
    use std::cell::RefCell;
    use std::io::BufRead;
    use std::process::Command;

    #[test]
    fn rings_grow_with_the_rate() {
        let pages = |hz| ring_pages(hz, Scope::Descent);
        assert_eq!([1, 997, 1_000, 9_973, 1 << 40].map(pages), [128, 128, 256, 2048, 2048]);
        let bytes = [(997, 2048), (997, 128), (9_973, 2048), (9_973, 64)];
        let bytes = bytes.map(|(hz, pages)| stack_bytes(hz, pages));
        assert_eq!(bytes, [8192, 1072, 2336, 512]);
    }

    #[test]
    fn a_busy_cpu_has_a_speed_where_its_cycles_are_counted() {
        let Some(cycles) = cycles_per_s() else {
            return eprintln!("SKIPPED: no counter of cycles");
        };
        assert!((1e8..2e10).contains(&cycles), "{cycles}");
    }

    #[test]
    fn rings_are_emptied_as_they_fill_and_after_their_thread_has_ended() {
        let of_thread = |target, sampling| match target {
            Target::Cpu(_) => Err(Errno::ACCESS.into()),
            target @ Target::Descent { .. } => Event::clock(target, sampling),
        };
        for open in [&Event::clock as Open<'_>, &of_thread] {
            let mut shell = Command::new("sh");
            // What it starts is sampled, too, and is busy when it has ended itself.
            shell.args(["-c", "read go; while :; do :; done & echo $!"]);
            let (mut shell, mut out) = start(&mut shell);
            let clocks = Clocks::open_with(shell.0.id(), 9_973, None, open);
            let Ok(mut clocks) = clocks else { return eprintln!("SKIPPED: nothing is sampled") };
            clocks.enable().unwrap();
            shell.go();
            let mut busy = String::new();
            out.read_line(&mut busy).unwrap();
            shell.0.wait().unwrap();
            let pages = ring_pages(9_973, clocks.setting.scope);
            let end = Instant::now() + Duration::from_secs(60);
            let emptied = || clocks.rings.lock().unwrap().bytes.len();
            while emptied() < 2 * pages * PAGE_BYTES && Instant::now() < end {
                thread::sleep(Duration::from_millis(20));
            }
            let busy = busy.trim().parse().ok().and_then(Pid::from_raw).unwrap();
            rustix::process::kill_process(busy, Signal::KILL).unwrap();
            assert!(emptied() >= 2 * pages * PAGE_BYTES, "{} bytes", emptied());
        }
    }

    #[test]
    fn the_best_that_is_allowed_is_used() {
        // A kernel that refuses all but a program's own part, and has no counter of cycles.
        let tried = RefCell::new(Vec::new());
        let refusing = |target, Sampling { clock, modes, .. }: Sampling| {
            let scope = match target {
                Target::Cpu(_) => Scope::System,
                Target::Descent { .. } => Scope::Descent,
            };
            tried.borrow_mut().push((scope, modes, clock));
            match (modes, clock) {
                (Modes::All, _) => Err(Errno::ACCESS.into()),
                (_, SampleClock::Cycles { .. }) => Err(Errno::NOENT.into()),
                _ => Err(Errno::MFILE.into()),
            }
        };
        let open =
            |cycles_per_s, open| Clocks::open_with(std::process::id(), 1000, cycles_per_s, open);
        let error = open(Some(3e9), &refusing).err();
        assert_eq!(error, Some(ProfileError::DescriptorLimit));
        let cycles = SampleClock::Cycles { period: 3_000_000 };
        let clock = SampleClock::CpuTime { period_ns: 1_000_000 };
        let wanted = [
            (Scope::System, Modes::All, cycles),
            (Scope::Descent, Modes::All, cycles),
            (Scope::Descent, Modes::User, cycles),
            (Scope::Descent, Modes::User, clock),
        ];
        assert_eq!(tried.take(), wanted);
        assert!(open(None, &refusing).is_err());
        let is_cycles = |clock| matches!(clock, SampleClock::Cycles { .. });
        assert!(tried.take().into_iter().all(|(_, _, clock)| !is_cycles(clock)), "no counter");
        let refused = |_, _| Err(Errno::PERM.into());
        let error = open(Some(3e9), &refused).err().unwrap();
        assert!(
            matches!(
                error,
                ProfileError::Sandboxed | ProfileError::Forbidden(_) | ProfileError::NoPerfEvents
            ),
            "{error}"
        );
    }
}
