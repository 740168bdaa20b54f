//! What the second of two rivals costs and saves, where threads share CPUs: at one thread for each and at
//! the most.

use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::{ci, divided, factor, multiple, significant};
use analysis::{Estimate, Row, Table};
use model::MetricRole;
use schemars::JsonSchema;
use serde::Serialize;

/// Less than this share is written as what it is divided by.
const SHARE_MIN: f64 = 0.5;

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
    const NAME: &'static str = "trade-off";

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

    /// `ticket-block against ticket: ×0.97 at 1 thread per CPU (95 % CI 0.95–0.99), ×480 at 16 (95 % 200 to
    /// 900); CPU per acquisition ×1.02 and ÷350.`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let [first, second] = names.subjects() else { return Sentence::default() };
        let to = names.multiple_at(self.to).map_or_else(|| names.point(self.to), multiple);
        let cpu = self.cpu.map(|(from, to)| {
            format!("; CPU per {} {} and {}", names.one_counted(), change(from), change(to))
        });
        let rest = format!(
            "{}: {} at {}{}, {} at {to}{}{}.",
            names.qualifier(),
            change(self.rate_from.value),
            names.point(self.from),
            change_ci(self.rate_from),
            change(self.rate_to.value),
            change_ci(self.rate_to),
            cpu.unwrap_or_default()
        );
        Sentence::new([names.label(second), text(" against "), names.label(first), text(rest)])
    }

    fn tag(&self) -> Tag {
        Tag { word: "trade-off", tone: Tone::Neutral }
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

/// `×1.02`, or below half as what it is divided by: `÷350`.
fn change(ratio: f64) -> String {
    if ratio < SHARE_MIN { divided(ratio) } else { factor(ratio) }
}

fn change_ci(estimate: Estimate) -> String {
    if estimate.low.is_nan() || estimate.low >= estimate.high || !estimate.high.is_finite() {
        return String::new();
    }
    let (low, high) = if estimate.value < SHARE_MIN {
        (1.0 / estimate.high, 1.0 / estimate.low)
    } else {
        (estimate.low, estimate.high)
    };
    format!(" ({})", ci(&significant(low), &significant(high)))
}
