//! Several runs as one JSON value for programs.
//!
//! | key | what it holds |
//! | --- | --- |
//! | `schema` | that of a comparison |
//! | `runs` | of each run: number, id, times, state, command line, version, labels; the first is the base |
//! | `pairs` | the number of pairs of runs: the intervals of the ratios of all of them hold at once |
//! | `confidence` | the probability of that: 0.95 |
//! | `comparisons` | of each run but the first: its comparison with the first, as `knee compare BASE NEW --json` has it, or `refused`, the reason why there is none |
//! | `best` | where a run is significantly better than each other: workload, parameters, metric, subject, `point` (null: the series as a whole), and the index of the `run` |
//! | `fleet` | of the machines of a fleet, where the first of `runs` is the median machine: `title`, `names` of the runs, `sentences`, and `outliers`: the index of the `run`, its `series` with their ratios, and how many further series are the `same` or `undecided` |

use super::SideBySide;
use crate::comparison::{self, Pair, SCHEMA};
use analysis::compare::{Best, Outlier, OutlierSeries};
use findings::left_out;
use serde_json::{Value, json};

/// The runs as one value, with the keys that this module's head lists.
pub fn value(side: &SideBySide<'_>) -> Value {
    let Some((base, _)) = side.runs.first() else { return Value::Null };
    let comparisons = side.runs[1..].iter().zip(&side.several.comparisons);
    let comparisons = comparisons.map(|((new, _), result)| match result {
        Ok(comparison) => comparison::json(&Pair { base, new, comparison }),
        Err(refusal) => json!({ "refused": left_out::refusal(refusal) }),
    });
    let mut value = json!({
        "schema": SCHEMA,
        "runs": side.runs.iter().map(|(run, _)| json!(run.summary)).collect::<Value>(),
        "pairs": side.several.pairs,
        "confidence": 0.95,
        "comparisons": comparisons.collect::<Value>(),
        "best": side.several.best.iter().map(best).collect::<Value>(),
    });
    if let Some(fleet) = side.fleet {
        value["fleet"] = json!({
            "title": fleet.title,
            "names": fleet.names,
            "sentences": fleet.sentences,
            "outliers": fleet.outliers.iter().map(outlier).collect::<Value>(),
        });
    }
    value
}

fn outlier(outlier: &Outlier) -> Value {
    let series = |series: &OutlierSeries| {
        let OutlierSeries { workload, parameters, metric, subject, ratio, .. } = series;
        json!({
            "workload": workload,
            "parameters": parameters,
            "metric": metric,
            "subject": subject,
            "ratio": ratio,
        })
    };
    json!({
        // The median machine is before the machines.
        "run": outlier.run + 1,
        "series": outlier.series.iter().map(series).collect::<Value>(),
        "same": outlier.same,
        "undecided": outlier.undecided,
    })
}

fn best(best: &Best) -> Value {
    let Best { workload, parameters, metric, subject, point, run } = best;
    json!({
        "workload": workload,
        "parameters": parameters,
        "metric": metric,
        "subject": subject,
        "point": point,
        "run": run,
    })
}
