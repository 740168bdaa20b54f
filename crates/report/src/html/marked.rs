//! The marks of a plot: where one series overtakes another, the modes of one, where one steps, where a
//! rate has fallen to half, and where one did not finish. Each has a sentence and figures, for the list below the plot and for
//! the read-out.

use super::table::short;
use analysis::{
    ComparisonOutcome, Estimate, FailedAt, Mode, Modes, Rate, Row, Step, SubjectComparison, Table,
};
use findings::format::{ci, class, count, factor, mode_rank, percent, position};
use findings::kinds::crossover::Crossover;
use findings::kinds::modes::division;
use findings::kinds::unfinished::Unfinished;
use findings::kinds::words;
use findings::{Conclusions, Data, FindingKind, Kind, Names};
use serde_json::{Value, json};

/// What is listed and read out: words and figures.
type Pairs = Vec<(String, String)>;

/// The marks of one table of one run, in the order of its rows, crossovers first: those that are findings,
/// since those of all pairs would bury the plot.
pub(super) fn table_marks(run: usize, conclusions: &Conclusions, table: &Table) -> Vec<Value> {
    let about_table = || conclusions.findings.iter().filter(|finding| finding.is_about(table));
    let crossovers = about_table().flat_map(|finding| match &finding.data {
        Data::Crossover(all) => all.as_slice(),
        _ => &[],
    });
    let crossovers = crossovers.flat_map(|pair| {
        pair.crossovers().iter().map(move |crossover| crossover_mark(table, pair, crossover))
    });
    let rows = table.rows.iter().flat_map(|row| {
        let modes = row.modes.iter().flat_map(|modes| mode_marks(table, row, modes));
        let steps = row.steps.iter().map(|step| step_mark(table, row, step));
        let halves = row.rate.iter().filter_map(|rate| half_mark(row, rate));
        let is_finding = about_table().any(|finding| {
            finding.data.kind() == Kind::Unfinished && finding.subjects.contains(&row.subject)
        });
        let ends = row.unfinished().filter(move |_| is_finding);
        let ends = ends.map(|unfinished| unfinished_mark(table, row, unfinished));
        modes.chain(steps).chain(halves).chain(ends)
    });
    let mut marks: Vec<Value> = crossovers.chain(rows).collect();
    for mark in &mut marks {
        mark["run"] = json!(run);
    }
    marks
}

/// A mark at a position, with the sentence of what it marks and `more` figures.
fn mark<K: FindingKind>(
    table: &Table,
    subjects: &[String],
    (kind, at, datum): (&str, Estimate, &K),
    more: Pairs,
) -> Value {
    let names = Names::of_table(subjects, table, String::new());
    let [text, detail] = words(datum, &names);
    let labels = subjects.iter().map(|subject| names.label(subject).to_string()).collect();
    let detail = Some((String::new(), detail)).filter(|(_, detail)| !detail.is_empty());
    positioned((kind, labels), at, &text, &detail.into_iter().chain(more).collect::<Pairs>())
}

fn positioned(
    (kind, labels): (&str, Vec<String>),
    Estimate { value, low, high }: Estimate,
    text: &str,
    pairs: &[(String, String)],
) -> Value {
    let [value, low, high] = [value, low, high].map(short);
    json!({
        "kind": kind, "subjects": labels, "at": value, "low": low, "high": high, "text": text,
        "pairs": pairs,
    })
}

fn crossover_mark(table: &Table, pair: &Crossover, crossover: &analysis::Crossover) -> Value {
    let (overtakes, overtaken) = (&crossover.overtakes, &crossover.overtaken);
    let subjects = [overtakes.clone(), overtaken.clone()];
    let names = Names::of_table(&subjects, table, String::new());
    let leads = |subject: &str| format!("{} leads", names.label(subject));
    let more = vec![
        (leads(overtaken), format!("up to {}", count(crossover.after))),
        (leads(overtakes), format!("from {}", count(crossover.before))),
    ];
    let outcome = ComparisonOutcome::Crosses { crossovers: vec![crossover.clone()] };
    let comparison = SubjectComparison { outcome, ..pair.comparison.clone() };
    let single = Crossover { comparison, ..pair.clone() };
    mark(table, &subjects, ("crossover", crossover.at, &single), more)
}

fn step_mark(table: &Table, row: &Row, step: &Step) -> Value {
    let ends = step.between.map(|points| points.map(|point| point as f64));
    let [low, high] = ends.unwrap_or([step.at.low, step.at.high]);
    let at = Estimate { low, high, ..step.at };
    let mut mark =
        mark(table, std::slice::from_ref(&row.subject), ("step", at, step), Pairs::new());
    mark["rises"] = json!(step.factor.value > 1.0);
    mark
}

/// Where a rate that collapses has fallen to half. A vague position has no mark: its
/// interval would be one across the plot.
fn half_mark(row: &Row, rate: &Rate) -> Option<Value> {
    let halved = rate.halved.as_ref().filter(|halved| !halved.vague)?;
    let Estimate { value, low, high } = halved.at;
    let (from, to) = (count(rate.from), count(rate.to));
    let left =
        (format!("left at {to}"), format!("{} of that at {from}", factor(rate.factor.value)));
    let text = format!("{} halved at {}", row.label, position(value));
    let ci = (String::new(), ci(&position(low), &position(high)));
    Some(positioned(("half", vec![row.label.clone()]), halved.at, &text, &[ci, left]))
}

/// Where cells of a row did not finish: at the height at which its line ends.
fn unfinished_mark(table: &Table, row: &Row, unfinished: &FailedAt) -> Value {
    let at = Estimate::exact(unfinished.point as f64);
    let single = Unfinished { points: vec![unfinished.clone()], collapsed_past: None };
    mark(table, std::slice::from_ref(&row.subject), ("unfinished", at, &single), Pairs::new())
}

/// One mark for each mode of a row.
fn mode_marks(table: &Table, row: &Row, modes: &Modes) -> Vec<Value> {
    let (from, to) = (count(modes.from), count(modes.to));
    let mark = |(at, mode): (usize, &Mode)| {
        let curve: Vec<Value> =
            mode.curve.iter().map(|(position, median)| json!([position, short(*median)])).collect();
        let growth = mode.growth.as_ref().map(|growth| {
            let text = format!("{} {}", class(growth.class), factor(growth.factor.value));
            ("growth".to_owned(), text)
        });
        let (label, name, axis) = (&row.label, mode_rank(at, modes.modes.len()), &table.axis);
        json!({
            "kind": "mode",
            "subjects": [label],
            "rank": at,
            "curve": curve,
            "text": format!("{label}, {name} mode: {} of the samples from {from} to {to} {axis}", percent(mode.share)),
            "pairs": growth.into_iter().chain([(String::new(), division(modes))]).collect::<Pairs>(),
        })
    };
    modes.modes.iter().enumerate().filter(|(_, mode)| !mode.curve.is_empty()).map(mark).collect()
}
