//! Samples call stacks of processes and of all that they start, with times.

mod clocks;
mod cost;
mod cpus;
mod error;
mod processes;
mod states;
mod wait_kind;
mod wait_stacks;
mod waits;

pub use error::ProfileError;

use crate::code::machine_codes;
use crate::profile::{SampledStacks, TimedSample};
use crate::symbols::addresses::{CodeAddress, MappedFiles, ResolvedAddress};
use crate::threads::threads_below;
pub(crate) use clocks::Open;
use clocks::{Clocks, cycles_per_s};
pub use cost::usual_rate_hz;
pub(crate) use error::perf_level;
use indexmap::IndexSet;
use model::{CodeFault, Frame, FrameKind, MachineCode, ProfileLimit};
use processes::{Node, Processes, StackSample, interned};
use rustix::process::Pid;
use states::{States, Still};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use sys::clock::Clock;
use sys::perf::{Event, Modes, Record, records, records_with_bytes};
use waits::{SchedPoints, WaitSpan, Waits};

/// How long looking up symbols may take.
const LOOKUP_MAX: Duration = Duration::from_secs(20);
/// Functions whose code is read.
const FUNCTIONS_WITH_CODE_MAX: usize = 10;
/// A record is written this long after its time at the most. Until then, an earlier one may come from another CPU.
const WRITTEN_AFTER_NS: u64 = 1_000_000;

/// How often the threads of a process are looked for again, while there are new ones.
const SCANS_MAX: usize = 8;
/// A thread is listed for a moment before the record of its start is written.
const RECORDED_AFTER: Duration = Duration::from_millis(1);

/// A profile that is being taken.
///
/// It samples every CPU, where the system allows that, and keeps what is of the processes that it follows; else
/// each followed thread has a clock on each CPU, which it hands on to what it starts.
pub struct Profiler {
    clocks: Clocks,
    processes: Processes,
    /// None where the system does not show switches.
    waits: Option<Waits>,
    /// What stands for them there.
    states: Option<States>,
    /// What waited at the start.
    still: Option<Still>,
    /// The waits that this was.
    spans: Vec<WaitSpan>,
    sample_ns: f64,
    bytes: Vec<u8>,
    /// When it stopped.
    stopped_ns: Option<u64>,
    /// What could not be attached.
    hidden: Vec<ProfileLimit>,
}

impl Profiler {
    /// What is missing for a profile here, before anything is measured.
    ///
    /// # Errors
    /// Nothing can be sampled.
    pub fn check() -> Result<(), ProfileError> {
        Clocks::open_with(std::process::id(), 1, cycles_per_s(), &Event::clock)?.enable()
    }

    /// Samples `root`, its threads and descendants, and everything that they start.
    ///
    /// # Errors
    /// Nothing can be sampled, or there is no such process.
    pub fn start(root: Pid, frequency_hz: u64) -> Result<Profiler, ProfileError> {
        Profiler::start_with(root, frequency_hz, &Event::clock)
    }

    fn start_with(root: Pid, frequency_hz: u64, open: Open<'_>) -> Result<Profiler, ProfileError> {
        let pid = root.as_raw_pid().cast_unsigned();
        let clocks = Clocks::open_with(pid, frequency_hz, cycles_per_s(), open)?;
        let mut profiler = Profiler::with_clocks(clocks, frequency_hz);
        // Before the first switch is recorded: no wait is both.
        let still = Still::new(root, profiler.sample_ns);
        match seen_waits(&mut profiler.clocks, profiler.sample_ns) {
            Ok(waits) => (profiler.waits, profiler.still) = (Some(waits), Some(still)),
            Err(error) => profiler.look_at_states(root, error),
        }
        // What it starts from here on is recorded; what it has started already is looked for.
        profiler.clocks.enable()?;
        profiler.try_attach(root)?;
        Ok(profiler)
    }

    /// Samples `roots` by their CPU time, with all that they start, and not what they wait for. A process that has ended is passed
    /// over.
    ///
    /// # Errors
    /// Nothing can be sampled, or the first has ended.
    pub(crate) fn start_clocks(
        roots: &[Pid],
        frequency_hz: u64,
        open: Open<'_>,
    ) -> Result<Profiler, ProfileError> {
        let first = roots.first().map_or(0, |root| root.as_raw_pid().cast_unsigned());
        let clocks = Clocks::open_with(first, frequency_hz, None, open)?;
        let mut profiler = Profiler::with_clocks(clocks, frequency_hz);
        profiler.clocks.enable()?;
        for &root in roots {
            profiler.attach(root);
        }
        Ok(profiler)
    }

    fn with_clocks(clocks: Clocks, frequency_hz: u64) -> Profiler {
        let sample_ns = 1e9 / frequency_hz.max(1) as f64;
        let processes = Processes::default();
        Profiler {
            clocks,
            processes,
            waits: None,
            states: None,
            still: None,
            spans: Vec::new(),
            sample_ns,
            bytes: Vec::new(),
            stopped_ns: None,
            hidden: Vec::new(),
        }
    }

    /// Where switches are hidden for this reason.
    fn look_at_states(&mut self, root: Pid, error: String) {
        self.states = States::start(root, self.sample_ns).ok();
        self.hidden.push(match self.states {
            Some(_) => ProfileLimit::WaitsSampled { error },
            None => ProfileLimit::WaitsHidden { error },
        });
    }

    /// Also samples a process that runs already, with its threads, its descendants, and what they start. What of it
    /// can't be sampled is among the limits of the profile.
    pub fn attach(&mut self, pid: Pid) {
        match self.try_attach(pid) {
            Ok(()) | Err(ProfileError::NoProcess(_)) => {}
            Err(error) => {
                let (program, error) = (comm(pid.as_raw_pid()), error.to_string());
                self.hidden.push(ProfileLimit::ProcessHidden { program, error });
            }
        }
    }

    fn try_attach(&mut self, root: Pid) -> Result<(), ProfileError> {
        let pid = root.as_raw_pid().cast_unsigned();
        let threads = threads_below(pid);
        if threads.is_empty() {
            return Err(ProfileError::NoProcess(pid));
        }
        let processes: BTreeSet<u32> = threads.into_iter().map(|(pid, _)| pid).collect();
        for process in processes {
            self.processes.follow(process);
        }
        if let Some(states) = &self.states {
            states.attach(pid);
        }
        let threads = self.attach_threads(pid)? as u64;
        if threads > 0 {
            let threads = printable::quantity(threads, "thread");
            let program = format!("{threads} of {}", comm(root.as_raw_pid()));
            let max = self.clocks.threads_max;
            let error = format!("without CAP_PERFMON, {max} threads are sampled at most");
            self.hidden.push(ProfileLimit::ProcessHidden { program, error });
        }
        Ok(())
    }

    /// Gives clocks to the threads of a process and of its descendants, until there are no more without; says how many
    /// were too many.
    fn attach_threads(&mut self, pid: u32) -> Result<usize, ProfileError> {
        let mut excess = 0;
        for _ in 0..SCANS_MAX {
            if !self.clocks.are_of_threads() {
                break;
            }
            let threads = threads_below(pid).into_iter().map(|(_, tid)| tid);
            std::thread::sleep(RECORDED_AFTER);
            let inherited = self.inherited();
            let new: Vec<u32> =
                threads.filter(|&tid| !self.clocks.has(tid) && !inherited.contains(&tid)).collect();
            if new.len() <= excess {
                break;
            }
            excess = self.clocks.attach(pid, &new)?;
        }
        Ok(excess)
    }

    /// The threads that have their clocks from the threads that started them.
    fn inherited(&mut self) -> BTreeSet<u32> {
        self.clocks.take(&mut self.bytes);
        let started = records(&self.bytes).filter_map(|record| match record {
            Record::Forked(forked) => Some(forked.tid),
            _ => None,
        });
        self.processes.started.iter().copied().chain(started).collect()
    }

    /// Takes note of what has come out of the kernel since the last call.
    pub fn take(&mut self) {
        let now_ns = Clock::Monotonic.now();
        self.clocks.take(&mut self.bytes);
        self.add_until(now_ns.saturating_sub(WRITTEN_AFTER_NS));
    }

    /// Takes note of the records up to this time, in their order, and keeps the later ones.
    fn add_until(&mut self, until_ns: u64) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut ordered: Vec<(u64, Record<'_>, &[u8])> = Vec::new();
        for (record, raw) in records_with_bytes(&bytes) {
            let time_ns = record.time_ns();
            if time_ns <= until_ns {
                ordered.push((time_ns, record, raw));
            } else {
                self.bytes.extend_from_slice(raw);
            }
        }
        ordered.sort_by_key(|&(time_ns, ..)| time_ns);
        for (_, record, raw) in &ordered {
            match (record, &mut self.waits) {
                (Record::Sample(sample), Some(waits)) if !sample.raw.is_empty() => {
                    waits.add(sample, raw, &self.processes);
                }
                (Record::Resumed(resumed), Some(waits)) => {
                    let (tid, time_ns) = (resumed.tid, resumed.time_ns);
                    let still = self.still.as_mut();
                    let span = still.and_then(|s| s.resumed(tid, time_ns, &mut self.processes));
                    self.spans.extend(span);
                    waits.resumed(*resumed, &mut self.processes);
                }
                _ => self.processes.add(record, self.clocks.setting.scope),
            }
        }
        if let Some(states) = &self.states {
            self.spans.extend(states.take(&mut self.processes));
        }
    }

    /// Samples nothing more. What came until then stays for [`Profiler::finish`].
    pub fn stop(&mut self) {
        self.clocks.disable();
        self.stopped_ns.get_or_insert_with(|| Clock::Monotonic.now());
    }

    /// Stops, and returns where each sample was taken, without its callers.
    pub(crate) fn into_leaves(mut self) -> Leaves {
        self.take_rest();
        let lost = self.processes.lost_samples();
        let limits = self.limits(lost);
        let leaf = |sample: &StackSample| {
            let StackSample { pid, tid, .. } = *sample;
            Leaf { pid, tid, address: self.processes.address(sample.node) }
        };
        let leaves = self.processes.samples.iter().map(leaf).collect();
        Leaves { samples: leaves, files: self.processes.files, limits }
    }

    fn take_rest(&mut self) {
        self.stop();
        self.clocks.take(&mut self.bytes);
        self.add_until(u64::MAX);
    }

    /// Stops, names all addresses, and returns the samples. `wanted` says of a time, from its beginning to its end,
    /// whether what was in it will be used: only the addresses of that are looked up.
    pub fn finish(mut self, wanted: &dyn Fn(u64, u64) -> bool) -> SampledStacks {
        self.take_rest();
        let lost = self.processes.lost_samples();
        let mut samples: Vec<StackSample> = std::mem::take(&mut self.processes.samples);
        let all = samples.len();
        samples.retain(|sample| wanted(sample.time_ns, sample.time_ns));
        samples.sort_by_key(|sample| sample.time_ns);
        let mut spans = self.wait_spans();
        spans.retain(|span| wanted(span.begin_ns, span.end_ns));
        let mut naming = Naming::new(&self.processes, &samples, &spans);
        let code = naming.code(&self.processes, &samples);
        let waits = naming.waits(&self.processes, &spans);
        let samples = samples.iter().map(|sample| naming.sample(&self.processes, sample));
        SampledStacks {
            event: self.clocks.event(),
            sample_ns: self.sample_ns,
            unwanted: (all - samples.len()) as u64,
            samples: samples.collect(),
            waits,
            limits: [self.limits(lost), naming.limits()].concat(),
            code,
            frames: naming.frames.into_iter().collect(),
        }
    }

    /// All waits, those that go on still until the stop.
    fn wait_spans(&mut self) -> Vec<WaitSpan> {
        if let Some(states) = self.states.take() {
            self.spans.extend(states.finish(&mut self.processes));
        }
        let stopped_ns = self.stopped_ns.unwrap_or_else(|| Clock::Monotonic.now());
        if let Some(still) = self.still.take() {
            self.spans.extend(still.finish(stopped_ns, &mut self.processes));
        }
        if let Some(waits) = &mut self.waits {
            waits.finish(stopped_ns, &mut self.processes);
            self.spans.append(&mut waits.spans);
        }
        std::mem::take(&mut self.spans)
    }

    fn limits(&self, lost: u64) -> Vec<ProfileLimit> {
        let mut limits = self.hidden.clone();
        if self.clocks.setting.sampling.modes == Modes::User {
            limits.push(ProfileLimit::KernelHidden { perf_level: perf_level() });
        }
        if lost > 0 {
            limits.push(ProfileLimit::SamplesLost { lost });
        }
        limits
    }
}

/// Where the samples of a profile were taken.
pub(crate) struct Leaves {
    pub samples: Vec<Leaf>,
    /// The files of their addresses.
    pub files: MappedFiles,
    /// What could not be seen.
    pub limits: Vec<ProfileLimit>,
}

pub(crate) struct Leaf {
    pub pid: u32,
    pub tid: u32,
    pub address: CodeAddress,
}

/// Adds what shows the waits of threads.
///
/// # Errors
/// Why the system does not show them.
fn seen_waits(clocks: &mut Clocks, sample_ns: f64) -> Result<Waits, String> {
    let points = SchedPoints::find()?;
    let added = clocks.add_tracepoints(&[points.switch, points.waking]);
    added.map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => "only root may see the switches of all threads".to_owned(),
        _ => error.to_string(),
    })?;
    Ok(Waits::new(points, sample_ns))
}

/// The kernel's name of a process, or its number where it has gone.
fn comm(pid: i32) -> String {
    let comm = sys::proc::comm(pid).unwrap_or_else(|_| pid.to_string());
    printable::replace_unprintable(&comm)
}

/// The names of the addresses that samples are at.
struct Naming {
    resolved: BTreeMap<CodeAddress, ResolvedAddress>,
    /// Whether the time was over before all were looked up.
    is_late: bool,
    frames: IndexSet<Frame>,
    /// The frame of each node that a sample needs.
    of_nodes: HashMap<u32, u32>,
}

impl Naming {
    fn new(processes: &Processes, samples: &[StackSample], waits: &[WaitSpan]) -> Naming {
        let mut nodes = BTreeSet::new();
        let of_waits = waits.iter().flat_map(|wait| [Some(wait.node), wait.waker]).flatten();
        for innermost in samples.iter().map(|sample| sample.node).chain(of_waits) {
            let mut next = Some(innermost);
            while let Some(node) = next.filter(|&node| nodes.insert(node)) {
                next = processes.nodes[node as usize].caller;
            }
        }
        let is_address = |node: &u32| processes.nodes[*node as usize].caller.is_some();
        let addresses: BTreeSet<CodeAddress> =
            nodes.iter().copied().filter(is_address).map(|node| processes.address(node)).collect();
        let until = Instant::now() + LOOKUP_MAX;
        let resolved = processes.files.resolve(&addresses, true, until);
        let is_late = Instant::now() >= until;
        let (frames, of_nodes) = (IndexSet::new(), HashMap::new());
        let mut naming = Naming { resolved, is_late, frames, of_nodes };
        for node in nodes {
            let frame = naming.frame(processes, node);
            let index = interned(&mut naming.frames, frame);
            naming.of_nodes.insert(node, index);
        }
        naming
    }

    fn limits(&self) -> Vec<ProfileLimit> {
        let of_kernel = || self.resolved.values().filter(|address| address.kind.is_kernel());
        let is_nameless = of_kernel().all(|address| address.symbol.is_none());
        // Where the time was over, nothing was hidden.
        let is_hidden = !self.is_late && is_nameless && of_kernel().count() > 0;
        if is_hidden { vec![ProfileLimit::KernelSymbolsHidden] } else { Vec::new() }
    }

    fn frame(&self, processes: &Processes, node: u32) -> Frame {
        let Node { caller, content } = processes.nodes[node as usize];
        if caller.is_none() {
            let function = processes.names[content as usize].clone();
            return Frame { function, module: String::new(), kind: FrameKind::Process };
        }
        let resolved = &self.resolved[&processes.address(node)];
        let function = resolved.symbol.as_ref().map_or("", |symbol| &symbol.name);
        let [function, module] = [function, &resolved.module].map(printable::replace_unprintable);
        Frame { function, module, kind: resolved.kind }
    }

    /// The code of the functions that most samples were taken in.
    fn code(
        &self,
        processes: &Processes,
        samples: &[StackSample],
    ) -> Vec<(u32, Result<MachineCode, CodeFault>)> {
        let mut counts: BTreeMap<u32, (u64, CodeAddress)> = BTreeMap::new();
        for sample in samples {
            let first = || (0, processes.address(sample.node));
            counts.entry(self.of_nodes[&sample.node]).or_insert_with(first).0 += 1;
        }
        let mut functions: Vec<(u32, (u64, CodeAddress))> = counts.into_iter().collect();
        functions.sort_by_key(|(_, (count, _))| Reverse(*count));
        functions.truncate(FUNCTIONS_WITH_CODE_MAX);
        let until = Instant::now() + LOOKUP_MAX;
        let addresses: Vec<(&CodeAddress, &ResolvedAddress)> =
            functions.iter().map(|(_, (_, address))| (address, &self.resolved[address])).collect();
        let codes = machine_codes(&processes.files, &addresses, until);
        let codes = codes.into_iter().zip(&addresses).map(|(code, (_, resolved))| {
            let is_late = self.is_late && resolved.symbol.is_none();
            if is_late { Err(CodeFault::TimedOut) } else { code }
        });
        functions.iter().map(|(frame, _)| *frame).zip(codes).collect()
    }

    fn sample(&self, processes: &Processes, sample: &StackSample) -> TimedSample {
        let stack = processes.path(sample.node).iter().map(|node| self.of_nodes[node]).collect();
        let offset = self
            .resolved
            .get(&processes.address(sample.node))
            .map_or(0, |resolved| resolved.offset);
        TimedSample { time_ns: sample.time_ns, stack, offset }
    }
}

impl Processes {
    /// The address of a node that is no root.
    fn address(&self, node: u32) -> CodeAddress {
        self.addresses[self.nodes[node as usize].content as usize].clone()
    }

    /// The nodes from the root on to this one.
    fn path(&self, node: u32) -> Vec<u32> {
        let caller = |node: &u32| self.nodes[*node as usize].caller;
        let mut nodes: Vec<u32> = std::iter::successors(Some(node), caller).collect();
        nodes.reverse();
        nodes
    }
}

#[cfg(test)]
mod tests;
