//! How the cost of a series grows along the axis.

use super::{FindingKind, stake};
use crate::context::Context;
use crate::finding::Finding;
use crate::format::{class, count, exponent_of, factor};
use crate::names::Names;
use crate::reasons;
use crate::sentence::{Sentence, text};
use crate::verdict::{Tag, Verdict};
use analysis::{Basis, Class, GrowthReason};

pub use analysis::Growth;

impl FindingKind for Growth {
    const NAME: &'static str = "growth";
    const IS_WORTH_KNOWING: bool = false;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let finding = |(table, row): (&analysis::Table, &analysis::Row)| {
            let growth = row.growth.clone()?;
            // An undecided cost adds nothing to a rate.
            let companion = growth.class != Class::Undecided
                && context
                    .workload(table)
                    .is_some_and(|workload| workload.also_growth.contains(&table.metric.name));
            Some(Finding::about_row(table, row, growth).with_headline(table.headline || companion))
        };
        context.rows().filter_map(finding).collect()
    }

    fn rank(&self) -> f64 {
        stake(self.factor)
    }

    /// `poll is linear: ×391 from 100 to 9,000 watched descriptors (exponent 1.31, 95 % 1.24 to 1.39).`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let class = class(self.class);
        let factor = factor(self.factor);
        let exponent = exponent_of(self).map(|exponent| format!(" ({exponent})"));
        let exponent = exponent.unwrap_or_default();
        let range = format!("from {} to {} {}", count(self.from), count(self.to), names.axis());
        let because = self.reason.as_ref().map(reasons::growth).unwrap_or_default();
        let basis = match self.basis {
            Basis::Medians => "",
            Basis::FastestTenth => " by the fastest tenth of its samples",
        };
        let doubt = if because.is_empty() {
            String::new()
        } else {
            format!(" Its medians leave it undecided: {because}.")
        };
        let verdict = match self.class {
            Class::Constant => format!(" is {class}{basis}: {factor}{exponent}.{doubt}"),
            Class::DoesNotGrow | Class::Falls => {
                format!(" {class}{basis}: {factor} {range}{exponent}.{doubt}")
            }
            Class::Undecided => {
                let remedy = self.reason.as_ref().and_then(GrowthReason::remedy);
                let remedy = remedy.map(|remedy| format!(" It takes {}.", reasons::remedy(remedy)));
                let remedy = remedy.unwrap_or_default();
                format!(" is {class}: {factor} {range}{exponent}, because {because}.{remedy}")
            }
            _ => format!(" is {class}{basis}: {factor} {range}{exponent}.{doubt}"),
        };
        Sentence::new(names.head().into_iter().chain([text(verdict)]))
    }

    fn tag(&self) -> Tag {
        Verdict::from(self).tag()
    }
}
