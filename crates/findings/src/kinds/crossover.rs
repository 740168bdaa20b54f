//! Where one series overtakes another, or that none does.

use super::trade_off::TradeOff;
use super::{FindingKind, stake};
use crate::context::Context;
use crate::finding::Finding;
use crate::format::{at_most, count, factor, number_word, place, ratio_with_interval, share};
use crate::names::Names;
use crate::reasons;
use crate::sentence::{Part, Sentence, text};
use crate::verdict::{Tag, Tone};
use analysis::pairs::notable::{common_points, notable};
use analysis::{Contest, Estimate, Standing, Table};
use serde::Serialize;

/// How two series compare along the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossover {
    /// The pair, and how the comparison ends.
    pub contest: Contest,
    /// The first and the last point that both have a figure at.
    pub range: Option<(u64, u64)>,
    /// How many times better the better one is at the last of these.
    pub lead_to: Option<f64>,
    /// Whether the figures are single ones, so that nothing is known of chance.
    pub single_figures: bool,
}

impl FindingKind for Crossover {
    const NAME: &'static str = "crossover";

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_table = |table| {
            let finding = move |contest: &Contest| {
                let subjects = vec![contest.one.clone(), contest.other.clone()];
                Finding::about(table, subjects, Self::new(table, contest))
            };
            selected(context, table).into_iter().map(finding)
        };
        context.tables().flat_map(of_table).collect()
    }

    fn rank(&self) -> f64 {
        self.lead_to.map_or(1.0, stake)
    }

    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let (one, other) = (names.label(&self.contest.one), names.label(&self.contest.other));
        let pair = [one, text(" and "), other, text(names.qualifier())];
        let range = self.range_text(names);
        match &self.contest.standing {
            Standing::Unknown { reason } => {
                let because = reasons::comparison(reason);
                Sentence::new(pair.into_iter().chain([text(format!(" are undecided: {because}."))]))
            }
            Standing::TooClose { most, ratio } => {
                let rest = format!(" are {}.", alike(&range, *most, *ratio));
                Sentence::new(pair.into_iter().chain([text(rest)]))
            }
            Standing::Throughout { better, least, most, from, to, clear, of } => {
                let (low, high) = (factor(*least), factor(*most));
                let by = if low == high { low } else { format!("{low} to {high}") };
                let lead = match self.part(*from, *to, names) {
                    Some((part, rest)) => {
                        format!("better {part}, {by}, and too close to call {rest}")
                    }
                    None if clear == of => format!("better throughout, {by},{range}"),
                    None => format!("better, {by},{range}"),
                };
                let rest = [
                    text(": no crossover in range; "),
                    names.label(better),
                    text(format!(" is {lead}.")),
                ];
                Sentence::new(pair.into_iter().chain(rest))
            }
            Standing::Crosses { crossovers } => self.overtakings(crossovers, names),
            Standing::Unsettled { changes, most } => {
                let (times, most) = (number_word(*changes), factor(*most));
                let rest = format!(
                    " change places {times} times{range}, by up to {most}: no crossover can be named."
                );
                Sentence::new(pair.into_iter().chain([text(rest)]))
            }
        }
    }

    fn tag(&self) -> Tag {
        let (word, tone) = match &self.contest.standing {
            Standing::Crosses { .. } => ("overtakes", Tone::Neutral),
            standing if standing.is_same() => ("the same", Tone::Low),
            Standing::TooClose { .. } => ("too close", Tone::Open),
            Standing::Throughout { .. } => ("none in range", Tone::Open),
            Standing::Unsettled { .. } => ("unsettled", Tone::Open),
            Standing::Unknown { .. } => ("undecided", Tone::Open),
        };
        Tag { word, tone }
    }
}

impl Crossover {
    /// The comparison `contest` of `table`.
    pub fn new(table: &Table, contest: &Contest) -> Self {
        let common = common_points(table, contest);
        let rows = || [&contest.one, &contest.other].into_iter().filter_map(|of| table.row(of));
        let lead_to = common.last().and_then(|&point| {
            let levels: Vec<f64> =
                rows().filter_map(|row| Some(row.at(point)?.median.value)).collect();
            let [one, other] = levels.as_slice() else { return None };
            (*one > 0.0 && *other > 0.0).then(|| stake(one / other))
        });
        let mut figures = rows().flat_map(|row| row.cells.iter().flatten());
        Self {
            contest: contest.clone(),
            range: common.first().copied().zip(common.last().copied()),
            lead_to,
            single_figures: figures.all(|figure| figure.samples < 2),
        }
    }

    /// The crossovers of the pair; empty where there are none.
    pub fn crossovers(&self) -> &[analysis::Crossover] {
        match &self.contest.standing {
            Standing::Crosses { crossovers } => crossovers,
            _ => &[],
        }
    }

    /// `poll overtakes epoll-level at 826 tokens (83 % active; 95 % 790 to 868).`
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
                text(format!("{qualifier} {}", position(crossover, names))),
            ]);
        }
        if !crossovers.iter().all(|crossover| has_interval(crossover.at)) {
            parts.push(text(if self.single_figures {
                "; single figures, no interval"
            } else {
                "; too few samples for an interval"
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
fn selected<'a>(context: &Context<'_>, table: &'a Table) -> Vec<&'a Contest> {
    let pairs = context.rivals(table);
    let is_traded = |contest: &Contest| {
        let (first, second) = (contest.one.as_str(), contest.other.as_str());
        let is_pair =
            |(a, b): &&(String, String)| (a == first && b == second) || (a == second && b == first);
        let pair = pairs.iter().find(is_pair);
        let says_little = matches!(
            contest.standing,
            Standing::Throughout { .. } | Standing::Unknown { .. } | Standing::Unsettled { .. }
        );
        table.headline
            && says_little
            && pair.is_some_and(|(a, b)| TradeOff::new(context, table, (a, b)).is_some())
    };
    notable(table, pairs).into_iter().filter(|contest| !is_traded(contest)).collect()
}

/// How alike two are of which neither leads: within the bound that all points together give, where there is
/// one.
fn alike(range: &str, most: f64, ratio: Option<Estimate>) -> String {
    let most = at_most(most);
    match ratio.and_then(|ratio| Some((ratio, ratio.close_within()?))) {
        Some((ratio, bound)) => format!(
            "the same within {}:{range} neither leads ({}; at no point by more than {most})",
            at_most(bound),
            ratio_with_interval(ratio)
        ),
        None => format!("too close to call{range}: neither leads by more than {most}"),
    }
}

/// `at 826 tokens (83 % active; 95 % 790 to 868)`.
fn position(crossover: &analysis::Crossover, names: &Names<'_>) -> String {
    let Estimate { value, low, high } = crossover.at;
    let mut details = Vec::new();
    if let (Some(at), Some(shares)) = (crossover.share, names.shares()) {
        details.push(share(shares, at.value));
    }
    let between = if has_interval(crossover.at) {
        details.push(format!("95 % {} to {}", place(low), place(high)));
        String::new()
    } else {
        format!(", between {} and {}", count(crossover.after), count(crossover.before))
    };
    let details =
        if details.is_empty() { String::new() } else { format!(" ({})", details.join("; ")) };
    format!("at {} {}{details}{between}", place(value), names.axis())
}

fn has_interval(at: Estimate) -> bool {
    at.low < at.high
}
