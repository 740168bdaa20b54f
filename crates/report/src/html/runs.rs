//! What tells runs apart on one page: their names, their lines, and whether one of them was measured
//! at all or is a model's prediction.

use super::Analysed;
use super::host_facts::fact;
use crate::text;
use maud::{Markup, html};
use record::Run;
use serde_json::{Value, json};

/// What a prediction is called wherever it stands beside a measurement.
const PREDICTED: &str = "predicted (model)";
/// How pale what stands back is: 0 is as when it stands alone.
const PALE: f64 = 0.5;

/// What a run is called where there are several. One beside a model's is `measured`.
pub(super) fn name(runs: &[Analysed], run: &Run) -> String {
    let host = fact(&run.host_before, &["host.name", "hostname"]);
    let place = host.map(|name| format!(" on {name}")).unwrap_or_default();
    let id: String = run.summary.id.chars().take(6).collect();
    let number = run.summary.number;
    // Two records number their runs alike.
    let alike = runs.iter().filter(|(other, _)| other.summary.number == number).count() > 1;
    let plain = match number {
        0 => format!("run {id}{place}"),
        number if alike => format!("run {number} ({id}){place}"),
        number => format!("run {number}{place}"),
    };
    match origin(runs, run) {
        "" => plain,
        origin => format!("{origin}, {plain}"),
    }
}

/// What a run's series are called in a plot, where there is little room: where one run was measured and
/// one predicted, that says which it is.
pub(super) fn brief(runs: &[Analysed], run: &Run) -> String {
    let own = origin(runs, run);
    let alike = runs.iter().filter(|(other, _)| origin(runs, other) == own).count();
    if own.is_empty() || alike > 1 { name(runs, run) } else { own.to_owned() }
}

fn origin(runs: &[Analysed], run: &Run) -> &'static str {
    let beside_a_model = || runs.iter().any(|(other, _)| analysis::is_predicted(other));
    if analysis::is_predicted(run) {
        PREDICTED
    } else if beside_a_model() {
        "measured"
    } else {
        ""
    }
}

/// For each run the number of its dashes, of which 0 is a solid line, and how pale its samples are.
/// Of measured runs the last stands out, and the first is solid; a prediction is neither.
pub(super) fn lines(runs: &[Analysed]) -> Vec<Value> {
    let predicted = |run: &Run| analysis::is_predicted(run);
    let measured = runs.iter().filter(|(run, _)| !predicted(run)).count();
    let (mut known, mut models) = (0, measured.max(1));
    let line = |(run, _): &Analysed| {
        let place = if predicted(run) { &mut models } else { &mut known };
        let number = *place;
        *place += 1;
        let pale = match (predicted(run), measured) {
            (true, 0) | (false, 1) => 0.0,
            (true, _) => PALE,
            (false, of) => PALE * (1.0 - number as f64 / (of - 1) as f64),
        };
        json!({ "dash": number, "pale": pale })
    };
    runs.iter().map(line).collect()
}

/// Says at the head of the page that not all on it was measured; nothing where all was.
pub(super) fn banner(runs: &[Analysed]) -> Markup {
    let models: Vec<&Run> =
        runs.iter().map(|(run, _)| run).filter(|run| analysis::is_predicted(run)).collect();
    html! {
        @if models.len() == runs.len() && !models.is_empty() {
            p.model role="note" {
                strong { "A model, not a measurement." }
                " Every figure on this page was computed: none was measured on any machine. What the \
                 model leaves out stands among the "
                a href="#caveats" { "caveats" } "."
            }
        } @else if !models.is_empty() {
            p.model role="note" {
                strong { "A model's prediction beside a measurement." }
                " What is called " em { (PREDICTED) } " was computed and its lines are dashed; what is \
                 called " em { "measured" } " was measured. What the model leaves out stands among the "
                a href="#caveats" { "caveats" } "."
            }
        }
    }
}

/// What was done to come to the figures of all runs: `Measured`, `Read`, `Predicted`.
pub(super) fn deed(runs: &[Analysed]) -> &'static str {
    let all = |is: fn(&Run) -> bool| runs.iter().all(|(run, _)| is(run));
    let any = |is: fn(&Run) -> bool| runs.iter().any(|(run, _)| is(run));
    if all(analysis::is_predicted) && !runs.is_empty() {
        "Predicted, not measured,"
    } else if any(analysis::is_predicted) {
        "Measured and predicted"
    } else if all(text::runs::is_foreign) {
        "Read"
    } else {
        "Measured"
    }
}
