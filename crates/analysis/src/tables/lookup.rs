//! Figures of a table by subject and point.

use crate::thresholds::SAME_MAX;
use crate::{ComparisonOutcome, Estimate, Lead, PointSummary, Row, Table};
use model::{Cell, CellKey, Run};

impl Table {
    /// The row of `subject`.
    pub fn row(&self, subject: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.subject == subject)
    }

    /// Whether a cell, or a profiled one, is of `subject`; a cell may have more parameters than the table.
    pub fn has_cell(&self, subject: &str, key: &CellKey) -> bool {
        let mut parameters = self.parameters.iter();
        (key.workload.as_str(), key.subject.as_str()) == (self.workload.as_str(), subject)
            && parameters.all(|(name, value)| key.parameters.get(name) == Some(value))
    }

    /// The cells of `run` that the figures of `subject` are from.
    pub fn cells<'r>(&self, run: &'r Run, subject: &str) -> impl Iterator<Item = &'r Cell> {
        run.cells.iter().filter(move |cell| self.has_cell(subject, &cell.key))
    }

    /// What `subject` does, if another row does the same: else it has no alternative.
    pub fn shared_operation(&self, subject: &str) -> Option<&str> {
        let own = self.row(subject)?;
        let mut rivals = self.rows.iter().filter(|row| row.subject != subject);
        rivals.find(|row| row.operation == own.operation).map(|row| row.operation.as_str())
    }

    /// The best in a column of those that do the same as `subject`.
    pub fn lead(&self, column: usize, subject: &str) -> Option<&Lead> {
        let operation = |subject: &str| self.row(subject).map(|row| row.operation.as_str());
        let own = operation(subject)?;
        self.leads.get(column)?.iter().find(|lead| operation(&lead.best) == Some(own))
    }

    /// How many of the part there are for each of the whole at `point`, where the axis counts the part and
    /// the ratio is written as a multiple.
    pub fn multiple_at(&self, point: u64) -> Option<f64> {
        let shares = self.shares.as_ref().filter(|shares| shares.multiple)?;
        let index = self.points.iter().position(|&listed| listed == point)?;
        (shares.part == self.axis_parameter).then(|| shares.values[index])
    }

    /// The same for a position between points: the whole is the same at each of them.
    pub fn multiple_between(&self, position: f64) -> Option<f64> {
        let shares = self.shares.as_ref().filter(|shares| shares.multiple)?;
        let mut points = self.points.iter().zip(&shares.values);
        let (point, times) = points.find(|(point, _)| **point > 0)?;
        (shares.part == self.axis_parameter).then(|| position * times / *point as f64)
    }
}

impl Row {
    /// Its figure at `point`.
    pub fn at(&self, point: u64) -> Option<&PointSummary> {
        self.cells.iter().flatten().find(|cell| cell.point == point)
    }
}

impl Estimate {
    /// This over `denominator`, which was estimated independently: the relative widths of their intervals are added as
    /// errors are.
    #[must_use]
    pub fn over(self, denominator: Self) -> Self {
        let value = self.value / denominator.value;
        let below = (self.value / self.low).ln().hypot((denominator.high / denominator.value).ln());
        let above = (self.high / self.value).ln().hypot((denominator.value / denominator.low).ln());
        Self { value, low: value * (-below).exp(), high: value * above.exp() }
    }

    /// How far two with this ratio are apart at most; `None` where that is no longer close.
    pub fn close_within(self) -> Option<f64> {
        let bound = self.high.max(1.0 / self.low);
        (bound <= SAME_MAX).then_some(bound)
    }
}

impl ComparisonOutcome {
    /// Whether the two are the same, within a bound that is known.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::TooClose { ratio: Some(ratio), .. } if ratio.close_within().is_some())
    }
}
