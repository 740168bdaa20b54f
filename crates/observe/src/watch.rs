//! Watching a process in looks: its threads' waits are traced until that has cost the busiest of
//! them what it may, then everything is detached, and it is left alone for a while.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::geteuid;
use sys::clock::Clock;

use crate::calls::{self, Call, Entered, Key, Service};
use crate::error::Error;
use crate::observation::{Remark, THREADS_MAX};
use crate::process::{Entry, Process, triggers};
use crate::ready::{self, Interest};
use crate::records::Record;
use crate::sizes;
use crate::tally::{Size, Tally};
use crate::tap::{Tap, Thread};
use crate::tracefs::Tracepoints;

const MS: u64 = 1_000_000;

/// What tracing one wait costs the thread that makes it, both samples together, and what each of its
/// other calls costs during a look; what each call costs while tracepoints are only attached. They
/// were measured on a machine of 2026, and are no bounds.
const WAIT_NS: f64 = 1_500.0;
const CALL_NS: f64 = 300.0;
const ATTACHED_NS: f64 = 80.0;
/// It takes the kernel so long to detach, as it waits for all CPUs to pass by.
const DETACHING_NS: f64 = 50.0 * MS as f64;

/// The share of its time that being watched may cost a thread.
const BUDGET: f64 = 0.01;
/// A look ends when it has cost this and is over the budget.
const QUOTA_NS: f64 = 2.5 * MS as f64;
/// Pauses are no longer than this share of the time, so that there are some looks.
const PAUSE_SHARE: u64 = 12;

const NAP_MIN: u64 = MS;
const NAP_MAX: u64 = 20 * MS;
/// New threads are looked for, and sizes read, so often during a look, and the first time sooner.
const ROUND: u64 = 250 * MS;
const FIRST_ROUND: u64 = 20 * MS;
/// A size is read again after this share of the time, and not before 200 times as long as a reading
/// takes, about a microsecond for each descriptor: that is half a percent.
const READINGS: u64 = 8;
const READING_NS_EACH: u64 = 1_000;
const READING_PAUSE: u64 = 200;
/// The sizes of so many epoll sets are read at a time.
const SETS_MAX: usize = 4096;
/// So many threads' descriptors, three each, are kept for `/proc` when there are no more.
const SPARE_THREADS: usize = 5;

/// Memory for all rings, and pages for one.
const RING_PAGES_ALL: usize = 4096;
const RING_PAGES: std::ops::RangeInclusive<usize> = 4..=128;

/// Why watching is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Time,
    Ended,
    Stopped,
}

/// A process being watched.
pub struct Watch<'a> {
    process: &'a Process,
    stop: &'a dyn Fn() -> bool,
    points: Tracepoints,
    filter: CString,
    began_ns: u64,
    time_ns: u64,
    threads: BTreeMap<u32, Thread>,
    buffer: Vec<u8>,
    pub tally: Tally,
    pub looks: u32,
    pub looked_ns: u64,
    /// What all looks cost the busiest thread, by estimate.
    pub cost_ns: f64,
    pub lost: u64,
    /// The most threads that were watched at once.
    pub threads_watched: usize,
    /// So many may be.
    threads_max: usize,
    left_out: Option<Remark>,
    peeking_denied: bool,
    duplicating_denied: bool,
    /// The CPU time of each thread when it was first seen, and when that was.
    cpu_at_first: BTreeMap<u32, (u64, u64)>,
    over: Option<Over>,
}

fn now_ns() -> u64 {
    Clock::Monotonic.now()
}

impl<'a> Watch<'a> {
    /// Nothing is attached yet.
    pub fn new(
        process: &'a Process,
        points: Tracepoints,
        time: Duration,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        let began_ns = now_ns();
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2);
        Watch {
            process,
            stop,
            points,
            filter: calls::waits_filter(),
            began_ns,
            time_ns,
            threads: BTreeMap::new(),
            buffer: Vec::new(),
            tally: Tally::new(began_ns, time_ns),
            looks: 0,
            looked_ns: 0,
            cost_ns: 0.0,
            lost: 0,
            threads_watched: 0,
            threads_max: THREADS_MAX,
            left_out: None,
            peeking_denied: false,
            duplicating_denied: false,
            cpu_at_first: BTreeMap::new(),
            over: None,
        }
    }

    /// Looks and rests by turns until the time is up.
    pub fn run(&mut self) -> Result<(), Error> {
        loop {
            let pause_ns = self.look()?;
            self.read_watched(self.over.is_some());
            if self.over.is_some() {
                return Ok(());
            }
            self.rest(pause_ns);
            if self.over.is_some() {
                return Ok(());
            }
        }
    }

    /// How long it has been.
    pub fn took(&self) -> Duration {
        Duration::from_nanos(now_ns() - self.began_ns)
    }

    /// Remarks on how it went.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        match self.over {
            Some(Over::Ended) => remarks.push(Remark::Ended(self.took())),
            Some(Over::Stopped) => remarks.push(Remark::Stopped(self.took())),
            Some(Over::Time) | None => {}
        }
        remarks.extend(self.left_out.clone());
        if self.lost > 0 {
            remarks.push(Remark::Lost(self.lost));
        }
        if self.peeking_denied && self.tally.has_unread() {
            remarks.push(Remark::MemoryDenied);
        }
        if self.duplicating_denied {
            remarks.push(Remark::ReadyDenied);
        }
        remarks
    }

    /// One look: attaches to every thread, and counts what comes until it has cost enough. Returns
    /// for how long the process is to be left alone then.
    fn look(&mut self) -> Result<u64, Error> {
        self.attach()?;
        let began_ns = now_ns();
        let mut round_ns = began_ns + FIRST_ROUND;
        let mut nap_ns = NAP_MIN;
        self.looks += 1;
        let cost_ns = loop {
            let before = self.cost_of_look();
            let ended = self.process.ended_within(Duration::from_nanos(nap_ns));
            self.drain();
            let (now, cost) = (now_ns(), self.cost_of_look());
            if self.is_over(now, ended) {
                break cost;
            }
            if cost > QUOTA_NS && cost > BUDGET * (now - began_ns) as f64 {
                break cost;
            }
            if now >= round_ns {
                self.attach()?;
                self.read_watched(false);
                round_ns = now + ROUND;
            }
            nap_ns = next_nap(nap_ns, cost - before);
        };
        let lasted_ns = now_ns() - began_ns;
        let calls = self.detach();
        let detaching_ns = calls as f64 / lasted_ns.max(1) as f64 * DETACHING_NS * ATTACHED_NS;
        self.looked_ns += lasted_ns;
        self.cost_ns += cost_ns + detaching_ns;
        let pause_ns = (cost_ns + detaching_ns) / BUDGET - lasted_ns as f64;
        Ok((pause_ns.max(0.0) as u64).min(self.time_ns / PAUSE_SHARE))
    }

    /// Notes whether watching is over, and why.
    fn is_over(&mut self, now_ns: u64, ended: bool) -> bool {
        if ended {
            self.over = Some(Over::Ended);
        } else if (self.stop)() {
            self.over = Some(Over::Stopped);
        } else if now_ns >= self.began_ns.saturating_add(self.time_ns) {
            self.over = Some(Over::Time);
        }
        self.over.is_some()
    }

    fn rest(&mut self, pause_ns: u64) {
        let until_ns = now_ns() + pause_ns;
        loop {
            let now = now_ns();
            let nap_ns = until_ns.saturating_sub(now).min(NAP_MAX);
            let ended = self.process.ended_within(Duration::from_nanos(nap_ns));
            if self.is_over(now_ns(), ended) || now >= until_ns {
                return;
            }
        }
    }

    /// What this look has cost the thread that it costs most.
    fn cost_of_look(&self) -> f64 {
        self.threads.values().map(|thread| thread.cost_ns).fold(0.0, f64::max)
    }

    /// Attaches to every thread that is not attached to yet, as far as the limits allow.
    fn attach(&mut self) -> Result<(), Error> {
        let all = self.process.threads();
        self.forget_ended(&all);
        let pages = pages_each(all.len());
        let mut attached = self.threads.values().filter(|thread| thread.tap.is_some()).count();
        let left_out = |watched, out_of_descriptors| {
            Some(Remark::ThreadsLeftOut { watched, total: all.len(), out_of_descriptors })
        };
        let mut new = Vec::new();
        for &tid in &all {
            if self.threads.get(&tid).is_some_and(|thread| thread.tap.is_some()) {
                continue;
            }
            if attached >= self.threads_max {
                self.left_out = left_out(attached, self.threads_max < THREADS_MAX);
                break;
            }
            match Tap::open(tid, &self.points, &self.filter, pages) {
                Ok(tap) => {
                    attached += 1;
                    if !self.threads.contains_key(&tid) {
                        new.push(tid);
                    }
                    self.threads.entry(tid).or_default().tap = Some(tap);
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) if is_limit(&error) && attached > 0 => {
                    attached = self.free_descriptors();
                    self.left_out = left_out(attached, true);
                    break;
                }
                Err(error) => return Err(refused(error, geteuid().is_root())),
            }
        }
        self.threads_watched = self.threads_watched.max(attached);
        for tid in new {
            if let Some(cpu_ns) = sys::proc::thread_cpu_ns(self.process.pid, tid) {
                self.cpu_at_first.entry(tid).or_insert((cpu_ns, now_ns()));
            }
            self.find_asleep(tid);
        }
        Ok(())
    }

    /// Lets go of a few threads, as `/proc` can't be read without descriptors; and of more from now
    /// on. Returns how many are left.
    fn free_descriptors(&mut self) -> usize {
        let mut left: Vec<&mut Thread> =
            self.threads.values_mut().filter(|thread| thread.tap.is_some()).collect();
        let keep = left.len().saturating_sub(SPARE_THREADS).max(1);
        for thread in left.iter_mut().skip(keep) {
            thread.tap = None;
        }
        self.threads_max = keep;
        keep.min(left.len())
    }

    /// Lets go of threads that have ended, once all that came from them is counted.
    fn forget_ended(&mut self, all: &[u32]) {
        let mut ended: Vec<u32> = self.threads.keys().copied().collect();
        ended.retain(|tid| all.binary_search(tid).is_err());
        for tid in ended {
            self.drain_one(tid);
            self.threads.remove(&tid);
        }
    }

    /// Asks what a thread that is seen for the first time sleeps in: that wait's beginning will not
    /// come through the ring.
    fn find_asleep(&mut self, tid: u32) {
        let Ok(asleep) = self.process.sleeps_in(tid) else {
            self.peeking_denied = true;
            return;
        };
        // What has come meanwhile is newer, or is from before: then nothing is sure.
        if let (0, Some(entered)) = (self.drain_one(tid), asleep) {
            self.tally.waiting(tid, entered);
            if let Some(thread) = self.threads.get_mut(&tid) {
                thread.found_in(tid, entered);
            }
        }
    }

    /// Notes the waits that have not returned by the end: some may never do.
    fn find_unfinished(&mut self) {
        for (&tid, thread) in &self.threads {
            // What was on its way to sleep when we attached has shown neither beginning nor end.
            let asleep = || self.process.sleeps_in(tid).ok().flatten();
            if let Some(entered) = thread.inside.or_else(asleep) {
                self.tally.waiting(tid, entered);
            }
        }
    }

    /// Detaches from all threads; returns how many calls the one that made most of them made.
    fn detach(&mut self) -> u64 {
        for tap in self.threads.values().filter_map(|thread| thread.tap.as_ref()) {
            tap.shut();
        }
        self.drain();
        if self.over.is_some() {
            self.find_unfinished();
        }
        let calls = self.threads.values().map(|thread| thread.calls).max().unwrap_or(0);
        for thread in self.threads.values_mut() {
            *thread = std::mem::take(thread).detached();
        }
        calls
    }

    /// Counts what has come from every thread.
    fn drain(&mut self) {
        let tids: Vec<u32> = self.threads.keys().copied().collect();
        for tid in tids {
            self.drain_one(tid);
            self.peek(tid);
        }
    }

    /// Counts what has come from one thread; returns how many records that was.
    fn drain_one(&mut self, tid: u32) -> usize {
        let Some(thread) = self.threads.get_mut(&tid) else { return 0 };
        let Some(tap) = thread.tap.as_mut() else { return 0 };
        let came = tap.take(&self.points, &mut self.buffer);
        let calls = tap.calls();
        let mut sampled = 0;
        for record in &came {
            match *record {
                Record::Enter { time_ns, call, args } => match Call::of_number(call) {
                    Some(call) => thread.enter(tid, time_ns, Entered { call, args }),
                    None => thread.enter_service(Service::new(call, args)),
                },
                Record::Exit { time_ns, call, answer } => {
                    sampled += 1;
                    if let Some(call) = Call::of_number(call) {
                        let wait = thread.exit(call, time_ns, answer);
                        if let Some(wait) = wait {
                            self.tally.count(tid, wait);
                        }
                    } else if let Some(service) = thread.exit_service(call) {
                        self.tally.serve(&service, answer);
                    }
                }
                Record::Lost(count) => {
                    self.lost += count;
                    thread.forget_call();
                }
            }
        }
        let other_calls = calls.saturating_sub(sampled);
        thread.calls += calls;
        thread.cost_ns += sampled as f64 * WAIT_NS + other_calls as f64 * CALL_NS;
        came.len()
    }

    /// Counts what the poll or select watches that a thread is in, if that is to be known again.
    fn peek(&mut self, tid: u32) {
        let Some(entered) = self.threads.get(&tid).and_then(|thread| thread.inside) else { return };
        let key = entered.key(tid);
        let Some(bound) = entered.bound() else { return };
        let time_ns = now_ns();
        if self.peeking_denied || self.tally.account(key).due_ns > time_ns {
            return;
        }
        let count = match sizes::watched(self.process.pid, &entered) {
            Ok(Some(watched)) => sizes::events_max(entered.call, &watched),
            Ok(None) => return,
            Err(error) => {
                self.peeking_denied |= error.raw_os_error() == Some(libc::EPERM);
                return;
            }
        };
        // select's sets are overwritten at the end of the call, shortly before it is over.
        let asleep = matches!(entered.call, Call::Poll | Call::Ppoll)
            || matches!(self.process.sleeps_in(tid), Ok(Some(now)) if now == entered);
        if asleep && self.drain_one(tid) == 0 {
            let due_ns = self.due_after(count as usize);
            let account = self.tally.account(key);
            account.sizes.push(Size { time_ns, count, bound: bound.into() });
            account.due_ns = due_ns;
        }
    }

    /// When what watches so many descriptors is to be read again.
    fn due_after(&self, descriptors: usize) -> u64 {
        let reading_ns = READING_NS_EACH * descriptors as u64;
        now_ns() + (READING_PAUSE * reading_ns).max(self.time_ns / READINGS)
    }

    /// Reads what is watched where that is due, or, at the end, everywhere, and which of it is ready.
    fn read_watched(&mut self, all: bool) {
        let now = now_ns();
        let is_due = |due_ns| all || due_ns <= now;
        let due: Vec<(Key, Option<u32>, Option<Entered>)> = self
            .tally
            .accounts()
            .filter(|(key, account)| match key {
                Key::Epoll(_) => is_due(account.due_ns),
                Key::Thread(..) => is_due(account.candidates.due_ns),
            })
            .map(|(key, account)| (key, account.thread(), account.last))
            .take(SETS_MAX)
            .collect();
        for (key, thread, last) in due {
            let watched = match key {
                Key::Epoll(epoll) => thread.and_then(|tid| self.read_set(tid, epoll)),
                // The array stands where it stood in the last wait, as a rule.
                Key::Thread(..) => {
                    last.and_then(|last| sizes::watched(self.process.pid, &last).ok().flatten())
                }
            };
            // What returns nothing watches nothing that is ready.
            let Some(watched) = watched.filter(|_| last.is_some()) else { continue };
            match ready::ready(self.process, &watched) {
                Ok(ready) => self.tally.account(key).candidates.sample(&ready),
                Err(_) => self.duplicating_denied = true,
            }
            let due_ns = self.due_after(watched.len());
            self.tally.account(key).candidates.due_ns = due_ns;
        }
        self.see_services();
    }

    /// Reads an epoll set's size; returns what its waits report as long as it is ready.
    fn read_set(&mut self, tid: u32, epoll: i32) -> Option<Vec<Interest>> {
        let time_ns = now_ns();
        let entries = self.process.watched(tid, epoll)?;
        let due_ns = self.due_after(entries.len());
        let account = self.tally.account(Key::Epoll(epoll));
        account.sizes.push(Size { time_ns, count: entries.len() as u64, bound: 0 });
        account.triggers = Some(triggers(&entries));
        account.due_ns = due_ns;
        Some(entries.into_iter().filter_map(Entry::level).collect())
    }

    /// Looks at the calls that serve descriptors as well, once any descriptor seems to stay ready.
    fn see_services(&mut self) {
        let mut accounts = self.tally.accounts();
        if self.duplicating_denied || !accounts.any(|(_, account)| account.candidates.are_likely())
        {
            return;
        }
        drop(accounts);
        if std::mem::replace(&mut self.tally.sees_services, true) {
            return;
        }
        self.filter = calls::waits_and_services_filter();
        for tap in self.threads.values().filter_map(|thread| thread.tap.as_ref()) {
            // It can only fail if the thread has ended.
            let _ = tap.filter(&self.filter);
        }
    }

    /// The CPU time of these threads, in CPUs, since each was first seen.
    pub fn cpus(&self, threads: &[u32]) -> Option<f64> {
        let share = |tid: &u32| {
            let (first_ns, time_ns) = self.cpu_at_first.get(tid)?;
            let used_ns =
                sys::proc::thread_cpu_ns(self.process.pid, *tid)?.checked_sub(*first_ns)?;
            Some(used_ns as f64 / (now_ns() - time_ns).max(1) as f64)
        };
        threads.iter().filter_map(share).reduce(|sum, share| sum + share)
    }
}

/// Naps are short while much comes, so that a look can end in time.
fn next_nap(nap_ns: u64, cost_ns: f64) -> u64 {
    if cost_ns < QUOTA_NS / 8.0 {
        (nap_ns * 2).min(NAP_MAX)
    } else if cost_ns > QUOTA_NS / 2.0 {
        (nap_ns / 2).max(NAP_MIN)
    } else {
        nap_ns
    }
}

fn pages_each(threads: usize) -> usize {
    let fair = RING_PAGES_ALL / threads.clamp(1, THREADS_MAX);
    let fair = fair.clamp(*RING_PAGES.start(), *RING_PAGES.end());
    // The next power of two that is not above it.
    1 << fair.ilog2()
}

fn is_limit(error: &io::Error) -> bool {
    let limits = [libc::EMFILE, libc::ENFILE, libc::ENOMEM];
    error.raw_os_error().is_some_and(|code| limits.contains(&code))
}

/// What to say when a tracepoint can't be attached.
fn refused(error: io::Error, is_root: bool) -> Error {
    let level = sys::proc::setting("kernel.perf_event_paranoid").unwrap_or(0);
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    match number {
        Some(Errno::ACCESS | Errno::PERM) if is_root => Error::NotPermitted {
            what: "a sandbox or a security module refuses perf_event_open".into(),
            remedy: "in a container: --cap-add PERFMON, and a seccomp profile that allows it"
                .into(),
        },
        Some(Errno::ACCESS | Errno::PERM) if level > 1 => Error::NotPermitted {
            what: format!(
                "kernel.perf_event_paranoid is {level}, which keeps tracepoints from this user"
            ),
            remedy: "run as root (sudo), or `sudo sysctl kernel.perf_event_paranoid=1`".into(),
        },
        Some(Errno::ACCESS | Errno::PERM) => Error::NotPermitted {
            what: format!("perf events are refused here ({error})"),
            remedy: "run as root (sudo), outside of any container, or with CAP_PERFMON".into(),
        },
        Some(Errno::NOSYS) => Error::NoTracepoints {
            why: "this kernel has no perf events".into(),
            remedy: "it takes a kernel with CONFIG_PERF_EVENTS".into(),
        },
        Some(Errno::MFILE | Errno::NFILE) => Error::NotPermitted {
            what: "no descriptor is left to watch a thread with".into(),
            remedy: "raise the limit (`ulimit -n`)".into(),
        },
        _ => Error::io("can't watch a thread", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_share_the_memory_among_threads() {
        assert_eq!(pages_each(0), 128);
        assert_eq!(pages_each(1), 128);
        assert_eq!(pages_each(100), 32);
        assert_eq!(pages_each(512), 8);
        assert_eq!(pages_each(5000), 8);
    }

    #[test]
    fn naps_follow_what_comes() {
        assert_eq!(next_nap(NAP_MIN, 0.0), 2 * NAP_MIN);
        assert_eq!(next_nap(NAP_MAX, 0.0), NAP_MAX);
        assert_eq!(next_nap(NAP_MAX, QUOTA_NS), NAP_MAX / 2);
        assert_eq!(next_nap(NAP_MIN, QUOTA_NS), NAP_MIN);
        assert_eq!(next_nap(5 * MS, QUOTA_NS / 4.0), 5 * MS);
    }

    #[test]
    fn a_refusal_names_its_remedy() {
        let text = refused(io::Error::from_raw_os_error(libc::EACCES), false).to_string();
        assert!(text.contains("root"), "{text}");
        let text = refused(io::Error::from_raw_os_error(libc::EPERM), true).to_string();
        assert!(text.contains("seccomp") && !text.contains("sudo"), "{text}");
        let text = refused(io::Error::from_raw_os_error(libc::ENOSYS), true).to_string();
        assert!(text.contains("CONFIG_PERF_EVENTS"), "{text}");
    }
}
