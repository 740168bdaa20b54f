//! All that is concluded from one run.

pub(crate) mod context;

use crate::caveats::{self, Caveat};
use crate::conclusions::context::{Context, Reader};
use crate::finding::Finding;
use crate::kinds;
use analysis::Analysis;
use model::Run;

/// The figures of a run, what they show, and how far to trust them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusions {
    /// The figures.
    pub analysis: Analysis,
    /// What they show: table by table, the headline metrics first.
    pub findings: Vec<Finding>,
    /// What a reader has to know before believing it.
    pub caveats: Vec<Caveat>,
}

impl Conclusions {
    /// What `analysis`, the figures of `run`, shows.
    pub fn new(run: &Run, analysis: Analysis) -> Self {
        Self::of_reader(run, analysis, &Reader::default(), None)
    }

    /// The same with those findings that are about none but `subjects` of `run`.
    #[must_use]
    pub fn of_subjects(self, run: &Run, subjects: &[String]) -> Self {
        let reader = Reader::default();
        let context =
            Context { run, analysis: &self.analysis, reader: &reader, named_points: None };
        let is_about =
            |finding: &Finding| finding.subjects.iter().all(|subject| subjects.contains(subject));
        Self { findings: kinds::find(&context, is_about), ..self }
    }

    fn of_reader(
        run: &Run,
        analysis: Analysis,
        reader: &Reader,
        named_points: Option<&[String]>,
    ) -> Self {
        let context = Context { run, analysis: &analysis, reader, named_points };
        let (findings, caveats) = (kinds::find(&context, |_| true), caveats::find(&context));
        Self { analysis, findings, caveats }
    }
}

/// Everything that can be concluded from `run`.
pub fn conclude(run: &Run) -> Conclusions {
    Conclusions::new(run, analysis::analyse(run))
}

/// The same for `reader`, whose commands name what they have to.
pub fn conclude_for(run: &Run, reader: &Reader) -> Conclusions {
    Conclusions::of_reader(run, analysis::analyse(run), reader, None)
}

/// The same of a run whose points are the positions of words (`half`, `optimal`), counted from 1: nothing grows along them.
pub fn conclude_named(run: &Run, points: &[String]) -> Conclusions {
    let mut analysis = analysis::analyse(run);
    analysis.maps.clear();
    for table in &mut analysis.tables {
        table.comparisons.clear();
        for row in &mut table.rows {
            (row.growth, row.rate, row.modes, row.drift) = (None, None, None, None);
            row.steps.clear();
        }
    }
    Conclusions::of_reader(run, analysis, &Reader::default(), Some(points))
}
