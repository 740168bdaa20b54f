//! Sentences on who overtakes whom, in the fixed vocabulary: *overtakes*.

use crate::findings::{reasons, words};
use crate::gather::places::verdicts_from;
use crate::{Contest, Crossover, Estimate, Standing, Table};
use std::collections::BTreeSet;

/// With more series than this the pairs are too many to tell of each.
const ALL_PAIRS_MAX: usize = 4;

/// The contests of `table` that deserve a sentence, in its order: those of `rivals`, whatever came of
/// them; those of a table with few series, at more than one point; and wherever in the table the
/// best changes, the old one against the new.
pub(crate) fn worth_telling<'a>(table: &'a Table, rivals: &[(String, String)]) -> Vec<&'a Contest> {
    let with_figures = table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some));
    let few = with_figures.count() <= ALL_PAIRS_MAX;
    let successors = successors(table);
    let deserves = |contest: &&Contest| {
        let (one, other) = (contest.one.as_str(), contest.other.as_str());
        let is_it = |a: &str, b: &str| (a, b) == (one, other) || (b, a) == (one, other);
        rivals.iter().any(|(a, b)| is_it(a, b))
            || match contest.standing {
                Standing::Unknown { .. } => few && common_points(table, contest).len() > 1,
                Standing::Crosses { .. } => few || successors.iter().any(|(a, b)| is_it(a, b)),
                _ => few,
            }
    };
    table.contests.iter().filter(deserves).collect()
}

/// Who is clearly best, and who is the next to be so along the axis, if it is another.
fn successors(table: &Table) -> BTreeSet<(&str, &str)> {
    let clear = table.leads.iter().flatten().filter(|lead| lead.clear);
    let best: Vec<&str> = clear.map(|lead| lead.best.as_str()).collect();
    best.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| (pair[0], pair[1])).collect()
}

/// What there is to say of `contest`; `qualifiers` tell its table from others.
pub(crate) fn sentence(table: &Table, contest: &Contest, qualifiers: &str) -> String {
    let (one, other) = (table.label(&contest.one), table.label(&contest.other));
    let pair = format!("{one} and {other}{qualifiers}");
    let range = range(table, contest);
    match &contest.standing {
        Standing::Unknown { reason } => {
            format!("{pair} are undecided: {}.", reasons::comparison(reason))
        }
        Standing::TooClose { most, ratio } => {
            format!("{pair} are {}.", alike(&range, *most, *ratio))
        }
        Standing::Throughout { better, least, most, from, to, clear, of } => {
            let better = table.label(better);
            let (low, high) = (words::factor(*least), words::factor(*most));
            let by = if low == high { low } else { format!("{low} to {high}") };
            let found = match part(table, contest, *from, *to) {
                Some((part, rest)) => format!("better {part}, {by}, and too close to call {rest}"),
                None if clear == of => format!("better throughout, {by},{range}"),
                None => format!("better, {by},{range}"),
            };
            format!("{pair}: no crossover in range; {better} is {found}.")
        }
        Standing::Crosses { crossovers } => overtakings(table, contest, crossovers, qualifiers),
        Standing::Unsettled { changes, most } => {
            let (times, most) = (words::number_word(*changes), words::factor(*most));
            format!(
                "{pair} change places {times} times{range}, by up to {most}: no crossover can be named."
            )
        }
    }
}

/// How alike two are of whom neither leads: the bound that all points together give, which is the
/// answer to *which of them?*, where there is one.
fn alike(range: &str, most: f64, ratio: Option<Estimate>) -> String {
    let most = words::at_most(most);
    match ratio.and_then(|ratio| Some((ratio, ratio.close_within()?))) {
        Some((ratio, bound)) => format!(
            "the same within {}:{range} neither leads ({}; at no point by more than {most})",
            words::at_most(bound),
            words::ratio_with_interval(ratio)
        ),
        None => format!("too close to call{range}: neither leads by more than {most}"),
    }
}

fn overtakings(
    table: &Table,
    contest: &Contest,
    crossovers: &[Crossover],
    qualifiers: &str,
) -> String {
    let mut parts = Vec::new();
    for (index, crossover) in crossovers.iter().enumerate() {
        let above = table.label(&crossover.overtakes);
        let below = table.label(&crossover.overtaken);
        let place = place(table, crossover);
        let qualifiers = if index == 0 { qualifiers } else { "" };
        parts.push(format!("{above} overtakes {below}{qualifiers} {place}"));
    }
    if !crossovers.iter().all(|crossover| has_interval(crossover.at)) {
        parts.push(no_interval(table, contest).to_owned());
    }
    parts.join("; ") + "."
}

/// The points at which both have a figure that counts: the first calls of a trajectory are
/// cold.
fn common_points(table: &Table, contest: &Contest) -> Vec<u64> {
    let has = |subject: &str, index: usize| {
        table.row(subject).is_some_and(|row| row.cells[index].is_some())
    };
    let warm = verdicts_from(table.trajectory, &table.points);
    let points = table.points.iter().enumerate();
    points
        .filter(|(index, point)| {
            **point >= warm && has(&contest.one, *index) && has(&contest.other, *index)
        })
        .map(|(_, point)| *point)
        .collect()
}

/// ` from 1 to 1,000 tokens`: the first and the last point that both have.
fn range(table: &Table, contest: &Contest) -> String {
    let common = common_points(table, contest);
    let (Some(first), Some(last)) = (common.first(), common.last()) else { return String::new() };
    format!(" from {} to {} {}", words::count(*first), words::count(*last), table.axis)
}

/// Where one leads, if not over the whole range, and where that is too close to call: `up to 100
/// tokens` and `beyond`.
fn part(table: &Table, contest: &Contest, from: u64, to: u64) -> Option<(String, &'static str)> {
    let common = common_points(table, contest);
    let (at_start, at_end) = (common.first() == Some(&from), common.last() == Some(&to));
    let (first, last, axis) = (words::count(from), words::count(to), &table.axis);
    let alone = from == to;
    Some(match (at_start, at_end) {
        (true, true) => return None,
        (true, false) if alone => (format!("at {first} {axis}"), "beyond"),
        (true, false) => (format!("up to {last} {axis}"), "beyond"),
        (false, true) if alone => (format!("at {first} {axis}"), "below"),
        (false, true) => (format!("from {first} {axis} on"), "below"),
        (false, false) if alone => (format!("at {first} {axis}"), "elsewhere"),
        (false, false) => (format!("from {first} to {last} {axis}"), "elsewhere"),
    })
}

/// `at 826 tokens (83 % active; 95 % 790 to 868)`.
fn place(table: &Table, crossover: &Crossover) -> String {
    let Estimate { value, low, high } = crossover.at;
    let mut known = Vec::new();
    if let (Some(share), Some(shares)) = (crossover.share, &table.shares) {
        known.push(shares.told(share.value));
    }
    let between = if has_interval(crossover.at) {
        known.push(format!("95 % {} to {}", words::place(low), words::place(high)));
        String::new()
    } else {
        let (after, before) = (words::count(crossover.after), words::count(crossover.before));
        format!(", between {after} and {before}")
    };
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) };
    format!("at {} {}{known}{between}", words::place(value), table.axis)
}

fn has_interval(at: Estimate) -> bool {
    at.low < at.high
}

/// Why there is no interval.
fn no_interval(table: &Table, contest: &Contest) -> &'static str {
    let rows = [&contest.one, &contest.other].into_iter().filter_map(|one| table.row(one));
    if rows.flat_map(|row| row.cells.iter().flatten()).all(|figure| figure.samples < 2) {
        "single figures, no interval"
    } else {
        "too few samples for an interval"
    }
}
