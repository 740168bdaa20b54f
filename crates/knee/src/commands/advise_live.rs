//! `knee advise --pid`: what a live process waits for, and what that says about its mechanism.

use crate::args::Advise;
use crate::commands::advise::advice;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use analysis::advise::{Ranked, Spot};
use analysis::words::{count, number_word, significant};
use engine::Stop;
use observe::{Estimate, Observation, Waiter, Watched};
use report::advice::Said;
use serde_json::{Value, json};
use std::fmt::Write;

/// So many of what a process waits on are listed.
const WAITERS_SHOWN: usize = 10;

/// Looks at the process, says what it saw, and advises for what returned most events.
pub fn advise(ask: &Advise, pid: u32, words: &[String]) -> Result<Exit, Trouble> {
    let stop = Stop::on_signals()
        .map_err(|error| Trouble::failed(format!("listening for signals: {error}")))?;
    // Three descriptors for each thread that is watched.
    engine::raise_descriptors_max();
    let seen = observe::observe(pid, ask.seconds, &|| stop.asked()).map_err(|error| trouble(&error))?;
    let advised = if stop.asked() {
        Err(Trouble::interrupted("interrupted: this is what was seen until then"))
    } else {
        advised(ask, &seen, words)
    };
    if ask.json {
        print_json(&of_observation(&seen, advised.as_ref().ok()))?;
    } else {
        print(&told(&seen))?;
        if let Ok(advised) = &advised {
            let text = report::advice::text(&advised.said, &style(false));
            print(&format!("\n{text}{}", ends(advised)))?;
        }
    }
    advised.map(|_| Exit::Done)
}

/// Advice for a process.
struct Advised {
    said: Said,
    /// The cheapest at the lower and at the upper end of the ratio's interval, where those are known.
    ends: Vec<Ranked>,
}

/// The advice for what returned most events.
fn advised(ask: &Advise, seen: &Observation, words: &[String]) -> Result<Advised, Trouble> {
    let known = |waiter: &Waiter| Some((waiter.watched?, waiter.ratio?));
    let Some((watched, ratio)) = seen.waiters.iter().find_map(known) else {
        return Err(Trouble::not_possible(
            "no wait returned anything meanwhile: nothing can be advised; look for longer, with \
             --seconds, or when it is busy",
        ));
    };
    let total = watched.median.max(1) as f64;
    // It has at least one active descriptor when a wait returns any, and at most all.
    let spot = |ratio: f64| Spot { total, active: rounded((ratio * total).clamp(1.0, total)) };
    let said = advice(ask, spot(ratio.value), words)?;
    let at_end = |ratio: f64| {
        let quiet = Advise { measure: false, ..ask.clone() };
        let said = advice(&quiet, spot(ratio), words).ok()?;
        said.advice.ranking.into_iter().next()
    };
    Ok(Advised { said, ends: [ratio.low, ratio.high].into_iter().filter_map(at_end).collect() })
}

/// Three digits of a mean: more would be read as exact.
fn rounded(active: f64) -> f64 {
    let digits = 10_f64.powf(2.0 - active.log10().floor());
    (active * digits).round() / digits
}

/// Whether the advice holds over the whole interval of the ratio.
fn ends(advised: &Advised) -> String {
    let [low, high] = advised.ends.as_slice() else { return String::new() };
    let Some(first) = advised.said.advice.ranking.first() else { return String::new() };
    if low.subject == first.subject && high.subject == first.subject {
        return String::new();
    }
    format!(
        "At the ends of its ratio's interval {} and {} would come first.\n",
        low.label, high.label
    )
}

/// What was seen, as a table.
fn told(seen: &Observation) -> String {
    let (pid, name) = (seen.pid, &seen.name);
    let threads = match seen.threads {
        1 => "1 thread".to_owned(),
        several => format!("{} threads", number_word(several)),
    };
    let (took, cost) = (seen.took.as_secs_f64(), significant(100.0 * seen.cost));
    let looked = seen.looked.as_secs_f64();
    // Writing to a String can't fail: the results below are dropped for that reason.
    let mut out = format!(
        "{name} ({pid}), {threads}: {took:.1} s, its waits seen for {looked:.1} s of them, which cost \
         it about {cost} % of its time\n"
    );
    let _ = writeln!(
        out,
        "  {:<22} {:>12} {:>9}   {:<24} {:<28} {:>6}",
        "it waits by",
        "watched",
        "waits/s",
        "events a wait (95 %)",
        "active of watched (95 %)",
        "empty"
    );
    for waiter in seen.waiters.iter().take(WAITERS_SHOWN) {
        let _ = writeln!(out, "  {}", line(waiter).trim_end());
    }
    let more = seen.waiters.len().saturating_sub(WAITERS_SHOWN);
    if more > 0 {
        let more = count(more as u64);
        let _ = writeln!(out, "  and {more} more, which returned less (--json has them)");
    }
    for remark in &seen.remarks {
        let _ = writeln!(out, "  {remark}");
    }
    out
}

fn line(waiter: &Waiter) -> String {
    let by = match (waiter.epoll, waiter.threads.as_slice()) {
        (Some(set), _) => format!("{} of set {set}", waiter.call.name()),
        (None, [thread]) => format!("{} in {thread}", waiter.call.name()),
        (None, _) => waiter.call.name().to_owned(),
    };
    let events = waiter.events_per_wait.map_or("–".into(), |e| interval(e, 1.0, ""));
    let ratio = waiter.ratio.map_or("–".into(), |ratio| interval(ratio, 100.0, " %"));
    let empty = 100.0 * waiter.empty as f64 / waiter.waits.max(1) as f64;
    format!(
        "{by:<22} {:>12} {:>9}   {events:<24} {ratio:<28} {:>6}",
        watched(waiter.watched),
        significant(waiter.waits_per_s),
        format!("{empty:.0} %"),
    )
}

fn watched(watched: Option<Watched>) -> String {
    let Some(Watched { least, most, exact, .. }) = watched else { return "–".into() };
    let bound = if exact { "" } else { "at most " };
    if least == most {
        format!("{bound}{}", count(most))
    } else {
        format!("{bound}{} to {}", count(least), count(most))
    }
}

fn interval(estimate: Estimate, times: f64, unit: &str) -> String {
    let [value, low, high] =
        [estimate.value, estimate.low, estimate.high].map(|figure| significant(figure * times));
    format!("{value}{unit} ({low} to {high})")
}

fn of_observation(seen: &Observation, advised: Option<&Advised>) -> Value {
    let remarks: Vec<String> = seen.remarks.iter().map(ToString::to_string).collect();
    json!({
        "pid": seen.pid,
        "name": seen.name,
        "threads": seen.threads,
        "took_s": seen.took.as_secs_f64(),
        "looked_s": seen.looked.as_secs_f64(),
        "looks": seen.looks,
        "cost": seen.cost,
        "samples_lost": seen.lost,
        "waiters": seen.waiters.iter().map(of_waiter).collect::<Vec<_>>(),
        "remarks": remarks,
        "advice": advised.map(|advised| report::advice::json(&advised.said)),
        "cheapest_at_interval_ends":
            advised.map(|advised| advised.ends.iter().map(|row| &row.subject).collect::<Vec<_>>()),
    })
}

fn of_waiter(waiter: &Waiter) -> Value {
    let estimate = |e: Option<Estimate>| {
        e.map(|Estimate { value, low, high }| json!({ "value": value, "low": low, "high": high }))
    };
    json!({
        "call": waiter.call.name(),
        "epoll_descriptor": waiter.epoll,
        "threads": waiter.threads,
        "watched": waiter.watched.map(|w| json!({
            "least": w.least, "median": w.median, "most": w.most, "exact": w.exact,
        })),
        "waits": waiter.waits,
        "waits_empty": waiter.empty,
        "waits_failed": waiter.failed,
        "waits_full": waiter.full,
        "events": waiter.events,
        "events_most": waiter.events_most,
        "events_per_wait": estimate(waiter.events_per_wait),
        "ratio": estimate(waiter.ratio),
        "waits_per_s": waiter.waits_per_s,
    })
}

/// Which exit code a process that can't be looked at deserves.
fn trouble(error: &observe::Trouble) -> Trouble {
    use observe::Trouble as Why;
    let line = error.to_string();
    match error {
        Why::Missing { .. } | Why::NotWatchable { .. } => Trouble::usage(line),
        Why::NotPermitted { .. } | Why::NoTracepoints { .. } | Why::NoWaits(_) => {
            Trouble::not_possible(line)
        }
        _ => Trouble::failed(line),
    }
}
