//! The text of a stack sample: the summary fits in a sentence, the whole in some lines.

use crate::stack_sample::summary::{Activity, FunctionShares, StateCounts, Summary};
use crate::stack_sample::{Function, Limitation, Program, StackSample, ThreadState};
use printable::quantity;
use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter, Write};

/// Programs that a summary names.
const PROGRAMS_MAX: usize = 5;
/// Thread states that a program's line names.
const STATES_MAX: usize = 4;
/// About how long the whole text is.
const TEXT_BYTES_MAX: usize = 1200;

impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Summary::Ending => f.write_str("it was just ending"),
            Summary::Programs(programs) => {
                let programs = programs.iter().map(ToString::to_string).collect();
                f.write_str(&list(programs, PROGRAMS_MAX))
            }
            Summary::Target { functions, threads } => {
                if let Some(functions) = functions {
                    write!(f, "{functions}")?;
                }
                if functions.is_some() && threads.is_some() {
                    f.write_str("; ")?;
                }
                threads.as_ref().map_or(Ok(()), |threads| write!(f, "{threads}"))
            }
        }
    }
}

/// `97 % of 400 samples in a`, `40 % of 400 samples in a, 30 % in b`.
impl Display for FunctionShares {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, (function, count)) in self.functions.iter().enumerate() {
            let share = percent(*count, self.samples);
            if index == 0 {
                write!(f, "{share} of {} samples in {function}", self.samples)?;
            } else {
                write!(f, ", {share} in {function}")?;
            }
        }
        Ok(())
    }
}

/// `it waits in futex`, `4 of 7 threads wait in futex, 1 waits in read`.
impl Display for StateCounts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [(first, count), rest @ ..] = &self.states[..] else { return Ok(()) };
        if self.threads == 1 {
            return write!(f, "it {}", first.verb_phrase(1));
        }
        let first = format!("{count} of {} threads {}", self.threads, first.verb_phrase(*count));
        let rest =
            rest.iter().map(|(state, count)| format!("{count} {}", state.verb_phrase(*count)));
        f.write_str(&list(std::iter::once(first).chain(rest).collect(), STATES_MAX))
    }
}

/// `cc1 ×4 (running)`.
impl Display for Activity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            Some(ThreadState::Running) => "running".to_owned(),
            Some(state) => state.verb_phrase(1),
            None => "just begun".to_owned(),
        };
        write!(f, "{}{} ({state})", self.program, times(self.processes))
    }
}

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
    fn verb_phrase(&self, count: usize) -> String {
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
            Limitation::ThreadsMissing { threads } => {
                write!(f, "Only the first {threads} threads were looked at.")
            }
            Limitation::ClocksMissing { sampled, threads, reason } => {
                write!(f, "{sampled} threads were sampled of {threads}: {reason}.")
            }
            Limitation::Denied { denied, threads, reason } => {
                write!(f, "{denied} of {threads} threads could not be sampled: {reason}")
            }
            Limitation::KernelHidden { perf_level } => {
                let level = perf_level.as_deref().unwrap_or("it is not allowed");
                let remedy = "sudo sysctl kernel.perf_event_paranoid=1";
                write!(f, "Nothing was sampled in the kernel: {level} → {remedy}")
            }
            Limitation::SamplesLost { lost, samples } => {
                write!(f, "{lost} samples were lost besides {samples}.")
            }
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", part as f64 / whole as f64 * 100.0)
}

fn times(count: usize) -> String {
    if count > 1 { format!(" ×{count}") } else { String::new() }
}

/// With commas, and at most `max` items.
fn list(mut items: Vec<String>, max: usize) -> String {
    if items.len() > max {
        let rest = items.len() - max;
        items.truncate(max);
        items.push(format!("and {rest} more"));
    }
    items.join(", ")
}
