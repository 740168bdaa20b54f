//! Where one series overtakes another, or that none does.

use super::prelude::*;
use super::trade_off::TradeOff;
use crate::format::{
    at_most, ci, clauses, count, counted, factor, number_word, points, position,
    ratio_with_interval, share as share_text,
};
use crate::reasons;
use analysis::pairs::notable::{common_points, notable};
use analysis::thresholds::FLAT_FACTOR_MAX;
use analysis::{ComparisonOutcome, Estimate, Remedy, SubjectComparison, Table};

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
    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_table = |table| {
            let finding = move |comparison: &SubjectComparison| {
                let data = Self::new(table, comparison);
                let (first, second) = match data.crossovers() {
                    [only] => (&only.overtakes, &only.overtaken),
                    _ => (&comparison.first, &comparison.second),
                };
                let subjects = vec![first.clone(), second.clone()];
                Finding::about(table, subjects, data)
            };
            selected(context, table).into_iter().map(finding)
        };
        context.tables().flat_map(of_table).collect()
    }

    fn section(&self) -> Section {
        match &self.comparison.outcome {
            ComparisonOutcome::Crosses { crossovers } if !crossovers.is_empty() => {
                Section::ChangesSides
            }
            ComparisonOutcome::Unsettled { .. }
            | ComparisonOutcome::Unknown { .. }
            | ComparisonOutcome::TooClose { ratio: None, .. } => Section::Open,
            _ => Section::ListOnly,
        }
    }

    fn rank(&self) -> f64 {
        self.lead_to.map_or(1.0, stake)
    }

    /// Several may overtake one.
    fn joins(&self, second: &Self) -> bool {
        matches!(
            (self.crossovers(), second.crossovers()),
            ([own], [next]) if own.overtaken == next.overtaken
        )
    }

    /// `select and poll overtake epoll-level at 560 to 650 tokens`, `poll overtakes epoll-level at 826 tokens (83 % active)`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Self { comparison, .. } = &all[0];
        let (first, second) = (names.label(&comparison.first), names.label(&comparison.second));
        let pair = [first, text(" and "), second, text(names.qualifier())];
        let range = all[0].range_text(names);
        let rest = match &comparison.outcome {
            ComparisonOutcome::Crosses { .. } => return overtakings(all, names),
            ComparisonOutcome::Unknown { reason } => {
                vec![text(format!(" are undecided: {}", reasons::comparison(reason)))]
            }
            ComparisonOutcome::TooClose { max_lead, ratio } => {
                vec![text(format!(" are {}", alike(&range, *max_lead, *ratio)))]
            }
            ComparisonOutcome::Throughout { better, min_lead, max_lead, clear, open } => {
                let by = Range(*min_lead, *max_lead).format(factor);
                let lead = match part(clear, open, names) {
                    Some((part, rest)) => {
                        format!("better {part}, {by}, and too close to call {rest}")
                    }
                    None => format!("better throughout, {by}{range}"),
                };
                let better = names.label(better);
                vec![text(": no crossover in range; "), better, text(format!(" is {lead}"))]
            }
            ComparisonOutcome::Unsettled { changes, max_lead } => {
                let (times, max_lead) = (number_word(*changes), factor(*max_lead));
                vec![text(format!(
                    " alternate {times} times{range}, by up to {max_lead}: no crossover can be named"
                ))]
            }
        };
        Sentence::new(pair.into_iter().chain(rest))
    }

    fn subject(&self) -> Option<&str> {
        self.crossovers().first().map(|first| first.overtakes.as_str())
    }

    /// `83 % active, 95 % CI 790–868`; of several that overtake one, behind where each does.
    fn detail(&self, names: &Names<'_>) -> String {
        let crossovers = self.crossovers();
        let is_several = crossovers.len() > 1 || names.subjects.len() > 2;
        let detail = |crossover: &analysis::Crossover| {
            let at = is_several.then(|| position_text(crossover, names));
            let share = crossover.share.zip(names.shares());
            let share = share.filter(|(_, shares)| is_several || shares.multiple);
            let share = share.map(|(at, shares)| share_text(shares, at.value));
            let Estimate { low, high, .. } = crossover.at;
            let ci = if low < high {
                ci(&position(low), &position(high))
            } else {
                let why = if self.single_figures { "single figures" } else { "too few samples" };
                let (after, before) = (count(crossover.after), count(crossover.before));
                format!("between {after} and {before} ({why}, no CI)")
            };
            clauses([at, share, Some(ci)])
        };
        crossovers.iter().map(detail).collect::<Vec<_>>().join("; ")
    }

    fn remedy(&self) -> Option<Remedy> {
        self.comparison.outcome.remedy()
    }

    fn tag(all: &[Self]) -> Tag {
        let (word, tone) = match &all[0].comparison.outcome {
            ComparisonOutcome::Crosses { .. } => ("overtakes", Tone::Neutral),
            outcome if outcome.is_same() => ("the same", Tone::Low),
            ComparisonOutcome::TooClose { .. } => ("too close", Tone::Low),
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

    /// ` from 1 to 1,000 tokens`: the first and the last point that both have.
    fn range_text(&self, names: &Names<'_>) -> String {
        let Some((from, to)) = self.range else { return String::new() };
        format!(" from {} to {} {}", count(from), count(to), names.axis())
    }
}

/// Where one leads, if not at every point, and where that is too close to call: `up to 100 tokens` and `beyond`.
fn part(clear: &[u64], open: &[u64], names: &Names<'_>) -> Option<(String, String)> {
    let (first, last) = (clear.first()?, clear.last()?);
    let (at_start, at_end) = (first < open.first()?, last > open.last()?);
    let has_gaps = open.iter().any(|point| (first..last).contains(&point));
    let is_scattered = first == last || (has_gaps && open.len() > clear.len());
    let (from, to, axis) = (count(*first), count(*last), names.axis());
    let part = match (at_start, at_end) {
        _ if is_scattered => format!("at {}", counted(&points(clear), axis)),
        (true, false) => format!("up to {to} {axis}"),
        (false, true) => format!("from {from} {axis} on"),
        _ => format!("from {from} to {to} {axis}"),
    };
    let rest = match (at_start, at_end) {
        _ if has_gaps && !is_scattered => format!("at {}", points(open)),
        (true, false) if !has_gaps => "beyond".to_owned(),
        (false, true) if !has_gaps => "below".to_owned(),
        _ => "elsewhere".to_owned(),
    };
    Some((part, rest))
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
    let Some(ratio) = ratio else {
        return format!("too close to call{range}: neither leads by more than {max_lead}");
    };
    let Some(bound) = ratio.close_within() else {
        let bound = factor(FLAT_FACTOR_MAX);
        return format!(
            "too close to call{range}: neither leads by more than {bound} (95 %); their figures differ by {max_lead} \
             at most"
        );
    };
    format!(
        "the same within {}:{range} neither leads ({}; at no point by more than {max_lead})",
        at_most(bound),
        ratio_with_interval(ratio)
    )
}

/// Where one overtakes: `at 826 tokens`, `at 1.04 tokens`; `between 1 and 2 tokens` where that is too close to a point to be
/// distinguished from it.
fn position_text(crossover: &analysis::Crossover, names: &Names<'_>) -> String {
    let ends = [crossover.after, crossover.before];
    match names.position_between(crossover.at.value, ends) {
        Some(at) => format!("at {at}"),
        None => format!("between {} and {}", names.number(ends[0]), names.point(ends[1])),
    }
}

/// Each crossover behind the one before, those of several that overtake one as one.
fn overtakings(all: &[Crossover], names: &Names<'_>) -> Sentence {
    if let [_, _, ..] = all {
        let crossovers = || all.iter().flat_map(Crossover::crossovers);
        let at = Range::new(crossovers().map(|crossover| crossover.at.value));
        let mut parts =
            names.label_list(crossovers().map(|crossover| crossover.overtakes.as_str()));
        let overtaken = crossovers().next().map(|crossover| names.label(&crossover.overtaken));
        parts.push(text(format!("{} overtake ", names.qualifier())));
        parts.extend(overtaken);
        parts.push(text(format!(" at {}", names.positions(at))));
        return Sentence::new(parts);
    }
    let mut parts: Vec<Part> = Vec::new();
    for (index, crossover) in all[0].crossovers().iter().enumerate() {
        let (separator, qualifier) = if index == 0 { ("", names.qualifier()) } else { ("; ", "") };
        let share = crossover.share.zip(names.shares()).filter(|(_, shares)| !shares.multiple);
        let share = share.map(|(at, shares)| format!(" ({})", share_text(shares, at.value)));
        let at = position_text(crossover, names);
        parts.extend([
            text(separator),
            names.label(&crossover.overtakes),
            text(format!("{qualifier} overtakes ")),
            names.label(&crossover.overtaken),
            text(format!(" {at}{}", share.unwrap_or_default())),
        ]);
    }
    Sentence::new(parts)
}
