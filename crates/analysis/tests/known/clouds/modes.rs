//! Modes that are known to be there, or not to be there.

use super::drawn::{Noise, Shape, cloud, cloud_at};
use super::{REPETITIONS, count, modes_of, mostly};
use analysis::Division;
use analysis::gather::cloud::Cloud;
use analysis::shape::modes::{self, Partition};
use analysis::stats::random::normal;
use fastrand::Rng;

const PLAIN: Shape = Shape { rounds: 5, samples: 3_000, round_effect: 0.02, step_ns: 0.0 };
const LINE: fn(f64) -> f64 = |n| 2_000.0 + 3.0 * n;
const FLAT: fn(f64) -> f64 = |_| 2_000.0;

fn at_points(cloud: &Cloud, random: &mut Rng) -> Option<Partition> {
    let windows = cloud.windows_by_position();
    modes::find(cloud, &windows, &cloud.displacements(&windows), false, random)
}

fn is(partition: Option<&Partition>, division: Division, shares: &[f64]) -> bool {
    partition.is_some_and(|partition| {
        let alike =
            partition.shares.iter().zip(shares).all(|(got, share)| (got - share).abs() < 0.03);
        partition.division == division && partition.shares.len() == shares.len() && alike
    })
}

#[test]
fn two_parallel_lines_within_rounds() {
    for ratio in [1.3, 2.0] {
        for upper in [0.5, 0.2, 0.1] {
            for curve in [FLAT, |n| 3.0 * n] {
                let draw = |random: &mut Rng| {
                    cloud(PLAIN, random, |n, _, random| {
                        let mode = if random.f64() < upper { ratio } else { 1.0 };
                        curve(n) * mode * Noise::Even(0.05).draw(random)
                    })
                };
                let name = format!("×{ratio}, {upper} on the upper, {} at 1,000", curve(1e3));
                mostly(&name, draw, |cloud, random| {
                    is(
                        modes_of(cloud, random).as_ref(),
                        Division::WithinRounds,
                        &[1.0 - upper, upper],
                    )
                });
            }
        }
    }
}

#[test]
fn two_parallel_lines_by_round() {
    for (rounds, upper) in [(5, vec![2, 5]), (7, vec![1, 2, 4]), (9, vec![3, 8])] {
        for (ratio, round_effect) in [(1.3, 0.01), (1.5, 0.01), (3.0, 0.05)] {
            let draw = |random: &mut Rng| {
                cloud(Shape { rounds, round_effect, ..PLAIN }, random, |n, round, random| {
                    let mode = if upper.contains(&round) { ratio } else { 1.0 };
                    LINE(n) * mode * Noise::Even(0.05).draw(random)
                })
            };
            let name = format!("×{ratio}, rounds {upper:?} of {rounds} on the upper");
            mostly(&name, draw, |cloud, random| {
                let partition = modes_of(cloud, random);
                let share = upper.len() as f64 / f64::from(rounds);
                is(partition.as_ref(), Division::ByRound, &[1.0 - share, share])
                    && partition.is_some_and(|partition| partition.rounds[1] == upper)
            });
        }
    }
}

/// fefe's fork on Linux 2.4: each point lies on a flat or on a line, and these start together.
#[test]
fn a_line_and_a_flat_that_start_together() {
    for division in [Division::WithinRounds, Division::ByRound] {
        let draw = |random: &mut Rng| {
            cloud(PLAIN, random, |n, round, random| {
                let on_line = match division {
                    Division::ByRound => [2, 4].contains(&round),
                    _ => random.f64() < 0.4,
                };
                let curve = if on_line { 90_000.0 + 100.0 * n } else { 90_000.0 };
                curve * Noise::Even(0.05).draw(random)
            })
        };
        mostly(&format!("{division:?}"), draw, |cloud, random| {
            let partition = modes_of(cloud, random);
            is(partition.as_ref(), division, &[0.6, 0.4])
                && partition.is_some_and(|partition| partition.to > 2_900 && partition.from < 700)
        });
    }
}

#[test]
fn three_modes() {
    let draw = |random: &mut Rng| {
        cloud(PLAIN, random, |n, _, random| {
            let mode = match random.f64() {
                lower if lower < 0.5 => 1.0,
                middle if middle < 0.8 => 1.4,
                _ => 2.2,
            };
            LINE(n) * mode * Noise::Even(0.05).draw(random)
        })
    };
    mostly("three modes", draw, |cloud, random| {
        is(modes_of(cloud, random).as_ref(), Division::WithinRounds, &[0.5, 0.3, 0.2])
    });
}

#[test]
fn modes_that_come_in_stretches() {
    let draw = |random: &mut Rng| {
        let mut upper = false;
        cloud(PLAIN, random, move |n, _, random| {
            // On average 100 samples on the lower curve, then 50 on the upper one.
            upper = if upper { random.f64() > 1.0 / 50.0 } else { random.f64() < 1.0 / 100.0 };
            LINE(n) * if upper { 1.6 } else { 1.0 } * Noise::Even(0.05).draw(random)
        })
    };
    mostly("in stretches", draw, |cloud, random| {
        modes_of(cloud, random).is_some_and(|partition| {
            partition.division == Division::InStretches && (partition.shares[1] - 0.33).abs() < 0.1
        })
    });
}

/// The most important of all: a mode is never made of a few outliers, or of a tail.
#[test]
fn outliers_and_tails_are_no_modes() {
    let noises = [
        Noise::Even(0.05),
        Noise::Even(0.3),
        Noise::Outliers { share: 0.02, low: 3.0, high: 3.0 },
        Noise::Outliers { share: 0.02, low: 10.0, high: 10.0 },
        Noise::Outliers { share: 0.02, low: 2.0, high: 20.0 },
        Noise::Gamma(4.0),
        Noise::LongTail,
        Noise::Pareto,
        Noise::Growing,
    ];
    for noise in noises {
        let is_outlier = matches!(noise, Noise::Outliers { .. });
        let repetitions = if is_outlier { REPETITIONS / 2 } else { 30 };
        for (name, curve) in [("flat", FLAT), ("line", LINE)] {
            let draw = |random: &mut Rng| {
                cloud(PLAIN, random, |n, _, random| curve(n) * noise.at(n / 3_000.0).draw(random))
            };
            let name = format!("{noise:?}, {name}");
            let any = |cloud: &Cloud, random: &mut Rng| modes_of(cloud, random).is_some();
            assert_eq!(count(repetitions, &name, draw, any), 0, "{name}");
        }
    }
}

#[test]
fn ticks_of_a_clock_are_no_modes() {
    for (level, step_ns) in [(35.0, 10.0), (200.0, 10.0), (300.0, 50.0), (2_500.0, 10.0)] {
        for noise in [Noise::Even(0.1), Noise::Gamma(9.0), Noise::LongTail] {
            let draw = |random: &mut Rng| {
                let shape = Shape { step_ns, ..PLAIN };
                cloud(shape, random, |_, _, random| level * noise.draw(random))
            };
            let name = format!("{level} ns in steps of {step_ns}, {noise:?}");
            let any = |cloud: &Cloud, random: &mut Rng| modes_of(cloud, random).is_some();
            assert_eq!(count(REPETITIONS / 4, &name, draw, any), 0, "{name}");
        }
    }
}

#[test]
fn rounds_that_differ_and_single_slow_ones_are_no_modes() {
    for round_effect in [0.1, 0.3] {
        let draw = |random: &mut Rng| {
            cloud(Shape { round_effect, ..PLAIN }, random, |n, _, random| {
                LINE(n) * Noise::LongTail.draw(random)
            })
        };
        let name = format!("rounds that differ by {round_effect}");
        let wrong =
            count(REPETITIONS, &name, draw, |cloud, random| modes_of(cloud, random).is_some());
        assert!(wrong <= 1, "{name}: {wrong}");
    }
    // One round is slow from end to end, another for a third of its way.
    let draw = |random: &mut Rng| {
        cloud(PLAIN, random, |n, round, random| {
            let slow = match round {
                2 => 1.6,
                4 if (800.0..1_800.0).contains(&n) => 2.2,
                _ => 1.0,
            };
            LINE(n) * slow * Noise::LongTail.draw(random)
        })
    };
    let wrong =
        count(REPETITIONS, "slow rounds", draw, |cloud, random| modes_of(cloud, random).is_some());
    assert!(wrong <= 1, "{wrong}");
}

#[test]
fn points_whose_rounds_lie_on_two_levels() {
    let points: [(u64, f64); 4] = [(10, 3e3), (100, 9e3), (1_000, 8e4), (10_000, 8e5)];
    let draw = |slow: &'static [u32]| {
        move |random: &mut Rng| {
            cloud_at(&points, 9, 40, random, |n, round, random| {
                let mode = if n == 10_000 && slow.contains(&round) { 4.4 } else { 1.0 };
                mode * Noise::Even(0.08).draw(random) * (0.05 * normal(random)).exp()
            })
        }
    };
    mostly("four of nine rounds are slow", draw(&[2, 3, 6, 9]), |cloud, random| {
        at_points(cloud, random).is_some_and(|partition| {
            (partition.from, partition.to) == (10_000, 10_000)
                && partition.rounds[1] == [2, 3, 6, 9]
        })
    });
    for slow in [&[][..], &[4]] {
        let wrong = count(REPETITIONS, &format!("{slow:?}"), draw(slow), |cloud, random| {
            at_points(cloud, random).is_some()
        });
        assert_eq!(wrong, 0, "{slow:?}");
    }
}

#[test]
fn points_whose_samples_lie_on_two_levels_in_each_round() {
    let points: [(u64, f64); 4] = [(10, 3e3), (100, 9e3), (1_000, 8e4), (10_000, 8e5)];
    let draw = |upper: f64, ratio: f64, noise: Noise| {
        move |random: &mut Rng| {
            cloud_at(&points, 6, 50, random, |_, _, random| {
                let mode = if random.f64() < upper { ratio } else { 1.0 };
                mode * noise.draw(random)
            })
        }
    };
    for (upper, ratio) in [(0.3, 2.4), (0.15, 1.6)] {
        let name = format!("×{ratio}, {upper} on the upper");
        mostly(&name, draw(upper, ratio, Noise::Even(0.05)), |cloud, random| {
            let modes = at_points(cloud, random);
            is(modes.as_ref(), Division::WithinRounds, &[1.0 - upper, upper])
        });
    }
    let mut wrong = 0;
    for noise in [Noise::Even(0.02), Noise::Even(0.15), Noise::LongTail] {
        for of_cell in [0.0, 0.15] {
            let draw = |random: &mut Rng| {
                let own: Vec<f64> = (0..24).map(|_| (of_cell * normal(random)).exp()).collect();
                cloud_at(&points, 6, 50, random, |point, round, random| {
                    let cell = 4 * (round as usize - 1) + point.ilog10() as usize - 1;
                    own[cell] * noise.draw(random)
                })
            };
            wrong += count(REPETITIONS, "one level", draw, |cloud, random| {
                at_points(cloud, random).is_some()
            });
        }
    }
    assert!(wrong <= 1, "{wrong}");
}
