//! Several runs side by side: each with its ratio to the first, the best marked where that is significant.
//!
//! [`compared`] has a series in each row and the runs in columns: what changed from run to run. [`machines`] has a run
//! in each row and the figures in columns, as lmbench's summary has: what this machine is good at.

mod compared;
mod fleet;
pub(crate) mod grid;
pub(crate) mod guests;
mod json;
mod machines;
mod markdown;
pub(crate) mod page;

pub use compared::text as compared;
pub use fleet::{FleetHead, text as fleet};
pub use json::{SeveralView, value as json};
pub use machines::text as machines;
pub use markdown::text as markdown;
pub use page::page;

use crate::text;
use analysis::compare::{Comparison, Ratio, Refusal, Several};
use analysis::{Estimate, Table};
use findings::answer::is_single;
use findings::emulation::Emulation;
use findings::format::{Unit, count, counted};
use findings::{Conclusions, left_out};
use model::{HOST_NAME, Run, WorkloadInfo};

/// Several runs with what was concluded from each, and how they compare; the first is the base.
#[derive(Clone, Copy, Debug)]
pub struct SideBySide<'a> {
    /// The runs.
    pub runs: &'a [(Run, Conclusions)],
    /// Their comparisons.
    pub several: &'a Several,
    /// How the user named them; may be empty.
    pub words: &'a [String],
    /// The fleet whose machines they are: then the first one is the median machine.
    pub fleet: Option<&'a FleetHead>,
}

/// One metric of a workload under one set of parameters, in all runs that have it.
struct SideTable<'a> {
    info: &'a WorkloadInfo,
    /// The first run that has it, and its table there.
    first: (&'a Run, &'a Table),
    /// The points of all runs, ascending.
    points: Vec<u64>,
    /// Its series, in the order of the workload.
    rows: Vec<SideRow<'a>>,
}

/// A series in all runs.
struct SideRow<'a> {
    subject: &'a str,
    label: &'a str,
    group: &'a str,
    /// The series as a whole, by run: no figure, unless there is one point.
    overall: Vec<SideCell<'a>>,
    /// By point, and then by run.
    points: Vec<Vec<SideCell<'a>>>,
}

/// What one run has of a series, or of a point of it.
#[derive(Clone, Debug, Default)]
struct SideCell<'a> {
    median: Option<Estimate>,
    /// To the first run.
    ratio: Option<&'a Ratio>,
    is_best: bool,
    /// Why there is no figure.
    missing: Option<String>,
}

impl SideTable<'_> {
    /// Whether its figures are operations that have nothing to do with each other, at one point.
    fn is_single(&self) -> bool {
        is_single(self.info, self.first.1) && self.points.len() == 1
    }

    /// The unit in which all its figures are readable.
    fn unit(&self) -> Unit {
        self.unit_of(self.rows.iter())
    }

    /// The same for some of its rows.
    fn unit_of<'r, 'a: 'r>(&self, rows: impl Iterator<Item = &'r SideRow<'a>>) -> Unit {
        let cells = rows.flat_map(|row| row.points.iter().flatten());
        let medians: Vec<f64> =
            cells.filter_map(|cell| Some(cell.median.as_ref()?.value)).collect();
        Unit::for_table(&self.first.1.metric.unit, &medians)
    }

    /// `poll · 1 active of N watched descriptors · loop`.
    fn title(&self) -> String {
        let (run, table) = self.first;
        if self.is_single() {
            let at = counted(&count(self.points[0]), &table.axis);
            let scope = text::parameters::scope(run, &table.workload, &table.parameters);
            return [scope, at, text::metrics::about(&table.metric).to_owned()].join(" · ");
        }
        let parameters = text::parameters::with_axis(run, &table.workload, &table.parameters);
        let about = text::metrics::about(&table.metric);
        let better = if table.metric.lower_is_better { "" } else { ", more is better" };
        format!("{} · {parameters} · {about}{better}", table.workload)
    }
}

impl<'a> SideBySide<'a> {
    /// What each run is called in a column or row: by its host or by a label of it where these tell the runs apart; else by
    /// its number, with the host where these differ.
    fn names(&self) -> Vec<String> {
        if let Some(fleet) = self.fleet {
            return fleet.names.clone();
        }
        let runs = || self.runs.iter().map(|(run, _)| run);
        let host = |run: &Run| run.host_before.fact(HOST_NAME).map(str::to_owned);
        let hosts: Option<Vec<String>> = runs().map(host).collect();
        let differ = self.runs.windows(2).any(|pair| host(&pair[0].0) != host(&pair[1].0));
        let numbers = runs().map(|run| {
            let name = match run.summary.number {
                0 => format!("run {}", short_id(run)),
                number => format!("run {number}"),
            };
            let host = host(run).filter(|_| differ);
            host.map_or_else(|| name.clone(), |host| format!("{name} on {host}"))
        });
        let ids = runs().map(|run| format!("run {}", short_id(run)));
        let mut candidates = vec![hosts.unwrap_or_default()];
        candidates.extend(self.names_by_label());
        candidates.extend([numbers.collect(), self.words.to_vec(), ids.collect()]);
        let is_distinct = |names: &&Vec<String>| {
            names.len() == self.runs.len()
                && names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
        };
        let distinct = candidates.iter().find(is_distinct).cloned();
        distinct.unwrap_or_else(|| (1..=self.runs.len()).map(|at| format!("#{at}")).collect())
    }

    /// The values of each label that all runs have.
    fn names_by_label(&self) -> Vec<Vec<String>> {
        let Some((first, _)) = self.runs.first() else { return Vec::new() };
        let values = |key: &String| {
            self.runs.iter().map(|(run, _)| run.summary.labels.get(key).cloned()).collect()
        };
        first.summary.labels.keys().filter_map(values).collect()
    }

    /// Each run in a line: `amber: run 7 (00000000a3f1b2c4), 2026-11-21 14:02 UTC, knee 0.1.0 · Example CPU, 2 CPUs,
    /// Linux 6.18`.
    fn identities(&self) -> Vec<String> {
        let identity = |((run, _), name): (&(Run, Conclusions), String)| {
            let machine = findings::answer::machine(run).map(|machine| format!(" · {machine}"));
            let identity = crate::comparison::identity(run);
            let name =
                if identity.starts_with(&name) { String::new() } else { format!("{name}: ") };
            format!("{name}{identity}{}", machine.unwrap_or_default())
        };
        self.runs.iter().zip(self.names()).map(identity).collect()
    }

    /// Each run but the first with its comparison.
    fn comparisons(&self) -> impl Iterator<Item = (usize, &'a Result<Comparison, Refusal>)> {
        self.several.comparisons.iter().enumerate().map(|(index, result)| (index + 1, result))
    }

    /// Why runs have no ratio, each with its name.
    fn refusals(&self) -> Vec<String> {
        let names = self.names();
        let refused = self.comparisons().filter_map(|(run, result)| {
            let refusal = left_out::refusal(result.as_ref().err()?);
            Some(format!("{} has no ratio to {}: {refusal}", names[run], names[0]))
        });
        refused.collect()
    }

    /// The tables of all runs, of the headline metrics or of `all`.
    fn tables(&self, all: bool) -> Vec<SideTable<'a>> {
        let mut infos = self.runs.iter().flat_map(|(run, _)| &run.plan.workloads);
        // The harness's own cost is of interest where it alone was measured.
        let only_controls = infos.all(WorkloadInfo::is_control);
        let mut keys: Vec<(&'a WorkloadInfo, (&'a Run, &'a Table))> = Vec::new();
        for (run, conclusions) in self.runs {
            for table in text::tables::shown(&conclusions.analysis) {
                let is_listed = keys.iter().any(|(_, (_, listed))| is_same(listed, table));
                let mut infos = run.plan.workloads.iter();
                let info = infos.find(|info| info.name == table.workload);
                let info = info.filter(|info| only_controls || !info.is_control());
                if let Some(info) = info.filter(|_| !is_listed && (all || table.headline)) {
                    keys.push((info, (run, table)));
                }
            }
        }
        keys.into_iter().map(|(info, first)| self.table(info, first)).collect()
    }

    fn table(&self, info: &'a WorkloadInfo, first: (&'a Run, &'a Table)) -> SideTable<'a> {
        let of_runs: Vec<Option<&'a Table>> = self
            .runs
            .iter()
            .map(|(_, conclusions)| {
                conclusions.analysis.tables.iter().find(|table| is_same(table, first.1))
            })
            .collect();
        let mut points: Vec<u64> =
            of_runs.iter().flatten().flat_map(|table| table.points.iter().copied()).collect();
        points.sort_unstable();
        points.dedup();
        let mut subjects: Vec<(&'a str, &'a str)> = Vec::new();
        for row in of_runs.iter().flatten().flat_map(|table| &table.rows) {
            let has_figures = row.cells.iter().any(Option::is_some);
            if has_figures && !subjects.iter().any(|(subject, _)| *subject == row.subject) {
                subjects.push((&row.subject, &row.label));
            }
        }
        let order = |subject: &str| info.subjects.iter().position(|info| info.name == subject);
        subjects.sort_by_key(|(subject, _)| order(subject).unwrap_or(usize::MAX));
        let row = |(subject, label): (&'a str, &'a str)| SideRow {
            subject,
            label,
            group: info.group(subject),
            overall: self.cells(first.1, &of_runs, subject, None, points.len()),
            points: points
                .iter()
                .map(|&point| self.cells(first.1, &of_runs, subject, Some(point), points.len()))
                .collect(),
        };
        let rows = subjects.into_iter().map(row).collect();
        SideTable { info, first, points, rows }
    }

    /// What the runs have of a series, or at a `point` of it; where there is one, the ratio of the series is the
    /// point's.
    fn cells(
        &self,
        table: &Table,
        of_runs: &[Option<&'a Table>],
        subject: &str,
        point: Option<u64>,
        points: usize,
    ) -> Vec<SideCell<'a>> {
        let compared = point.filter(|_| points > 1);
        let best = self.several.best(table, subject, compared);
        let cell = |(index, of_run): (usize, Option<&'a Table>)| {
            let row = of_run.and_then(|table| table.row(subject));
            let median = row.zip(point).and_then(|(row, point)| Some(row.at(point)?.median));
            let missing = row.zip(point).and_then(|(row, point)| text::notes::gap(row, point));
            SideCell {
                median,
                ratio: self.ratio(table, subject, compared, index),
                is_best: best == Some(index),
                missing: missing.filter(|_| median.is_none()),
            }
        };
        of_runs.iter().copied().enumerate().map(cell).collect()
    }

    fn ratio(
        &self,
        table: &Table,
        subject: &str,
        point: Option<u64>,
        run: usize,
    ) -> Option<&'a Ratio> {
        let comparison = self.several.comparisons.get(run.checked_sub(1)?)?.as_ref().ok()?;
        let compared = comparison.tables.iter().find(|compared| {
            (&compared.workload, &compared.parameters, &compared.metric.name)
                == (&table.workload, &table.parameters, &table.metric.name)
        })?;
        let row = compared.rows.iter().find(|row| row.subject == subject)?;
        let Some(point) = point else { return Some(&row.overall) };
        let column = compared.points.iter().position(|compared| *compared == point)?;
        Some(&row.cells[column].as_ref()?.ratio)
    }
}

fn is_same(listed: &Table, table: &Table) -> bool {
    (&listed.workload, &listed.parameters, &listed.metric.name)
        == (&table.workload, &table.parameters, &table.metric.name)
}

fn short_id(run: &Run) -> &str {
    run.summary.id.get(..6).unwrap_or(&run.summary.id)
}

/// From this ratio of its ends on a CI says nothing.
const RANGE_MAX: f64 = 1e4;

/// The CI of a ratio, as short as a column asks for: `1.34–1.47`.
fn range(ratio: &Ratio) -> Option<String> {
    let Estimate { low, high, .. } = ratio.ratio;
    if low < high && high > RANGE_MAX * low {
        return Some("too wide".to_owned());
    }
    crate::comparison::interval(ratio)
}

/// What the ratios and marks mean.
fn legend(side: &SideBySide<'_>, margin: f64, best: &str) -> String {
    let base = &side.names()[0];
    let margin = findings::format::percent(margin);
    let marks =
        format!("with their 95 % CI: ▲ slower, ▼ faster, = the same within {margin}, ? undecided");
    if side.fleet.is_some() {
        return format!("ratios to the median machine {marks}");
    }
    format!("ratios to {base} {marks}; {best} better than each other run")
}

/// That all CIs hold at once; and that QEMU emulated the machines, where it did.
fn confidence(side: &SideBySide<'_>) -> String {
    let runs = side.runs.len();
    if side.fleet.is_some() {
        return format!(
            "The CIs of all ratios of the {} machines hold at once with 95 % confidence",
            runs.saturating_sub(1)
        );
    }
    let emulation = Emulation::from_runs(side.runs.iter().map(|(run, _)| run));
    let emulation = emulation.map(|emulation| format!("{} ", emulation.sentence()));
    let wider = if runs > 2 { ": each is wider than in a comparison of two runs" } else { "" };
    format!(
        "{}The CIs of all ratios between the {runs} runs hold at once with 95 % confidence{wider}",
        emulation.unwrap_or_default()
    )
}
