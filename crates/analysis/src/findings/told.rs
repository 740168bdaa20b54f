//! How a table's subjects, points and figures are named in sentences.

use crate::Table;
use crate::findings::words;
use record::Parameters;

impl Table {
    /// A point in words: `16 threads per CPU`, or else `100 dead connections`.
    pub(crate) fn place(&self, point: u64) -> String {
        match (self.multiple_at(point), &self.shares) {
            (Some(times), Some(shares)) => {
                let counted = words::counted(&words::multiple(times), &self.axis);
                format!("{counted} {}", shares.word)
            }
            _ => words::counted(&words::count(point), &self.axis),
        }
    }

    /// Points in words, with what they are for each of the whole: `8 and 16 threads (4 and 8 per CPU)`.
    pub(crate) fn places(&self, points: &[u64]) -> String {
        let counted = words::counted(&words::points(points), &self.axis);
        let times: Option<Vec<f64>> = points.iter().map(|&point| self.multiple_at(point)).collect();
        match (times, &self.shares) {
            (Some(times), Some(shares)) => {
                let times: Vec<String> =
                    times.iter().map(|&times| words::multiple(times)).collect();
                format!("{counted} ({} {})", words::list(&times), shares.word)
            }
            _ => counted,
        }
    }

    /// The name of `subject` in reports.
    pub(crate) fn label<'a>(&'a self, subject: &'a str) -> &'a str {
        self.row(subject).map_or(subject, |row| &row.label)
    }

    /// A figure in the table's unit: `3.60 M acquisitions/s`.
    pub(crate) fn level(&self, level: f64) -> String {
        let medians = self.rows.iter().flat_map(|row| row.cells.iter().flatten());
        let medians: Vec<f64> = medians.map(|cell| cell.median.value).collect();
        let unit = words::Unit::for_table(&self.metric.unit, &medians);
        if unit.symbol.is_empty() {
            return format!("{} {}", unit.figure(level), self.metric.name);
        }
        unit.with_symbol(level)
    }

    /// What is counted where this is a rate: `acquisition` of `acquisitions/s`.
    pub(crate) fn one_counted(&self) -> &str {
        let many = self.metric.unit.strip_suffix("/s").unwrap_or("operations");
        many.strip_suffix('s').unwrap_or(many)
    }

    /// The table of another metric of the same workload under the same parameters.
    pub(crate) fn beside<'a>(&self, tables: &'a [Table], metric: &str) -> Option<&'a Table> {
        let same = |table: &&Table| table.is_of(&self.workload, &self.parameters);
        tables.iter().filter(same).find(|table| table.metric.name == metric)
    }

    fn is_of(&self, workload: &str, parameters: &Parameters) -> bool {
        self.workload == workload && self.parameters == *parameters
    }
}
