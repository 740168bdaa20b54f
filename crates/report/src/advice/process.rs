//! The verdict on the mechanism that a live process uses.

use analysis::Estimate;
use analysis::advise::{Advice, Gain, GainVerdict};
use findings::format::{count, factor, percent, significant};

/// Whether the process has the right mechanism, or what it would gain: `nginx waits by epoll
/// (edge-triggered): right for 0.9 % active of 2,023; nothing to gain.` Without a `gain` the mechanism in use was
/// not measured at the spot.
pub fn verdict(process: &str, mechanism: &str, advice: &Advice, gain: Option<&Gain>) -> String {
    let spot = advice.spot;
    let total = count(spot.total.round() as u64);
    let part = format!("{} active of {total}", percent(spot.active / spot.total));
    let Some(gain) = gain else {
        return format!("{process} waits by {mechanism}, which was not measured for {part}.");
    };
    if gain.verdict == GainVerdict::Nothing {
        return format!("{process} waits by {mechanism}: right for {part}; nothing to gain.");
    }
    let (cheapest, times) = (&gain.cheapest.label, factor(gain.in_use.times));
    let events = significant(gain.events_per_s);
    let Estimate { value, low, high } = gain.cpu_saved;
    let interval = format!("95 % {} to {}", percent(low), percent(high));
    let value = percent(value);
    let costs = format!(
        "{process} waits by {mechanism}, which costs {times} as much as {cheapest} for {part}."
    );
    if gain.verdict == GainVerdict::Negligible {
        return format!(
            "{costs} At its {events} events/s that is {value} of a CPU ({interval}): nothing worth a change."
        );
    }
    format!("{costs} At its {events} events/s {cheapest} would save {value} of a CPU ({interval}).")
}
