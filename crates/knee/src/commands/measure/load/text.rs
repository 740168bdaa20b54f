//! The text of a load's outcome.

pub mod warnings;

use super::Measured;
use super::point::Point;
use super::server::Use;
use ::load::{
    Arrivals, Counts, DeadOutcome, Errors, Handshakes, Outcome, Plan, Quantiles, Shape, Tick, Url,
};
use findings::ServerBehaviour;
use findings::format::{bytes, count, list, percent, quantity, rank_sentence, significant, time};
use model::Rank;
use std::mem::discriminant;
use std::time::Duration;

const INDENT: &str = "  ";
const LABEL: usize = 12;

/// Everything; of several numbers of dead connections a line each, and all of each where `all` is asked for.
pub fn text(url: &Url, plan: &Plan, measured: &Measured, all: bool) -> String {
    let points = &measured.points[..];
    let mut text = match points {
        [point] => head(url, plan, &point.outcome) + &single(plan, point, all),
        _ => several(url, plan, points, all),
    };
    text += &section("Ranks", &ranks(&measured.ranks));
    text += &section("The server", &behaviours(points.iter()));
    text += &section("Caveats", &warnings::warnings(plan, measured));
    text
}

pub fn section(title: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("{INDENT}{line}\n")).collect();
    if lines.is_empty() { String::new() } else { format!("{title}\n{}", lines.concat()) }
}

fn ranks(all: &[Rank]) -> Vec<String> {
    all.iter().map(|rank| format!("{} {}", rank.rank, rank_sentence(rank))).collect()
}

fn single(plan: &Plan, point: &Point, all: bool) -> String {
    let outcome = &point.outcome;
    let mut text = totals(plan, outcome);
    text += &times(plan, outcome);
    text += &trouble(outcome);
    if let Some(dead) = outcome.dead.filter(|dead| dead.asked > 0) {
        text += &line("dead", &dead_words(&dead));
    }
    if let Some(server) = &point.server {
        text += &line("server", &server_use(server));
    } else if let Some(why) = point.server_unknown {
        text += &line("server", &format!("its CPU and memory are unknown: {why}"));
    }
    text += &line("generator", &generator(outcome));
    if all {
        text += &series(outcome);
    }
    text
}

fn several(url: &Url, plan: &Plan, points: &[Point], all: bool) -> String {
    let Some(last) = points.last() else { return String::new() };
    let mut text = head(url, plan, &last.outcome);
    let names = [
        "dead",
        "held",
        "replies/s",
        "p50",
        "p99",
        "max",
        "errors",
        "CPU a reply",
        "threads",
        "bytes/dead",
    ];
    let with_server = points.iter().any(|point| point.server.is_some());
    let columns = if with_server { names.len() } else { names.len() - 3 };
    let row = |cells: &[String]| load_row(&cells[..columns]);
    text += &row(&names.map(str::to_owned));
    let dash = || "–".to_owned();
    for point in points {
        let outcome = &point.outcome;
        let dead = outcome.dead.filter(|dead| dead.asked > 0);
        let server = point.server.as_ref();
        text += &row(&[
            count(point.dead()),
            dead.map_or_else(dash, |dead| count(dead.alive_at_end)),
            significant(answered_per_s(outcome)),
            time(outcome.latency.p50),
            time(outcome.latency.p99),
            time(outcome.latency.max),
            count(outcome.counts.errors.total()),
            server.and_then(|server| server.cpu_ns_per_reply).map_or_else(dash, time),
            server.map_or_else(dash, |server| count(server.threads)),
            server.and_then(|server| server.bytes_per_dead).map_or_else(dash, significant),
        ]);
    }
    if all {
        for point in points {
            text += &["\nWith ", &quantity(point.dead(), "dead connection"), "\n"].concat();
            text += &single(plan, point, true);
        }
    }
    text
}

/// Replies a second, those left out that came after the end.
pub fn answered_per_s(outcome: &Outcome) -> f64 {
    let in_time: u64 = outcome.series.iter().map(|tick| tick.replies).sum();
    in_time as f64 / outcome.elapsed_s.max(1e-9)
}

pub fn behaviours<'a>(points: impl Iterator<Item = &'a Point>) -> Vec<String> {
    let lines = points.flat_map(|point| {
        point.behaviours().into_iter().map(move |behaviour| (behaviour, point.dead()))
    });
    of_most(lines).into_iter().map(|behaviour| behaviour.line()).collect()
}

/// One of each kind: what is seen with the most dead connections says the most.
fn of_most(seen: impl Iterator<Item = (ServerBehaviour, u64)>) -> Vec<ServerBehaviour> {
    let mut kept: Vec<(ServerBehaviour, u64)> = Vec::new();
    for (behaviour, dead) in seen {
        let is_same = |(kind, _): &&mut (ServerBehaviour, u64)| {
            discriminant(kind) == discriminant(&behaviour)
        };
        match kept.iter_mut().find(is_same) {
            Some(row) if row.1 > dead => {}
            Some(row) => *row = (behaviour, dead),
            None => kept.push((behaviour, dead)),
        }
    }
    kept.into_iter().map(|(behaviour, _)| behaviour).collect()
}

pub fn load_row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>12}")).collect();
    cells.concat() + "\n"
}

fn server_use(server: &Use) -> String {
    let processes = if server.processes == 1 { "process" } else { "processes" };
    let mut words = format!(
        "{} {processes}, {}, {} resident; {} CPUs busy",
        count(server.processes),
        quantity(server.threads, "thread"),
        bytes(server.resident_bytes),
        significant(server.cpus),
    );
    if let Some(ns) = server.cpu_ns_per_reply {
        words += &["; ", &time(ns), " of CPU a reply"].concat();
    }
    if let Some(each) = server.bytes_per_dead {
        words += &["; ", &bytes(each as u64), " a dead connection"].concat();
    }
    words
}

fn line(label: &str, words: &str) -> String {
    format!("  {label:LABEL$}{words}\n")
}

fn head(url: &Url, plan: &Plan, outcome: &Outcome) -> String {
    let is_named = url.has_name() || plan.target.address.tcp().is_none();
    let used = if is_named { format!(" at {}", plan.target.address) } else { String::new() };
    let mut parts = vec![format!("{url}{used}"), shape(plan)];
    parts.push(quantity(plan.connections as u64, "connection"));
    if plan.threads > 1 {
        parts.push(quantity(plan.threads as u64, "thread"));
    }
    match plan.calls {
        _ if !plan.keep_alive => parts.push("one request a connection".into()),
        Some(calls) => parts.push(format!("{} a connection", quantity(calls, "call"))),
        None => {}
    }
    if plan.pipeline > 1 {
        parts.push(format!("{} under way on each", count(plan.pipeline as u64)));
    }
    if !plan.think.is_zero() {
        parts.push(format!("{} of thinking", length(plan.think)));
    }
    if !plan.target.headers.is_empty() {
        parts.push(format!("with {}", list(plan.target.header_names())));
    }
    if !plan.sources.is_empty() {
        parts.push(quantity(plan.sources.len() as u64, "source address"));
    }
    if !plan.warm_up.is_zero() {
        parts.push(format!("after {} of warming up", length(plan.warm_up)));
    }
    let early = if outcome.counts.stopped { ", interrupted" } else { "" };
    parts.push(format!("{} s{early}", significant(outcome.elapsed_s)));
    format!("{}\n", parts.join(" · "))
}

fn shape(plan: &Plan) -> String {
    let (what, arrivals) = match plan.shape {
        Shape::Closed => return "closed loop".into(),
        Shape::Open(arrivals) => ("requests/s", arrivals),
        Shape::Sessions(arrivals) => ("connections/s", arrivals),
    };
    match arrivals {
        Arrivals::Constant { per_s } => format!("{} {what}", significant(per_s)),
        Arrivals::Poisson { per_s } => {
            format!("{} {what} at random (seed {})", significant(per_s), plan.seed)
        }
        Arrivals::Ramp { from_per_s, to_per_s } => {
            format!("{} to {} {what}", significant(from_per_s), significant(to_per_s))
        }
    }
}

fn totals(plan: &Plan, outcome: &Outcome) -> String {
    let per_s = |number: u64| significant(number as f64 / outcome.elapsed_s.max(1e-9));
    let both = |number: u64, what: &str| format!("{} {what} ({}/s)", count(number), per_s(number));
    let mut requests = Vec::new();
    if matches!(plan.shape, Shape::Open(_)) {
        requests.push(both(outcome.counts.requests + outcome.counts.unsent, "due"));
    }
    requests.push(both(outcome.counts.requests, "sent"));
    // What was waited for after the end is answered, and in no rate.
    let in_time = |field: fn(&Tick) -> u64| outcome.series.iter().map(field).sum::<u64>();
    let answered_per_s = per_s(in_time(|tick| tick.replies));
    let is_all = outcome.counts.errors.status == 0;
    let came = if is_all { "answered" } else { "succeeded" };
    requests.push(format!("{} {came} ({answered_per_s}/s)", count(outcome.counts.replies)));
    for (number, what) in [
        (outcome.counts.unfinished, "still under way"),
        (outcome.counts.unsent, "never sent"),
        (outcome.counts.waited, "waited for a free connection"),
    ] {
        if number > 0 {
            requests.push(format!("{} {what}", count(number)));
        }
    }
    let named = ["1xx", "2xx", "3xx", "4xx", "5xx"].iter().zip(outcome.counts.statuses);
    let statuses: Vec<String> = named
        .filter(|(_, number)| *number > 0)
        .map(|(name, number)| format!("{name} {}", count(number)))
        .collect();
    let Counts { asked, unserved, connections, .. } = outcome.counts;
    let mut opened = format!("{} opened", count(connections));
    if unserved > 0 {
        opened += &[", ", &count(unserved), " of ", &count(asked), " never got a reply"].concat();
    }
    let statuses = if statuses.is_empty() { "none".into() } else { statuses.join(" · ") };
    let moved = format!(
        "{} in replies, {}/s",
        bytes(outcome.counts.bytes),
        bytes((in_time(|tick| tick.bytes) as f64 / outcome.elapsed_s.max(1e-9)) as u64)
    );
    // Handshakes of the warm-up are counted.
    let all_s = outcome.elapsed_s + plan.warm_up.as_secs_f64();
    line("requests", &requests.join(", "))
        + &line("replies/s", &rates(plan, outcome))
        + &line("statuses", &statuses)
        + &line("transfer", &moved)
        + &line("connections", &opened)
        + &outcome.counts.handshakes.as_ref().map(handshakes(all_s)).unwrap_or_default()
}

fn handshakes(all_s: f64) -> impl Fn(&Handshakes) -> String {
    move |Handshakes { full, resumed, negotiated, .. }| {
        let per_s = significant((full + resumed) as f64 / all_s.max(1e-9));
        let mut words = format!(
            "{} ({per_s}/s): {} full, {} resumed",
            quantity(full + resumed, "handshake"),
            count(*full),
            count(*resumed)
        );
        if let Some((version, cipher)) = negotiated {
            words += &["; ", version, ", ", cipher].concat();
        }
        line("TLS", &words)
    }
}

/// httperf's samples of the reply rate.
fn rates(plan: &Plan, outcome: &Outcome) -> String {
    let rates = &outcome.reply_rate;
    if rates.samples == 0 {
        return format!("no whole interval of {}", length(plan.interval));
    }
    format!(
        "min {} · avg {} · max {} · stddev {}  ({} of {})",
        significant(rates.min),
        significant(rates.avg),
        significant(rates.max),
        significant(rates.stddev),
        quantity(rates.samples, "sample"),
        length(plan.interval),
    )
}

fn times(plan: &Plan, outcome: &Outcome) -> String {
    let names = ["p50", "p90", "p99", "p99.9", "max", "mean", "stddev"];
    let names = names.map(|name| format!("{name:>11}")).concat();
    let mut text = format!("\n  {:LABEL$}{names}\n", "");
    let is_planned = plan.shape_is_planned();
    let latency_start =
        if is_planned { "from the intended time on" } else { "from the request on" };
    text += &row("latency", &outcome.latency, latency_start);
    if let Some(at_least) = &outcome.latency_at_least {
        let what = "at least: with those that were given up or never sent";
        text += &row("", at_least, what);
    }
    if is_planned {
        text += &row("service", &outcome.service, "from the moment it was sent on");
    }
    text += &row("connect", &outcome.connect, "");
    if let Some(handshake) = &outcome.handshake {
        text += &row("handshake", handshake, "");
    }
    text + "\n"
}

fn row(label: &str, quantiles: &Quantiles, what: &str) -> String {
    if quantiles.count == 0 {
        return String::new();
    }
    let Quantiles { p50, p90, p99, p99_9, max, mean, stddev, .. } = *quantiles;
    let figures = [p50, p90, p99, p99_9, max, mean, stddev];
    let figures = figures.map(|ns| format!("{:>11}", time(ns))).concat();
    format!("  {label:LABEL$}{figures}  {what}").trim_end().to_owned() + "\n"
}

fn trouble(outcome: &Outcome) -> String {
    let named = errors(&outcome.counts.errors);
    let words = if named.is_empty() { "none".into() } else { named.join(" · ") };
    let message = outcome.counts.other_error.as_deref().map(|message| format!(" ({message})"));
    line("errors", &(words + &message.unwrap_or_default()))
}

fn errors(errors: &Errors) -> Vec<String> {
    errors.each().map(|(name, number)| format!("{name} {}", count(number))).collect()
}

fn dead_words(dead: &DeadOutcome) -> String {
    let mut words = format!(
        "{} of {} opened, {} open at the end",
        count(dead.opened),
        count(dead.asked),
        count(dead.alive_at_end)
    );
    if dead.untried > 0 {
        let given_up = dead.asked - dead.untried.min(dead.asked);
        words += &["; given up after ", &count(given_up), ": ", &count(dead.untried), " not tried"]
            .concat();
    }
    match (dead.seen_by_server_before, dead.seen_by_server_at_end) {
        (Some(before), Some(after)) => {
            let both = format!("{}, then {}", count(before), count(after));
            words += &["; the server's side had ", &both].concat();
        }
        _ => words += "; the server's side was not looked at",
    }
    words
}

fn generator(outcome: &Outcome) -> String {
    let cpu_ns = (outcome.counts.user_ns + outcome.counts.system_ns) as f64;
    let mut words = format!(
        "{} of CPU (user {}, system {}), its busiest thread {} of the time",
        time(cpu_ns),
        time(outcome.counts.user_ns as f64),
        time(outcome.counts.system_ns as f64),
        percent(outcome.counts.busy_share)
    );
    if cpu_ns > 0.0 && outcome.counts.replies > 0 {
        let per_s = outcome.counts.replies as f64 / cpu_ns * 1e9;
        words += &["; ", &significant(per_s), " requests a CPU-second"].concat();
    }
    words
}

fn series(outcome: &Outcome) -> String {
    let names = ["until s", "sent", "replies", "errors", "under way", "p50", "p99", "max"];
    let mut text = String::from("\n ");
    text += &(names.map(|name| format!("{name:>11}")).concat() + "\n");
    for tick in &outcome.series {
        let cells = [
            format!("{:.3}", tick.at_s),
            count(tick.requests),
            count(tick.replies),
            count(tick.errors),
            count(tick.under_way),
            time(tick.p50_ns),
            time(tick.p99_ns),
            time(tick.max_ns),
        ];
        text += &[" ", &cells.map(|cell| format!("{cell:>11}")).concat(), "\n"].concat();
    }
    text + "\n"
}

fn length(duration: Duration) -> String {
    time(duration.as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_with_the_most_dead_connections_is_kept_in_any_order() {
        let idle = |opened| ServerBehaviour::of_idle(5_000, opened, opened).unwrap();
        let closes = ServerBehaviour::ClosesAfterReply { is_announced: true, http_10: true };
        let ascending = [(idle(10), 10), (closes.clone(), 10), (idle(1_000), 1_000)];
        let descending = [(idle(1_000), 1_000), (closes.clone(), 10), (idle(10), 10)];
        for order in [ascending, descending] {
            assert_eq!(of_most(order.into_iter()), [idle(1_000), closes.clone()]);
        }
    }

    #[test]
    fn the_number_of_dead_connections_that_were_not_tried_is_given() {
        let dead =
            DeadOutcome { asked: 5_000, opened: 100, untried: 4_600, ..DeadOutcome::default() };
        let words = dead_words(&dead);
        assert!(words.contains("given up after 400: 4,600 not tried"), "{words}");
        assert!(!dead_words(&DeadOutcome { untried: 0, ..dead }).contains("given up"));
    }
}
