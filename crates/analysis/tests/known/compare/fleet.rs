//! The machines of a fleet against the median machine: alike machines are no outliers, one that is slower is the only one.

use super::drawn::{Design, Factor, HEAVY, QUIET, ROUNDS, SHARED, USUAL, pair, terms};
use analysis::compare::{Fleet, Verdict, compare_fleet, is_median, median_run};
use analysis::stats::random::generator;
use fastrand::Rng;
use model::Run;

/// So many machines of this design, the first subject of each off by its factor.
fn machines(design: &Design, factors: &[Factor<'_>], random: &mut Rng) -> Vec<Run> {
    let drawn = factors.iter().enumerate().map(|(index, factor)| {
        let [_, mut run] = pair(design, factor, random);
        run.summary.id = format!("{index:016x}");
        run.host_before.facts.insert(model::HOST_NAME.to_owned(), format!("node{index}").into());
        run
    });
    drawn.collect()
}

fn compared(runs: &[Run]) -> Fleet {
    compare_fleet(&runs.iter().collect::<Vec<_>>(), &terms(0.05)).unwrap()
}

#[test]
fn the_slow_machine_is_the_only_outlier() {
    let mut random = generator(5, &["fleet"]);
    let factors: [Factor<'_>; 5] = [&|_| 1.0, &|_| 1.0, &|_| 1.0, &|_| 1.31, &|_| 1.0];
    let fleet = compared(&machines(&USUAL, &factors, &mut random));
    let [outlier] = &fleet.outliers[..] else { panic!("{:?}", fleet.outliers) };
    assert_eq!((outlier.run, outlier.series.len()), (3, 1));
    let series = &outlier.series[0];
    assert_eq!(series.subject, "s0");
    assert!(series.ratio.ratio.low < 1.31 && 1.31 < series.ratio.ratio.high, "{series:?}");
    assert!((series.slowdown() - 1.31).abs() < 0.04, "{series:?}");
    assert_eq!(outlier.same + outlier.undecided, 2);
    assert_eq!((fleet.several.pairs, fleet.several.comparisons.len()), (5, 5));
}

#[test]
fn a_rate_that_is_lower_is_a_slowdown() {
    let design = Design { lower_is_better: false, ..USUAL };
    let mut random = generator(6, &["fleet"]);
    let factors: [Factor<'_>; 3] = [&|_| 1.0, &|_| 0.7, &|_| 1.0];
    let fleet = compared(&machines(&design, &factors, &mut random));
    let [outlier] = &fleet.outliers[..] else { panic!("{:?}", fleet.outliers) };
    assert_eq!((outlier.run, outlier.series[0].ratio.verdict), (1, Verdict::Slower));
    assert!(outlier.series[0].slowdown() > 1.3);
}

/// Between two machines there is no middle that one of them could be off from.
#[test]
fn two_machines_have_no_outlier_and_one_no_median() {
    let mut random = generator(7, &["fleet"]);
    let factors: [Factor<'_>; 2] = [&|_| 1.0, &|_| 1.5];
    let runs = machines(&USUAL, &factors, &mut random);
    let fleet = compared(&runs);
    assert_eq!(fleet.outliers, []);
    let ratios: Vec<f64> = fleet
        .several
        .comparisons
        .iter()
        .map(|comparison| comparison.as_ref().unwrap().tables[0].rows[0].overall.ratio.value)
        .collect();
    assert!(ratios[0] < 0.9 && ratios[1] > 1.1, "{ratios:?}");
    assert!(median_run(&[&runs[0]]).is_none());
}

#[test]
fn the_median_machine_has_what_most_have() {
    let mut random = generator(8, &["fleet"]);
    let factors: [Factor<'_>; 3] = [&|_| 1.0, &|_| 2.0, &|_| 3.0];
    let mut runs = machines(&USUAL, &factors, &mut random);
    for (run, kernel) in runs.iter_mut().zip(["6.1", "6.12", "6.12"]) {
        run.host_before.facts.insert("kernel.release".to_owned(), kernel.into());
    }
    runs[0].cells.retain(|cell| cell.key.subject != "s1");
    runs[1].cells.retain(|cell| cell.key.subject != "s2");
    runs[2].cells.retain(|cell| cell.key.subject != "s2");
    let median = median_run(&runs.iter().collect::<Vec<_>>()).unwrap();
    assert!(is_median(&median) && !is_median(&runs[0]));
    assert_eq!(median.host_before.fact("kernel.release"), Some("6.12"));
    assert_eq!(median.host_before.fact(model::HOST_NAME), None);
    let has = |subject: &str| median.cells.iter().any(|cell| cell.key.subject == subject);
    assert_eq!(["s0", "s1", "s2"].map(has), [true, true, false], "s2 is one machine's alone");
    let mean = |run: &Run| {
        let cell = run.cells.iter().find(|cell| cell.key.subject == "s0").unwrap();
        cell.metrics[0].samples.iter().sum::<f64>() / cell.metrics[0].samples.len() as f64
    };
    assert!((mean(&median) / mean(&runs[1]) - 1.0).abs() < 0.02, "the middle of three");
    let fleet = compared(&runs);
    let facts = |run: usize| {
        let comparison = fleet.several.comparisons[run].as_ref().unwrap();
        comparison.differences.iter().map(|fact| fact.what.clone()).collect::<Vec<_>>()
    };
    assert_eq!(facts(0), ["kernel.release"]);
    assert_eq!(facts(1), [""; 0], "its own name is no difference");
}

/// Of fleets of alike machines, at most one in twenty has an outlier, but for chance.
#[test]
fn alike_machines_are_no_outliers_however_many() {
    const FLEETS: usize = 40;
    for (name, noise, count) in
        [("quiet", QUIET, 3), ("rounds", ROUNDS, 5), ("shared", SHARED, 4), ("heavy", HEAVY, 8)]
    {
        let factors: Vec<Factor<'_>> = (0..count).map(|_| -> Factor<'_> { &|_| 1.0 }).collect();
        let alarms = (0..FLEETS).filter(|&fleet| {
            let mut random = generator(fleet as u64, &["alike machines", name]);
            let design = Design { noise, rounds: 5, ..USUAL };
            !compared(&machines(&design, &factors, &mut random)).outliers.is_empty()
        });
        // Two of forty are expected at most; six would be chance in one of seventy.
        let alarms = alarms.count();
        eprintln!("{name}: {alarms} of {FLEETS} fleets of {count} alike machines have an outlier");
        assert!(alarms <= 5, "{name}: {alarms} of {FLEETS}");
    }
}
