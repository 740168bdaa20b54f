//! What each CPU of virtual machines had of the CPUs of their host, and, where the machines differ in how their kernel's
//! locks wait, what Jeremy Fitzhardinge measured in 2008.

mod published;

use crate::html::head;
use crate::layout::Pen;
use crate::matrix::grid::Grid;
use crate::text::{NO_FIGURE, averages};
use analysis::{Analysis, AverageColumn, AverageRow};
use findings::format::{factor, significant};
use maud::{Markup, html};
use model::{Run, SPINLOCKS};

/// The label of the kernel and the machine that a run of `knee vm` has.
const KERNEL: &str = "kernel";

/// One machine, or one row of the publication.
struct GuestRow {
    name: String,
    /// The elapsed time of a build, under each load.
    loads: Vec<Elapsed>,
    /// The seconds that each of its CPUs ran.
    cpus: Vec<f64>,
}

/// How long a build took: mean and deviation, in seconds; or why nothing says that.
type Elapsed = Result<(f64, Option<f64>), String>;

/// Virtual machines of one command.
pub(crate) struct Guests {
    rows: Vec<GuestRow>,
    /// The names of the loads that were built under.
    loads: Vec<String>,
    /// Whether their kernels' locks wait in different ways.
    differ_in_locks: bool,
}

impl Guests {
    /// Those of `runs`; none where a run is of no virtual machine.
    pub(crate) fn new<'a>(
        runs: impl Iterator<Item = (&'a Run, Option<&'a Analysis>)>,
    ) -> Option<Guests> {
        let (mut rows, mut loads, mut locks) = (Vec::new(), Vec::new(), Vec::new());
        for (run, analysis) in runs {
            let cpus = run.host_after.as_ref()?.guest_cpu_seconds();
            if cpus.is_empty() {
                return None;
            }
            let waiting = run.host_before.fact(SPINLOCKS);
            locks.push(waiting);
            let (names, elapsed) = analysis.map(elapsed).unwrap_or_default();
            loads = names;
            let labels = &run.summary.labels;
            let name = labels.get(KERNEL).map_or_else(|| run.summary.id.clone(), String::clone);
            let name = waiting.map_or(name.clone(), |waiting| format!("{waiting}: {name}"));
            rows.push(GuestRow { name, loads: elapsed, cpus });
        }
        let first = *locks.first()?;
        let differ_in_locks = locks.iter().any(|waiting| *waiting != first && waiting.is_some());
        Some(Guests { rows, loads, differ_in_locks })
    }
}

/// The number of CPUs of the machine that has most.
fn cpus(rows: &[GuestRow]) -> usize {
    rows.iter().map(|row| row.cpus.len()).max().unwrap_or(0)
}

fn seconds(seconds: Option<&f64>) -> String {
    seconds.map_or_else(|| NO_FIGURE.to_owned(), |seconds| significant(*seconds))
}

/// The loads of a build and how long it took under each.
fn elapsed(analysis: &Analysis) -> (Vec<String>, Vec<Elapsed>) {
    // The elapsed time is the first of the times.
    let builds = analysis.averages.first();
    let is_time = |row: &&AverageRow| row.metric.unit == "ns";
    let row = builds.and_then(|builds| Some((builds, builds.rows.iter().find(is_time)?)));
    let Some((builds, row)) = row else { return Default::default() };
    let load = |(index, column): (usize, &AverageColumn)| {
        let elapsed = match &row.figures[index] {
            Some(average) => {
                Ok((average.mean / 1e9, average.deviation.map(|deviation| deviation / 1e9)))
            }
            None => Err(averages::outcome(column).unwrap_or_default()),
        };
        (averages::head(column), elapsed)
    };
    averages::shown(builds).map(load).unzip()
}

/// `410.7 (2.5)`, and its ratio to that of the first row.
fn elapsed_texts(elapsed: Option<&Elapsed>, first: Option<&Elapsed>) -> [String; 2] {
    let Some(elapsed) = elapsed else { return [NO_FIGURE.to_owned(), String::new()] };
    let (seconds, deviation) = match elapsed {
        Ok(mean) => *mean,
        Err(why) => return [why.clone(), String::new()],
    };
    let deviation = deviation.map(|deviation| format!(" ({})", significant(deviation)));
    let ratio = match first {
        Some(Ok((base, _))) => factor(seconds / base),
        _ => String::new(),
    };
    [format!("{}{}", significant(seconds), deviation.unwrap_or_default()), ratio]
}

impl Pen {
    /// A table of the CPU time.
    pub(crate) fn guests(&self, out: &mut String, guests: &Guests) {
        out.push('\n');
        self.heading(out, "Time that the guests' CPUs ran, in s");
        let cpus = cpus(&guests.rows);
        let heads = (0..cpus).map(|cpu| format!("CPU {cpu}")).chain(["all".to_owned()]);
        let rows = guests.rows.iter().map(|row| {
            let all = row.cpus.iter().sum::<f64>();
            let cells = (0..cpus).map(|cpu| seconds(row.cpus.get(cpu)));
            (row.name.clone(), cells.chain([significant(all)]).collect())
        });
        self.grid(out, &Grid::plain("guest", heads, rows));
    }
}

/// The section of a page; with the publication where the machines differ in their locks.
pub(crate) fn section(guests: &Guests) -> Markup {
    let loads = guests.loads.iter().map(String::as_str);
    html! {
        section #guests aria-labelledby="guests-head" {
            h2 #guests-head { "The guests' CPUs" }
            (table("guests-table", "This run", &loads.collect::<Vec<_>>(), &guests.rows))
            p.legend-line {
                "The time that each CPU of a guest ran on the CPUs of its host, from the boot to the end."
            }
            @if guests.differ_in_locks { (publication()) }
        }
    }
}

fn publication() -> Markup {
    html! {
        h3 { "Next to it: a guest with four CPUs on two, in 2008" }
        (table("published-table", published::TITLE, published::LOADS, &published::rows()))
        p.legend-line {
            (published::SOURCE) " Ticket locks are fair, as queued ones are; byte locks are test-and-set locks. Seconds "
            "of two machines can't be compared, but the ratios to the first row can."
        }
    }
}

/// Rows down; loads and CPUs across. Below a time stands its ratio to that of the first row.
fn table(id: &str, title: &str, loads: &[&str], rows: &[GuestRow]) -> Markup {
    let cpus = cpus(rows);
    let columns: Vec<String> = (0..cpus).map(|cpu| format!("CPU {cpu}")).collect();
    let figures = loads.iter().copied().chain(columns.iter().map(String::as_str));
    let figures = figures.chain(["all CPUs"]).map(|head| (head, true));
    let columns: Vec<(&str, bool)> = [("locks", false)].into_iter().chain(figures).collect();
    let line = |row: &GuestRow| {
        let load = |index: usize| {
            let first = rows.first().and_then(|first| first.loads.get(index));
            let [text, ratio] = elapsed_texts(row.loads.get(index), first);
            html! { (text) @if !ratio.is_empty() { span.interval { (ratio) } } }
        };
        let all = row.cpus.iter().sum();
        let all = Some(&all).filter(|_| !row.cpus.is_empty());
        let times = (0..cpus).map(|cpu| row.cpus.get(cpu)).chain([all]).map(seconds);
        let times = times.map(|time| html! { (time) });
        [html! { (row.name) }].into_iter().chain((0..loads.len()).map(load)).chain(times).collect()
    };
    let body = head::rows(&columns, rows.iter().map(line));
    let caption = html! { strong { (title) } ", in s" };
    head::table((id, "figures compared guests"), &caption, &body)
}
