//! Advice as text and as JSON.

use crate::figures::{figure, whole};
use crate::terminal::Style;
use crate::words;
use analysis::Estimate;
use analysis::advise::{Advice, Nearest};
use analysis::words::{Unit, percent};
use serde_json::{Value, json};
use std::fmt::Write;

/// Advice, with where it comes from.
#[derive(Clone, Debug)]
pub struct Said {
    /// What is advised.
    pub advice: Advice,
    /// The number of the run that it comes from.
    pub run: i64,
    /// The day of that run.
    pub date: String,
    /// How it came by it.
    pub source: Source,
}

/// How advice came by its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// They were in the record.
    Recorded,
    /// They were measured for it.
    Measured,
}

/// What stands under every advice.
const MIND: &str = "Finding what is ready is rarely the largest of a server's costs: see where yours \
                    spends its time before you change this (perf record -g -p PID).";

/// The ranking as a table, and what has to be known of it, as lines that end in a line feed.
pub fn text(said: &Said, style: &Style) -> String {
    let advice = &said.advice;
    let mut out = format!("{}\n", question(advice));
    out.push_str(&ranking(advice));
    let known = [verdict(advice), nearest(advice)].into_iter().flatten();
    for said in known.chain([origin(said), MIND.to_owned()]) {
        for line in wrapped(&said, style.width) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// The same for programs.
pub fn json(said: &Said) -> Value {
    json!({
        "advice": said.advice,
        "run": said.run,
        "date": said.date,
        "source": match said.source {
            Source::Recorded => "recorded",
            Source::Measured => "measured",
        },
        "caveat": MIND,
    })
}

/// `1,000 watched descriptors, 100 of them active (10 %)`.
fn question(advice: &Advice) -> String {
    let spot = advice.spot;
    let (total, active) = (whole(spot.total.round() as u64), count(spot.active));
    let share = percent(spot.active / spot.total);
    format!("{total} watched descriptors, {active} of them active at a time ({share})")
}

/// A mean has decimals, a count has none.
fn count(number: f64) -> String {
    if number.fract() == 0.0 { whole(number as u64) } else { figure(number) }
}

fn ranking(advice: &Advice) -> String {
    let costs: Vec<f64> = advice.ranking.iter().map(|row| row.cost_ns.value).collect();
    let unit = Unit::for_table("ns", &costs);
    let label = advice.ranking.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let label = label.max("mechanism".len());
    let head = format!("{} an active descriptor", unit.symbol);
    let mut out = format!("  {:<label$}   {head:>24}   {:>18}   {:>8}\n", "mechanism", "95 %", "");
    for row in &advice.ranking {
        let Estimate { value, low, high } = row.cost_ns;
        let interval = format!("{} to {}", unit.figure(low), unit.figure(high));
        let times = analysis::words::factor(row.times);
        let (name, value) = (&row.label, unit.figure(value));
        // Writing to a String can't fail.
        let _ = writeln!(out, "  {name:<label$}   {value:>24}   {interval:>18}   {times:>8}");
    }
    out
}

fn verdict(advice: &Advice) -> Option<String> {
    let [first, second, ..] = advice.ranking.as_slice() else { return None };
    let margin = advice.margin?;
    let by = analysis::words::factor(margin.value);
    let (low, high) = (figure(margin.low), figure(margin.high));
    Some(if advice.clear {
        let (first, second) = (&first.label, &second.label);
        format!("{first} is the cheapest here, {by} before {second} (95 % {low} to {high}).")
    } else {
        format!(
            "{} and {} are too close to call ({by}, 95 % {low} to {high}).",
            first.label, second.label
        )
    })
}

fn nearest(advice: &Advice) -> Option<String> {
    let Nearest { crossover, share, total } = advice.nearest.as_ref()?;
    let (over, under) = (&crossover.overtakes, &crossover.overtaken);
    let at = percent(share.value);
    let interval = if share.low < share.high {
        format!(" (95 % {} to {})", percent(share.low), percent(share.high))
    } else {
        String::new()
    };
    let total = whole(*total);
    Some(format!(
        "The nearest crossover, with {total} watched: {over} overtakes {under} at {at} active{interval}."
    ))
}

fn origin(said: &Said) -> String {
    let advice = &said.advice;
    let conditions: Vec<String> =
        advice.conditions.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let how = match said.source {
        Source::Recorded => format!("From run {} of {}, on this machine", said.run, said.date),
        Source::Measured => format!("Measured just now, as run {}", said.run),
    };
    let (low, high) = advice.between;
    let between = if low == high {
        String::new()
    } else {
        format!("; interpolated between {} and {} watched", whole(low), whole(high))
    };
    let workload = &advice.workload;
    format!("{how}: {workload}, {}{between}.", words::list(&conditions))
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width.max(40)).subsequent_indent("  ");
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}
