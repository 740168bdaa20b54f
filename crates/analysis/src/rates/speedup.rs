//! How a rate grows with those that work side by side, up to one for each of the whole: the trend of these points. A
//! rate that rises *scales* where it reaches four fifths of what all would do if each did as much as the first. One
//! that is surely below the first alone *falls*, by however little: more workers that do less are a loss.

use crate::growth::levels::Cells;
use crate::rates::{Costs, rate};
use crate::stats::moments::{mean, squares_about};
use crate::stats::student;
use crate::thresholds::{FALSE_ALARM, ROUNDS_MIN, SCALES_MIN, SEEN_FACTOR_MIN};
use crate::{PointSummary, Rate, RateTrend, Speedup, TrendReason};

/// The speedup at these `points` (ascending) up to the point `one_each`. `None` where there is none before it. Where
/// other processes left fewer CPUs to the run than it takes to scale, as far as that is known, it may be due to them that
/// more workers do no more.
pub fn speedup(points: &[PointSummary], one_each: u64, cpus_left: Option<f64>) -> Option<Speedup> {
    use RateTrend::{Falls, Rises, Scales, Undecided};
    let end = points.iter().position(|at| at.point == one_each).filter(|&end| end > 0)?;
    let points = &points[..=end];
    let linear = one_each as f64 / points[0].point as f64;
    let rate = rate(points)?;
    let scales = rate.factor.value >= SCALES_MIN * linear
        && rate.factor.low >= SCALES_MIN / SEEN_FACTOR_MIN * linear;
    // What falls behind a peak is compared with that; how many times more is done is over the first all the same.
    let first = points[0].point;
    let (factor, after_peak) = if rate.from == first {
        (rate.factor, None)
    } else {
        (Costs::new(points).factor(0, end), Some(rate.factor))
    };
    let verdict = match rate.trend {
        Rises if scales => Scales,
        Undecided if factor.high < 1.0 => Falls,
        trend => trend,
    };
    let gains = matches!(verdict, Scales | Rises | Undecided);
    let taken = cpus_left.filter(|left| !gains && *left < SCALES_MIN * one_each as f64);
    let (verdict, reason) = match taken {
        Some(left) => (Undecided, Some(TrendReason::CpusTaken { left })),
        None => (verdict, rate.reason.filter(|_| verdict == Undecided)),
    };
    let (from, Rate { to, level, peak, .. }) = (first, rate);
    let [(first_mean, first_square), (last_mean, last_square)] =
        [0, end].map(|index| mean_over_rounds(&points[index].log_cells));
    Some(Speedup {
        verdict,
        from,
        to,
        level,
        factor,
        linear,
        peak,
        after_peak,
        reason,
        rounds: points[0].log_cells.len().min(points[end].log_cells.len()) as u32,
        rise: last_mean - first_mean,
        rise_error: (first_square + last_square).sqrt(),
    })
}

/// Whether what is done by those that share falls behind what is done by those that don't: how many times more is done
/// at the same last point, over the same first, is less, and by more than chance explains among so many `comparisons`.
pub fn falls_behind(sharing: &Speedup, separate: &Speedup, comparisons: usize) -> bool {
    if (sharing.from, sharing.to) != (separate.from, separate.to) {
        return false;
    }
    let rounds = sharing.rounds.min(separate.rounds);
    if rounds < ROUNDS_MIN as u32 {
        return false;
    }
    let chance = FALSE_ALARM / comparisons.max(1) as f64;
    // Student's test of a ratio, of four means: rounds are alike at both ends of both, but for what changed.
    let asked = student::two_sided_quantile(chance, 4 * (rounds as usize - 1));
    separate.rise - sharing.rise > asked * separate.rise_error.hypot(sharing.rise_error)
}

/// The mean of the logarithms, with the square of its standard error.
fn mean_over_rounds(cells: &Cells) -> (f64, f64) {
    let logs: Vec<f64> = cells.values().copied().collect();
    let (rounds, mean) = (logs.len() as f64, mean(&logs));
    (mean, squares_about(mean, &logs) / (rounds - 1.0).max(1.0) / rounds)
}
