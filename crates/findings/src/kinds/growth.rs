//! How the cost of a series grows along the axis.

use super::prelude::*;
use crate::finding::clusters::{Cluster, clustered};
use crate::finding::verdict::{of_class, of_grown};
use crate::format::{class, clauses, count, divided, exponent_of, factor, interval, significant};
use crate::reasons;
use analysis::{Class, GrowthReason, Remedy};

pub use analysis::Growth;

impl FindingKind for Growth {
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

    fn section(&self) -> Section {
        of_grown(of_class(self.class).1, self.factor.value)
    }

    fn rank(&self) -> f64 {
        self.factor.value.max(1.0)
    }

    fn joins(&self, second: &Self) -> bool {
        let is_open = self.class == Class::Undecided;
        (shared_class(self.class), self.to) == (shared_class(second.class), second.to)
            && (!is_open || self.reason == second.reason)
            && self.section() == second.section()
    }

    /// `poll and ppoll are linear: ×366 to ×369 from 10 to 10,000 watched descriptors; 1.04 to 1.05 ms per call at 10,000`,
    /// `mio is flat between 0.89 and 1.03 µs`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let (class_of_all, to) = (common_class(all), all[0].to);
        let be = names.verb("is", "are");
        let from = all.iter().map(|growth| growth.from);
        match class_of_all {
            Class::Constant => {
                let levels = names.levels_within(from.min().unwrap_or(to), to);
                names.claim(format!(" {be} {} {levels}", class(Class::Constant)))
            }
            Class::Undecided => {
                let range = names.range(from, to);
                let because = because(&all[0]).unwrap_or_default();
                let factors: Vec<f64> = all.iter().filter_map(known_factor).collect();
                let factors = if factors.is_empty() {
                    String::new()
                } else {
                    format!(": {}", Range::new(factors.into_iter()).format(factor))
                };
                names.claim(format!(" {be} undecided{factors} {range}{because}"))
            }
            _ => {
                let factors: Vec<f64> = all.iter().map(|growth| growth.factor.value).collect();
                clustered(&factors, to, names, factor, |cluster| growth_text(all, cluster, names))
            }
        }
    }

    /// `×375 (95 % CI 360–391), exponent 1.00 without the constant part (95 % CI 0.99–1.01)`.
    fn detail(&self, names: &Names<'_>) -> String {
        let Some(figure) = known_factor(self).map(factor) else { return String::new() };
        let figure = match self.class {
            // The sentence has levels only.
            Class::Constant => format!("{figure}{}", interval(self.factor, significant)),
            _ => names.with_ci(&figure, self.factor, significant),
        };
        let exponent = exponent_of(self).filter(|_| self.class != Class::Constant);
        let because = because(self).filter(|_| self.class == Class::Grows);
        let open = because.map(|because| format!("order open{because}"));
        clauses([Some(figure), exponent, lowest(self), open])
    }

    fn tag(all: &[Self]) -> Tag {
        Tag { word: class(common_class(all)), ..of_class(all[0].class).0 }
    }

    fn advised_at(&self) -> Option<u64> {
        matches!(self.section(), Section::StopsScaling | Section::WorthKnowing).then_some(self.to)
    }

    fn remedy(&self) -> Option<Remedy> {
        self.reason.as_ref().filter(|_| self.class == Class::Undecided)?.remedy()
    }
}

/// The factor, where the figures have one.
fn known_factor(growth: &Growth) -> Option<f64> {
    Some(growth.factor.value).filter(|factor| factor.is_finite())
}

/// The class that one can share with others: linear and n log n both are at least linear.
fn shared_class(class: Class) -> Class {
    match class {
        Class::Linear | Class::Linearithmic => Class::AtLeastLinear,
        class => class,
    }
}

fn common_class(all: &[Growth]) -> Class {
    let first = all[0].class;
    if all.iter().all(|growth| growth.class == first) { first } else { shared_class(first) }
}

/// ` are linear: ×870 to ×1,003 from 10 to 10,000 watched descriptors; 3.4 to 4.1 ms per wait at 10,000`.
fn growth_text(all: &[Growth], cluster: &Cluster, names: &Names<'_>) -> String {
    let Cluster { members, factors, level } = cluster;
    let word = class(common_class(all));
    let is_single = members.len() == 1;
    let verb = match common_class(all) {
        Class::Grows | Class::Falls if is_single => word.to_owned(),
        Class::Grows | Class::Falls => word.trim_end_matches('s').to_owned(),
        _ => format!("{} {word}", if is_single { "is" } else { "are" }),
    };
    let to = all[0].to;
    let range = names.range(members.iter().map(|&member| all[member].from), to);
    let per = names.operation().map(|operation| format!(" per {operation}")).unwrap_or_default();
    let (qualifier, at) = (names.qualifier(), names.number(to));
    format!("{qualifier} {verb}: {factors} {range}; {level}{per} at {at}")
}

fn because(growth: &Growth) -> Option<String> {
    let reason = growth.reason.as_ref()?;
    Some(reasons::because(&reasons::growth(reason), GrowthReason::remedy(reason)))
}

/// `before, it falls ÷1.60 from 10`, or where the verdict is that between the ends, `the lowest is at 300: ÷1.60 of that at 10`.
fn lowest(growth: &Growth) -> Option<String> {
    let best = growth.best?;
    let (fall, from) = (divided(best.factor.value), count(best.over));
    if growth.from == best.at {
        return Some(format!("before, it falls {fall} from {from}"));
    }
    best.stands_out()
        .then(|| format!("the lowest is at {}: {fall} of that at {from}", count(best.at)))
}
