//! What one profile of an operation adds to another, and where.
//!
//! Samples are counts: their variance is their number. A function's share of the added time is a ratio of two
//! differences, with the interval of the delta method, which needs the denominator to be clear of zero. Two cells of
//! the same differ by a third on a shared machine: hence the timed rounds decide whether there is anything to
//! attribute, and the profile where it is.

use crate::profile::counted::{Count, Counted, InCall, largest};
use crate::stats::{NORMAL_95, poisson};
use crate::thresholds::{
    CONTAINER_SHARE_MIN, EVEN, FLAT_FACTOR_MAX, FUNCTION_ERRORS, NAMED_SHARE_MIN, PART_SHARE_MIN,
    SAME_SHARE_MAX, SHARE_SAMPLES_MIN,
};
use crate::{
    AddedFunction, AddedTime, AddedWait, DifferenceVerdict, Estimate, ProfileDifference,
    SystemCall, WaitSite,
};
use model::{Frame, FrameKind, Site, Wait, WaitKind};
use std::collections::BTreeSet;

/// Functions that are named at most.
const LEADERS_MAX: usize = 5;

/// Two profiles of the same operation.
pub(crate) struct Pair<'a, 'b> {
    pub(crate) first: &'b Counted<'a>,
    pub(crate) second: &'b Counted<'a>,
    /// The workers of the second, up to one for each CPU, where they are more and do not gain what they should: then
    /// added CPU time counts although an operation takes little longer, and so does waiting until another worker sends
    /// something.
    pub(crate) short_workers: Option<u64>,
}

/// A difference with its standard error.
#[derive(Clone, Copy)]
struct Difference {
    value: f64,
    error: f64,
}

impl<'a> Pair<'a, '_> {
    /// How the second differs from the first; `timed_factor` is that of the timed rounds.
    pub(crate) fn difference(&self, timed_factor: Option<Estimate>) -> ProfileDifference {
        let total = self.total();
        let verdict = self.verdict(timed_factor, total);
        let dearer = self.dearer();
        let mut difference = ProfileDifference {
            samples: [self.first.samples, self.second.samples],
            cpu_ns: [self.first.cpu_ns(), self.second.cpu_ns()],
            elapsed_ns: [self.first.elapsed_ns(), self.second.elapsed_ns()],
            timed_factor: timed_factor.unwrap_or(Estimate::holding(1.0, 0.0, f64::INFINITY)),
            added_ns: total.estimate(),
            unnamed_share: dearer.unnamed_share(),
            kernel_hidden: self.kernel_hidden(),
            verdict,
            container: None,
            leaders: Vec::new(),
            process: None,
            waits: self.waits(),
            waits_of_all: false,
        };
        if difference.is_attributed() {
            self.name_functions(&mut difference);
        } else if let DifferenceVerdict::Serial { .. } = verdict {
            // Over nothing it adds all that it has.
            let alone = Pair { first: &Counted::default(), ..*self };
            if difference.waits.is_empty() {
                (difference.waits, difference.waits_of_all) = (alone.waits(), true);
            }
            alone.name_functions(&mut difference);
        }
        difference
    }

    fn name_functions(&self, difference: &mut ProfileDifference) {
        let total = self.total();
        difference.container = self.container(total);
        let is_in_kernel =
            difference.container.as_ref().is_some_and(|container| container.frame.kind.is_kernel());
        difference.leaders = self.leaders(total, is_in_kernel);
        difference.process = self.process(total);
    }

    /// What these samples of `frame` add.
    pub(crate) fn added(&self, frame: &Frame, samples: fn(Count) -> u64) -> AddedTime {
        let (part, total) = (self.function(frame, samples), self.total());
        let share = total.is_clear().then(|| share(part, total));
        AddedTime { ns: part.estimate(), share }
    }

    /// What the kinds of waits add that hold a part of the added thread time; none where that is not clear.
    fn waits(&self) -> Vec<AddedWait> {
        let total = self.thread_total();
        let is_hidden = self.first.waits_hidden || self.second.waits_hidden;
        if is_hidden || total.value <= 0.0 || !total.is_clear() {
            return Vec::new();
        }
        let wait = |kind: WaitKind| {
            let part = self.causing(kind);
            let share = share(part, total);
            let counts = part.is_clear() && share.value >= PART_SHARE_MIN;
            counts.then(|| self.added_wait(kind, share, total))
        };
        let mut waits: Vec<AddedWait> = WaitKind::ALL.into_iter().filter_map(wait).collect();
        waits.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
        waits
    }

    /// The waits of a kind with where most of them are, and where most of these end.
    fn added_wait(&self, kind: WaitKind, of_kind: Estimate, total: Difference) -> AddedWait {
        let part =
            |site: Site<'a>| self.waiting(|wait| wait.kind == kind && wait.site == Some(site));
        let is_of_kind = |wait: &&Wait<'a>| wait.kind == kind && self.may_be_cause(wait);
        let all = self.second.waits.keys().filter(is_of_kind);
        let sites: BTreeSet<Site<'_>> = all.clone().filter_map(|wait| wait.site).collect();
        let site = sites.into_iter().max_by(|a, b| part(*a).value.total_cmp(&part(*b).value));
        let site = site.filter(|site| part(*site).value > 0.0);
        let ends = |wait: &Wait<'a>, waker: Site<'a>| {
            (wait.kind, wait.site, wait.waker) == (kind, site, Some(waker))
        };
        let wakers: BTreeSet<Site<'_>> =
            all.filter(|wait| wait.site == site).filter_map(|wait| wait.waker).collect();
        let ended = |waker: &Site<'a>| self.second.waiting(|wait| ends(wait, *waker));
        let waker = wakers.into_iter().max_by_key(ended);
        let wait_site = |site: Site<'a>, part: Difference| WaitSite {
            frame: site.frame.clone(),
            line: site.line.to_owned(),
            caller: self.second.callers_of_sites.get(&site).and_then(largest).cloned(),
            share: share(part, total),
        };
        AddedWait {
            kind,
            share: of_kind,
            site: site.map(|site| wait_site(site, part(site))),
            waker: waker.map(|waker| wait_site(waker, self.waiting(|wait| ends(wait, waker)))),
        }
    }

    /// What the waits of a kind add.
    pub(crate) fn added_waiting(&self, kind: WaitKind) -> AddedTime {
        let (part, total) = (self.causing(kind), self.thread_total());
        let is_part = (!kind.is_idle() || part.value > 0.0) && total.is_clear();
        let ns = self.waiting(|wait| wait.kind == kind).estimate();
        AddedTime { ns, share: is_part.then(|| share(part, total)) }
    }

    /// What the waits of a kind add that can be a reason.
    fn causing(&self, kind: WaitKind) -> Difference {
        self.waiting(|wait| wait.kind == kind && self.may_be_cause(wait))
    }

    /// Whether a wait can be a reason: it is not idle; or another worker ended it, where workers do not gain.
    fn may_be_cause(&self, wait: &Wait<'_>) -> bool {
        let is_starved = self.short_workers.is_some() && wait.kind == WaitKind::Notification;
        !wait.kind.is_idle() || is_starved && wait.waker.is_some()
    }

    /// All thread time: of threads that run, and of those that wait and are not idle.
    fn thread_total(&self) -> Difference {
        self.between(|profile| profile.samples + profile.waiting(|wait| self.may_be_cause(wait)))
    }

    fn waiting(&self, is: impl Fn(&Wait<'a>) -> bool) -> Difference {
        self.between(|profile| profile.waiting(&is))
    }

    /// The one that costs more CPU time.
    fn dearer(&self) -> &Counted<'a> {
        if self.total().value >= 0.0 { self.second } else { self.first }
    }

    fn kernel_hidden(&self) -> bool {
        self.first.kernel_hidden || self.second.kernel_hidden
    }

    fn total(&self) -> Difference {
        self.between(|profile| profile.samples)
    }

    fn function(&self, frame: &Frame, samples: fn(Count) -> u64) -> Difference {
        self.between(|profile| samples(profile.count(frame)))
    }

    /// What these samples add.
    fn between(&self, count: impl Fn(&Counted<'a>) -> u64) -> Difference {
        let [first, second] = [self.first, self.second].map(count);
        let (each_first, each_second) =
            (self.first.sample_of_operation_ns(), self.second.sample_of_operation_ns());
        // Half a sample more: none may have been one.
        let variance = |count: u64, each: f64| (count as f64 + 0.5) * each * each;
        Difference {
            value: second as f64 * each_second - first as f64 * each_first,
            error: (variance(first, each_first) + variance(second, each_second)).sqrt(),
        }
    }

    fn verdict(&self, timed_factor: Option<Estimate>, total: Difference) -> DifferenceVerdict {
        let Some(timed) = timed_factor else { return DifferenceVerdict::NotTimed };
        if let Some(workers) = self.short_workers {
            if self.is_added_by_workers(total) {
                return DifferenceVerdict::Added;
            }
            if let Some(busy_cpus) = self.serial(workers as f64) {
                return DifferenceVerdict::Serial { busy_cpus };
            }
        }
        if timed.low > FLAT_FACTOR_MAX || timed.high < 1.0 / FLAT_FACTOR_MAX {
            return self.changed(timed, total);
        }
        let is_level = timed.low > 1.0 / FLAT_FACTOR_MAX && timed.high < FLAT_FACTOR_MAX;
        if !is_level || self.first.samples.min(self.second.samples) < SHARE_SAMPLES_MIN as u64 {
            return DifferenceVerdict::NotTimed;
        }
        let bound = self.share_bound();
        let is_same = bound <= SAME_SHARE_MAX;
        if is_same { DifferenceVerdict::Same { bound } } else { DifferenceVerdict::NotTimed }
    }

    /// Whether more workers take more CPU time for an operation, and that is a part of all the time that they take more.
    fn is_added_by_workers(&self, total: Difference) -> bool {
        total.value > 0.0
            && total.is_clear()
            && self.dearer().samples >= SHARE_SAMPLES_MIN as u64
            && total.value >= PART_SHARE_MIN * self.thread_total().value
            && total.value >= PART_SHARE_MIN * self.first.cpu_ns().value
    }

    /// CPUs that these workers keep busy, where they leave a part idle that nothing keeps from them.
    fn serial(&self, workers: f64) -> Option<f64> {
        let second = self.second;
        let is_whole = !second.kernel_hidden && !second.waits_hidden && !second.is_incomplete;
        let cpus = |samples: f64| samples / second.samples_of_one_cpu();
        let is_held = |wait: &Wait<'_>| wait.kind.is_for_cpu() && wait.kind != WaitKind::Cpu;
        let busy_max = cpus(poisson::interval(second.samples).high);
        let has_idle_cpus = busy_max <= (1.0 - PART_SHARE_MIN) * workers
            && cpus(second.waiting(is_held) as f64)
                <= (1.0 - PART_SHARE_MIN) * (workers - busy_max);
        (is_whole && has_idle_cpus).then(|| cpus(second.samples as f64))
    }

    /// Of a timed difference that is clear.
    fn changed(&self, timed: Estimate, total: Difference) -> DifferenceVerdict {
        let factor = self.second.timed_ns / self.first.timed_ns;
        // Of opposite signs the quotient is below zero.
        let repeats = factor.ln() / timed.value.ln() >= EVEN;
        if !repeats {
            // What gets faster may do more at a time.
            let slower = timed.value > 1.0;
            return if slower {
                DifferenceVerdict::NotReproduced
            } else {
                DifferenceVerdict::NotTimed
            };
        }
        let added_timed = self.second.timed_ns - self.first.timed_ns;
        let cpu_max = total.value + NORMAL_95 * total.error;
        // On a busy machine each operation takes twice its CPU time or more, at both ends: then both grow by the same
        // factor, which is no waiting of theirs.
        let cpu_factor = 1.0 + cpu_max.max(0.0) / self.first.cpu_ns().value;
        let explained = cpu_factor.ln() / factor.ln() >= EVEN;
        if added_timed > 0.0 && cpu_max < EVEN * added_timed && !explained {
            if self.kernel_hidden() {
                return DifferenceVerdict::KernelHidden;
            }
            // Who waits has few samples, which is no want of them.
            return if self.second.samples_of_one_cpu() < SHARE_SAMPLES_MIN as f64 {
                DifferenceVerdict::TooFewSamples
            } else {
                let share = 1.0 - total.value.max(0.0) / added_timed;
                DifferenceVerdict::Waiting { share }
            };
        }
        if added_timed < 0.0 && total.value - NORMAL_95 * total.error > EVEN * added_timed {
            // More is done at a time.
            return DifferenceVerdict::NotTimed;
        }
        if self.dearer().samples < SHARE_SAMPLES_MIN as u64 || !total.is_clear() {
            return DifferenceVerdict::TooFewSamples;
        }
        match (added_timed > 0.0, total.value > 0.0) {
            (true, true) => DifferenceVerdict::Added,
            (false, false) => DifferenceVerdict::Saved,
            // More CPU time in less elapsed time: it is done in parallel.
            _ => DifferenceVerdict::NotTimed,
        }
    }

    /// No function's share differs by more than this.
    fn share_bound(&self) -> f64 {
        let [first, second] = [self.first, self.second].map(|profile| profile.samples as f64);
        let bound = |frame: &&Frame| {
            let p = self.first.count(frame).itself as f64 / first;
            let q = self.second.count(frame).itself as f64 / second;
            let error = (p * (1.0 - p) / first + q * (1.0 - q) / second).sqrt();
            (q - p).abs() + NORMAL_95 * error
        };
        self.frames().iter().map(bound).fold(0.0, f64::max)
    }

    fn frames(&self) -> BTreeSet<&'a Frame> {
        self.first.functions.keys().chain(self.second.functions.keys()).copied().collect()
    }

    fn named_frames(&self) -> impl Iterator<Item = &'a Frame> {
        let is_named =
            |frame: &&Frame| frame.kind != FrameKind::Process && !frame.function.is_empty();
        self.frames().into_iter().filter(is_named)
    }

    /// The deepest function that holds most of what was added.
    fn container(&self, total: Difference) -> Option<AddedFunction> {
        let holding = self.named_frames().filter(|frame| {
            let part = self.function(frame, |count| count.inclusive);
            !self.dearer().count(frame).is_gate() && part.value / total.value >= CONTAINER_SHARE_MIN
        });
        let depth = |frame: &Frame| self.dearer().count(frame).depth();
        let deepest = holding.max_by(|a, b| depth(a).total_cmp(&depth(b)))?;
        Some(self.added_function(deepest, total, |count| count.inclusive))
    }

    /// The functions that add most by themselves. Where it is not one of the kernel that holds most, those of the
    /// kernel are one for each system call.
    fn leaders(&self, total: Difference, is_in_kernel: bool) -> Vec<AddedFunction> {
        let of_frame: fn(Count) -> u64 =
            if is_in_kernel { |count| count.itself } else { |count| count.outside_calls };
        let leads =
            |part: Difference| part.value / total.value >= NAMED_SHARE_MIN && part.is_clear();
        let leading = self.named_frames().filter(|frame| leads(self.function(frame, of_frame)));
        let mut leaders: Vec<AddedFunction> =
            leading.map(|frame| self.added_function(frame, total, of_frame)).collect();
        if !is_in_kernel {
            let calls = self.dearer().calls.keys();
            let calls = calls.filter(|name| leads(self.call(name, |call| call.samples)));
            leaders.extend(calls.map(|name| self.added_call(name, total)));
        }
        leaders.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
        leaders.truncate(LEADERS_MAX);
        leaders
    }

    fn call(&self, name: &str, samples: impl Fn(&InCall<'a>) -> u64) -> Difference {
        self.between(|profile| profile.calls.get(name).map_or(0, &samples))
    }

    fn added_call(&self, name: &str, total: Difference) -> AddedFunction {
        let (call, part) = (&self.dearer().calls[name], self.call(name, |call| call.samples));
        let added = |function: &&Frame| {
            self.call(name, |call| call.functions.get(*function).copied().unwrap_or_default()).value
        };
        let largest = call.functions.keys().copied().max_by(|a, b| added(a).total_cmp(&added(b)));
        let mostly = largest.filter(|f| added(f) / part.value >= EVEN && *f != call.entry);
        AddedFunction {
            frame: call.entry.clone(),
            line: None,
            caller: call.caller().cloned(),
            share: share(part, total),
            system_call: Some(SystemCall { name: name.to_owned(), mostly: mostly.cloned() }),
        }
    }

    /// The one of several processes that holds most of what was added.
    fn process(&self, total: Difference) -> Option<AddedFunction> {
        let processes = self.dearer().processes();
        let several = processes.iter().filter(|_| processes.len() > 1);
        let mut added =
            several.map(|(frame, _)| self.added_function(frame, total, |count| count.inclusive));
        added.find(|added| added.share.value >= CONTAINER_SHARE_MIN)
    }

    fn added_function(
        &self,
        frame: &Frame,
        total: Difference,
        samples: fn(Count) -> u64,
    ) -> AddedFunction {
        let (dearer, share) = (self.dearer(), share(self.function(frame, samples), total));
        let is_of_program = matches!(frame.kind, FrameKind::User | FrameKind::Jit);
        let caller = if is_of_program {
            dearer.caller(frame).filter(|caller| *caller != frame)
        } else {
            dearer.caller_of_call(frame)
        };
        let line = dearer.line(frame).filter(|_| is_of_program).map(str::to_owned);
        AddedFunction {
            frame: frame.clone(),
            line,
            caller: caller.cloned(),
            share,
            system_call: None,
        }
    }
}

impl Difference {
    fn estimate(self) -> Estimate {
        Estimate::around(self.value, NORMAL_95 * self.error)
    }

    /// Whether it is not zero.
    fn is_clear(self) -> bool {
        self.value.abs() > FUNCTION_ERRORS * self.error
    }
}

/// `part` over `total`, which contains it.
fn share(part: Difference, total: Difference) -> Estimate {
    let value = part.value / total.value;
    let (part_variance, variance) = (part.error.powi(2), total.error.powi(2));
    // The covariance of a part with its whole is the part's variance.
    let squares = part_variance * (1.0 - 2.0 * value) + value * value * variance;
    Estimate::around(value, NORMAL_95 * squares.max(0.0).sqrt() / total.value.abs())
}
