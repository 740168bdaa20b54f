//! Advice as text and as JSON.

use crate::layout::{INDENT, Pen, Style};
use crate::matrix::grid::Grid;
use analysis::Estimate;
use analysis::advise::{Advice, Gain, GainVerdict, Nearest};
use findings::format::{Unit, ci, count, factor, interval, list, percent, significant};
use serde::Serialize;
use serde_json::{Value, json};

/// Advice, with where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct SourcedAdvice {
    /// What is advised.
    pub advice: Advice,
    /// The number of the run that it comes from.
    pub run: i64,
    /// The day of that run.
    pub date: String,
    /// How it came by it.
    pub source: Source,
    /// What was measured instead of something that does not fit here.
    pub substitution: Option<Substitution>,
}

/// A value that stands for another one, which can't be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Substitution {
    /// The parameter: `spread`.
    pub parameter: String,
    /// The value that advice prefers.
    pub wanted: String,
    /// The value that is measured.
    pub used: String,
    /// Why, as the end of a sentence.
    pub because: String,
}

/// How advice came by its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// They were in the record.
    Recorded,
    /// They were measured for it.
    Measured,
}

/// What stands under every advice.
const CAVEAT: &str = "Finding what is ready is rarely the largest of a server's costs: see where yours \
                    spends its time before you change this (perf record -g -p PID).";

/// Raised when a key of [`json`] changes its meaning or goes.
const SCHEMA: u32 = 1;

/// The ranking as a table, and what has to be known of it. Every line ends in a line feed and in no blank.
pub fn text(sourced: &SourcedAdvice, style: &Style) -> String {
    let (advice, pen) = (&sourced.advice, Pen::new(&Style { colour: false, ..*style }));
    let mut out = String::new();
    pen.whole(&mut out, &question(advice), (0, INDENT));
    ranking(&mut out, advice, &pen);
    let notes = [absent(advice), verdict(advice), nearest(advice), few(advice)];
    let last = [Some(origin(sourced)), substituted(sourced), Some(CAVEAT.to_owned())];
    for note in notes.into_iter().chain(last).flatten() {
        pen.whole(&mut out, &note, (0, INDENT));
    }
    out
}

/// The same for programs.
pub fn json(sourced: &SourcedAdvice) -> Value {
    let mut value = json!(sourced);
    value["schema"] = SCHEMA.into();
    value["caveat"] = CAVEAT.into();
    value
}

/// `1,000 watched descriptors, 100 of them active (10 %)`.
fn question(advice: &Advice) -> String {
    let spot = advice.spot;
    let (total, active) = (count(spot.total.round() as u64), mean_count(spot.active));
    let share = percent(spot.active / spot.total);
    format!("{total} watched descriptors, {active} of them active at a time ({share})")
}

/// A mean has decimals, a count has none.
pub fn mean_count(number: f64) -> String {
    if number.fract() == 0.0 { count(number as u64) } else { significant(number) }
}

fn ranking(out: &mut String, advice: &Advice, pen: &Pen) {
    let costs: Vec<f64> = advice.ranking.iter().map(|row| row.cost_ns.value).collect();
    let unit = Unit::for_table("ns", &costs);
    let rows = advice.ranking.iter().map(|row| {
        let Estimate { value, low, high } = row.cost_ns;
        let interval = format!("{}–{}", unit.figure(low), unit.figure(high));
        (row.label.clone(), vec![unit.figure(value), interval, factor(row.times)])
    });
    pen.whole(out, "The cost of an active descriptor:", (0, INDENT));
    let heads = [unit.symbol.as_str(), "95 % CI", ""].map(str::to_owned);
    pen.grid(out, &Grid::plain("mechanism", heads, rows));
}

fn absent(advice: &Advice) -> Option<String> {
    let names = list(&advice.absent);
    (!advice.absent.is_empty()).then(|| format!("Not measured there: {names}."))
}

/// Few rounds say little, and less than their intervals.
fn few(advice: &Advice) -> Option<String> {
    let rounds = findings::format::number_word(advice.rounds as usize);
    let is_few = advice.rounds < findings::thresholds::ROUNDS_MIN;
    is_few.then(|| {
        let word = if advice.rounds == 1 { "round" } else { "rounds" };
        format!("Its figures stand on {rounds} {word}: too few to be sure of small leads.")
    })
}

fn verdict(advice: &Advice) -> Option<String> {
    let [first, second, ..] = advice.ranking.as_slice() else { return None };
    let margin = advice.margin?;
    let by = factor(margin.value);
    let ci = ci(&significant(margin.low), &significant(margin.high));
    Some(if advice.clear {
        let (first, second) = (&first.label, &second.label);
        format!("{first} is the cheapest here, {by} before {second} ({ci}).")
    } else {
        format!("{} and {} are too close to call ({by}, {ci}).", first.label, second.label)
    })
}

fn nearest(advice: &Advice) -> Option<String> {
    let Nearest { crossover, share, total } = advice.nearest.as_ref()?;
    let (over, under) = (&crossover.overtakes, &crossover.overtaken);
    let at = percent(share.value);
    let interval = interval(*share, percent);
    let total = count(*total);
    Some(format!(
        "The nearest crossover, with {total} watched: {over} overtakes {under} at {at} active{interval}."
    ))
}

fn origin(sourced: &SourcedAdvice) -> String {
    let advice = &sourced.advice;
    let parameters = advice.parameters.iter().map(|(name, value)| format!("{name} {value}"));
    let how = match sourced.source {
        Source::Recorded => {
            format!("From run {} of {}, on this machine", sourced.run, sourced.date)
        }
        Source::Measured => format!("Measured just now, as run {}", sourced.run),
    };
    let (low, high) = advice.between;
    let between = if low == high {
        String::new()
    } else {
        format!("; interpolated between {} and {} watched", count(low), count(high))
    };
    let workload = &advice.workload;
    format!("{how}: {workload}, {}{between}.", list(parameters))
}

fn substituted(sourced: &SourcedAdvice) -> Option<String> {
    let Substitution { parameter, wanted, used, because } = sourced.substitution.as_ref()?;
    Some(format!("Measured with {parameter} {used} instead of {wanted}: {because}."))
}

/// Whether a live process has the right mechanism, or what it would gain: `nginx waits by epoll
/// (edge-triggered): right for 0.9 % active of 2,023; nothing to gain.` Without a `gain` the mechanism in use was
/// not measured at the spot.
pub fn process_verdict(
    process: &str,
    mechanism: &str,
    advice: &Advice,
    gain: Option<&Gain>,
) -> String {
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
    let (value, interval) = (percent(value), ci(&percent(low), &percent(high)));
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
