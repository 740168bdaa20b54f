//! Lines of one metric under one set of parameters, and the sentences that all forms of a history share.

use crate::text;
use analysis::history::FIGURES_MIN;
use analysis::history::{Change, History, Line};
use findings::emulation::Emulation;
use findings::format::{Unit, count, counted, factor, percent};
use findings::grouping::grouped;
use model::{Fact, Parameters};
use std::collections::BTreeMap;

/// Lines under one heading: one metric under one set of parameters.
pub(super) struct Group<'a> {
    pub(super) parameters: &'a Parameters,
    pub(super) metric: &'a model::MetricInfo,
    pub(super) lines: Vec<&'a Line>,
    pub(super) changes: Vec<&'a Change>,
}

pub(super) fn groups<'a>(history: &'a History) -> Vec<Group<'a>> {
    let keyed =
        history.lines.iter().map(|line| ((&line.parameters, line.metric.name.as_str()), line));
    let group = |((parameters, metric), lines): ((&'a Parameters, &str), Vec<&'a Line>)| {
        let is_here =
            |change: &&Change| (&change.parameters, change.metric.as_str()) == (parameters, metric);
        let changes = history.changes.iter().filter(is_here).collect();
        Group { parameters, metric: &lines[0].metric, lines, changes }
    };
    grouped(keyed).into_iter().map(group).collect()
}

impl Group<'_> {
    /// The unit for all figures of the group.
    pub(super) fn unit(&self) -> Unit {
        let figures = self.lines.iter().flat_map(|line| &line.figures);
        let values: Vec<f64> = figures.map(|(_, figure)| figure.value).collect();
        Unit::for_table(&self.metric.unit, &values)
    }

    /// `1 active of N watched socketpairs · object pipe · µs per write + wait + dispatch`.
    pub(super) fn title(&self, history: &History) -> String {
        let parameters = text::parameters::with_axis_of(&history.workload, self.parameters);
        format!("{parameters} · {}", text::metrics::measure(self.metric, &self.unit()))
    }
}

/// `14 runs, from run 1 of 2026-11-01 to run 14 of 2026-11-22`.
pub(super) fn span(history: &History) -> String {
    let name = |run: &model::RunSummary| {
        format!("run {} of {}", run.number, run.started.get(..10).unwrap_or(&run.started))
    };
    match history.runs.as_slice() {
        [] => "no runs".to_owned(),
        [only] => name(only),
        [first, .., last] => {
            let count = count(history.runs.len() as u64);
            format!("{count} runs, from {} to {}", name(first), name(last))
        }
    }
}

/// The machine, as far as figures have to be of the same to be compared.
pub(crate) fn machine(facts: &BTreeMap<String, Fact>) -> String {
    let fact = |key: &str| facts.get(key).map(Fact::to_string);
    let cpus = fact("cpu.count").map(|count| counted(&count, "CPUs"));
    let parts: Vec<String> = [fact("cpu.model"), cpus].into_iter().flatten().collect();
    if parts.is_empty() { "machine not recorded".to_owned() } else { parts.join(", ") }
}

/// How likely a change as large as [`Line::visible`] is seen.
pub(super) const SEEN: &str = "half-way would have been seen in about half of the cases";

/// A note on changes that most subjects share.
pub(super) const SHARED_CAUSE: &str = "What happens to most subjects at once comes rather from what they share: look first at the \
                       machine and its neighbours, the kernel, and knee itself.";

/// The sentence about the lines that did not change; `None` where all of them did.
pub(super) fn unchanged(history: &History) -> Option<String> {
    let judged: Vec<&Line> = history.lines.iter().filter(|line| line.is_judged()).collect();
    let same: Vec<&Line> = judged.iter().copied().filter(|line| !line.has_changed()).collect();
    if same.is_empty() {
        return None;
    }
    let mut visible: Vec<f64> = same.iter().filter_map(|line| line.visible).collect();
    visible.sort_by(f64::total_cmp);
    let seen = match visible.as_slice() {
        [] => String::new(),
        [only] => format!("a change of {} {SEEN}", factor(*only)),
        all => format!(
            "a change of {} {SEEN}, in the noisiest line one of {}",
            factor(all[all.len() / 2]),
            factor(all[all.len() - 1])
        ),
    };
    let [unchanged, all] = [same.len(), judged.len()].map(|number| count(number as u64));
    let did_not_change = match (same.len(), judged.len()) {
        (1, 1) => "The only line did not change".to_owned(),
        (same, judged) if same == judged => format!("None of the {all} lines changed"),
        (1, _) => format!("The other of the {all} lines did not change"),
        _ => format!("The other {unchanged} of {all} lines did not change"),
    };
    Some(format!("{did_not_change}: {seen}."))
}

/// The sentence about lines with too few runs.
pub(super) fn too_few(history: &History) -> Option<String> {
    let few = history.lines.iter().filter(|line| line.has_too_few()).count();
    if few == 0 {
        return None;
    }
    let [lines, all] = [few, history.lines.len()].map(|number| count(number as u64));
    let subject = if history.runs.len() < FIGURES_MIN {
        "Too few runs".to_owned()
    } else {
        format!("{lines} of {all} lines have too few runs")
    };
    Some(format!(
        "{subject} to tell a change from chance: {FIGURES_MIN} are the fewest, and with ten a change has to be \
         two to five times as large as runs scatter, the more lines the larger"
    ))
}

/// Whether QEMU emulated the machines: all that are joined were, or none.
pub(super) fn emulation(history: &History) -> Option<Emulation> {
    Emulation::from_facts(history.runs.iter().map(|_| &history.machine))
}

/// The confidence of the changes.
pub(super) fn confidence(history: &History) -> String {
    let lines = if history.judged == 1 { "line was" } else { "lines were" };
    format!(
        "{} {lines} judged together: that chance alone makes any of them change has a probability of 5 % at \
         most. Changes of less than {} are left out.",
        count(history.judged as u64),
        percent(history.margin)
    )
}
