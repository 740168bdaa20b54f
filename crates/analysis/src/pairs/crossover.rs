//! The position of a change of the leader: the zero of the lead, on an axis of logarithms.

use super::leads::PointLead;
use crate::Estimate;
use crate::stats::quantiles::{quantile, sorted};
use crate::stats::random::normal;
use crate::thresholds::CHANCE_MAX;
use fastrand::Rng;

/// Draws that the interval of a crossover is made of.
const DRAWS: usize = 300;

/// The position of a zero of the lead `between` the last point at which the old leader leads, which is the first series
/// or the second, and the first at which the new one does: the median of draws from the levels, whose rounds have a
/// `common` standard error. Each end of the CI is the outermost of three [zeros](zeros_after), since the shape of the
/// curves between points is unknown.
pub(super) fn position(
    points: &[PointLead],
    between: [usize; 2],
    first_leads: bool,
    common: f64,
) -> Estimate {
    // Zero has no logarithm: where it is a point, half of the first point above it is added to each.
    let above = points.iter().map(|point| point.point).find(|point| *point > 0);
    let has_zero = points.first().is_some_and(|point| point.point == 0);
    let shift = if has_zero { above.unwrap_or(1) as f64 / 2.0 } else { 0.0 };
    let x: Vec<f64> = points.iter().map(|at| (at.point as f64 + shift).ln()).collect();
    let sign = if first_leads { 1.0 } else { -1.0 };
    let zeros = |worths: &[[f64; 2]]| zeros_after(&x, worths, turn(worths, between, sign));
    let back = |x: f64| (x.exp() - shift).max(0.0);
    let errors: Option<Vec<[f64; 2]>> = points.iter().map(|point| point.errors).collect();
    let Some(errors) = errors else {
        let measured: Vec<[f64; 2]> = points.iter().map(|point| point.logs).collect();
        return Estimate::exact(back(zeros(&measured)[0]));
    };
    let mut random = Rng::with_seed(points.len() as u64);
    let (mut middles, mut lows, mut highs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..DRAWS {
        let of_rounds = common * normal(&mut random);
        let drawn = points.iter().zip(&errors).map(|(point, errors)| {
            let [first, second] = [0, 1].map(|side| {
                let astray = point.astray[side];
                let is_astray = random.f64() < astray.chance;
                let disturbed =
                    if is_astray { astray.shift_log * normal(&mut random) } else { 0.0 };
                point.logs[side] + errors[side] * normal(&mut random) + disturbed
            });
            [first + of_rounds, second]
        });
        let zeros = zeros(&drawn.collect::<Vec<_>>());
        middles.push(zeros[0]);
        lows.push(zeros.into_iter().fold(f64::INFINITY, f64::min));
        highs.push(zeros.into_iter().fold(f64::NEG_INFINITY, f64::max));
    }
    let at = |all: Vec<f64>, share| quantile(&sorted(&all), share).map_or(f64::NAN, back);
    Estimate::holding(at(middles, 0.5), at(lows, CHANCE_MAX), at(highs, 1.0 - CHANCE_MAX))
}

/// The point after which the leader changes, where the leads on either side are least on the wrong one.
fn turn(worths: &[[f64; 2]], [after, before]: [usize; 2], sign: f64) -> usize {
    let lead = |index: usize| sign * (worths[index][0] - worths[index][1]);
    let square = |lead: f64| lead.max(0.0).powi(2);
    // Of a change behind `after`, and what each point that it moves beyond adds or takes.
    let (mut cost, mut best) = (0.0, (0.0, after));
    for index in after + 1..before {
        cost += square(-lead(index)) - square(lead(index));
        if cost < best.0 {
            best = (cost, index);
        }
    }
    best.1
}

/// The zeros of the lead between the point `index` and the next, between which the leader changes: the logarithms of
/// their values on the axis. By both series straight on logarithmic axes, exact for powers; by their costs straight over
/// the axis, exact for a fixed cost plus a cost per unit; and by their costs straight over one by the axis, exact for a
/// fixed cost that units share.
fn zeros_after(x: &[f64], worths: &[[f64; 2]], index: usize) -> [f64; 3] {
    let next = index + 1;
    let (from, to) = (x[index], x[next]);
    let share = |before: [f64; 2], after: [f64; 2]| {
        let (start, end) = (before[0] - before[1], after[0] - after[1]);
        // Equal leads have no zero between them, or are zero throughout.
        let share = start / (start - end);
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    };
    let costs = |worths: [f64; 2]| worths.map(|worth| (-worth).exp());
    let of_costs = share(costs(worths[index]), costs(worths[next]));
    let between = |start: f64, end: f64| start + of_costs * (end - start);
    let straight = from + share(worths[index], worths[next]) * (to - from);
    let of_sums = between(from.exp(), to.exp()).ln();
    let of_shared = -between((-from).exp(), (-to).exp()).ln();
    [straight, of_sums, of_shared]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The logarithms of points, and the worths of costs there and of a flat one.
    fn against(points: &[f64], cost: impl Fn(f64) -> f64, flat: f64) -> (Vec<f64>, Vec<[f64; 2]>) {
        let worths = points.iter().map(|n| [-cost(*n).ln(), -flat.ln()]).collect();
        (points.iter().map(|n| n.ln()).collect(), worths)
    }

    #[test]
    fn each_shape_has_the_zero_of_its_own_curves() {
        type Curve = fn(f64) -> f64;
        let zero = |cost: Curve, flat: f64| {
            let (x, worths) = against(&[100.0, 300.0, 600.0, 1000.0], cost, flat);
            zeros_after(&x, &worths, 1).map(f64::exp)
        };
        let [_, of_sums, _] = zero(|n| 8.0 + 0.09 * n, 8.0 + 45.0);
        let [straight, ..] = zero(|n| n.powf(0.7), 500_f64.powf(0.7));
        assert!((of_sums - 500.0).abs() < 1e-9 && (straight - 500.0).abs() < 1e-9);
        // A rate that saturates is neither.
        let [straight, of_sums, of_shared] = zero(|n| 1.0 + 500.0 / n, 2.0);
        assert!((of_shared - 500.0).abs() < 1e-9, "{of_shared}");
        assert!(straight > 505.0 && of_sums > 530.0, "{straight} {of_sums}");
    }
}
