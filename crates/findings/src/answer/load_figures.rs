//! The figures of a load at one point: its rates, and how long all of its requests took.

use super::figure_list::{FigureGroup, FigureList, SingleFigure};
use crate::conclusions::Conclusions;
use crate::finding::sentence::{Part, Sentence, text};
use crate::format::{Unit, count, counted};
use crate::thresholds::{P90_COUNT_MIN, P99_COUNT_MIN, P999_COUNT_MIN, WITHOUT_REPLY_SHARE_MAX};
use analysis::{Distribution, Estimate, Table};
use model::{
    Cell, LOAD_RANKS, LOAD_RANKS_MISSING, LoadCounts, Metric, MetricInfo, MetricRole, Run,
    WorkloadInfo,
};

/// The headings of what is no distribution.
const RATES: &str = "rates";
const OTHERS: &str = "others";

/// The lists of all loads, one for each set of parameters with a single point.
pub(super) fn lists(run: &Run, conclusions: &Conclusions) -> Vec<FigureList> {
    let tables = &conclusions.analysis.tables;
    let is_load =
        |table: &&Table| run.plan.workload(&table.workload).is_some_and(WorkloadInfo::is_load);
    let headlines = tables.iter().filter(|table| table.headline && table.points.len() == 1);
    let loads = headlines.filter(is_load).map(|headline| {
        let is_of_load = |table: &&Table| {
            (&table.workload, &table.parameters) == (&headline.workload, &headline.parameters)
        };
        Load { run, headline, tables: tables.iter().filter(is_of_load).collect() }
    });
    loads.filter_map(|load| load.list()).collect()
}

/// A load at one point.
struct Load<'a> {
    run: &'a Run,
    headline: &'a Table,
    /// One for each metric.
    tables: Vec<&'a Table>,
}

impl Load<'_> {
    fn list(&self) -> Option<FigureList> {
        let group = |name: &str, figures| FigureGroup { name: name.to_owned(), figures };
        let mut groups = vec![group(RATES, self.figures(|metric| metric.unit.ends_with("/s")))];
        for table in &self.tables {
            let distributions = table.distributions.iter();
            groups.extend(
                distributions.map(|all| group(&table.metric.name, self.quantiles(table, all))),
            );
        }
        groups.push(group(OTHERS, self.figures(|metric| metric.role == MetricRole::Whole)));
        groups.retain(|group| !group.figures.is_empty());
        FigureList::new(self.headline, Some(self.sentence()), groups)
    }

    /// `shop at 10 connections: 2.00 k replies/s, half of the replies within 91.5 µs, 99 % within 3.69 ms.`
    fn sentence(&self) -> Sentence {
        let subject = self.headline.rows.first().map(|row| Part::Subject(row.label.clone()));
        let at = counted(&count(self.headline.points[0]), &self.headline.axis);
        let counts = self.counts();
        let without_reply = counts.map_or(0, LoadCounts::without_reply);
        let mut clauses = Vec::new();
        clauses.extend(self.replies_per_s().map(|figure| figure.level()));
        if counts.is_none_or(|counts| counts.replies > 0) {
            let total = counts.map_or(0, |counts| counts.replies + without_reply);
            let is_bound = without_reply as f64 > WITHOUT_REPLY_SHARE_MAX * total as f64;
            clauses.extend(self.times(is_bound));
        }
        let clause = |number: u64, what: &str| (number > 0).then(|| counted(&count(number), what));
        let counted_of = |number: fn(&LoadCounts) -> u64| counts.map_or(0, number);
        let (unserved, asked) = (counted_of(|all| all.unserved), counted_of(|all| all.asked));
        if unserved > 0 {
            let served = count(asked - unserved.min(asked));
            clauses.push(format!("{served} of {} connections served", count(asked)));
        }
        clauses.extend(clause(counted_of(|all| all.failures), "failures"));
        clauses.extend(clause(without_reply, "requests").map(|text| text + " without a reply"));
        // Failures have a clause of their own.
        let errors = counts.map_or_else(
            || self.errors_of_intervals(),
            |counts| counts.errors_total().saturating_sub(counts.failures),
        );
        clauses.extend(clause(errors, "errors"));
        let of_ranks = self.ranks().unwrap_or_default();
        let rest = text(format!(" at {at}{of_ranks}: {}.", clauses.join(", ")));
        Sentence::new(subject.into_iter().chain([rest]))
    }

    /// `, by 2 of 3 ranks` where not all ranks of a load are in it.
    fn ranks(&self) -> Option<String> {
        let number = |name: &str| self.headline.parameters.get(name)?.number();
        let (ranks, missing) = (number(LOAD_RANKS)?, number(LOAD_RANKS_MISSING)?);
        Some(format!(", by {} of {} ranks", count(ranks.saturating_sub(missing)), count(ranks)))
    }

    /// How long requests took, as far as there were enough of them; where some had no reply, at least.
    fn times(&self, is_bound: bool) -> Vec<String> {
        let latency =
            self.tables.iter().find_map(|table| Some((table, table.distributions.first()?)));
        let Some((table, all)) = latency else { return Vec::new() };
        let level = |figure| Unit::for_table(&table.metric.unit, &[figure]).with_symbol(figure);
        let median =
            if is_bound { "median latency at least" } else { "half of the replies within" };
        let tail = match (is_bound, all.count >= P99_COUNT_MIN) {
            (true, true) => Some(("p99 at least", all.p99)),
            (true, false) => None,
            (false, true) => Some(("99 % within", all.p99)),
            (false, false) => Some(("all within", all.max)),
        };
        let clauses = [(median, all.p50)].into_iter().chain(tail);
        clauses.map(|(clause, figure)| format!("{clause} {}", level(figure))).collect()
    }

    /// What became of all requests; none of a load that was killed.
    fn counts(&self) -> Option<&LoadCounts> {
        self.cells().find_map(|cell| Some(&cell.load.as_ref()?.counts))
    }

    fn errors_of_intervals(&self) -> u64 {
        let is_of_errors = |metric: &&Metric| {
            let mut tables = self.tables.iter().filter(|table| table.metric.name == metric.name);
            tables.any(|table| table.metric.role == MetricRole::Errors)
        };
        let metrics = self.cells().flat_map(|cell| &cell.metrics).filter(is_of_errors);
        metrics.map(|metric| metric.operations).sum()
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        let subject = self.headline.rows.first().map_or("", |row| &row.subject);
        self.headline.cells(self.run, subject)
    }

    fn replies_per_s(&self) -> Option<SingleFigure> {
        let table = self.tables.iter().find(|table| !table.metric.lower_is_better)?;
        figure(table, label(&table.metric), only_median(table)?)
    }

    /// The medians of all metrics without a distribution that are wanted.
    fn figures(&self, is_wanted: fn(&MetricInfo) -> bool) -> Vec<SingleFigure> {
        let single = self.tables.iter().filter(|table| table.distributions.is_empty());
        let wanted = single.filter(|table| is_wanted(&table.metric));
        wanted
            .filter_map(|table| figure(table, label(&table.metric), only_median(table)?))
            .collect()
    }

    /// The quantiles of all requests, with the CIs that those of latencies have.
    fn quantiles(&self, table: &Table, all: &Distribution) -> Vec<SingleFigure> {
        // The first metric with a distribution is what the metrics of the whole load are of.
        let first = self.tables.iter().find(|table| !table.distributions.is_empty());
        let is_latency = first.is_some_and(|first| first.metric.name == table.metric.name);
        let of_whole = |role| self.tables.iter().find(|table| table.metric.role == role);
        let with_ci = |role| only_median(of_whole(role).filter(|_| is_latency)?);
        // With fewer requests a quantile is the maximum; the CI is from the distributions of all intervals.
        let quantiles = [
            ("p50", all.p50, 1, None),
            ("p90", all.p90, P90_COUNT_MIN, None),
            ("p99", all.p99, P99_COUNT_MIN, with_ci(MetricRole::WholeP99)),
            ("p99.9", all.p99_9, P999_COUNT_MIN, with_ci(MetricRole::WholeP999)),
            ("max", all.max, 1, None),
        ];
        let counted = quantiles.into_iter().filter(|(_, _, count_min, _)| all.count >= *count_min);
        let figure_of = |(name, value, _, with_ci): (&str, f64, u64, Option<Estimate>)| {
            figure(table, name.to_owned(), with_ci.unwrap_or(Estimate::exact(value)))
        };
        counted.filter_map(figure_of).collect()
    }
}

fn only_median(table: &Table) -> Option<Estimate> {
    Some(table.rows.first()?.cells.first()?.as_ref()?.median)
}

/// The metric's name; nothing where the unit says it.
fn label(metric: &MetricInfo) -> String {
    let is_unit = metric.unit.strip_suffix("/s").is_some_and(|counted| counted == metric.name);
    if is_unit { String::new() } else { metric.name.clone() }
}

fn figure(table: &Table, label: String, median: Estimate) -> Option<SingleFigure> {
    Some(SingleFigure::new(table, table.rows.first()?, label, median))
}
