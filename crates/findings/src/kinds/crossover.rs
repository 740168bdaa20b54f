//! Where one series overtakes another, or that none does.

use super::trade_off::TradeOff;
use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Part, Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::{
    at_most, ci, count, factor, number_word, position, ratio_with_interval, share,
};
use crate::reasons;
use analysis::pairs::notable::{common_points, notable};
use analysis::{ComparisonOutcome, Estimate, SubjectComparison, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// How two series compare along the axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Crossover {
    /// The pair, and how the comparison ends.
    pub comparison: SubjectComparison,
    /// The first and the last point that both have a figure at.
    pub range: Option<(u64, u64)>,
    /// How many times better the better one is at the last of these.
    pub lead_to: Option<f64>,
    /// Whether the figures are single ones, so that nothing is known of chance.
    pub single_figures: bool,
}

impl FindingKind for Crossover {
    const NAME: &'static str = "crossover";
    const IS_WORTH_KNOWING: bool = false;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_table = |table| {
            let finding = move |comparison: &SubjectComparison| {
                let subjects = vec![comparison.first.clone(), comparison.second.clone()];
                Finding::about(table, subjects, Self::new(table, comparison))
            };
            selected(context, table).into_iter().map(finding)
        };
        context.tables().flat_map(of_table).collect()
    }

    fn rank(&self) -> f64 {
        self.lead_to.map_or(1.0, stake)
    }

    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let (first, second) =
            (names.label(&self.comparison.first), names.label(&self.comparison.second));
        let pair = [first, text(" and "), second, text(names.qualifier())];
        let range = self.range_text(names);
        match &self.comparison.outcome {
            ComparisonOutcome::Unknown { reason } => {
                let because = reasons::comparison(reason);
                Sentence::new(pair.into_iter().chain([text(format!(" are undecided: {because}."))]))
            }
            ComparisonOutcome::TooClose { max_lead, ratio } => {
                let rest = format!(" are {}.", alike(&range, *max_lead, *ratio));
                Sentence::new(pair.into_iter().chain([text(rest)]))
            }
            ComparisonOutcome::Throughout {
                better,
                min_lead,
                max_lead,
                from,
                to,
                clear,
                points,
            } => {
                let (low, high) = (factor(*min_lead), factor(*max_lead));
                let by = if low == high { low } else { format!("{low} to {high}") };
                let lead = match self.part(*from, *to, names) {
                    Some((part, rest)) => {
                        format!("better {part}, {by}, and too close to call {rest}")
                    }
                    None if clear == points => format!("better throughout, {by},{range}"),
                    None => format!("better, {by},{range}"),
                };
                let rest = [
                    text(": no crossover in range; "),
                    names.label(better),
                    text(format!(" is {lead}.")),
                ];
                Sentence::new(pair.into_iter().chain(rest))
            }
            ComparisonOutcome::Crosses { crossovers } => self.overtakings(crossovers, names),
            ComparisonOutcome::Unsettled { changes, max_lead } => {
                let (times, max_lead) = (number_word(*changes), factor(*max_lead));
                let rest = format!(
                    " alternate {times} times{range}, by up to {max_lead}: no crossover can be named."
                );
                Sentence::new(pair.into_iter().chain([text(rest)]))
            }
        }
    }

    fn tag(&self) -> Tag {
        let (word, tone) = match &self.comparison.outcome {
            ComparisonOutcome::Crosses { .. } => ("overtakes", Tone::Neutral),
            outcome if outcome.is_same() => ("the same", Tone::Low),
            ComparisonOutcome::TooClose { .. } => ("too close", Tone::Open),
            ComparisonOutcome::Throughout { .. } => ("none in range", Tone::Open),
            ComparisonOutcome::Unsettled { .. } => ("unsettled", Tone::Open),
            ComparisonOutcome::Unknown { .. } => ("undecided", Tone::Open),
        };
        Tag { word, tone }
    }
}

impl Crossover {
    /// The comparison `comparison` of `table`.
    pub fn new(table: &Table, comparison: &SubjectComparison) -> Self {
        let common = common_points(table, comparison);
        let rows = || {
            [&comparison.first, &comparison.second]
                .into_iter()
                .filter_map(|subject| table.row(subject))
        };
        let lead_to = common.last().and_then(|&point| {
            let levels: Vec<f64> =
                rows().filter_map(|row| Some(row.at(point)?.median.value)).collect();
            let [first, second] = levels.as_slice() else { return None };
            (*first > 0.0 && *second > 0.0).then(|| stake(first / second))
        });
        let mut figures = rows().flat_map(|row| row.cells.iter().flatten());
        Self {
            comparison: comparison.clone(),
            range: common.first().copied().zip(common.last().copied()),
            lead_to,
            single_figures: figures.all(|figure| figure.samples < 2),
        }
    }

    /// The crossovers of the pair; empty where there are none.
    pub fn crossovers(&self) -> &[analysis::Crossover] {
        match &self.comparison.outcome {
            ComparisonOutcome::Crosses { crossovers } => crossovers,
            _ => &[],
        }
    }

    /// `poll overtakes epoll-level at 826 tokens (83 % active; 95 % CI 790–868).`
    fn overtakings(&self, crossovers: &[analysis::Crossover], names: &Names<'_>) -> Sentence {
        let mut parts: Vec<Part> = Vec::new();
        for (index, crossover) in crossovers.iter().enumerate() {
            let qualifier = if index == 0 { names.qualifier() } else { "" };
            if index > 0 {
                parts.push(text("; "));
            }
            parts.extend([
                names.label(&crossover.overtakes),
                text(" overtakes "),
                names.label(&crossover.overtaken),
                text(format!("{qualifier} {}", crossover_position(crossover, names))),
            ]);
        }
        if !crossovers.iter().all(|crossover| has_interval(crossover.at)) {
            parts.push(text(if self.single_figures {
                "; single figures, no CI"
            } else {
                "; too few samples for a CI"
            }));
        }
        parts.push(text("."));
        Sentence::new(parts)
    }

    /// ` from 1 to 1,000 tokens`: the first and the last point that both have.
    fn range_text(&self, names: &Names<'_>) -> String {
        let Some((from, to)) = self.range else { return String::new() };
        format!(" from {} to {} {}", count(from), count(to), names.axis())
    }

    /// Where one leads, if not over the whole range, and where that is too close to call: `up to 100
    /// tokens` and `beyond`.
    fn part(&self, from: u64, to: u64, names: &Names<'_>) -> Option<(String, &'static str)> {
        let at_start = self.range.is_some_and(|range| range.0 == from);
        let at_end = self.range.is_some_and(|range| range.1 == to);
        let (first, last, axis) = (count(from), count(to), names.axis());
        let rest = match (at_start, at_end) {
            (true, true) => return None,
            (true, false) => "beyond",
            (false, true) => "below",
            (false, false) => "elsewhere",
        };
        let part = match (at_start, at_end) {
            _ if from == to => format!("at {first} {axis}"),
            (true, _) => format!("up to {last} {axis}"),
            (_, true) => format!("from {first} {axis} on"),
            _ => format!("from {first} to {last} {axis}"),
        };
        Some((part, rest))
    }
}

/// The comparisons of `table` that are findings: the notable ones, but a pair that is always compared is left
/// to its trade-off where that says more.
fn selected<'a>(context: &Context<'_>, table: &'a Table) -> Vec<&'a SubjectComparison> {
    let pairs = context.rivals(table);
    let is_traded = |comparison: &SubjectComparison| {
        let (first, second) = (comparison.first.as_str(), comparison.second.as_str());
        let is_pair =
            |(a, b): &&(String, String)| (a == first && b == second) || (a == second && b == first);
        let pair = pairs.iter().find(is_pair);
        let says_little = matches!(
            comparison.outcome,
            ComparisonOutcome::Throughout { .. }
                | ComparisonOutcome::Unknown { .. }
                | ComparisonOutcome::Unsettled { .. }
        );
        table.headline
            && says_little
            && pair.is_some_and(|(a, b)| TradeOff::new(context, table, (a, b)).is_some())
    };
    notable(table, pairs).into_iter().filter(|comparison| !is_traded(comparison)).collect()
}

/// How alike two are of which neither leads: within the bound that all points together give, where there is
/// one.
fn alike(range: &str, max_lead: f64, ratio: Option<Estimate>) -> String {
    let max_lead = at_most(max_lead);
    match ratio.and_then(|ratio| Some((ratio, ratio.close_within()?))) {
        Some((ratio, bound)) => format!(
            "the same within {}:{range} neither leads ({}; at no point by more than {max_lead})",
            at_most(bound),
            ratio_with_interval(ratio)
        ),
        None => format!("too close to call{range}: neither leads by more than {max_lead}"),
    }
}

/// `at 826 tokens (83 % active; 95 % CI 790–868)`.
fn crossover_position(crossover: &analysis::Crossover, names: &Names<'_>) -> String {
    let Estimate { value, low, high } = crossover.at;
    let mut details = Vec::new();
    if let (Some(at), Some(shares)) = (crossover.share, names.shares()) {
        details.push(share(shares, at.value));
    }
    let between = if has_interval(crossover.at) {
        details.push(ci(&position(low), &position(high)));
        String::new()
    } else {
        format!(", between {} and {}", count(crossover.after), count(crossover.before))
    };
    let details =
        if details.is_empty() { String::new() } else { format!(" ({})", details.join("; ")) };
    format!("at {} {}{details}{between}", position(value), names.axis())
}

fn has_interval(at: Estimate) -> bool {
    at.low < at.high
}
