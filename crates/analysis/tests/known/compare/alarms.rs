//! Comparisons of what is the same: at most one series in a hundred may be called faster or slower.

use super::drawn::{Design, HEAVY, Noise, QUIET, ROUNDS, SHARED, Tally, USUAL, tally};

/// At most 1 % of the series, and at most 5 % of the comparisons, but for chance.
fn hardly_any(tally: Tally) {
    assert!(tally.alarms * 100 <= tally.alike, "{tally:?}");
    assert!(tally.disturbed * 100 <= 7 * tally.comparisons, "{tally:?}");
    assert!(tally.alike > 0, "{tally:?}");
}

#[test]
fn rounds_that_scatter_are_no_alarm() {
    hardly_any(tally("rounds", &Design { noise: ROUNDS, ..USUAL }, &|_| 1.0));
    hardly_any(tally("five rounds", &Design { noise: ROUNDS, rounds: 5, ..USUAL }, &|_| 1.0));
}

#[test]
fn a_neighbour_for_minutes_is_no_alarm() {
    hardly_any(tally("shared, 5", &Design { noise: SHARED, rounds: 5, ..USUAL }, &|_| 1.0));
    let nine = tally("shared, 9", &Design { noise: SHARED, rounds: 9, ..USUAL }, &|_| 1.0);
    hardly_any(nine);
    // A disagreement of medians and best tenths is rarely reported, too.
    assert!(nine.parts * 10 <= nine.comparisons, "{nine:?}");
}

#[test]
fn heavy_tails_are_no_alarm() {
    hardly_any(tally("heavy", &Design { noise: HEAVY, rounds: 5, ..USUAL }, &|_| 1.0));
}

#[test]
fn few_rounds_are_no_alarm() {
    for rounds in [1, 2, 3] {
        let design = Design { noise: ROUNDS, rounds, ..USUAL };
        hardly_any(tally(&format!("{rounds} rounds"), &design, &|_| 1.0));
    }
}

#[test]
fn many_series_are_no_alarm() {
    let noise = Noise { run: 0.005, ..ROUNDS };
    let design = Design { noise, subjects: 12, points: &[100], rounds: 5, ..USUAL };
    hardly_any(tally("many", &design, &|_| 1.0));
}

#[test]
fn rates_are_no_alarm() {
    let design = Design { noise: SHARED, lower_is_better: false, ..USUAL };
    hardly_any(tally("rates", &design, &|_| 1.0));
}

#[test]
fn turns_are_no_alarm() {
    let noise = Noise { round: 0.1, ..QUIET };
    let design = Design { noise: Noise { run: 0.0, ..noise }, paired: true, ..USUAL };
    hardly_any(tally("turns", &Design { margin: 0.01, ..design }, &|_| 1.0));
    let slow = Noise { run: 0.0, ..SHARED };
    hardly_any(tally("turns, shared", &Design { noise: slow, ..design }, &|_| 1.0));
}
