//! Rates of known trend.

use super::curves::{points, scaled};
use super::family::{Case, Family, Input, Score};
use super::random::{Design, NOISES, Noise, Rounds, Sample, log_uniform};
use fastrand::Rng;
use serde_json::Value;
use std::sync::Arc;

/// What is true of a rate. Factors are 1 or more.
#[derive(Clone, Copy, Debug)]
enum Truth {
    Flat,
    /// The last over the first.
    Rises(f64),
    /// The first over the last.
    Falls(f64),
    /// The best over the first, and over the last.
    Peaks(f64, f64),
}

/// A fall to less than half is a collapse.
const COLLAPSE: f64 = 2.0;

/// All families of rates.
pub fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for (kind, noise) in NOISES {
        all.push(family(format!("rate holds, {kind}"), noise, |_| Truth::Flat));
        all.push(family(format!("rate rises ×1.4–8, {kind}"), noise, |rng| {
            Truth::Rises(log_uniform(rng, (1.4, 8.0)))
        }));
        all.push(family(format!("rate falls ÷1.4–1.9, {kind}"), noise, |rng| {
            Truth::Falls(log_uniform(rng, (1.4, 1.9)))
        }));
        all.push(family(format!("rate collapses ÷2.2–20, {kind}"), noise, |rng| {
            Truth::Falls(log_uniform(rng, (2.2, 20.0)))
        }));
        all.push(family(format!("rate peaks, {kind}"), noise, |rng| {
            Truth::Peaks(log_uniform(rng, (1.4, 6.0)), log_uniform(rng, (1.3, 6.0)))
        }));
    }
    all
}

fn family(
    name: String,
    noise: Noise,
    truth: impl Fn(&mut Rng) -> Truth + Send + Sync + 'static,
) -> Family {
    let draw = Arc::new(move |rng: &mut Rng| {
        let (points, truth) = (points(rng), truth(rng));
        let curve = curve(rng, &points, truth);
        let Design { rounds, samples } = Design::new(rng);
        // What disturbs a cell takes time: it is drawn for the cost of one, and a rate is the inverse.
        let costs: Vec<(u64, f64)> =
            curve.iter().map(|&(point, rate)| (point, 1.0 / rate)).collect();
        let costs = scaled(rng, &costs);
        let drawn = Rounds::new(rng, rounds, &noise).measure(rng, (0, &costs), &noise, samples);
        let measured = drawn.into_iter().map(Sample::rate).collect();
        Case {
            input: Input::Rates(measured),
            about: format!("{truth:.3?}, {rounds} rounds"),
            judge: Box::new(move |json| judge(&json["tables"][0]["rows"][0]["rate"], truth)),
        }
    });
    Family { name, draw }
}

/// A rate over the axis: it changes evenly by the logarithm of the axis, or behind a knee.
fn curve(rng: &mut Rng, points: &[u64], truth: Truth) -> Vec<(u64, f64)> {
    let last = points.len() - 1;
    let knee = rng.usize(0..last);
    let behind = |index: usize, from: usize| (index.max(from) - from) as f64 / (last - from) as f64;
    let inner = rng.usize(1..last);
    let log = |index: usize| match truth {
        Truth::Flat => 0.0,
        Truth::Rises(factor) => factor.ln() * behind(index, knee),
        Truth::Falls(factor) => -factor.ln() * behind(index, knee),
        Truth::Peaks(up, down) => {
            up.ln() * (index.min(inner) as f64 / inner as f64) - down.ln() * behind(index, inner)
        }
    };
    points.iter().enumerate().map(|(index, &point)| (point, log(index).exp())).collect()
}

fn judge(rate: &Value, truth: Truth) -> Score {
    let trend = rate["trend"].as_str().unwrap_or("missing");
    let (exact, right) = match truth {
        Truth::Flat => ("holds", None),
        Truth::Rises(_) => ("rises", None),
        Truth::Falls(factor) if factor < COLLAPSE => ("falls", None),
        Truth::Peaks(_, down) if down < COLLAPSE => ("peaks", Some("falls")),
        Truth::Falls(_) | Truth::Peaks(..) => ("collapses", Some("falls")),
    };
    let is_seen = matches!(truth, Truth::Peaks(..)) && !rate["peak"].is_null();
    match trend {
        "undecided" => Score::Undecided,
        trend if trend == exact || is_seen => Score::Exact,
        trend if Some(trend) == right => Score::Right,
        _ => Score::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_trend_is_held_against_the_truth() {
        let score = |trend: &str, truth| judge(&json!({"trend": trend, "peak": null}), truth);
        assert_eq!(score("holds", Truth::Flat), Score::Exact);
        assert_eq!(score("falls", Truth::Flat), Score::Wrong);
        assert_eq!(score("falls", Truth::Falls(5.0)), Score::Right);
        assert_eq!(score("holds", Truth::Falls(5.0)), Score::Wrong);
        assert_eq!(score("holds", Truth::Rises(5.0)), Score::Wrong);
        assert_eq!(score("collapses", Truth::Peaks(2.0, 3.0)), Score::Exact);
        assert_eq!(score("rises", Truth::Peaks(2.0, 1.3)), Score::Wrong);
        assert_eq!(score("undecided", Truth::Flat), Score::Undecided);
    }
}
