//! The median of as many figures as there are, drawn from them with replacement, again and again.
//!
//! A table in which each row is a round has a million rounds, and a bootstrap draws a thousand times as many. Where the
//! median of the draws lies is nearly known before: so of most draws it is enough to count that they lie below
//! or above, and they are neither read nor sorted.

use crate::stats::bootstrap::drawn_from;
use crate::stats::quantiles::{median_among, median_of};
use fastrand::Rng;

/// Where a figure lies, by its rank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Middle,
    Above,
}

/// Figures to be drawn.
pub(crate) struct DrawnMedian<'a> {
    figures: &'a [f64],
    /// Of each figure.
    sides: Vec<Side>,
    /// The drawn figures of the middle.
    middle: Vec<f64>,
}

impl<'a> DrawnMedian<'a> {
    pub(crate) fn new(figures: &'a [f64]) -> Self {
        let count = figures.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_unstable_by(|&a, &b| figures[a].total_cmp(&figures[b]));
        // The rank of the median has a standard error of half the root. What lies farther out than four of them is
        // drawn again in full, so that this decides how long it takes, and nothing else.
        let reach = (2.0 * (count as f64).sqrt()).ceil() as usize;
        let (from, to) = ((count / 2).saturating_sub(reach), count.min(count / 2 + reach));
        let mut sides = vec![Side::Middle; count];
        order[..from].iter().for_each(|&at| sides[at] = Side::Below);
        order[to..].iter().for_each(|&at| sides[at] = Side::Above);
        Self { figures, sides, middle: Vec::new() }
    }

    /// The median of the next draws; `None` without figures.
    pub(crate) fn next(&mut self, random: &mut Rng) -> Option<f64> {
        let count = self.figures.len();
        let mut again = random.clone();
        let mut below = 0;
        self.middle.clear();
        for _ in 0..count {
            let at = random.usize(..count);
            // Added without a branch, which would be mispredicted every other time.
            below += usize::from(self.sides[at] == Side::Below);
            if self.sides[at] == Side::Middle {
                self.middle.push(self.figures[at]);
            }
        }
        let above = count - below - self.middle.len();
        median_among(below, &mut self.middle, above)
            .or_else(|| median_of(&mut drawn_from(self.figures, Some(&mut again))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same draws, and so the same medians, as of drawing and sorting all.
    #[test]
    fn medians_are_those_of_plain_drawing() {
        let mut values = Rng::with_seed(3);
        for count in [1, 2, 3, 17, 100, 1_001, 5_000] {
            for ticks in [2.0, 1e9] {
                let figures: Vec<f64> =
                    (0..count).map(|_| (ticks * values.f64().powi(3)).floor()).collect();
                let (mut drawn, mut plain) = (Rng::with_seed(count), Rng::with_seed(count));
                let mut medians = DrawnMedian::new(&figures);
                for _ in 0..200 {
                    let expected = median_of(&mut drawn_from(&figures, Some(&mut plain)));
                    assert_eq!(medians.next(&mut drawn), expected, "{count}, {ticks}");
                }
                assert_eq!(drawn.u64(..), plain.u64(..), "{count}: as many draws");
            }
        }
        assert_eq!(DrawnMedian::new(&[]).next(&mut values), None);
    }

    /// The median of draws is mostly none of a middle that is one figure of six.
    #[test]
    fn draws_whose_median_is_not_in_the_middle_are_read_in_full() {
        let figures: Vec<f64> = (0..6).map(f64::from).collect();
        let mut medians = DrawnMedian::new(&figures);
        medians.sides =
            [Side::Below, Side::Below, Side::Middle, Side::Above, Side::Above, Side::Above]
                .to_vec();
        let (mut drawn, mut plain) = (Rng::with_seed(1), Rng::with_seed(1));
        for _ in 0..100 {
            let expected = median_of(&mut drawn_from(&figures, Some(&mut plain)));
            assert_eq!(medians.next(&mut drawn), expected);
        }
    }
}
