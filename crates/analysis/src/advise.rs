//! Advice: the cheapest subject for a number of watched and a number of active descriptors, within the
//! measured range.
//!
//! The figure is the cost of one active descriptor. Between measured points it is interpolated on
//! logarithmic scales, first along the ratio, then between totals. Outside of them there is no advice.

mod gain;
mod range;

pub use gain::{Gain, GainVerdict, IdleWakeups, Wakeups};
pub use range::{only_grounds, subjects_in_range};

use crate::stats::NORMAL_95;
use crate::stats::student::two_sided_quantile;
use crate::thresholds::{CHANCE_MAX, CLEAR_ERRORS, LEAD_MIN};
use crate::{Analysis, ComparisonOutcome, Crossover, Estimate, PointSummary, Table};
use model::Parameters;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A number of watched descriptors, and the number of active ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spot {
    /// Descriptors that are watched.
    pub total: f64,
    /// Descriptors that are active at a time; from a live process it is a mean.
    pub active: f64,
}

/// The figures of one workload under one set of further parameters, over totals and ratios.
pub struct Ground<'a> {
    /// The workload.
    pub workload: &'a str,
    /// The parameters that are the same in all of them.
    pub parameters: Parameters,
    /// The headline tables, at least one for each total.
    tables: Vec<&'a Table>,
}

/// Advice for one spot.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// The spot in question.
    pub spot: Spot,
    /// The workload that it comes from.
    pub workload: String,
    /// The parameters that it was measured under.
    pub parameters: Parameters,
    /// The subjects, the cheapest first.
    pub ranking: Vec<Ranked>,
    /// Requested subjects without a figure at the spot.
    pub absent: Vec<String>,
    /// Whether the first is clearly cheaper than every other subject; else it is too close to call.
    pub clear: bool,
    /// The smallest number of rounds behind a figure of it.
    pub rounds: u32,
    /// How many times cheaper the first is than the second; absent for a single subject.
    pub margin: Option<Estimate>,
    /// Totals that it was interpolated between; the same total twice where it was measured.
    pub between: (u64, u64),
    /// The crossover nearest to the spot, at the total nearest to it.
    pub nearest: Option<Nearest>,
}

/// One subject at the spot.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ranked {
    /// The subject.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// Nanoseconds for one active descriptor.
    pub cost_ns: Estimate,
    /// How many times the cheapest's cost.
    pub times: f64,
    /// Whether it is clearly dearer than the cheapest, by several standard errors.
    pub clearly_behind: bool,
}

/// A crossover near the spot.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Nearest {
    /// The crossover; its subjects are labels, as reports name them.
    pub crossover: Crossover,
    /// The active-to-total ratio at which it lies; 1 is all.
    pub share: Estimate,
    /// The total that it belongs to.
    pub total: u64,
}

/// The grounds for advice in `analysis`: each workload with a ratio, by its further parameters.
pub fn grounds(analysis: &Analysis) -> Vec<Ground<'_>> {
    let mut grounds: Vec<Ground> = Vec::new();
    for table in analysis.tables.iter().filter(|table| table.headline) {
        let Some(parameters) = table.further_parameters() else { continue };
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
    /// Advice for `spot` about `subjects`, or all if that is empty; `None` outside of their measured ranges.
    pub fn advise(&self, spot: Spot, subjects: &[String]) -> Option<Advice> {
        let mut ranking = Vec::new();
        let mut between = (u64::MAX, 0);
        for (subject, label) in self.subjects() {
            if !subjects.is_empty() && !subjects.contains(&subject) {
                continue;
            }
            let Some(cost) = self.cost(&subject, spot) else { continue };
            between = (between.0.min(cost.between.0), between.1.max(cost.between.1));
            ranking.push((cost, subject, label));
        }
        ranking.sort_by(|a, b| a.0.log_ns.total_cmp(&b.0.log_ns));
        let first = ranking.first()?.0;
        let estimate = |(log, error)| Estimate::around(log, NORMAL_95 * error).map(f64::exp);
        let named = |name: &&String| ranking.iter().any(|(_, subject, _)| subject == *name);
        let ranked = |(cost, subject, label): &(Cost, String, String)| Ranked {
            subject: subject.clone(),
            label: label.clone(),
            cost_ns: estimate((cost.log_ns, cost.error)),
            times: (cost.log_ns - first.log_ns).exp(),
            clearly_behind: first.is_clearly_below(cost),
        };
        Some(Advice {
            spot,
            workload: self.workload.to_owned(),
            parameters: self.parameters.clone(),
            absent: subjects.iter().filter(|name| !named(name)).cloned().collect(),
            clear: ranking[1..].iter().all(|(rival, ..)| first.is_clearly_below(rival)),
            rounds: ranking.iter().map(|(cost, ..)| cost.rounds).min().unwrap_or(0),
            margin: ranking.get(1).map(|(second, ..)| estimate(first.lead_over(second))),
            between,
            nearest: self.nearest(spot, subjects, &ranking[0].1),
            ranking: ranking.iter().map(ranked).collect(),
        })
    }

    /// Every subject with figures, with its label, in table order.
    fn subjects(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for row in self.tables.iter().flat_map(|table| &table.rows) {
            if row.has_figures() && !all.iter().any(|(subject, _)| *subject == row.subject) {
                all.push((row.subject.clone(), row.label.clone()));
            }
        }
        all
    }

    /// The cost of `subject` at `spot`, if that is within its measured range.
    fn cost(&self, subject: &str, spot: Spot) -> Option<Cost> {
        let mut by_total: BTreeMap<u64, Vec<(f64, Cost)>> = BTreeMap::new();
        for table in &self.tables {
            let Some(row) = table.row(subject) else { continue };
            for (column, cell) in row.cells.iter().enumerate() {
                let figure = cell.as_ref().and_then(|cell| cost_figure(table, column, cell));
                if let Some((total, share, cost)) = figure {
                    by_total.entry(total).or_default().push((share, cost));
                }
            }
        }
        let at = |(total, curve): (u64, Vec<(f64, Cost)>)| {
            Some((total as f64, interpolated(&curve, spot.active / spot.total)?))
        };
        let curves: Vec<(f64, Cost)> = by_total.into_iter().filter_map(at).collect();
        interpolated(&curves, spot.total)
    }

    /// The crossover nearest to the spot at the nearest total; one of the `cheapest` if there is any.
    fn nearest(&self, spot: Spot, subjects: &[String], cheapest: &str) -> Option<Nearest> {
        let crossovers = |only: Option<&str>| -> Vec<Nearest> {
            self.tables.iter().flat_map(|table| crossovers(table, subjects, only)).collect()
        };
        let mut candidates = crossovers(Some(cheapest));
        if candidates.is_empty() {
            candidates = crossovers(None);
        }
        let total_distance = |candidate: &Nearest| (candidate.total as f64 / spot.total).ln().abs();
        let min = candidates.iter().map(total_distance).fold(f64::INFINITY, f64::min);
        candidates.retain(|candidate| total_distance(candidate) <= min + LEAD_MIN.ln());
        let share = spot.active / spot.total;
        let distance = |candidate: &Nearest| (candidate.share.value / share).ln().abs();
        candidates.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// A cost on a logarithmic scale, with its standard error, and the totals that it comes from.
#[derive(Clone, Copy)]
struct Cost {
    log_ns: f64,
    error: f64,
    /// The lead, in standard errors, that Student's t asks of the cheapest: two rounds do not predict the next two.
    errors_asked: f64,
    rounds: u32,
    between: (u64, u64),
}

impl Cost {
    /// How many times cheaper this is than `rival`, as a logarithm, with its standard error.
    fn lead_over(&self, rival: &Cost) -> (f64, f64) {
        (rival.log_ns - self.log_ns, self.error.hypot(rival.error))
    }

    /// Whether this is cheaper than `rival` by several standard errors.
    fn is_clearly_below(&self, rival: &Cost) -> bool {
        let (lead, error) = self.lead_over(rival);
        let required = self.errors_asked.max(rival.errors_asked);
        lead >= LEAD_MIN.ln() && lead > required * error
    }

    /// `weight` of the way from this to `rival`.
    fn towards(&self, rival: &Cost, weight: f64) -> Cost {
        Cost {
            log_ns: self.log_ns + weight * (rival.log_ns - self.log_ns),
            error: ((1.0 - weight) * self.error).hypot(weight * rival.error),
            errors_asked: self.errors_asked.max(rival.errors_asked),
            rounds: self.rounds.min(rival.rounds),
            between: (self.between.0.min(rival.between.0), self.between.1.max(rival.between.1)),
        }
    }
}

/// The total, the ratio and the cost of one cell of a table; `None` where the figure or the ratio is not above zero.
fn cost_figure(table: &Table, column: usize, cell: &PointSummary) -> Option<(u64, f64, Cost)> {
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
    // Of a single round samples count.
    let figures = if cell.rounds < 2 { cell.samples } else { cell.rounds.into() };
    let freedom = 2 * (figures.max(2) as usize - 1);
    let errors_asked = two_sided_quantile(CHANCE_MAX, freedom).max(CLEAR_ERRORS);
    let (log_ns, rounds, between) = (cost_ns.ln(), cell.rounds, (total, total));
    Some((total, share, Cost { log_ns, error, errors_asked, rounds, between }))
}

/// The value of a curve at `x`, on a straight line of logarithms between the neighbours; `None` outside of it.
fn interpolated(curve: &[(f64, Cost)], x: f64) -> Option<Cost> {
    let same = |a: f64| (a / x).ln().abs() <= LEAD_MIN.ln();
    if let Some((_, cost)) = curve.iter().find(|(at, _)| same(*at)) {
        return Some(*cost);
    }
    let below = curve.iter().filter(|(at, _)| *at < x).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let above = curve.iter().filter(|(at, _)| *at > x).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let weight = (x / below.0).ln() / (above.0 / below.0).ln();
    Some(below.1.towards(&above.1, weight))
}

/// The crossovers of one table between `subjects` (all if empty), with `only` if that is given.
fn crossovers(table: &Table, subjects: &[String], only: Option<&str>) -> Vec<Nearest> {
    let wanted = |subject: &String| subjects.is_empty() || subjects.contains(subject);
    let label = |subject: &String| table.row(subject).map_or(subject, |row| &row.label).clone();
    let nearest = |crossover: &Crossover| {
        let (overtakes, overtaken) = (label(&crossover.overtakes), label(&crossover.overtaken));
        let total = table.whole_at(crossover.at.value.round().max(1.0) as u64)?;
        let (share, crossover) =
            (crossover.share?, Crossover { overtakes, overtaken, ..crossover.clone() });
        Some(Nearest { crossover, share, total })
    };
    let mut all = Vec::new();
    for comparison in &table.comparisons {
        let ComparisonOutcome::Crosses { crossovers } = &comparison.outcome else { continue };
        let pair = [&comparison.first, &comparison.second];
        let takes_part = only.is_none_or(|name| pair.iter().any(|subject| *subject == name));
        if takes_part && pair.into_iter().all(wanted) {
            all.extend(crossovers.iter().filter_map(nearest));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Row, Shares, SubjectComparison};
    use model::MetricInfo;

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
            ..PointSummary::default()
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
            operation: String::new(),
            cells: points.iter().map(|&t| Some(figure(t, 1e9 / cost(t as f64)))).collect(),
            missing: Vec::new(),
            unavailable: None,
            growth: None,
            rate: None,
            speedup: None,
            scaling: None,
            failed: Vec::new(),
            modes: None,
            steps: Vec::new(),
            levels: Vec::new(),
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
            effective: Parameters::default(),
            metric: MetricInfo {
                name: "passes".into(),
                about: "token passes".into(),
                unit: "tokens/s".into(),
                lower_is_better: false,
                ..MetricInfo::default()
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
            load: Vec::new(),
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
    fn a_measured_spot_has_its_measured_cost() {
        let advice = advice(1_000.0, 100.0, &[]).unwrap();
        let first = &advice.ranking[0];
        assert_eq!((first.subject.as_str(), first.label.as_str()), ("poll", "POLL"));
        assert!((first.cost_ns.value - 200.0).abs() < 1e-6, "{first:?}");
        assert!((advice.ranking[1].times - 2.5).abs() < 1e-9 && advice.ranking[1].clearly_behind);
        assert!(advice.clear && advice.margin.unwrap().low > 2.3);
        assert_eq!((advice.rounds, advice.absent.len()), (5, 0));
        assert_eq!(advice.between, (1_000, 1_000));
    }

    #[test]
    fn between_measured_totals_the_cost_is_interpolated() {
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
        assert!(!advice.clear && !advice.ranking[1].clearly_behind);
    }

    #[test]
    fn two_rounds_require_a_larger_lead() {
        let is_clear = |rounds: u32| {
            let mut analysis = analysis();
            for table in &mut analysis.tables {
                let cells = table.points.iter().map(|&t| Some(figure(t, 1e9 / 220.0)));
                table.rows[1].cells = cells.collect();
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
    fn unmeasured_subjects_are_absent() {
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
