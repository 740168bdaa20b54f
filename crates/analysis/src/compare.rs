//! Two runs, compared: what is faster, slower or the same, and what else changed.
//!
//! What must not happen is a false alarm, and a shared machine does all it can to bring one about. Thirty
//! runs of the same workloads, one after the other on a virtual machine with two busy CPUs, showed how:
//!
//! - Rounds of most series are on two levels some 30 % apart, and nothing between: another tenant used the
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
//! Of several runs each is compared with the first, and where one is to be called the best, with all others. The
//! correction is for all pairs of them, so that the 5 % hold for the whole.
//!
//! Runs that took turns cell by cell are compared as two series of one run ([`crate::pairs`]): what disturbed one
//! disturbed the other, so that neither drift nor floor is added, and no witness is asked. What share of the cells is disturbed
//! all series of a table know together: by their own cells alone, 13 of 400 pairs of equal runs had a false difference where a
//! fifth of the cells was disturbed, and 4 have. Between runs apart the witness hides a
//! change that leaves a tenth of the operations alone: a different result of the medians is reported, and
//! decides nothing. What this can't know: a neighbour who was there from the
//! beginning to the end of one of two runs, and another build that lies in memory otherwise. Both differ by
//! more than chance, and only turns, or another day, tell them from a change.

mod attributions;
mod changes;
mod comparable;
mod contention;
mod differences;
mod effects;
mod fleet;
mod judge;
mod left_out;
mod levels;
mod median;
mod results;
mod sensitivity;
mod series;
mod served;
mod several;
mod slowdown;
mod table_pair;

pub use fleet::{Fleet, Outlier, OutlierSeries, compare_fleet};
pub use left_out::{LeftOut, NoRatioReason, Refusal, RefusalReason, Side, TableName, WholeFigure};
pub use median::{MEDIAN_ID, is_median, median_run};
pub use results::*;
pub use several::{Best, Several, compare_in_order, compare_several};
pub use slowdown::{Bound, Slowdown, bound, slowdowns};

use crate::Table;
use crate::tables::tables_where;
use crate::thresholds::RUN_ERROR;
use effects::Arrangement;
use judge::Family;
use model::Run;
use std::collections::BTreeSet;
use table_pair::TablePair;

/// What of `new` is faster, slower or the same as in `base`, and what else changed; or why they can't be
/// compared.
pub fn compare(base: &Run, new: &Run, terms: &Terms) -> Result<Comparison, Refusal> {
    compare_among(base, new, terms, 1)
}

/// The same where it is one of so many `comparisons` that are to hold all at once.
pub fn compare_among(
    base: &Run,
    new: &Run,
    terms: &Terms,
    comparisons: usize,
) -> Result<Comparison, Refusal> {
    compare_with(base, new, terms, comparisons, &mut TableCache::default())
}

/// The tables of runs, each run analysed once however many it is compared with.
#[derive(Default)]
struct TableCache<'a> {
    all: Vec<(&'a Run, BTreeSet<&'a str>, Vec<Table>)>,
}

impl<'a> TableCache<'a> {
    fn tables(&mut self, run: &'a Run, workloads: &BTreeSet<&'a str>, terms: &Terms) -> Vec<Table> {
        let is_cached = |(analysed, names, _): &&(&Run, BTreeSet<&str>, Vec<Table>)| {
            std::ptr::eq(*analysed, run) && names == workloads
        };
        if let Some((_, _, tables)) = self.all.iter().find(is_cached) {
            return tables.clone();
        }
        let is_compared =
            |name: &str, headline: bool| workloads.contains(name) && (terms.all || headline);
        let tables = tables_where(run, is_compared);
        self.all.push((run, workloads.clone(), tables.clone()));
        tables
    }
}

/// The same with the tables of the runs that were compared before.
fn compare_with<'a>(
    base: &'a Run,
    new: &'a Run,
    terms: &Terms,
    comparisons: usize,
    cache: &mut TableCache<'a>,
) -> Result<Comparison, Refusal> {
    let (workloads, mut left_out) = comparable::comparable(base, new, terms)?;
    let sources = [base, new].map(|run| cache.tables(run, &workloads, terms));
    let arrangement = Arrangement::new(base, new);
    let common = comparable::common_tables(&sources[0], &sources[1], &mut left_out);
    let mut pairs: Vec<TablePair<'_>> =
        common.iter().map(|tables| TablePair::new(base, new, *tables, arrangement)).collect();
    left_out.extend(pairs.iter().flat_map(TablePair::left_out));
    let family = family(&pairs, terms, arrangement, comparisons);
    allow_for_tails(&mut pairs, family);
    let judged = pairs.iter().filter(|pair| !pair.rows.is_empty());
    let tables: Vec<ComparedTable> = judged.map(|pair| pair.judged(family)).collect();
    let of_rounds = pairs.iter().filter(|pair| !pair.is_tail());
    let judged_effects =
        of_rounds.flat_map(|pair| pair.rows.iter().map(|row| (&row.effects, pair.usual)));
    let wanted = terms.fail_above.unwrap_or(terms.margin);
    let is_of_rounds = |table: &&ComparedTable| table.metric.role.whole_share().is_none();
    let tables_of_rounds: Vec<&ComparedTable> = tables.iter().filter(is_of_rounds).collect();
    let sensitivity = sensitivity::sensitivity(&tables_of_rounds, judged_effects, family, wanted);
    let rivals = |name: &str| {
        let workload = new.plan.workloads.iter().find(|workload| workload.name == name);
        workload.map(|workload| workload.compared_pairs.clone()).unwrap_or_default()
    };
    let differences = differences::differences(base, new);
    let mut changes = contention::contention(new, &tables, &differences, terms.margin);
    changes.extend(changes::changes([base, new], &pairs, &tables, family, &rivals));
    attributions::attribute(&mut changes, [base, new], &tables, &sources[1]);
    attributions::name_calls(&mut changes, [base, new], &tables);
    // That all cells fail now is a change too.
    if tables.is_empty() && changes.is_empty() {
        let left_out = left_out.into_iter().map(RefusalReason::LeftOut);
        let reasons = [RefusalReason::NoCommonFigure].into_iter().chain(left_out).collect();
        return Err(Refusal { reasons });
    }
    Ok(Comparison {
        base: base.summary.clone(),
        new: new.summary.clone(),
        margin: terms.margin,
        fail_above: terms.fail_above,
        paired: arrangement == Arrangement::Interleaved,
        judged: family.series + family.points,
        sensitivity,
        differences,
        left_out,
        tables,
        changes,
        sources,
    })
}

/// Holds the tails of a load to what its headline shows of the machine: a half-width of the headline's CI widens that of a tail
/// on either side, since a bootstrap of one load does not show how the machine differed in the next. Of 66 pairs of twelve equal
/// loads next to compilers on two CPUs, 15 were called different without it, and 1 with it. See `docs/method.md` for loads where
/// this is not enough.
fn allow_for_tails(pairs: &mut [TablePair<'_>], family: Family) {
    let headlines: Vec<(&Table, f64)> = pairs
        .iter()
        .filter(|pair| pair.tables[0].headline)
        .map(|pair| (pair.tables[0], pair.half_width(family)))
        .collect();
    for pair in pairs.iter_mut().filter(|pair| pair.is_tail()) {
        let tail = pair.tables[0];
        let is_of_same = |(table, _): &&(&Table, f64)| {
            (&table.workload, &table.effective) == (&tail.workload, &tail.effective)
        };
        let width = headlines.iter().filter(is_of_same).map(|(_, width)| *width);
        pair.usual.allow(width.fold(0.0, f64::max));
    }
}

/// All ratios that are judged at once, those of the other `comparisons` too. The figures of a model have no error
/// of a run, and interleaved runs share theirs.
fn family(
    pairs: &[TablePair<'_>],
    terms: &Terms,
    arrangement: Arrangement,
    comparisons: usize,
) -> Family {
    let rows = || pairs.iter().flat_map(|pair| &pair.rows);
    let separate = arrangement == Arrangement::Separate;
    let series = rows().filter(|row| row.effects.overall.is_some()).count();
    let points: usize = rows().map(|row| row.effects.points.iter().flatten().count()).sum();
    Family {
        series: comparisons * series,
        points: comparisons * points,
        floor: if separate { RUN_ERROR } else { 0.0 },
        witness: separate,
        margin: terms.margin,
    }
}
