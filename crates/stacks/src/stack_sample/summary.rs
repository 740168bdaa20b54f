//! The most important part of a stack sample, on whichever level it is, as the end of a sentence.

use crate::stack_sample::display::{STATES_MAX, list, percent, times};
use crate::stack_sample::sampler::{PERIOD_NS, SHARE_MIN};
use crate::stack_sample::{Function, Program, StackSample, ThreadState};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// From this share of the samples on, one function stands alone.
const SHARE_CLEAR: f64 = 0.6;
/// Where no function stands alone, this many are named.
const FUNCTIONS_MAX: usize = 3;
/// Next to functions, threads that wait are counted from this share of all threads on.
const WAITING_SHARE_MIN: f64 = 0.25;
/// Programs that are named.
const PROGRAMS_MAX: usize = 5;

impl StackSample {
    /// The most important part: `97 % of 400 samples in locks::ticket::Ticket::wait`.
    pub fn summary(&self) -> String {
        if self.programs.is_empty() {
            return "it was just ending".to_owned();
        }
        let other_programs =
            || self.programs.iter().filter(|program| !program.is_target && !program.is_helper);
        let has_ran = self.has_ran();
        let samples_of_others: u64 = other_programs().map(|program| program.samples).sum();
        if other_programs().next().is_some() && (!has_ran || samples_of_others * 2 > self.samples) {
            return activities(other_programs());
        }
        let target = || self.programs.iter().filter(|program| program.is_target);
        let functions = if has_ran { function_shares(target(), self.samples) } else { None };
        let parts: Vec<String> =
            functions.into_iter().chain(state_counts(target(), has_ran)).collect();
        if parts.is_empty() {
            // The target has just gone, and left others.
            return activities(self.programs.iter());
        }
        parts.join("; ")
    }

    /// Whether the samples are worth telling. On a busy machine even a thread that never waits may have few.
    fn has_ran(&self) -> bool {
        let ran_ns = self.samples * PERIOD_NS;
        let is_much = ran_ns as f64 >= SHARE_MIN * self.duration.as_nanos() as f64;
        let runs = |program: &Program| program.threads.contains_key(&ThreadState::Running);
        self.samples > 0 && (is_much || self.programs.iter().any(runs))
    }
}

/// The functions with most samples: `97 % of 400 samples in a`, `40 % of 400 samples in a, 30 % in b`.
fn function_shares<'a>(
    programs: impl Iterator<Item = &'a Program>,
    samples: u64,
) -> Option<String> {
    let mut functions: Vec<&(Function, u64)> =
        programs.flat_map(|program| &program.functions).collect();
    functions.sort_by_key(|(_, count)| Reverse(*count));
    let (first, count) = functions.first()?;
    let is_clear = *count as f64 >= SHARE_CLEAR * samples as f64;
    let named = if is_clear { 1 } else { FUNCTIONS_MAX };
    let is_worth = |(_, count): &&&(Function, u64)| *count as f64 >= SHARE_MIN * samples as f64;
    let rest = functions.iter().take(named).skip(1).filter(is_worth);
    let rest = rest.map(|(function, count)| {
        let share = percent(*count, samples);
        format!(", {share} in {function}")
    });
    let share = percent(*count, samples);
    Some(format!("{share} of {samples} samples in {first}{}", rest.collect::<String>()))
}

/// How many threads were in which state: `it waits in futex`, `4 of 7 threads wait in futex, 1 waits in read`. Where
/// functions are named (`with_functions`), only the threads that do not run, if they are many.
fn state_counts<'a>(
    programs: impl Iterator<Item = &'a Program>,
    with_functions: bool,
) -> Option<String> {
    let mut counts: BTreeMap<ThreadState, usize> = BTreeMap::new();
    for (state, count) in programs.flat_map(|program| &program.threads) {
        *counts.entry(state.without_caller()).or_default() += count;
    }
    let threads: usize = counts.values().sum();
    if with_functions {
        counts.remove(&ThreadState::Running);
        // The one thread that waits for the others says nothing.
        if (counts.values().sum::<usize>() as f64) < WAITING_SHARE_MIN * threads as f64 {
            return None;
        }
    }
    let mut states: Vec<(ThreadState, usize)> = counts.into_iter().collect();
    states.sort_by_key(|(_, count)| Reverse(*count));
    let [(first, count), rest @ ..] = &states[..] else { return None };
    if threads == 1 {
        return Some(format!("it {}", first.verb_phrase(1)));
    }
    let first = format!("{count} of {threads} threads {}", first.verb_phrase(*count));
    let rest = rest.iter().map(|(state, count)| format!("{count} {}", state.verb_phrase(*count)));
    Some(list(std::iter::once(first).chain(rest).collect(), STATES_MAX))
}

/// What programs did, in short.
fn activities<'a>(programs: impl Iterator<Item = &'a Program>) -> String {
    list(programs.map(Program::activity).collect(), PROGRAMS_MAX)
}

impl ThreadState {
    /// The same, if it waits without the function that made the call.
    fn without_caller(&self) -> ThreadState {
        match self {
            ThreadState::Blocked { call, .. } => {
                ThreadState::Blocked { call: call.clone(), caller: None }
            }
            state => state.clone(),
        }
    }
}

impl Program {
    /// What most of its threads did, or that any ran: `cc1 ×4 (running)`.
    fn activity(&self) -> String {
        let most_frequent = self.threads.iter().max_by_key(|(_, count)| **count);
        let state = match most_frequent {
            _ if self.threads.contains_key(&ThreadState::Running) => "running".to_owned(),
            Some((state, _)) => state.verb_phrase(1),
            None => "just begun".to_owned(),
        };
        let processes = if self.processes == 0 { self.processes_later } else { self.processes };
        format!("{}{} ({state})", self.name, times(processes))
    }
}
