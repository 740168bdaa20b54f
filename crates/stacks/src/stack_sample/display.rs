//! The text of a whole stack sample, in some lines.

use crate::stack_sample::{Function, Limitation, Program, StackSample, ThreadState};
use printable::quantity;
use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter, Write};

/// Thread states that a program's line and a summary name.
pub(super) const STATES_MAX: usize = 4;
/// About how long the whole text is.
const TEXT_BYTES_MAX: usize = 1200;

/// Some lines: how much was sampled, each program, and the limitations.
impl Display for StackSample {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let threads: usize =
            self.programs.iter().flat_map(|program| program.threads.values()).sum();
        let processes: usize = self.programs.iter().map(|program| program.processes).sum();
        write!(
            f,
            "Looked at for {:.1} s: {}, {}, {}.",
            self.duration.as_secs_f64(),
            quantity(processes as u64, "process"),
            quantity(threads as u64, "thread"),
            quantity(self.samples, "sample"),
        )?;
        let mut bytes = 0;
        for (index, program) in self.programs.iter().enumerate() {
            let text = program.text(self.duration.as_nanos());
            bytes += text.len();
            if index > 0 && bytes > TEXT_BYTES_MAX {
                write!(f, "\nand {} more programs", self.programs.len() - index)?;
                break;
            }
            write!(f, "\n{text}")?;
        }
        self.limitations.iter().try_for_each(|limitation| write!(f, "\n{limitation}"))
    }
}

impl Program {
    /// A line of its threads, and one of its functions if it has samples.
    fn text(&self, duration_ns: u128) -> String {
        let mut text = format!("{}{}", self.name, times(self.processes));
        if self.processes_later > 0 {
            let _ = write!(text, ", {} that began meanwhile", self.processes_later);
        }
        let threads: usize = self.threads.values().sum();
        if threads > 1 {
            let _ = write!(text, ", {threads} threads");
        }
        let _ = write!(text, ", {:.0} % of a CPU", self.cpu_ns as f64 / duration_ns as f64 * 100.0);
        if threads > 0 {
            let mut states: Vec<(&ThreadState, usize)> =
                self.threads.iter().map(|(state, count)| (state, *count)).collect();
            states.sort_by_key(|(_, count)| Reverse(*count));
            let state_text = |(state, count): (&ThreadState, usize)| match threads {
                1 => state.verb_phrase_with_caller(1),
                _ => format!("{count} {}", state.verb_phrase_with_caller(count)),
            };
            let states = states.into_iter().map(state_text).collect();
            let _ = write!(text, ": {}", list(states, STATES_MAX));
        }
        if !self.functions.is_empty() {
            let functions: Vec<String> = self
                .functions
                .iter()
                .map(|(function, count)| {
                    format!("{} in {function:#}", percent(*count, self.samples))
                })
                .collect();
            let samples = quantity(self.samples, "sample");
            let _ = write!(text, "\n  of {samples} {}", functions.join(", "));
        }
        text
    }
}

impl ThreadState {
    /// What `count` threads in this state do: `runs`, `wait in futex`.
    pub(super) fn verb_phrase(&self, count: usize) -> String {
        let verb =
            |singular: &str, plural: &str| if count == 1 { singular } else { plural }.to_owned();
        match self {
            ThreadState::Running => verb("runs", "run"),
            ThreadState::WaitingForCpu => verb("waits for a CPU", "wait for a CPU"),
            ThreadState::Blocked { call, .. } => format!("{} in {call}", verb("waits", "wait")),
            ThreadState::Stopped => verb("is stopped", "are stopped"),
            ThreadState::Exited => verb("has ended, unwaited for", "have ended, unwaited for"),
        }
    }

    fn verb_phrase_with_caller(&self, count: usize) -> String {
        let phrase = self.verb_phrase(count);
        match self {
            ThreadState::Blocked { caller: Some(caller), .. } => format!("{phrase} at {caller:#}"),
            _ => phrase,
        }
    }
}

/// `name`, `memcpy (libc.so.6)`, `cc1 (no symbol)`; with `#` and the offset:
/// `name+0x16`, `cc1 (no symbol, most often at +0x16)`.
impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let offset = self.offset.filter(|_| f.alternate());
        let module = self.module.as_deref();
        let Some(name) = &self.name else {
            write!(f, "{} (no symbol", module.unwrap_or("an unknown file"))?;
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

impl Display for Limitation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Limitation::ThreadsMissing(threads) => {
                write!(f, "Only the first {threads} threads were looked at.")
            }
            Limitation::Unsampled(error) => write!(f, "Not sampled: {error}"),
            Limitation::KernelHidden(perf_level) => {
                let level = perf_level.map_or_else(
                    || "it is not allowed".to_owned(),
                    |level| format!("kernel.perf_event_paranoid is {level}"),
                );
                let remedy = "sudo sysctl kernel.perf_event_paranoid=1";
                write!(f, "Nothing was sampled in the kernel: {level} → {remedy}")
            }
            Limitation::SamplesLost { lost, samples } => {
                write!(f, "{lost} samples were lost besides {samples}.")
            }
        }
    }
}

pub(super) fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", part as f64 / whole as f64 * 100.0)
}

pub(super) fn times(count: usize) -> String {
    if count > 1 { format!(" ×{count}") } else { String::new() }
}

/// With commas, and at most `max` items.
pub(super) fn list(mut items: Vec<String>, max: usize) -> String {
    if items.len() > max {
        let rest = items.len() - max;
        items.truncate(max);
        items.push(format!("and {rest} more"));
    }
    items.join(", ")
}
