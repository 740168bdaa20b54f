//! Whether costs grow at most like a class: what a test asserts.

use crate::format::{class, count, counted, factor, interval, multiple, significant, singular};
use crate::reasons;
use analysis::growth::limit::{Kept, LimitCheck, at_most};
use analysis::{Analysis, Class, Estimate, FailedAt, Growth, GrowthReason, Row};
use model::Parameters;
use schemars::JsonSchema;
use serde::Serialize;

/// The number of the schema.
pub const SCHEMA: u32 = 1;

/// The costs of a table against a limit: the output of `knee judge --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Judgement {
    /// The number of this schema.
    schema: u32,
    /// The fastest class that the limit allows.
    pub limit: Class,
    /// *Fails* if a series does, else *open* if one is, else *holds*.
    pub verdict: Kept,
    /// Each series that is a cost.
    pub series: Vec<JudgedSeries>,
}

/// One series against the limit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JudgedSeries {
    /// Its name.
    pub series: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// Whether it keeps to the limit.
    pub verdict: Kept,
    /// How it grows; absent with fewer than two points.
    pub growth: Option<Growth>,
    /// The points at which cells failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedAt>,
    /// All of this as a sentence.
    pub sentence: String,
}

/// Holds every cost in `analysis` against `limit`, one of [`analysis::growth::limit::LIMITS`]; none where there is no cost.
pub fn judge(analysis: &Analysis, limit: Class) -> Option<Judgement> {
    let costs = || analysis.tables.iter().filter(|table| table.metric.lower_is_better);
    let rows = costs().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    // What a file has under other parameters only is judged there.
    let has_no_row = |row: &Row| row.unavailable.as_deref() == Some(reasons::NO_ROW);
    let is_elsewhere = |subject: &str| {
        let mut all = costs().flat_map(|table| &table.rows);
        all.any(|row| row.subject == subject && !has_no_row(row))
    };
    let rows = rows.filter(|(_, row)| !has_no_row(row) || !is_elsewhere(&row.subject));
    let judged = rows.map(|(table, row)| {
        let check = at_most(row, limit);
        JudgedSeries {
            sentence: sentence(row, &check, (limit, &table.axis)),
            series: row.subject.clone(),
            parameters: table.parameters.clone(),
            verdict: check.kept,
            growth: row.growth.clone(),
            failed: row.failed.clone(),
        }
    });
    let series: Vec<JudgedSeries> = judged.collect();
    let has = |verdict| series.iter().any(|judged| judged.verdict == verdict);
    let verdict = match () {
        () if series.is_empty() => return None,
        () if has(Kept::Fails) => Kept::Fails,
        () if has(Kept::Open) => Kept::Open,
        () => Kept::Holds,
    };
    Some(Judgement { schema: SCHEMA, limit, verdict, series })
}

/// A rate over workers against a limit.
#[derive(Clone, Debug)]
pub struct JudgedScaling {
    /// Whether it is reached.
    pub verdict: Kept,
    /// How many times more all do than the first alone; absent with fewer than two points.
    pub factor: Option<Estimate>,
    /// All of this as a sentence.
    pub sentence: String,
}

/// Holds the rate in `row` against `share`: what each worker must do of what the first does alone. `axis` is its workers.
pub fn at_least(row: &Row, share: f64, axis: &str) -> JudgedScaling {
    let head = |verdict| {
        let (word, share, each) = (word(verdict), significant(share), singular(axis));
        format!("{word}: {} at least ×{share} per {each}: ", row.label)
    };
    let Some(speedup) = &row.speedup else {
        let sentence = head(Kept::Open) + &too_few_points(row);
        return JudgedScaling { verdict: Kept::Open, factor: None, sentence };
    };
    let limit = share * speedup.linear;
    let verdict = match speedup.factor {
        factor if factor.low >= limit => Kept::Holds,
        factor if factor.high < limit => Kept::Fails,
        _ => Kept::Open,
    };
    let sentence = format!(
        "{}{}{} from {} to {}, of ×{} in proportion",
        head(verdict),
        factor(speedup.factor.value),
        interval(speedup.factor, significant),
        count(speedup.from),
        counted(&count(speedup.to), axis),
        multiple(speedup.linear),
    );
    JudgedScaling { verdict, factor: Some(speedup.factor), sentence }
}

fn too_few_points(row: &Row) -> String {
    let points = row.cells.iter().flatten().count();
    reasons::growth(&GrowthReason::TooFewPoints { points })
}

/// `×98.6 (95 % CI 94.9–102) from 1,000 to 100,000 n, linear`.
pub fn growth(growth: &Growth, axis: &str) -> String {
    format!(
        "{}{} from {} to {}, {}",
        factor(growth.factor.value),
        interval(growth.factor, significant),
        count(growth.from),
        counted(&count(growth.to), axis),
        class(growth.class),
    )
}

/// The verdict in a word.
pub const fn word(verdict: Kept) -> &'static str {
    match verdict {
        Kept::Holds => "holds",
        Kept::Fails => "fails",
        Kept::Open => "open",
    }
}

/// What a limit is called: *flat* is a verdict.
fn limit_word(limit: Class) -> &'static str {
    if limit == Class::Constant { "constant" } else { class(limit) }
}

/// `open: sort at most linear: ×116 (95 % CI 96–140) from 1,000 to 100,000 n, at least linear; quadratic is not excluded; it
/// takes more points`.
fn sentence(row: &Row, check: &LimitCheck, (limit, axis): (Class, &str)) -> String {
    let head = format!("{}: {} at most {}: ", word(check.kept), row.label, limit_word(limit));
    let remedy = check.remedy.map(|remedy| format!("; it takes {}", reasons::remedy(remedy)));
    let remedy = remedy.unwrap_or_default();
    let failed = row.failed.iter().map(|at| reasons::failed_at(at, axis));
    let with_failed = |text: String| {
        let parts: Vec<String> = [text].into_iter().chain(failed).collect();
        head + &parts.join("; ")
    };
    let Some(grown) = &row.growth else {
        return with_failed(too_few_points(row) + &remedy);
    };
    let open = match (grown.classes.last(), &grown.reason) {
        _ if check.kept != Kept::Open => String::new(),
        (_, Some(reason @ GrowthReason::GrowsAndFalls { .. })) | (None, Some(reason)) => {
            format!(", because {}", reasons::growth(reason))
        }
        // What failed is why it is open.
        _ if check.remedy.is_none() => String::new(),
        (Some(highest), _) => format!("; {} is not excluded", class(*highest)),
        (None, None) => String::new(),
    };
    with_failed(growth(grown, axis) + &open + &remedy)
}
