//! The positions at which the samples of a trajectory are brought together.
//!
//! Each sample of a trajectory has a position of its own, and a median needs several. The positions are 1,
//! 2, 5, 10, 20, … and the far end. The median at a position is that of the samples within a tenth of it,
//! and at the far end of those in the last tenth, so that it is a figure of that position and not of the
//! whole way to the next one; the others are in the plot, and modes and steps are found in all of them.
//!
//! A table shows the powers of ten, the positions in the last decade, and the far end. An order of growth
//! is judged by all positions from [`warm`] on where there are [`POINT_SAMPLES_MIN`] samples over all rounds: the
//! first calls pay for first pages, first tables and code that no one has run before, and do not belong
//! to any curve.

use std::ops::RangeInclusive;

/// Positions nearer to the far end of a trajectory than this, as a ratio, would share its samples.
const FAR_END_RATIO: f64 = 1.4;

/// How far from a point its samples may lie, as a share.
const POINT_REACH: f64 = 0.1;

/// The positions of a trajectory that comes to `far`, ascending.
pub fn positions(far: u64) -> Vec<u64> {
    let mut positions = Vec::new();
    let mut decade = 1_u64;
    'decades: loop {
        for head in [1, 2, 5] {
            let Some(position) = decade.checked_mul(head) else { break 'decades };
            // A position that shares samples with the far end is none of its own.
            if position as f64 > far as f64 / FAR_END_RATIO {
                break 'decades;
            }
            positions.push(position);
        }
        let Some(next) = decade.checked_mul(10) else { break };
        decade = next;
    }
    if far > 0 {
        positions.push(far);
    }
    positions
}

/// The first position that the order of growth of a trajectory to `far` is judged by: a fiftieth of the
/// way, but no earlier than 10 and no later than 100.
pub fn warm(far: u64) -> u64 {
    (far / 50).clamp(10, 100)
}

/// How many calls of a trajectory, in the order of measurement, are of no position: none where it goes up,
/// since [`warm`] leaves out its low positions; but where it goes down its first calls are at the far end,
/// and would pass for growth, or for a step. What is freed first fills the kernel's lists of free things
/// before it is freed in earnest, which takes some hundred calls.
pub fn cold(positions: &[u64]) -> usize {
    let goes_down = matches!(positions, [first, .., last] if first > last);
    if goes_down && positions.len() >= 100 { (positions.len() / 25).clamp(10, 1_000) } else { 0 }
}

/// The first point of a table with these that a verdict rests on: 0, but for trajectories.
pub fn verdicts_from(trajectory: bool, points: &[u64]) -> u64 {
    if trajectory { warm(points.last().copied().unwrap_or(0)) } else { 0 }
}

/// Where the samples of `position` lie, on a trajectory that comes to `far`.
pub fn around(position: u64, far: u64) -> RangeInclusive<u64> {
    let low = (position as f64 * (1.0 - POINT_REACH)).ceil() as u64;
    let high =
        if position == far { far } else { (position as f64 * (1.0 + POINT_REACH)).floor() as u64 };
    low.min(position)..=high.max(position)
}

/// Whether a table of trajectories, of which the longest comes to `far`, shows `position`.
pub fn is_shown(position: u64, far: u64) -> bool {
    let mut power = position;
    while power > 0 && power.is_multiple_of(10) {
        power /= 10;
    }
    power == 1 || position >= far / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_position_is_the_far_end() {
        let to_ten_thousand = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
        assert_eq!(positions(10_000), to_ten_thousand);
        assert_eq!(positions(25_000)[11..], [5_000, 10_000, 25_000]);
        assert_eq!(positions(12_000)[10..], [2_000, 5_000, 12_000]);
        assert_eq!(positions(1), [1]);
        assert_eq!(positions(0), [0; 0]);
        assert!(positions(u64::MAX).ends_with(&[10_000_000_000_000_000_000, u64::MAX]));
    }

    #[test]
    fn the_samples_of_a_position_are_around_it() {
        assert_eq!(around(1, 100), 1..=1);
        assert_eq!(around(5, 100), 5..=5);
        assert_eq!(around(10, 100), 9..=11);
        assert_eq!(around(1_000, 10_000), 900..=1_100);
        assert_eq!(around(10_000, 10_000), 9_000..=10_000);
    }

    #[test]
    fn the_first_calls_of_a_countdown_are_cold() {
        let (up, down): (Vec<u64>, Vec<u64>) = ((1..=5_000).collect(), (1..=5_000).rev().collect());
        assert_eq!((cold(&up), cold(&down), cold(&down[4_950..]), cold(&[])), (0, 200, 0, 0));
    }

    #[test]
    fn a_table_stays_readable() {
        let shown = |far| -> Vec<u64> {
            positions(far).into_iter().filter(|&position| is_shown(position, far)).collect()
        };
        assert_eq!(shown(10_000), [1, 10, 100, 1000, 2000, 5000, 10_000]);
        assert_eq!(shown(25_000), [1, 10, 100, 1000, 5000, 10_000, 25_000]);
        assert_eq!(shown(5_000), [1, 10, 100, 500, 1000, 2000, 5000]);
    }
}
