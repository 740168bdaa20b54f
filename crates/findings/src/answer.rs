//! The answer of a run on one screen: its findings by the question that they answer, the most consequential first.
//!
//! An [`Answer`] is a choice of findings; terminal, page and JSON lay it out. Its sections stand in the
//! order in which a reader asks: what stops scaling (and what to use instead), where the CPU
//! time goes that grows, what changes sides, what is
//! worth knowing, what holds, what is not decided, how far to trust it, and where it was measured.

mod figure_list;
mod load_figures;
mod measurement;
mod not_measured;
mod trust;
mod undecided;

pub use crate::finding::advice::Advice;
pub use crate::finding::range::Range;
pub use figure_list::{FigureGroup, FigureList, SingleFigure, is_in_answer, listed};
pub use measurement::{Measurement, machine};
pub use not_measured::{NotMeasured, UnavailableSubjects};
pub use trust::{Trust, TrustLevel, TrustReason};
pub use undecided::Undecided;

use crate::conclusions::Conclusions;
use crate::finding::Finding;
use crate::finding::sentence::{Sentence, text};
use crate::format::{count, counted, list};
use crate::kinds::attribution::Between;
use crate::kinds::{Data, Section};
use analysis::Table;
use model::Run;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// What a run says: its findings, chosen and ranked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Costs that grow and rates that fall, the largest factor first.
    pub stops_scaling: Vec<Finding>,
    /// Where the CPU time goes that grows, and what threads wait for, of a profiled run.
    pub cpu_time: Vec<Finding>,
    /// Where one subject overtakes another.
    pub changes_sides: Vec<Finding>,
    /// The levels of memory, in the order of the tables.
    pub levels: Vec<Finding>,
    /// Modes, steps, drift, unequal shares and large ratios.
    pub worth_knowing: Vec<Finding>,
    /// Series that do not grow or that hold, in the order of the tables.
    pub holds: Vec<Finding>,
    /// The figures that are no series, of workloads whose subjects are not compared.
    pub figures: Vec<FigureList>,
    /// How many verdicts are open, and what decides them.
    pub undecided: Undecided,
    /// What is left out for want of figures.
    pub not_measured: NotMeasured,
    /// How far to trust it.
    pub trust: Trust,
    /// Where it was measured, and for how long.
    pub measurement: Measurement,
}

/// A sentence under a heading, and what to do about it.
pub struct Remark<'a> {
    /// What it is about.
    pub heading: &'static str,
    /// The sentence; empty where there is nothing to say.
    pub text: String,
    /// What to do about it, best a command; may be empty.
    pub remedy: &'a str,
}

impl<'a> Remark<'a> {
    /// The sentence `text` under this heading.
    pub const fn new(heading: &'static str, text: String, remedy: &'a str) -> Self {
        Self { heading, text, remedy }
    }
}

impl Answer {
    /// The answer of `run`, of which `conclusions` were drawn.
    pub fn new(run: &Run, conclusions: &Conclusions) -> Self {
        let in_order = |section| -> Vec<Finding> {
            let all = findings(run, conclusions);
            all.filter(|finding| finding.data.section() == section).cloned().collect()
        };
        // The greatest rank first; equal ones stay in order.
        let ranked = |section| {
            let mut all = in_order(section);
            all.sort_by(|a, b| b.rank.total_cmp(&a.rank));
            all
        };
        let stops_scaling = ranked(Section::StopsScaling);
        let mut changes_sides = ranked(Section::ChangesSides);
        changes_sides.retain(|finding| !is_advised(&stops_scaling, finding));
        Self {
            cpu_time: cpu_time(ranked(Section::CpuTime)),
            changes_sides,
            levels: in_order(Section::Levels),
            worth_knowing: ranked(Section::WorthKnowing),
            holds: in_order(Section::Holds),
            figures: [figure_list::lists(run, conclusions), load_figures::lists(run, conclusions)]
                .concat(),
            undecided: Undecided::new(run, conclusions),
            not_measured: NotMeasured::new(run),
            trust: Trust::new(run, conclusions),
            measurement: Measurement::new(run),
            stops_scaling,
        }
    }

    /// The answer in one sentence: the title of a page.
    pub fn headline(&self) -> Sentence {
        let plain = |sentence: &str| Sentence::new([text(sentence)]);
        let first = self.stops_scaling.iter().chain(&self.changes_sides).next();
        match (first.or_else(|| self.levels.first()), self.without_finding()) {
            (Some(finding), _) => finding.sentence.clone(),
            (None, Some(words)) => plain(&format!("{words}.")),
            (None, None) if !self.figures.is_empty() => self.figures_sentence(),
            (None, None) if self.measurement.cells == 0 => plain("Nothing was measured."),
            (None, None) => plain("Nothing was found."),
        }
    }

    /// What verdicts say where nothing stops scaling; `None` where there are none.
    pub fn without_finding(&self) -> Option<&'static str> {
        let Undecided { series, comparisons, total, .. } = self.undecided;
        let open = series + comparisons;
        if !self.undecided.grown.is_empty() {
            Some("Nothing is decided yet that stops scaling")
        } else if total == 0 && self.holds.is_empty() {
            None
        } else if open == 0 {
            Some("Nothing measured here stops scaling")
        } else if open < total {
            Some("Nothing decided here stops scaling")
        } else {
            Some("Nothing is decided yet")
        }
    }

    /// What ends it: what is open, what has no figures, and how far to trust the others.
    pub fn remarks(&self) -> [Remark<'_>; 4] {
        let Self { undecided, not_measured, trust, .. } = self;
        let unavailable = not_measured.unavailable_clauses().join("; ");
        [
            Remark::new("Not decided", undecided.sentence.clone(), &undecided.remedy),
            Remark::new("Unavailable", unavailable, ""),
            Remark::new("Not measured", not_measured.sentence(), ""),
            Remark::new("Trust", trust.sentence(), &trust.remedy),
        ]
    }

    /// The heading of [`Answer::cpu_time`], which may have waits, too.
    pub fn time_title(&self) -> &'static str {
        let has_waits = self.cpu_time.iter().any(|finding| matches!(finding.data, Data::Waits(_)));
        if has_waits { "Where the time goes" } else { "Where the CPU time goes" }
    }

    /// Whether it has figures and no verdict: nothing was measured at more than one point.
    pub fn is_list(&self) -> bool {
        let has_verdicts = !self.stops_scaling.is_empty()
            || !self.changes_sides.is_empty()
            || !self.holds.is_empty()
            || self.undecided.total > 0;
        !self.figures.is_empty() && !has_verdicts
    }

    /// Whether it has only figures that stand next to those of another run in one table; those of loads do not.
    pub fn is_side_by_side(&self) -> bool {
        self.is_list() && self.figures.iter().all(|list| list.sentence.is_none())
    }

    /// The figures that are no series in a sentence: a load, or else how many there are, and how precise they are:
    /// `46 figures of baseline; the widest 95 % CI is ±9.8 % (fork-exec).`
    pub fn figures_sentence(&self) -> Sentence {
        let of_load = match self.figures.as_slice() {
            [only] => only.sentence.clone(),
            _ => None,
        };
        of_load.unwrap_or_else(|| Sentence::new([text(format!("{}.", self.figures_text()))]))
    }

    fn figures_text(&self) -> String {
        let workloads: BTreeSet<&str> =
            self.figures.iter().map(|list| list.workload.as_str()).collect();
        let all = || self.figures.iter().flat_map(FigureList::figures);
        let figures = counted(&count(all().count() as u64), "figures");
        let head = format!("{figures} of {}", list(workloads));
        let width = |figure: &&SingleFigure| figure.half_width().unwrap_or(0.0);
        match all().max_by(|a, b| width(a).total_cmp(&width(b))) {
            Some(widest) if width(&widest) > 0.0 => {
                format!("{head}; the widest 95 % CI is {} ({})", widest.width(), widest.label)
            }
            _ => head,
        }
    }
}

/// The headline tables that verdicts are given of: no control, and none that is shown as averages.
fn tables<'a>(run: &'a Run, conclusions: &'a Conclusions) -> impl Iterator<Item = &'a Table> {
    let tables = conclusions.analysis.tables.iter().filter(|table| table.headline);
    tables.filter(|table| {
        let workload = run.plan.workload(&table.workload);
        !workload.is_some_and(|workload| workload.averages || workload.is_control())
    })
}

/// The findings about headline metrics, or listed with these, about one of [`tables`].
fn findings<'a>(run: &'a Run, conclusions: &'a Conclusions) -> impl Iterator<Item = &'a Finding> {
    let findings = conclusions.findings.iter().filter(|finding| finding.headline);
    findings.filter(move |finding| tables(run, conclusions).any(|table| finding.is_about(table)))
}

/// Whether advice says of all that overtake from where on to use them.
fn is_advised(stops_scaling: &[Finding], finding: &Finding) -> bool {
    let Data::Crossover(all) = &finding.data else { return false };
    let advised = |crossover: &analysis::Crossover| {
        stops_scaling.iter().any(|stopped| {
            let advice = stopped.advice.as_ref();
            stopped.is_of_same_table(finding)
                && stopped.subjects.contains(&crossover.overtaken)
                && advice.is_some_and(|advice| advice.subjects.contains(&crossover.overtakes))
        })
    };
    all.iter().all(|data| matches!(data.crossovers(), [only] if advised(only)))
}

/// Along the axis before contrasts of two subjects. A contrast is left out where the growth of the dearer one is attributed, or
/// it was contrasted before: that would be the same again.
fn cpu_time(all: Vec<Finding>) -> Vec<Finding> {
    let is_along = |finding: &Finding| match &finding.data {
        Data::Attribution(all) => matches!(all[0].between, Between::Points { .. }),
        Data::Waits(_) => true,
        _ => false,
    };
    let is_attributed = |finding: &Finding| match &finding.data {
        Data::Attribution(all) => all[0].difference.is_attributed(),
        _ => false,
    };
    let (mut chosen, contrasts): (Vec<Finding>, Vec<Finding>) = all.into_iter().partition(is_along);
    for contrast in contrasts {
        let repeats = |finding: &Finding| {
            is_attributed(finding)
                && finding.is_of_same_table(&contrast)
                && contrast.subjects.first().is_some_and(|dearer| {
                    let subjects = finding.subjects.iter();
                    subjects
                        .take(if is_along(finding) { usize::MAX } else { 1 })
                        .any(|subject| subject == dearer)
                })
        };
        if !chosen.iter().any(repeats) {
            chosen.push(contrast);
        }
    }
    chosen
}
