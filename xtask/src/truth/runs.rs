//! Two runs of six series: the same, or with a change of known points and size.

use super::curves::points;
use super::family::{Case, Family, Input, Score};
use super::random::{NOISES, Noise, Rounds, Sample, log_uniform, one_of};
use fastrand::Rng;
use serde_json::Value;
use std::sync::Arc;

const SERIES: usize = 6;

/// A change from the first run to the second.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// How many of the series have it, the first ones.
    series: usize,
    /// How many of the last points have it.
    last_points: usize,
    /// The second figure over the first.
    factor: f64,
}

const NONE: Change = Change { series: 0, last_points: 0, factor: 1.0 };
const ALL: Change = Change { series: SERIES, last_points: usize::MAX, factor: 1.1 };
const ONE: Change = Change { series: 1, last_points: usize::MAX, factor: 1.2 };
const FAR_END: Change = Change { series: 1, last_points: 2, factor: 1.1 };

/// All families of pairs of runs.
pub fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for (kind, noise) in NOISES {
        let mut push = |what: &str, change, in_turns| {
            all.push(family(format!("{what}, {kind}"), noise, change, in_turns));
        };
        push("A/A in turns", NONE, true);
        push("A/A one after the other", NONE, false);
        push("all of six series ×1.1 in turns", ALL, true);
        push("one of six series ×1.2 in turns", ONE, true);
        push("one of six ×1.1 at the last two points, in turns", FAR_END, true);
    }
    all
}

fn family(name: String, noise: Noise, change: Change, in_turns: bool) -> Family {
    let draw = Arc::new(move |rng: &mut Rng| {
        let points = points(rng);
        let (rounds, samples) = (one_of(rng, &[5_usize, 9]), one_of(rng, &[5_usize, 15]));
        let scatter = if in_turns {
            let shared = Rounds::new(rng, rounds, &noise);
            [shared.clone(), shared]
        } else {
            [Rounds::new(rng, rounds, &noise), Rounds::new(rng, rounds, &noise)]
        };
        let [mut base, mut new]: [Vec<Sample>; 2] = Default::default();
        for series in 0..SERIES {
            let exponent = one_of(rng, &[0.0, 0.5, 1.0]);
            let scale = log_uniform(rng, (30.0, 30_000.0));
            let figure = |n: u64| scale * (n as f64 / 10.0).powf(exponent);
            let first: Vec<(u64, f64)> = points.iter().map(|&n| (n, figure(n))).collect();
            let mut second = first.clone();
            if series < change.series {
                let from = points.len().saturating_sub(change.last_points);
                second[from..].iter_mut().for_each(|(_, figure)| *figure *= change.factor);
            }
            base.extend(scatter[0].measure(rng, (series, &first), &noise, samples));
            new.extend(scatter[1].measure(rng, (series, &second), &noise, samples));
        }
        Case {
            input: Input::Runs { base, new, in_turns },
            about: format!("{change:?}, {rounds} rounds"),
            judge: Box::new(move |json| judge(json, change)),
        }
    });
    Family { name, draw }
}

/// A run of verdicts is wrong if one of them is. A change is found where each series that has it is *slower*, as a
/// whole or at a point.
fn judge(json: &Value, change: Change) -> Score {
    let rows = json["tables"][0]["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let scores = rows.iter().enumerate().map(|(series, row)| {
        let mut verdicts: Vec<&str> = vec![row["overall"]["verdict"].as_str().unwrap_or("missing")];
        let cells = row["cells"].as_array().into_iter().flatten();
        verdicts.extend(cells.filter_map(|cell| cell["ratio"]["verdict"].as_str()));
        score(&verdicts, series < change.series)
    });
    let worst = scores.max_by_key(|score| severity(*score)).filter(|_| rows.len() == SERIES);
    worst.unwrap_or(Score::Wrong)
}

fn score(verdicts: &[&str], is_slower: bool) -> Score {
    let has = |verdict: &str| verdicts.contains(&verdict);
    match is_slower {
        _ if has("faster") || has("missing") => Score::Wrong,
        true if has("slower") => Score::Exact,
        false if has("slower") => Score::Wrong,
        false if verdicts[0] == "same" => Score::Exact,
        true if verdicts[0] == "same" && verdicts[1..].iter().all(|v| *v == "same") => Score::Wrong,
        _ => Score::Undecided,
    }
}

const fn severity(score: Score) -> u8 {
    match score {
        Score::Exact => 0,
        Score::Right => 1,
        Score::Undecided => 2,
        Score::Wrong => 3,
    }
}
