//! How the cost of a series grows along the axis.

use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Verdict};
use crate::format::{class, count, divided, exponent_of, factor_with_interval};
use crate::reasons;
use analysis::Class;

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
        stake(self.factor.value)
    }

    /// `poll is linear: ×391 (95 % CI 380–402) from 100 to 9,000 watched descriptors (exponent 1.31, 95 % CI 1.24–1.39).`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let is = if matches!(self.class, Class::Grows | Class::Falls) { "" } else { " is" };
        let verdict = format!("{is} {}: {}", class(self.class), factor_with_interval(self));
        let exponent = exponent_of(self).map(|exponent| format!(" ({exponent})"));
        let (from, to, axis) = (count(self.from), count(self.to), names.axis());
        let range = match self.class {
            Class::Constant => String::new(),
            _ => format!(" from {from} to {to} {axis}{}", exponent.unwrap_or_default()),
        };
        let open = if self.class == Class::Grows { ", order open" } else { "" };
        let because = self.reason.as_ref().map(|reason| {
            let remedy =
                reason.remedy().map(|remedy| format!(" It takes {}.", reasons::remedy(remedy)));
            format!("{open}, because {}.{}", reasons::growth(reason), remedy.unwrap_or_default())
        });
        let because = because.unwrap_or_else(|| ".".to_owned());
        let verdict = format!("{verdict}{range}{because}{}", lowest(self));
        Sentence::new(names.head().into_iter().chain([text(verdict)]))
    }

    fn tag(&self) -> Tag {
        Verdict::from(self).tag()
    }
}

/// ` Before, it falls ÷1.60 from 10.`, or where the verdict is that between the ends, ` The lowest is at 300: ÷1.60 of that at 10.`
fn lowest(growth: &Growth) -> String {
    let Some(best) = growth.best else { return String::new() };
    let (fall, from) = (divided(best.factor.value), count(best.over));
    if growth.from == best.at {
        format!(" Before, it falls {fall} from {from}.")
    } else if best.stands_out() {
        format!(" The lowest is at {}: {fall} of that at {from}.", count(best.at))
    } else {
        String::new()
    }
}
