//! Samples threads as they run: a CPU clock on each, its samples by address, and the result at the end.

use crate::profiler::{ProfileError, perf_level};
use crate::stack_sample::{Function, Limitation, Program, StackSample, ThreadState};
use crate::symbols::addresses::{CodeAddress, MappedFiles, ResolvedAddress};
use crate::threads::{Process, ProcessName, Thread, Threads};
use rustix::io::Errno;
use rustix::process::Pid;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};
use sys::perf::{Event, Modes, Record, Ring, SampleClock, Target, records};
use sys::proc::thread_cpu_ns;

/// CPU time between two samples of a thread; odd, so that it falls out of step with what it samples.
pub(crate) const PERIOD_NS: u64 = 997_000;
/// Threads that are sampled. Each takes a descriptor and two locked pages.
const CLOCKS_MAX: usize = 256;
/// A thread that mostly waits runs for less than this share of the time; fewer samples than this share of all
/// are not worth naming.
pub(crate) const SHARE_MIN: f64 = 0.05;
/// With fewer samples in the kernel, or less than the share above, its long list of functions is not read.
const KERNEL_SAMPLES_MIN: u64 = 5;
/// Functions that are kept of a program.
const FUNCTIONS_MAX: usize = 5;

/// A thread's CPU clock, and the ring that its samples go to.
pub(crate) struct ThreadClock {
    /// Unmapped before the event is closed.
    ring: Ring,
    event: Event,
}

impl ThreadClock {
    pub fn open(tid: u32, modes: Modes) -> io::Result<ThreadClock> {
        let clock = SampleClock::CpuTime { period_ns: PERIOD_NS };
        let event = Event::clock(clock, Target::Thread(tid), modes)?;
        let ring = Ring::new(&event, 1).map_err(|error| {
            let reason = "no more memory may be locked (kernel.perf_event_mlock_kb)";
            io::Error::other(format!("{reason}: {error}"))
        })?;
        event.enable()?;
        Ok(ThreadClock { ring, event })
    }
}

pub(crate) struct Sampler<'a> {
    open: &'a dyn Fn(u32, Modes) -> io::Result<ThreadClock>,
    threads: Threads,
    files: MappedFiles,
    /// One for each thread that was found, in their order.
    sampled: Vec<SampledThread>,
    clocks: usize,
    samples_lost: u64,
    /// Threads that may be sampled in user mode only.
    user_only: usize,
    /// Threads that may not be sampled, and the last error.
    denied: usize,
    denial: Option<io::Error>,
    /// Why no more threads can be sampled.
    full: Option<String>,
}

#[derive(Default)]
struct SampledThread {
    clock: Option<ThreadClock>,
    samples: BTreeMap<CodeAddress, u64>,
    blocked_at: Option<CodeAddress>,
}

impl<'a> Sampler<'a> {
    pub fn new(open: &'a dyn Fn(u32, Modes) -> io::Result<ThreadClock>) -> Self {
        Sampler {
            open,
            threads: Threads::default(),
            files: MappedFiles::default(),
            sampled: Vec::new(),
            clocks: 0,
            samples_lost: 0,
            user_only: 0,
            denied: 0,
            denial: None,
            full: None,
        }
    }

    /// Finds threads that are not known yet, and puts a clock on each: first on those that run.
    pub fn scan(&mut self, roots: &[Pid], until: Instant) {
        self.threads.scan(roots, until);
        let new = self.sampled.len()..self.threads.list.len();
        self.sampled.resize_with(new.end, SampledThread::default);
        let (running, waiting): (Vec<usize>, Vec<usize>) =
            new.clone().partition(|&index| self.threads.list[index].state == 'R');
        for index in running.into_iter().chain(waiting) {
            self.sampled[index].clock = self.start_clock(self.threads.list[index].tid);
        }
        let mut refreshed = None;
        for index in new {
            let Thread { process, blocked, .. } = &self.threads.list[index];
            let Some(address) = blocked.as_ref().and_then(|blocked| blocked.resume_address) else {
                continue;
            };
            let Process { pid, program, maps, .. } = &mut self.threads.processes[*process];
            // The threads of a process follow each other.
            if refreshed.replace(*pid) != Some(*pid) {
                maps.refresh(*pid);
            }
            let address = self.files.locate(*pid, program, maps, address);
            self.sampled[index].blocked_at = Some(address);
        }
    }

    fn start_clock(&mut self, tid: u32) -> Option<ThreadClock> {
        if self.full.is_some() {
            return None;
        }
        if self.clocks >= CLOCKS_MAX {
            self.full = Some(format!("no more than {CLOCKS_MAX} are sampled"));
            return None;
        }
        let mut clock = (self.open)(tid, Modes::All);
        if clock.as_ref().is_err_and(is_denial) {
            clock = (self.open)(tid, Modes::User);
            self.user_only += usize::from(clock.is_ok());
        }
        self.clocks += usize::from(clock.is_ok());
        let error = match clock {
            Ok(clock) => return Some(clock),
            Err(error) => error,
        };
        match Errno::from_io_error(&error) {
            // The thread has ended.
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

    /// Takes the samples that have come, and finds their files while the processes live.
    pub fn collect(&mut self) {
        let mut bytes = Vec::new();
        let mut refreshed = None;
        for (thread, sampled) in self.threads.list.iter().zip(&mut self.sampled) {
            let Some(clock) = &mut sampled.clock else { continue };
            bytes.clear();
            clock.ring.take(&mut bytes);
            let Process { pid, program, maps, .. } = &mut self.threads.processes[thread.process];
            for record in records(&bytes) {
                let sample = match record {
                    Record::Sample(sample) => sample,
                    Record::Lost(lost) => {
                        self.samples_lost += lost;
                        continue;
                    }
                    _ => continue,
                };
                let address = if sample.in_kernel {
                    CodeAddress::Kernel(sample.address)
                } else {
                    if refreshed.replace(*pid) != Some(*pid) {
                        maps.refresh(*pid);
                    }
                    self.files.locate(*pid, program, maps, sample.address)
                };
                *sampled.samples.entry(address).or_default() += 1;
            }
        }
    }

    /// Ends sampling, looks up the functions, and puts the result together.
    pub fn finish(
        mut self,
        roots: &[Pid],
        duration: Duration,
        lookup_max: Duration,
    ) -> StackSample {
        for sampled in &mut self.sampled {
            // Sampling ends before symbols are looked up, which takes longer.
            if let Some(clock) = sampled.clock.take() {
                let _ = clock.event.disable();
            }
        }
        let cpu_ns: Vec<u64> = (0..self.sampled.len()).map(|index| self.cpu_ns(index)).collect();
        let all_samples = || self.sampled.iter().flat_map(|sampled| &sampled.samples);
        let samples: u64 = all_samples().map(|(_, count)| count).sum();
        let kernel_samples: u64 = all_samples()
            .filter(|(address, _)| matches!(address, CodeAddress::Kernel(_)))
            .map(|(_, count)| count)
            .sum();
        let limitations = self.limitations(samples);

        let blocked_at = self.sampled.iter().filter_map(|sampled| sampled.blocked_at.as_ref());
        let addresses: BTreeSet<CodeAddress> =
            all_samples().map(|(address, _)| address).chain(blocked_at).cloned().collect();
        let with_kernel = kernel_samples >= KERNEL_SAMPLES_MIN
            && kernel_samples as f64 >= SHARE_MIN * samples as f64;
        let resolved = self.files.resolve(&addresses, with_kernel, Instant::now() + lookup_max);
        let programs = self.programs(roots.first(), duration, &cpu_ns, &resolved);
        debug_assert_eq!(
            programs.iter().map(|program| program.samples).sum::<u64>(),
            samples,
            "each sample belongs to one program"
        );
        StackSample { programs, samples, duration, limitations }
    }

    /// CPU time of a thread while it was sampled: by the kernel's account, or by its samples where it has gone.
    fn cpu_ns(&self, index: usize) -> u64 {
        let thread = &self.threads.list[index];
        let now_ns = thread_cpu_ns(self.threads.processes[thread.process].pid, thread.tid);
        let by_account =
            now_ns.zip(thread.cpu_ns).map(|(now_ns, then_ns)| now_ns.saturating_sub(then_ns));
        by_account.unwrap_or_else(|| PERIOD_NS * self.sampled[index].samples.values().sum::<u64>())
    }

    fn programs(
        &self,
        target: Option<&Pid>,
        duration: Duration,
        cpu_ns: &[u64],
        resolved: &BTreeMap<CodeAddress, ResolvedAddress>,
    ) -> Vec<Program> {
        let mut programs = Vec::new();
        let mut samples: Vec<FunctionSamples> = Vec::new();
        let mut counted = BTreeSet::new();
        for ((thread, sampled), &cpu_ns) in self.threads.list.iter().zip(&self.sampled).zip(cpu_ns)
        {
            let process = &self.threads.processes[thread.process];
            let index = program_index(process, target, &mut programs);
            samples.resize_with(programs.len(), FunctionSamples::new);
            let program = &mut programs[index];
            program.cpu_ns += cpu_ns;
            if counted.insert(thread.process) {
                let processes = if thread.is_later {
                    &mut program.processes_later
                } else {
                    &mut program.processes
                };
                *processes += 1;
            }
            if !thread.is_later {
                let caller = sampled.blocked_at.as_ref().map(|address| {
                    let (function, offset) = function(address, process, resolved);
                    Function { offset, ..function }
                });
                let state = thread_state(thread, caller, cpu_ns, duration);
                *program.threads.entry(state).or_default() += 1;
            }
            for (address, count) in &sampled.samples {
                let (function, offset) = function(address, process, resolved);
                *samples[index].entry(function).or_default().entry(offset).or_default() += count;
                program.samples += count;
            }
        }
        for (program, samples) in programs.iter_mut().zip(samples) {
            program.functions = most_frequent(samples);
        }
        programs.sort_by_key(|program| Reverse(program.cpu_ns));
        programs
    }

    fn limitations(&self, samples: u64) -> Vec<Limitation> {
        let mut limitations = Vec::new();
        let threads = self.threads.list.len();
        if self.threads.truncated {
            limitations.push(Limitation::ThreadsMissing { threads });
        }
        if let Some(reason) = self.full.clone() {
            limitations.push(Limitation::ClocksMissing { sampled: self.clocks, threads, reason });
        }
        if let Some(error) = &self.denial {
            let reason = denial_reason(error);
            limitations.push(Limitation::Denied { denied: self.denied, threads, reason });
        }
        if self.user_only > 0 {
            limitations.push(Limitation::KernelHidden { perf_level: perf_level_text() });
        }
        if self.samples_lost > 0 {
            limitations.push(Limitation::SamplesLost { lost: self.samples_lost, samples });
        }
        limitations
    }
}

fn is_denial(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn denial_reason(error: &io::Error) -> String {
    if !is_denial(error) {
        return format!("perf_event_open: {error}");
    }
    if rustix::process::geteuid().is_root() {
        return format!("{error}: {}", ProfileError::Sandboxed);
    }
    match perf_level_text() {
        Some(level) => format!("{error} ({level}, or a sandbox, or another's) → run as root"),
        None => format!("{error} (this kernel has no perf events)"),
    }
}

/// What the kernel allows this user.
fn perf_level_text() -> Option<String> {
    perf_level().map(|level| format!("kernel.perf_event_paranoid is {level}"))
}

/// Samples by function, and by the offset in it.
type FunctionSamples = BTreeMap<Function, BTreeMap<Option<u64>, u64>>;

/// The index of a process's program in `programs`, which gets it if it is new.
fn program_index(process: &Process, target: Option<&Pid>, programs: &mut Vec<Program>) -> usize {
    let is_target = target.is_some_and(|pid| pid.as_raw_pid().cast_unsigned() == process.pid);
    let ProcessName { name, is_helper } = &process.name;
    let is_same = |program: &Program| (&program.name, program.is_target) == (name, is_target);
    programs.iter().position(is_same).unwrap_or_else(|| {
        let (name, is_helper) = (name.clone(), *is_helper);
        programs.push(Program { name, is_target, is_helper, ..Program::default() });
        programs.len() - 1
    })
}

/// What a thread did that used `cpu_ns` of `duration`; `caller` made the call that it waits in.
fn thread_state(
    thread: &Thread,
    caller: Option<Function>,
    cpu_ns: u64,
    duration: Duration,
) -> ThreadState {
    let share = cpu_ns as f64 / duration.as_nanos() as f64;
    match thread.state {
        'R' if cpu_ns > 0 || thread.cpu_ns.is_none() => ThreadState::Running,
        _ if share >= SHARE_MIN => ThreadState::Running,
        'R' => ThreadState::WaitingForCpu,
        'T' | 't' => ThreadState::Stopped,
        'Z' | 'X' => ThreadState::Exited,
        _ => {
            let call = thread.blocked.as_ref().map(|blocked| blocked.call.clone());
            let call = call.unwrap_or_else(|| "an unknown call".into());
            ThreadState::Blocked { call, caller }
        }
    }
}

/// The function at an address, without an offset, and the offset in it.
fn function(
    address: &CodeAddress,
    process: &Process,
    resolved: &BTreeMap<CodeAddress, ResolvedAddress>,
) -> (Function, Option<u64>) {
    let named = |name: &str| Function { name: Some(name.into()), module: None, offset: None };
    let Some(resolved) = resolved.get(address) else { return (named("the kernel"), None) };
    let name = resolved.symbol.as_ref().map(|symbol| symbol.name.clone());
    let function = match address {
        CodeAddress::Unknown => return (named("memory that is unknown"), None),
        CodeAddress::Memory(..) if name.is_none() => {
            return (named("memory without a file"), None);
        }
        CodeAddress::Kernel(_) if name.is_none() => return (named("the kernel"), None),
        CodeAddress::Memory(..) => Function { name, module: None, offset: None },
        CodeAddress::File(..)
            if resolved.path.as_ref() == Some(&process.program) && name.is_some() =>
        {
            Function { name, module: None, offset: None }
        }
        _ => Function { name, module: Some(resolved.module.clone()), offset: None },
    };
    (function, Some(resolved.offset))
}

/// The functions with most samples, each with the offset that most of them have.
fn most_frequent(samples: FunctionSamples) -> Vec<(Function, u64)> {
    let total = |(function, offsets): (Function, BTreeMap<Option<u64>, u64>)| {
        let most_frequent = offsets.iter().max_by_key(|(_, count)| **count);
        let offset = most_frequent.and_then(|(offset, _)| *offset);
        (Function { offset, ..function }, offsets.values().sum())
    };
    let mut functions: Vec<(Function, u64)> = samples.into_iter().map(total).collect();
    functions.sort_by_key(|(_, count)| Reverse(*count));
    functions.truncate(FUNCTIONS_MAX);
    functions
}
