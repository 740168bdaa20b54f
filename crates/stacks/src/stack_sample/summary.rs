//! The most important part of a stack sample.

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

/// The most important part of a stack sample, on whichever level it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summary {
    /// No process was left: the target was just ending.
    Ending,
    /// The target waited for other programs, or is gone: those programs.
    Programs(Vec<Activity>),
    /// What the target did itself; one of the two is there.
    Target {
        /// The functions that ran.
        functions: Option<FunctionShares>,
        /// What its threads did; without those that ran where `functions` names them.
        threads: Option<StateCounts>,
    },
}

/// What a program did, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The program's name.
    pub program: String,
    /// How many processes of it there were.
    pub processes: usize,
    /// What most of its threads did, or `Running` if any ran; none if it began meanwhile.
    pub state: Option<ThreadState>,
}

/// The functions with most samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionShares {
    /// How many samples there were in all.
    pub samples: u64,
    /// The functions and their samples, most first; at least one.
    pub functions: Vec<(Function, u64)>,
}

/// How many threads were in which state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCounts {
    /// How many threads there were in all, those of no state here included.
    pub threads: usize,
    /// The states and their threads, most first; at least one. A call has no caller.
    pub states: Vec<(ThreadState, usize)>,
}

impl StackSample {
    /// The most important part: `97 % of 400 samples in locks::ticket::Ticket::wait`.
    pub fn summary(&self) -> Summary {
        if self.programs.is_empty() {
            return Summary::Ending;
        }
        let other_programs =
            || self.programs.iter().filter(|program| !program.is_target && !program.is_helper);
        let has_ran = self.has_ran();
        let samples_of_others: u64 = other_programs().map(|program| program.samples).sum();
        if other_programs().next().is_some() && (!has_ran || samples_of_others * 2 > self.samples) {
            return Summary::Programs(other_programs().map(Program::activity).collect());
        }
        let target = || self.programs.iter().filter(|program| program.is_target);
        let functions = if has_ran { FunctionShares::new(target(), self.samples) } else { None };
        let threads = StateCounts::new(target(), has_ran);
        if functions.is_none() && threads.is_none() {
            // The target has just gone, and left others.
            return Summary::Programs(self.programs.iter().map(Program::activity).collect());
        }
        Summary::Target { functions, threads }
    }

    /// Whether the samples are worth telling. On a busy machine even a thread that never waits may have few.
    fn has_ran(&self) -> bool {
        let ran_ns = self.samples * PERIOD_NS;
        let is_much = ran_ns as f64 >= SHARE_MIN * self.duration.as_nanos() as f64;
        let runs = |program: &Program| program.threads.contains_key(&ThreadState::Running);
        self.samples > 0 && (is_much || self.programs.iter().any(runs))
    }
}

impl FunctionShares {
    fn new<'a>(programs: impl Iterator<Item = &'a Program>, samples: u64) -> Option<Self> {
        let mut functions: Vec<(Function, u64)> =
            programs.flat_map(|program| program.functions.iter().cloned()).collect();
        functions.sort_by_key(|(_, count)| Reverse(*count));
        let is_clear = functions.first()?.1 as f64 >= SHARE_CLEAR * samples as f64;
        functions.truncate(if is_clear { 1 } else { FUNCTIONS_MAX });
        let (first, rest) = (functions.remove(0), functions);
        let is_worth = |count: u64| count as f64 >= SHARE_MIN * samples as f64;
        let functions = std::iter::once(first)
            .chain(rest.into_iter().filter(|(_, count)| is_worth(*count)))
            .collect();
        Some(FunctionShares { samples, functions })
    }
}

impl StateCounts {
    /// Where functions are named (`with_functions`), only the threads that do not run, if they are many.
    fn new<'a>(
        programs: impl Iterator<Item = &'a Program>,
        with_functions: bool,
    ) -> Option<StateCounts> {
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
        (!states.is_empty()).then_some(StateCounts { threads, states })
    }
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
    fn activity(&self) -> Activity {
        let state = if self.threads.contains_key(&ThreadState::Running) {
            Some(ThreadState::Running)
        } else {
            let most_frequent = self.threads.iter().max_by_key(|(_, count)| **count);
            most_frequent.map(|(state, _)| state.without_caller())
        };
        let processes = if self.processes == 0 { self.processes_later } else { self.processes };
        Activity { program: self.name.clone(), processes, state }
    }
}
