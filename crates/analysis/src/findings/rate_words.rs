//! How a rate goes, in a sentence.

use crate::findings::past_words;
use crate::findings::{reasons, words};
use crate::rates::thresholds::COLLAPSE_MAX;
use crate::{Course, Estimate, Halved, Rate, Scaling, Table};
use record::MetricInfo;

/// `poll collapses: replies/s fall ×8.60 from 0 to 15,000 dead connections (95 % 8.10 to 9.00), halved at
/// 2,300 (95 % 2,000 to 2,700).`
pub(crate) fn rate(subject: &str, table: &Table, rate: &Rate) -> String {
    // Below one for each of the whole nothing is shared.
    if table.multiple_at(rate.from).is_some_and(|times| times >= 1.0) {
        return past_words::rate(subject, table, rate);
    }
    let what = counted(&table.metric);
    let course = words::course(rate.course);
    let (from, to, axis) = (words::count(rate.from), words::count(rate.to), &table.axis);
    let range = format!("from {from} to {to} {axis}");
    let factor = words::factor(rate.factor.value);
    let Estimate { low, high, .. } = rate.factor;
    let known = interval(rate.factor, words::significant);
    match rate.course {
        Course::Holds => {
            let level = table.level(rate.level);
            let known = interval(rate.factor, words::ratio);
            let left = format!("×{} of those at {from}{known}", words::ratio(rate.factor.value));
            format!("{subject} {course}: {level} at {to} {axis}, {left}.{}", doubt(rate))
        }
        Course::Rises => format!("{subject} {course}: {what} rise {factor} {range}{known}."),
        Course::Falls => {
            let half = if low > COLLAPSE_MAX { ", not halved in the range" } else { "" };
            format!(
                "{subject} {course}: {what} {} {range}{}{half}.",
                fall(rate),
                fall_interval(rate)
            )
        }
        Course::Peaks => format!("{subject} {}.", peaks(table, rate)),
        Course::Collapses => format!("{subject} {course}: {}.", collapse(what, &range, rate)),
        // What matters most is known nevertheless.
        Course::Undecided if low > COLLAPSE_MAX && low < high => format!(
            "{subject} does not collapse: {what} {factor} {range}{known}. It is {course} beyond that: {}.",
            because(rate)
        ),
        Course::Undecided if low < high || rate.factor.value > 0.0 => format!(
            "{subject} is {course}: {what} {factor} {range}{known}, because {}.",
            because(rate)
        ),
        Course::Undecided => format!("{subject} is {course}, because {}.", because(rate)),
    }
}

/// `byte follows the Universal Scalability Law: contention 0.034 (95 % 0.030 to 0.040), crosstalk 0.0021
/// (95 % 0.0018 to 0.0024), peak at 21 threads (95 % 19 to 25).`
pub(crate) fn scaling(subject: &str, table: &Table, scaling: &Scaling) -> String {
    let told = |of: Estimate| {
        format!("{}{}", words::significant(of.value), interval(of, words::significant))
    };
    let peak = match scaling.peak {
        Some(peak) => {
            let at = words::counted(&words::place(peak.value), &table.axis);
            format!("peak at {at}{}", interval(peak, words::place))
        }
        None => "no peak in reach".to_owned(),
    };
    let (contention, crosstalk) = (told(scaling.contention), told(scaling.crosstalk));
    format!(
        "{subject} follows the Universal Scalability Law: contention {contention}, crosstalk \
         {crosstalk}, {peak}."
    )
}

/// Why it is undecided.
pub(crate) fn because(rate: &Rate) -> String {
    rate.reason.as_ref().map(reasons::trend).unwrap_or_default()
}

/// What it rests on where its two ends alone leave it undecided.
pub(crate) fn doubt(rate: &Rate) -> String {
    if rate.reason.is_none() {
        return String::new();
    }
    format!(" Its ends alone leave it undecided, but {}.", because(rate))
}

/// `fall ×8.60`.
pub(crate) fn fall(rate: &Rate) -> String {
    format!("fall {}", words::factor(1.0 / rate.factor.value))
}

/// ` (95 % 8.10 to 9.00)`: the fall's.
pub(crate) fn fall_interval(rate: &Rate) -> String {
    let Estimate { value, low, high } = rate.factor;
    interval(Estimate { value: 1.0 / value, low: 1.0 / high, high: 1.0 / low }, words::significant)
}

pub(crate) fn interval(of: Estimate, said: fn(f64) -> String) -> String {
    if of.low < of.high {
        format!(" (95 % {} to {})", said(of.low), said(of.high))
    } else {
        String::new()
    }
}

fn collapse(what: &str, range: &str, rate: &Rate) -> String {
    let fall = if rate.factor.value > 0.0 {
        format!("{what} {} {range}{}", fall(rate), fall_interval(rate))
    } else {
        format!("{what} fall to none {range}")
    };
    let halved = rate.halved.as_ref().map(|half| format!(", {}", halved(half))).unwrap_or_default();
    let before = rate.peak.as_ref().map(|peak| {
        format!(
            "; before, they rise {} from {}",
            words::factor(peak.factor.value),
            words::count(peak.over)
        )
    });
    format!("{fall}{halved}{}", before.unwrap_or_default())
}

/// `halved at 2,300 (95 % 2,000 to 2,700)`, or only between which places.
pub(crate) fn halved(halved: &Halved) -> String {
    let Estimate { value, low, high } = halved.at;
    if halved.vague {
        return format!("halved somewhere from {} to {}", words::place(low), words::place(high));
    }
    if low < high {
        let known = interval(halved.at, words::place);
        return format!("halved at {}{known}", words::place(value));
    }
    let (after, before) = (words::count(halved.after), words::count(halved.before));
    format!("halved at {}, between {after} and {before} (no interval)", words::place(value))
}

/// `peaks at 100 tokens: 1.13 M tokens/s, ×1.53 of those at 1 (95 % 1.48 to 1.60), then they fall ×1.21 to
/// 1,000 (95 % 1.15 to 1.28)`.
fn peaks(table: &Table, rate: &Rate) -> String {
    let to = words::count(rate.to);
    let falls = format!("{} to {to}{}", fall(rate), fall_interval(rate));
    let Some(peak) = &rate.peak else { return format!("peaks, then they {falls}") };
    let (at, over) = (words::count(peak.at), words::count(peak.over));
    let (level, factor) = (table.level(peak.level), words::factor(peak.factor.value));
    let known = interval(peak.factor, words::significant);
    let axis = &table.axis;
    format!("peaks at {at} {axis}: {level}, {factor} of those at {over}{known}, then they {falls}")
}

/// What is counted: `replies/s`, or the metric's name where its unit says nothing.
pub(crate) fn counted(metric: &MetricInfo) -> &str {
    if metric.unit.ends_with("/s") { &metric.unit } else { &metric.name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Peak, TrendReason};

    fn table(unit: &str) -> Table {
        Table {
            workload: "dead".into(),
            parameters: record::Parameters::new(),
            metric: MetricInfo {
                name: "tokens_per_s".into(),
                about: String::new(),
                unit: unit.into(),
                lower_is_better: false,
                role: None,
            },
            headline: true,
            axis: "dead connections".into(),
            axis_parameter: String::new(),
            points: Vec::new(),
            trajectory: false,
            points_down: false,
            shares: None,
            rows: Vec::new(),
            leads: Vec::new(),
            contests: Vec::new(),
            rankings: Vec::new(),
            distributions: Vec::new(),
            facts: Vec::new(),
        }
    }

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high }
    }

    fn a_rate(course: Course, factor: Estimate) -> Rate {
        Rate {
            course,
            from: 0,
            to: 15_000,
            level: 900.0,
            factor,
            peak: None,
            halved: None,
            reason: None,
        }
    }

    fn said(told: &Rate) -> String {
        rate("poll", &table("replies/s"), told)
    }

    #[test]
    fn each_course_has_its_sentence() {
        assert_eq!(
            said(&a_rate(Course::Holds, estimate(0.99, 0.95, 1.02))),
            "poll holds: 900 replies/s at 15,000 dead connections, ×0.99 of those at 0 (95 % 0.95 \
             to 1.02)."
        );
        assert_eq!(
            said(&a_rate(Course::Rises, estimate(2.0, 2.0, 2.0))),
            "poll rises: replies/s rise ×2.00 from 0 to 15,000 dead connections."
        );
        assert_eq!(
            said(&a_rate(Course::Falls, estimate(0.5, 0.4, 0.625))),
            "poll falls: replies/s fall ×2.00 from 0 to 15,000 dead connections (95 % 1.60 to 2.50)."
        );
        let surely = said(&a_rate(Course::Falls, estimate(0.8, 0.75, 0.85)));
        assert!(surely.ends_with("(95 % 1.18 to 1.33), not halved in the range."), "{surely}");
        let mut open = a_rate(Course::Undecided, estimate(0.8, 0.4, 1.2));
        open.reason = Some(TrendReason::FallsAndRises { fall: 2.5, point: 100 });
        assert_eq!(
            said(&open),
            "poll is undecided: replies/s ×0.800 from 0 to 15,000 dead connections (95 % 0.400 to \
             1.20), because it falls ×2.50 to 100 and rises again."
        );
    }

    #[test]
    fn a_collapse_says_where_it_has_halved() {
        let mut told = a_rate(Course::Collapses, estimate(0.125, 0.1, 0.2));
        let at = estimate(2_300.0, 2_000.0, 2_700.0);
        let head = "poll collapses: replies/s fall ×8.00 from 0 to 15,000 dead connections (95 % \
                    5.00 to 10.0), ";
        let mut with = |halved: Halved| {
            told.halved = Some(halved);
            said(&told).strip_prefix(head).unwrap().to_owned()
        };
        let halved = Halved { at, after: 1000, before: 5000, vague: false };
        assert_eq!(with(halved), "halved at 2,300 (95 % 2,000 to 2,700).");
        assert_eq!(with(Halved { vague: true, ..halved }), "halved somewhere from 2,000 to 2,700.");
        let single = Halved { at: estimate(2_300.0, 2_300.0, 2_300.0), ..halved };
        assert_eq!(with(single), "halved at 2,300, between 1,000 and 5,000 (no interval).");
        let none = said(&a_rate(Course::Collapses, estimate(0.0, 0.0, 0.0)));
        assert!(none.starts_with("poll collapses: replies/s fall to none from 0 to "), "{none}");
    }

    #[test]
    fn a_peak_stands_between_a_rise_and_a_fall() {
        let mut told = a_rate(Course::Peaks, estimate(0.8, 0.75, 0.85));
        (told.from, told.to) = (100, 1000);
        told.peak = Some(Peak { at: 100, level: 1500.0, factor: estimate(1.5, 1.4, 1.6), over: 1 });
        assert_eq!(
            said(&told),
            "poll peaks at 100 dead connections: 1,500 replies/s, ×1.50 of those at 1 (95 % 1.40 \
             to 1.60), then they fall ×1.25 to 1,000 (95 % 1.18 to 1.33)."
        );
        told.course = Course::Collapses;
        told.factor = estimate(0.25, 0.25, 0.25);
        assert_eq!(
            said(&told),
            "poll collapses: replies/s fall ×4.00 from 100 to 1,000 dead connections; before, they \
             rise ×1.50 from 1."
        );
    }

    #[test]
    fn what_holds_by_its_thirds_says_so_and_a_rate_without_a_unit_has_its_name() {
        let mut told = a_rate(Course::Holds, estimate(0.95, 0.7, 1.3));
        let ratio = Estimate { value: 0.98, low: 0.93, high: 1.03 };
        told.reason = Some(TrendReason::LastAgainstFirst { points: 3, ratio });
        assert!(said(&told).ends_with(
            " Its ends alone leave it undecided, but the last three points are ×0.98 of the first \
             three, 95 % 0.93 to 1.03."
        ));
        let plain = rate("poll", &table(""), &a_rate(Course::Rises, estimate(2.0, 1.9, 2.1)));
        assert!(plain.starts_with("poll rises: tokens_per_s rise ×2.00 from 0"), "{plain}");
    }
}
