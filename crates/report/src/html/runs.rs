//! What tells runs apart on one page: their names, their lines, and whether one of them was measured
//! at all or is a model's prediction.

use super::view::Analysed;
use analysis::compare::is_median;
use maud::{Markup, html};
use model::{HOST_NAME, Run};
use serde_json::{Value, json};

/// The name of a prediction next to a measurement.
const PREDICTED: &str = "predicted (model)";
/// How pale what stands back is: 0 is as when it stands alone.
const PALE: f64 = 0.5;

/// The name of a run where there are several. Next to a model's run it is `measured`.
pub(super) fn name(runs: &[Analysed], run: &Run) -> String {
    if is_median(run) {
        return "median machine".to_owned();
    }
    // Guests of `knee vm` all have one name: their kernels distinguish them.
    let kernel = run.summary.labels.get("kernel").filter(|_| run.host_before.is_guest());
    let host = run.host_before.fact(HOST_NAME);
    let host = kernel.cloned().or_else(|| host.map(ToString::to_string));
    let host = host.map(|name| format!(" on {name}")).unwrap_or_default();
    let id: String = run.summary.id.chars().take(6).collect();
    let number = run.summary.number;
    // Two records number their runs alike.
    let alike = runs.iter().filter(|(sibling, _)| sibling.summary.number == number).count() > 1;
    let plain = match number {
        0 => format!("run {id}{host}"),
        number if alike => format!("run {number} ({id}){host}"),
        number => format!("run {number}{host}"),
    };
    match origin(runs, run) {
        "" => plain,
        origin => format!("{origin}, {plain}"),
    }
}

/// What ends a caption of a run's figures: its name, where there are several.
pub(super) fn suffix(runs: &[Analysed], run: &Run) -> String {
    if runs.len() > 1 { format!(" · {}", name(runs, run)) } else { String::new() }
}

/// What a run's series are called in a plot, where there is little room: where one run was measured and
/// one predicted, that says which it is.
pub(super) fn brief(runs: &[Analysed], run: &Run) -> String {
    let own_origin = origin(runs, run);
    let alike = runs.iter().filter(|(sibling, _)| origin(runs, sibling) == own_origin).count();
    if own_origin.is_empty() || alike > 1 { name(runs, run) } else { own_origin.to_owned() }
}

fn origin(runs: &[Analysed], run: &Run) -> &'static str {
    let has_prediction = runs.iter().any(|(sibling, _)| analysis::is_predicted(sibling));
    match (analysis::is_predicted(run), has_prediction) {
        (true, _) => PREDICTED,
        (false, true) => "measured",
        (false, false) => "",
    }
}

/// For each run the number of its dashes, of which 0 is a solid line, and how pale its samples are.
/// Of measured runs the last stands out, and the first is solid; a prediction is neither.
pub(super) fn lines(runs: &[Analysed]) -> Vec<Value> {
    let predicted = |run: &Run| analysis::is_predicted(run);
    let measured = runs.iter().filter(|(run, _)| !predicted(run)).count();
    let (mut measured_index, mut models) = (0, measured.max(1));
    let line = |(run, _): &Analysed| {
        let host = if predicted(run) { &mut models } else { &mut measured_index };
        let number = *host;
        *host += 1;
        let pale = match (predicted(run), measured) {
            (true, 0) | (false, 1) => 0.0,
            (true, _) => PALE,
            (false, total) => PALE * (1.0 - number as f64 / (total - 1) as f64),
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
                strong { "A model's prediction next to a measurement." }
                " What is called " em { (PREDICTED) } " was computed and its lines are dashed; what is \
                 called " em { "measured" } " was measured. What the model leaves out stands among the "
                a href="#caveats" { "caveats" } "."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ACCELERATOR, EMULATOR};

    #[test]
    fn guests_are_called_by_their_kernels() {
        let mut run = fixtures::run(fixtures::workload("made")).complete();
        run.summary.number = 2;
        run.summary.labels.insert("kernel".to_owned(), "6.1.0".to_owned());
        let named = |run: &Run| name(&[], run);
        assert!(!named(&run).contains("6.1.0"), "{}", named(&run));
        run.host_before.facts.insert(ACCELERATOR.to_owned(), EMULATOR.into());
        assert_eq!(named(&run), "run 2 on 6.1.0");
    }
}
