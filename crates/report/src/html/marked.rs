//! The marks of a plot: where one series overtakes another, the modes of one, where one steps, where a
//! rate has fallen to half, and where one did not finish. Each has a sentence for the list below the plot, and figures for the
//! read-out.

use super::table::short;
use crate::text;
use analysis::{Crossover, Division, Estimate, Mode, Modes, Rate, Row, Step, Table, Unfinished};
use findings::format::mode_rank;
use findings::format::{class, count, counted, factor, list, percent, place, proportion};
use findings::{Conclusions, Data, Kind};
use serde_json::{Value, json};

/// What is read out: words and figures.
type Pairs = Vec<(String, String)>;

/// The marks of one table of one run, in the order of its rows, crossovers first: those that are findings,
/// since those of all pairs would bury the plot.
pub(super) fn of_table(run: usize, conclusions: &Conclusions, table: &Table) -> Vec<Value> {
    let about_table = || conclusions.findings.iter().filter(|finding| finding.is_about(table));
    let crossovers = about_table().flat_map(|finding| match &finding.data {
        Data::Crossover(crossover) => crossover.crossovers(),
        _ => &[],
    });
    let crossovers = crossovers.map(|crossover| of_crossover(table, crossover));
    let rows = table.rows.iter().flat_map(|row| {
        let modes = row.modes.iter().flat_map(|modes| of_modes(table, row, modes));
        let steps = row.steps.iter().map(|step| of_step(table, row, step));
        let halves = row.rate.iter().filter_map(|rate| of_half(table, row, rate));
        let is_finding = about_table().any(|finding| {
            finding.kind() == Kind::Unfinished && finding.subjects == [row.subject.as_str()]
        });
        let ends = row.unfinished.iter().filter(move |_| is_finding);
        let ends = ends.map(|of| of_unfinished(table, row, of));
        modes.chain(steps).chain(halves).chain(ends)
    });
    let mut marks: Vec<Value> = crossovers.chain(rows).collect();
    for mark in &mut marks {
        mark["run"] = json!(run);
    }
    marks
}

fn of_crossover(table: &Table, crossover: &Crossover) -> Value {
    let label = |subject: &str| {
        let row = table.rows.iter().find(|row| row.subject == subject);
        row.map_or(subject, |row| row.label.as_str()).to_owned()
    };
    let (overtakes, overtaken) = (label(&crossover.overtakes), label(&crossover.overtaken));
    let mut pairs = interval(crossover.at, place);
    if let (Some(share), Some(shares)) = (crossover.share, &table.shares) {
        let told = |value: f64| proportion(value, shares.multiple);
        let mut said = format!("{} {}", told(share.value), shares.word);
        if share.low < share.high {
            said = format!("{said} ({} to {})", told(share.low), told(share.high));
        }
        pairs.push(("ratio".to_owned(), said));
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
        "said": format!("{overtakes} overtakes {overtaken} at {} {}", place(value), table.axis),
        "brief": brief,
        "pairs": pairs,
    })
}

fn of_step(table: &Table, row: &Row, step: &Step) -> Value {
    let Estimate { value, low, high } = step.at;
    // Steps are sharper than crossovers: their places are whole.
    let nearest = |place: f64| count(place.round().max(0.0) as u64);
    let rises = step.factor.value > 1.0;
    let way = if rises { "up" } else { "down" };
    let mut pairs = interval(step.at, nearest);
    let brief = brief(&pairs);
    let Estimate { value: times, low: least, high: most } = step.factor;
    if least < most {
        let factors = format!("{} to {}", factor(least), factor(most));
        pairs.push(("95 % interval of the factor".to_owned(), factors));
    }
    let (label, at) = (&row.label, nearest(value));
    json!({
        "kind": "step",
        "subjects": [label],
        "rises": rises,
        "at": short(value),
        "low": short(low),
        "high": short(high),
        "said": format!("{label} steps {way} {} at {at} {}", factor(times), table.axis),
        "brief": brief,
        "pairs": pairs,
    })
}

/// Where a rate that collapses has fallen to half. A place that nobody can name has no mark: its
/// interval would be one across the plot.
fn of_half(table: &Table, row: &Row, rate: &Rate) -> Option<Value> {
    let halved = rate.halved.as_ref().filter(|halved| !halved.vague)?;
    let Estimate { value, low, high } = halved.at;
    let mut pairs = interval(halved.at, place);
    let brief = brief(&pairs);
    let (from, to) = (count(rate.from), count(rate.to));
    pairs.push((
        format!("left at {to}"),
        format!("{} of that at {from}", factor(rate.factor.value)),
    ));
    let label = &row.label;
    let multiple = text::parameters::multiple_at(table, value).map(|told| format!(" ({told})"));
    Some(json!({
        "kind": "half",
        "subjects": [label],
        "at": short(value),
        "low": short(low),
        "high": short(high),
        "said": format!(
            "{label} has halved at {} {}{}",
            place(value),
            table.axis,
            multiple.unwrap_or_default()
        ),
        "brief": brief,
        "pairs": pairs,
    }))
}

/// Where cells of a row did not finish: beside its line, as high as that ends.
fn of_unfinished(table: &Table, row: &Row, of: &Unfinished) -> Value {
    let (label, point) = (&row.label, of.point);
    let multiple =
        text::parameters::multiple_at(table, point as f64).map(|told| format!(" ({told})"));
    let at = counted(&count(point), &table.axis);
    let cells = format!("{} of {}", of.cells, of.total);
    json!({
        "kind": "unfinished",
        "subjects": [label],
        "at": point,
        "low": point,
        "high": point,
        "said": format!("{label} did not finish at {at}{}", multiple.unwrap_or_default()),
        "brief": format!("{cells} cells"),
        "pairs": [["cells", cells], ["what was seen", of.reason.to_string()]],
    })
}

/// One mark for each mode of a row.
fn of_modes(table: &Table, row: &Row, modes: &Modes) -> Vec<Value> {
    let of = modes.modes.len();
    let (from, to) = (count(modes.from), count(modes.to));
    let one = |(at, mode): (usize, &Mode)| {
        let curve: Vec<Value> =
            mode.curve.iter().map(|(place, median)| json!([place, short(*median)])).collect();
        let pairs = of_mode(mode, modes.division);
        let (label, name, axis) = (&row.label, mode_rank(at, of), &table.axis);
        json!({
            "kind": "mode",
            "subjects": [label],
            "place": at,
            "curve": curve,
            "said": format!("{label}, {name} mode: {} of the samples from {from} to {to} {axis}", percent(mode.share)),
            "brief": brief(&pairs),
            "pairs": pairs,
        })
    };
    modes.modes.iter().enumerate().filter(|(_, mode)| !mode.curve.is_empty()).map(one).collect()
}

/// How one mode grows, and which samples lie on it.
fn of_mode(mode: &Mode, division: Division) -> Pairs {
    let mut pairs = Pairs::new();
    if let Some(growth) = &mode.growth {
        let said = format!("{} {}", class(growth.class), factor(growth.factor));
        pairs.push(("growth".to_owned(), said));
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

fn interval(at: Estimate, said: impl Fn(f64) -> String) -> Pairs {
    let Estimate { low, high, .. } = at;
    if low < high {
        vec![("95 % interval".to_owned(), format!("{} to {}", said(low), said(high)))]
    } else {
        Vec::new()
    }
}

/// The same in one line.
fn brief(pairs: &[(String, String)]) -> String {
    let each: Vec<String> = pairs.iter().map(|(what, value)| format!("{what} {value}")).collect();
    each.join(" · ")
}
