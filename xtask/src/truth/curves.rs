//! Series of known growth: a class, its factor from the first point to the last, and the noise.

use super::family::{Case, Family, Input, Score};
use super::random::{Design, NOISES, Noise, QUIET, Rounds, log_uniform, one_of};
use fastrand::Rng;
use serde_json::Value;
use std::sync::Arc;

/// A class by the name that knee's JSON has for it, and what it is.
#[derive(Clone, Copy)]
struct Order {
    name: &'static str,
    growth: fn(f64) -> f64,
}

const CONSTANT: &str = "constant";
/// All that grow, the slowest first.
const ORDERS: [Order; 5] = [
    Order { name: "logarithmic", growth: f64::ln },
    Order { name: "square-root", growth: f64::sqrt },
    Order { name: "linear", growth: |n| n },
    Order { name: "linearithmic", growth: |n| n * n.ln() },
    Order { name: "quadratic", growth: |n| n * n },
];
/// A cost that grows by less is flat for all practical purposes: knee says so in its method.
const FLAT_FACTOR_MAX: f64 = 1.3;
/// Factors from the first point to the last of series with a constant part.
const STRENGTHS: [(&str, (f64, f64)); 2] =
    [("weak ×1.05–1.6", (1.05, 1.6)), ("middle ×1.6–6", (1.6, 6.0))];

/// What is true of a series.
#[derive(Clone)]
pub struct Truth {
    /// The classes of which one has to be left, the true one first.
    classes: Vec<&'static str>,
    /// The last figure over the first.
    pub factor: f64,
}

/// Points from 10 on, evenly on a logarithmic axis.
pub fn points(rng: &mut Rng) -> Vec<u64> {
    let count = one_of(rng, &[5_usize, 7, 9]);
    let decades = one_of(rng, &[2.0, 3.0, 4.0]);
    let point = |index: usize| 10.0 * 10_f64.powf(decades * index as f64 / (count - 1) as f64);
    (0..count).map(|index| point(index).round() as u64).collect()
}

/// A curve of a growth with a constant part that leaves `factor` from the first point to the last, or without one
/// where `factor` is more than the growth itself has.
pub fn curve(points: &[u64], growth: fn(f64) -> f64, factor: f64) -> (Vec<(u64, f64)>, f64) {
    let part = |point: u64| growth(point as f64);
    let (first, last) = (part(points[0]), part(points[points.len() - 1]));
    let constant = ((last - factor * first) / (factor - 1.0)).max(0.0);
    let curve: Vec<(u64, f64)> = points.iter().map(|&n| (n, constant + part(n))).collect();
    let factor = curve[curve.len() - 1].1 / curve[0].1;
    (curve, factor)
}

/// The same in nanoseconds, from a first figure that is drawn.
pub fn scaled(rng: &mut Rng, curve: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let scale = log_uniform(rng, (30.0, 30_000.0)) / curve[0].1;
    curve.iter().map(|&(point, figure)| (point, figure * scale)).collect()
}

/// All families of single series.
pub fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for (kind, noise) in NOISES {
        all.push(family(format!("flat, {kind}"), noise, |_, points| flat(points)));
        for (strength, factors) in STRENGTHS {
            all.push(family(format!("{strength}, {kind}"), noise, move |rng, points| {
                ordered(rng, points, factors)
            }));
        }
        all.push(family(format!("without a constant part, {kind}"), noise, |rng, points| {
            ordered(rng, points, (f64::INFINITY, f64::INFINITY))
        }));
        all.push(Family {
            name: format!("falls ÷1.5–4, then grows ×1.5–6, {kind}"),
            draw: Arc::new(move |rng| valley(rng, &noise)),
        });
    }
    let any = |rng: &mut Rng, points: &[u64]| ordered(rng, points, (1.6, 1e4));
    all.push(family("powers between the classes".into(), QUIET, power));
    all.push(family("linear, with a cache's edge".into(), QUIET, cache));
    all.push(family("rounds that drift".into(), Noise { drift: 0.3, ..QUIET }, any));
    all.push(family("two modes".into(), Noise { mode_share: 0.25, ..QUIET }, any));
    all.push(family("heavy tails".into(), Noise { tail_share: 0.15, ..QUIET }, any));
    all.push(Family {
        name: "a single round".into(),
        draw: Arc::new(move |rng| {
            let points = points(rng);
            let (curve, truth) = any(rng, &points);
            let design = Design { rounds: 1, ..Design::new(rng) };
            case(rng, &curve, truth, &QUIET, design)
        }),
    });
    all
}

type Curve = (Vec<(u64, f64)>, Truth);

fn family(
    name: String,
    noise: Noise,
    draw: impl Fn(&mut Rng, &[u64]) -> Curve + Send + Sync + 'static,
) -> Family {
    let draw = Arc::new(move |rng: &mut Rng| {
        let points = points(rng);
        let (curve, truth) = draw(rng, &points);
        let design = Design::new(rng);
        case(rng, &curve, truth, &noise, design)
    });
    Family { name, draw }
}

fn case(rng: &mut Rng, curve: &[(u64, f64)], truth: Truth, noise: &Noise, design: Design) -> Case {
    let Design { rounds, samples } = design;
    let curve = scaled(rng, curve);
    let measured = Rounds::new(rng, rounds, noise).measure(rng, (0, &curve), noise, samples);
    let order = truth.classes.first().unwrap_or(&"no order");
    let about = format!("{order} ×{:.3}, {rounds} rounds", truth.factor);
    let judge =
        Box::new(move |json: &Value| judge(&json["tables"][0]["rows"][0]["growth"], &truth));
    Case { input: Input::Costs(measured), about, judge }
}

fn flat(points: &[u64]) -> Curve {
    let curve = points.iter().map(|&point| (point, 1.0)).collect();
    (curve, Truth { classes: vec![CONSTANT], factor: 1.0 })
}

fn ordered(rng: &mut Rng, points: &[u64], factors: (f64, f64)) -> Curve {
    let order = one_of(rng, &ORDERS);
    let (_, factor_max) = curve(points, order.growth, f64::INFINITY);
    let drawn = log_uniform(rng, (factors.0.min(factor_max), factors.1.min(factor_max)));
    let (curve, factor) = curve(points, order.growth, drawn);
    (curve, Truth { classes: vec![order.name], factor })
}

/// n to a power that lies between two classes: either of them is as near as a class can be.
fn power(rng: &mut Rng, points: &[u64]) -> Curve {
    let (exponent, classes) = one_of(
        rng,
        &[
            (0.25, ["logarithmic", "square-root"]),
            (0.7, ["square-root", "linear"]),
            (1.3, ["linearithmic", "quadratic"]),
            (1.6, ["linearithmic", "quadratic"]),
        ],
    );
    let curve: Vec<(u64, f64)> =
        points.iter().map(|&point| (point, (point as f64).powf(exponent))).collect();
    let factor = curve[curve.len() - 1].1 / curve[0].1;
    (curve, Truth { classes: classes.to_vec(), factor })
}

/// A line whose working set leaves a cache at some point.
fn cache(rng: &mut Rng, points: &[u64]) -> Curve {
    let (line, _) = curve(points, |n| n, log_uniform(rng, (6.0, 1e4)));
    let (edge, step) = (rng.usize(2..points.len()), log_uniform(rng, (1.3, 3.0)));
    let stepped = |(index, &(point, figure)): (usize, &(u64, f64))| {
        (point, if index < edge { figure } else { figure * step })
    };
    let curve: Vec<(u64, f64)> = line.iter().enumerate().map(stepped).collect();
    let factor = curve[curve.len() - 1].1 / curve[0].1;
    (curve, Truth { classes: vec!["linear"], factor })
}

/// A cost with an inner best: it falls and grows evenly by the logarithm of the axis.
fn valley(rng: &mut Rng, noise: &Noise) -> Case {
    let points = points(rng);
    let last = points.len() - 1;
    let lowest = rng.usize(1..last);
    let (fall, growth) = (log_uniform(rng, (1.5, 4.0)), log_uniform(rng, (1.5, 6.0)));
    let log = |index: usize| {
        if index <= lowest {
            -fall.ln() * index as f64 / lowest as f64
        } else {
            growth.ln() * (index - lowest) as f64 / (last - lowest) as f64 - fall.ln()
        }
    };
    let curve: Vec<(u64, f64)> =
        points.iter().enumerate().map(|(index, &point)| (point, log(index).exp())).collect();
    let truth = Truth { classes: Vec::new(), factor: growth / fall };
    let about = format!("÷{fall:.3}, then ×{growth:.3} from {}", points[lowest]);
    let Design { rounds, samples } = Design::new(rng);
    let Case { input, .. } = case(rng, &curve, truth, noise, Design { rounds, samples });
    let judge = Box::new(move |json: &Value| {
        let growth = &json["tables"][0]["rows"][0]["growth"];
        let is_seen = growth["from"] == points[lowest];
        match growth["class"].as_str().unwrap_or("missing") {
            "undecided" => Score::Undecided,
            "constant" | "falls" | "missing" => Score::Wrong,
            _ if is_seen => Score::Exact,
            // By noise a neighbour of the lowest point may be lower.
            _ if growth["best"].is_object() => Score::Right,
            _ => Score::Wrong,
        }
    });
    Case { input, about, judge }
}

/// What a verdict on growth is worth.
pub fn judge(growth: &Value, truth: &Truth) -> Score {
    let class = growth["class"].as_str().unwrap_or("missing");
    let listed = growth["classes"].as_array();
    let classes: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    let is_constant = truth.classes[0] == CONSTANT;
    let is_flat = truth.factor <= FLAT_FACTOR_MAX;
    match class {
        "undecided" => Score::Undecided,
        "constant" if is_constant => Score::Exact,
        "constant" => {
            if is_flat {
                Score::Right
            } else {
                Score::Wrong
            }
        }
        "falls" | "missing" => Score::Wrong,
        _ if is_constant => Score::Wrong,
        _ if classes == truth.classes[..1] => Score::Exact,
        _ if classes.is_empty() || truth.classes.iter().any(|class| classes.contains(class)) => {
            Score::Right
        }
        _ if is_flat && classes.contains(&CONSTANT) => Score::Right,
        _ => Score::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_verdict_is_held_against_the_truth() {
        let line = Truth { classes: vec!["linear"], factor: 4.0 };
        let score = |class: &str, classes: Value, truth: &Truth| {
            judge(&json!({"class": class, "classes": classes}), truth)
        };
        assert_eq!(score("linear", json!(["linear"]), &line), Score::Exact);
        let several = json!(["square-root", "linear"]);
        assert_eq!(score("at-most-linear", several, &line), Score::Right);
        assert_eq!(score("quadratic", json!(["quadratic"]), &line), Score::Wrong);
        assert_eq!(score("constant", json!(["constant"]), &line), Score::Wrong);
        assert_eq!(score("undecided", json!([]), &line), Score::Undecided);
        let weak = Truth { factor: 1.2, ..line };
        assert_eq!(score("constant", json!(["constant"]), &weak), Score::Right);
        assert_eq!(judge(&Value::Null, &weak), Score::Wrong);
    }

    #[test]
    fn a_curve_has_the_factor_that_was_drawn() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..100 {
            let points = points(&mut rng);
            let (curve, truth) = ordered(&mut rng, &points, (1.05, 1.6));
            assert!((1.05..=1.6 + 1e-9).contains(&truth.factor), "{}", truth.factor);
            assert!(curve.windows(2).all(|pair| pair[0].1 < pair[1].1));
        }
    }
}
