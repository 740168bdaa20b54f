//! Several runs: each compared with the first, and the best where that is significant; the 5 % hold for all pairs.

use super::drawn::{Design, Factor, QUIET, ROUNDS, USUAL, pair, terms};
use analysis::compare::{Verdict, compare, compare_several};
use analysis::stats::random::generator;
use fastrand::Rng;
use model::Run;

/// So many runs of this design, the first subject of each off by its factor.
fn runs(design: &Design, factors: &[Factor<'_>], random: &mut Rng) -> Vec<Run> {
    let drawn = factors.iter().enumerate().map(|(index, factor)| {
        let [_, mut run] = pair(design, factor, random);
        run.summary.id = format!("{index:016x}");
        run
    });
    drawn.collect()
}

#[test]
fn two_runs_are_compared_as_ever() {
    let mut random = generator(1, &["two"]);
    let all = runs(&USUAL, &[&|_| 1.0, &|_| 1.2], &mut random);
    let several = compare_several(&[&all[0], &all[1]], &terms(0.05));
    let both = compare(&all[0], &all[1], &terms(0.05)).unwrap();
    assert_eq!((several.pairs, several.comparisons), (1, vec![Ok(both)]));
}

#[test]
fn a_run_is_the_best_where_it_is_better_than_each_other() {
    let mut random = generator(2, &["best"]);
    let factors: [Factor<'_>; 4] = [&|_| 1.0, &|_| 1.3, &|_| 0.7, &|_| 1.0];
    let all = runs(&USUAL, &factors, &mut random);
    let several = compare_several(&all.iter().collect::<Vec<_>>(), &terms(0.05));
    assert_eq!(several.pairs, 6);
    let best: Vec<(&str, Option<u64>, usize)> =
        several.best.iter().map(|best| (best.subject.as_str(), best.point, best.run)).collect();
    assert_eq!(best, [("s0", None, 2), ("s0", Some(100), 2), ("s0", Some(1000), 2)]);
    // The best two of three are alike: none is the best.
    let factors: [Factor<'_>; 3] = [&|_| 1.5, &|_| 1.0, &|_| 1.0];
    let all = runs(&USUAL, &factors, &mut random);
    let several = compare_several(&all.iter().collect::<Vec<_>>(), &terms(0.05));
    assert_eq!(several.best, []);
}

#[test]
fn no_run_is_the_best_where_another_has_no_ratio() {
    let mut random = generator(2, &["best"]);
    let factors: [Factor<'_>; 3] = [&|_| 1.0, &|_| 1.3, &|_| 0.7];
    let mut all = runs(&USUAL, &factors, &mut random);
    let points = |all: &[Run]| -> Vec<Option<u64>> {
        let several = compare_several(&all.iter().collect::<Vec<_>>(), &terms(0.05));
        several.best.iter().map(|best| best.point).collect()
    };
    assert_eq!(points(&all), [None, Some(100), Some(1000)]);
    all[1].cells.retain(|cell| cell.key.subject != "s0" || cell.key.point != 100);
    assert_eq!(points(&all), [None, Some(1000)], "a run without the figure");
    all[1].plan.workloads[0].name = "other".to_owned();
    let refused = compare(&all[0], &all[1], &terms(0.05));
    assert_eq!((refused.is_err(), points(&all)), (true, vec![]), "a run that can't be compared");
}

#[test]
fn more_runs_widen_each_interval() {
    let mut random = generator(3, &["wider"]);
    let factors: [Factor<'_>; 5] = [&|_| 1.0; 5];
    let all = runs(&USUAL, &factors, &mut random);
    let several = compare_several(&all.iter().collect::<Vec<_>>(), &terms(0.05));
    let alone = compare(&all[0], &all[1], &terms(0.05)).unwrap();
    let among = several.comparisons[0].as_ref().unwrap();
    assert_eq!(among.judged, 10 * alone.judged);
    for (wide, narrow) in among.tables[0].rows.iter().zip(&alone.tables[0].rows) {
        assert!(wide.overall.ratio.high >= narrow.overall.ratio.high, "{wide:?} {narrow:?}");
    }
}

/// Of sets of five alike runs, at most one in twenty has an alarm, but for chance, or a best run.
#[test]
fn alike_runs_are_no_alarm_however_many() {
    const SETS: usize = 60;
    let factors: [Factor<'_>; 5] = [&|_| 1.0; 5];
    for noise in [QUIET, ROUNDS] {
        let design = Design { noise, rounds: 5, ..USUAL };
        let mut random = generator(4, &["alarms"]);
        let (mut alarms, mut best) = (0, 0);
        for _ in 0..SETS {
            let all = runs(&design, &factors, &mut random);
            let several = compare_several(&all.iter().collect::<Vec<_>>(), &terms(0.05));
            let rows = several
                .comparisons
                .iter()
                .flatten()
                .flat_map(|comparison| comparison.tables.iter().flat_map(|table| &table.rows));
            let verdicts = rows.flat_map(|row| {
                let points = row.cells.iter().flatten().map(|cell| cell.ratio.verdict);
                points.chain([row.overall.verdict])
            });
            let decided = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
            alarms += usize::from(verdicts.into_iter().any(decided));
            best += usize::from(!several.best.is_empty());
        }
        println!("{noise:?}: {alarms} alarms, {best} best of {SETS}");
        assert!(alarms <= 4 && best <= 2, "{alarms} alarms, {best} best");
    }
}
