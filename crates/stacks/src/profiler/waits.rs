//! When threads do not run, and why: each time from a switch away from a thread, by the kernel's tracepoints
//! `sched_switch` and `sched_waking`, until it gets a CPU again. That has a record of its own: tracepoints in a CPU's idle
//! thread are not seen everywhere.
//!
//! A thread that does not run has a sample each time that it has not run for as long as a sample of the clock stands
//! for, all its waits together: so their samples add up to their time, and count as those of the CPU time do. Only
//! the stacks of waits with a sample are looked up.

use super::cpus::{Cpus, Holder};
use super::processes::Processes;
use model::WaitKind;
use observe::Field;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use sys::cgroup::{groups_of, has_throttled};
use sys::perf::{Record, Resumed, Sample, records};

/// The states that `sched_switch` has for a thread that ends: `EXIT_DEAD` and `EXIT_ZOMBIE`.
const ENDED: i64 = 0x30;
/// And for one that could go on: none, or `TASK_REPORT_MAX` for one that was preempted.
const PREEMPTED: i64 = 0x100;
/// A thread is woken no longer than this before the switch away from it: its waker waits for that switch.
const WOKEN_BEFORE_NS_MAX: u64 = 50_000;
/// An idle CPU runs a woken thread within this time. A later start is due to the thread's CPU quota, or to a cause that
/// the kernel does not show, such as a hypervisor.
const IDLE_CPU_RUNS_WITHIN_NS: u64 = 2_000_000;
/// Spreads the first samples of threads over a sample's time.
const SPREAD: u64 = 0x9e37_79b9;

/// The tracepoints, and where their raw data have what.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchedPoints {
    pub switch: u64,
    pub waking: u64,
    previous: Field,
    previous_state: Field,
    next: Field,
    woken: Field,
}

impl SchedPoints {
    /// Finds them on this machine.
    ///
    /// # Errors
    /// In one line: what is in the way, and what fixes it.
    pub fn find() -> Result<SchedPoints, String> {
        let both = observe::described(&["sched/sched_switch", "sched/sched_waking"])
            .map_err(|error| error.to_string())?;
        SchedPoints::parse(&both[0], &both[1])
            .ok_or_else(|| "the format of the kernel's sched_switch is not known".to_owned())
    }

    fn parse(switch: &observe::Description, waking: &observe::Description) -> Option<SchedPoints> {
        let field = |name| Field::find(&switch.format, name);
        Some(SchedPoints {
            switch: switch.id.trim().parse().ok()?,
            waking: waking.id.trim().parse().ok()?,
            previous: field("prev_pid")?,
            previous_state: field("prev_state")?,
            next: field("next_pid")?,
            woken: Field::find(&waking.format, "pid")?,
        })
    }
}

/// Why a thread did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Reason {
    /// It waited for something.
    Waits,
    /// It waited in a system call for this.
    Is(WaitKind),
    /// It could have run, but followed processes had the CPUs.
    NoCpu,
    /// It could have run, but other processes had a CPU, or the cause is not seen.
    OthersHaveCpu,
    /// It could have run, and the CPU that it got in the end was idle: its CPU quota was used up.
    Throttled,
}

/// A time in which a thread did not run, with at least one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitSpan {
    pub begin_ns: u64,
    pub end_ns: u64,
    /// The time of its first sample; the others follow at the interval of samples.
    pub first_ns: u64,
    pub count: u64,
    pub reason: Reason,
    /// The innermost node of its stack.
    pub node: u32,
    /// That of who ended the wait, where it is of a followed process.
    pub waker: Option<u32>,
}

/// The threads that were seen, and their waits.
pub(super) struct Waits {
    points: SchedPoints,
    sample_ns: u64,
    /// By the kernel's own numbers, which tracepoints have in any namespace.
    threads: HashMap<i64, Thread>,
    /// And these numbers by those that records have.
    numbers: HashMap<u32, i64>,
    cpus: Cpus,
    /// Followed processes whose CPU quota was used up.
    throttled: HashSet<u32>,
    pub spans: Vec<WaitSpan>,
}

struct Thread {
    state: State,
    since_ns: u64,
    /// The record of the switch away from it.
    left: Vec<u8>,
    /// When it was woken, and the record of that.
    woken_ns: Option<u64>,
    waker: Vec<u8>,
    /// For how long it has not run since its last sample.
    carried_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Ready,
    Waiting,
}

impl Waits {
    pub fn new(points: SchedPoints, sample_ns: f64) -> Waits {
        let sample_ns = (sample_ns as u64).max(1);
        let (threads, numbers) = (HashMap::new(), HashMap::new());
        let (cpus, throttled, spans) = (Cpus::default(), HashSet::new(), Vec::new());
        Waits { points, sample_ns, threads, numbers, cpus, throttled, spans }
    }

    /// Takes note of a tracepoint, whose record has these `bytes`. They come in the order of their times.
    pub fn add(&mut self, sample: &Sample<'_>, bytes: &[u8], processes: &Processes) {
        let SchedPoints { switch, waking, previous, previous_state, next, woken } = self.points;
        let raw = sample.raw;
        let Some(id) = raw.first_chunk().map(|id| u64::from(u16::from_ne_bytes(*id))) else {
            return;
        };
        if id == waking
            && let Some(tid) = woken.integer(raw)
        {
            self.woken(tid, sample.time_ns, bytes);
        }
        if id == switch
            && let (Some(tid), Some(state), Some(next)) =
                (previous.integer(raw), previous_state.integer(raw), next.integer(raw))
        {
            self.switched(tid, next, sample, processes);
            if state & ENDED != 0 || !processes.follows(sample.pid) {
                self.threads.remove(&tid);
                self.numbers.remove(&sample.tid);
            } else {
                self.numbers.insert(sample.tid, tid);
                let is_ready = state == 0 || state & PREEMPTED != 0;
                let state = if is_ready { State::Ready } else { State::Waiting };
                self.switched_from(tid, state, sample.time_ns, bytes);
            }
        }
    }

    fn switched_from(&mut self, tid: i64, state: State, time_ns: u64, bytes: &[u8]) {
        let sample_ns = self.sample_ns;
        let thread = self.threads.entry(tid).or_insert_with(|| Thread {
            state,
            since_ns: time_ns,
            left: Vec::new(),
            woken_ns: None,
            waker: Vec::new(),
            carried_ns: tid.cast_unsigned().wrapping_mul(SPREAD) % sample_ns,
        });
        (thread.state, thread.since_ns) = (state, time_ns);
        thread.left.clear();
        thread.left.extend_from_slice(bytes);
        thread.woken_ns = thread
            .woken_ns
            .filter(|woken_ns| woken_ns + WOKEN_BEFORE_NS_MAX > time_ns)
            .map(|woken_ns| woken_ns.max(time_ns));
    }

    fn woken(&mut self, tid: i64, time_ns: u64, bytes: &[u8]) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        // Of those before the switch, only the last can be of that wait.
        if thread.woken_ns.is_none() || thread.state == State::Running {
            thread.woken_ns = Some(time_ns);
            thread.waker.clear();
            thread.waker.extend_from_slice(bytes);
        }
    }

    /// The thread `next` has the CPU of the thread `tid`, which `sample` is of.
    fn switched(&mut self, tid: i64, next: i64, sample: &Sample<'_>, processes: &Processes) {
        let &Sample { pid, cpu, time_ns, .. } = sample;
        // Before its first switch, a thread is another's.
        let has = holder(next == 0, self.threads.contains_key(&next));
        self.cpus.switched(cpu, time_ns, holder(tid == 0, processes.follows(pid)), has);
    }

    /// Takes note of a thread that has a CPU.
    pub fn resumed(&mut self, resumed: Resumed, processes: &mut Processes) {
        let Resumed { pid, tid, cpu, time_ns } = resumed;
        // The idle thread, which `sched_switch` shows, or a thread outside of the namespace of processes.
        if tid == 0 {
            return;
        }
        self.cpus.resumed(cpu, time_ns, holder(false, processes.follows(pid)));
        if let Some(&tid) = self.numbers.get(&tid) {
            self.runs(tid, time_ns, Some(cpu), processes);
        }
    }

    /// A thread runs on this CPU, if that was seen.
    fn runs(&mut self, tid: i64, time_ns: u64, cpu: Option<u32>, processes: &mut Processes) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let state = std::mem::replace(&mut thread.state, State::Running);
        let ready_ns = match state {
            State::Running => return,
            State::Ready => thread.since_ns,
            State::Waiting => thread.woken_ns.unwrap_or(time_ns),
        };
        let is_woken = thread.woken_ns.take().is_some();
        let kept_by = cpu.map_or(Holder::Other, |cpu| self.cpus.kept_by(cpu, ready_ns, time_ns));
        let is_late = time_ns.saturating_sub(ready_ns) > IDLE_CPU_RUNS_WITHIN_NS;
        let (ready_ns, without_cpu) = match kept_by {
            Holder::Followed => (ready_ns, Reason::NoCpu),
            Holder::Idle if is_late && is_throttled(&thread.left, &mut self.throttled) => {
                (ready_ns, Reason::Throttled)
            }
            // Until an idle CPU runs, the thread goes on to wait for what it waited for.
            Holder::Idle if state == State::Waiting && !is_late => (time_ns, Reason::Waits),
            Holder::Idle | Holder::Other => (ready_ns, Reason::OthersHaveCpu),
        };
        for (begin_ns, end_ns, reason) in
            [(thread.since_ns, ready_ns, Reason::Waits), (ready_ns, time_ns, without_cpu)]
        {
            let Some((first_ns, count)) = thread.samples(begin_ns, end_ns, self.sample_ns) else {
                continue;
            };
            let Some(node) = node_of(&thread.left, processes) else { continue };
            let is_woken = is_woken && reason == Reason::Waits;
            let waker = is_woken.then(|| node_of(&thread.waker, processes)).flatten();
            let span = WaitSpan { begin_ns, end_ns, first_ns, count, reason, node, waker };
            self.spans.push(span);
        }
    }

    /// Ends what waits still.
    pub fn finish(&mut self, now_ns: u64, processes: &mut Processes) {
        let tids: Vec<i64> = self.threads.keys().copied().collect();
        for tid in tids {
            self.runs(tid, now_ns, None, processes);
        }
    }
}

impl Thread {
    /// The time of the first sample between two times, and how many there are; none without one.
    fn samples(&mut self, begin_ns: u64, end_ns: u64, sample_ns: u64) -> Option<(u64, u64)> {
        let waited_ns = end_ns.saturating_sub(begin_ns);
        let until_ns = sample_ns.saturating_sub(self.carried_ns).max(1);
        let Some(rest_ns) = waited_ns.checked_sub(until_ns) else {
            self.carried_ns += waited_ns;
            return None;
        };
        self.carried_ns = rest_ns % sample_ns;
        Some((begin_ns + until_ns, 1 + rest_ns / sample_ns))
    }
}

/// Whether the process of this record has used up its CPU quota, or that of a group above its own, and so is in `throttled`
/// from now on. Of a process that has ended this is not known.
fn is_throttled(record: &[u8], throttled: &mut HashSet<u32>) -> bool {
    let Some(Record::Sample(Sample { pid, .. })) = records(record).next() else { return false };
    let has = || {
        let groups = groups_of(pid, Path::new("/"), "cpu");
        groups.is_some_and(|(_, groups)| groups.iter().any(|group| has_throttled(group)))
    };
    throttled.contains(&pid) || has() && throttled.insert(pid)
}

fn holder(is_idle: bool, is_followed: bool) -> Holder {
    match (is_idle, is_followed) {
        (true, _) => Holder::Idle,
        (_, true) => Holder::Followed,
        _ => Holder::Other,
    }
}

/// The node of the stack of a record.
fn node_of(bytes: &[u8], processes: &mut Processes) -> Option<u32> {
    match records(bytes).next() {
        Some(Record::Sample(sample)) => processes.node(&sample),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
                          \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
                          \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n";
    const WAKING: &str = "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
    const WAITS: u64 = 1;

    fn waits() -> Waits {
        let description = |id: &str, format: &str| observe::Description {
            id: format!("{id}\n"),
            format: format.to_owned(),
        };
        let points = SchedPoints::parse(&description("372", SWITCH), &description("375", WAKING));
        Waits::new(points.unwrap(), 1_000.0)
    }

    /// A record of a tracepoint: its id, the two threads and the state.
    fn record(time_ns: u64, pid: u32, id: u64, first: u32, state: u64, second: u32) -> Vec<u8> {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        // The length of the raw data, so that its fields of 8 bytes begin in the middle of a word.
        let mut raw = vec![0_u8; 68];
        raw[..4].copy_from_slice(&64_u32.to_le_bytes());
        raw[4..6].copy_from_slice(&(id as u16).to_le_bytes());
        raw[28..32].copy_from_slice(&first.to_le_bytes());
        raw[36..44].copy_from_slice(&state.to_le_bytes());
        raw[60..64].copy_from_slice(&second.to_le_bytes());
        raw.extend([0; 4]);
        let head = [0x1234, pair(pid, first), time_ns, 0, 1, 0];
        let mut bytes = [9_u32.to_le_bytes(), [1, 0, 0, 0]].concat();
        bytes.extend(head.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(raw);
        let size = bytes.len() as u16;
        bytes[6..8].copy_from_slice(&size.to_le_bytes());
        bytes
    }

    const PID: u32 = 0x7fff_2000;
    const FOREIGN: u32 = 0x7fff_3000;

    /// The waits of these records: time, id, first thread, its state, second thread. Those without an id are of a CPU whose
    /// idle thread passes no tracepoint.
    fn spans(all: &[(u64, u64, u32, u64, u32)]) -> Vec<WaitSpan> {
        spans_until(all, 20_000, false)
    }

    fn spans_until(
        all: &[(u64, u64, u32, u64, u32)],
        stopped_ns: u64,
        is_throttled: bool,
    ) -> Vec<WaitSpan> {
        let (mut waits, mut processes) = (waits(), Processes::default());
        waits.throttled.extend(is_throttled.then_some(PID));
        processes.follow(PID);
        for &(time_ns, id, first, state, second) in all {
            let pid_of = |tid: u32| if [0, FOREIGN].contains(&tid) { tid } else { PID };
            let bytes = record(time_ns, pid_of(first), id, first, state, second);
            let Some(Record::Sample(sample)) = records(&bytes).next() else { panic!("no sample") };
            if id > 0 {
                waits.add(&sample, &bytes, &processes);
            }
            let resumed = Resumed { pid: pid_of(second), tid: second, cpu: sample.cpu, time_ns };
            if id != 375 {
                waits.resumed(resumed, &mut processes);
            }
        }
        waits.finish(stopped_ns, &mut processes);
        waits.spans
    }

    fn times(spans: &[WaitSpan]) -> Vec<(u64, u64, Reason, bool)> {
        let times = |s: &WaitSpan| (s.begin_ns, s.end_ns, s.reason, s.waker.is_some());
        spans.iter().map(times).collect()
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn a_thread_waits_until_it_is_woken_and_then_for_a_cpu() {
        let woken = [(372, 7, WAITS, 8), (375, 7, 0, 0), (372, 8, 0, 7)];
        let at = |times: [u64; 3]| -> Vec<(u64, u64, u32, u64, u32)> {
            let all = times.iter().zip(woken);
            all.map(|(time, (id, first, state, second))| (*time, id, first, state, second))
                .collect()
        };
        let both = spans(&at([1_000, 4_000, 9_000]));
        let ready = (9_000, 20_000, Reason::OthersHaveCpu, false);
        assert_eq!(
            times(&both),
            [(1_000, 4_000, Reason::Waits, true), (4_000, 9_000, Reason::NoCpu, false), ready],
            "the second thread was preempted, and has no CPU until the end"
        );
        assert!(both.iter().map(|span| span.count).sum::<u64>() >= 8 + 11 - 2);
        // The waker was there first, and waited for the switch.
        let [switched, waking, back] = at([1_000, 990, 9_000])[..] else { panic!() };
        let first = (500, 372, 9, 0, 7);
        let before = (100, 372, 7, 0, 9);
        let early = times(&spans(&[before, first, waking, switched, back]));
        assert!(early.contains(&(1_000, 9_000, Reason::NoCpu, false)), "{early:?}");
        // Woken long before, it went on: that was another wait.
        let old = times(&spans(&[before, first, waking, (90_000, 372, 7, WAITS, 8)]));
        assert!(!old.iter().any(|&(begin, ..)| begin == 90_000), "ended before: {old:?}");
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn a_thread_that_an_idle_cpu_runs_waits_until_it_runs() {
        // The CPU becomes idle, and runs it again.
        let idle = |back: u64, state, is_throttled| {
            let woken = [(4_000, 375, 7, 0, 0)].into_iter().filter(|_| state == WAITS);
            let all = [(500, 0, 0, 0, 7), (1_000, 372, 7, state, 0)].into_iter().chain(woken);
            let all: Vec<_> = all.chain([(back, 0, 0, 0, 7)]).collect();
            times(&spans_until(&all, back, is_throttled))
        };
        assert_eq!(idle(9_000, WAITS, true), [(1_000, 9_000, Reason::Waits, true)]);
        let late = 4_001 + IDLE_CPU_RUNS_WITHIN_NS;
        let throttled = (4_000, late, Reason::Throttled, false);
        assert_eq!(idle(late, WAITS, true), [(1_000, 4_000, Reason::Waits, true), throttled]);
        let unseen = (4_000, late, Reason::OthersHaveCpu, false);
        assert_eq!(idle(late, WAITS, false), [(1_000, 4_000, Reason::Waits, true), unseen]);
        let late = 1_001 + IDLE_CPU_RUNS_WITHIN_NS;
        assert_eq!(idle(late, 0, true), [(1_000, late, Reason::Throttled, false)]);
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn what_has_ended_or_is_another_process_does_not_wait() {
        let ended = spans(&[(1_000, 372, 7, 0x10, 8), (9_000, 372, 0, 0, 7)]);
        assert_eq!(times(&ended), []);
        assert_eq!(times(&spans(&[(1_000, 372, 0, WAITS, 8)])), [], "of no followed process");
        let foreign = times(&spans(&[(1_000, 372, 7, 0, FOREIGN), (9_000, 372, FOREIGN, 0, 7)]));
        assert_eq!(foreign, [(1_000, 9_000, Reason::OthersHaveCpu, false)]);
        let unknown = [(1_000, 375, 7, 0, 0), (2_000, 372, 0, 0, 7)];
        assert_eq!(times(&spans(&unknown)), [], "it is not known since when");
        assert_eq!(
            times(&spans(&[(1_000, 372, 7, WAITS, 8)])),
            [(1_000, 20_000, Reason::Waits, false)]
        );
    }

    #[test]
    fn samples_add_up_to_the_time() {
        let mut thread = Thread {
            state: State::Waiting,
            since_ns: 0,
            left: Vec::new(),
            woken_ns: None,
            waker: Vec::new(),
            carried_ns: 0,
        };
        let mut samples = |begin_ns, end_ns| thread.samples(begin_ns, end_ns, 1_000);
        assert_eq!(samples(0, 999), None);
        assert_eq!(samples(5_000, 5_001), Some((5_001, 1)));
        assert_eq!(samples(7_000, 10_400), Some((8_000, 3)));
        assert_eq!(samples(20_000, 20_599), None);
        assert_eq!(samples(30_000, 30_001), Some((30_001, 1)));
        assert_eq!(samples(40, 10), None, "of clocks that go back");
    }
}
