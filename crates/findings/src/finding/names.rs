//! How the subjects, points and figures of a finding are called in its sentence.

use crate::finding::sentence::{Part, list, text};
use crate::format::{self, Unit};
use analysis::{Shares, Table};
use model::WorkloadInfo;
use std::collections::BTreeSet;

/// Of more labels than this in a list the others are counted.
const LABELS_MAX: usize = 5;

/// The labels and units that a finding's sentence needs besides its data.
pub struct Names<'a> {
    subjects: &'a [String],
    workload: Option<&'a WorkloadInfo>,
    table: Option<&'a Table>,
    metric: &'a str,
    qualifier: String,
}

impl<'a> Names<'a> {
    /// Those of a finding about `subjects` and a `metric` of `workload`, whose `table` is one of `tables`.
    pub(crate) fn new(
        subjects: &'a [String],
        workload: Option<&'a WorkloadInfo>,
        metric: &'a str,
        table: Option<&'a Table>,
        tables: &[Table],
    ) -> Self {
        let qualifier = table.map(|table| qualifier(tables, table)).unwrap_or_default();
        Self { subjects, workload, table, metric, qualifier }
    }

    /// Those of `subjects` in `table`; `qualifier` tells it from others.
    pub fn of_table(subjects: &'a [String], table: &'a Table, qualifier: String) -> Self {
        let metric = table.metric.name.as_str();
        Self { subjects, workload: None, table: Some(table), metric, qualifier }
    }

    /// Those of `subjects` that are labelled as they are named, in `table`.
    #[cfg(test)]
    pub(crate) fn plain(subjects: &'a [String], table: Option<&'a Table>) -> Self {
        let metric = table.map_or("", |table| &table.metric.name);
        Self { subjects, workload: None, table, metric, qualifier: String::new() }
    }

    /// The finding's subjects.
    pub fn subjects(&self) -> &'a [String] {
        self.subjects
    }

    /// The finding's first subject, and what tells its table from others: `poll`, ` (wait)`.
    pub fn head(&self) -> [Part; 2] {
        let subject = self.subjects.first().map_or("", String::as_str);
        [self.label(subject), text(self.qualifier.clone())]
    }

    /// The label of `subject`.
    pub fn label(&self, subject: &str) -> Part {
        let row = self.table.and_then(|table| table.row(subject));
        let mut subjects = self.workload.into_iter().flat_map(|workload| &workload.subjects);
        let label = match row {
            Some(row) => &row.label,
            None => subjects
                .find(|info| info.name == subject)
                .map_or(subject, |info| info.label.as_str()),
        };
        Part::Subject(label.to_owned())
    }

    /// The labels of `subjects` as a list; of many the last are counted.
    pub(crate) fn label_list<'s>(&self, subjects: impl Iterator<Item = &'s str>) -> Vec<Part> {
        let mut labels: Vec<Part> = subjects.map(|subject| self.label(subject)).collect();
        if labels.len() > LABELS_MAX + 1 {
            let more = labels.split_off(LABELS_MAX).len();
            labels.push(text(format!("{} more", format::number_word(more))));
        }
        list(labels)
    }

    /// The finding's subjects as such a list, and what tells its table from others.
    pub(crate) fn subject_list(&self) -> Vec<Part> {
        let mut parts = self.label_list(self.subjects.iter().map(String::as_str));
        parts.push(text(self.qualifier.clone()));
        parts
    }

    /// The same with every subject.
    pub(crate) fn whole_subject_list(&self) -> Vec<Part> {
        let mut parts = list(self.subjects.iter().map(|subject| self.label(subject)));
        parts.push(text(self.qualifier.clone()));
        parts
    }

    /// What tells the finding's table from the workload's others: ` (wait)`, ` (active = 10)`, or nothing.
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// Whether less of the metric is better.
    pub(crate) fn is_cost(&self) -> bool {
        self.table.is_none_or(|table| table.metric.lower_is_better)
    }

    /// What a figure is the time of: `write + wait + dispatch`; nothing where it is no time.
    pub(crate) fn operation(&self) -> Option<&'a str> {
        let metric = &self.table.filter(|table| table.metric.unit == "ns")?.metric;
        Some(metric.about.as_str()).filter(|about| !about.is_empty())
    }

    /// Whether the finding is about the workload's headline metric.
    pub fn is_headline(&self) -> bool {
        self.table.is_none_or(|table| table.headline)
    }

    /// The metric's name.
    pub fn metric(&self) -> &'a str {
        self.metric
    }

    /// The axis, for people: `dead connections`.
    pub fn axis(&self) -> &'a str {
        let of_workload = self.workload.map_or("points", |workload| workload.axis.as_str());
        self.table.map_or(of_workload, |table| &table.axis)
    }

    /// Whether the table has one point only.
    pub fn has_one_point(&self) -> bool {
        self.table.is_some_and(|table| table.points.len() <= 1)
    }

    /// The first point of the table.
    pub fn first_point(&self) -> u64 {
        self.table.and_then(|table| table.points.first().copied()).unwrap_or(1)
    }

    /// The ratio of the workload, where the table has one.
    pub fn shares(&self) -> Option<&'a Shares> {
        self.table?.shares.as_ref()
    }

    /// How many of the part there are for each of the whole at `point`, where the axis counts the part and
    /// the ratio is written as a multiple.
    pub fn multiple_at(&self, point: u64) -> Option<f64> {
        self.table?.multiple_at(point)
    }

    /// The same for a position between points.
    pub fn multiple_between(&self, position: f64) -> Option<f64> {
        self.table?.multiple_between(position)
    }

    /// A point: `16 threads per CPU`, or else `100 dead connections`.
    pub fn point(&self, point: u64) -> String {
        match self.table {
            Some(table) => point_of(table, point),
            None => format::counted(&format::count(point), self.axis()),
        }
    }

    /// Points, with how many there are for each of the whole: `8 and 16 threads (4 and 8 per CPU)`.
    pub fn points(&self, points: &[u64]) -> String {
        let counted = format::counted(&format::points(points), self.axis());
        let times: Option<Vec<f64>> = points.iter().map(|&point| self.multiple_at(point)).collect();
        match (times, self.shares()) {
            (Some(times), Some(shares)) => {
                let times: Vec<String> =
                    times.iter().map(|&times| format::multiple(times)).collect();
                format!("{counted} ({} {})", format::list(&times), shares.word)
            }
            _ => counted,
        }
    }

    /// The unit of the metric: `ns`.
    pub fn metric_unit(&self) -> &'a str {
        self.table.map_or("", |table| &table.metric.unit)
    }

    /// The unit in which these figures of the metric are readable.
    pub fn unit(&self, figures: &[f64]) -> Unit {
        Unit::for_table(self.table.map_or("", |table| &table.metric.unit), figures)
    }

    /// A figure in the unit of its table: `3.60 M acquisitions/s`.
    pub fn level(&self, level: f64) -> String {
        let rows = self.table.into_iter().flat_map(|table| &table.rows);
        let medians: Vec<f64> =
            rows.flat_map(|row| row.cells.iter().flatten()).map(|cell| cell.median.value).collect();
        let unit = self.unit(&medians);
        if unit.symbol.is_empty() {
            return format!("{} {}", unit.figure(level), self.metric);
        }
        unit.with_symbol(level)
    }

    /// What is counted: `replies/s`, or the metric's name where its unit is no rate.
    pub fn counted(&self) -> &'a str {
        let unit = self.table.map_or("", |table| table.metric.unit.as_str());
        if unit.ends_with("/s") { unit } else { self.metric }
    }

    /// One of what is counted: `acquisition` of `acquisitions/s`.
    pub fn one_counted(&self) -> String {
        let unit = self.table.map_or("", |table| table.metric.unit.as_str());
        format::singular(unit.strip_suffix("/s").unwrap_or("operations"))
    }
}

/// A point of `table`: `16 threads per CPU`, or else `100 dead connections`.
pub fn point_of(table: &Table, point: u64) -> String {
    match (table.multiple_at(point), &table.shares) {
        (Some(times), Some(shares)) => {
            let counted = format::counted(&format::multiple(times), &table.axis);
            format!("{counted} {}", shares.word)
        }
        _ => format::counted(&format::count(point), &table.axis),
    }
}

/// What distinguishes the series of `table` from those of its workload's other tables: ` (wait)`,
/// ` (active = 10)`, or nothing. A parameter without an effect is left out.
pub fn qualifier(tables: &[Table], table: &Table) -> String {
    let mut parts = Vec::new();
    if !table.headline {
        parts.push(table.metric.name.clone());
    }
    let siblings: Vec<&Table> =
        tables.iter().filter(|sibling| sibling.workload == table.workload).collect();
    for (name, value) in &table.effective {
        let has_effect = |sibling: &&&Table| {
            sibling.effective.contains_key(name) || !sibling.parameters.contains_key(name)
        };
        let values: BTreeSet<Option<&model::Value>> =
            siblings.iter().filter(has_effect).map(|sibling| sibling.effective.get(name)).collect();
        if values.len() > 1 {
            parts.push(format!("{name} = {value}"));
        }
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}
