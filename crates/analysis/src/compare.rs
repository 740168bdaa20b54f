//! Two runs, compared: what is faster, slower or the same, and what else changed.
//!
//! `docs/method.md` has the rules. What they are made for, by thirty runs of the same on a virtual machine with two
//! busy CPUs: rounds lie on two levels some 30 % apart, so that medians of two runs differ by 10 % in half of the
//! pairs, and by 28 % in a tenth. The best tenths of samples, over the better rounds, are the same to 0.6 to 1.3 % in
//! half of the pairs and to 4 % in nine tenths: hence the *witness*. It hides a change that leaves a tenth of the
//! operations alone: then the medians are reported, and decide nothing.
//!
//! Four fifths of the 5 % doubt go to whole series, which are few, and the rest to points. The deviation of drawn
//! differences is the error, since a percentile of five rounds can't reach the tail that a correction for dozens of
//! series asks for. Of several runs the correction is for all pairs.
//!
//! Runs that took turns cell by cell are compared as two series of one run ([`crate::pairs`]), without drift, floor and
//! witness. What share of the cells is disturbed all series of a table know together: by their own cells alone, 13 of
//! 400 pairs of equal runs had a false difference where a fifth of the cells was disturbed, and 4 have.

mod attributions;
mod changes;
mod comparable;
mod contention;
pub(crate) mod differences;
mod effects;
mod fleet;
mod judge;
mod left_out;
mod levels;
mod results;
mod series;
mod several;
mod table_pair;

pub use fleet::*;
pub use left_out::*;
pub use results::*;
pub use several::*;

use crate::Table;
use crate::tables::tables_where;
use crate::thresholds::RUN_ERROR;
use effects::Arrangement;
use judge::Family;
use model::Run;
use std::collections::{BTreeMap, BTreeSet};
use table_pair::TablePair;

/// What of `new` is faster, slower or the same as in `base`, and what else changed; or why they can't be compared.
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

/// The tables of workloads of runs, by the address of the run: each is analysed once however many it is compared with.
type TableCache<'a> = BTreeMap<(*const Run, BTreeSet<&'a str>), Vec<Table>>;

/// The same with the tables of the runs that were compared before.
fn compare_with<'a>(
    base: &'a Run,
    new: &'a Run,
    terms: &Terms,
    comparisons: usize,
    cache: &mut TableCache<'a>,
) -> Result<Comparison, Refusal> {
    let (workloads, mut left_out) = comparable::comparable(base, new, terms)?;
    let is_compared =
        |name: &str, headline: bool| workloads.contains(name) && (terms.all || headline);
    let sources = [base, new].map(|run| {
        let tables = cache.entry((std::ptr::from_ref(run), workloads.clone()));
        tables.or_insert_with(|| tables_where(run, is_compared)).clone()
    });
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
    let sensitivity = judge::sensitivity(&tables, judged_effects, family, wanted);
    let differences = differences::differences(base, new);
    let mut changes = contention::contention(new, &tables, &differences, terms.margin);
    changes.extend(changes::changes([base, new], &pairs, &tables, family));
    attributions::attribute(&mut changes, [base, new], &tables, &sources[1]);
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
        two_machines: base.host_before.is_same_machine(&new.host_before) == Some(false),
        judged: family.series + family.points,
        sensitivity,
        differences,
        left_out,
        tables,
        changes,
        sources,
    })
}

/// Widens the CI of a tail by a half-width of its headline's, since a bootstrap of one load does not show how the
/// machine differed in the next. Of 66 pairs of twelve equal loads next to compilers, 15 were called different without
/// it, and 1 with it.
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
        pair.usual.drift += width.fold(0.0, f64::max);
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
