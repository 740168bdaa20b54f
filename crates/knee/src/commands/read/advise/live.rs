//! `knee advise --pid`: the waits of a live process, what wakes it up for nothing, and the mechanism that suits
//! it.

use crate::commands::read::advise::flags::Advise;
use crate::commands::read::advise::spot::advice;
use crate::commands::read::advise::wakeups::{IdleWaiter, idle};
use crate::exit::{Exit, Trouble, stop_on_signals};
use crate::output::{print, print_json, style};
use analysis::advise::{Gain, Ranked, Spot};
use findings::format::{count, number_word, significant};
use observe::{Call, Estimate, Observation, Triggers, Waiter, Watched};
use report::advice::{SourcedAdvice, process_verdict};
use serde_json::{Value, json};

const WAITERS_SHOWN: usize = 10;

pub fn advise(ask: &Advise, pid: u32) -> Result<Exit, Trouble> {
    let stop = stop_on_signals()?;
    // Three descriptors for each thread that is watched.
    engine::raise_descriptors_max();
    let seen = observe::observe(pid, ask.seconds, &|| stop.is_requested())
        .map_err(|error| trouble(&error))?;
    let idle = idle(&seen);
    // The observation is printed before anything is measured for it.
    if !ask.json {
        print(&text(&seen, &idle, style(false).width))?;
    }
    let advised = if stop.is_requested() {
        Err(Trouble::interrupted("interrupted: this is what was seen until then"))
    } else {
        advised(ask, &seen, &idle)
    };
    if ask.json {
        print_json(&observation_json(&seen, &idle, &advised))?;
    } else if let Ok(Some(advised)) = &advised {
        let several = seen.waiters.len() > 1;
        let heading = if several { format!("For {}:\n", advised.by) } else { String::new() };
        let style = style(false);
        let verdict = report::layout::folded(&verdict(&seen, advised), style.width).join("\n");
        let text = report::advice::text(&advised.advice, &style);
        print(&format!("\n{heading}{verdict}\n\n{text}{}", ends(advised)))?;
    }
    advised.map(|_| Exit::Done)
}

struct Advised {
    /// What it is for: `epoll_wait of set 3`.
    by: String,
    in_use: InUse,
    advice: SourcedAdvice,
    /// What the cheapest would save; absent where the mechanism in use was not measured there.
    gain: Option<Gain>,
    /// The cheapest at both ends of the ratio's interval; absent outside of what was measured.
    ends: [Option<Ranked>; 2],
}

/// The mechanism that a process waits by.
struct InUse {
    label: String,
    /// Its row of the table; absent for an epoll set whose descriptors could not be read.
    subject: Option<&'static str>,
    /// How most descriptors of an epoll set are watched: `edge`.
    trigger: Option<&'static str>,
}

impl InUse {
    fn new(waiter: &Waiter) -> InUse {
        let by = |subject: &'static str| InUse {
            label: subject.to_owned(),
            subject: Some(subject),
            trigger: None,
        };
        match waiter.call {
            Call::EpollWait | Call::EpollPwait | Call::EpollPwait2 => InUse::epoll(waiter.triggers),
            Call::Poll => by("poll"),
            Call::Ppoll => by("ppoll"),
            Call::Select | Call::Pselect6 => by("select"),
        }
    }

    /// What most descriptors of the set are watched by; a listener is often watched in another way.
    fn epoll(triggers: Option<Triggers>) -> InUse {
        let Triggers { level, edge, oneshot } = triggers.unwrap_or_default();
        let ways = [
            (oneshot, "epoll-oneshot", "oneshot", "oneshot"),
            (level, "epoll-level", "level", "level-triggered"),
            (edge, "epoll-edge", "edge", "edge-triggered"),
        ];
        let max = ways.into_iter().max_by_key(|(number, ..)| *number);
        match max.filter(|(number, ..)| *number > 0) {
            Some((_, subject, trigger, words)) => InUse {
                label: format!("epoll ({words})"),
                subject: Some(subject),
                trigger: Some(trigger),
            },
            None => InUse { label: "epoll".to_owned(), subject: None, trigger: None },
        }
    }

    fn included(&self, ask: &Advise) -> Advise {
        let mut ask = ask.clone();
        let in_use = self.subject.filter(|_| !ask.mechanisms.is_empty()).map(str::to_owned);
        ask.mechanisms.extend(in_use.filter(|name| !ask.mechanisms.contains(name)));
        ask
    }
}

/// The advice for what returned most events that were served, if anything did.
fn advised(
    ask: &Advise,
    seen: &Observation,
    idle: &[IdleWaiter],
) -> Result<Option<Advised>, Trouble> {
    let with_ratio = |waiter: &&Waiter| {
        let is_served = !idle.iter().any(|idle| idle.is_unserved(waiter));
        is_served && waiter.watched.is_some() && waiter.ratio.is_some()
    };
    let busiest = seen.waiters.iter().find(with_ratio);
    let Some((waiter, watched, ratio)) =
        busiest.and_then(|waiter| Some((waiter, waiter.watched?, waiter.ratio?)))
    else {
        if !idle.is_empty() {
            return Ok(None);
        }
        return Err(Trouble::not_possible(
            "no wait returned anything meanwhile: nothing can be advised; look for longer, with \
             --seconds, or when it is busy",
        ));
    };
    let in_use = InUse::new(waiter);
    let ask = in_use.included(ask);
    let total = watched.median.max(1) as f64;
    // It has at least one active descriptor when a wait returns any, and at most all.
    let active = |ratio: f64| rounded(ratio * total).clamp(1.0, total);
    let spot = |ratio: f64| Spot { total, active: active(ratio) };
    let best = advice(&ask, spot(ratio.value), [active(ratio.low), active(ratio.high)])?;
    let at_end = |ratio: f64| {
        let quiet = Advise { measure: false, ..ask.clone() };
        let at_end = advice(&quiet, spot(ratio), [active(ratio); 2]).ok()?;
        at_end.advice.ranking.into_iter().next()
    };
    let events_per_s = waiter.events as f64 / seen.looked.as_secs_f64().max(f64::MIN_POSITIVE);
    Ok(Some(Advised {
        by: label(waiter),
        gain: in_use.subject.and_then(|subject| best.advice.gain(subject, events_per_s)),
        in_use,
        advice: best,
        ends: [ratio.low, ratio.high].map(at_end),
    }))
}

fn verdict(seen: &Observation, advised: &Advised) -> String {
    let (name, mechanism) = (&seen.name, &advised.in_use.label);
    process_verdict(name, mechanism, &advised.advice.advice, advised.gain.as_ref())
}

/// Three digits of a mean: more would be read as exact.
pub fn rounded(active: f64) -> f64 {
    let digits = 10_f64.powf(2.0 - active.log10().floor());
    (active * digits).round() / digits
}

fn ends(advised: &Advised) -> String {
    let Some(first) = advised.advice.advice.ranking.first() else { return String::new() };
    match &advised.ends {
        [Some(low), Some(high)]
            if low.subject == first.subject && high.subject == first.subject =>
        {
            format!("{} is the best at both ends of the 95 % CI of that ratio.\n", first.label)
        }
        [Some(low), Some(high)] => format!(
            "At the ends of the 95 % CI of that ratio {} and {} are the best.\n",
            low.label, high.label
        ),
        _ => "Not every ratio within its 95 % CI was measured.\n".into(),
    }
}

const WIDTH_FOR_COLUMNS: usize = 114;

fn text(seen: &Observation, idle: &[IdleWaiter], width: usize) -> String {
    let (pid, name) = (seen.pid, &seen.name);
    let threads = match seen.threads {
        1 => "1 thread".to_owned(),
        several => format!("{} threads", number_word(several)),
    };
    let (took, cost) = (seen.took.as_secs_f64(), significant(100.0 * seen.cost));
    let looked = seen.looked.as_secs_f64();
    let mut lines = vec![format!(
        "{name} ({pid}), {threads}: {took:.1} s, its waits seen for {looked:.1} s of them, which \
         cost it about {cost} % of its time"
    )];
    let shown = seen.waiters.iter().take(WAITERS_SHOWN).map(Cells::new);
    if width < WIDTH_FOR_COLUMNS {
        lines.extend(shown.flat_map(|cells| cells.lines()));
    } else {
        lines.push(Cells::head().columns());
        lines.extend(shown.map(|cells| cells.columns()));
    }
    let more = seen.waiters.len().saturating_sub(WAITERS_SHOWN);
    if more > 0 {
        let more = count(more as u64);
        lines.push(format!("  and {more} more, which returned less (--json has them)"));
    }
    lines.extend(seen.remarks.iter().map(|remark| format!("  {remark}")));
    for idle in idle {
        lines.push(String::new());
        lines.extend(idle.lines(name));
    }
    let folded = lines.iter().flat_map(|line| report::layout::folded(line, width));
    folded.map(|line| line + "\n").collect()
}

struct Cells {
    by: String,
    watched: String,
    waits: String,
    events: String,
    ratio: String,
    empty: String,
}

impl Cells {
    fn head() -> Cells {
        Cells {
            by: "it waits by".into(),
            watched: "watched".into(),
            waits: "waits/s".into(),
            events: "events a wait (95 % CI)".into(),
            ratio: "active of watched (95 % CI)".into(),
            empty: "empty".into(),
        }
    }

    fn new(waiter: &Waiter) -> Cells {
        let empty = 100.0 * waiter.empty as f64 / waiter.waits.max(1) as f64;
        Cells {
            by: InUse::new(waiter)
                .trigger
                .map_or_else(|| label(waiter), |trigger| format!("{} ({trigger})", label(waiter))),
            watched: watched(waiter.watched),
            waits: significant(waiter.waits_per_s),
            events: waiter.events_per_wait.map_or("–".into(), |e| interval(e, 1.0, "")),
            ratio: waiter.ratio.map_or("–".into(), |ratio| interval(ratio, 100.0, " %")),
            empty: format!("{empty:.0} %"),
        }
    }

    fn columns(&self) -> String {
        let Cells { by, watched, waits, events, ratio, empty } = self;
        format!("  {by:<26} {watched:>12} {waits:>9}   {events:<24} {ratio:<28} {empty:>6}")
    }

    fn lines(&self) -> Vec<String> {
        let Cells { by, watched, waits, events, ratio, empty } = self;
        vec![
            format!("  {by}: {watched} watched, {waits} waits/s, {empty} empty"),
            format!("    {events} events a wait, {ratio} active of watched (95 % CI)"),
        ]
    }
}

/// `epoll_wait of set 3`, `poll in thread 17`.
pub fn label(waiter: &Waiter) -> String {
    match (waiter.epoll, waiter.threads.as_slice()) {
        (Some(set), _) => format!("{} of set {set}", waiter.call.name()),
        (None, [thread]) => format!("{} in {thread}", waiter.call.name()),
        (None, _) => waiter.call.name().to_owned(),
    }
}

fn watched(watched: Option<Watched>) -> String {
    let Some(Watched { min, max, exact, .. }) = watched else { return "–".into() };
    let bound = if exact { "" } else { "at most " };
    if min == max {
        format!("{bound}{}", count(max))
    } else {
        format!("{bound}{} to {}", count(min), count(max))
    }
}

fn interval(estimate: Estimate, times: f64, unit: &str) -> String {
    let [value, low, high] =
        [estimate.value, estimate.low, estimate.high].map(|figure| significant(figure * times));
    format!("{value}{unit} ({low}–{high})")
}

fn observation_json(
    seen: &Observation,
    idle: &[IdleWaiter],
    advised: &Result<Option<Advised>, Trouble>,
) -> Value {
    let why = match advised {
        Ok(Some(_)) => None,
        Ok(None) => Some("its waits returned nothing that is served".to_owned()),
        Err(trouble) => Some(trouble.to_string()),
    };
    let advised = advised.as_ref().ok().and_then(Option::as_ref);
    let remarks: Vec<String> = seen.remarks.iter().map(ToString::to_string).collect();
    json!({
        "schema": 1,
        "pid": seen.pid,
        "name": seen.name,
        "threads": seen.threads,
        "took_s": seen.took.as_secs_f64(),
        "looked_s": seen.looked.as_secs_f64(),
        "looks": seen.looks,
        "cost": seen.cost,
        "samples_lost": seen.lost,
        "waiters": seen.waiters.iter().map(waiter_json).collect::<Vec<_>>(),
        "remarks": remarks,
        "idle_wakeups": idle.iter().map(IdleWaiter::json).collect::<Vec<_>>(),
        "advice": advised.map(|advised| report::advice::json(&advised.advice)),
        "advised_for": advised.map(|advised| &advised.by),
        "in_use": advised.map(|advised| advised.in_use.subject),
        "gain": advised.map(|advised| &advised.gain),
        "verdict": advised.map(|advised| verdict(seen, advised)),
        "no_advice_because": why,
        "cheapest_at_interval_ends": advised.map(|advised| {
            advised.ends.each_ref().map(|end| end.as_ref().map(|row| &row.subject))
        }),
    })
}

fn waiter_json(waiter: &Waiter) -> Value {
    let estimate = |e: Option<Estimate>| {
        e.map(|Estimate { value, low, high }| json!({ "value": value, "low": low, "high": high }))
    };
    json!({
        "call": waiter.call.name(),
        "epoll_descriptor": waiter.epoll,
        "threads": waiter.threads,
        "watched": waiter.watched.map(|w| json!({
            "least": w.min, "median": w.median, "most": w.max, "exact": w.exact,
        })),
        "triggers": waiter.triggers.map(|Triggers { level, edge, oneshot }| json!({
            "level": level, "edge": edge, "oneshot": oneshot,
        })),
        "waits": waiter.waits,
        "waits_empty": waiter.empty,
        "waits_failed": waiter.failed,
        "empty_after_s": waiter.empty_after.map(|after| after.as_secs_f64()),
        "cpus": waiter.cpus,
        "waits_full": waiter.full,
        "events": waiter.events,
        "events_most": waiter.events_most,
        "events_per_wait": estimate(waiter.events_per_wait),
        "ratio": estimate(waiter.ratio),
        "waits_per_s": waiter.waits_per_s,
    })
}

pub(super) fn trouble(error: &observe::Error) -> Trouble {
    use observe::Error as Why;
    let line = error.to_string();
    match error {
        Why::Missing(_) | Why::NotWatchable { .. } => Trouble::usage(line),
        Why::NotPermitted { .. } | Why::NoTracepoints { .. } | Why::NoWaits(_) => {
            Trouble::not_possible(line)
        }
        _ => Trouble::failed(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mechanism_in_use_is_what_most_descriptors_are_watched_by() {
        let subject =
            |level, edge, oneshot| InUse::epoll(Some(Triggers { level, edge, oneshot })).subject;
        assert_eq!(
            subject(2, 2_021, 0),
            Some("epoll-edge"),
            "nginx: its listener is level-triggered"
        );
        assert_eq!(subject(9, 0, 1), Some("epoll-level"));
        assert_eq!(subject(1, 0, 3), Some("epoll-oneshot"));
        assert_eq!(subject(0, 0, 0), None);
        assert_eq!(InUse::epoll(None).label, "epoll");
        for name in ["epoll-level", "epoll-edge", "epoll-oneshot", "poll", "ppoll", "select"] {
            assert!(readiness::find(name).is_some(), "{name}");
        }
    }
}
