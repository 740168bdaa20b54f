//! Two runs beside each other: what is faster, slower or the same, and what else changed.
//!
//! What must not happen is a false alarm, and a shared machine does all it can to bring one about. Thirty
//! runs of the same workloads, one after the other on a virtual machine with two busy CPUs, showed how:
//!
//! - Rounds of most series are on two levels some 30 % apart, and nothing between: somebody else used the
//!   other half of the core, or did not. How many rounds are disturbed changes over minutes. So the medians
//!   of two runs of the same series differ by 10 % in half of the pairs, and by 28 % in a tenth of them.
//! - What the best tenth of a round's samples comes to, taken over the better rounds, is the same to 0.6 to
//!   1.3 % in half of the pairs and to 4 % in nine tenths: disturbances only make it worse, and there is
//!   hardly a run without a quiet moment. Threads that contend are the exception: disturbing one may help
//!   the others. But there rounds scatter just as much, and their own errors say so.
//! - A percentile of bootstrap replicates of five rounds ends at the outermost round: it can't reach the
//!   tail that a correction for dozens of series asks for.
//!
//! Hence the rule. All is done in logarithms, and a round of a cell is one figure: its median.
//!
//! 1. *Error.* Whole rounds are drawn with replacement, the same for all points, since a round has the
//!    machine's state in common. The deviation of the drawn differences, widened for few rounds, is the
//!    standard error; a series whose rounds were alike by luck is held to what is usual in its table.
//! 2. *Interval.* So many errors as Student's t asks for, for the rounds that there are and all ratios that
//!    are judged (Bonferroni's correction, which makes the intervals hold all at once). Four fifths of the
//!    5 % doubt go to whole series, which are few, and the rest to points. To either side comes what no
//!    round shows: twice what all series changed by from the first half of a run to the second, and a floor of
//!    1 %, since where a program and its pages come to lie differs from run to run.
//! 3. *Witness.* The interval is widened until it holds what the undisturbed part of the rounds says, by
//!    three of its own errors. A neighbour who is there in one of the runs only moves the medians, and not
//!    that; a change of the program moves both.
//! 4. *Verdict.* The same where the whole interval is within the margin, also if it excludes 1; else
//!    slower or faster where it excludes 1; else undecided.
//!
//! Runs that took turns cell by cell are compared round by round: what disturbed one disturbed the other,
//! so that neither drift nor floor is added, and no witness is asked. Between runs apart the witness hides a
//! change that leaves a tenth of the operations alone: that the medians say otherwise is told, and decides
//! nothing. What this can't know: a neighbour who was there from the
//! beginning to the end of one of two runs, and another build that lies in memory otherwise. Both differ by
//! more than chance, and only turns, or another day, tell them from a change.

mod changes;
mod comparable;
mod differences;
mod effects;
mod judge;
mod levels;
mod model;
mod series;
pub mod thresholds;

pub use model::*;

use crate::compare::thresholds::RUN_ERROR;
use crate::findings::words;
use crate::gather::Gathered;
use crate::gather::places::verdicts_from;
use crate::stats::random::generator;
use crate::tables::tables_where;
use crate::{Row, Table};
use effects::{Effects, Made, effects};
use judge::{Family, Usual, ratios};
use levels::Levels;
use record::{HOST_NAME, Run, RunState, Warning};
use std::collections::BTreeMap;

/// What of `new` is faster, slower or the same as in `base`, and what else changed; or why they can't be
/// compared.
pub fn compare(base: &Run, new: &Run, terms: &Terms) -> Result<Comparison, Refused> {
    let common = comparable::common(base, new, terms)?;
    let mut left_out = unended(base, new);
    left_out.extend(two_machines(base, new));
    left_out.extend(common.left_out);
    let wanted = |name: &str, place: usize| {
        let both = common.workloads.iter().any(|(one, _)| one.name == name);
        both && (terms.all || place == 0)
    };
    let [of_base, of_new] = [base, new].map(|run| tables_where(run, wanted));
    let made = Made::of(base, new);
    let matches = matches(&of_base, &of_new, &mut left_out);
    let compared: Vec<TablePair<'_>> =
        matches.iter().map(|pair| TablePair::of(base, new, *pair, made)).collect();
    for beside in &compared {
        left_out.extend(beside.left_out());
    }
    let family = family(&compared, terms, made);
    let judged = |beside: &&TablePair<'_>| !beside.rows.is_empty();
    let tables: Vec<ComparedTable> =
        compared.iter().filter(judged).map(|beside| beside.judged(family)).collect();
    let rivals = |name: &str| {
        let of = new.plan.workloads.iter().find(|workload| workload.name == name);
        of.map(|workload| workload.compared_pairs.clone()).unwrap_or_default()
    };
    let changes = changes::changes(&compared, &tables, family, &rivals);
    // That all of it fails now is a change too.
    if tables.is_empty() && changes.is_empty() {
        return Err(nothing(&left_out));
    }
    Ok(Comparison {
        base: base.summary.clone(),
        new: new.summary.clone(),
        margin: terms.margin,
        paired: made == Made::Turns,
        judged: family.series + family.points,
        differences: differences::differences(base, new),
        left_out,
        tables,
        changes,
        sources: [of_base, of_new],
    })
}

/// All ratios that are judged at once. Nothing is off by chance in what a model computed, and runs that took
/// turns share what they are off by.
fn family(compared: &[TablePair<'_>], terms: &Terms, made: Made) -> Family {
    let rows = || compared.iter().flat_map(|beside| &beside.rows);
    let apart = made == Made::Apart;
    Family {
        series: rows().filter(|row| row.effects.overall.is_some()).count(),
        points: rows().map(|row| row.effects.points.iter().flatten().count()).sum(),
        floor: if apart { RUN_ERROR } else { 0.0 },
        witness: apart,
        margin: terms.margin,
    }
}

/// That the hardware is equal and the machines are two.
fn two_machines(base: &Run, new: &Run) -> Option<Warning> {
    let hosts = [base, new].map(|run| &run.host_before);
    if hosts[0].is_same_machine(hosts[1]) != Some(false) {
        return None;
    }
    let [first, second] = hosts.map(|host| host.fact(HOST_NAME).unwrap_or("a host without a name"));
    Some(Warning {
        what: format!("base and new are of two machines: {first} and {second}"),
        remedy: "measure both on one machine".to_owned(),
    })
}

/// A line for each run that was not measured to its end.
fn unended(base: &Run, new: &Run) -> Vec<Warning> {
    let of = [("base", base), ("new", new)].into_iter();
    let unended = of.filter(|(_, run)| run.summary.state != RunState::Complete);
    let told = |(which, run): (&str, &Run)| Warning {
        what: format!(
            "{which} is {}, and compared as far as it came: {} of {} cells",
            run.summary.state.name(),
            run.cells.len(),
            run.plan.cells.len()
        ),
        remedy: format!("knee run --resume={}", run.summary.id),
    };
    unended.map(told).collect()
}

fn nothing(left_out: &[Warning]) -> Refused {
    let mut because =
        vec!["the runs have no figure in common (measure the same subjects and points)".to_owned()];
    because.extend(left_out.iter().take(3).map(|warning| match warning.remedy.as_str() {
        "" => warning.what.clone(),
        remedy => format!("{} ({remedy})", warning.what),
    }));
    Refused { because }
}

/// The tables that both have; of the others a line.
fn matches<'a>(
    base: &'a [Table],
    new: &'a [Table],
    left_out: &mut Vec<Warning>,
) -> Vec<[&'a Table; 2]> {
    let mut found = Vec::new();
    let key = |table: &Table| {
        (table.workload.clone(), table.parameters.clone(), table.metric.name.clone())
    };
    let told = |tables: &[Table], table: &Table| {
        format!("{}{}", table.workload, crate::findings::qualifiers(tables, table))
    };
    for one in base {
        match new.iter().find(|other| key(other) == key(one)) {
            Some(other) if same_unit(one, other) => found.push([one, other]),
            Some(other) => left_out.push(Warning {
                what: format!(
                    "{} is in another unit: {} and {}",
                    told(base, one),
                    one.metric.unit,
                    other.metric.unit
                ),
                remedy: "measure base again with the knee of new".to_owned(),
            }),
            None => left_out.push(Warning {
                what: format!("{} is in base only", told(base, one)),
                remedy: String::new(),
            }),
        }
    }
    for other in new.iter().filter(|other| !base.iter().any(|one| key(one) == key(other))) {
        let what = format!("{} is in new only", told(new, other));
        left_out.push(Warning { what, remedy: String::new() });
    }
    found
}

fn same_unit(base: &Table, new: &Table) -> bool {
    let of = |table: &Table| (table.metric.unit.clone(), table.metric.lower_is_better);
    of(base) == of(new)
}

/// Two tables beside each other.
struct TablePair<'a> {
    /// Base and new.
    tables: [&'a Table; 2],
    /// The points that both have.
    points: Vec<u64>,
    /// The series that are judged.
    rows: Vec<RowPair<'a>>,
    /// Labels of series by why and where they have figures and no ratio.
    without: BTreeMap<String, Vec<String>>,
    usual: Usual,
}

/// Two rows beside each other.
struct RowPair<'a> {
    /// Base and new.
    rows: [&'a Row; 2],
    effects: Effects,
}

impl RowPair<'_> {
    /// Why it has no ratio where both have figures, and where that is.
    fn without(&self, table: &Table, points: &[u64], levels: [&Levels; 2]) -> Vec<String> {
        let [base, new] = self.rows;
        let none = |at: &usize| {
            let there = base.at(points[*at]).is_some() && new.at(points[*at]).is_some();
            there && self.effects.points[*at].is_none()
        };
        let (apart, zero): (Vec<usize>, Vec<usize>) = (0..points.len())
            .filter(none)
            .partition(|&at| levels.iter().all(|of_run| of_run.rounds_at(at) > 0));
        let mut all = Vec::new();
        for (places, because) in [
            (zero, "a figure that is not above zero has none"),
            (apart, "both were measured there, but in no round of which each has one"),
        ] {
            let places: Vec<u64> = places.into_iter().map(|at| points[at]).collect();
            if !places.is_empty() {
                all.push(format!("at {}: {because}", table.places(&places)));
            }
        }
        if self.effects.overall.is_none() && self.effects.points.iter().any(Option::is_some) {
            let far = table.places(&points[points.len() - 1..]);
            all.push(format!(
                "up to {far}: the first calls of a trajectory are cold and don't count"
            ));
        }
        all
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

impl<'a> TablePair<'a> {
    fn of(base: &Run, new: &Run, tables: [&'a Table; 2], made: Made) -> Self {
        let points: Vec<u64> =
            tables[0].points.iter().copied().filter(|p| tables[1].points.contains(p)).collect();
        let warm = verdicts_from(tables[0].trajectory, &points);
        let count: Vec<bool> = points.iter().map(|&point| point >= warm).collect();
        let gathered = [base, new].map(|run| Gathered::of(run, &tables[0].workload));
        let clocks = (new.clock.overhead_ns - base.clock.overhead_ns).abs();
        let mut without: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let (mut rows, mut of_base, mut of_new) = (Vec::new(), Vec::new(), Vec::new());
        for row in &tables[0].rows {
            let Some(other) = tables[1].row(&row.subject) else { continue };
            let [one, two] = [0, 1].map(|run| {
                let of = tables[run];
                Levels::of(&gathered[run], &row.subject, &of.parameters, &of.metric, &points)
            });
            let words = [tables[0].workload.as_str(), &row.subject, &tables[0].metric.name];
            let mut random = generator(base.plan.seed ^ new.plan.seed, &words);
            let mut effects = effects(&one, &two, &count, made, &mut random);
            effects.allow(&offsets([row, other], &points, &one.alone, clocks), &count);
            let row = RowPair { rows: [row, other], effects };
            for why in row.without(tables[1], &points, [&one, &two]) {
                without.entry(why).or_default().push(other.label.clone());
            }
            if row.effects.overall.is_some() {
                rows.push(row);
                of_base.push(one);
                of_new.push(two);
            }
        }
        let all: Vec<&Effects> = rows.iter().map(|row| &row.effects).collect();
        let usual = Usual::of(&all, &[&of_base, &of_new], made);
        Self { tables, points, rows, without, usual }
    }

    /// What is in one of the two only, or has no ratio: a line each for subjects and points.
    fn left_out(&self) -> Vec<Warning> {
        let [base, new] = self.tables;
        let mut all = Vec::new();
        let name = &base.workload;
        for (which, one, other) in [("base", base, new), ("new", new, base)] {
            let has = |table: &Table, subject: &str| {
                table.row(subject).is_some_and(|row| row.cells.iter().any(Option::is_some))
            };
            let alone = one.rows.iter().filter(|row| has(one, &row.subject));
            let alone: Vec<String> = alone
                .filter(|row| !has(other, &row.subject) && !self.is_told(&row.subject))
                .map(|row| row.label.clone())
                .collect();
            if !alone.is_empty() {
                all.push(format!("{name}: {} only in {which}", words::list(&alone)));
            }
            let points: Vec<u64> =
                one.points.iter().copied().filter(|p| !other.points.contains(p)).collect();
            if !points.is_empty() {
                let points = format!("{} {}", words::points(&points), one.axis);
                all.push(format!("{name}: {points} only in {which}"));
            }
        }
        let without = self.without.iter();
        all.extend(
            without
                .map(|(why, labels)| format!("{name}: no ratio of {} {why}", words::list(labels))),
        );
        all.into_iter().map(|what| Warning { what, remedy: String::new() }).collect()
    }

    /// Whether what became of a series is a change, and told as such: its cells fail now, or did.
    fn is_told(&self, subject: &str) -> bool {
        let rows = self.tables.map(|table| table.row(subject));
        let [Some(base), Some(new)] = rows else { return false };
        !series::outcomes(base, new).is_empty()
    }

    fn judged(&self, family: Family) -> ComparedTable {
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
        let lower_is_better = self.tables[1].metric.lower_is_better;
        let (overall, points) = ratios(&row.effects, self.usual, family, lower_is_better);
        let [base, new] = row.rows;
        let cell = |(&point, ratio): (&u64, Option<Ratio>)| {
            let (base, new) = (base.at(point)?.median, new.at(point)?.median);
            Some(ComparedPoint { base, new, ratio: ratio? })
        };
        Some(ComparedRow {
            subject: new.subject.clone(),
            label: new.label.clone(),
            overall: overall?,
            cells: self.points.iter().zip(points).map(cell).collect(),
        })
    }
}
