//! A load as a run of the record: each interval is a round, so that what reads runs reads loads.

use super::Measured;
use super::point::Point;
use super::text::warnings;
use super::together::{Rank, RankMeasured};
use crate::commands::exchange::push;
use crate::commands::record_file::{RecordFile, archive};
use crate::commands::record_path;
use crate::commands::run::labels::labels;
use crate::exit::{Exit, Trouble, complain};
use crate::launchers::{self, FleetFlags};
use crate::output::is_quiet;
use crate::usage;
use ::load::{Arrivals, IntervalOutcome, Plan, Quantiles, Shape, Url};
use ::record::{
    Archive, Cell, CellKey, HOST_NAME, HOST_NAMED_BY, Location, Metric, MetricInfo, Outcome,
    Parameters, Run, RunState, SqliteArchive, SubjectInfo, Usage, Value, Warning, WorkloadInfo,
    WorkloadRole,
};
use clap::Args;
use clap::builder::TypedValueParser;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The name of the workload of every recorded load.
const WORKLOAD: &str = "load";
/// The axis of a load on several numbers of dead connections, and of any other.
const DEAD: &str = "dead";
const CONNECTIONS: &str = "connections";

/// Whether and how the load is recorded.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Record")]
pub struct RecordFlags {
    /// Keep the load as a run of a record: of this file, or else of `$KNEE_RECORD` or your own
    ///
    /// Each interval is a round. `knee show`, `compare`, `history` and `report` read it. Without this flag nothing is
    /// recorded.
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = record_file(), default_missing_value = "")]
    record: Option<Location>,
    /// Name of the server in the record: loads of one name are compared [default: the URL without http://]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Record a label: commit=3701d31; may be repeated
    #[arg(short, long = "label", value_name = "KEY=VALUE", value_parser = usage::label)]
    labels: Vec<(String, String)>,
    /// Name of this machine in the record [default: its host name]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    host_name: Option<String>,
    /// Record it, and push it to this archive too: `postgres://USER@HOST/DATABASE`
    #[arg(long, value_name = "URL", value_parser = archive())]
    pub push: Option<Location>,
    /// One load of all ranks that srun, mpiexec or the like started: each sends its share, from one moment on
    ///
    /// The ranks meet at the archive of --push, and there is one result, of all of them. Rate, connections and requests are
    /// those of all together. See docs/fleet.md.
    #[arg(long, requires = "push", conflicts_with_all = ["dead", "wait"])]
    pub together: bool,
    /// With --together: wait this long for the other ranks
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantities::time_from_ms, hide_short_help = true)]
    pub check_in: Duration,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// Reads the record's file; the URL of a server, which is no record, has come to its place.
fn record_file() -> impl TypedValueParser<Value = Location> {
    let is_server = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    archive().try_map(move |location: Location| {
        let shown = location.shown().to_string_lossy();
        if is_server(&shown) {
            return Err("that is what to load; write --record after it, or --record FILE");
        }
        Ok(location)
    })
}

/// Reads the name of a server.
fn name(typed: &str) -> Result<String, String> {
    let name = typed.trim();
    let is_good = !name.is_empty() && !name.contains([',', '\n']) && name.chars().count() <= 80;
    is_good.then(|| name.to_owned()).ok_or_else(|| {
        format!("`{typed}` is no name: up to 80 characters, in one line and without commas")
    })
}

impl RecordFlags {
    /// Whether the load is to be recorded.
    pub fn is_recording(&self) -> bool {
        self.record.is_some() || self.push.is_some()
    }

    fn record_file(&self) -> RecordFile {
        let named = self.record.clone().filter(|record| !record.shown().as_os_str().is_empty());
        RecordFile::at(named)
    }
}

/// A run of the record that is to have the load, and the record.
pub struct Recording {
    flags: RecordFlags,
    file: PathBuf,
    archive: SqliteArchive,
    run: Run,
}

impl Recording {
    /// Opens the record, and looks at the machine before the load; `None` where nothing is to be recorded.
    pub fn begin(flags: &RecordFlags, command: Vec<String>) -> Result<Option<Recording>, Trouble> {
        if !flags.is_recording() {
            if flags.name.is_some() || !flags.labels.is_empty() || flags.host_name.is_some() {
                let what =
                    "--name, --label and --host-name are kept with --record, which is missing";
                return Err(Trouble::usage(what.to_owned()));
            }
            return Ok(None);
        }
        push::check(flags.push.as_ref())?;
        let file = record_path(&flags.record_file())?;
        // The run of several ranks is one run, and no rank of a fleet.
        let mut facts = launchers::facts(&flags.fleet)?;
        if flags.together {
            facts.retain(|key, _| key == HOST_NAME || key == HOST_NAMED_BY);
        }
        if let Some(name) = &flags.host_name {
            facts.insert(HOST_NAME.to_owned(), name.clone());
            facts.insert(HOST_NAMED_BY.to_owned(), "--host-name".to_owned());
        }
        let labels = labels(&flags.labels)?;
        let archive = SqliteArchive::open(&file)?;
        let plan = ::record::Plan::default();
        let clock = engine::calibrate();
        let mut run = engine::new_run(plan, command, env!("CARGO_PKG_VERSION"), &clock);
        run.host_before.facts.extend(facts);
        run.summary.labels = labels;
        Ok(Some(Recording { flags: flags.clone(), file, archive, run }))
    }

    /// Keeps what was measured.
    pub fn keep(mut self, url: &Url, plan: &Plan, measured: &Measured) -> Result<Kept, Trouble> {
        let name = self.flags.name.clone();
        let subject = name.unwrap_or_else(|| format!("{}{}", url.host_header(), url.path));
        fill(&mut self.run, &subject, plan, measured);
        self.run.summary.number = self.archive.keep(&self.run, "")?;
        let push = push::Measured::new(self.flags.push.as_ref(), &[(&self.run, true)]);
        let (number, record_file) = (self.run.summary.number, self.flags.record_file());
        Ok(Kept { file: self.file, number, push, record_file })
    }
}

/// A load that the record has.
pub struct Kept {
    file: PathBuf,
    number: i64,
    push: Option<push::Measured>,
    record_file: RecordFile,
}

impl Kept {
    /// Says where it is, and pushes it where that was asked for.
    pub fn push(self) -> Exit {
        if !is_quiet() {
            complain(&format!("Record: {} (run {})", self.file.display(), self.number));
        }
        self.push.map_or(Exit::Done, |push| push.push(&self.record_file))
    }
}

/// Makes of a run that has begun one that has ended, with all that was measured. A load that was interrupted has fewer
/// intervals than were planned.
fn fill(run: &mut Run, subject: &str, plan: &Plan, measured: &Measured) {
    let has_dead = measured.points.iter().any(Point::has_dead);
    let load = Load { subject, plan, has_dead, ranks: &measured.ranks };
    let per_point = measured.points.iter().map(|point| point.outcome.intervals.len());
    let rounds = planned_rounds(plan).max(per_point.max().unwrap_or(0));
    // In the order of time: one number of dead connections after the other.
    let mut cells = Vec::new();
    for point in &measured.points {
        for round in 0..point.outcome.intervals.len() {
            cells.push(load.cell(point, round, cells.len() as u64));
        }
    }
    let is_cut_off = measured.points.len() < measured.points_planned
        || measured.points.last().is_some_and(|point| point.outcome.stopped);
    let mut planned: Vec<CellKey> = cells.iter().map(|cell| cell.key.clone()).collect();
    if is_cut_off && let Some(last) = planned.last().cloned() {
        let missing = last.round + 1..u32::try_from(rounds).unwrap_or(u32::MAX);
        planned.extend(missing.map(|round| CellKey { round, ..last.clone() }));
    }
    run.plan = ::record::Plan {
        seed: super::seed(plan),
        rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
        measure_ms: plan.interval.as_millis() as u64,
        workloads: vec![load.info()],
        pinned_cpus: plan.pin.clone(),
        cells: planned,
        ..::record::Plan::default()
    };
    let own = warnings::of_load(plan, &measured.points);
    let own = own.into_iter().map(|what| Warning { what, remedy: String::new() });
    run.warnings.extend(interrupted(plan, measured));
    run.warnings.extend(own);
    run.warnings.extend(measured.warnings.iter().cloned());
    run.warnings.extend(measured.points.iter().filter_map(lower_bounds));
    run.warnings.extend(measured.disturbances.iter().cloned());
    let mut host_after = engine::host();
    for key in [HOST_NAME, HOST_NAMED_BY] {
        let given = run.host_before.facts.get(key);
        host_after.facts.extend(given.map(|value| (key.to_owned(), value.clone())));
    }
    run.host_after = Some(host_after);
    run.summary.ended = Some(engine::now());
    run.summary.state = if is_cut_off { RunState::Interrupted } else { RunState::Complete };
    run.summary.cells_planned = run.plan.cells.len() as u64;
    run.summary.cells_ended = cells.len() as u64;
    run.cells = cells;
}

/// The whole intervals of a load of a given length; 0 where requests end it.
fn planned_rounds(plan: &Plan) -> usize {
    let duration = plan.duration.filter(|_| plan.requests.is_none());
    duration.map_or(0, |duration| {
        (duration.as_secs_f64() / plan.interval.as_secs_f64() + 1e-9) as usize
    })
}

/// Those without a reply make latencies lower bounds.
fn lower_bounds(point: &Point) -> Option<Warning> {
    let at_least = point.outcome.latency_at_least.as_ref()?;
    let given_up = at_least.count - point.outcome.latency.count;
    let dead =
        if point.has_dead() { format!("With {} dead: ", point.dead()) } else { String::new() };
    let what = format!(
        "{dead}{} had no reply by the end; each counts in the latencies with the time that it had waited, so they are \
         lower bounds",
        printable::quantity(given_up, "request")
    );
    Some(Warning { what, remedy: String::new() })
}

fn interrupted(plan: &Plan, measured: &Measured) -> Option<Warning> {
    let last = measured.points.last().filter(|point| point.outcome.stopped)?;
    let elapsed_s = last.outcome.elapsed_s;
    let planned = plan.duration.map(|duration| format!(" of {} s", duration.as_secs_f64()));
    let what =
        format!("The load was interrupted after {elapsed_s:.1}{} s", planned.unwrap_or_default());
    Some(Warning { what, remedy: "load it again: a load can't be resumed".to_owned() })
}

/// What all cells of a load have in common.
struct Load<'a> {
    subject: &'a str,
    plan: &'a Plan,
    has_dead: bool,
    ranks: &'a [Rank],
}

impl Load<'_> {
    fn info(&self) -> WorkloadInfo {
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
            role: Some(WorkloadRole::Load),
            metrics: metric_infos(self.plan),
            subjects: vec![SubjectInfo {
                name: self.subject.to_owned(),
                label: self.subject.to_owned(),
                ..SubjectInfo::default()
            }],
            ..WorkloadInfo::default()
        }
    }

    fn cell(&self, point: &Point, round: usize, sequence: u64) -> Cell {
        let outcome = &point.outcome;
        let interval = &outcome.intervals[round];
        let is_last = round + 1 == outcome.intervals.len();
        let key = CellKey {
            workload: WORKLOAD.to_owned(),
            subject: self.subject.to_owned(),
            parameters: {
                let mut all = parameters(self.plan, self.has_dead);
                all.extend(missing_ranks(self.ranks));
                all
            },
            point: if self.has_dead { point.dead() } else { self.plan.connections as u64 },
            round: u32::try_from(round).unwrap_or(u32::MAX),
        };
        Cell {
            key,
            sequence,
            outcome: Outcome::Measured,
            elapsed_ns: (interval.length_s * 1e9) as u64,
            short: None,
            usage: Usage::default(),
            metrics: {
                let mut all = metrics(self.plan, interval);
                all.extend(is_last.then(|| whole_metrics(point)).into_iter().flatten());
                all
            },
            facts: if is_last { facts(point, self.ranks) } else { BTreeMap::new() },
        }
    }
}

/// Without some of its ranks a load is another one.
fn missing_ranks(ranks: &[Rank]) -> Option<(String, Value)> {
    let present = ranks.iter().filter(|rank| rank.measured.is_some()).count();
    let value = Value::from(format!("{present} of {}", ranks.len()));
    (present < ranks.len()).then(|| ("ranks".to_owned(), value))
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
    let metric = |name: &str, about: &str, unit: &str, lower_is_better| MetricInfo {
        name: name.to_owned(),
        about: about.to_owned(),
        unit: unit.to_owned(),
        lower_is_better,
        role: None,
    };
    let is_planned = plan.shape_is_planned();
    let from = if is_planned { "its intended time" } else { "its request" };
    let time = |name: &str, which: &str| {
        metric(name, &format!("reply, from {from} on, {which} of an interval"), "ns", true)
    };
    let whole = |name: &str, which: &str| {
        metric(name, &format!("reply, from {from} on, {which} of the whole load"), "ns", true)
    };
    let replies = metric("replies", "replies that ended in an interval", "replies/s", false);
    let mut all = vec![
        time("latency", "the median"),
        time("p90", "the 90th percentile"),
        time("p99", "the 99th percentile"),
        time("p99.9", "the 99.9th percentile"),
        whole("whole p99", "the 99th percentile"),
        whole("whole p99.9", "the 99.9th percentile"),
        whole("max", "the maximum"),
    ];
    let is_rate_given = matches!(plan.shape, Shape::Open(_));
    all.insert(if is_rate_given { all.len() } else { 0 }, replies);
    if is_planned {
        let about = "reply, from the moment that its request was sent, the median of an interval";
        all.push(metric("service", about, "ns", true));
    }
    all.push(metric("requests", "requests that were sent in an interval", "requests/s", false));
    all.push(metric("errors", "errors in an interval", "errors/s", true));
    let about = "requests that the generator sent more than 1 ms late in an interval";
    all.push(metric("late", about, "requests/s", true));
    all.push(metric("server cpu", "CPU time of the server for each reply", "ns", true));
    all.push(metric("generator busy", "time of its busiest thread on a CPU", "%", true));
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
    let mut all = vec![rate("replies", interval.replies)];
    let latency = &interval.latency;
    // Of an interval without a reply there is no latency.
    if latency.count > 0 {
        all.push(median("latency", latency));
        // With fewer requests a percentile is the maximum.
        for (name, figure, count_min) in
            [("p90", latency.p90, 10), ("p99", latency.p99, 100), ("p99.9", latency.p99_9, 1_000)]
        {
            if latency.count >= count_min {
                all.push(metric(name, figure, latency.count));
            }
        }
    }
    if plan.shape_is_planned() && interval.service.count > 0 {
        all.push(median("service", &interval.service));
    }
    all.push(rate("requests", interval.requests));
    all.push(rate("errors", interval.errors));
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
    let mut all = vec![metric("generator busy", outcome.busy_share * 1e2)];
    if latency.count > 0 {
        all.push(metric("whole p99", latency.p99));
        all.push(metric("whole p99.9", latency.p99_9));
        all.push(metric("max", latency.max));
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
        Some(Arrivals::Poisson { per_s, .. }) => {
            set("rate", per_s.to_string());
            set("arrivals", "poisson".to_owned());
        }
        Some(Arrivals::Ramp { from_per_s, to_per_s }) => {
            set("rate", format!("{from_per_s}..{to_per_s}"));
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
        set("think", format!("{}ms", plan.think.as_secs_f64() * 1e3));
    }
    if plan.pipeline > 1 {
        set("pipeline", plan.pipeline.to_string());
    }
    set("interval", format!("{}ms", plan.interval.as_secs_f64() * 1e3));
    all
}

/// What is known of a load as a whole, kept with its last interval.
fn facts(point: &Point, ranks: &[Rank]) -> BTreeMap<String, String> {
    let outcome = &point.outcome;
    let mut facts = BTreeMap::new();
    let mut set = |name: &str, value: String| facts.insert(name.to_owned(), value);
    for (name, number) in [
        ("requests", outcome.requests),
        ("replies", outcome.replies),
        ("never sent", outcome.unsent),
        ("unfinished", outcome.unfinished),
        ("waited for a connection", outcome.waited),
        ("connections opened", outcome.connections),
    ] {
        set(name, number.to_string());
    }
    for (kind, number) in outcome.errors.each() {
        if number > 0 {
            set(&format!("errors: {kind}"), number.to_string());
        }
    }
    for Rank { rank, measured } in ranks {
        let text = measured.as_ref().map_or_else(|| "missing".to_owned(), RankMeasured::sentence);
        set(&format!("rank {rank}"), text);
    }
    facts
}
