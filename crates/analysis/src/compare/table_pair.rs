//! The same table of two runs: what is judged of it, and what is left out.

use super::effects::{Arrangement, Effects, effects_apart, effects_in_turns, evidence_in_turns};
use super::judge::{Family, Usual, at_points, overall};
use super::left_out::{LeftOut, NoRatioReason, Side, WholeFigure};
use super::levels::Levels;
use super::results::{ComparedPoint, ComparedRow, ComparedTable, Ratio};
use super::series;
use crate::gather::Gathered;
use crate::gather::positions::{around, verdicts_from};
use crate::growth::levels::{Evidence, shares_of};
use crate::stats::random::generator;
use crate::{MissingFigure, Row, Table};
use model::Run;
use std::collections::BTreeMap;

/// The same table of two runs.
pub(super) struct TablePair<'a> {
    /// Base and new.
    pub(super) tables: [&'a Table; 2],
    /// The points that both have.
    points: Vec<u64>,
    /// The series that are judged.
    pub(super) rows: Vec<RowPair<'a>>,
    /// Labels of the series that have figures and no ratio, by the reason and the points.
    no_ratio: BTreeMap<(NoRatioReason, Vec<u64>), Vec<String>>,
    /// Figures of whole loads whose error is not known.
    whole: Vec<WholeFigure>,
    pub(super) usual: Usual,
}

/// The same row of two runs.
pub(super) struct RowPair<'a> {
    /// Base and new.
    pub(super) rows: [&'a Row; 2],
    pub(super) effects: Effects,
}

impl<'a> RowPair<'a> {
    pub(super) fn subject(&self) -> &'a str {
        &self.rows[1].subject
    }

    /// The indices of `points` at which both have figures and there is no effect.
    fn missing(&self, points: &[u64]) -> impl Iterator<Item = usize> {
        (0..points.len()).filter(|&index| {
            let is_measured = self.rows.iter().all(|row| row.at(points[index]).is_some());
            is_measured && self.effects.points[index].is_none()
        })
    }

    /// The figures of whole loads that have no effect, since their error is not known.
    fn whole_figures(&self, points: &[u64]) -> Vec<WholeFigure> {
        let figure = |index: usize| {
            let point = points[index];
            let [base, new] = self.rows.map(|row| row.at(point).map(|cell| cell.median.value));
            Some(WholeFigure { label: self.rows[1].label.clone(), point, base: base?, new: new? })
        };
        self.missing(points).filter_map(figure).collect()
    }

    /// Why it has no ratio where both have figures, and at which of `points`.
    fn no_ratio(&self, points: &[u64], levels: [&Levels; 2]) -> Vec<(NoRatioReason, Vec<u64>)> {
        let (apart, zero): (Vec<usize>, Vec<usize>) = self
            .missing(points)
            .partition(|&index| levels.iter().all(|levels| levels.rounds_at(index) > 0));
        let at = |indices: Vec<usize>| indices.into_iter().map(|index| points[index]).collect();
        let mut reasons: Vec<(NoRatioReason, Vec<u64>)> =
            vec![(NoRatioReason::NotPositive, at(zero)), (NoRatioReason::NoCommonRound, at(apart))];
        if self.effects.overall.is_none() && self.effects.points.iter().any(Option::is_some) {
            reasons.push((NoRatioReason::Cold, points.last().copied().into_iter().collect()));
        }
        reasons.retain(|(_, points)| !points.is_empty());
        reasons
    }
}

/// By what each point of two rows may be off, as a logarithm, since the calibrations of the clock differ by
/// so many nanoseconds: nothing but where operations were timed one by one.
fn offsets(rows: [&Row; 2], points: &[u64], alone: &[bool], clocks: f64) -> Vec<f64> {
    let at = |(&point, &alone): (&u64, &bool)| {
        let figures = rows.iter().filter_map(|row| Some(row.at(point)?.median.value));
        let figure = figures.fold(f64::INFINITY, f64::min);
        if alone && figure > 0.0 { (clocks / figure).ln_1p() } else { 0.0 }
    };
    points.iter().zip(alone).map(at).collect()
}

/// Where the trajectories of `rival` end, if `points` are that end of `table`, as near as samples reach.
fn other_end(table: &Table, rival: &Table, points: &[u64]) -> Option<u64> {
    let ([end], Some(&last), Some(&rival_last)) =
        (points, table.points.last(), rival.points.last())
    else {
        return None;
    };
    let far = last.max(rival_last);
    let is_end = [*end, last, rival_last].iter().all(|point| around(far, far).contains(point));
    (table.trajectory && is_end).then_some(rival_last)
}

/// The labels of the series of `table` that lack figures in `rival` at points of others, unless they fail there.
fn gaps(table: &Table, rival: &Table) -> BTreeMap<Vec<u64>, Vec<String>> {
    let mut gaps: BTreeMap<Vec<u64>, Vec<String>> = BTreeMap::new();
    for row in &table.rows {
        let rival_row = rival.row(&row.subject);
        let Some(rival_row) = rival_row.filter(|row| row.has_figures()) else { continue };
        let is_change = |point: u64| {
            rival_row.missing.iter().any(|(at, missing)| match missing {
                MissingFigure::Failed { .. } => *at == point,
                MissingFigure::CutShort { .. } => *at == point && row.short.is_none(),
                _ => false,
            })
        };
        let is_gap = |point: &u64| {
            let is_only_here = row.at(*point).is_some() && rival_row.at(*point).is_none();
            is_only_here && rival.points.contains(point) && !is_change(*point)
        };
        let points: Vec<u64> = table.points.iter().copied().filter(is_gap).collect();
        if !points.is_empty() {
            gaps.entry(points).or_default().push(row.label.clone());
        }
    }
    gaps
}

impl<'a> TablePair<'a> {
    pub(super) fn new(
        base: &Run,
        new: &Run,
        tables: [&'a Table; 2],
        arrangement: Arrangement,
    ) -> Self {
        let points: Vec<u64> =
            tables[0].points.iter().copied().filter(|p| tables[1].points.contains(p)).collect();
        let warm = verdicts_from(tables[0].trajectory, &points);
        let count: Vec<bool> = points.iter().map(|&point| point >= warm).collect();
        let gathered = [base, new].map(|run| Gathered::new(run, &tables[0].workload));
        let clocks = (new.clock.overhead_ns - base.clock.overhead_ns).abs();
        let is_whole = tables[1].metric.role.is_whole();
        let (mut no_ratio, mut whole) = (BTreeMap::<_, Vec<String>>::new(), Vec::new());
        let (mut rows, mut judged) = (Vec::new(), Vec::new());
        let levels = |row: &'a Row| {
            let newer = tables[1].row(&row.subject)?;
            let levels = [0, 1].map(|run| {
                let Table { parameters, metric, .. } = tables[run];
                Levels::new(&gathered[run], &row.subject, parameters, metric, &points)
            });
            Some(([row, newer], levels))
        };
        let measured: Vec<([&Row; 2], [Levels; 2])> =
            tables[0].rows.iter().filter_map(levels).collect();
        let in_turns = measured.iter().filter(|_| arrangement == Arrangement::Interleaved);
        let evidence: Vec<[Evidence; 2]> = in_turns
            .map(|(_, levels)| evidence_in_turns(levels.each_ref(), points.len()))
            .collect();
        let log_shares = shares_of(evidence.iter().flatten());
        for (index, (both, levels)) in measured.into_iter().enumerate() {
            let mut effects = if let Some(evidence) = evidence.get(index) {
                effects_in_turns(levels.each_ref(), evidence, &log_shares, &count)
            } else {
                let words = [&tables[0].workload, &both[0].subject, &*tables[0].metric.name];
                let mut random = generator(base.plan.seed ^ new.plan.seed, &words);
                effects_apart(levels.each_ref(), &count, arrangement, &mut random)
            };
            effects.allow(&offsets(both, &points, &levels[0].alone, clocks), &count);
            let row = RowPair { rows: both, effects };
            if is_whole {
                whole.extend(row.whole_figures(&points));
            } else {
                for reason in row.no_ratio(&points, levels.each_ref()) {
                    no_ratio.entry(reason).or_default().push(both[1].label.clone());
                }
            }
            if row.effects.overall.is_some() {
                rows.push(row);
                judged.push(levels);
            }
        }
        let all: Vec<&Effects> = rows.iter().map(|row| &row.effects).collect();
        let usual = Usual::new(&all, &judged, arrangement, tables[1].metric.lower_is_better);
        Self { tables, points, rows, no_ratio, whole, usual }
    }

    /// What is in one of the two only, or has no ratio.
    pub(super) fn left_out(&self) -> Vec<LeftOut> {
        let [base, new] = self.tables;
        let mut left_out = Vec::new();
        let workload = &base.workload;
        let metric = (!new.headline).then(|| new.metric.name.clone());
        for (side, table, rival) in [(Side::Base, base, new), (Side::New, new, base)] {
            let single = table.rows.iter().filter(|row| {
                row.has_figures()
                    && !rival.row(&row.subject).is_some_and(Row::has_figures)
                    && !self.has_another_outcome(&row.subject)
            });
            let labels: Vec<String> = single.map(|row| row.label.clone()).collect();
            if !labels.is_empty() {
                let (workload, metric) = (workload.clone(), metric.clone());
                left_out.push(LeftOut::Subjects { side, workload, metric, labels });
            }
            let only_here = |labels, points: Vec<u64>| LeftOut::Points {
                side,
                workload: workload.clone(),
                metric: metric.clone(),
                labels,
                axis: table.axis.clone(),
                other_end: other_end(table, rival, &points),
                points,
            };
            let points = table.points.iter().copied();
            let points: Vec<u64> = points.filter(|p| !rival.points.contains(p)).collect();
            left_out.extend((!points.is_empty()).then(|| only_here(Vec::new(), points)));
            let gaps = gaps(table, rival).into_iter();
            left_out.extend(gaps.map(|(points, labels)| only_here(labels, points)));
        }
        left_out.extend(self.no_ratio.iter().map(|((reason, points), labels)| LeftOut::NoRatio {
            workload: workload.clone(),
            metric: metric.clone(),
            labels: labels.clone(),
            axis: new.axis.clone(),
            points: points.clone(),
            reason: *reason,
        }));
        if !self.whole.is_empty() {
            left_out.push(LeftOut::WholeLoad {
                workload: workload.clone(),
                metric: new.metric.name.clone(),
                unit: new.metric.unit.clone(),
                axis: new.axis.clone(),
                figures: self.whole.clone(),
            });
        }
        left_out
    }

    /// Whether the cells of a series fail in one run only, which is a change.
    fn has_another_outcome(&self, subject: &str) -> bool {
        let [base, new] = self.tables.map(|table| table.row(subject));
        base.zip(new).is_some_and(|(base, new)| !series::outcomes(base, new).is_empty())
    }

    /// Whether its figures are quantiles of all rounds together.
    pub(super) fn is_tail(&self) -> bool {
        self.tables[1].metric.role.whole_share().is_some()
    }

    /// Half the width of its widest interval, as a logarithm.
    pub(super) fn half_width(&self, family: Family) -> f64 {
        let half_width = |row: &RowPair<'_>| {
            Some(overall(&row.effects, self.usual, family)?.ratio.half_width_log())
        };
        self.rows.iter().filter_map(half_width).fold(0.0, f64::max)
    }

    pub(super) fn judged(&self, family: Family) -> ComparedTable {
        let table = self.tables[1];
        ComparedTable {
            workload: table.workload.clone(),
            parameters: table.parameters.clone(),
            metric: table.metric.clone(),
            headline: table.headline,
            axis: table.axis.clone(),
            points: self.points.clone(),
            rows: self.rows.iter().filter_map(|row| self.row(row, family)).collect(),
        }
    }

    fn row(&self, row: &RowPair<'_>, family: Family) -> Option<ComparedRow> {
        let points = at_points(&row.effects, self.usual, family);
        let [base, new] = row.rows;
        let cell = |(&point, ratio): (&u64, Option<Ratio>)| {
            let (base, new) = (base.at(point)?.median, new.at(point)?.median);
            Some(ComparedPoint { base, new, ratio: ratio? })
        };
        Some(ComparedRow {
            subject: new.subject.clone(),
            label: new.label.clone(),
            overall: overall(&row.effects, self.usual, family)?,
            cells: self.points.iter().zip(points).map(cell).collect(),
        })
    }
}
