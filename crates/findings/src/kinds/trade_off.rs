//! What the second of two rivals costs and saves, where threads share CPUs: at one thread for each and at
//! the most.

use super::prelude::*;
use crate::format::{change, ci, factor, significant};
use analysis::{Estimate, Row, Table};
use model::MetricRole;

/// Two rivals at both ends of the range that they share, the first end at one of the part for each of the
/// whole or more.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TradeOff {
    /// The first common point.
    pub from: u64,
    /// The last common point.
    pub to: u64,
    /// The rate of the second as a multiple of the first's, at `from`.
    pub rate_from: Estimate,
    /// The same at `to`.
    pub rate_to: Estimate,
    /// The CPU time of an operation of the second as a multiple of the first's, at `from` and at `to`.
    pub cpu: Option<(f64, f64)>,
}

impl FindingKind for TradeOff {
    const TAG: Tag = Tag::new("trade-off", Tone::Neutral);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_table = |table| {
            let of_pair = move |(first, second): &(String, String)| {
                let data = Self::new(context, table, (first, second))?;
                Some(Finding::about(table, vec![first.clone(), second.clone()], data))
            };
            context.rivals(table).iter().filter_map(of_pair)
        };
        context.tables().filter(|table| table.headline).flat_map(of_table).collect()
    }

    fn rank(&self) -> f64 {
        stake(self.rate_to.value)
    }

    /// `ticket-block reaches ×1.06 of the rate of ticket at 1 thread per CPU, and ×330 at 8`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let ([first, second], Self { from, to, rate_from, rate_to, .. }) =
            (names.subjects, &all[0])
        else {
            return Sentence::default();
        };
        let [at_start, at_end] = [rate_from, rate_to].map(|rate| factor(rate.value));
        let (from, to, qualifier) = (names.point(*from), names.number(*to), names.qualifier());
        Sentence::new([
            names.label(second),
            text(format!(" reaches {at_start} of the rate of ")),
            names.label(first),
            text(format!("{qualifier} at {from}, and {at_end} at {to}")),
        ])
    }

    /// `95 % CI 0.95–0.99 and 200–900; CPU per acquisition ×1.02 and ÷350`.
    fn detail(&self, names: &Names<'_>) -> String {
        let ends = |rate: Estimate| {
            let [low, high] = rate.ci()?.map(significant);
            Some(ci(&low, &high))
        };
        let rates = ends(self.rate_from).into_iter().chain(ends(self.rate_to));
        let rates = Some(rates.collect::<Vec<_>>().join(" and ")).filter(|text| !text.is_empty());
        let cpu = self.cpu.map(|(from, to)| {
            format!("CPU per {} {} and {}", names.one_counted(), change(from), change(to))
        });
        rates.into_iter().chain(cpu).collect::<Vec<_>>().join(", ")
    }
}

impl TradeOff {
    /// `None` where the two have no two points in common, or there are no multiples.
    pub(super) fn new(
        context: &Context<'_>,
        table: &Table,
        (first, second): (&str, &str),
    ) -> Option<Self> {
        let one_each = table.shares.as_ref()?.one_each(&table.axis_parameter)?;
        let (first, second) = (table.row(first)?, table.row(second)?);
        let both = |point: &&u64| first.at(**point).is_some() && second.at(**point).is_some();
        let common = || table.points[one_each..].iter().filter(both);
        let (from, to) = (*common().next()?, *common().next_back()?);
        if from == to {
            return None;
        }
        let rate = |point| {
            let ratio = second.at(point)?.median.over(first.at(point)?.median);
            ratio.value.is_finite().then_some(ratio)
        };
        let (rate_from, rate_to) = (rate(from)?, rate(to)?);
        let cpu_table = context.sibling(table, MetricRole::Cpu);
        let cpu = |point| {
            let cost = |row: &Row| Some(cpu_table?.row(&row.subject)?.at(point)?.median.value);
            let ratio = cost(second)? / cost(first)?;
            (ratio.is_finite() && ratio > 0.0).then_some(ratio)
        };
        Some(Self { from, to, rate_from, rate_to, cpu: cpu(from).zip(cpu(to)) })
    }
}
