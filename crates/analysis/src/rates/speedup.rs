//! How a rate grows with those that work side by side, up to one for each of the whole: the trend of these points. A
//! rate that rises *scales* where it reaches four fifths of what all would do if each did as much as the first. One
//! that is surely below the first alone *falls*, by however little: more workers that do less are a loss.

use crate::growth::levels::{Cells, MeasuredPoint};
use crate::rates::{Costs, rate};
use crate::stats::moments::{mean, squares_about};
use crate::stats::student;
use crate::thresholds::{FALSE_ALARM, ROUNDS_MIN, SCALES_MIN, SEEN_FACTOR_MIN};
use crate::{ByRounds, Rate, RateTrend, Speedup, TrendReason};

/// The speedup at these `points` (ascending) up to the point `one_each`. `None` where there is none before it.
pub fn speedup(points: &[MeasuredPoint], one_each: u64) -> Option<Speedup> {
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
        RateTrend::Rises if scales => RateTrend::Scales,
        RateTrend::Undecided if factor.high < 1.0 => RateTrend::Falls,
        trend => trend,
    };
    let Rate { to, level, peak, reason, .. } = rate;
    let reason = reason.filter(|_| verdict == RateTrend::Undecided);
    let by_rounds = by_rounds(&points[0].cells, &points[end].cells);
    let from = first;
    Some(Speedup { verdict, from, to, level, factor, linear, peak, after_peak, reason, by_rounds })
}

impl Speedup {
    /// The same where other processes left `left` CPUs to the run, if that is known. With fewer than it takes to scale,
    /// that more workers do no more may be due to them.
    pub(crate) fn with_cpus_left(mut self, left: Option<f64>) -> Speedup {
        use RateTrend::{Rises, Scales, Undecided};
        let gains = matches!(self.verdict, Scales | Rises | Undecided);
        if let Some(left) = left.filter(|left| !gains && *left < SCALES_MIN * self.to as f64) {
            self.verdict = Undecided;
            self.reason = Some(TrendReason::CpusTaken { left });
        }
        self
    }
}

/// Whether what is done by those that share falls behind what is done by those that don't: how many times more is done
/// at the same last point, over the same first, is less, and by more than chance explains among so many `comparisons`.
pub fn falls_behind(sharing: &Speedup, separate: &Speedup, comparisons: usize) -> bool {
    if (sharing.from, sharing.to) != (separate.from, separate.to) {
        return false;
    }
    let (sharing, separate) = (&sharing.by_rounds, &separate.by_rounds);
    let rounds = sharing.rounds.min(separate.rounds);
    if rounds < ROUNDS_MIN as u32 {
        return false;
    }
    let chance = FALSE_ALARM / comparisons.max(1) as f64;
    // Of four means: the two ends of both.
    let asked = student::two_sided_quantile(chance, 4 * (rounds as usize - 1));
    separate.rise - sharing.rise > asked * separate.error.hypot(sharing.error)
}

/// Student's test of a ratio: rounds are alike at both ends, but for what changed.
fn by_rounds(first: &Cells, last: &Cells) -> ByRounds {
    let of_end = |cells: &Cells| {
        let logs: Vec<f64> = cells.values().copied().collect();
        let (rounds, mean) = (logs.len() as f64, mean(&logs));
        (mean, squares_about(mean, &logs) / (rounds - 1.0).max(1.0) / rounds)
    };
    let ((first_mean, first_square), (last_mean, last_square)) = (of_end(first), of_end(last));
    let rounds = first.len().min(last.len()) as u32;
    ByRounds { rounds, rise: last_mean - first_mean, error: (first_square + last_square).sqrt() }
}
