//! Cells that did not finish: what they do to a rate, and how they are told.

use crate::findings::words;
use crate::rates::thresholds::COLLAPSE_MAX;
use crate::tables::Figure;
use crate::{Course, Estimate, Halved, Rate, Row, Table, Unfinished};

/// `rate` as it is told from the point `one` on, where nothing finished any more beyond its last figure:
/// it has collapsed there, as one that answers nobody has.
pub(crate) fn beyond(
    rate: Option<Rate>,
    figures: &[Figure],
    one: u64,
    unfinished: &[Unfinished],
) -> Option<Rate> {
    let Some(last) = figures.last().map(Figure::point) else { return rate };
    let Some(dead) = unfinished.iter().map(|of| of.point).find(|&point| point > last.max(one))
    else {
        return rate;
    };
    if last < one || rate.as_ref().is_some_and(|rate| rate.course == Course::Collapses) {
        return rate;
    }
    let (low, high) = (last as f64, dead as f64);
    let at = Estimate { value: f64::midpoint(low, high), low, high };
    let none = Estimate { value: 0.0, low: 0.0, high: 0.0 };
    let has_one = figures.iter().any(|figure| figure.point() == one);
    Some(Rate {
        course: Course::Collapses,
        from: if has_one { one } else { last },
        to: dead,
        level: 0.0,
        factor: none,
        peak: None,
        halved: Some(Halved { at, after: last, before: dead, vague: true }),
        reason: None,
    })
}

/// Whether the sentence of what did not finish says of this rate all there is to say.
pub(crate) fn tells(row: &Row, rate: &Rate) -> bool {
    let dead =
        rate.course == Course::Collapses && rate.factor.value < COLLAPSE_MAX * f64::MIN_POSITIVE;
    dead && row.unfinished.iter().any(|of| of.point == rate.to)
}

/// `ticket did not finish within 10 s at 8 and 16 threads (4 and 8 per CPU): 97 % of 400 samples in
/// locks::ticket::Ticket::wait.`
pub(crate) fn sentence(subject: &str, table: &Table, row: &Row) -> Option<String> {
    let first = row.unfinished.first()?;
    let event = first.reason.event();
    let (cells, of) = row
        .unfinished
        .iter()
        .fold((0, 0), |(cells, of), point| (cells + point.cells, of + point.of));
    let points: Vec<u64> = row.unfinished.iter().map(|of| of.point).collect();
    let at = if table.points.len() > 1 {
        format!(" at {}", table.places(&points))
    } else {
        String::new()
    };
    let often = if cells == of { String::new() } else { format!(" in {cells} of {of} cells") };
    let circumstances = first
        .reason
        .circumstances()
        .map_or_else(String::new, |text| format!(": {}", text.trim_end_matches('.')));
    let collapses = match &row.rate {
        Some(rate) if tells(row, rate) => {
            format!(" {} past {} and", words::course(Course::Collapses), table.place(rate.from))
        }
        _ => String::new(),
    };
    Some(format!("{subject}{collapses} {event}{often}{at}{circumstances}."))
}
