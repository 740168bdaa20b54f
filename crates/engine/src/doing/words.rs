//! What was going on, in words: a few for the reason, some lines for the detail.

use super::look::{PERIOD_NS, WORTH};
use super::{Doing, Function, Program, Standing};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

/// One function is named alone from this share of the samples on.
const CLEAR: f64 = 0.6;
/// Beside functions, threads that wait are told of where they are this share of all.
const WAITERS_WORTH: f64 = 0.25;
/// Where no function is clear so many are named, and of the programs and waits so many.
const FUNCTIONS_TOLD: usize = 3;
const PROGRAMS_TOLD: usize = 5;
const STANDINGS_TOLD: usize = 4;
/// The detail is about as long as this.
const DETAIL_BYTES: usize = 1200;

impl Doing {
    /// The most important in a few words: `97 % of 400 samples in locks::ticket::Ticket::wait`.
    pub fn summary(&self) -> String {
        if self.programs.is_empty() {
            return "it was just ending".into();
        }
        let others = || self.programs.iter().filter(|program| !program.asked && !program.helper);
        // A busy machine may leave little to a thread that never waits.
        let runs = |program: &Program| program.threads.contains_key(&Standing::Runs);
        let much = (self.samples * PERIOD_NS) as f64 >= WORTH * self.took.as_nanos() as f64;
        let busy = self.samples > 0 && (much || self.programs.iter().any(runs));
        let theirs: u64 = others().map(|program| program.samples).sum();
        if others().next().is_some() && (!busy || theirs * 2 > self.samples) {
            return list(others().map(Program::in_short).collect(), PROGRAMS_TOLD);
        }
        let asked = || self.programs.iter().filter(|program| program.asked);
        let mut parts = Vec::new();
        if busy {
            parts.extend(functions(asked(), self.samples));
        }
        parts.extend(threads(asked(), busy));
        if parts.is_empty() {
            // What was asked about has just gone, and left others.
            return list(self.programs.iter().map(Program::in_short).collect(), PROGRAMS_TOLD);
        }
        parts.join("; ")
    }
}

/// In which functions most of `samples` were; nothing where there was none.
fn functions<'a>(programs: impl Iterator<Item = &'a Program>, samples: u64) -> Option<String> {
    let mut all: Vec<(&Function, u64)> = programs
        .flat_map(|program| program.functions.iter().map(|(function, count)| (function, *count)))
        .collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (first, count) = *all.first()?;
    let mut text = format!("{} of {samples} samples in {first}", percent(count, samples));
    if (count as f64) < CLEAR * samples as f64 {
        let worth = |pair: &&(&Function, u64)| pair.1 as f64 >= WORTH * samples as f64;
        for (function, count) in all[1..].iter().take(FUNCTIONS_TOLD - 1).filter(worth) {
            let _ = write!(text, ", {} in {function}", percent(*count, samples));
        }
    }
    Some(text)
}

/// What threads do; only what those do that don't run where their `functions` are told.
fn threads<'a>(programs: impl Iterator<Item = &'a Program>, sampled: bool) -> Option<String> {
    let mut standings: BTreeMap<Standing, usize> = BTreeMap::new();
    for (standing, count) in programs.flat_map(|program| &program.threads) {
        // Where in the program a call was made is for the detail.
        let standing = match standing {
            Standing::Waits(call, _) => Standing::Waits(call.clone(), None),
            other => other.clone(),
        };
        *standings.entry(standing).or_default() += count;
    }
    let all: usize = standings.values().sum();
    if sampled {
        standings.remove(&Standing::Runs);
        // The one that waits for the others tells nothing.
        if (standings.values().sum::<usize>() as f64) < WAITERS_WORTH * all as f64 {
            return None;
        }
    }
    let mut told: Vec<(Standing, usize)> = standings.into_iter().collect();
    told.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (first, count) = told.first()?;
    if all == 1 {
        return Some(format!("it {}", first.of(1)));
    }
    let first = format!("{count} of {all} threads {}", first.of(*count));
    let rest = told[1..].iter().map(|(standing, count)| format!("{count} {}", standing.of(*count)));
    Some(list(std::iter::once(first).chain(rest).collect(), STANDINGS_TOLD))
}

impl Program {
    /// `cc1 ×4 (running)`.
    fn in_short(&self) -> String {
        let most = self.threads.iter().max_by_key(|(_, count)| **count);
        let state = match most {
            _ if self.threads.contains_key(&Standing::Runs) => "running".to_owned(),
            Some((Standing::Waits(call, _), _)) => format!("waits in {call}"),
            Some((standing, _)) => standing.of(1),
            None => "just begun".to_owned(),
        };
        let count = if self.processes == 0 { self.later } else { self.processes };
        format!("{}{} ({state})", self.name, times(count))
    }

    /// What it did, in one line or two.
    fn in_full(&self, took_ns: u128) -> String {
        let mut text = format!("{}{}", self.name, times(self.processes));
        if self.later > 0 {
            let _ = write!(text, ", {} that began meanwhile", self.later);
        }
        let count: usize = self.threads.values().sum();
        if count > 1 {
            let _ = write!(text, ", {count} threads");
        }
        let share = self.ran_ns as f64 / took_ns as f64 * 100.0;
        let _ = write!(text, ", {share:.0} % of a CPU");
        if count > 0 {
            let mut told: Vec<(&Standing, &usize)> = self.threads.iter().collect();
            told.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let say = |(standing, of): (&Standing, &usize)| match (count, standing) {
                (1, _) => standing.in_full(1),
                (_, _) => format!("{of} {}", standing.in_full(*of)),
            };
            let told: Vec<String> = told.into_iter().map(say).collect();
            let _ = write!(text, ": {}", list(told, STANDINGS_TOLD));
        }
        let of = self.samples;
        let functions: Vec<String> = self
            .functions
            .iter()
            .map(|(function, count)| format!("{} in {function:#}", percent(*count, of)))
            .collect();
        if !functions.is_empty() {
            let samples = many(of, "sample", "samples");
            let _ = write!(text, "\n  of {samples} {}", functions.join(", "));
        }
        text
    }
}

impl Standing {
    /// What so many threads do.
    fn of(&self, count: usize) -> String {
        let one = count == 1;
        match self {
            Standing::Runs => if one { "runs" } else { "run" }.to_owned(),
            Standing::WaitsForCpu => {
                if one { "waits for a CPU" } else { "wait for a CPU" }.to_owned()
            }
            Standing::Waits(call, _) => format!("{} in {call}", if one { "waits" } else { "wait" }),
            Standing::Stopped => if one { "is stopped" } else { "are stopped" }.to_owned(),
            Standing::Ended => {
                if one { "has ended, unwaited for" } else { "have ended, unwaited for" }.to_owned()
            }
        }
    }

    fn in_full(&self, count: usize) -> String {
        match self {
            Standing::Waits(_, Some(at)) => format!("{} at {at:#}", self.of(count)),
            _ => self.of(count),
        }
    }
}

/// `name`, `memcpy (libc.so.6)`, `cc1 (no symbol)`; with `#` and where most samples were:
/// `name+0x16`, `cc1 (no symbol, most often at +0x16)`.
impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let offset = self.offset.filter(|_| f.alternate());
        let module = self.module.as_deref();
        let Some(name) = &self.name else {
            write!(f, "{} (no symbol", module.unwrap_or("an unknown place"))?;
            if let Some(offset) = offset {
                write!(f, ", most often at +{offset:#x}")?;
            }
            return f.write_char(')');
        };
        f.write_str(name)?;
        if let Some(offset) = offset {
            write!(f, "+{offset:#x}")?;
        }
        module.map_or(Ok(()), |module| write!(f, " ({module})"))
    }
}

/// Some lines: what was looked at, each program, and what could not be seen.
impl Display for Doing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let threads: usize =
            self.programs.iter().flat_map(|program| program.threads.values()).sum();
        let processes: usize = self.programs.iter().map(|program| program.processes).sum();
        let (took, samples) = (self.took.as_secs_f64(), self.samples);
        write!(
            f,
            "Looked at for {took:.1} s: {}, {}, {}.",
            many(processes as u64, "process", "processes"),
            many(threads as u64, "thread", "threads"),
            many(samples, "sample", "samples"),
        )?;
        let mut bytes = 0;
        for (index, program) in self.programs.iter().enumerate() {
            let text = program.in_full(self.took.as_nanos());
            bytes += text.len();
            if index > 0 && bytes > DETAIL_BYTES {
                write!(f, "\nand {} more programs", self.programs.len() - index)?;
                break;
            }
            write!(f, "\n{text}")?;
        }
        self.troubles.iter().try_for_each(|trouble| write!(f, "\n{trouble}"))
    }
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.0} %", part as f64 / of as f64 * 100.0)
}

fn times(count: usize) -> String {
    if count > 1 { format!(" ×{count}") } else { String::new() }
}

fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// With commas, and no more than `most`.
fn list(mut words: Vec<String>, most: usize) -> String {
    if words.len() > most {
        let rest = words.len() - most;
        words.truncate(most);
        words.push(format!("and {rest} more"));
    }
    words.join(", ")
}
