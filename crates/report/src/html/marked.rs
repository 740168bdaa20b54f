//! The marks of a plot: where one series overtakes another, the modes of one, where one steps, where a
//! rate has fallen to half, and where one did not finish. Each has a sentence for the list below the plot, and figures for the
//! read-out.

use super::table::short;
use crate::text;
use analysis::{Crossover, Division, Estimate, Mode, Modes, Rate, Row, Step, Table, Unfinished};
use findings::format::mode_rank;
use findings::format::{class, count, counted, factor, list, percent, position, proportion};
use findings::{Conclusions, Data, Kind};
use serde_json::{Value, json};

/// What is read out: words and figures.
type Pairs = Vec<(String, String)>;

/// The marks of one table of one run, in the order of its rows, crossovers first: those that are findings,
/// since those of all pairs would bury the plot.
pub(super) fn table_marks(run: usize, conclusions: &Conclusions, table: &Table) -> Vec<Value> {
    let about_table = || conclusions.findings.iter().filter(|finding| finding.is_about(table));
    let crossovers = about_table().flat_map(|finding| match &finding.data {
        Data::Crossover(crossover) => crossover.crossovers(),
        _ => &[],
    });
    let crossovers = crossovers.map(|crossover| crossover_mark(table, crossover));
    let rows = table.rows.iter().flat_map(|row| {
        let modes = row.modes.iter().flat_map(|modes| mode_marks(table, row, modes));
        let steps = row.steps.iter().map(|step| step_mark(table, row, step));
        let halves = row.rate.iter().filter_map(|rate| half_mark(table, row, rate));
        let is_finding = about_table().any(|finding| {
            finding.kind() == Kind::Unfinished && finding.subjects == [row.subject.as_str()]
        });
        let ends = row.unfinished.iter().filter(move |_| is_finding);
        let ends = ends.map(|unfinished| unfinished_mark(table, row, unfinished));
        modes.chain(steps).chain(halves).chain(ends)
    });
    let mut marks: Vec<Value> = crossovers.chain(rows).collect();
    for mark in &mut marks {
        mark["run"] = json!(run);
    }
    marks
}

fn crossover_mark(table: &Table, crossover: &Crossover) -> Value {
    let label = |subject: &str| {
        let row = table.rows.iter().find(|row| row.subject == subject);
        row.map_or(subject, |row| row.label.as_str()).to_owned()
    };
    let (overtakes, overtaken) = (label(&crossover.overtakes), label(&crossover.overtaken));
    let mut pairs = interval(crossover.at, position);
    if let (Some(share), Some(shares)) = (crossover.share, &table.shares) {
        let figure = |value: f64| proportion(value, shares.multiple);
        let mut text = format!("{} {}", figure(share.value), shares.word);
        if share.low < share.high {
            text = format!("{text} ({}–{})", figure(share.low), figure(share.high));
        }
        pairs.push(("ratio".to_owned(), text));
    }
    let brief = brief(&pairs);
    pairs.push((format!("{overtaken} leads"), format!("up to {}", count(crossover.after))));
    pairs.push((format!("{overtakes} leads"), format!("from {}", count(crossover.before))));
    let Estimate { value, low, high } = crossover.at;
    json!({
        "kind": "crossover",
        "subjects": [overtakes, overtaken],
        "at": short(value),
        "low": short(low),
        "high": short(high),
        "text": format!("{overtakes} overtakes {overtaken} at {} {}", position(value), table.axis),
        "brief": brief,
        "pairs": pairs,
    })
}

fn step_mark(table: &Table, row: &Row, step: &Step) -> Value {
    let Estimate { value, low, high } = step.at;
    let (low, high) = step.between.map_or((low, high), |[low, high]| (low as f64, high as f64));
    // Steps are sharper than crossovers: their places are whole.
    let nearest = |position: f64| count(position.round().max(0.0) as u64);
    let rises = step.factor.value > 1.0;
    let way = if rises { "up" } else { "down" };
    let between = step.between.map(|[low, high]| format!("{} and {}", count(low), count(high)));
    let mut pairs = match &between {
        Some(points) => vec![("between".to_owned(), points.clone())],
        None => interval(step.at, nearest),
    };
    let brief = brief(&pairs);
    let Estimate { value: times, low: min, high: max } = step.factor;
    if min < max {
        let factors = format!("{}–{}", factor(min), factor(max));
        let of_rounds = "factor of the rounds, least to greatest";
        let what = if between.is_some() { of_rounds } else { "95 % CI of the factor" };
        pairs.push((what.to_owned(), factors));
    }
    let label = &row.label;
    let whereabouts = between
        .map_or_else(|| format!("at {}", nearest(value)), |points| format!("between {points}"));
    json!({
        "kind": "step",
        "subjects": [label],
        "rises": rises,
        "at": short(value),
        "low": short(low),
        "high": short(high),
        "text": format!("{label} steps {way} {} {whereabouts} {}", factor(times), table.axis),
        "brief": brief,
        "pairs": pairs,
    })
}

/// Where a rate that collapses has fallen to half. A vague position has no mark: its
/// interval would be one across the plot.
fn half_mark(table: &Table, row: &Row, rate: &Rate) -> Option<Value> {
    let halved = rate.halved.as_ref().filter(|halved| !halved.vague)?;
    let Estimate { value, low, high } = halved.at;
    let mut pairs = interval(halved.at, position);
    let brief = brief(&pairs);
    let (from, to) = (count(rate.from), count(rate.to));
    pairs.push((
        format!("left at {to}"),
        format!("{} of that at {from}", factor(rate.factor.value)),
    ));
    let label = &row.label;
    let multiple = text::parameters::multiple_at(table, value).map(|text| format!(" ({text})"));
    Some(json!({
        "kind": "half",
        "subjects": [label],
        "at": short(value),
        "low": short(low),
        "high": short(high),
        "text": format!(
            "{label} has halved at {} {}{}",
            position(value),
            table.axis,
            multiple.unwrap_or_default()
        ),
        "brief": brief,
        "pairs": pairs,
    }))
}

/// Where cells of a row did not finish: at the height at which its line ends.
fn unfinished_mark(table: &Table, row: &Row, unfinished: &Unfinished) -> Value {
    let (label, point) = (&row.label, unfinished.point);
    let multiple =
        text::parameters::multiple_at(table, point as f64).map(|text| format!(" ({text})"));
    let at = counted(&count(point), &table.axis);
    let cells = format!("{} of {}", unfinished.cells, unfinished.total);
    json!({
        "kind": "unfinished",
        "subjects": [label],
        "at": point,
        "low": point,
        "high": point,
        "text": format!("{label} did not finish at {at}{}", multiple.unwrap_or_default()),
        "brief": format!("{cells} cells"),
        "pairs": [["cells", cells], ["what was seen", unfinished.reason.to_string()]],
    })
}

/// One mark for each mode of a row.
fn mode_marks(table: &Table, row: &Row, modes: &Modes) -> Vec<Value> {
    let unfinished = modes.modes.len();
    let (from, to) = (count(modes.from), count(modes.to));
    let mark = |(at, mode): (usize, &Mode)| {
        let curve: Vec<Value> =
            mode.curve.iter().map(|(position, median)| json!([position, short(*median)])).collect();
        let pairs = mode_pairs(mode, modes.division);
        let (label, name, axis) = (&row.label, mode_rank(at, unfinished), &table.axis);
        json!({
            "kind": "mode",
            "subjects": [label],
            "rank": at,
            "curve": curve,
            "text": format!("{label}, {name} mode: {} of the samples from {from} to {to} {axis}", percent(mode.share)),
            "brief": brief(&pairs),
            "pairs": pairs,
        })
    };
    modes.modes.iter().enumerate().filter(|(_, mode)| !mode.curve.is_empty()).map(mark).collect()
}

/// How one mode grows, and which samples lie on it.
fn mode_pairs(mode: &Mode, division: Division) -> Pairs {
    let mut pairs = Pairs::new();
    if let Some(growth) = &mode.growth {
        let text = format!("{} {}", class(growth.class), factor(growth.factor.value));
        pairs.push(("growth".to_owned(), text));
    }
    let which = match division {
        // At points that are measured apart, the rounds may be others at each.
        Division::ByRound if mode.rounds.is_empty() => "of whole rounds".to_owned(),
        Division::ByRound => {
            let rounds: Vec<String> = mode.rounds.iter().map(u32::to_string).collect();
            let word = if rounds.len() == 1 { "round" } else { "rounds" };
            format!("of {word} {}", list(&rounds))
        }
        Division::WithinRounds => "of every round".to_owned(),
        Division::InStretches => "in stretches".to_owned(),
    };
    pairs.push(("samples".to_owned(), which));
    pairs
}

fn interval(at: Estimate, text: impl Fn(f64) -> String) -> Pairs {
    let Estimate { low, high, .. } = at;
    if low < high {
        vec![("95 % CI".to_owned(), format!("{}–{}", text(low), text(high)))]
    } else {
        Vec::new()
    }
}

/// The same in one line.
fn brief(pairs: &[(String, String)]) -> String {
    let each: Vec<String> = pairs.iter().map(|(what, value)| format!("{what} {value}")).collect();
    each.join(" · ")
}
