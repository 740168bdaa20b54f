//! The positions at which the samples of a trajectory are brought together: 1, 2, 5, 10, 20, … and the far end. The
//! median at one is that of the samples within a tenth of it, and at the far end of those in the last tenth.
//!
//! A table shows the powers of ten, the positions in the last decade, and the far end. An order of growth is judged by
//! all positions from [`warm`] on that have enough samples: the first calls pay for first pages and tables, and belong
//! to no curve.

use std::ops::RangeInclusive;

/// Positions nearer to the far end of a trajectory than this, as a ratio, would share its samples.
const FAR_END_RATIO: f64 = 1.4;

/// How far from a point its samples may lie, as a share.
const POINT_REACH: f64 = 0.1;

/// The positions of a trajectory that comes to `far`, ascending.
pub fn positions(far: u64) -> Vec<u64> {
    let decades = (0..=u64::MAX.ilog10()).map(|power| 10_u64.pow(power));
    let all = decades.flat_map(|decade| [1, 2, 5].map(|head| decade.saturating_mul(head)));
    // A position that shares samples with the far end is none of its own.
    let is_own = |position: &u64| *position as f64 <= far as f64 / FAR_END_RATIO;
    all.take_while(is_own).chain((far > 0).then_some(far)).collect()
}

/// The first position that the order of growth of a trajectory to `far` is judged by: a fiftieth of the
/// way, but no earlier than 10 and no later than 100.
pub fn warm(far: u64) -> u64 {
    (far / 50).clamp(10, 100)
}

/// How many calls of a trajectory, in the order of measurement, are of no position: where it goes down its first calls
/// are at the far end, and would pass for growth. The kernel's lists of free things take some hundred calls to fill.
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
    let power = position.checked_ilog10().map(|power| 10_u64.pow(power));
    power == Some(position) || position >= far / 10
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
