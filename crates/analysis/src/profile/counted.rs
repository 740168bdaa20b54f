//! The samples of one profile, counted by function.

use crate::Estimate;
use crate::stats::poisson;
use crate::thresholds::{EVEN, NAMED_SHARE_MIN};
use crate::{FunctionTime, ProfilePoint};
use model::{
    Entry, Frame, FrameKind, MetricInfo, Profile, ProfileLimit, ProfiledCell, ProfiledRegion, Site,
    Wait, WaitKind, entry_of, waits_metric,
};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Samples in one function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Count {
    /// In itself.
    pub(crate) itself: u64,
    /// In it and in what it calls; once where it calls itself.
    pub(crate) inclusive: u64,
    /// In itself, outside of system calls.
    pub(crate) outside_calls: u64,
    /// On the way into a system call: the kernel's gate to all of them.
    gate: u64,
    /// The sum over these of how many callers it has.
    callers: u64,
}

/// Samples in one system call and all that it does.
#[derive(Clone, Debug)]
pub(crate) struct InCall<'a> {
    pub(crate) samples: u64,
    /// The function that it is.
    pub(crate) entry: &'a Frame,
    pub(crate) functions: HashMap<&'a Frame, u64>,
    /// By the functions of programs that make it.
    callers: HashMap<&'a Frame, u64>,
}

impl<'a> InCall<'a> {
    /// What makes it most often.
    pub(crate) fn caller(&self) -> Option<&'a Frame> {
        largest(&self.callers)
    }
}

impl Count {
    /// Whether it is no more than a way into system calls.
    pub(crate) fn is_gate(self) -> bool {
        self.gate as f64 > EVEN * self.inclusive as f64
    }

    /// How many callers it has on average.
    pub(crate) fn depth(self) -> f64 {
        self.callers as f64 / self.inclusive.max(1) as f64
    }
}

/// The timed regions of one subject around one point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted<'a> {
    pub(crate) operations: u64,
    pub(crate) samples: u64,
    /// The CPU time that a sample stands for.
    pub(crate) sample_ns: f64,
    elapsed_ns: u64,
    /// What the metric is of an operation, by the profile: its elapsed time, or its CPU time.
    pub(crate) timed_ns: f64,
    kernel: u64,
    unnamed: u64,
    pub(crate) kernel_hidden: bool,
    /// Whether samples were lost.
    pub(crate) is_incomplete: bool,
    /// Samples of threads that wait.
    pub(crate) waits: HashMap<Wait<'a>, u64>,
    pub(crate) waits_hidden: bool,
    pub(crate) functions: HashMap<&'a Frame, Count>,
    /// System calls by their names.
    pub(crate) calls: HashMap<String, InCall<'a>>,
    /// Samples of functions by source line.
    lines: HashMap<&'a Frame, HashMap<&'a str, u64>>,
    /// Samples of functions by what calls them there, and of the sites of waits.
    callers: HashMap<&'a Frame, HashMap<&'a Frame, u64>>,
    pub(crate) callers_of_sites: HashMap<Site<'a>, HashMap<&'a Frame, u64>>,
}

impl<'a> Counted<'a> {
    /// Those of `metric` in `cells` whose position is `point`; `None` where none has an operation. Waits are no
    /// part of CPU time.
    pub(crate) fn new(
        profile: &'a Profile,
        cells: &[&'a ProfiledCell],
        metric: &MetricInfo,
        point: u64,
    ) -> Option<Self> {
        let is_cpu_time = metric.role.is_cpu_time();
        let (mut counted, waits) = (Self::default(), waits_metric(&metric.name));
        for cell in cells {
            for region in cell.regions.iter().filter(|region| region.position == point) {
                if region.metric == waits && !is_cpu_time {
                    counted.add_waits(profile, region);
                }
                if region.metric != metric.name {
                    continue;
                }
                counted.sample_ns = cell.sample_ns;
                for limit in &cell.limits {
                    match limit {
                        ProfileLimit::KernelHidden { .. } => counted.kernel_hidden = true,
                        ProfileLimit::SamplesLost { .. } => counted.is_incomplete = true,
                        ProfileLimit::WaitsHidden { .. } => counted.waits_hidden = true,
                        _ => {}
                    }
                }
                counted.add(profile, region);
            }
        }
        counted.timed_ns = if is_cpu_time { counted.cpu_ns().value } else { counted.elapsed_ns() };
        let counts = counted.operations > 0 && counted.sample_ns > 0.0;
        counts.then_some(counted)
    }

    fn add(&mut self, profile: &'a Profile, region: &ProfiledRegion) {
        // A record that was imported may have any numbers.
        self.operations = self.operations.saturating_add(region.operations);
        self.elapsed_ns = self.elapsed_ns.saturating_add(region.elapsed_ns);
        for &(stack, count) in &region.samples {
            let frames = frames(profile, stack);
            let Some(innermost) = frames.last() else { continue };
            self.samples += count;
            self.kernel += if innermost.kind.is_kernel() { count } else { 0 };
            self.unnamed += if is_unnamed(innermost) { count } else { 0 };
            for (callers, frame) in frames.iter().enumerate() {
                let entry = self.functions.entry(frame).or_default();
                if !frames[..callers].contains(frame) {
                    entry.inclusive += count;
                    entry.callers += count * callers as u64;
                    if let Some(caller) = caller(&frames[..callers]) {
                        let of_function = self.callers.entry(frame).or_default();
                        *of_function.entry(caller).or_default() += count;
                    }
                }
            }
            let call = self.add_call(&frames, count);
            for frame in frames[..call.unwrap_or(0)].iter().filter(|f| f.kind.is_kernel()) {
                self.functions.entry(frame).or_default().gate += count;
            }
            let innermost = self.functions.entry(innermost).or_default();
            innermost.itself += count;
            innermost.outside_calls += if call.is_some() { 0 } else { count };
        }
        for sample in &region.instructions {
            let frame = profile.frames.get(sample.frame as usize);
            let Some(Ok(code)) = profile.code(sample.frame) else { continue };
            let after = code.lines.partition_point(|(offset, _)| *offset <= sample.offset);
            let line = after.checked_sub(1).map(|at| code.lines[at].1.as_str());
            if let Some((frame, line)) = frame.zip(line) {
                *self.lines.entry(frame).or_default().entry(line).or_default() += sample.count;
            }
        }
    }

    /// Counts a stack that is in a system call, and returns the place of its function.
    fn add_call(&mut self, frames: &[&'a Frame], count: u64) -> Option<usize> {
        let entries =
            frames.iter().enumerate().map(|(at, &frame)| (at, entry_of([frame].into_iter())));
        let entered = { entries }.find(|(_, entry)| !matches!(entry, Entry::User | Entry::Kernel));
        let (Some((at, Entry::Call(name))), Some(innermost)) = (entered, frames.last()) else {
            return None;
        };
        let (functions, callers) = (HashMap::new(), HashMap::new());
        let new = InCall { samples: 0, entry: frames[at], functions, callers };
        let call = self.calls.entry(name).or_insert(new);
        call.samples += count;
        *call.functions.entry(innermost).or_default() += count;
        if let Some(caller) = frames[..at].iter().rev().find(|frame| is_of_user(frame)) {
            *call.callers.entry(caller).or_default() += count;
        }
        Some(at)
    }

    fn add_waits(&mut self, profile: &'a Profile, region: &ProfiledRegion) {
        for &(stack, count) in &region.samples {
            let frames = frames(profile, stack);
            let Some(wait) = Wait::read(&frames) else { continue };
            *self.waits.entry(wait).or_default() += count;
            for site in wait.site.into_iter().chain(wait.waker) {
                let at = frames.windows(2).position(|pair| {
                    pair[1].kind == FrameKind::Line
                        && (pair[0], pair[1].function.as_str()) == (site.frame, site.line)
                });
                if let Some(caller) = at.and_then(|at| caller(&frames[..at])) {
                    let of_site = self.callers_of_sites.entry(site).or_default();
                    *of_site.entry(caller).or_default() += count;
                }
            }
        }
    }

    /// The line of a function with most samples.
    pub(crate) fn line(&self, frame: &Frame) -> Option<&'a str> {
        largest(self.lines.get(frame)?)
    }

    /// What calls a function most often.
    pub(crate) fn caller(&self, frame: &Frame) -> Option<&'a Frame> {
        largest(self.callers.get(frame)?)
    }

    /// What of a program makes the system call in which a function of the kernel has most samples by itself.
    pub(crate) fn caller_of_call(&self, frame: &Frame) -> Option<&'a Frame> {
        let samples = |call: &InCall<'a>| call.functions.get(frame).copied().unwrap_or_default();
        let call = self.calls.values().filter(|call| samples(call) > 0);
        call.max_by_key(|call| samples(call))?.caller()
    }

    /// The samples of these waits.
    pub(crate) fn waiting(&self, is: impl Fn(&Wait<'a>) -> bool) -> u64 {
        self.waits.iter().filter(|(wait, _)| is(wait)).map(|(_, count)| count).sum()
    }

    /// The samples in `frame`.
    pub(crate) fn count(&self, frame: &Frame) -> Count {
        self.functions.get(frame).copied().unwrap_or_default()
    }

    /// The time of an operation that one sample stands for.
    pub(crate) fn sample_of_operation_ns(&self) -> f64 {
        self.sample_ns / self.operations.max(1) as f64
    }

    /// Elapsed time of an operation.
    pub(crate) fn elapsed_ns(&self) -> f64 {
        self.elapsed_ns as f64 / self.operations.max(1) as f64
    }

    /// How many samples one CPU that never waits would have had.
    pub(crate) fn samples_of_one_cpu(&self) -> f64 {
        self.elapsed_ns as f64 / self.sample_ns
    }

    /// CPU time of an operation.
    pub(crate) fn cpu_ns(&self) -> Estimate {
        poisson::interval(self.samples).map(|count| count * self.sample_of_operation_ns())
    }

    /// The share of the samples without a symbol.
    pub(crate) fn unnamed_share(&self) -> f64 {
        share(self.unnamed, self.samples)
    }

    /// The time of an operation in a function with `count` samples.
    pub(crate) fn time(&self, count: u64) -> FunctionTime {
        FunctionTime {
            samples: count,
            ns: poisson::interval(count).map(|count| count * self.sample_of_operation_ns()),
            share: poisson::share(count, self.samples),
        }
    }

    /// The time of an operation that its threads wait for `kind`, of all that they run and wait.
    pub(crate) fn wait_time(&self, kind: WaitKind) -> FunctionTime {
        let count = self.waiting(|wait| wait.kind == kind);
        let share = poisson::share(count, self.samples + self.waiting(|_| true));
        FunctionTime { share, ..self.time(count) }
    }

    /// The processes that have more than next to none of the samples, the one with most of them first.
    pub(crate) fn processes(&self) -> Vec<(&'a Frame, f64)> {
        let all = self.functions.iter().filter(|(frame, _)| frame.kind == FrameKind::Process);
        let shares = all.map(|(frame, count)| (*frame, share(count.inclusive, self.samples)));
        let mut shares: Vec<(&Frame, f64)> =
            shares.filter(|(_, share)| *share >= NAMED_SHARE_MIN).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        shares
    }

    /// What a report shows of it.
    pub(crate) fn summary(&self, point: u64) -> ProfilePoint {
        let processes = self.processes().into_iter();
        ProfilePoint {
            point,
            operations: self.operations,
            samples: self.samples,
            elapsed_ns: self.elapsed_ns(),
            cpu_ns: self.cpu_ns(),
            kernel_share: share(self.kernel, self.samples),
            unnamed_share: self.unnamed_share(),
            processes: processes.map(|(frame, share)| (frame.function.clone(), share)).collect(),
        }
    }
}

/// The frames of a stack, its root first.
fn frames(profile: &Profile, stack: u32) -> Vec<&Frame> {
    let frame = |node: u32| profile.frames.get(profile.stacks.get(node as usize)?.frame as usize);
    profile.path(stack).into_iter().filter_map(frame).collect()
}

/// What has most samples.
pub(crate) fn largest<T: Copy + Ord>(counts: &HashMap<T, u64>) -> Option<T> {
    let largest = counts.iter().max_by_key(|(value, count)| (**count, Reverse(**value)));
    largest.map(|(value, _)| *value)
}

/// The innermost of these frames, if that is a function of a program: none of a standard library is what a user means.
fn caller<'a>(frames: &[&'a Frame]) -> Option<&'a Frame> {
    frames.last().copied().filter(|frame| is_of_program(frame))
}

/// The program whose own functions make the calls of its workloads, of which no user asks.
const OWN_MODULE: &str = "knee";
/// What functions of Rust's library and of bindings to system calls begin with.
const BINDINGS: [&str; 2] = ["std::", "rustix::"];

fn is_of_program(frame: &Frame) -> bool {
    matches!(frame.kind, FrameKind::User | FrameKind::Jit)
        && !frame.function.is_empty()
        && !frame.module.starts_with("libc.")
        && !BINDINGS.iter().any(|prefix| frame.function.starts_with(prefix))
}

/// Whether it is of another program than knee.
fn is_of_user(frame: &Frame) -> bool {
    is_of_program(frame) && frame.module != OWN_MODULE
}

/// Whether `frame`, the innermost of a stack, has no symbol.
fn is_unnamed(frame: &Frame) -> bool {
    frame.function.is_empty() || frame.kind == FrameKind::Process
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
