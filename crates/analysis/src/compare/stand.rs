//! What each of two runs says of a series by itself, where they don't say the same.

use super::Direction;
use crate::compare::thresholds::{MODE_P_VALUE, MODE_ROUNDS_MIN, MODE_SHARE_ABOVE};
use crate::findings::overtakes;
use crate::findings::shape_words;
use crate::findings::words;
use crate::growth::thresholds::POINTS_MIN;
use crate::stats::quantiles::median_of;
use crate::{
    Class, Course, Division, Growth, MissingFigure, Mode, Modes, PointSummary, Row, Standing, Table,
};
use record::FailureReason;

/// `poll is linear, ×36.2 from 10 to 10,000 watched descriptors; in base it is constant, ×1.02.`
pub(super) fn growth(
    subject: &str,
    table: &Table,
    base: &Row,
    new: &Row,
) -> Option<(Direction, String)> {
    let (before, after) = (base.growth.as_ref()?, new.growth.as_ref()?);
    let decided = |growth: &Growth| growth.class != Class::Undecided;
    let same_way = (before.from, before.to) == (after.from, after.to);
    if !decided(before) || !decided(after) || !same_way || alike(before, after, [base, new]) {
        return None;
    }
    let direction = if after.class > before.class { Direction::Worse } else { Direction::Better };
    let told = |growth: &Growth| {
        format!("{}, {}", words::class(growth.class), words::factor(growth.factor))
    };
    let (from, to) = (words::count(after.from), words::count(after.to));
    let sentence = format!(
        "{subject} is {} from {from} to {to} {}; in base it is {}.",
        told(after),
        table.axis,
        told(before)
    );
    Some((direction, sentence))
}

/// Whether two orders of growth are one, as far as is known: of few points, and where it says so, linear
/// stands for n log n too.
fn alike(before: &Growth, after: &Growth, rows: [&Row; 2]) -> bool {
    let line = |growth: &Growth| matches!(growth.class, Class::Linear | Class::Linearithmic);
    let known = |growth: &Growth, row: &Row| {
        growth.reason.is_none() && row.cells.iter().flatten().count() >= POINTS_MIN
    };
    let sure = known(before, rows[0]) && known(after, rows[1]);
    before.class == after.class || (line(before) && line(after) && !sure)
}

/// `poll collapses; in base it holds.`
pub(super) fn course(subject: &str, base: &Row, new: &Row) -> Option<(Direction, String)> {
    let (before, after) = (base.rate.as_ref()?, new.rate.as_ref()?);
    let undecided = [before, after].iter().any(|rate| rate.course == Course::Undecided);
    if undecided || before.course == after.course || before.to != after.to {
        return None;
    }
    let order = |course| match course {
        Course::Rises => 4,
        Course::Holds => 3,
        Course::Peaks => 2,
        Course::Falls => 1,
        Course::Collapses | Course::Undecided => 0,
    };
    let better = order(after.course) > order(before.course);
    let direction = if better { Direction::Better } else { Direction::Worse };
    let (now, then) = (words::course(after.course), words::course(before.course));
    Some((direction, format!("{subject} {now}; in base it {then}.")))
}

/// The pairs of which another overtakes, or elsewhere, each with its sentence: those that deserve one in
/// either of the tables.
pub(super) fn contests<'a>(
    tables: [&'a Table; 2],
    rivals: &[(String, String)],
    qualifiers: &str,
) -> Vec<([&'a str; 2], String)> {
    let [told_before, told_after] = tables.map(|table| overtakes::worth_telling(table, rivals));
    let mut found = Vec::new();
    for after in &tables[1].contests {
        let pair = [after.one.as_str(), after.other.as_str()];
        let same = |contest: &&crate::Contest| [contest.one.as_str(), &contest.other] == pair;
        let Some(before) = tables[0].contests.iter().find(same) else { continue };
        let deserves = told_after.contains(&after) || told_before.contains(&before);
        if deserves && is_another(&before.standing, &after.standing) {
            let now = overtakes::sentence(tables[1], after, qualifiers);
            let then = overtakes::sentence(tables[0], before, "");
            found.push((pair, format!("{now} In base: {then}")));
        }
    }
    found
}

/// Whether the lead changes elsewhere, no longer, or now does. Where either is not sure of it, nothing is
/// said.
fn is_another(before: &Standing, after: &Standing) -> bool {
    match (before, after) {
        (Standing::Crosses { crossovers: then }, Standing::Crosses { crossovers: now }) => {
            let apart = then.iter().zip(now).any(|(then, now)| {
                let known = then.at.low < then.at.high && now.at.low < now.at.high;
                let moved = then.at.high < now.at.low || now.at.high < then.at.low;
                then.overtakes != now.overtakes || (known && moved)
            });
            then.len() != now.len() || apart
        }
        (Standing::Crosses { .. }, Standing::Throughout { .. })
        | (Standing::Throughout { .. }, Standing::Crosses { .. }) => true,
        (Standing::Throughout { better: then, .. }, Standing::Throughout { better: now, .. }) => {
            then != now
        }
        _ => false,
    }
}

/// That a series has several modes in one of the two runs only.
pub(super) fn modes(subject: &str, tables: [&Table; 2], base: &Row, new: &Row) -> Option<String> {
    let rounds = [base, new]
        .map(|row| row.cells.iter().flatten().map(|cell| cell.rounds).max().unwrap_or(0));
    if rounds.iter().any(|&rounds| rounds < MODE_ROUNDS_MIN) {
        return None;
    }
    match (&base.modes, &new.modes) {
        (None, Some(modes)) if is_sure(modes, rounds[1], rounds[0], base) => {
            let now = shape_words::modes(subject, tables[1], modes);
            Some(format!("{now} In base it has one."))
        }
        (Some(modes), None) if is_sure(modes, rounds[0], rounds[1], new) => {
            let then = shape_words::modes(subject, tables[0], modes);
            Some(format!("{subject} has one mode. In base: {then}"))
        }
        _ => None,
    }
}

/// Whether modes of one run would have been seen in the `other`, if they were there: enough of the samples
/// lie above the lowest, fewer than a tenth of those of the other do, and every round lies on all of
/// them, or so many of its rounds on the upper that the other would have had one by chance. What is close to
/// being told as a mode is so in one run and not in the next: a timer's ticks, a neighbour.
fn is_sure(modes: &Modes, rounds: u32, others: u32, other: &Row) -> bool {
    let [lowest, next, ..] = modes.modes.as_slice() else { return false };
    if 1.0 - lowest.share < MODE_SHARE_ABOVE || !lies_below(modes, lowest, next, other) {
        return false;
    }
    if modes.division != Division::ByRound {
        return true;
    }
    let upper = modes.modes.last().map_or(0, |mode| mode.rounds.len() as u32).min(rounds);
    // The chance that all of the upper rounds of both runs fall into the one.
    let all = rounds + others;
    let chance: f64 =
        (0..upper).map(|taken| f64::from(rounds - taken) / f64::from(all - taken)).product();
    upper > 0 && chance < MODE_P_VALUE
}

/// Whether nine tenths of the samples of `row` are nearer to `lowest` than to `next`, wherever there are
/// several modes in the other run.
fn lies_below(modes: &Modes, lowest: &Mode, next: &Mode, row: &Row) -> bool {
    let level =
        |mode: &Mode| median_of(&mut mode.curve.iter().map(|knot| knot.1).collect::<Vec<f64>>());
    let (Some(low), Some(high)) = (level(lowest), level(next)) else { return false };
    let half_way = (high / low).sqrt();
    let within = |cell: &&PointSummary| (modes.from..=modes.to).contains(&cell.point);
    let mut there = row.cells.iter().flatten().filter(within).peekable();
    there.peek().is_some() && there.all(|cell| cell.p90 < half_way * cell.median.value)
}

/// What was measured and failed, or the other way round, and what came less far.
pub(super) fn outcomes(
    subject: &str,
    table: &Table,
    base: &Row,
    new: &Row,
) -> Vec<(Direction, String)> {
    let mut all = Vec::new();
    let measured = |row: &Row| row.cells.iter().any(Option::is_some);
    if let Some(reason) = new.unavailable.as_ref().filter(|_| measured(base)) {
        let said = format!("{subject} is unavailable: {reason}; in base it was measured.");
        all.push((Direction::Worse, said));
    }
    if let Some(reason) = base.unavailable.as_ref().filter(|_| measured(new)) {
        let said = format!("{subject} is measured; in base it was unavailable: {reason}.");
        all.push((Direction::Better, said));
    }
    if let Some((points, reason)) = failed_where_measured(base, new) {
        let places = table.places(&points);
        let said = format!("{subject} failed at {places}: {reason}; in base it was measured.");
        all.push((Direction::Worse, said));
    }
    if let Some((points, reason)) = failed_where_measured(new, base) {
        let places = table.places(&points);
        all.push((
            Direction::Better,
            format!("{subject} is measured at {places}; in base it failed: {reason}."),
        ));
    }
    all.extend(shorter(subject, table, base, new));
    all
}

/// The points at which `measured` has figures and all cells of `row` failed, with the first reason.
fn failed_where_measured<'a>(
    measured: &Row,
    row: &'a Row,
) -> Option<(Vec<u64>, &'a FailureReason)> {
    let failed = row.missing.iter().filter_map(|(point, gap)| match gap {
        MissingFigure::Failed { reason } if measured.at(*point).is_some() => Some((*point, reason)),
        _ => None,
    });
    let (points, reasons): (Vec<u64>, Vec<&FailureReason>) = failed.unzip();
    Some((points, *reasons.first()?))
}

fn shorter(subject: &str, table: &Table, base: &Row, new: &Row) -> Option<(Direction, String)> {
    let told = |row: &Row| {
        let short = row.short.as_ref()?;
        let (reached, of) = (words::count(short.reached), words::count(short.of));
        Some(format!("{reached} of {of} {}: {}", table.axis, short.because))
    };
    let measured = |row: &Row| row.cells.iter().any(Option::is_some);
    match (told(base), told(new)) {
        (None, Some(now)) if measured(base) => Some((
            Direction::Worse,
            format!("{subject} reaches {now}; in base it came to the end."),
        )),
        (Some(then), None) if measured(new) => Some((
            Direction::Better,
            format!("{subject} comes to the end; in base it reached {then}."),
        )),
        _ => None,
    }
}
