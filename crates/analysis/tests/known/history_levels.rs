//! Changes of level, against published cases, against another implementation, and on sequences
//! whose changes are known: each is found where it is, and no other is.
//!
//! The figures of the other implementation come from plain Python that compares every pair for every boundary,
//! and integrates the density of t by Simpson's rule.

use analysis::history::gate::raised;
use analysis::history::levels::{LevelChange, Levels, Reading, Requirement, apart, changes};
use analysis::stats::random::normal;
use fastrand::Rng;

/// The Nile's yearly volume at Aswan from 1871 to 1970 (Cobb 1978): the level fell after 1898.
const NILE: [f64; 100] = [
    1120., 1160., 963., 1210., 1160., 1160., 813., 1230., 1370., 1140., 995., 935., 1110., 994.,
    1020., 960., 1180., 799., 958., 1140., 1100., 1210., 1150., 1250., 1260., 1220., 1030., 1100.,
    774., 840., 874., 694., 940., 833., 701., 916., 692., 1020., 1050., 969., 831., 726., 456.,
    824., 702., 1120., 1100., 832., 764., 821., 768., 845., 864., 862., 698., 845., 744., 796.,
    1040., 759., 781., 865., 845., 944., 984., 897., 822., 1010., 771., 676., 649., 846., 812.,
    742., 801., 1040., 860., 874., 848., 890., 744., 749., 838., 1050., 918., 986., 797., 923.,
    975., 815., 1020., 906., 901., 1170., 912., 746., 919., 718., 714., 740.,
];

/// The sequences of Hunter's own tests (`tests/analysis_test.py` and `tests/series_test.py` of
/// github.com/datastax-labs/hunter), with the changes that they expect: 10, 6 and 4.
const HUNTER_SINGLE: [f64; 20] = [
    1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55, 0.50,
    0.49, 0.51, 0.50, 0.49,
];
const HUNTER_ONE: [f64; 11] = [1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55];
const HUNTER_TWO: [f64; 11] = [2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78];

/// Drawn by Python's generator with seed 7: up by 0.3 at 12 and down again at 16.
const TEMPORARY: [f64; 24] = [
    0.9949, 1.0102, 0.9955, 0.9937, 0.9814, 0.9957, 1.0222, 1.0085, 1.0207, 1.005, 1.0079, 1.0037,
    1.2667, 1.3171, 1.3101, 1.31, 0.9662, 0.9651, 0.9822, 0.9906, 1.0061, 0.9991, 1.0104, 0.9872,
];
/// The same: up by 0.1 at 8, 16 and 24.
const STAIRS: [f64; 32] = [
    1.0062, 1.0079, 0.9868, 1.0344, 1.0111, 1.0239, 0.9876, 0.9852, 1.0931, 1.0979, 1.1126, 1.105,
    1.0911, 1.0809, 1.0896, 1.1244, 1.1838, 1.2049, 1.2085, 1.1702, 1.201, 1.2261, 1.1597, 1.1936,
    1.2979, 1.2837, 1.3099, 1.2988, 1.2707, 1.3166, 1.3134, 1.3189,
];
/// The same: one level.
const PLAIN: [f64; 20] = [
    1.072, 1.0181, 1.006, 0.935, 1.0308, 0.9694, 0.9774, 0.9368, 0.9516, 0.9734, 1.0644, 0.8984,
    0.9271, 1.012, 1.0722, 1.0289, 0.905, 0.8741, 1.0179, 0.9632,
];

const REPETITIONS: u64 = 200;

fn level_changes(values: &[f64], chance: f64) -> Vec<LevelChange> {
    changes(&readings(values), &Requirement { chance, size_min: 0.0 })
}

fn readings(values: &[f64]) -> Vec<Reading> {
    values.iter().map(|&value| Reading { value, error: 0.0 }).collect()
}

fn positions(changes: &[LevelChange]) -> Vec<usize> {
    changes.iter().map(|change| change.at).collect()
}

/// Position, chance and difference of each.
type Expected<'a> = &'a [(usize, f64, f64)];

#[test]
fn published_and_independently_computed_changes_are_found() {
    let cases: [(&str, &[f64], Expected); 7] = [
        ("Nile", &NILE, &[(28, 7.215_871e-12, -247.777_777_78)]),
        ("Hunter, single", &HUNTER_SINGLE, &[(10, 0.0, -0.503)]),
        ("Hunter, one", &HUNTER_ONE, &[(6, 1.701_427e-6, -0.492_666_67)]),
        ("Hunter, two", &HUNTER_TWO, &[(4, 1.351_062e-6, -0.223_571_43)]),
        ("near", &TEMPORARY, &[(12, 1.247e-13, 0.297_691_67), (16, 2.413_683e-9, -0.312_612_5)]),
        (
            "stairs",
            &STAIRS,
            &[
                (8, 4.191_571e-7, 0.093_937_5),
                (16, 1.764_167e-6, 0.094_15),
                (24, 7.359_223e-7, 0.107_762_5),
            ],
        ),
        ("plain", &PLAIN, &[]),
    ];
    for (name, values, expected) in cases {
        let changes = level_changes(values, 0.05);
        let expected_positions: Vec<usize> = expected.iter().map(|change| change.0).collect();
        assert_eq!(positions(&changes), expected_positions, "{name}");
        for (change, &(_, chance, by)) in changes.iter().zip(expected) {
            let off = (change.chance - chance).abs();
            assert!(off <= 1e-5 * chance + 1e-13, "{name}: {} and {chance}", change.chance);
            assert!((change.by.value - by).abs() < 1e-7 * by.abs(), "{name}: {:?}", change.by);
        }
    }
}

/// Hunter's t-test: 0.00 < p < 0.001 for the second sequence, and 1 for two sides that are alike.
#[test]
fn a_difference_is_as_clear_as_hunters_tests_say() {
    let different = [1.00, 1.02, 1.05, 0.95, 0.98, 0.80, 0.82, 0.85, 0.79, 0.77];
    let changes = level_changes(&different, 0.05);
    assert_eq!(positions(&changes), [5]);
    // The t-test alone, by the other implementation, is 2.024977e-5; there are seven boundaries.
    assert!((changes[0].chance / 7.0 / 2.024_977e-5 - 1.0).abs() < 1e-5, "{changes:?}");
    let alike = [1.00, 1.02, 1.05, 0.95, 0.98, 1.00, 1.02, 1.05, 0.95, 0.98];
    assert_eq!(level_changes(&alike, 0.05), []);
}

#[test]
fn a_difference_below_the_required_size_is_none() {
    let required = |size_min| Requirement { chance: 0.05, size_min };
    assert_eq!(positions(&changes(&readings(&HUNTER_TWO), &required(0.2))), [4]);
    assert_eq!(changes(&readings(&HUNTER_TWO), &required(0.3)), []);
}

/// How many of the sequences of noise have a change.
fn alarms(count: usize, draw: &dyn Fn(usize, &mut Rng) -> Reading) -> usize {
    let mut random = Rng::with_seed(2026 + count as u64);
    let requirement = Requirement { chance: 0.05, size_min: 0.0 };
    (0..REPETITIONS)
        .filter(|_| {
            let readings: Vec<Reading> = (0..count).map(|at| draw(at, &mut random)).collect();
            !changes(&readings, &requirement).is_empty()
        })
        .count()
}

/// A kind of noise, and the figure at an index.
type Draw<'a> = (&'a str, &'a dyn Fn(usize, &mut Rng) -> Reading);

/// At 5 %, 10 of 200 are allowed; 18 come with a chance of 1 % where the rate is 5 %.
#[test]
fn constant_noise_has_no_more_changes_than_it_says() {
    let exact = |value| Reading { value, error: 0.0 };
    let kinds: [Draw; 6] = [
        ("normal", &|_, random| exact(0.03 * normal(random))),
        ("now and then far off", &|_, random| {
            let far = if random.f64() < 0.1 { 10.0 } else { 1.0 };
            exact(0.03 * far * normal(random))
        }),
        ("skewed", &|_, random| exact(-0.05 * random.f64().ln())),
        // Every third run is ten times as uncertain as the others, and says so.
        ("uneven", &|at, random| {
            let error = if at % 3 == 0 { 0.2 } else { 0.02 };
            Reading { value: error * normal(random), error }
        }),
        ("coarse", &|_, random| exact((2.0 * normal(random)).round() / 100.0)),
        ("on the edge of a step", &|_, random| exact(if random.bool() { 0.1 } else { 0.0 })),
    ];
    for (name, draw) in kinds {
        let counts = [4, 6, 10, 20, 60].map(|count| (count, alarms(count, draw)));
        println!("{name}: (length, alarms) of {REPETITIONS} sequences: {counts:?}");
        assert!(counts.iter().all(|(_, alarms)| *alarms <= 18), "{name}: {counts:?}");
    }
}

/// How often a change by `by` times the scatter is found within a run of `at`, and nothing else.
fn hits(count: usize, at: usize, by: f64) -> usize {
    let mut random = Rng::with_seed(count as u64);
    let requirement = Requirement { chance: 0.05, size_min: 0.0 };
    (0..REPETITIONS)
        .filter(|_| {
            let level = |index: usize| if index < at { 0.0 } else { by };
            let values: Vec<f64> =
                (0..count).map(|index| level(index) + normal(&mut random)).collect();
            let positions = positions(&changes(&readings(&values), &requirement));
            matches!(positions[..], [position] if position.abs_diff(at) <= 1)
        })
        .count()
}

#[test]
fn a_change_larger_than_the_scatter_is_found_where_it_is() {
    let cases =
        [(8, 4, 8.0), (12, 6, 6.0), (20, 10, 4.0), (20, 17, 6.0), (40, 3, 6.0), (60, 30, 3.0)];
    let shares = cases.map(|(count, at, by)| (count, at, by, hits(count, at, by)));
    println!("runs, position, change in scatters, found of {REPETITIONS}: {shares:?}");
    assert!(shares.iter().all(|(.., hits)| *hits >= 170), "{shares:?}");
}

#[test]
fn one_figure_is_no_level_wherever_it_stands() {
    let mut random = Rng::with_seed(3);
    for at in 0..20 {
        for off in [-2.0, 0.5, 2.0] {
            let mut values: Vec<f64> = (0..20).map(|_| 0.02 * normal(&mut random)).collect();
            values[at] += off;
            // At 5 % the noise itself would have a change in some of these sixty.
            assert_eq!(level_changes(&values, 0.001), [], "{off} at {at}: {values:?}");
            assert!(apart(&values)[at], "{off} at {at}: {values:?}");
        }
    }
}

#[test]
fn one_figure_far_off_hides_no_change() {
    let mut random = Rng::with_seed(4);
    for at in [2, 5, 8, 12, 14, 18] {
        let level = |index: usize| if index < 10 { 0.0 } else { 0.15 };
        let mut values: Vec<f64> =
            (0..20).map(|index| level(index) + 0.02 * normal(&mut random)).collect();
        values[at] += 1.0;
        // At 5 % the noise itself would now and then have a change more.
        assert_eq!(positions(&level_changes(&values, 0.001)), [10], "{at}: {values:?}");
    }
}

/// A level of a run that measured badly is believed less than one of runs that measured well.
#[test]
fn no_change_is_clearer_than_the_figures_are() {
    let values = [0.0, 0.01, 0.0, 0.01, 0.0, 0.1, 0.11, 0.1, 0.11, 0.1];
    let with_error = |error| values.map(|value| Reading { value, error });
    let requirement = Requirement { chance: 0.05, size_min: 0.0 };
    assert_eq!(positions(&changes(&with_error(0.002), &requirement)), [5]);
    assert_eq!(changes(&with_error(0.2), &requirement), []);
}

/// Two figures that alternate between the steps of a clock stand in a row once in a while.
#[test]
fn one_step_is_a_change_only_where_both_levels_last() {
    let step = |each: usize| [vec![10.0; each], vec![11.0; each]].concat();
    assert_eq!(level_changes(&step(2), 0.05), []);
    assert_eq!(level_changes(&step(4), 0.05), []);
    assert_eq!(positions(&level_changes(&step(10), 0.05)), [10]);
}

/// The numbers of runs after which a gate fails for something slower: it looks at all lines after each.
fn failures(lines: &[Vec<f64>]) -> Vec<usize> {
    let requirement = Requirement { chance: 0.05 / lines.len() as f64, size_min: 0.0 };
    let fails = |count: &usize| {
        let mut looks = lines.iter().map(|line| {
            let readings = readings(&line[..*count]);
            raised(&readings, &Levels::new(&readings), &requirement)
        });
        looks.any(|raised| raised.iter().any(|(_, by)| by.value > 0.0))
    };
    (4..=lines[0].len()).filter(fails).collect()
}

/// A line whose level changes by `by` with the figure at an index.
fn stepped(count: usize, at: usize, by: f64, random: &mut Rng) -> Vec<f64> {
    let level = |index: usize| if index < at { 0.0 } else { by };
    (0..count).map(|index| level(index) + 0.03 * normal(random)).collect()
}

/// A gate looks after every run, and no look may be wrong, as docs/history.md says.
#[test]
fn looks_after_every_run_fail_few_quiet_histories() {
    for (lines, runs, repetitions) in [(1, 30, REPETITIONS), (1, 60, REPETITIONS), (12, 30, 40)] {
        let mut random = Rng::with_seed(30);
        let failed = (0..repetitions).filter(|_| {
            let lines: Vec<Vec<f64>> =
                (0..lines).map(|_| stepped(runs, runs, 0.0, &mut random)).collect();
            !failures(&lines).is_empty()
        });
        let failed = failed.count() as u64;
        println!("{lines} lines, a look after each of {runs} runs: {failed} of {repetitions} fail");
        assert!(failed * 20 <= repetitions, "{lines} lines, {runs} runs: {failed}");
    }
}

/// What a gate's certainty costs: runs until a slowdown fails it, of a scatter of 3 %.
#[test]
fn a_slowdown_fails_a_gate_after_a_few_runs_and_mostly_once() {
    for (by, at, within) in [(0.1, 15, 4), (0.2, 15, 2), (0.1, 5, 8), (0.2, 5, 4)] {
        let mut random = Rng::with_seed(31);
        let failures: Vec<Vec<usize>> =
            (0..100).map(|_| failures(&[stepped(at + 12, at, by, &mut random)])).collect();
        let first = |failures: &Vec<usize>| failures.iter().find(|count| **count > at).copied();
        let mut delays: Vec<usize> =
            failures.iter().map(|all| first(all).map_or(usize::MAX, |count| count - at)).collect();
        delays.sort_unstable();
        let again = failures.iter().filter(|all| all.len() > 1).count();
        println!(
            "+{by} after {at} runs: fails after {} runs at the median, {} in nine of ten; {again} of 100 \
             fail again",
            delays[50], delays[90]
        );
        assert!(delays[50] <= within, "{by} after {at}: {delays:?}");
        assert!(again <= 10, "{by} after {at}: {again}");
    }
}

#[test]
fn too_few_figures_have_no_levels() {
    assert_eq!(level_changes(&[1.0, 1.0, 2.0], 0.05), []);
    assert_eq!(positions(&level_changes(&[1.0, 1.01, 2.0, 2.01], 0.05)), [2]);
    assert_eq!(level_changes(&[1.0, 1.0, f64::NAN, 2.0, 2.0], 0.05), []);
    assert_eq!(level_changes(&[1.0; 12], 0.05), []);
}
