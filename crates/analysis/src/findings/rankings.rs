//! The order of the subjects at one point, and a sentence about it.

use crate::findings::words;
use crate::pairs::contests::Contests;
use crate::{Placed, Ranking, Row, Table};

/// Subjects behind by less than this are told together, and so on with each next bound.
const BANDS: [f64; 3] = [2.0, 10.0, 100.0];
/// Of more names than this in one breath the others are counted.
const NAMES_MAX: usize = 5;
/// Factors of a group that are as near as this are one.
const SAME: f64 = 1.15;

/// The order at each of `points`.
pub(crate) fn of(contests: &Contests<'_>, rows: &[Row], points: &[u64]) -> Vec<Ranking> {
    let ranking = |(index, &point): (usize, &u64)| {
        let dead = rows.iter().filter(|row| {
            row.cells[index].is_none() && row.unfinished.iter().any(|of| of.point == point)
        });
        let unfinished = dead.map(|row| row.subject.clone()).collect();
        Ranking { point, places: contests.places(point), unfinished }
    };
    points.iter().enumerate().map(ranking).collect()
}

/// The rankings of `table` that deserve a sentence: the last with at most one of the part for each of
/// the whole, the first beyond, and the last.
pub(crate) fn worth_telling(table: &Table) -> Vec<&Ranking> {
    let times = |ranking: &&Ranking| table.multiple_at(ranking.point).unwrap_or(f64::INFINITY);
    let told = |ranking: &&Ranking| ranking.places.len() + ranking.unfinished.len() > 1;
    let known = || table.rankings.iter().filter(told);
    let within = known().rfind(|ranking| times(ranking) <= 1.0 + 1e-9);
    let beyond = known().find(|ranking| times(ranking) > 1.0 + 1e-9);
    let mut all: Vec<&Ranking> =
        [within, beyond, known().next_back()].into_iter().flatten().collect();
    all.dedup_by_key(|ranking| ranking.point);
    all
}

/// `At 16 threads per CPU: byte-block leads with 3.60 M acquisitions/s; futex and std are ×1.10 behind;
/// byte ×7.00; ticket and mcs ×300 to ×450; clh did not finish.`
pub(crate) fn sentence(table: &Table, ranking: &Ranking, qualifiers: &str) -> String {
    let mut parts = Vec::new();
    if let Some(best) = ranking.places.first() {
        let is_first = |place: &&Placed| place.rank == 1 && place.behind.value < BANDS[0];
        let (first, behind): (Vec<&Placed>, Vec<&Placed>) =
            ranking.places.iter().partition(is_first);
        // Those far behind would make it thousands where it is millions.
        let unit = words::Unit::for_table(&table.metric.unit, &[best.level]);
        let level = unit.with_symbol(best.level);
        let lead = match first.as_slice() {
            [_] => format!("{} leads with {level}", names(table, &first)),
            _ => format!("{} can't be told apart ({level})", names(table, &first)),
        };
        parts.push(lead);
        parts.extend(groups(behind).iter().enumerate().map(|(index, group)| {
            let are = if group.len() == 1 { " is" } else { " are" };
            let (are, behind) = if index == 0 { (are, " behind") } else { ("", "") };
            let surely = if group[0].rank == 1 { ", but not surely" } else { "" };
            format!("{}{are} {}{behind}{surely}", names(table, group), by(group))
        }));
    }
    if !ranking.unfinished.is_empty() {
        let dead = ranking.unfinished.iter().map(|subject| table.label(subject).to_owned());
        parts.push(format!("{} did not finish", shortened(dead.collect())));
    }
    format!("At {}{qualifiers}: {}.", table.place(ranking.point), parts.join("; "))
}

/// Those that are behind by about as much, and as surely.
fn groups(behind: Vec<&Placed>) -> Vec<Vec<&Placed>> {
    let band = |place: &Placed| {
        let bounds = BANDS.iter().filter(|bound| place.behind.value >= **bound);
        (bounds.count(), place.rank == 1)
    };
    let mut groups: Vec<Vec<&Placed>> = Vec::new();
    for place in behind {
        match groups.last_mut() {
            Some(group) if band(group[0]) == band(place) => group.push(place),
            _ => groups.push(vec![place]),
        }
    }
    groups
}

/// `×1.10`, or `×300 to ×450`.
fn by(group: &[&Placed]) -> String {
    let factors = || group.iter().map(|place| place.behind.value);
    let (least, most) = (factors().fold(f64::INFINITY, f64::min), factors().fold(0.0, f64::max));
    if most < SAME * least {
        return words::factor((least * most).sqrt());
    }
    format!("{} to {}", words::factor(least), words::factor(most))
}

fn names(table: &Table, group: &[&Placed]) -> String {
    shortened(group.iter().map(|place| table.label(&place.subject).to_owned()).collect())
}

fn shortened(mut names: Vec<String>) -> String {
    if names.len() > NAMES_MAX + 1 {
        let more = names.split_off(NAMES_MAX).len();
        names.push(format!("{} more", words::number_word(more)));
    }
    words::list(&names)
}
