//! The JSON of a load's outcome.

use super::Measured;
use super::point::Point;
use ::load::{Arrivals, Plan, Shape, Url};
use serde_json::{Value, json};

/// The plan, and all that came of it: of one load its figures, of several a list of them, `points`.
pub fn json(url: &Url, plan: &Plan, measured: &Measured) -> Value {
    let points = &measured.points[..];
    let mut all = match points {
        [point] => figures(point),
        _ => json!({"points": points.iter().map(figures).collect::<Vec<_>>()}),
    };
    all["url"] = json!(format!("http://{}{}", url.host_header(), url.path));
    all["disturbances"] = json!(measured.disturbances);
    all["address"] = json!(plan.target.address.to_string());
    all["plan"] = self::plan(plan);
    if !measured.ranks.is_empty() {
        all["ranks"] = json!(measured.ranks);
    }
    if !measured.ranks.is_empty() || !measured.warnings.is_empty() {
        all["warnings"] = json!(measured.warnings);
    }
    all
}

/// What a load was to be.
pub fn plan(plan: &Plan) -> Value {
    json!({
        "shape": shape(plan),
        "connections": plan.connections,
        "calls": plan.calls,
        "keep_alive": plan.keep_alive,
        "think_s": plan.think.as_secs_f64(),
        "success": plan.success.to_string(),
        "timeout_s": plan.timeout.as_secs_f64(),
        "duration_s": plan.duration.map(|duration| duration.as_secs_f64()),
        "requests": plan.requests,
        "warm_up_s": plan.warm_up.as_secs_f64(),
        "threads": plan.threads,
        "pin": plan.pin,
        "pipeline": plan.pipeline,
        "sources": plan.sources,
        "interval_s": plan.interval.as_secs_f64(),
    })
}

/// All that came of one load.
pub fn figures(point: &Point) -> Value {
    let mut all = json!(point.outcome);
    all["server"] = json!(point.server);
    all["server_unknown"] = json!(point.server_unknown.map(|why| why.to_string()));
    all["server_busy_after"] = json!(point.unsettled);
    let behaviours = point.behaviours().into_iter().map(|behaviour| {
        let mut data = json!(behaviour);
        data["text"] = json!(behaviour.sentence());
        data
    });
    all["behaviours"] = behaviours.collect();
    all
}

fn shape(plan: &Plan) -> Value {
    let (kind, arrivals) = match plan.shape {
        Shape::Closed => return json!({"kind": "closed"}),
        Shape::Open(arrivals) => ("open", arrivals),
        Shape::Sessions(arrivals) => ("sessions", arrivals),
    };
    match arrivals {
        Arrivals::Constant { per_s } => {
            json!({"kind": kind, "arrivals": "constant", "per_s": per_s})
        }
        Arrivals::Poisson { per_s } => {
            json!({"kind": kind, "arrivals": "poisson", "per_s": per_s, "seed": plan.seed})
        }
        Arrivals::Ramp { from_per_s, to_per_s } => {
            json!({"kind": kind, "arrivals": "ramp", "from_per_s": from_per_s, "to_per_s": to_per_s})
        }
    }
}
