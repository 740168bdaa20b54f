//! `knee load`: load on a server, by plan and not by what the server lets through.

mod find;
mod point;
mod recorded;
mod report;
mod server;
mod text;
mod tls;
mod together;

use crate::exit::{Exit, Trouble, complain, note, stop_on_signals};
use crate::output::{print, print_json};
use crate::usage;
use ::load::{
    Address, Arrivals, Header, NoneAccepts, Plan, Shape, Statuses, Target, Url, accepting,
    loopback_sources, pipelines,
};
use ::report::schemas::{self, Document};
use clap::Args;
use engine::{Stop, Warning};
use find::Goals;
use findings::format::{count, quantity};
use model::{FailureReason, Host, Rank};
use point::Point;
use quantities::{COUNT_MAX, count_within};
use recorded::{Kept, LoadRun, Present, RecordFlags, Recording};
use server::FirstLook;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};
use tls::TlsFlags;
use together::{Came, Joined, Together};

/// Put load on a server, and report how it copes
///
/// Without --rate, --ramp or --connection-rate it is a closed loop: each connection sends its next
/// request when it has the reply to the last. A server that stalls is then asked less, and its stall
/// is hardly seen. With --rate requests have intended times, from arithmetic and not from replies;
/// what waits since the server stalls has waited from its intended time on, and says so.
#[derive(Args, Clone, Debug)]
#[command(after_help = MORE)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Load {
    /// What is asked for: `http://127.0.0.1:8080/index.html`, `https://localhost/`
    #[arg(value_name = "URL")]
    pub url: String,
    /// Open loop: requests a second: 500, 2.5k
    #[arg(long, value_name = "R", value_parser = rate, conflicts_with_all = ["ramp", "connection_rate"])]
    pub rate: Option<f64>,
    /// Draw intended times at random, independent of each other, instead of evenly
    #[arg(long)]
    pub poisson: bool,
    /// Open loop: a rate that goes from one to another over the whole time: 100..5k
    #[arg(long, value_name = "FROM..TO", value_parser = ramp)]
    #[arg(conflicts_with_all = ["poisson", "connection_rate"])]
    pub ramp: Option<(f64, f64)>,
    /// Search the highest rate at which these goals hold, in a minute at most: p99<10ms,failures<0.1%
    ///
    /// Goals are quantiles of the latency of all requests, and shares of those without a successful reply. Requests
    /// come at random times.
    #[arg(long, value_name = "GOALS")]
    #[arg(conflicts_with_all = ["rate", "poisson", "ramp", "connection_rate", "requests", "duration", "think"])]
    #[arg(conflicts_with_all = ["warm_up", "dead", "interval", "all", "no_keep_alive", "calls", "pipeline"])]
    #[arg(conflicts_with_all = ["record", "push", "together"])]
    pub find: Option<Goals>,
    /// Open R connections a second, each a closed loop over its --calls, with --think between
    /// them
    #[arg(long, value_name = "R", value_parser = rate)]
    pub connection_rate: Option<f64>,
    /// Connections at a time [default: 10; 100 with --find]
    #[arg(long, value_name = "C", value_parser = count_within::<u64>(1..=CONNECTIONS_MAX))]
    pub connections: Option<u64>,
    /// Requests over one connection before it is closed and another made [default: without end; 1
    /// with --connection-rate]
    #[arg(long, value_name = "N", value_parser = count_within::<u64>(1..=COUNT_MAX))]
    pub calls: Option<u64>,
    /// Time between a reply and the connection's next request, in a closed loop
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms, conflicts_with_all = ["rate", "ramp"])]
    pub think: Option<Duration>,
    /// A request without its whole reply by then is an error, and its connection closed
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = quantities::time_from_ms)]
    pub timeout: Duration,
    /// Statuses of replies that are a success, by numbers or classes; others are errors, in no rate and no latency
    #[arg(long, value_name = "STATUSES", default_value = "2xx,3xx")]
    pub success: Statuses,
    /// A header of each request: 'Accept: text/html'; may be repeated. Its value is kept nowhere
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// How long [default: 10s, or until --requests are done]
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub duration: Option<Duration>,
    /// How many requests in all; with --connection-rate, whole connections of --calls
    #[arg(long, value_name = "N", value_parser = count_within::<u64>(1..=COUNT_MAX))]
    pub requests: Option<u64>,
    /// Wait up to this time for a server that is still starting; without it, a server that refuses the first
    /// connections is an error
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub wait: Option<Duration>,
    /// Load before anything is counted
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub warm_up: Option<Duration>,
    /// Threads that share the connections
    #[arg(long, value_name = "N", default_value = "1", value_parser = count_within::<u64>(1..=1_024))]
    pub threads: u64,
    /// Pin the threads to these CPUs in turn, separated by commas
    #[arg(long, value_name = "CPUS", value_delimiter = ',', value_parser = usage::cpu)]
    pub pin: Vec<usize>,
    /// Requests under way on one connection
    #[arg(long, value_name = "N", default_value = "1", value_parser = count_within::<u64>(1..=10_000))]
    pub pipeline: u64,
    /// One request a connection, which says so (`Connection: close`)
    #[arg(long, conflicts_with_all = ["calls", "pipeline"])]
    pub no_keep_alive: bool,
    /// Connect from these addresses of this machine in turn: 127.0.0.1-127.0.0.8, or a list with commas; N: as many from
    /// 127.0.0.2 on. Each has its own ports
    #[arg(long, value_name = "N|ADDRESSES")]
    pub sources: Option<Sources>,
    /// Connections that make one request before all this, and then stay open and do nothing; of several
    /// numbers, 0,1k,10k, each has its own load, and its own line
    #[arg(long, value_name = "D", value_delimiter = ',', value_parser = count_within::<u64>(0..=CONNECTIONS_MAX))]
    pub dead: Vec<u64>,
    /// The interval of reply-rate samples [default: 5s, shorter for a load of less than 40 seconds,
    /// 1s where only --requests end it]
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub interval: Option<Duration>,
    /// What --poisson draws by [default: drawn]
    #[arg(long, value_name = "N", requires = "poisson")]
    pub seed: Option<u64>,
    /// Show what happened in each interval, too
    #[arg(short, long)]
    pub all: bool,
    /// Print JSON, with the histograms
    #[arg(short, long)]
    pub json: bool,
    /// Load also what is neither on this machine nor at a private address
    #[arg(long)]
    pub yes_i_own_this_host: bool,
    #[command(flatten)]
    pub tls: TlsFlags,
    /// Connect to this unix socket; the URL gives host and path of the request
    #[arg(long, value_name = "PATH", conflicts_with = "sources")]
    pub unix: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordFlags,
}

impl Load {
    fn connections(&self) -> u64 {
        self.connections.unwrap_or(if self.find.is_some() { 100 } else { 10 })
    }
}

const MORE: &str = "Times: 500ms, 2s, 1m. Numbers: 500, 10k, 1M.

Examples:
  knee load http://127.0.0.1:8080/                          a closed loop over 10 connections
  knee load http://127.0.0.1:8080/ --rate 5k --connections 200 --duration 1m
  knee load http://127.0.0.1:8080/ --connection-rate 100 --calls 20 --think 50ms --connections 200
  knee load http://127.0.0.1:8080/ --dead 0,1k,10k --connections 100
  knee load https://localhost:8443/ --ca test-ca.pem --no-keep-alive    TLS handshakes, resumed
  knee load http://127.0.0.1:8080/ -H 'Accept-Encoding: gzip' -H \"Authorization: Bearer $TOKEN\"
  knee load http://127.0.0.1:8080/ --find 'p99<10ms'        how many requests a second it bears
  knee load http://127.0.0.1:8080/ --rate 5k --record       keeps it: knee show, knee compare 1 2
  mpiexec -n 4 knee load http://10.0.0.9/ --rate 100k --together --push postgres://db.lab/perf

Histograms in the JSON are HdrHistograms (V2, deflated, base 64), in nanoseconds.";

/// More than any machine has is refused, rather than tried until the machine gives in.
const CONNECTIONS_MAX: u64 = 1_000_000;

/// How long each address of a name may take to accept, when the first one that does is chosen.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

const WAIT_PAUSE: Duration = Duration::from_millis(20);

pub fn load(ask: &Load, command: Vec<String>) -> Result<Exit, Trouble> {
    let url = Url::parse(&ask.url).map_err(Trouble::usage)?;
    engine::pinnable(&ask.pin)?;
    let addresses = addresses(ask, &url).map_err(Trouble::usage)?;
    let mut target = tls::target(&url, addresses[0].clone(), &ask.tls).map_err(Trouble::usage)?;
    target.headers = headers(&ask.headers).map_err(Trouble::usage)?;
    let mut plan = plan(ask, target).map_err(Trouble::usage)?;
    if !ask.record.together {
        // Each of several ranks checks its share when it knows that.
        plan.check().map_err(|error| failed(&error))?;
    }
    let stop = stop_on_signals()?;
    // Before the record asks the launcher for names: it answers once.
    let joined =
        ask.record.together.then(|| together::join(&ask.record, &plan, &stop)).transpose()?;
    let recording = Recording::open(&ask.record, command)?;
    if ask.wait.is_some() || addresses.len() > 1 {
        plan.target.address = reached(&addresses, ask.wait, &stop)?;
    }
    tls::check(&plan)?;
    if plan.pipeline > 1 && pipelines(&plan.target) == Some(false) {
        return Err(Trouble::failed(
            "of two requests that arrive together the server answers one: it does not pipeline → --pipeline 1",
        ));
    }
    if let Some(goals) = &ask.find {
        return find::find(ask, goals, &url, &plan, &stop);
    }
    if let Some(joined) = joined {
        return load_together(ask, joined, &url, &plan, recording);
    }
    let (numbers, clamped) = within_server(numbers(&ask.dead), &plan);
    if let Some(Warning { what, remedy }) = &clamped {
        note(&format!("knee: {what} → {remedy}"));
    }
    let run = recording.map(|recording| recording.begin(&url, &plan, &numbers, None));
    let (measured, kept) = measured(&numbers, clamped, &plan, &stop, run.transpose()?)?;
    show(ask, &url, &plan, &measured, Ok(kept))
}

/// Does this rank's share of a load, which is recorded as it goes on, and stays only where there is no result.
fn load_together(
    ask: &Load,
    mut joined: Joined<'_>,
    url: &Url,
    plan: &Plan,
    recording: Option<Recording>,
) -> Result<Exit, Trouble> {
    let plan = joined.agree(url, plan)?;
    let whole = recording.as_ref().map(Recording::another).transpose()?;
    let only = Present { ranks: 1, size: joined.size() };
    let mut share =
        recording.map(|share| share.begin(url, &plan, &[None], Some(only))).transpose()?;
    let mut keep = |interval| {
        if let Some(share) = &mut share {
            share.add_interval(&interval);
        }
    };
    let first = FirstLook::now(None);
    let own = match joined.load(&plan, &mut keep) {
        Ok(own) => own,
        Err(trouble) => {
            if let Some(share) = share {
                share.give_up(&plan, &trouble);
            }
            return Err(trouble);
        }
    };
    match joined.conclude(&own, &plan) {
        Came::Result(together) => {
            let measured = Measured::from_together(together, &first);
            let kept = whole.map(|whole| whole.keep(url, &plan, &measured)).transpose();
            let is_recorded = matches!(&kept, Ok(Some(kept)) if kept.is_recorded());
            if is_recorded && let Some(share) = share {
                share.discard();
            }
            let exit = show(ask, url, &plan, &measured, kept);
            // At last: a launcher may end this rank when another one has ended.
            joined.announce(&measured.ranks, is_recorded);
            exit
        }
        Came::Elsewhere(rank) => {
            let is_recorded = joined.is_recorded_by(rank);
            if is_recorded || share.is_none() {
                complain(&format!("knee: rank {rank} has the result of all ranks"));
            }
            let Some(share) = share else { return Ok(Exit::Done) };
            if is_recorded {
                share.discard();
                return Ok(Exit::Done);
            }
            let trouble = Trouble::failed(format!(
                "rank {rank} recorded no result with what this rank measured"
            ));
            keep_share(share, &plan, joined.alone(&own, &trouble), &first);
            Err(trouble)
        }
        Came::Trouble(trouble, alone) => {
            if let Some(share) = share {
                keep_share(share, &plan, alone, &first);
            }
            Err(trouble)
        }
    }
}

fn keep_share(mut share: LoadRun, plan: &Plan, alone: Together, first: &FirstLook) {
    let alone = Measured::from_together(alone, first);
    alone.points.iter().for_each(|point| share.end_point(point, &alone.ranks));
    share.finish(plan, &alone).say();
}

fn show(
    ask: &Load,
    url: &Url,
    plan: &Plan,
    measured: &Measured,
    kept: Result<Option<Kept>, Trouble>,
) -> Result<Exit, Trouble> {
    let printed = if ask.json {
        print_json(&report::view(url, plan, measured))
    } else {
        print(&text::text(url, plan, measured, ask.all))
    };
    let pushed = kept?.map_or(Ok(Exit::Done), Kept::push)?;
    printed?;
    let exit = exit(measured);
    Ok(if exit == Exit::Done { pushed } else { exit })
}

pub const SCHEMAS: &[Document] = &[
    Document {
        name: "load",
        about: "a load: knee load --json",
        schema: || schemas::derived::<report::LoadView<'_>>("load", 1),
    },
    Document {
        name: "find",
        about: "the rate that a server bears: knee load --find GOAL --json",
        schema: || schemas::derived::<find::FindView<'_>>("find", 1),
    },
];

#[derive(Debug)]
struct Measured {
    points: Vec<Point>,
    points_planned: usize,
    /// The machine after it, with what used its CPUs meanwhile.
    host_after: Host,
    disturbances: Vec<Warning>,
    /// The ranks of a load that several processes did; empty for any other.
    ranks: Vec<Rank>,
    /// What there is to be known of these, and of a number of dead connections with which there was no load.
    warnings: Vec<Warning>,
}

impl Measured {
    /// Ranks on this machine and their server used CPU time that this rank does not know of.
    fn from_together(together: Together, first: &FirstLook) -> Measured {
        let Together { outcome, ranks, warnings, .. } = together;
        let points = vec![Point::from_outcome(outcome)];
        let host_after = first.last(None);
        let disturbances = first.disturbances(&host_after);
        Measured { points, points_planned: 1, host_after, disturbances, ranks, warnings }
    }
}

/// The numbers of dead connections; one load without any where none is given.
fn numbers(dead: &[u64]) -> Vec<Option<u64>> {
    if dead.is_empty() { vec![None] } else { dead.iter().copied().map(Some).collect() }
}

/// None larger than a server on this machine has descriptors for: those beyond would wait for their time-outs.
fn within_server(numbers: Vec<Option<u64>>, plan: &Plan) -> (Vec<Option<u64>>, Option<Warning>) {
    let largest = numbers.iter().flatten().copied().max().unwrap_or(0);
    let server = (largest > 0).then(|| server::local(&plan.target.address).ok()).flatten();
    let Some(left) = server.and_then(|server| server.descriptors_left()) else {
        return (numbers, None);
    };
    let max = left.saturating_sub(plan.connections as u64);
    if largest <= max {
        return (numbers, None);
    }
    let what = format!(
        "{} dead connections are clamped to {}: the server's processes may have {} descriptors more",
        count(largest),
        count(max),
        count(left),
    );
    let remedy = "start the server with a higher ulimit -n".to_owned();
    let mut clamped: Vec<Option<u64>> =
        numbers.into_iter().map(|number| number.map(|number| number.min(max))).collect();
    clamped.dedup();
    (clamped, Some(Warning { what, remedy }))
}

/// A load for each number of dead connections. Each interval is in the `run` when it has ended, and stays there.
fn measured(
    numbers: &[Option<u64>],
    clamped: Option<Warning>,
    plan: &Plan,
    stop: &Stop,
    mut run: Option<LoadRun>,
) -> Result<(Measured, Option<Kept>), Trouble> {
    let mut watcher = server::Watcher::new(&plan.target.address);
    let (mut points, mut warnings) = (Vec::<Point>::new(), Vec::from_iter(clamped));
    for (index, &number) in numbers.iter().enumerate() {
        let is_last = index + 1 == numbers.len();
        let mut keep = |interval| {
            if let Some(run) = &mut run {
                run.add_interval(&interval);
            }
        };
        match Point::measure(number, is_last, plan, &mut watcher, stop, &mut keep) {
            Ok(point) => {
                if let Some(run) = &mut run {
                    run.end_point(&point, &[]);
                }
                points.push(point);
            }
            Err(error) => {
                // Those that ended before the load failed.
                let intervals = run.as_ref().map_or(0, |run| run.intervals);
                if points.is_empty() && intervals == 0 {
                    if let Some(run) = run {
                        run.discard();
                    }
                    return Err(no_load(&error, stop));
                }
                if intervals > 0 || !stop.is_requested() {
                    // What was measured before it is shown and kept.
                    let reason = failure(&error, number);
                    complain(&format!("knee: {reason}"));
                    warnings.push(unmeasured(&reason, index, numbers, intervals));
                    if let Some(run) = &mut run {
                        run.fail_point(reason);
                    }
                }
                break;
            }
        }
        if stop.is_requested() {
            break;
        }
    }
    if stop.is_requested()
        && let Some(last) = points.last_mut()
    {
        last.outcome.counts.stopped = true;
    }
    let host_after = watcher.last_look();
    let disturbances = watcher.disturbances(&host_after);
    let (points_planned, ranks) = (numbers.len(), Vec::new());
    let measured = Measured { points, points_planned, host_after, disturbances, ranks, warnings };
    let kept = run.map(|run| run.finish(plan, &measured));
    Ok((measured, kept))
}

fn no_load(error: &::load::Error, stop: &Stop) -> Trouble {
    if stop.is_requested() {
        Trouble::interrupted(
            "interrupted while dead connections were opened: there was no load yet",
        )
    } else {
        failed(error)
    }
}

fn failure(error: &::load::Error, number: Option<u64>) -> FailureReason {
    let operation = match number {
        Some(number) => format!("a load with {} dead", count(number)),
        None => "the load as a whole".to_owned(),
    };
    FailureReason::CallFailed { operation, error: failed(error).to_string() }
}

fn unmeasured(
    reason: &FailureReason,
    measured: usize,
    numbers: &[Option<u64>],
    intervals: usize,
) -> Warning {
    let recorded = match intervals {
        0 => String::new(),
        intervals => format!("; recorded of it: {}", quantity(intervals as u64, "interval")),
    };
    let (what, remedy) = if let [None] = numbers {
        (format!("No figures of {reason}"), "load again")
    } else {
        let all = numbers.len();
        let measured = format!("{measured} of {all} numbers of dead connections were measured");
        (format!("{measured}: {reason}"), "load again with those that are missing")
    };
    Warning { what: what + &recorded, remedy: remedy.to_owned() }
}

fn failed(error: &::load::Error) -> Trouble {
    match error {
        ::load::Error::Refused(address) => Trouble::failed(refused(address)),
        ::load::Error::NotPossibleHere(text) => Trouble::not_possible(text),
        ::load::Error::Failed(text) => Trouble::failed(text),
        called_off @ ::load::Error::CalledOff => Trouble::failed(called_off.to_string()),
    }
}

fn refused(address: &Address) -> String {
    format!(
        "{address} refuses connections: nothing listens there; start the server, or let `--wait 5s` wait for it"
    )
}

/// Reads headers here and not by the parser, which would print those that it refuses.
fn headers(typed: &[String]) -> Result<Vec<Header>, String> {
    let all = typed.iter().map(|header| header.parse::<Header>());
    all.collect::<Result<_, _>>().map_err(|why| format!("--header: {why}"))
}

/// Where the server may listen: the addresses of its name, in the order of the system, or the unix socket.
fn addresses(ask: &Load, url: &Url) -> Result<Vec<Address>, String> {
    if let Some(path) = &ask.unix {
        return Ok(vec![Address::Unix(path.clone())]);
    }
    let all = url.addresses(ask.yes_i_own_this_host)?;
    Ok(all.into_iter().map(Address::from).collect())
}

/// The first address of the server that accepts a connection, within the time that it is waited for.
fn reached(addresses: &[Address], wait: Option<Duration>, stop: &Stop) -> Result<Address, Trouble> {
    const ABSENT: [ErrorKind; 2] = [ErrorKind::ConnectionRefused, ErrorKind::NotFound];
    let begun = Instant::now();
    while !stop.is_requested() {
        let left = wait.unwrap_or_default().saturating_sub(begun.elapsed());
        let patience = wait.map_or(FIRST_ANSWER, |_| left.clamp(WAIT_PAUSE, FIRST_ANSWER));
        let NoneAccepts(failures) = match accepting(addresses, patience) {
            Ok(address) => return Ok(address),
            Err(none) => none,
        };
        match &failures[..] {
            // Other failures are the load's to count.
            [(address, error)] if !ABSENT.contains(&error.kind()) => {
                return Ok(address.clone());
            }
            [(address, _)] if left.is_zero() => return Err(Trouble::failed(refused(address))),
            _ if left.is_zero() => {
                return Err(Trouble::failed(format!(
                    "no address of this name accepts connections ({}); start the server, or let `--wait 5s` wait \
                     for it",
                    NoneAccepts(failures)
                )));
            }
            _ => std::thread::sleep(WAIT_PAUSE),
        }
    }
    Err(Trouble::interrupted("interrupted while waiting for the server: there was no load yet"))
}

/// Interrupted, done, or failed where no reply came at all, or the share of a rank is missing.
fn exit(measured: &Measured) -> Exit {
    let points = &measured.points;
    if points.iter().any(|point| point.outcome.counts.stopped) {
        Exit::Interrupted
    } else if points.len() < measured.points_planned
        || measured.ranks.iter().any(|rank| rank.measured.is_none())
        || points.iter().all(|point| point.outcome.counts.replies == 0)
    {
        Exit::Failed
    } else {
        Exit::Done
    }
}

fn plan(ask: &Load, target: Target) -> Result<Plan, String> {
    let drawn = || ask.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let at = |per_s| {
        if ask.poisson { Arrivals::Poisson { per_s } } else { Arrivals::Constant { per_s } }
    };
    let shape = match (ask.rate, ask.ramp, ask.connection_rate) {
        (Some(per_s), ..) => Shape::Open(at(per_s)),
        (_, Some((from_per_s, to_per_s)), _) => {
            Shape::Open(Arrivals::Ramp { from_per_s, to_per_s })
        }
        (.., Some(per_s)) => Shape::Sessions(at(per_s)),
        _ if ask.poisson => return Err("--poisson needs --rate or --connection-rate".into()),
        _ => Shape::Closed,
    };
    let duration = match (ask.duration, ask.requests, ask.ramp) {
        (None, Some(_), None) => None,
        (duration, ..) => Some(duration.unwrap_or(Duration::from_secs(10))),
    };
    let sessions = matches!(shape, Shape::Sessions(_));
    if ask.threads > ask.connections() {
        return Err(format!(
            "--threads {} is more than --connections {}: each thread has connections of its own",
            ask.threads,
            ask.connections()
        ));
    }
    let is_recording = ask.record.is_recording();
    Ok(Plan {
        shape,
        seed: if ask.poisson || ask.find.is_some() { drawn() } else { 0 },
        connections: ask.connections() as usize,
        calls: ask.calls.or(sessions.then_some(1)),
        keep_alive: !ask.no_keep_alive,
        think: ask.think.unwrap_or_default(),
        success: ask.success.clone(),
        timeout: ask.timeout,
        duration,
        requests: ask.requests,
        warm_up: ask.warm_up.unwrap_or_default(),
        threads: ask.threads as usize,
        pin: ask.pin.clone(),
        pipeline: ask.pipeline as usize,
        ends_if_refused: true,
        sources: sources(ask, &target)?,
        interval: ask.interval.unwrap_or_else(|| usual_interval(duration, is_recording)),
        keeps_intervals: is_recording,
        ..Plan::new(target)
    })
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sources(Vec<IpAddr>);

const SOURCES_MAX: u64 = 1_000_000;

impl FromStr for Sources {
    type Err = String;

    /// Reads a number, a range, or a list of both kinds of addresses.
    fn from_str(typed: &str) -> Result<Sources, String> {
        if !typed.contains(['.', ':']) {
            let number = count_within::<u64>(1..=SOURCES_MAX)(typed)?;
            return Ok(Sources(loopback_sources(number as usize)));
        }
        let mut all = Vec::new();
        for part in typed.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let both = first.trim().parse().ok().zip(last.trim().parse().ok());
            let range = both.and_then(|(first, last)| addresses_between(first, last));
            all.extend(range.ok_or_else(|| {
                format!("`{part}` is no range of addresses (such as 127.0.0.1-127.0.0.8)")
            })?);
        }
        Ok(Sources(all))
    }
}

fn addresses_between(first: IpAddr, last: IpAddr) -> Option<Vec<IpAddr>> {
    let range = match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            u128::from(u32::from(first))..=u32::from(last).into()
        }
        (IpAddr::V6(first), IpAddr::V6(last)) => u128::from(first)..=u128::from(last),
        _ => return None,
    };
    let is_good = range.end().checked_sub(*range.start())? < u128::from(SOURCES_MAX);
    let address = |number: u128| match first {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::from(number as u32)),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::from(number)),
    };
    is_good.then(|| range.map(address).collect())
}

fn sources(ask: &Load, target: &Target) -> Result<Vec<IpAddr>, String> {
    let (Some(Sources(all)), Some(to)) = (&ask.sources, target.address.tcp()) else {
        return Ok(Vec::new());
    };
    let to = to.ip();
    let reaches =
        |from: &IpAddr| from.is_ipv4() == to.is_ipv4() && (!from.is_loopback() || to.is_loopback());
    match all.iter().find(|from| !reaches(from)) {
        Some(from) => Err(format!("--sources: {to} can't be reached from {from}")),
        None => Ok(all.clone()),
    }
}

/// Five seconds, as httperf has it, or the largest round interval that gives at least eight. Of a recorded load a second at
/// most: then loads of different length have the same interval, and can be compared.
fn usual_interval(duration: Option<Duration>, is_recorded: bool) -> Duration {
    const ROUND_MS: [u64; 9] = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];
    let Some(duration) = duration else { return Duration::from_secs(1) };
    let max_ms = duration.as_millis() as u64 / 8;
    let max_ms = if is_recorded { max_ms.min(1_000) } else { max_ms };
    let ms = ROUND_MS.iter().rev().find(|ms| **ms <= max_ms).unwrap_or(&ROUND_MS[0]);
    Duration::from_millis(*ms)
}

/// The highest rate, beyond what any machine sends: what is due and never sent is counted one by one.
const PER_S_MAX: f64 = 1e7;

/// Reads a rate above zero: `100`, `2.5k`.
fn rate(typed: &str) -> Result<f64, String> {
    let rate = quantities::rate(typed).ok().filter(|rate| *rate > 0.0 && *rate <= PER_S_MAX);
    rate.ok_or_else(|| {
        format!("`{typed}` is not a rate a second (such as 100 or 2.5k; 10M at most)")
    })
}

/// Reads two rates: `100..5k`; one of them may be zero.
fn ramp(typed: &str) -> Result<(f64, f64), String> {
    let read = |text| quantities::rate(text).ok().filter(|rate| *rate <= PER_S_MAX);
    let rates = typed.split_once("..").and_then(|(from, to)| Some((read(from)?, read(to)?)));
    rates.filter(|(from, to)| from + to > 0.0).ok_or_else(|| {
        format!("`{typed}` is not a rate and another one (such as 100..5k; 10M at most)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_ramps_have_a_maximum() {
        assert_eq!((rate("0.5"), rate("2.5k")), (Ok(0.5), Ok(2_500.0)));
        assert_eq!((ramp("0..5k"), ramp("100..10")), (Ok((0.0, 5_000.0)), Ok((100.0, 10.0))));
        for wrong in ["", "0", "-1", "nan", "2e9", "10G", "11M"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        for wrong in ["5", "0..0", "1..", "..", "1..-2"] {
            assert!(ramp(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sources_are_a_number_a_range_or_a_list() {
        let read = |typed: &str| typed.parse::<Sources>().map(|Sources(all)| all);
        let all = |addresses: &[&str]| -> Result<Vec<IpAddr>, String> {
            Ok(addresses.iter().map(|address| address.parse().unwrap()).collect())
        };
        assert_eq!(read("2"), all(&["127.0.0.2", "127.0.0.3"]));
        assert_eq!(read("127.0.0.255-127.0.1.1"), all(&["127.0.0.255", "127.0.1.0", "127.0.1.1"]));
        assert_eq!(read("10.0.0.5, ::1-::2"), all(&["10.0.0.5", "::1", "::2"]));
        for wrong in
            ["", "0", "x", "127.0.0.1-", "127.0.0.2-127.0.0.1", "::1-127.0.0.1", "::-::ffff:ffff"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_interval_gives_eight_samples_and_is_five_seconds_at_most() {
        let usual = |seconds| usual_interval(Some(Duration::from_secs_f64(seconds)), false);
        assert_eq!(usual(60.0), Duration::from_secs(5));
        assert_eq!(usual(10.0), Duration::from_secs(1));
        assert_eq!(usual(1.0), Duration::from_millis(100));
        assert_eq!(usual(0.01), Duration::from_millis(10));
        let recorded = |seconds| usual_interval(Some(Duration::from_secs(seconds)), true);
        assert_eq!((recorded(8), recorded(600)), (Duration::from_secs(1), Duration::from_secs(1)));
    }
}
