//! Pairs of series in one run, of costs or of rates: alike, one ahead, or crossing at a known point.

use super::curves::points;
use super::family::{Case, Family, Input, Score};
use super::random::{Design, NOISES, Noise, Rounds, Sample, log_uniform, one_of};
use fastrand::Rng;
use serde_json::Value;
use std::sync::Arc;

/// What is true of two series.
#[derive(Clone, Copy, Debug)]
enum Truth {
    Alike,
    /// How many times less the first costs.
    FirstLeads(f64),
    /// Where the second overtakes the first.
    Crosses(f64),
}

/// All families of pairs.
pub fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for (kind, noise) in NOISES {
        all.push(family(format!("alike, {kind}"), noise, |_, _| Truth::Alike));
        all.push(family(format!("one ahead by ×1.1–2, {kind}"), noise, |rng, _| {
            Truth::FirstLeads(log_uniform(rng, (1.1, 2.0)))
        }));
        all.push(family(format!("crossing, {kind}"), noise, |rng, points| {
            let (from, to) = (points[1] as f64, points[points.len() - 2] as f64);
            Truth::Crosses(log_uniform(rng, (from, to)))
        }));
    }
    all
}

fn family(
    name: String,
    noise: Noise,
    truth: impl Fn(&mut Rng, &[u64]) -> Truth + Send + Sync + 'static,
) -> Family {
    let draw = Arc::new(move |rng: &mut Rng| {
        let points = points(rng);
        let truth = truth(rng, &points);
        let exponent = one_of(rng, &[0.0, 0.5, 1.0]);
        let scale = log_uniform(rng, (30.0, 30_000.0));
        let first: Vec<(u64, f64)> =
            points.iter().map(|&n| (n, scale * (n as f64 / 10.0).powf(exponent))).collect();
        let steeper = one_of(rng, &[0.3, 0.5, 1.0]);
        let ratio = |n: u64| match truth {
            Truth::Alike => 1.0,
            Truth::FirstLeads(factor) => factor,
            // The second is dear where there is little to do, and grows less.
            Truth::Crosses(at) => (n as f64 / at).powf(-steeper),
        };
        let second: Vec<(u64, f64)> = first.iter().map(|&(n, cost)| (n, cost * ratio(n))).collect();
        let Design { rounds, samples } = Design::new(rng);
        let shared = Rounds::new(rng, rounds, &noise);
        let mut measured = shared.measure(rng, (0, &first), &noise, samples);
        measured.extend(shared.measure(rng, (1, &second), &noise, samples));
        let (input, kind) = if rng.bool() {
            (Input::Rates(measured.into_iter().map(Sample::rate).collect()), "rates")
        } else {
            (Input::Costs(measured), "costs")
        };
        Case {
            input,
            about: format!("{truth:.3?}, {rounds} rounds, {kind}"),
            judge: Box::new(move |json| {
                judge(&json["tables"][0]["comparisons"][0]["outcome"], truth)
            }),
        }
    });
    Family { name, draw }
}

fn judge(outcome: &Value, truth: Truth) -> Score {
    let kind = outcome["outcome"].as_str().unwrap_or("missing");
    match (truth, kind) {
        // Within a tenth they are called the same.
        (Truth::Alike, "too-close") if is_within_tenth(&outcome["ratio"]) => Score::Exact,
        (Truth::Alike, "too-close") => Score::Right,
        (_, "unknown" | "unsettled" | "too-close") => Score::Undecided,
        (Truth::FirstLeads(_), "throughout") if outcome["better"] == "s0" => Score::Exact,
        (Truth::Crosses(at), "crosses") => {
            match outcome["crossovers"].as_array().map(Vec::as_slice) {
                Some([crossover])
                    if crossover["overtakes"] == "s1" && holds(&crossover["at"], at) =>
                {
                    Score::Exact
                }
                _ => Score::Wrong,
            }
        }
        // Near one end of the axis the other one's lead may be too small to be seen; each point that is named is true.
        (Truth::Crosses(at), "throughout") => {
            let first_leads = outcome["better"] == "s0";
            let mut clear = outcome["clear"].as_array().into_iter().flatten();
            let is_true = |point: &Value| point.as_f64().is_some_and(|n| (n < at) == first_leads);
            if clear.all(is_true) { Score::Right } else { Score::Wrong }
        }
        _ => Score::Wrong,
    }
}

fn is_within_tenth(ratio: &Value) -> bool {
    let end = |name: &str| ratio[name].as_f64().unwrap_or(f64::NAN);
    end("low") >= 1.0 / 1.1 && end("high") <= 1.1
}

fn holds(estimate: &Value, truth: f64) -> bool {
    let end = |name: &str| estimate[name].as_f64().unwrap_or(f64::NAN);
    (end("low")..=end("high")).contains(&truth)
}
