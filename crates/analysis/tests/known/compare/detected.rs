//! Comparisons of different series: detected at their size where the noise allows, never in the wrong
//! direction; and identical series are the same on a quiet machine.

use super::drawn::{Design, Noise, QUIET, ROUNDS, SHARED, Tally, USUAL, pair, tally, terms};
use analysis::compare::{ChangeDetail, ChangeKind, Comparison, Sensitivity, Verdict, compare};
use analysis::stats::quantiles::median_of;
use fastrand::Rng;

/// Found in at least this share of the comparisons, and never the wrong way round; the interval holds the
/// true ratio in 95 %.
fn assert_detected(tally: Tally, share: f64) {
    assert!(tally.detected as f64 >= share * tally.comparisons as f64, "{tally:?}");
    assert_eq!(tally.reversed, 0, "{tally:?}");
    assert!(tally.covered * 100 >= 95 * tally.comparisons, "{tally:?}");
}

#[test]
fn a_tenth_is_found_on_a_quiet_machine() {
    let nine = Design { rounds: 9, ..USUAL };
    assert_detected(tally("10 %", &USUAL, &|_| 1.1), 0.95);
    assert_detected(tally("10 % faster", &nine, &|_| 1.0 / 1.1), 0.95);
    assert_detected(
        tally("10 % of a rate", &Design { lower_is_better: false, ..USUAL }, &|_| 0.9),
        0.9,
    );
}

#[test]
fn a_twentieth_is_found_by_a_narrow_margin() {
    assert_detected(tally("5 %", &Design { margin: 0.02, rounds: 9, ..USUAL }, &|_| 1.05), 0.8);
}

#[test]
fn twice_as_slow_is_found_whatever_the_noise() {
    for (name, noise, min_share) in [("rounds", ROUNDS, 0.99), ("shared", SHARED, 0.6)] {
        let design = Design { noise, rounds: 9, ..USUAL };
        assert_detected(tally(&format!("2× {name}"), &design, &|_| 2.0), min_share);
    }
}

/// Rounds that scatter by a tenth hide 3 %, unless both runs share them.
#[test]
fn turns_find_what_runs_apart_can_not() {
    let noise = Noise { round: 0.1, run: 0.0, ..QUIET };
    let apart = Design { noise, rounds: 9, margin: 0.01, ..USUAL };
    assert_detected(tally("3 % by turns", &Design { paired: true, ..apart }, &|_| 1.03), 0.8);
    let tally = tally("3 % apart", &apart, &|_| 1.03);
    assert!(tally.detected * 20 <= tally.comparisons, "{tally:?}");
}

#[test]
fn identical_series_are_the_same() {
    let tally = tally("same", &Design { rounds: 9, ..USUAL }, &|_| 1.0);
    assert!(tally.same * 10 >= 8 * tally.alike, "{tally:?}");
}

/// 30 % at the far end alone is 14 % for the whole.
#[test]
fn one_end_alone_is_found_there() {
    let factor = |point| if point == 1000 { 1.3 } else { 1.0 };
    assert_detected(tally("one end", &USUAL, &factor), 0.9);
}

/// The comparison where four fifths of the operations of the first subject take twice as long.
fn most_twice_as_slow(paired: bool) -> Comparison {
    let design = Design { paired, ..USUAL };
    let [base, mut new] = pair(&design, &|_| 1.0, &mut Rng::with_seed(11));
    for cell in new.cells.iter_mut().filter(|cell| cell.key.subject == "s0") {
        // The unchanged operations include the whole best tenth.
        cell.metrics[0].samples.iter_mut().skip(6).for_each(|sample| *sample *= 2.0);
    }
    compare(&base, &new, &terms(0.05)).expect("comparable")
}

#[test]
fn a_partial_slowdown_is_slower_in_turns_and_a_change_of_a_part_apart() {
    let turns = most_twice_as_slow(true);
    assert_eq!(turns.tables[0].rows[0].overall.verdict, Verdict::Slower, "{turns:?}");
    let apart = most_twice_as_slow(false);
    assert_eq!(apart.tables[0].rows[0].overall.verdict, Verdict::Undecided, "{apart:?}");
    let part = |comparison: &Comparison| {
        comparison.changes.iter().find(|change| change.kind == ChangeKind::Part).cloned()
    };
    let change = part(&apart).expect("a word about it");
    assert_eq!((change.direction, change.subjects.as_slice()), (None, &["s0".to_owned()][..]));
    let ChangeDetail::Medians { ratio } = change.detail else { panic!("{change:?}") };
    assert_eq!(ratio.verdict, Verdict::Slower);
    assert_eq!(part(&turns), None);
}

/// One of two series scatters; the second is judged all the same.
#[test]
fn a_noisy_neighbour_of_two_hides_nothing() {
    let two = Design { subjects: 2, rounds: 9, ..USUAL };
    let [mut base, mut new] = pair(&two, &|_| 1.2, &mut Rng::with_seed(4));
    for cell in base.cells.iter_mut().chain(&mut new.cells) {
        if cell.key.subject == "s1" {
            let by = if cell.key.round % 2 == 0 { 3.0 } else { 1.0 };
            cell.metrics[0].samples.iter_mut().for_each(|sample| *sample *= by);
        }
    }
    // They shared no drift: an even number of rounds on either side of the middle one.
    let comparison = compare(&base, &new, &terms(0.05)).expect("comparable");
    assert_eq!(comparison.tables[0].rows[0].overall.verdict, Verdict::Slower, "{comparison:?}");
}

/// The median of a `quantity` of the sensitivity, over comparisons of identical series.
fn usual(design: &Design, quantity: fn(&Sensitivity) -> f64) -> f64 {
    let mut quantities: Vec<f64> = (0..9)
        .map(|seed| {
            let [base, new] = pair(design, &|_| 1.0, &mut Rng::with_seed(seed));
            let comparison = compare(&base, &new, &terms(design.margin)).expect("comparable");
            quantity(&comparison.sensitivity.expect("series"))
        })
        .collect();
    median_of(&mut quantities).expect("nine")
}

#[test]
fn detectable_differences_are_detected() {
    let design = Design { rounds: 9, margin: 0.005, ..USUAL };
    let detectable = usual(&design, |sensitivity| sensitivity.detectable);
    assert_detected(tally("detectable", &design, &|_| 1.0 + detectable), 0.7);
}

#[test]
fn the_computed_rounds_detect_the_wanted_difference() {
    let noise = Noise { cell: 0.02, run: 0.0, ..QUIET };
    let five = Design { noise, rounds: 5, paired: true, margin: 0.03, ..USUAL };
    let rounds = usual(&five, |sensitivity| sensitivity.rounds.map_or(f64::NAN, f64::from));
    println!("{rounds} rounds");
    let enough = Design { rounds: rounds as u32, margin: 0.01, ..five };
    assert_detected(tally("wanted", &enough, &|_| 1.03), 0.7);
}
