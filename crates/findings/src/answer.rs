//! The answer of a run on one screen: findings that say the same of several subjects in one statement, the
//! most consequential first.
//!
//! An [`Answer`] is data with its sentences; terminal, page and JSON lay it out. Its sections stand in the
//! order in which a reader asks: what stops scaling (and what to use instead), where the CPU
//! time goes that grows, what changes sides, what is
//! worth knowing, what holds, what is not decided, how far to trust it, and where it was measured.

mod advice;
mod changes_sides;
mod consequence;
mod cpu_time;
mod figure_list;
mod holds;
mod load_figures;
mod material;
mod measurement;
mod not_measured;
mod range;
mod series;
mod spread;
mod statement;
mod stops_scaling;
mod thresholds;
mod trust;
mod undecided;
mod verdict_group;
mod worth_knowing;

pub use advice::Advice;
pub use consequence::Consequence;
pub use figure_list::{FigureGroup, FigureList, SingleFigure, is_in_answer, is_single};
pub use holds::Holding;
pub use measurement::{Measurement, machine};
pub use not_measured::{NotMeasured, UnavailableSubjects};
pub use range::Range;
pub use statement::{Evidence, Statement, Topic};
pub use trust::{Trust, TrustLevel, TrustReason};
pub use undecided::Undecided;
pub use verdict_group::VerdictGroup;

use crate::conclusions::Conclusions;
use crate::finding::sentence::{Sentence, text};
use crate::format::{count, counted, list};
use material::Material;
use model::Run;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// What a run says, ranked and grouped.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Costs that grow and rates that fall, the largest factor first.
    pub stops_scaling: Vec<Statement>,
    /// Where the CPU time goes that grows, of a profiled run.
    pub cpu_time: Vec<Statement>,
    /// Where one subject overtakes another.
    pub changes_sides: Vec<Statement>,
    /// Modes, steps, drift, unequal shares and large ratios.
    pub worth_knowing: Vec<Statement>,
    /// Series that do not grow or that hold, one entry a table.
    pub holds: Vec<Holding>,
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

impl Answer {
    /// The answer of `run`, of which `conclusions` were drawn.
    pub fn new(run: &Run, conclusions: &Conclusions) -> Self {
        let material = Material { run, conclusions };
        let stops_scaling = stops_scaling::statements(&material);
        let changes_sides = changes_sides::statements(&material, &stops_scaling);
        Self {
            cpu_time: cpu_time::statements(&material),
            changes_sides,
            worth_knowing: worth_knowing::statements(&material),
            holds: holds::holdings(&material),
            figures: [figure_list::lists(&material), load_figures::lists(&material)].concat(),
            undecided: Undecided::new(&material),
            not_measured: NotMeasured::new(run),
            trust: Trust::new(&material),
            measurement: Measurement::new(run),
            stops_scaling,
        }
    }

    /// The answer in one sentence: the title of a page.
    pub fn headline(&self) -> Sentence {
        let plain = |sentence: &str| Sentence::new([text(sentence)]);
        let statements = [&self.stops_scaling, &self.changes_sides];
        let first = statements.into_iter().find_map(|statements| statements.first());
        match first.or_else(|| self.levels().next()) {
            Some(statement) => statement.sentence.clone(),
            None if !self.undecided.grown.is_empty() => {
                plain("Nothing is decided yet that stops scaling.")
            }
            None if !self.holds.is_empty() => plain("Nothing measured here stops scaling."),
            None if self.undecided.total > 0 => plain("Nothing is decided yet."),
            None if !self.figures.is_empty() => self.figures_sentence(),
            None => plain("Nothing was found."),
        }
    }

    /// Those of the statements worth knowing that are about levels of memory.
    pub fn levels(&self) -> impl Iterator<Item = &Statement> {
        let topic = Topic::Finding(crate::Kind::MemoryLevels);
        self.worth_knowing.iter().filter(move |statement| statement.topic == topic)
    }

    /// Whether it has figures and no verdict: nothing was measured at more than one point.
    pub fn is_list(&self) -> bool {
        let statements = [&self.stops_scaling, &self.changes_sides];
        let has_verdicts = statements.iter().any(|statements| !statements.is_empty())
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
        let workloads: Vec<String> = workloads.into_iter().map(str::to_owned).collect();
        let all = || self.figures.iter().flat_map(FigureList::figures);
        let figures = counted(&count(all().count() as u64), "figures");
        let head = format!("{figures} of {}", list(&workloads));
        let width = |figure: &&SingleFigure| figure.half_width().unwrap_or(0.0);
        match all().max_by(|a, b| width(a).total_cmp(&width(b))) {
            Some(widest) if width(&widest) > 0.0 => {
                format!("{head}; the widest 95 % CI is {} ({})", widest.width(), widest.label)
            }
            _ => head,
        }
    }
}
