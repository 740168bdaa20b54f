//! The words for what one profile has more than another.

use crate::finding::range::Range;
use crate::format::{count, function_name, list, percent};
use analysis::{AddedFunction, DifferenceVerdict, ProfileDifference};
use model::{Frame, FrameKind};
use std::mem::discriminant;

/// From this share of the added time on in functions that wait, a sentence says so. Source: judgement.
const WAITING_SHARE_MIN: f64 = 0.5;

/// Functions of kernels and of the C library in which a CPU is busy waiting for a lock.
const WAITING_FUNCTIONS: &[&str] = &[
    "native_queued_spin_lock_slowpath",
    "__pv_queued_spin_lock_slowpath",
    "queued_spin_lock_slowpath",
    "queued_read_lock_slowpath",
    "queued_write_lock_slowpath",
    "osq_lock",
    "mutex_spin_on_owner",
    "rwsem_spin_on_owner",
    "rwsem_optimistic_spin",
    "pthread_spin_lock",
    "__pthread_spin_lock",
];
/// Where the functions of knee's own locks are.
const OWN_LOCKS: &str = "locks::algorithms::";

/// What several have added alike over `range`: `97 % of the CPU time added between … is in do_sys_poll and what it
/// calls: …`. All have the verdict and the container of the first.
pub(crate) fn added(differences: &[&ProfileDifference], range: &str) -> String {
    let [first, ..] = differences else { return String::new() };
    let word = if first.added_ns.value >= 0.0 { "added" } else { "saved" };
    let whole = format!("{} {word} {range}", cpu_time(first, ""));
    match first.verdict {
        DifferenceVerdict::Waiting { .. } => {
            let share = shares(differences, |difference| match difference.verdict {
                DifferenceVerdict::Waiting { share } => Some(share),
                _ => None,
            });
            format!("{share} of the time added {range} is waiting, not CPU time")
        }
        DifferenceVerdict::TooFewSamples => {
            let samples = differences.iter().flat_map(|difference| difference.samples);
            let max = count(samples.max().unwrap_or(0));
            format!("too few samples to say what changed {range} ({max} at most)")
        }
        DifferenceVerdict::NotReproduced => {
            format!("the profiled cells did not repeat what changed {range}")
        }
        _ => attributed(differences, &whole),
    }
}

/// Of workers that leave CPUs idle: `only 1.04 CPUs busy; 68 % of the CPU time is in handle (main.go:5) ← feed`.
pub(crate) fn serial(difference: &ProfileDifference, busy_cpus: f64) -> String {
    let busy = printable::significant(busy_cpus);
    format!("only {busy} CPUs busy; {}", attributed(&[difference], &cpu_time(difference, "")))
}

/// What one has more than the other: `97 % of the additional CPU time is in do_sys_poll and what it calls: …`.
pub(crate) fn more(difference: &ProfileDifference) -> String {
    let word = if difference.added_ns.value >= 0.0 { "additional" } else { "saved" };
    let whole = cpu_time(difference, &format!("{word} "));
    match difference.verdict {
        DifferenceVerdict::Waiting { share } => {
            format!("{} of the additional time is waiting, not CPU time", share_text(share))
        }
        _ => attributed(&[difference], &whole),
    }
}

/// Of profiles that do not change, how much at most: `9 points`.
pub(crate) fn bound(differences: &[&ProfileDifference]) -> Option<String> {
    let bound = |difference: &&ProfileDifference| match difference.verdict {
        DifferenceVerdict::Same { bound } => Some(bound),
        _ => None,
    };
    let widest = differences.iter().filter_map(bound).reduce(f64::max)?;
    Some(format!("{:.0} points", (widest * 100.0).ceil()))
}

/// Whether one sentence can have both.
pub(crate) fn is_alike(first: &ProfileDifference, second: &ProfileDifference) -> bool {
    let frame = |function: Option<&AddedFunction>| function.map(|function| function.frame.clone());
    let named = |difference: &ProfileDifference| {
        let container = frame(difference.container.as_ref());
        (container.clone(), frame(difference.leaders.first()).filter(|_| container.is_none()))
    };
    discriminant(&first.verdict) == discriminant(&second.verdict)
        && named(first) == named(second)
        && frame(first.process.as_ref()) == frame(second.process.as_ref())
}

/// `the CPU time`, with a `word` before it.
fn cpu_time(difference: &ProfileDifference, word: &str) -> String {
    let part = if difference.kernel_hidden { " in user space" } else { "" };
    format!("the {word}CPU time{part}")
}

fn attributed(differences: &[&ProfileDifference], whole: &str) -> String {
    let first = differences[0];
    let share_of = |frame: &Frame| {
        shares(differences, |difference| {
            let leaders = difference.leaders.iter().chain(&difference.container);
            // Of a function both, it is a leader by itself.
            leaders
                .into_iter()
                .find(|leader| leader.frame == *frame)
                .map(|leader| leader.share.value)
        })
    };
    let leaders = &first.leaders;
    let waiting = leaders.iter().filter(|leader| is_waiting(doer(leader)));
    let waiting: f64 = waiting.map(|leader| leader.share.value).sum();
    let busy = if waiting >= WAITING_SHARE_MIN { ", busy waiting" } else { "" };
    // Where there are several, the process that grew.
    let process = first.process.as_ref().map(|process| process.frame.function.as_str());
    let owner = process.map(|process| format!(" of {process}")).unwrap_or_default();
    let text = match (&first.container, leaders.as_slice()) {
        (Some(container), [only, ..])
            if only.frame == container.frame && only.share.value >= LONE_SHARE_MIN =>
        {
            format!("{} of {whole} is in {}{owner}{busy}", share_of(&only.frame), placed(only))
        }
        (Some(container), leaders) => {
            let share = shares(differences, |difference| {
                difference.container.as_ref().map(|container| container.share.value)
            });
            let listed: Vec<String> = leaders
                .iter()
                .take(NAMED_MAX)
                .map(|leader| {
                    let share = share_of(&leader.frame);
                    if leader.frame == container.frame {
                        return format!("{share} by itself");
                    }
                    format!("{} {share}", placed(leader))
                })
                .collect();
            let colon = if listed.is_empty() { "" } else { ": " };
            let (name, listed) = (placed(container), listed.join(", "));
            format!("{share} of {whole} is in {name}{owner} and what it calls{colon}{listed}{busy}")
        }
        (None, []) => match &first.process {
            Some(process) => {
                let share = share_text(process.share.value);
                format!("{share} of {whole} is in {}, in many functions", process.frame.function)
            }
            None => format!("{whole} is in many functions, each with little of it"),
        },
        (None, leaders) => {
            let named = leaders.iter().take(NAMED_MAX);
            let named = named
                .map(|leader| format!("{} of it in {}", share_of(&leader.frame), placed(leader)));
            format!("{whole} is in several functions{owner}, {}{busy}", list(named))
        }
    };
    let unnamed = shares(differences, |difference| Some(difference.unnamed_share));
    if unnamed == "0 %" { text } else { format!("{text}; {unnamed} has no symbol") }
}

/// `push (src/queue.c:41) ← work`, `system call futex ← push`.
fn placed(function: &AddedFunction) -> String {
    if let Some(call) = &function.system_call {
        let mostly =
            call.mostly.as_ref().map(|function| format!(" (mostly {})", function_name(function)));
        let mostly = mostly.unwrap_or_default();
        return format!("system call {}{mostly}{}", call.name, called_by(function.caller.as_ref()));
    }
    let line = function.line.as_ref().map(|line| format!(" ({line})")).unwrap_or_default();
    function_name(&function.frame) + &line + &called_by(function.caller.as_ref())
}

/// ` ← work`, or nothing.
pub(crate) fn called_by(caller: Option<&Frame>) -> String {
    caller.map(|caller| format!(" ← {}", function_name(caller))).unwrap_or_default()
}

/// From this share on that a function has by itself, what it calls is not worth a word.
const LONE_SHARE_MIN: f64 = 0.85;
/// Functions that a sentence names at most.
const NAMED_MAX: usize = 3;

/// A share that noise may have put beyond all of it.
fn share_text(share: f64) -> String {
    percent(share.min(1.0))
}

/// The least and the greatest of the shares that some differences have: `96 to 97 %`.
fn shares(
    differences: &[&ProfileDifference],
    share: impl Fn(&ProfileDifference) -> Option<f64>,
) -> String {
    let all = Range::new(differences.iter().filter_map(|difference| share(difference)));
    let [min, max] = [all.0, all.1].map(share_text);
    if min == max { min } else { format!("{} to {max}", min.trim_end_matches(" %")) }
}

/// The function that has most of it.
fn doer(leader: &AddedFunction) -> &Frame {
    let mostly = leader.system_call.as_ref().and_then(|call| call.mostly.as_ref());
    mostly.unwrap_or(&leader.frame)
}

/// Whether a CPU is busy waiting for a lock there. knee's own locks wait in functions of that name; elsewhere a
/// function of that name may do anything: `Epoll::wait` makes a system call.
fn is_waiting(frame: &Frame) -> bool {
    if WAITING_FUNCTIONS.contains(&frame.function.as_str()) {
        return true;
    }
    let name = frame.function.strip_prefix(OWN_LOCKS).and_then(|path| path.rsplit_once("::"));
    let is_wait = name.is_some_and(|(_, name)| name == "wait" || name.starts_with("wait_"));
    frame.kind == FrameKind::User && is_wait
}
