//! Advice: which subject is cheapest for so many in all of which so many are active, from what was
//! measured, and nothing beyond it.
//!
//! The figure is the cost of one active descriptor. Between measured places it is interpolated on
//! logarithmic scales, first along the ratio, then between totals; outside of them there is none.

use crate::pairs::crossover::errors_asked;
use crate::pairs::thresholds::LEAD_MIN;
use crate::stats::NORMAL_95;
use crate::{Analysis, ComparisonOutcome, Crossover, Estimate, PointSummary, Table};
use record::Parameters;
use serde::Serialize;

/// Two places are the same when they differ by no more than this, as a ratio: rounding.
const SAME: f64 = 1.02;

/// So many in all, so many of them active.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spot {
    /// Descriptors that are watched.
    pub total: f64,
    /// Descriptors that are active at a time; from a live process it is a mean.
    pub active: f64,
}

/// What was measured of one workload under one set of other parameters, over totals and ratios.
pub struct Ground<'a> {
    /// The workload.
    pub workload: &'a str,
    /// The parameters that hold for all of it.
    pub parameters: Parameters,
    /// The headline tables, one or more a total.
    tables: Vec<&'a Table>,
}

/// Advice for one spot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// What was asked about.
    pub spot: Spot,
    /// The workload that it comes from.
    pub workload: String,
    /// The parameters that it was measured under.
    pub parameters: Parameters,
    /// The subjects, the cheapest first.
    pub ranking: Vec<Ranked>,
    /// Subjects that were asked for by name and have no figure at the spot.
    pub absent: Vec<String>,
    /// Whether the first is called the cheapest: clearly so against every other, by the rule by which
    /// tables are marked. If not, it is too close to call.
    pub clear: bool,
    /// The fewest rounds that a figure of it stands on.
    pub rounds: u32,
    /// How many times cheaper the first is than the second; absent where there is one.
    pub margin: Option<Estimate>,
    /// Totals that it was interpolated between; the same twice where it was measured.
    pub between: (u64, u64),
    /// The crossover nearest to the spot, at the total nearest to it.
    pub nearest: Option<Nearest>,
}

/// One subject at the spot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// The subject.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// Nanoseconds for one active descriptor.
    pub cost_ns: Estimate,
    /// How many times the cheapest's cost.
    pub times: f64,
}

/// A crossover near the spot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// The crossover; its subjects are labels, as reports name them.
    pub crossover: Crossover,
    /// The active-to-total ratio at which it lies; 1 is all.
    pub share: Estimate,
    /// The total that it was measured at, or that it lies at.
    pub total: u64,
}

/// The grounds that `analysis` has for advice: each workload with a ratio, by its other parameters.
pub fn grounds(analysis: &Analysis) -> Vec<Ground<'_>> {
    let mut grounds: Vec<Ground> = Vec::new();
    for table in analysis.tables.iter().filter(|table| table.headline) {
        let Some(shares) = &table.shares else { continue };
        let mut parameters = table.parameters.clone();
        parameters.remove(&shares.part);
        parameters.remove(&shares.whole);
        let same = |ground: &&mut Ground| {
            ground.workload == table.workload && ground.parameters == parameters
        };
        if let Some(ground) = grounds.iter_mut().find(same) {
            ground.tables.push(table);
        } else {
            grounds.push(Ground { workload: &table.workload, parameters, tables: vec![table] });
        }
    }
    grounds
}

impl Ground<'_> {
    /// Advice for `spot` about `subjects`, or all; `None` where it lies outside of what was measured
    /// of any of them.
    pub fn advise(&self, spot: Spot, subjects: &[String]) -> Option<Advice> {
        let mut ranking = Vec::new();
        let mut between = (u64::MAX, 0);
        for (subject, label) in self.subjects() {
            if !subjects.is_empty() && !subjects.contains(&subject) {
                continue;
            }
            let Some(found) = self.cost(&subject, spot) else { continue };
            between = (between.0.min(found.between.0), between.1.max(found.between.1));
            ranking.push((found, subject, label));
        }
        ranking.sort_by(|a, b| a.0.log_ns.total_cmp(&b.0.log_ns));
        let first = ranking.first()?.0;
        let margin = ranking.get(1).map(|second| first.lead_over(&second.0));
        let named = |name: &&String| ranking.iter().any(|(_, subject, _)| subject == *name);
        Some(Advice {
            spot,
            workload: self.workload.to_owned(),
            parameters: self.parameters.clone(),
            absent: subjects.iter().filter(|name| !named(name)).cloned().collect(),
            clear: ranking[1..].iter().all(|other| first.is_clearly_before(&other.0)),
            rounds: ranking.iter().map(|(cost, ..)| cost.rounds).min().unwrap_or(0),
            margin,
            between,
            nearest: self.nearest(spot, subjects, &ranking[0].1),
            ranking: ranking
                .into_iter()
                .map(|(found, subject, label)| Ranked {
                    subject,
                    label,
                    cost_ns: found.estimate(),
                    times: (found.log_ns - first.log_ns).exp(),
                })
                .collect(),
        })
    }

    /// Every subject with figures, with its label, in table order.
    fn subjects(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for row in self.tables.iter().flat_map(|table| &table.rows) {
            let has_figures = row.cells.iter().any(Option::is_some);
            if has_figures && !all.iter().any(|(subject, _)| *subject == row.subject) {
                all.push((row.subject.clone(), row.label.clone()));
            }
        }
        all
    }

    /// The cost of `subject` at `spot`, where that lies within what was measured of it.
    fn cost(&self, subject: &str, spot: Spot) -> Option<Cost> {
        let places = self.places(subject);
        let mut totals: Vec<u64> = places.iter().map(|place| place.total).collect();
        totals.sort_unstable();
        totals.dedup();
        let at = |total: u64| {
            let curve: Vec<(f64, Cost)> = places
                .iter()
                .filter(|place| place.total == total)
                .map(|place| (place.share, place.cost))
                .collect();
            interpolated(&curve, spot.active / spot.total).map(|cost| (total as f64, cost))
        };
        let curves: Vec<(f64, Cost)> = totals.into_iter().filter_map(at).collect();
        interpolated(&curves, spot.total)
    }

    /// Everything that was measured of `subject`.
    fn places(&self, subject: &str) -> Vec<Place> {
        let mut places = Vec::new();
        for table in &self.tables {
            let Some(row) = table.rows.iter().find(|row| row.subject == subject) else { continue };
            for (column, cell) in row.cells.iter().enumerate() {
                places.extend(cell.as_ref().and_then(|cell| place(table, column, cell)));
            }
        }
        places
    }

    /// The crossover nearest to the spot among those at the total that is nearest to it; one that
    /// the `cheapest` takes part in, if there is any.
    fn nearest(&self, spot: Spot, subjects: &[String], cheapest: &str) -> Option<Nearest> {
        let found = |only: Option<&str>| -> Vec<Nearest> {
            self.tables.iter().flat_map(|table| crossovers(table, subjects, only)).collect()
        };
        let mut all = found(Some(cheapest));
        if all.is_empty() {
            all = found(None);
        }
        let far = |found: &Nearest| (found.total as f64 / spot.total).ln().abs();
        let least = all.iter().map(far).fold(f64::INFINITY, f64::min);
        all.retain(|found| far(found) <= least + SAME.ln());
        let share = spot.active / spot.total;
        let beside = |found: &Nearest| (found.share.value / share).ln().abs();
        all.into_iter().min_by(|a, b| beside(a).total_cmp(&beside(b)))
    }
}

/// One measured place.
struct Place {
    total: u64,
    share: f64,
    cost: Cost,
}

/// A cost on a logarithmic scale, with its standard error, and the totals that it comes from.
#[derive(Clone, Copy)]
struct Cost {
    log_ns: f64,
    error: f64,
    /// How many errors a lead has to be: see [`errors_asked`].
    errors_asked: f64,
    rounds: u32,
    between: (u64, u64),
}

impl Cost {
    fn estimate(&self) -> Estimate {
        let end = |sign: f64| (self.log_ns + sign * NORMAL_95 * self.error).exp();
        Estimate { value: self.log_ns.exp(), low: end(-1.0), high: end(1.0) }
    }

    /// How many times cheaper this is than `other`.
    fn lead_over(&self, other: &Cost) -> Estimate {
        let (lead, error) = (other.log_ns - self.log_ns, self.error.hypot(other.error));
        let end = |sign: f64| (lead + sign * NORMAL_95 * error).exp();
        Estimate { value: lead.exp(), low: end(-1.0), high: end(1.0) }
    }

    /// Whether this is cheaper than `other` by the rule by which tables are marked.
    fn is_clearly_before(&self, other: &Cost) -> bool {
        let (lead, error) = (other.log_ns - self.log_ns, self.error.hypot(other.error));
        let asked = self.errors_asked.max(other.errors_asked);
        lead >= LEAD_MIN.ln() && lead > asked * error
    }

    /// `weight` of the way from this to `other`.
    fn towards(&self, other: &Cost, weight: f64) -> Cost {
        Cost {
            log_ns: self.log_ns + weight * (other.log_ns - self.log_ns),
            error: ((1.0 - weight) * self.error).hypot(weight * other.error),
            errors_asked: self.errors_asked.max(other.errors_asked),
            rounds: self.rounds.min(other.rounds),
            between: (self.between.0.min(other.between.0), self.between.1.max(other.between.1)),
        }
    }
}

/// The place of one figure of a table: nothing where the figure or the place is not above zero.
fn place(table: &Table, column: usize, cell: &PointSummary) -> Option<Place> {
    let shares = table.shares.as_ref()?;
    let (share, point) = (*shares.values.get(column)?, *table.points.get(column)?);
    let total = table.whole_at(point)?;
    let Estimate { value, low, high } = cell.median;
    let positive = [value, low, high, share].iter().all(|figure| *figure > 0.0);
    if !positive || total == 0 {
        return None;
    }
    // A rate counts active descriptors; a time is that of a loop over all of them.
    let cost_ns = if table.metric.lower_is_better {
        value / (share * total as f64).max(1.0)
    } else {
        1e9 / value
    };
    let error = (high / low).ln() / (2.0 * NORMAL_95);
    let (rounds, errors_asked) = (cell.rounds, errors_asked(cell.rounds, cell.samples));
    let cost = Cost { log_ns: cost_ns.ln(), error, errors_asked, rounds, between: (total, total) };
    Some(Place { total, share, cost })
}

/// The value of a curve at `x`, by a straight line on logarithmic scales between the neighbours;
/// none outside of it.
fn interpolated(curve: &[(f64, Cost)], x: f64) -> Option<Cost> {
    let same = |a: f64| (a / x).ln().abs() <= SAME.ln();
    if let Some((_, cost)) = curve.iter().find(|(at, _)| same(*at)) {
        return Some(*cost);
    }
    let below = curve.iter().filter(|(at, _)| *at < x).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let above = curve.iter().filter(|(at, _)| *at > x).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let weight = (x / below.0).ln() / (above.0 / below.0).ln();
    Some(below.1.towards(&above.1, weight))
}

/// The crossovers of one table between `subjects`, or all, that `only` takes part in, if that is named.
fn crossovers(table: &Table, subjects: &[String], only: Option<&str>) -> Vec<Nearest> {
    let wanted = |subject: &String| subjects.is_empty() || subjects.contains(subject);
    let takes_part = |one: &str, other: &str| only.is_none_or(|name| name == one || name == other);
    let mut all = Vec::new();
    for comparison in &table.comparisons {
        let ComparisonOutcome::Crosses { crossovers } = &comparison.outcome else { continue };
        let (one, other) = (&comparison.first, &comparison.second);
        if !wanted(one) || !wanted(other) || !takes_part(one, other) {
            continue;
        }
        for crossover in crossovers {
            let at = crossover.at.value.round().max(1.0) as u64;
            let (Some(share), Some(total)) = (crossover.share, table.whole_at(at)) else {
                continue;
            };
            all.push(Nearest { crossover: labelled(table, crossover), share, total });
        }
    }
    all
}

/// The crossover with labels for subjects.
fn labelled(table: &Table, crossover: &Crossover) -> Crossover {
    let label = |subject: &String| {
        let row = table.rows.iter().find(|row| row.subject == *subject);
        row.map_or_else(|| subject.clone(), |row| row.label.clone())
    };
    Crossover {
        overtakes: label(&crossover.overtakes),
        overtaken: label(&crossover.overtaken),
        ..crossover.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Row, Shares, SubjectComparison};
    use record::MetricInfo;

    fn figure(point: u64, value: f64) -> PointSummary {
        let median = Estimate { value, low: value * 0.98, high: value * 1.02 };
        PointSummary {
            point,
            rounds: 5,
            samples: 50,
            median,
            min: value,
            p10: value,
            p25: value,
            p75: value,
            p90: value,
            p99: value,
            max: value,
            user_ns: None,
            system_ns: None,
        }
    }

    /// Tokens over pipes: poll's cost a token is 100 ns and 10 ns for each pipe that is watched in
    /// vain, shared by the tokens; epoll's is 500 ns.
    fn table(pipes: u64) -> Table {
        let points: Vec<u64> = [0.01, 0.1, 1.0].map(|s| (s * pipes as f64) as u64).to_vec();
        let row = |subject: &str, cost: &dyn Fn(f64) -> f64| Row {
            subject: subject.into(),
            label: subject.to_uppercase(),
            note: String::new(),
            cells: points.iter().map(|&t| Some(figure(t, 1e9 / cost(t as f64)))).collect(),
            missing: Vec::new(),
            unavailable: None,
            growth: None,
            rate: None,
            scaling: None,
            unfinished: Vec::new(),
            modes: None,
            steps: Vec::new(),
            drift: None,
            short: None,
        };
        let share = Estimate { value: 0.025, low: 0.02, high: 0.03 };
        let at = Estimate { value: 0.025 * pipes as f64, ..share };
        let crossover = Crossover {
            overtakes: "poll".into(),
            overtaken: "epoll".into(),
            at,
            share: Some(share),
            after: points[0],
            before: points[1],
        };
        Table {
            workload: "pipetest".into(),
            parameters: Parameters::from([
                ("pipes".into(), pipes.into()),
                ("spread".into(), "tail".into()),
            ]),
            metric: MetricInfo {
                name: "passes".into(),
                about: "token passes".into(),
                unit: "tokens/s".into(),
                lower_is_better: false,
                role: None,
            },
            headline: true,
            axis: "tokens".into(),
            axis_parameter: "tokens".into(),
            trajectory: false,
            points_down: true,
            shares: Some(Shares {
                word: "active".into(),
                part: "tokens".into(),
                multiple: false,
                whole: "pipes".into(),
                values: vec![0.01, 0.1, 1.0],
            }),
            rows: vec![
                row("poll", &|tokens| 100.0 + 10.0 * pipes as f64 / tokens),
                row("epoll", &|_| 500.0),
            ],
            leads: Vec::new(),
            rankings: Vec::new(),
            distributions: Vec::new(),
            facts: Vec::new(),
            comparisons: vec![SubjectComparison {
                first: "poll".into(),
                second: "epoll".into(),
                outcome: ComparisonOutcome::Crosses { crossovers: vec![crossover] },
            }],
            points,
        }
    }

    fn analysis() -> Analysis {
        Analysis { tables: vec![table(1_000), table(9_000)], ..Analysis::default() }
    }

    fn advice(total: f64, active: f64, subjects: &[&str]) -> Option<Advice> {
        let subjects: Vec<String> = subjects.iter().map(|&name| name.into()).collect();
        grounds(&analysis())[0].advise(Spot { total, active }, &subjects)
    }

    #[test]
    fn a_measured_place_is_told_as_it_was_measured() {
        let advice = advice(1_000.0, 100.0, &[]).unwrap();
        let first = &advice.ranking[0];
        assert_eq!((first.subject.as_str(), first.label.as_str()), ("poll", "POLL"));
        assert!((first.cost_ns.value - 200.0).abs() < 1e-6, "{first:?}");
        assert!((advice.ranking[1].times - 2.5).abs() < 1e-9);
        assert!(advice.clear && advice.margin.unwrap().low > 2.3);
        assert_eq!((advice.rounds, advice.absent.len()), (5, 0));
        assert_eq!(advice.between, (1_000, 1_000));
    }

    #[test]
    fn between_places_it_is_interpolated_and_says_so() {
        let advice = advice(3_000.0, 90.0, &[]).unwrap();
        assert_eq!(advice.between, (1_000, 9_000));
        let poll = advice.ranking.iter().find(|row| row.subject == "poll").unwrap();
        assert!((200.0..1_100.0).contains(&poll.cost_ns.value), "{poll:?}");
        let epoll = advice.ranking.iter().find(|row| row.subject == "epoll").unwrap();
        assert!((epoll.cost_ns.value - 500.0).abs() < 1e-6);
    }

    #[test]
    fn outside_of_what_was_measured_there_is_no_advice() {
        assert_eq!(advice(500.0, 50.0, &[]), None);
        assert_eq!(advice(20_000.0, 200.0, &[]), None);
        assert_eq!(advice(1_000.0, 1.0, &[]), None);
        assert_eq!(advice(1_000.0, 100.0, &["kqueue"]), None);
    }

    #[test]
    fn the_nearest_crossover_is_that_of_the_nearest_total() {
        let nearest = advice(8_000.0, 800.0, &[]).unwrap().nearest.unwrap();
        assert_eq!(nearest.total, 9_000);
        assert_eq!(nearest.crossover.overtakes, "POLL");
        assert!(advice(1_000.0, 100.0, &["poll"]).unwrap().nearest.is_none());
    }

    #[test]
    fn equal_costs_are_too_close_to_call() {
        let mut analysis = analysis();
        for table in &mut analysis.tables {
            table.rows[1].cells = table.rows[0].cells.clone();
        }
        let spot = Spot { total: 1_000.0, active: 100.0 };
        let advice = grounds(&analysis)[0].advise(spot, &[]).unwrap();
        assert!(!advice.clear);
    }

    #[test]
    fn few_rounds_have_more_to_prove_here_too() {
        let is_clear = |rounds: u32| {
            let mut analysis = analysis();
            for table in &mut analysis.tables {
                let near = table.points.iter().map(|&t| Some(figure(t, 1e9 / 220.0)));
                table.rows[1].cells = near.collect();
                let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells).flatten();
                cells.for_each(|cell| cell.rounds = rounds);
            }
            let spot = Spot { total: 1_000.0, active: 100.0 };
            grounds(&analysis)[0].advise(spot, &[]).unwrap().clear
        };
        // 200 against 220 ns.
        assert!(is_clear(5) && !is_clear(2));
    }

    #[test]
    fn who_was_not_measured_is_named() {
        let advice = advice(1_000.0, 100.0, &["poll", "kqueue"]).unwrap();
        assert_eq!(advice.absent, ["kqueue"]);
        assert_eq!(advice.ranking.len(), 1);
    }

    #[test]
    fn a_time_is_shared_by_the_active() {
        let mut of_poll = table(1_000);
        of_poll.metric.lower_is_better = true;
        let analysis = Analysis { tables: vec![of_poll], ..Analysis::default() };
        let spot = Spot { total: 1_000.0, active: 100.0 };
        let advice = grounds(&analysis)[0].advise(spot, &["epoll".into()]).unwrap();
        assert!((advice.ranking[0].cost_ns.value - 1e9 / 500.0 / 100.0).abs() < 1e-3);
    }
}
