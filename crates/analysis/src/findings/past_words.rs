//! How a rate goes from one of the part for each of the whole on, in a sentence: past one thread per CPU.

use crate::findings::rate_words::{because, counted, doubt, fall, fall_interval, interval};
use crate::findings::words;
use crate::rates::thresholds::COLLAPSE_MAX;
use crate::{Course, Estimate, Halved, Rate, Shares, Table};

/// What its places are told in.
struct Past<'a> {
    table: &'a Table,
    shares: &'a Shares,
}

/// `ticket collapses past 1 thread per CPU: acquisitions/s fall ×450 to 16 per CPU (95 % 120 to 900),
/// halved between 1 and 2 threads per CPU.`
pub(crate) fn rate(subject: &str, table: &Table, rate: &Rate) -> String {
    let course = words::course(rate.course);
    let Some(shares) = &table.shares else { return format!("{subject} {course}.") };
    let past = Past { table, shares };
    let head = format!("{subject} {course} past {}", table.place(rate.from));
    let what = counted(&table.metric);
    let to = past.at(rate.to);
    let factor = words::factor(rate.factor.value);
    let known = interval(rate.factor, words::significant);
    match rate.course {
        Course::Holds => {
            let level = table.level(rate.level);
            let known = interval(rate.factor, words::ratio);
            let left = words::ratio(rate.factor.value);
            let from = past.figure(rate.from);
            format!("{head}: {level} at {to}, ×{left} of those at {from}{known}.{}", doubt(rate))
        }
        Course::Rises => format!("{head}: {what} rise {factor} to {to}{known}."),
        Course::Falls => {
            let half =
                if rate.factor.low > COLLAPSE_MAX { ", not halved in the range" } else { "" };
            let (fall, known) = (fall(rate), fall_interval(rate));
            format!("{head}: {what} {fall} to {to}{known}{half}.")
        }
        Course::Peaks => format!("{subject} {}.", past.peaks(rate)),
        Course::Collapses => format!("{head}: {}.{}", past.collapse(what, rate), doubt(rate)),
        Course::Undecided => past.undecided(subject, what, rate),
    }
}

impl Past<'_> {
    /// `16`.
    fn figure(&self, point: u64) -> String {
        self.table.multiple_at(point).map_or_else(|| words::count(point), words::multiple)
    }

    /// `16 per CPU`.
    fn at(&self, point: u64) -> String {
        format!("{} {}", self.figure(point), self.shares.word)
    }

    /// A place between points as a multiple: the whole is the same at each of them.
    fn times(&self, place: f64) -> f64 {
        let first =
            self.table.points.iter().zip(&self.shares.values).find(|(point, _)| **point > 0);
        first.map_or(place, |(point, times)| place * times / *point as f64)
    }

    fn undecided(&self, subject: &str, what: &str, rate: &Rate) -> String {
        let Estimate { value, low, high } = rate.factor;
        let (from, to) = (words::count(rate.from), words::count(rate.to));
        let (one, many) = (self.figure(rate.from), self.at(rate.to));
        let range = format!("from {from} to {to} {}, {one} to {many}", self.table.axis);
        let (known, factor) = (interval(rate.factor, words::significant), words::factor(value));
        if low > COLLAPSE_MAX && low < high {
            return format!(
                "{subject} does not collapse past {}: {what} {factor} {range}{known}. It is undecided \
                 beyond that: {}.",
                self.table.place(rate.from),
                because(rate)
            );
        }
        format!(
            "{subject} is undecided: {what} {factor} {range}{known}, because {}.",
            because(rate)
        )
    }

    fn peaks(&self, rate: &Rate) -> String {
        let falls = format!("{} to {}{}", fall(rate), self.at(rate.to), fall_interval(rate));
        let Some(peak) = &rate.peak else { return format!("peaks, then they {falls}") };
        let (level, factor) = (self.table.level(peak.level), words::factor(peak.factor.value));
        let known = interval(peak.factor, words::significant);
        let (at, over) = (self.table.place(peak.at), self.figure(peak.over));
        format!("peaks at {at}: {level}, {factor} of those at {over}{known}, then they {falls}")
    }

    fn collapse(&self, what: &str, rate: &Rate) -> String {
        let to = self.at(rate.to);
        let fall = if rate.factor.value > 0.0 {
            format!("{what} {} to {to}{}", fall(rate), fall_interval(rate))
        } else {
            format!("{what} fall to none at {to}")
        };
        let halved = rate.halved.as_ref().map(|half| format!(", {}", self.halved(half)));
        let before = rate.peak.as_ref().map(|peak| {
            let factor = words::factor(peak.factor.value);
            format!("; before, they rise {factor} from {}", self.at(peak.over))
        });
        format!("{fall}{}{}", halved.unwrap_or_default(), before.unwrap_or_default())
    }

    /// `halved at 5.2 threads (2.6 per CPU, 95 % 2.3 to 3.1)`, or only between which places.
    fn halved(&self, halved: &Halved) -> String {
        let Estimate { value, low, high } = halved.at;
        let times = |place: f64| words::multiple(self.times(place));
        let (axis, word) = (&self.table.axis, &self.shares.word);
        if halved.vague {
            return format!("halved between {} and {} {axis} {word}", times(low), times(high));
        }
        let place = words::counted(&words::place(value), axis);
        if low < high {
            let (low, high) = (times(low), times(high));
            return format!("halved at {place} ({} {word}, 95 % {low} to {high})", times(value));
        }
        let (after, before) = (self.figure(halved.after), self.figure(halved.before));
        format!(
            "halved at {place} ({} {word}), between {after} and {before} (no interval)",
            times(value)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Peak, TrendReason};
    use record::{MetricInfo, Parameters};

    fn table() -> Table {
        let points = vec![1, 2, 4, 8, 32];
        let values = points.iter().map(|point| *point as f64 / 2.0).collect();
        Table {
            workload: "lock".into(),
            parameters: Parameters::new(),
            metric: MetricInfo {
                name: "acquisitions".into(),
                about: String::new(),
                unit: "acquisitions/s".into(),
                lower_is_better: false,
                role: None,
            },
            headline: true,
            axis: "threads".into(),
            axis_parameter: "threads".into(),
            points,
            trajectory: false,
            points_down: false,
            shares: Some(Shares {
                word: "per CPU".into(),
                part: "threads".into(),
                whole: "cpus".into(),
                multiple: true,
                values,
            }),
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
        let reason = None;
        Rate { course, from: 2, to: 32, level: 900.0, factor, peak: None, halved: None, reason }
    }

    fn said(told: &Rate) -> String {
        rate("mcs", &table(), told)
    }

    #[test]
    fn each_course_is_told_past_one() {
        assert_eq!(
            said(&a_rate(Course::Holds, estimate(0.98, 0.95, 1.02))),
            "mcs holds past 1 thread per CPU: 900 acquisitions/s at 16 per CPU, ×0.98 of those at 1 \
             (95 % 0.95 to 1.02)."
        );
        assert_eq!(
            said(&a_rate(Course::Rises, estimate(1.25, 1.2, 1.3))),
            "mcs rises past 1 thread per CPU: acquisitions/s rise ×1.25 to 16 per CPU (95 % 1.20 to \
             1.30)."
        );
        assert_eq!(
            said(&a_rate(Course::Falls, estimate(0.8, 0.75, 0.85))),
            "mcs falls past 1 thread per CPU: acquisitions/s fall ×1.25 to 16 per CPU (95 % 1.18 to \
             1.33), not halved in the range."
        );
        let mut open = a_rate(Course::Undecided, estimate(0.8, 0.4, 1.2));
        open.reason = Some(TrendReason::FallsAndRises { fall: 2.5, point: 8 });
        assert_eq!(
            said(&open),
            "mcs is undecided: acquisitions/s ×0.800 from 2 to 32 threads, 1 to 16 per CPU (95 % \
             0.400 to 1.20), because it falls ×2.50 to 8 and rises again."
        );
        open.factor.low = 0.6;
        let surely = said(&open);
        assert!(surely.starts_with("mcs does not collapse past 1 thread per CPU: "), "{surely}");
    }

    #[test]
    fn a_collapse_names_its_place_as_a_multiple() {
        let mut told = a_rate(Course::Collapses, estimate(0.002, 0.001, 0.004));
        let head = "mcs collapses past 1 thread per CPU: acquisitions/s fall ×500 to 16 per CPU (95 % \
                    250 to 1,000), ";
        let mut with = |halved: Halved| {
            told.halved = Some(halved);
            said(&told).strip_prefix(head).unwrap().to_owned()
        };
        let halved = Halved { at: estimate(5.2, 4.6, 6.2), after: 4, before: 8, vague: false };
        assert_eq!(with(halved), "halved at 5.2 threads (2.6 per CPU, 95 % 2.3 to 3.1).");
        let between = Halved { at: estimate(3.0, 2.0, 4.0), after: 2, before: 4, vague: true };
        assert_eq!(with(between), "halved between 1 and 2 threads per CPU.");
        let single = Halved { at: estimate(5.2, 5.2, 5.2), ..halved };
        assert_eq!(
            with(single),
            "halved at 5.2 threads (2.6 per CPU), between 2 and 4 (no interval)."
        );
        told.halved = None;
        let fall = Estimate { value: 500.0, low: 300.0, high: 800.0 };
        told.reason = Some(TrendReason::LastTwo { fall });
        assert!(said(&told).ends_with(
            "Its ends alone leave it undecided, but the last two points \
                                       together fall ×500, 95 % 300 to 800."
        ));
    }

    #[test]
    fn what_is_best_beyond_one_is_told_from_there() {
        let mut told = a_rate(Course::Peaks, estimate(0.8, 0.75, 0.85));
        told.from = 4;
        told.peak = Some(Peak { at: 4, level: 1500.0, factor: estimate(1.5, 1.4, 1.6), over: 2 });
        assert_eq!(
            said(&told),
            "mcs peaks at 2 threads per CPU: 1,500 acquisitions/s, ×1.50 of those at 1 (95 % 1.40 to \
             1.60), then they fall ×1.25 to 16 per CPU (95 % 1.18 to 1.33)."
        );
        (told.course, told.factor) = (Course::Collapses, estimate(0.25, 0.25, 0.25));
        assert_eq!(
            said(&told),
            "mcs collapses past 2 threads per CPU: acquisitions/s fall ×4.00 to 16 per CPU; before, \
             they rise ×1.50 from 1 per CPU."
        );
    }
}
