//! The JSON of a load's outcome: a [`LoadView`].

use super::Measured;
use super::point::Point;
use super::server::{Unsettled, Use};
use super::tls::TlsView;
use ::load::{Arrivals, Outcome, Plan, Shape, Url};
use findings::ServerBehaviour;
use model::{Rank, Warning};
use schemars::JsonSchema;
use serde::Serialize;

/// The output of `knee load --json`.
#[derive(Serialize, JsonSchema)]
pub struct LoadView<'a> {
    url: String,
    /// Address and port, or the path of a unix socket.
    address: String,
    plan: PlanView,
    /// What disturbed the machine meanwhile.
    disturbances: &'a [Warning],
    /// What each process did, of a load of several.
    #[serde(skip_serializing_if = "<[Rank]>::is_empty")]
    ranks: &'a [Rank],
    /// What else is to be known of a load of several processes.
    #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
    warnings: &'a [Warning],
    #[serde(flatten)]
    loads: Loads<'a>,
}

/// The figures of one load, or a list of those of several.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Loads<'a> {
    One(Box<Figures<'a>>),
    Several {
        /// One for each number of dead connections.
        points: Vec<Figures<'a>>,
    },
}

/// All that came of one load.
#[derive(Serialize, JsonSchema)]
pub struct Figures<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    /// The server's processes, where it runs here and they can be seen.
    server: Option<Use>,
    /// Why they can't be seen.
    server_unknown: Option<String>,
    /// What the server still did long after the load.
    server_busy_after: Option<Unsettled>,
    /// What the server does, as its replies and processes show it.
    behaviours: Vec<Behaviour>,
}

/// A behaviour with its sentence.
#[derive(Serialize, JsonSchema)]
struct Behaviour {
    #[serde(flatten)]
    behaviour: ServerBehaviour,
    text: String,
}

/// What a load was to be.
#[derive(Serialize, JsonSchema)]
pub struct PlanView {
    shape: ShapeView,
    connections: usize,
    /// Requests of a session.
    calls: Option<u64>,
    keep_alive: bool,
    /// The pause between the requests of a session, in seconds.
    think_s: f64,
    /// The statuses of a success.
    success: String,
    timeout_s: f64,
    duration_s: Option<f64>,
    requests: Option<u64>,
    warm_up_s: f64,
    threads: usize,
    /// The CPUs that threads are kept to.
    pin: Vec<usize>,
    pipeline: usize,
    /// The local addresses that connections come from.
    sources: Vec<String>,
    interval_s: f64,
    /// The names of further headers.
    headers: Vec<String>,
    /// Absent where connections are not encrypted.
    tls: Option<TlsView>,
}

/// What decides when requests are sent.
#[derive(Serialize, JsonSchema)]
struct ShapeView {
    #[serde(flatten)]
    shape: Shape,
    /// What random times are drawn by.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

pub fn view<'a>(url: &Url, plan: &Plan, measured: &'a Measured) -> LoadView<'a> {
    LoadView {
        url: url.to_string(),
        address: plan.target.address.to_string(),
        plan: PlanView::new(plan),
        disturbances: &measured.disturbances,
        ranks: &measured.ranks,
        warnings: &measured.warnings,
        loads: match &measured.points[..] {
            [point] => Loads::One(Box::new(Figures::new(point))),
            points => Loads::Several { points: points.iter().map(Figures::new).collect() },
        },
    }
}

impl<'a> Figures<'a> {
    pub fn new(point: &'a Point) -> Self {
        let behaviours = point.behaviours().into_iter();
        Self {
            outcome: &point.outcome,
            server: point.server,
            server_unknown: point.server_unknown.as_ref().map(ToString::to_string),
            server_busy_after: point.unsettled,
            behaviours: behaviours
                .map(|behaviour| Behaviour { text: behaviour.sentence(), behaviour })
                .collect(),
        }
    }
}

impl PlanView {
    pub fn new(plan: &Plan) -> Self {
        let seconds = |time: std::time::Duration| time.as_secs_f64();
        let is_random = matches!(plan.arrivals(), Some(Arrivals::Poisson { .. }));
        Self {
            shape: ShapeView { shape: plan.shape, seed: is_random.then_some(plan.seed) },
            connections: plan.connections,
            calls: plan.calls,
            keep_alive: plan.keep_alive,
            think_s: seconds(plan.think),
            success: plan.success.to_string(),
            timeout_s: seconds(plan.timeout),
            duration_s: plan.duration.map(seconds),
            requests: plan.requests,
            warm_up_s: seconds(plan.warm_up),
            threads: plan.threads,
            pin: plan.pin.clone(),
            pipeline: plan.pipeline,
            sources: plan.sources.iter().map(ToString::to_string).collect(),
            interval_s: seconds(plan.interval),
            headers: plan.target.header_names(),
            tls: plan.target.tls.as_ref().map(TlsView::new),
        }
    }
}
