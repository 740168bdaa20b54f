//! Samples threads as they run: the state of each by `/proc`, where they run by a profiler, and the result at the end.

use crate::profiler::{Leaf, Leaves, Open, ProfileError, Profiler};
use crate::stack_sample::{Function, Limitation, Program, StackSample, ThreadState};
use crate::symbols::addresses::{CodeAddress, MappedFiles, ResolvedAddress};
use crate::threads::{Process, ProcessName, Thread, Threads};
use model::ProfileLimit;
use rustix::process::Pid;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use sys::proc::thread_cpu_ns;

/// Samples a second of each running thread: no divisor of the timers that programs use.
const FREQUENCY_HZ: u64 = 1_003;
/// CPU time between two samples of a thread.
pub(crate) const PERIOD_NS: u64 = 1_000_000_000 / FREQUENCY_HZ;
/// A thread that mostly waits runs for less than this share of the time; fewer samples than this share of all
/// are not worth naming.
pub(crate) const SHARE_MIN: f64 = 0.05;
/// With fewer samples in the kernel, or less than the share above, its long list of functions is not read.
const KERNEL_SAMPLES_MIN: u64 = 5;
/// Functions that are kept of a program.
const FUNCTIONS_MAX: usize = 5;

pub(crate) struct Sampler {
    profiler: Result<Profiler, ProfileError>,
    threads: Threads,
    /// Of where threads wait.
    files: MappedFiles,
    /// Where each thread that was found waits, in their order.
    blocked_at: Vec<Option<CodeAddress>>,
}

/// What threads did, with the functions of their addresses.
struct Named {
    leaves: Vec<Leaf>,
    /// Of each thread: the CPU time while it was sampled, and where it waits.
    of_threads: Vec<(u64, Option<CodeAddress>)>,
    of_samples: BTreeMap<CodeAddress, ResolvedAddress>,
    of_waits: BTreeMap<CodeAddress, ResolvedAddress>,
}

impl Sampler {
    pub fn start(roots: &[Pid], open: Open<'_>) -> Self {
        let profiler = Profiler::start_clocks(roots, FREQUENCY_HZ, open);
        let (threads, files) = (Threads::default(), MappedFiles::default());
        Sampler { profiler, threads, files, blocked_at: Vec::new() }
    }

    /// Finds threads that are not known yet, and where they wait.
    pub fn scan(&mut self, roots: &[Pid], until: Instant) {
        self.threads.scan(roots, until);
        let new = self.blocked_at.len()..self.threads.list.len();
        self.blocked_at.resize(new.end, None);
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
            self.blocked_at[index] = Some(self.files.locate(*pid, program, maps, address));
        }
    }

    /// Takes the samples that have come, and finds their files while the processes live.
    pub fn collect(&mut self) {
        if let Ok(profiler) = &mut self.profiler {
            profiler.take();
        }
    }

    /// Ends sampling, looks up the functions, and puts the result together.
    pub fn finish(self, roots: &[Pid], duration: Duration, lookup_max: Duration) -> StackSample {
        let Sampler { profiler, threads, files, blocked_at } = self;
        let mut limitations = Vec::new();
        if threads.truncated {
            limitations.push(Limitation::ThreadsMissing(threads.list.len()));
        }
        let mut seen = match profiler {
            Ok(profiler) => profiler.into_leaves(),
            Err(error) => {
                if !threads.list.is_empty() {
                    limitations.push(Limitation::Unsampled(error.to_string()));
                }
                Leaves { samples: Vec::new(), files: MappedFiles::default(), limits: Vec::new() }
            }
        };
        seen.samples.retain(|leaf| threads.processes.iter().any(|process| process.pid == leaf.pid));
        let samples = seen.samples.len() as u64;
        limitations.extend(seen.limits.iter().filter_map(|limit| limitation(limit, samples)));
        // Looking up functions takes time itself.
        let cpu_ns: Vec<u64> =
            threads.list.iter().map(|thread| cpu_ns(&threads, thread, &seen.samples)).collect();
        let is_kernel = |leaf: &&Leaf| matches!(leaf.address, CodeAddress::Kernel(_));
        let of_kernel = seen.samples.iter().filter(is_kernel).count() as u64;
        let with_kernel =
            of_kernel >= KERNEL_SAMPLES_MIN && of_kernel as f64 >= SHARE_MIN * samples as f64;
        let until = Instant::now() + lookup_max;
        let addresses = seen.samples.iter().map(|leaf| leaf.address.clone()).collect();
        let of_samples = seen.files.resolve(&addresses, with_kernel, until);
        let addresses = blocked_at.iter().flatten().cloned().collect();
        let of_waits = files.resolve(&addresses, false, until);
        let of_threads = cpu_ns.into_iter().zip(blocked_at).collect();
        let named = Named { leaves: seen.samples, of_threads, of_samples, of_waits };
        let programs = named.programs(&threads, roots.first(), duration);
        StackSample { programs, samples, duration, limitations }
    }
}

impl Named {
    fn programs(
        &self,
        threads: &Threads,
        target: Option<&Pid>,
        duration: Duration,
    ) -> Vec<Program> {
        let mut programs = Vec::new();
        let mut counted = BTreeSet::new();
        for (thread, (cpu_ns, blocked_at)) in threads.list.iter().zip(&self.of_threads) {
            let process = &threads.processes[thread.process];
            let index = program_index(process, target, &mut programs);
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
                let caller = blocked_at.as_ref().map(|address| {
                    let (function, offset) = function(address, process, &self.of_waits);
                    Function { offset, ..function }
                });
                let state = thread_state(thread, caller, *cpu_ns, duration);
                *program.threads.entry(state).or_default() += 1;
            }
        }
        let mut samples: Vec<FunctionSamples> = Vec::new();
        samples.resize_with(programs.len(), FunctionSamples::new);
        for Leaf { pid, address, .. } in &self.leaves {
            let Some(process) = threads.processes.iter().find(|process| process.pid == *pid) else {
                continue;
            };
            let index = program_index(process, target, &mut programs);
            let (function, offset) = function(address, process, &self.of_samples);
            *samples[index].entry(function).or_default().entry(offset).or_default() += 1;
            programs[index].samples += 1;
        }
        for (program, samples) in programs.iter_mut().zip(samples) {
            program.functions = most_frequent(samples);
        }
        programs.sort_by_key(|program| Reverse(program.cpu_ns));
        programs
    }
}

/// CPU time of a thread while it was sampled: by the kernel's account, or by its samples where it has gone.
fn cpu_ns(threads: &Threads, thread: &Thread, leaves: &[Leaf]) -> u64 {
    let now_ns = thread_cpu_ns(threads.processes[thread.process].pid, thread.tid);
    let by_account =
        now_ns.zip(thread.cpu_ns).map(|(now_ns, then_ns)| now_ns.saturating_sub(then_ns));
    let samples = || leaves.iter().filter(|leaf| leaf.tid == thread.tid).count() as u64;
    by_account.unwrap_or_else(|| PERIOD_NS * samples())
}

/// What a limit of a profile with so many samples comes to.
fn limitation(limit: &ProfileLimit, samples: u64) -> Option<Limitation> {
    Some(match limit {
        ProfileLimit::KernelHidden { perf_level } => Limitation::KernelHidden(*perf_level),
        ProfileLimit::SamplesLost { lost } => Limitation::SamplesLost { lost: *lost, samples },
        ProfileLimit::ProcessHidden { program, error } => {
            Limitation::Unsampled(format!("{program}: {error}"))
        }
        // Neither was asked for.
        ProfileLimit::KernelSymbolsHidden
        | ProfileLimit::WaitsHidden { .. }
        | ProfileLimit::WaitsSampled { .. } => return None,
    })
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
