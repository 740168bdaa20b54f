//! How the subjects, points and figures of a finding are called in its sentence.

use crate::finding::range::Range;
use crate::finding::sentence::{Part, Sentence, list, text};
use crate::format::{self, Unit};
use analysis::{Estimate, Shares, Table};
use std::collections::BTreeSet;

/// Of more labels than this in a list the others are counted.
const LABELS_MAX: usize = 5;

/// The labels and units that a finding's sentence needs besides its data.
pub struct Names<'a> {
    /// The finding's subjects.
    pub subjects: &'a [String],
    table: &'a Table,
    qualifier: String,
}

impl<'a> Names<'a> {
    /// Those of `subjects` in `table`; `qualifier` tells it from others.
    pub fn of_table(subjects: &'a [String], table: &'a Table, qualifier: String) -> Self {
        Self { subjects, table, qualifier }
    }

    /// The finding's subjects, what tells its table from others, and `rest`.
    pub fn claim(&self, rest: impl Into<String>) -> Sentence {
        Sentence::new(self.subject_list().into_iter().chain([text(rest)]))
    }

    /// Whether the finding is about one subject.
    pub(crate) fn is_single(&self) -> bool {
        self.subjects.len() == 1
    }

    /// A verb for one subject, or for several.
    pub(crate) fn verb<'v>(&self, singular: &'v str, plural: &'v str) -> &'v str {
        if self.is_single() { singular } else { plural }
    }

    /// A figure with its 95 % CI; of one subject the CI alone, as the sentence has the figure.
    pub(crate) fn with_ci(
        &self,
        figure: &str,
        estimate: Estimate,
        write: impl Fn(f64) -> String,
    ) -> String {
        let Estimate { low, high, .. } = estimate;
        match (self.is_single(), low < high) {
            (true, true) => format::ci(&write(low), &write(high)),
            (true, false) => String::new(),
            (false, _) => format!("{figure}{}", format::interval(estimate, write)),
        }
    }

    /// The median of `subject` at a point.
    pub(crate) fn median(&self, subject: &str, point: u64) -> Option<f64> {
        Some(self.table.row(subject)?.at(point)?.median.value)
    }

    /// Figures of the metric with their unit: `3.4 to 4.1 ms`.
    pub(crate) fn levels(&self, level: Range) -> String {
        let unit = self.unit(&[level.0, level.1]);
        let symbol = if unit.symbol.is_empty() { self.metric() } else { &unit.symbol };
        format!("{} {symbol}", level.format(|figure| unit.figure(figure)))
    }

    /// The medians of all subjects between two points: `between 0.89 and 1.03 µs`, `at 71.2 ns`.
    pub(crate) fn levels_within(&self, from: u64, to: u64) -> String {
        let rows = self.subjects.iter().filter_map(|subject| self.table.row(subject));
        let cells = rows.flat_map(|row| row.cells.iter().flatten());
        let cells = cells.filter(|cell| (from..=to).contains(&cell.point));
        let level = Range::new(cells.map(|cell| cell.median.value));
        let unit = self.unit(&[level.0, level.1]);
        let symbol = if unit.symbol.is_empty() { self.metric() } else { &unit.symbol };
        match (unit.figure(level.0), unit.figure(level.1)) {
            (min, max) if min == max => format!("at {max} {symbol}"),
            (min, max) => format!("between {min} and {max} {symbol}"),
        }
    }

    /// A position on the axis: `826 tokens`, `2.1 threads per CPU`.
    pub(crate) fn position(&self, position: f64) -> String {
        self.counted(&format::position(self.shown(position)))
    }

    /// The same between two points, so that it reads as neither of them: `1.04 tokens`.
    pub(crate) fn position_between(&self, position: f64, points: [u64; 2]) -> Option<String> {
        let ends = points.map(|point| self.shown(point as f64));
        Some(self.counted(&format::position_between(self.shown(position), ends)?))
    }

    /// A position as it is written: of a ratio that is a multiple, how many there are for each of the whole.
    fn shown(&self, position: f64) -> f64 {
        self.multiple_between(position).unwrap_or(position)
    }

    fn counted(&self, position: &str) -> String {
        let counted = format::counted(position, self.axis());
        let shares = self.shares().filter(|_| self.multiple_between(1.0).is_some());
        shares.map_or(counted.clone(), |shares| format!("{counted} {}", shares.word))
    }

    /// Positions on the axis: `144 to 3,980 tokens`, or one of them where both read the same.
    pub(crate) fn positions(&self, range: Range) -> String {
        let figure = |at: f64| format::position(self.shown(at));
        let (min, last) = (figure(range.0), self.position(range.1));
        if min == figure(range.1) { last } else { format!("{min} to {last}") }
    }

    /// A point without what it counts: `10,000`, or `8` of each.
    pub(crate) fn number(&self, point: u64) -> String {
        self.multiple_at(point).map_or_else(|| format::count(point), format::multiple)
    }

    /// `from 10 to 10,000 watched descriptors`, `from 1 or 2 to 8 threads per CPU`.
    pub(crate) fn range(&self, from: impl Iterator<Item = u64>, to: u64) -> String {
        let from: BTreeSet<u64> = from.collect();
        let from: Vec<String> = from.into_iter().map(|point| self.number(point)).collect();
        format!("from {} to {}", from.join(" or "), self.point(to))
    }

    /// The label of `subject`.
    pub fn label(&self, subject: &str) -> Part {
        let label = self.table.row(subject).map_or(subject, |row| &row.label);
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

    /// What tells the finding's table from the workload's others: ` (wait)`, ` (active = 10)`, or nothing.
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// The metric's name.
    pub fn metric(&self) -> &'a str {
        &self.table.metric.name
    }

    /// Whether less of the metric is better.
    pub(crate) fn is_cost(&self) -> bool {
        self.table.metric.lower_is_better
    }

    /// What a figure is the time of: `write + wait + dispatch`; nothing where it is no time.
    pub(crate) fn operation(&self) -> Option<&'a str> {
        let metric = &self.table.metric;
        Some(metric.about.as_str()).filter(|about| metric.unit == "ns" && !about.is_empty())
    }

    /// Whether the finding is about the workload's headline metric.
    pub fn is_headline(&self) -> bool {
        self.table.headline
    }

    /// The axis, for people: `dead connections`.
    pub fn axis(&self) -> &'a str {
        &self.table.axis
    }

    /// Whether the table has one point only.
    pub fn has_one_point(&self) -> bool {
        self.table.points.len() <= 1
    }

    /// The ratio of the workload, where the table has one.
    pub fn shares(&self) -> Option<&'a Shares> {
        self.table.shares.as_ref()
    }

    /// How many of the part there are for each of the whole at `point`, where the axis counts the part and
    /// the ratio is written as a multiple.
    pub fn multiple_at(&self, point: u64) -> Option<f64> {
        self.table.multiple_at(point)
    }

    /// The same for a position between points.
    pub fn multiple_between(&self, position: f64) -> Option<f64> {
        self.table.multiple_between(position)
    }

    /// A point: `16 threads per CPU`, or else `100 dead connections`.
    pub fn point(&self, point: u64) -> String {
        point_of(self.table, point)
    }

    /// Points, with how many there are for each of the whole: `8 and 16 threads (4 and 8 per CPU)`.
    pub fn points(&self, points: &[u64]) -> String {
        let counted = format::counted(&format::points(points), self.axis());
        let times: Option<Vec<f64>> = points.iter().map(|&point| self.multiple_at(point)).collect();
        match (times, self.shares()) {
            (Some(times), Some(shares)) => {
                let times = format::list(times.into_iter().map(format::multiple));
                format!("{counted} ({times} {})", shares.word)
            }
            _ => counted,
        }
    }

    /// The unit of the metric: `ns`.
    pub fn metric_unit(&self) -> &'a str {
        &self.table.metric.unit
    }

    /// The unit in which these figures of the metric are readable.
    pub fn unit(&self, figures: &[f64]) -> Unit {
        Unit::for_table(self.metric_unit(), figures)
    }

    /// One of what is counted: `acquisition` of `acquisitions/s`.
    pub fn one_counted(&self) -> String {
        format::singular(self.metric_unit().strip_suffix("/s").unwrap_or("operations"))
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
    let metric = (!table.headline).then_some(table.metric.name.as_str());
    format::qualifiers(metric, &table.effective, |name| {
        let has_another = |sibling: &Table| {
            let value = sibling.effective.get(name);
            let has_effect = value.is_some() || !sibling.parameters.contains_key(name);
            has_effect && value != table.effective.get(name)
        };
        let mut siblings = tables.iter().filter(|sibling| sibling.workload == table.workload);
        siblings.any(has_another)
    })
}
