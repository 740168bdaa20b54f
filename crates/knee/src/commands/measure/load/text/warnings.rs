//! The caveats of a load's figures, each with its remedy.

use super::super::Measured;
use super::super::point::{Point, stall};
use super::super::server::Unsettled;
use ::load::{Counts, Outcome, Plan, Shape};
use findings::format::{count, percent, quantity, significant, time};
use findings::grouping::grouped;
use model::Warning;

/// From this share of its time on, the generator itself is what is measured.
pub const BUSY_SHARE: f64 = 0.9;

/// Those of each load, those that are the same for all without the numbers of dead connections.
pub fn warnings(plan: &Plan, measured: &Measured) -> Vec<String> {
    let disturbances = measured.warnings.iter().chain(&measured.disturbances);
    of_load(plan, &measured.points).into_iter().chain(disturbances.map(Warning::line)).collect()
}

pub fn of_load(plan: &Plan, points: &[Point]) -> Vec<String> {
    let rules: [fn(&Plan, &Outcome) -> Option<String>; 11] = [
        busy,
        late,
        missed,
        unlimited,
        unfinished,
        descriptors,
        ports,
        unanswered,
        |_, outcome| no_tls(&outcome.counts),
        closed,
        |plan, _| unverified(plan),
    ];
    let of_point = |point: &Point| {
        let own = rules.iter().filter_map(|rule| rule(plan, &point.outcome));
        let all = own.chain(missing_dead(point)).chain(point.unsettled.map(unsettled));
        all.map(|text| (text, point.dead())).collect::<Vec<_>>()
    };
    let prefixed = |(text, numbers): (String, Vec<u64>)| {
        if numbers.len() == points.len() {
            return text;
        }
        format!("With {} dead: {text}", findings::format::points(&numbers))
    };
    grouped(points.iter().flat_map(of_point)).into_iter().map(prefixed).collect()
}

/// The figures after it are of a server that does something else as well.
fn unsettled(unsettled: Unsettled) -> String {
    let Unsettled { waited_s, cpus, threads, connections } = unsettled;
    let left = match connections {
        0 => String::new(),
        left => format!(", with {} not closed", quantity(left, "connection")),
    };
    format!(
        "The server stayed busy for {} s after the load: {} CPUs in {}{left}; the next figures are of a \
         busy server. → a fresh server for each number, or knee run dead --server",
        significant(waited_s),
        significant(cpus),
        quantity(threads, "thread"),
    )
}

/// `1 request was`, `2 requests were`.
fn were(number: u64) -> String {
    format!("{} {}", quantity(number, "request"), if number == 1 { "was" } else { "were" })
}

fn busy(_plan: &Plan, outcome: &Outcome) -> Option<String> {
    (outcome.counts.busy_share > BUSY_SHARE).then(|| {
        format!(
            "A thread of the generator was busy for {} of the time: these may be its limits, not the \
             server's. → --threads, with a CPU for each",
            percent(outcome.counts.busy_share.min(1.0))
        )
    })
}

fn late(_plan: &Plan, outcome: &Outcome) -> Option<String> {
    late_sends(&outcome.counts)
}

pub fn late_sends(counts: &Counts) -> Option<String> {
    (counts.late > 0).then(|| {
        format!(
            "{} sent more than a millisecond late by the generator itself, {} at most; the latencies \
             hold that delay. → end what else runs, --pin, or --threads",
            were(counts.late),
            time(counts.late_max_ns)
        )
    })
}

fn missed(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let unsent = count(outcome.counts.unsent);
    (outcome.counts.unsent > 0).then(|| match plan.shape {
        Shape::Closed => {
            format!("{unsent} of the requests were never sent: nothing came of the connections.")
        }
        Shape::Open(_) => format!(
            "The plan was missed: {unsent} of {} that were due were never sent, since no connection \
             was free. → --connections, or a lower rate: this one may be more than the server can do",
            quantity(outcome.counts.requests + outcome.counts.unsent, "request"),
        ),
        Shape::Sessions(_) => format!(
            "The plan was missed: {unsent} of the connections that were due never sent a request, since \
             as many as may be were open. → --connections, or a lower --connection-rate"
        ),
    })
}

/// An open loop says what the server can do only from the rate on at which it can't.
fn unlimited(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let left = outcome.counts.unsent + outcome.counts.unfinished + outcome.counts.errors.total();
    let kept_up = left == 0 && outcome.counts.replies > 0 && stall(outcome).is_none();
    (plan.shape_is_planned() && kept_up && !outcome.counts.stopped).then(|| {
        let more = match plan.shape {
            Shape::Sessions(_) => "a higher --connection-rate, or more --calls",
            _ => "a higher --rate, or a closed loop",
        };
        format!("The server kept up: the reply rate is what was asked of it, not what it can do. → {more}")
    })
}

fn unfinished(_plan: &Plan, outcome: &Outcome) -> Option<String> {
    (outcome.counts.unfinished > 0).then(|| {
        format!(
            "{} still under way at the end: in the latencies that say *at least*, and in no others.",
            were(outcome.counts.unfinished)
        )
    })
}

fn descriptors(_plan: &Plan, outcome: &Outcome) -> Option<String> {
    let dead = outcome.dead.map_or(0, |dead| dead.errors.descriptors);
    (outcome.counts.errors.descriptors + dead > 0).then(|| {
        "Connections could not be made, since no descriptor was left here. → ulimit -n, or fewer \
         --connections"
            .into()
    })
}

fn ports(_plan: &Plan, outcome: &Outcome) -> Option<String> {
    let dead = outcome.dead.map_or(0, |dead| dead.errors.ports);
    (outcome.counts.errors.ports + dead > 0).then(|| {
        "Connections could not be made, since no local port was left. → --sources (loopback), sysctl \
         net.ipv4.ip_local_port_range, or connections that are kept"
            .into()
    })
}

fn missing_dead(point: &Point) -> Option<String> {
    // What the server does says it all.
    let dead = point.outcome.dead.filter(|_| !point.can_not_hold())?;
    let missing = |count: u64| dead.asked.saturating_sub(count);
    let seen = dead.seen_by_server_at_end.unwrap_or(dead.asked);
    let max_missing = missing(dead.opened).max(missing(dead.alive_at_end)).max(missing(seen));
    let errors = super::errors(&dead.errors);
    let why = if errors.is_empty() { String::new() } else { format!(" ({})", errors.join(", ")) };
    // Of a shortage here there is a line of its own.
    let is_of_the_server = errors.is_empty() || dead.errors.is_of_the_server();
    let remedy = if is_of_the_server {
        " → the server's limits on connections and on idle time"
    } else {
        ""
    };
    (max_missing > 0).then(|| {
        format!(
            "{} of the dead connections were missing{why}: the figures are of fewer.{remedy}",
            count(max_missing)
        )
    })
}

fn unanswered(_plan: &Plan, outcome: &Outcome) -> Option<String> {
    let Counts { replies, statuses, ref misfit, stopped, .. } = outcome.counts;
    let is_explained = misfit.is_some() || no_tls(&outcome.counts).is_some();
    (replies == 0 && statuses == [0; 5] && !is_explained && !stopped)
        .then(|| "No reply came at all. → whether a server listens there, and speaks HTTP".into())
}

pub fn no_tls(counts: &Counts) -> Option<String> {
    let fault = counts.handshakes.as_ref()?.fault.as_ref()?;
    Some(format!("TLS failed: {fault}. → {}", fault.remedy()))
}

/// Figures of any server that answers there.
pub fn unverified(plan: &Plan) -> Option<String> {
    let is_unverified = plan.target.tls.as_ref()?.options.insecure;
    is_unverified.then(|| {
        "The server's certificate was not verified (--insecure): handshakes took less work. → --ca".into()
    })
}

fn closed(plan: &Plan, outcome: &Outcome) -> Option<String> {
    (matches!(plan.shape, Shape::Closed) && outcome.counts.replies > 0).then(|| {
        "A closed loop asks less of a server that is slow, so its latencies hide what waits. → --rate, for \
         latencies"
            .into()
    })
}
