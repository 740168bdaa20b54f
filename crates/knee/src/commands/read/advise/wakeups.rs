//! `knee advise --pid`: waits of a live process that wake it up for nothing.

use crate::commands::read::advise::live::{label, rounded};
use analysis::advise::{IdleWakeups, Wakeups};
use findings::format::{count, number_word, percent, significant};
use observe::{Observation, ReadyFor, StaysReady, Waiter};
use serde_json::{Value, json};

const DESCRIPTORS_SHOWN: usize = 6;

pub struct IdleWaiter<'a> {
    waiter: &'a Waiter,
    wakeups: IdleWakeups,
}

pub fn idle(seen: &Observation) -> Vec<IdleWaiter<'_>> {
    let looked_s = seen.looked.as_secs_f64().max(f64::MIN_POSITIVE);
    let idle = |waiter| Some(IdleWaiter { waiter, wakeups: wakeups(waiter, looked_s).idle()? });
    seen.waiters.iter().filter_map(idle).collect()
}

fn wakeups(waiter: &Waiter, looked_s: f64) -> Wakeups {
    Wakeups {
        unserved_per_s: waiter.for_nothing as f64 / looked_s,
        empty_per_s: waiter.empty as f64 / looked_s,
        empty_after_s: waiter.empty_after.map(|after| after.as_secs_f64()),
    }
}

impl IdleWaiter<'_> {
    /// Whether its events are those of descriptors that are not served: a mechanism can't be chosen by them.
    pub fn is_unserved(&self, waiter: &Waiter) -> bool {
        matches!(self.wakeups, IdleWakeups::Unserved { .. }) && std::ptr::eq(self.waiter, waiter)
    }

    pub fn lines(&self, process: &str) -> Vec<String> {
        let label = label(self.waiter);
        let cpus = self.cpus();
        match self.wakeups {
            IdleWakeups::Unserved { per_s } => self.unserved_lines(process, per_s),
            IdleWakeups::TimeOuts { per_s, after_s } => vec![format!(
                "{process} wakes up {} times a second for nothing: the time-out of {label} ends after {} ms, and \
                 nothing is ready.{cpus} A longer time-out leaves it asleep.",
                rate(per_s),
                significant(1e3 * after_s)
            )],
            IdleWakeups::Polls { per_s, cpu_share } => vec![format!(
                "{process} asks {} times a second without waiting: the time-out of {label} is 0, and nothing is \
                 ready. These calls take {} of a CPU.{cpus} With a time-out it sleeps whenever it has nothing else \
                 to do.",
                rate(per_s),
                percent(cpu_share)
            )],
        }
    }

    fn unserved_lines(&self, process: &str, per_s: f64) -> Vec<String> {
        let all = &self.waiter.stay_ready;
        let (stay, label, cpus) = (number_word(all.len()), label(self.waiter), self.cpus());
        let descriptors = match all.len() {
            1 => "one descriptor stays ready and is not served".to_owned(),
            _ => format!("{stay} descriptors stay ready and are not served"),
        };
        let head = format!(
            "{process} wakes up {} times a second for nothing: {descriptors}, so that {label} never blocks.{cpus} \
             {}",
            rate(per_s),
            remedy(all)
        );
        let shown = all.iter().take(DESCRIPTORS_SHOWN).map(|stays| format!("  {}", line(stays)));
        let more = all.len().saturating_sub(DESCRIPTORS_SHOWN);
        let more =
            (more > 0).then(|| format!("  and {} more (--json has them)", count(more as u64)));
        std::iter::once(head).chain(shown).chain(more).collect()
    }

    /// The CPU time of the threads that wait.
    fn cpus(&self) -> String {
        let Some(cpus) = self.waiter.cpus else { return String::new() };
        let threads = match self.waiter.threads.len() {
            1 => "Its thread uses".to_owned(),
            several => format!("Its {} threads use", number_word(several)),
        };
        format!(" {threads} {} of a CPU.", percent(cpus))
    }

    pub fn json(&self) -> Value {
        let descriptors = self.waiter.stay_ready.iter().map(|stays| {
            let ReadyFor { reading, writing, ended } = stays.events;
            let file = stays.file.as_ref().map(|file| {
                json!({
                    "kind": file.kind, "listens": file.listens, "local": file.local, "peer": file.peer,
                })
            });
            json!({
                "descriptor": stays.descriptor,
                "file": file,
                "readable": reading,
                "writable": writing,
                "ended": ended,
                "reports": stays.reports,
                "served": stays.served,
                "last_answer": stays.answer.map(|answer| answer.to_string()),
            })
        });
        json!({
            "wait": label(self.waiter),
            "wakeups": self.wakeups,
            "cpus": self.waiter.cpus,
            "descriptors": descriptors.collect::<Vec<_>>(),
        })
    }
}

/// `descriptor 7 (pipe to 1234 (sh)) stays readable: reported 5,120 times, never read`.
fn line(stays: &StaysReady) -> String {
    let ReadyFor { reading, writing, ended } = stays.events;
    let states = [(reading, "readable"), (writing, "writable"), (ended, "hung up")];
    let states: Vec<&str> = states.iter().filter(|(is, _)| *is).map(|(_, state)| *state).collect();
    let file = stays.file.as_ref().map_or("closed by now".to_owned(), ToString::to_string);
    let reports = count(stays.reports.round() as u64);
    let served = match (stays.served, stays.answer) {
        (0, Some(answer)) => format!("calls on it return only: {answer}"),
        (0, None) => "no call served it".to_owned(),
        (1, _) => "served once".to_owned(),
        (times, _) => format!("served {} times", count(times)),
    };
    let (descriptor, states) = (stays.descriptor, states.join(" and "));
    format!("descriptor {descriptor}, {file}: stays {states}, reported {reports} times, {served}")
}

fn remedy(all: &[StaysReady]) -> String {
    let any = |is: fn(ReadyFor) -> bool| all.iter().any(|stays| is(stays.events));
    let remedies = [
        (any(|events| events.ended), "Close what has hung up."),
        (
            any(|events| events.reading && !events.ended),
            "Read or accept what is readable, or watch it no longer.",
        ),
        (
            any(|events| events.writing && !events.ended),
            "Watch for writing only while there is something to write.",
        ),
    ];
    let remedies = remedies.iter().filter(|(applies, _)| *applies).map(|(_, remedy)| *remedy);
    remedies.collect::<Vec<_>>().join(" ")
}

/// Wake-ups a second, by three digits: those of a process that was disturbed.
fn rate(per_s: f64) -> String {
    significant(rounded(per_s))
}
