//! The position of a change: the zero of the lead. Positions are logarithms, shifted where zero is a point.

use super::evidence::{Change, Costs};
use super::point_pair::{PointPair, interval};
use crate::Estimate;

/// The position of `change`: the mean of the equally good zeros of the lead, weighted by their likelihood,
/// on an axis of logarithms.
///
/// The CI comes from the replicates: the best position of each, without 2.5 % at either end. The shape of
/// the curves between two points is unknown, so each end is the outermost of three [`Zero`]s.
pub(super) fn position(pairs: &[PointPair<'_>], change: &Change, shift: f64) -> Estimate {
    let measured: Vec<[f64; 2]> =
        pairs.iter().map(|pair| pair.figures.map(|figure| figure.worth)).collect();
    let first_leads = change.first_leads;
    let (mut sum, mut weights) = (0.0, 0.0);
    for &(at, cost) in &change.candidates {
        let turns =
            (pairs[at].lead > 0.0) == first_leads && (pairs[at + 1].lead > 0.0) != first_leads;
        let weight = if turns { (-cost).exp() } else { 0.0 };
        sum += weight * zero_after(pairs, &measured, at, shift).straight;
        weights += weight;
    }
    let [from, to] = change.between;
    let middle =
        if weights > 0.0 { sum / weights } else { f64::midpoint(pairs[from].x, pairs[to].x) };
    let counts = pairs[from..=to].iter().flat_map(|pair| pair.figures.map(|p| p.draws.len()));
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    let mut drawn = measured.clone();
    let [first, last] = change.outer;
    for replicate in 0..counts.min().unwrap_or(0) {
        for (slot, pair) in drawn.iter_mut().zip(pairs) {
            *slot = pair.draw(replicate);
        }
        let leads =
            pairs.iter().zip(&drawn).map(|(pair, [first, second])| pair.strength(first - second));
        let at = Costs::new(leads, first_leads).cheapest([first + 1, last + 1]) - 1;
        let zero = zero_after(pairs, &drawn, at, shift);
        lows.push(zero.straight.min(zero.of_sums).min(zero.smooth));
        highs.push(zero.straight.max(zero.of_sums).max(zero.smooth));
    }
    let Estimate { value, low, high } = interval(middle, &mut lows, &mut highs);
    let [value, low, high] = [value, low, high].map(|x| (x - shift).max(0.0));
    Estimate { value, low, high }
}

/// A zero of the lead: the logarithm of its value on the axis, by three shapes.
#[derive(Clone, Copy, Debug)]
struct Zero {
    /// Both series straight on logarithmic axes: exact for powers.
    straight: f64,
    /// Their costs straight on plain axes: exact for a fixed cost plus a cost per unit.
    of_sums: f64,
    /// The lead on a smooth curve through the neighbouring points, without overshoot.
    smooth: f64,
}

/// The zero between the point `index` and the next, between which the leader changes.
fn zero_after(pairs: &[PointPair<'_>], worths: &[[f64; 2]], index: usize, shift: f64) -> Zero {
    let next = index + 1;
    let (from, to) = (pairs[index].x, pairs[next].x);
    let share = |before: [f64; 2], after: [f64; 2]| {
        let (start, end) = (before[0] - before[1], after[0] - after[1]);
        // Equal leads have no zero between them, or are zero throughout.
        let share = start / (start - end);
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    };
    let costs = |worths: [f64; 2]| worths.map(|worth| (-worth).exp());
    let (below, above) = (from.exp() - shift, to.exp() - shift);
    let of_sums = below + share(costs(worths[index]), costs(worths[next])) * (above - below);
    Zero {
        straight: from + share(worths[index], worths[next]) * (to - from),
        of_sums: (of_sums + shift).ln(),
        smooth: smooth_zero(pairs, worths, index),
    }
}

/// The zero of the cubic between two points, with slopes that are limited to prevent overshoot (Fritsch and
/// Butland).
fn smooth_zero(pairs: &[PointPair<'_>], worths: &[[f64; 2]], index: usize) -> f64 {
    let lead = |index: usize| worths[index][0] - worths[index][1];
    let (x, y) = ([pairs[index].x, pairs[index + 1].x], [lead(index), lead(index + 1)]);
    let width = x[1] - x[0];
    let slopes = [slope(pairs, lead, index) * width, slope(pairs, lead, index + 1) * width];
    let value = |t: f64| {
        let (square, left) = (t * t, 1.0 - t);
        y[0] * (1.0 + 2.0 * t) * left * left
            + slopes[0] * t * left * left
            + y[1] * square * (3.0 - 2.0 * t)
            - slopes[1] * square * left
    };
    // Thirteen bisections give four digits, more than any figure here has.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..13 {
        let middle = f64::midpoint(low, high);
        if (value(middle) > 0.0) == (y[0] > 0.0) { low = middle } else { high = middle }
    }
    x[0] + f64::midpoint(low, high) * width
}

/// The slope at a point: the harmonic mean of those on its two sides, flat at a peak.
fn slope(pairs: &[PointPair<'_>], lead: impl Fn(usize) -> f64, index: usize) -> f64 {
    let side = |from: usize| {
        let width = pairs[from + 1].x - pairs[from].x;
        ((lead(from + 1) - lead(from)) / width, width)
    };
    if index == 0 || index + 1 == pairs.len() {
        return side(index.saturating_sub(1)).0;
    }
    let ((before, left), (after, right)) = (side(index - 1), side(index));
    if before * after <= 0.0 {
        return 0.0;
    }
    let (nearer, farther) = (2.0 * right + left, right + 2.0 * left);
    (nearer + farther) / (nearer / before + farther / after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::crossover::Comparison;
    use crate::pairs::crossover::tests::singles;

    #[test]
    fn each_shape_has_the_zero_of_its_own_curves() {
        type Curve = fn(f64) -> f64;
        let zero = |costs: Curve, flat: f64| {
            let figures = |cost: &dyn Fn(f64) -> f64| -> Vec<(u64, f64)> {
                [100, 300, 600, 1000].iter().map(|&n| (n, cost(n as f64))).collect()
            };
            let (first, second) =
                (singles("one", &figures(&costs)), singles("other", &figures(&|_| flat)));
            let comparison = Comparison::new(&first, &second);
            let pairs = &comparison.pairs;
            let worths: Vec<[f64; 2]> =
                pairs.iter().map(|pair| pair.figures.map(|figure| figure.worth)).collect();
            zero_after(pairs, &worths, 1, 0.0)
        };
        assert!((zero(|n| 8.0 + 0.09 * n, 8.0 + 45.0).of_sums.exp() - 500.0).abs() < 1e-9);
        assert!((zero(|n| n.powf(0.7), 500_f64.powf(0.7)).straight.exp() - 500.0).abs() < 1e-9);
        // A rate that saturates is neither.
        let rate = zero(|n| 1.0 + 500.0 / n, 2.0);
        assert!((rate.smooth.exp() / 500.0 - 1.0).abs() < 0.003, "{rate:?}");
        assert!(rate.straight.exp() > 505.0 && rate.of_sums.exp() > 530.0, "{rate:?}");
    }

    #[test]
    fn a_peak_is_flat() {
        let first = singles("one", &[(1, 1.0), (10, 10.0), (100, 1.0), (1000, 0.01)]);
        let second = singles("other", &[(1, 1.0), (10, 1.0), (100, 1.0), (1000, 1.0)]);
        let comparison = Comparison::new(&first, &second);
        let pairs = &comparison.pairs;
        let slope_at = |index| slope(pairs, |i| pairs[i].lead, index);
        assert!(slope_at(1).abs() < 1e-12);
        assert!((slope_at(0) + 1.0).abs() < 1e-9 && (slope_at(3) - 2.0).abs() < 1e-9);
        assert!((slope_at(2) - 4.0 / 3.0).abs() < 1e-9, "the harmonic mean of 1 and 2");
    }
}
