//! `knee advise --pid --profile`: the functions that a live process's CPU time goes to.

use crate::commands::read::advise::flags::Advise;
use crate::exit::{Exit, Trouble, stop_on_signals};
use crate::output::{print, print_json, style};
use engine::CpuQuota;
use findings::caveats::CaveatKind;
use findings::caveats::limited_profile::LimitedProfile;
use findings::format::{capitalized, count, short_function, significant, time};
use findings::kinds::waits;
use model::{Frame, FrameKind, SampledEvent, Site, Throttling, Wait, WaitKind};
use serde_json::{Value, json};
use stacks::{Entry, ProfileError, Profiler, SampledStacks};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const TAKEN_EVERY: Duration = Duration::from_millis(50);
const FUNCTIONS_SHOWN: usize = 15;
const CALLS_SHOWN: usize = 6;
const WAITS_SHOWN: usize = 6;
/// A call of this share of a function's samples is worth naming.
const SHARE_UNDER_MIN: f64 = 0.1;
const FUNCTION_CHARS_MAX: usize = 50;

struct Seen {
    pid: u32,
    name: String,
    looked: Duration,
    /// At the end.
    is_alive: bool,
    stacks: SampledStacks,
    functions: Vec<Function>,
    entries: Vec<(Entry, u64)>,
    programs: Vec<(String, u64)>,
    waits: Vec<(Waited, u64)>,
    quota: Option<Quota>,
}

struct Quota {
    cpus: f64,
    did: Option<Throttling>,
}

impl Quota {
    fn tightest(pid: u32) -> Option<CpuQuota> {
        engine::cpu_quotas_of(pid, Path::new("/"))?.into_iter().next()
    }

    fn since(before: &CpuQuota, pid: u32) -> Quota {
        let now = Quota::tightest(pid).filter(|now| now.directory == before.directory);
        let did = now.and_then(|now| Some(now.throttling?.since(&before.throttling?)));
        Quota { cpus: before.cpus(), did }
    }

    /// `CPU quota of 0.5 CPUs: throttled in 24 of 30 periods, its threads stopped for 1.20 s in all`.
    fn text(&self) -> String {
        let quota = format!("CPU quota of {} CPUs", self.cpus);
        let Some(Throttling { periods, throttled_periods, throttled_us }) = self.did else {
            return format!("{quota}: the kernel does not say what it did");
        };
        if throttled_periods == 0 {
            return format!("{quota}: never used up");
        }
        let stopped = time(throttled_us as f64 * 1e3);
        format!(
            "{quota}: throttled in {throttled_periods} of {periods} periods, its threads stopped for {stopped} in all"
        )
    }

    fn json(&self) -> Value {
        let did = self.did.map(|did| {
            json!({
                "periods": did.periods,
                "throttled_periods": did.throttled_periods,
                "throttled_s": did.throttled_us as f64 / 1e6,
            })
        });
        json!({ "cpus": self.cpus, "did": did })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waited {
    kind: WaitKind,
    site: Option<(Frame, String)>,
    waker: Option<(Frame, String)>,
}

impl Waited {
    fn new(wait: &Wait<'_>) -> Waited {
        let line = |site: Site<'_>| (site.frame.clone(), site.line.to_owned());
        Waited { kind: wait.kind, site: wait.site.map(line), waker: wait.waker.map(line) }
    }

    /// `waits for a lock in push (queue.c:41), released by push (queue.c:52)`.
    fn text(&self) -> String {
        let at = |(frame, line): &(Frame, String)| waits::at(frame, line);
        let site = self.site.as_ref().map(|site| format!(" in {}", at(site)));
        let ended = waits::ended(self.kind);
        let waker = self.waker.as_ref().map(|waker| format!(", {ended} {}", at(waker)));
        [waits::does(self.kind).to_owned(), site.unwrap_or_default(), waker.unwrap_or_default()]
            .concat()
    }

    fn json(&self) -> Value {
        let at = |site: &(Frame, String)| json!({ "function": site.0.function, "line": site.1 });
        json!({
            "kind": self.kind,
            "site": self.site.as_ref().map(at),
            "waker": self.waker.as_ref().map(at),
        })
    }
}

/// A function, by the samples that were taken in itself.
struct Function {
    frame: u32,
    samples: u64,
    entries: Vec<(Entry, u64)>,
}

pub fn profile(ask: &Advise, pid: u32) -> Result<Exit, Trouble> {
    let stop = stop_on_signals()?;
    let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let process = process.ok_or_else(|| trouble(&ProfileError::NoProcess(pid)))?;
    observe::check_alive(pid).map_err(|error| super::live::trouble(&error))?;
    // Where the system allows no more, each thread has a clock on each CPU.
    engine::raise_descriptors_max();
    let name = sys::proc::comm(pid).unwrap_or_default();
    let start = Instant::now();
    let mut profiler =
        Profiler::start(process, stacks::usual_rate_hz()).map_err(|error| trouble(&error))?;
    let quota = Quota::tightest(pid);
    let is_alive = || observe::check_alive(pid).is_ok();
    while start.elapsed() < ask.seconds && !stop.is_requested() && is_alive() {
        std::thread::sleep(TAKEN_EVERY.min(ask.seconds.saturating_sub(start.elapsed())));
        profiler.take();
    }
    let (looked, is_alive) = (start.elapsed(), is_alive());
    let quota = quota.map(|before| Quota::since(&before, pid));
    let stacks = profiler.finish(&|_, _| true);
    let name = printable::replace_unprintable(name.trim_end());
    let seen = Seen { is_alive, quota, ..Seen::new(pid, name, looked, stacks) };
    if ask.json {
        print_json(&seen.json())?;
    } else {
        print(&seen.text(style(false).width))?;
    }
    if stop.is_requested() {
        return Err(Trouble::interrupted("interrupted: this is what was seen until then"));
    }
    Ok(Exit::Done)
}

fn trouble(error: &ProfileError) -> Trouble {
    match error {
        ProfileError::NoProcess(_) => Trouble::usage(error.to_string()),
        _ => Trouble::not_possible(error.to_string()),
    }
}

impl Seen {
    fn new(pid: u32, name: String, looked: Duration, stacks: SampledStacks) -> Seen {
        let mut functions: BTreeMap<u32, BTreeMap<Entry, u64>> = BTreeMap::new();
        let mut entries = BTreeMap::new();
        let mut programs = BTreeMap::new();
        for sample in &stacks.samples {
            let Some(&innermost) = sample.stack.last() else { continue };
            let entry = stacks.entry(sample);
            *entries.entry(entry.clone()).or_default() += 1;
            *functions.entry(innermost).or_default().entry(entry).or_default() += 1;
            *programs.entry(stacks.program(sample).to_owned()).or_default() += 1;
        }
        let functions = functions.into_iter().map(|(frame, entries)| Function {
            frame,
            samples: entries.values().sum(),
            entries: most_first(entries),
        });
        let mut functions: Vec<Function> = functions.collect();
        functions.sort_by_key(|function| Reverse(function.samples));
        let mut waits = BTreeMap::new();
        for wait in &stacks.waits {
            let frames = wait.stack.iter().filter_map(|&frame| stacks.frames.get(frame as usize));
            if let Some(read) = Wait::read(&frames.collect::<Vec<_>>()) {
                *waits.entry(Waited::new(&read)).or_default() += wait.count;
            }
        }
        let (entries, programs) = (most_first(entries), most_first(programs));
        let waits = most_first(waits);
        let (is_alive, quota) = (true, None);
        Seen { pid, name, looked, is_alive, stacks, functions, entries, programs, waits, quota }
    }

    /// Samples of threads that run or wait.
    fn thread_samples(&self) -> u64 {
        self.samples() + self.waits.iter().map(|(_, samples)| samples).sum::<u64>()
    }

    fn waiting(&self) -> Vec<String> {
        let all = self.thread_samples();
        let mut kinds: BTreeMap<WaitKind, u64> = BTreeMap::new();
        for (wait, samples) in &self.waits {
            *kinds.entry(wait.kind).or_default() += samples;
        }
        let states = most_first(kinds).into_iter().map(|(kind, samples)| (Some(kind), samples));
        let states: Vec<(Option<WaitKind>, u64)> =
            [(None, self.samples())].into_iter().chain(states).collect();
        let label = |state: &Option<WaitKind>| state.map_or("runs", waits::does).to_owned();
        let head = format!("By state of its threads: {}", shares(&states, label, all));
        let shown = self.waits.iter().filter(|(wait, _)| wait.site.is_some()).take(WAITS_SHOWN);
        let lines = shown.map(|(wait, samples)| {
            format!("  {:>4.1} %  {}", 100.0 * *samples as f64 / all as f64, wait.text())
        });
        [head].into_iter().chain(lines).collect()
    }

    fn samples(&self) -> u64 {
        self.stacks.samples.len() as u64
    }

    fn cpus(&self) -> f64 {
        let busy_ns = self.samples() as f64 * self.stacks.sample_ns;
        busy_ns / self.looked.as_nanos().max(1) as f64
    }

    fn event(&self) -> &'static str {
        match self.stacks.event {
            SampledEvent::CpuClock => "cpu-clock",
            SampledEvent::Cycles => "cycles",
        }
    }

    fn text(&self, width: usize) -> String {
        let Seen { pid, name, looked, .. } = self;
        let (samples, cpus) = (count(self.samples()), significant(self.cpus()));
        let (looked, event) = (looked.as_secs_f64(), self.event());
        let frequency_hz = 1e9 / self.stacks.sample_ns;
        let mut lines = vec![format!(
            "{name} ({pid}): {looked:.1} s, {samples} samples of its call stacks ({event}, {frequency_hz:.0} a \
             second): it kept {cpus} CPUs busy"
        )];
        if !self.is_alive {
            lines.push("It has ended.".into());
        } else if self.samples() == 0 {
            lines.push("It used no CPU time meanwhile: it waits.".into());
        }
        lines.extend(self.quota.as_ref().map(Quota::text));
        if !self.waits.is_empty() {
            lines.extend(self.waiting());
        }
        if self.samples() > 0 {
            lines.push(format!(
                "By system call: {}",
                shares(&self.entries, entry_label, self.samples())
            ));
            if self.programs.len() > 1 {
                let programs = shares(&self.programs, String::clone, self.samples());
                lines.push(format!("By program: {programs}"));
            }
            lines.push(String::new());
            lines.extend(self.table());
        }
        lines.extend(self.limits().map(|limit| capitalized(&limit)));
        let folded = lines.iter().flat_map(|line| {
            if line.is_empty() { vec![String::new()] } else { report::layout::folded(line, width) }
        });
        folded.map(|line| line + "\n").collect()
    }

    fn limits(&self) -> impl Iterator<Item = String> {
        let samples = self.samples();
        let limits = self.stacks.limits.iter().cloned();
        let limits = limits.map(move |limit| LimitedProfile::System { limit, samples });
        limits.map(|caveat| caveat.warning().line())
    }

    fn table(&self) -> Vec<String> {
        let shown = &self.functions[..self.functions.len().min(FUNCTIONS_SHOWN)];
        let rows: Vec<[String; 4]> = shown.iter().map(|function| self.row(function)).collect();
        let head = ["self", "function", "in", "under"].map(str::to_owned);
        let all = || std::iter::once(&head).chain(&rows);
        let width =
            |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let (functions, modules) = (width(1), width(2));
        let lines = all().map(|[share, function, module, under]| {
            let line = format!("  {share:>6}  {function:<functions$}  {module:<modules$}  {under}");
            line.trim_end().to_owned()
        });
        let mut lines: Vec<String> = lines.collect();
        let rest = self.functions.len() - shown.len();
        if rest > 0 {
            lines.push(format!("  and {} more functions (--json has them)", count(rest as u64)));
        }
        lines
    }

    fn row(&self, function: &Function) -> [String; 4] {
        let frame = &self.stacks.frames[function.frame as usize];
        let name = match (frame.kind, &*frame.function) {
            (FrameKind::Unknown, _) => "(memory that is unknown)".to_owned(),
            (FrameKind::Jit, "") => "(made at run time)".to_owned(),
            (_, "") => "(no symbol)".to_owned(),
            (_, name) => short_function(name),
        };
        let name = if name.chars().count() > FUNCTION_CHARS_MAX {
            name.chars().take(FUNCTION_CHARS_MAX - 1).chain(['…']).collect()
        } else {
            name
        };
        let is_worth_naming = |(_, samples): &&(Entry, u64)| {
            *samples as f64 >= SHARE_UNDER_MIN * function.samples as f64
        };
        // What runs in the program itself is under nothing.
        let entries = function.entries.iter().filter(is_worth_naming);
        let entries = entries.filter(|(entry, _)| *entry != Entry::User);
        let under: Vec<String> = entries.map(|(entry, _)| entry_label(entry)).collect();
        let share = format!("{:.1} %", 100.0 * function.samples as f64 / self.samples() as f64);
        [share, name, frame.module.clone(), under.join(", ")]
    }

    fn json(&self) -> Value {
        let samples = self.samples();
        let share = |part: u64| part as f64 / samples.max(1) as f64;
        let entries = |entries: &[(Entry, u64)]| -> Vec<Value> {
            let value = |(entry, part): &(Entry, u64)| {
                let (kind, call) = match entry {
                    Entry::User => ("user", None),
                    Entry::Call(name) => ("call", Some(name)),
                    Entry::PageFault => ("page-fault", None),
                    Entry::Interrupt => ("interrupt", None),
                    Entry::Kernel => ("kernel", None),
                };
                json!({ "kind": kind, "call": call, "samples": part, "share": share(*part) })
            };
            entries.iter().map(value).collect()
        };
        let functions = self.functions.iter().map(|function| {
            let frame = &self.stacks.frames[function.frame as usize];
            json!({
                "function": frame.function,
                "module": frame.module,
                "in_kernel": frame.kind.is_kernel(),
                "samples": function.samples,
                "share": share(function.samples),
                "under": entries(&function.entries),
            })
        });
        let programs = self
            .programs
            .iter()
            .map(|(name, part)| json!({ "name": name, "samples": part, "share": share(*part) }));
        let all = self.thread_samples().max(1) as f64;
        let waits = self.waits.iter().map(|(wait, part)| {
            json!({ "wait": wait.json(), "samples": part, "share": *part as f64 / all })
        });
        json!({
            "schema": 1,
            "pid": self.pid,
            "name": self.name,
            "looked_s": self.looked.as_secs_f64(),
            "event": self.event(),
            "samples": samples,
            "sample_ns": self.stacks.sample_ns,
            "cpus_busy": self.cpus(),
            "cpu_quota": self.quota.as_ref().map(Quota::json),
            "functions": functions.collect::<Vec<_>>(),
            "entries": entries(&self.entries),
            "programs": programs.collect::<Vec<_>>(),
            "waits": waits.collect::<Vec<_>>(),
            "not_seen": self.limits().collect::<Vec<_>>(),
        })
    }
}

fn most_first<T>(counts: BTreeMap<T, u64>) -> Vec<(T, u64)> {
    let mut counts: Vec<(T, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, samples)| Reverse(*samples));
    counts
}

fn entry_label(entry: &Entry) -> String {
    match entry {
        Entry::User => "none (user code)".to_owned(),
        Entry::Call(name) => name.clone(),
        Entry::PageFault => "page faults".to_owned(),
        Entry::Interrupt => "interrupts".to_owned(),
        Entry::Kernel => "other kernel code".to_owned(),
    }
}

/// `poll 75 %, none (user code) 23 %`.
fn shares<T>(counts: &[(T, u64)], label: impl Fn(&T) -> String, samples: u64) -> String {
    let share = |part: u64| format!("{:.0} %", 100.0 * part as f64 / samples.max(1) as f64);
    let shown = counts.iter().take(CALLS_SHOWN);
    let mut parts: Vec<String> =
        shown.map(|(of_what, part)| format!("{} {}", label(of_what), share(*part))).collect();
    let rest: u64 = counts.iter().skip(CALLS_SHOWN).map(|(_, part)| part).sum();
    if rest > 0 {
        parts.push(format!("others {}", share(rest)));
    }
    parts.join(", ")
}
