//! Where x is words, nothing grows: what is said instead is by how much series differ at each of them.

use super::columns::Columns;
use super::rows::Taken;
use super::unit::Unit;
use analysis::caveats::{MORE_POINTS, MORE_ROWS};
use analysis::stats::student;
use analysis::{Analysis, Estimate, Finding, FindingKind, Row, Table};
use record::{Cell, FailureReason, Outcome, Parameters, Run};
use std::collections::{BTreeSet, HashMap};

/// What a table is compared by that has words for points.
pub struct Words {
    /// The words: a point is the place of one of them, counted from 1.
    in_order: Vec<String>,
    /// How many figures each mean is of, where that is known.
    count: Option<u64>,
    /// The deviations of the means, by subject, parameters and point.
    deviations: HashMap<(String, Parameters, u64), f64>,
}

/// A mean, and what is known of how much it varies: its deviation, and of how many figures.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mean {
    value: f64,
    varies: Option<(f64, u64)>,
}

impl Words {
    /// Those of the rows, where x is words.
    pub fn of(taken: &Taken, columns: &Columns, unit: &Unit, count: Option<u64>) -> Option<Words> {
        let deviation = |row: &super::rows::Row| {
            let names = columns.parameters.iter().map(|&column| columns.name(column).to_owned());
            let parameters = names.zip(taken.tables[row.table].iter().cloned()).collect();
            let key = (taken.subjects[row.subject].clone(), parameters, row.point.digits);
            Some((key, row.deviation? * unit.factor))
        };
        (!taken.words.is_empty()).then(|| Words {
            in_order: taken.words.clone(),
            count,
            deviations: taken.rows.iter().filter_map(deviation).collect(),
        })
    }

    /// Takes from `analysis` what is said of growth, and says instead how series differ.
    pub fn compare(&self, run: &Run, analysis: &mut Analysis) {
        for table in &mut analysis.tables {
            table.contests.clear();
            for row in &mut table.rows {
                (row.growth, row.rate, row.modes, row.drift) = (None, None, None, None);
                row.steps.clear();
            }
        }
        for table in &mut analysis.tables {
            self.widen(table);
        }
        analysis.maps.clear();
        let tables = &analysis.tables;
        analysis.findings =
            tables.iter().flat_map(|table| self.of_table(run, tables, table)).collect();
        let known = self.deviations.len() > 1;
        // What did not finish is told among the findings.
        analysis.caveats.retain(|caveat| !caveat.what.contains(" failed: "));
        let grows = |remedy: &str| remedy == MORE_POINTS || (known && remedy == MORE_ROWS);
        analysis.caveats.retain(|caveat| !grows(&caveat.remedy));
    }

    /// Gives the means of a table the intervals that their deviations make.
    fn widen(&self, table: &mut Table) {
        let parameters = table.parameters.clone();
        for row in &mut table.rows {
            let subject = row.subject.clone();
            for cell in row.cells.iter_mut().flatten() {
                let key = (subject.clone(), parameters.clone(), cell.point);
                let (Some(&deviation), Some(count)) = (self.deviations.get(&key), self.count)
                else {
                    continue;
                };
                let value = cell.median.value;
                let half =
                    student::quantile_95(count as usize - 1) * deviation / (count as f64).sqrt();
                cell.median = Estimate { value, low: value - half, high: value + half };
            }
        }
    }

    fn of_table(&self, run: &Run, tables: &[Table], table: &Table) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut tell = |subjects: &[&Row], sentence| {
            findings.push(Finding {
                kind: FindingKind::Difference,
                workload: table.workload.clone(),
                parameters: table.parameters.clone(),
                metric: table.metric.name.clone(),
                subjects: subjects.iter().map(|row| row.subject.clone()).collect(),
                sentence,
                headline: true,
            });
        };
        for &point in &table.points {
            let place = format!("at {}{}", self.word(point), qualifier(tables, table));
            let means: Vec<Option<Mean>> =
                table.rows.iter().map(|row| self.mean(run, table, row, point)).collect();
            let mut with =
                table.rows.iter().zip(&means).filter_map(|(row, mean)| Some((row, (*mean)?)));
            if let Some((first, base)) = with.next() {
                for (row, mean) in with {
                    let said = difference(&row.label, mean, &first.label, base, &place);
                    tell(&[row, first], said);
                }
            }
            for row in &table.rows {
                if let Some(why) = why_not(run, table, row, point) {
                    tell(&[row], format!("{} did not finish {place}: {why}.", row.label));
                }
            }
        }
        findings
    }

    fn word(&self, point: u64) -> &str {
        let place = (point as usize).checked_sub(1);
        place.and_then(|place| self.in_order.get(place)).map_or("", String::as_str)
    }

    /// The mean of a series at a point: of one row its figure, of several theirs.
    fn mean(&self, run: &Run, table: &Table, row: &Row, point: u64) -> Option<Mean> {
        let samples: Vec<f64> = cells(run, table, row, point)
            .flat_map(|cell| &cell.metrics)
            .flat_map(|metric| metric.samples.iter().copied())
            .collect();
        let count = samples.len() as f64;
        let value = samples.iter().sum::<f64>() / count;
        let varies = match samples.as_slice() {
            [] => return None,
            [_] => {
                let key = (row.subject.clone(), table.parameters.clone(), point);
                self.deviations.get(&key).copied().zip(self.count)
            }
            all => {
                let squares: f64 = all.iter().map(|sample| (sample - value).powi(2)).sum();
                Some(((squares / (count - 1.0)).sqrt(), all.len() as u64))
            }
        };
        Some(Mean { value, varies })
    }
}

fn cells<'a>(run: &'a Run, table: &Table, row: &Row, point: u64) -> impl Iterator<Item = &'a Cell> {
    let (subject, parameters) = (row.subject.clone(), table.parameters.clone());
    run.cells.iter().filter(move |cell| {
        let key = &cell.key;
        key.subject == subject && key.parameters == parameters && key.point == point
    })
}

/// What stands in the place of a figure, if that says something.
fn why_not<'a>(run: &'a Run, table: &Table, row: &Row, point: u64) -> Option<&'a str> {
    cells(run, table, row, point).find_map(|cell| match &cell.outcome {
        Outcome::Failed { reason: FailureReason::Reported { message }, .. } => {
            Some(message.as_str())
        }
        _ => None,
    })
}

/// What tells a table from others: ` (kernel = 2.4)`, or nothing.
fn qualifier(tables: &[Table], table: &Table) -> String {
    let differs = |name: &String| {
        let values: BTreeSet<_> = tables.iter().map(|other| other.parameters.get(name)).collect();
        values.len() > 1
    };
    let parts: Vec<String> = table
        .parameters
        .iter()
        .filter(|(name, _)| differs(name))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// `byte is 18.4 % below ticket at half (-j 3) (95 % 14.3 to 22.2 %).`
fn difference(one: &str, mean: Mean, other: &str, base: Mean, place: &str) -> String {
    if mean.value <= 0.0 || base.value <= 0.0 {
        if mean.value.total_cmp(&base.value).is_eq() {
            return format!("{one} is the same as {other} {place}.");
        }
        return format!("{one} and {other} have no ratio {place}: one is not above zero.");
    }
    let ratio = mean.value / base.value;
    let Some((low, high)) = interval(mean, base) else {
        return match told(ratio) {
            None => format!("{one} is the same as {other} {place}."),
            Some(told) => format!("{one} is {told} {other} {place}."),
        };
    };
    if low < 1.0 && high > 1.0 {
        let (low, high) = (beside(low), beside(high));
        return format!(
            "{one} can't be told from {other} {place}: {}, 95 % {low} to {high}.",
            beside(ratio)
        );
    }
    let Some(said) = told(ratio) else { return format!("{one} is the same as {other} {place}.") };
    format!("{one} is {said} {other} {place} (95 % {}).", span(low, high))
}

/// `18.4 % below`, `5.0 % above`, `×3.40 of`; none where both are the same.
fn told(ratio: f64) -> Option<String> {
    let percent = (ratio - 1.0).abs() * 100.0;
    let text = format!("{percent:.1}");
    match ratio {
        _ if text == "0.0" => None,
        many if many >= 2.0 => Some(format!("×{} of", findings::format::significant(many))),
        less if less < 1.0 => Some(format!("{text} % below")),
        _ => Some(format!("{text} % above")),
    }
}

/// `18.4 % below it`, `as much`.
fn beside(ratio: f64) -> String {
    told(ratio).map_or_else(|| "as much".to_owned(), |told| format!("{told} it"))
}

/// Both ends of an interval that lies on one side: `14.3 to 22.2 %`, `×3.10 to ×3.70`.
fn span(low: f64, high: f64) -> String {
    if low >= 2.0 {
        return format!("{} to {}", findings::format::factor(low), findings::format::factor(high));
    }
    let percent = |ratio: f64| (ratio - 1.0).abs() * 100.0;
    let (least, most) = if high <= 1.0 { (high, low) } else { (low, high) };
    format!("{:.1} to {:.1} %", percent(least), percent(most))
}

/// The 95 % interval of the ratio of two means, by the logarithm and Welch's degrees of freedom.
fn interval(mean: Mean, base: Mean) -> Option<(f64, f64)> {
    let part = |of: Mean| {
        let (deviation, count) = of.varies?;
        Some(((deviation / of.value).powi(2) / count as f64, count as f64 - 1.0))
    };
    let ((one, of_one), (other, of_other)) = (part(mean)?, part(base)?);
    let variance = one + other;
    let ratio = mean.value / base.value;
    if variance <= 0.0 {
        return Some((ratio, ratio));
    }
    let freedom = variance.powi(2) / (one.powi(2) / of_one + other.powi(2) / of_other);
    // Rounded down: a little wider than it has to be.
    let half = student::quantile_95(freedom.max(1.0) as usize) * variance.sqrt();
    Some((ratio * (-half).exp(), ratio * half.exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(value: f64, deviation: f64) -> Mean {
        Mean { value, varies: Some((deviation, 5)) }
    }

    /// Reference: `scipy`'s `t.ppf(0.975, 4)` = 2.776445, and Welch's freedom, 4.20, by hand.
    #[test]
    fn an_interval_is_welchs() {
        let (low, high) = interval(mean(410.686, 2.493_14), mean(503.002, 19.3737)).unwrap();
        let half = 2.776_445
            * ((2.493_14_f64 / 410.686).powi(2) / 5.0 + (19.3737_f64 / 503.002).powi(2) / 5.0)
                .sqrt();
        let ratio: f64 = 410.686 / 503.002;
        assert!(
            (low - ratio * (-half).exp()).abs() < 1e-6 && (high - ratio * half.exp()).abs() < 1e-6
        );
    }

    #[test]
    fn differences_are_said_by_their_size_and_by_what_is_known() {
        let bare = |value| Mean { value, varies: None };
        let cases = [
            (bare(80.0), bare(100.0), "a is 20.0 % below b at x."),
            (bare(150.0), bare(100.0), "a is 50.0 % above b at x."),
            (bare(340.0), bare(100.0), "a is ×3.40 of b at x."),
            (bare(100.0), bare(100.0), "a is the same as b at x."),
            (bare(0.0), bare(0.0), "a is the same as b at x."),
            (bare(0.0), bare(5.0), "a and b have no ratio at x: one is not above zero."),
            (mean(80.0, 1.0), mean(100.0, 1.0), "a is 20.0 % below b at x (95 % 18.6 to 21.3 %)."),
            (
                mean(99.0, 5.0),
                mean(100.0, 5.0),
                "a can't be told from b at x: 1.0 % below it, 95 % 8.2 % below it to 6.7 % above it.",
            ),
            (mean(206.0, 0.0), mean(206.0, 0.0), "a is the same as b at x."),
        ];
        for (one, other, wanted) in cases {
            assert_eq!(difference("a", one, "b", other, "at x"), wanted);
        }
    }

    /// Drawn from normals of known means: the interval holds the true ratio as often as it says.
    #[test]
    fn intervals_hold_the_true_ratio() {
        let mut random = fastrand::Rng::with_seed(2008);
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let mut drawn = |value: f64, deviation: f64| {
            let all: Vec<f64> = (0..5).map(|_| value + deviation * normal()).collect();
            let mean = all.iter().sum::<f64>() / 5.0;
            let squares: f64 = all.iter().map(|one| (one - mean).powi(2)).sum();
            Mean { value: mean, varies: Some(((squares / 4.0).sqrt(), 5)) }
        };
        let holds = (0..1_000).filter(|_| {
            let (one, other) = (drawn(80.0, 1.0), drawn(100.0, 5.0));
            interval(one, other).is_some_and(|(low, high)| low <= 0.8 && 0.8 <= high)
        });
        let holds = holds.count();
        assert!((930..=985).contains(&holds), "{holds} of 1,000");
    }
}
