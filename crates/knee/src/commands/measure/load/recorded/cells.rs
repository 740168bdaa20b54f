//! The cells of a load, and their metrics.

use super::super::point::Point;
use super::Present;
use ::load::{Arrivals, Counts, IntervalOutcome, Plan, Quantiles, Shape, Statuses};
use findings::thresholds::{P90_COUNT_MIN, P99_COUNT_MIN, P999_COUNT_MIN};
use model::{
    Cell, CellKey, FailureReason, LOAD_RANKS, LOAD_RANKS_MISSING, LoadCounts, LoadOutcome, Metric,
    MetricInfo, MetricRole, Outcome, Parameters, Rank, SubjectInfo, Value, WorkloadInfo,
    WorkloadRole,
};
use std::collections::BTreeMap;
use std::time::Duration;

const WORKLOAD: &str = "load";
/// The axis of a load on several numbers of dead connections, and of any other.
const DEAD: &str = "dead";
const CONNECTIONS: &str = "connections";

struct Tail {
    which: &'static str,
    figure: fn(&Quantiles) -> f64,
    /// With fewer requests a percentile is the maximum.
    count_min: u64,
    /// The metric of an interval that it is; absent where it is none.
    of_interval: Option<&'static str>,
    /// The metric of the whole load that it is.
    of_load: Option<(&'static str, MetricRole)>,
}

const TAILS: [Tail; 4] = [
    Tail {
        which: "the 90th percentile",
        figure: |latency| latency.p90,
        count_min: P90_COUNT_MIN,
        of_interval: Some("p90"),
        of_load: None,
    },
    Tail {
        which: "the 99th percentile",
        figure: |latency| latency.p99,
        count_min: P99_COUNT_MIN,
        of_interval: Some("p99"),
        of_load: Some(("whole p99", MetricRole::WholeP99)),
    },
    Tail {
        which: "the 99.9th percentile",
        figure: |latency| latency.p99_9,
        count_min: P999_COUNT_MIN,
        of_interval: Some("p99.9"),
        of_load: Some(("whole p99.9", MetricRole::WholeP999)),
    },
    Tail {
        which: "the maximum",
        figure: |latency| latency.max,
        count_min: 1,
        of_interval: None,
        of_load: Some(("max", MetricRole::WholeMax)),
    },
];

impl Tail {
    /// The figure, of so many requests that it says something.
    fn figure_of(&self, latency: &Quantiles) -> Option<f64> {
        (latency.count >= self.count_min).then(|| (self.figure)(latency))
    }
}

pub struct Cells {
    subject: String,
    plan: Plan,
    parameters: Parameters,
    /// The points on the axis, in the order in which they are measured.
    points: Vec<u64>,
    has_dead: bool,
}

impl Cells {
    pub fn new(
        subject: String,
        plan: &Plan,
        numbers: &[Option<u64>],
        present: Option<Present>,
    ) -> Cells {
        let has_dead = numbers.iter().any(Option::is_some);
        let connections = plan.connections as u64;
        let points = numbers.iter().map(|number| number.unwrap_or(connections)).collect();
        let mut parameters = parameters(plan, has_dead);
        parameters.extend(present.map(missing_ranks).unwrap_or_default());
        Cells { subject, plan: plan.clone(), parameters, points, has_dead }
    }

    pub fn info(&self) -> WorkloadInfo {
        let (axis, axis_parameter) =
            if self.has_dead { ("dead connections", DEAD) } else { ("connections", CONNECTIONS) };
        WorkloadInfo {
            name: WORKLOAD.to_owned(),
            version: 1,
            question: "How does this server cope with this load?".to_owned(),
            operation: "a request and its reply".to_owned(),
            not_measured: not_measured(),
            axis: axis.to_owned(),
            axis_parameter: axis_parameter.to_owned(),
            points_down: self.has_dead,
            role: WorkloadRole::Load,
            metrics: metric_infos(&self.plan),
            subjects: vec![SubjectInfo::named(&self.subject)],
            ..WorkloadInfo::default()
        }
    }

    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// The keys of the cells that have `ended`, and of so many `more` of each point, by its index.
    pub fn planned(&self, ended: &[Cell], more: impl Fn(usize) -> usize) -> Vec<CellKey> {
        let mut keys: Vec<CellKey> = ended.iter().map(|cell| cell.key.clone()).collect();
        let mut rounds: BTreeMap<u64, u32> = BTreeMap::new();
        for key in &keys {
            *rounds.entry(key.point).or_default() += 1;
        }
        for (index, &point) in self.points.iter().enumerate() {
            let round = rounds.entry(point).or_default();
            for _ in 0..more(index) {
                keys.push(self.key(point, *round));
                *round += 1;
            }
        }
        keys
    }

    /// The key of the next cell of a point. One that is measured twice has one row of rounds.
    fn next_key(&self, ended: &[Cell], index: usize) -> CellKey {
        let point = self.points.get(index).copied().unwrap_or_default();
        let rounds = ended.iter().filter(|cell| cell.key.point == point).count();
        self.key(point, u32::try_from(rounds).unwrap_or(u32::MAX))
    }

    fn key(&self, point: u64, round: u32) -> CellKey {
        CellKey {
            workload: WORKLOAD.to_owned(),
            subject: self.subject.clone(),
            parameters: self.parameters.clone(),
            point,
            round,
        }
    }

    /// The next cell after those that have `ended`; the last one of a point has what is known of the `whole` load.
    pub fn measured(
        &self,
        ended: &[Cell],
        index: usize,
        interval: &IntervalOutcome,
        whole: Option<(&Point, &[Rank])>,
    ) -> Cell {
        let mut metrics = metrics(&self.plan, interval);
        metrics.extend(whole.map(|(point, _)| whole_metrics(point)).into_iter().flatten());
        let elapsed_ns = (interval.length_s * 1e9) as u64;
        Cell {
            key: self.next_key(ended, index),
            sequence: ended.len() as u64,
            elapsed_ns,
            timed_ns: Some(elapsed_ns),
            metrics,
            load: whole.map(|(point, ranks)| outcome(point, ranks)),
            ..Cell::default()
        }
    }

    pub fn failed(&self, ended: &[Cell], index: usize, reason: FailureReason) -> Cell {
        Cell {
            key: self.next_key(ended, index),
            sequence: ended.len() as u64,
            outcome: Outcome::Failed { reason, detail: String::new() },
            ..Cell::default()
        }
    }
}

/// Without some of its ranks a load is another one.
fn missing_ranks(Present { ranks, size }: Present) -> Parameters {
    let missing = size - ranks;
    let both = [(LOAD_RANKS, size), (LOAD_RANKS_MISSING, missing)];
    let both = both.into_iter().filter(|_| missing > 0);
    both.map(|(name, number)| (name.to_owned(), Value::Number(number as u64))).collect()
}

fn not_measured() -> Vec<String> {
    let lines = [
        "what other clients find: the server, the way to it and this generator are one figure",
        "the time that a reply takes to be used: it ends with its last byte",
    ];
    lines.map(str::to_owned).to_vec()
}

/// In a closed loop the replies count, and in an open one, whose rate is given, how long they take.
fn metric_infos(plan: &Plan) -> Vec<MetricInfo> {
    let is_planned = plan.shape_is_planned();
    let from = if is_planned { "its intended time" } else { "its request" };
    let time = |name: &str, which: &str| {
        MetricInfo::time(name, &format!("reply, from {from} on, {which} of an interval"))
    };
    let about = "successful replies that ended in an interval";
    let replies = MetricInfo::more("replies", about, "replies/s");
    let mut all = vec![time("latency", "the median")];
    all.extend(TAILS.iter().filter_map(|tail| Some(time(tail.of_interval?, tail.which))));
    all.extend(TAILS.iter().filter_map(|tail| {
        let (name, role) = tail.of_load?;
        let about = format!("reply, from {from} on, {} of all requests", tail.which);
        Some(MetricInfo::time(name, &about).with_role(role))
    }));
    let is_rate_given = matches!(plan.shape, Shape::Open(_));
    all.insert(if is_rate_given { all.len() } else { 0 }, replies);
    if is_planned {
        let about = "reply, from the moment that its request was sent, the median of an interval";
        all.push(MetricInfo::time("service", about));
    }
    let about = "requests that were sent in an interval";
    all.push(MetricInfo::more("requests", about, "requests/s"));
    let errors = MetricInfo::less("errors", "errors in an interval", "errors/s");
    all.push(errors.with_role(MetricRole::Errors));
    let about = "sends of the generator that were more than 1 ms late in an interval";
    all.push(MetricInfo::less("late", about, "requests/s"));
    let about = "reply, CPU time of the server";
    all.push(MetricInfo::time("server cpu", about).with_role(MetricRole::Whole));
    let about = "time of its busiest thread on a CPU";
    all.push(MetricInfo::less("generator busy", about, "%").with_role(MetricRole::Whole));
    let about = "connections at a time that never got a reply";
    all.push(MetricInfo::less("unserved", about, "%").with_role(MetricRole::Whole));
    all
}

fn metrics(plan: &Plan, interval: &IntervalOutcome) -> Vec<Metric> {
    let metric = |name: &str, figure: f64, operations: u64| Metric {
        name: name.to_owned(),
        samples: vec![figure],
        operations,
        ..Metric::default()
    };
    let rate =
        |name: &str, number: u64| metric(name, number as f64 / interval.length_s.max(1e-9), number);
    let median = |name: &str, quantiles: &Quantiles| Metric {
        histogram: quantiles.histogram.clone(),
        ..metric(name, quantiles.p50, quantiles.count)
    };
    let mut all = vec![rate("replies", interval.tick.replies)];
    let latency = &interval.latency;
    // Of an interval without a reply there is no latency.
    if latency.count > 0 {
        all.push(median("latency", latency));
        all.extend(TAILS.iter().filter_map(|tail| {
            Some(metric(tail.of_interval?, tail.figure_of(latency)?, latency.count))
        }));
    }
    if plan.shape_is_planned() && interval.service.count > 0 {
        all.push(median("service", &interval.service));
    }
    all.push(rate("requests", interval.tick.requests));
    all.push(rate("errors", interval.tick.errors));
    all.push(rate("late", interval.late));
    all
}

/// The figures of the load as a whole, from all its requests: those that were given up, too.
fn whole_metrics(point: &Point) -> Vec<Metric> {
    let outcome = &point.outcome;
    let latency = outcome.latency_at_least.as_ref().unwrap_or(&outcome.latency);
    let metric = |name: &str, figure: f64| Metric {
        name: name.to_owned(),
        samples: vec![figure],
        operations: latency.count,
        ..Metric::default()
    };
    let mut all = vec![metric("generator busy", outcome.counts.busy_share * 1e2)];
    all.extend(
        TAILS.iter().filter_map(|tail| Some(metric(tail.of_load?.0, tail.figure_of(latency)?))),
    );
    let Counts { asked, unserved, .. } = outcome.counts;
    if asked > 0 {
        all.push(metric("unserved", unserved as f64 / asked as f64 * 1e2));
    }
    let cpu_ns = point.server.and_then(|server| server.cpu_ns_per_reply);
    all.extend(cpu_ns.map(|cpu_ns| metric("server cpu", cpu_ns)));
    all
}

/// What else decides the figures: loads that differ in one of these are not compared. The length of the load and the
/// generator's threads are not among them.
fn parameters(plan: &Plan, has_dead: bool) -> Parameters {
    let (shape, arrivals) = match plan.shape {
        Shape::Closed => ("closed", None),
        Shape::Open(arrivals) => ("open", Some(arrivals)),
        Shape::Sessions(arrivals) => ("sessions", Some(arrivals)),
    };
    let mut all = Parameters::from([("loop".to_owned(), Value::from(shape))]);
    let mut set = |name: &str, value: String| {
        all.insert(name.to_owned(), Value::from(value));
    };
    match arrivals {
        None => {}
        Some(Arrivals::Constant { per_s }) => set("rate", per_s.to_string()),
        Some(Arrivals::Poisson { per_s }) => {
            set("rate", per_s.to_string());
            set("arrivals", "poisson".to_owned());
        }
        Some(Arrivals::Ramp { from_per_s, to_per_s }) => {
            set("rate_from", from_per_s.to_string());
            set("rate_to", to_per_s.to_string());
        }
    }
    if has_dead {
        set(CONNECTIONS, plan.connections.to_string());
    }
    if !plan.keep_alive {
        set("calls", "1".to_owned());
    } else if let Some(calls) = plan.calls {
        set("calls", calls.to_string());
    }
    if !plan.think.is_zero() {
        set("think_ms", ms(plan.think));
    }
    if plan.success != Statuses::default() {
        set("success", plan.success.to_string());
    }
    if plan.pipeline > 1 {
        set("pipeline", plan.pipeline.to_string());
    }
    if plan.target.address.tcp().is_none() {
        set("socket", "unix".to_owned());
    }
    if !plan.target.headers.is_empty() {
        set("headers", plan.target.header_names().join(" "));
    }
    if let Some(tls) = &plan.target.tls {
        set("tls", if tls.options.insecure { "unverified" } else { "verified" }.to_owned());
        if tls.options.no_resume {
            set("resume", "no".to_owned());
        }
    }
    set("interval_ms", ms(plan.interval));
    all
}

fn ms(time: Duration) -> String {
    (time.as_secs_f64() * 1e3).to_string()
}

fn outcome(point: &Point, ranks: &[Rank]) -> LoadOutcome {
    let all = &point.outcome.counts;
    let errors = all.errors.each().map(|(kind, number)| (kind.to_owned(), number));
    let counts = LoadCounts {
        requests: all.requests,
        replies: all.replies,
        failures: all.errors.status,
        unsent: all.unsent,
        unfinished: all.unfinished,
        waited: all.waited,
        connections: all.connections,
        asked: all.asked,
        unserved: all.unserved,
        errors: errors.collect(),
    };
    LoadOutcome { counts, ranks: ranks.to_vec() }
}
