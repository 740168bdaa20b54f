//! Whether rounds lie on two levels: two or more on each side of a gap that is several times as wide as the levels on
//! either side lie apart, by the number of rounds. One slow round, or two by different factors, split nothing.
use crate::thresholds::{ROUNDS_MIN, SPLIT_GAPS};

/// The index of the first round after a change, where the levels changed once in their order; `upper` says of each round
/// whether it is on the upper one.
pub fn since(upper: &[bool]) -> Option<usize> {
    let mut changes = (1..upper.len()).filter(|&at| upper[at] != upper[at - 1]);
    let first = changes.next();
    first.filter(|_| changes.next().is_none())
}

/// How the `levels` of rounds (logarithms; NaN where unknown) split by a gap of at least `gap_min`, if they do: whether
/// each is on the upper side, where unknown ones are not.
pub fn split(levels: &[f64], gap_min: f64) -> Option<Vec<bool>> {
    let mut finite: Vec<f64> = levels.iter().copied().filter(|level| level.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    if finite.len() < ROUNDS_MIN {
        return None;
    }
    let last = finite.len() - 1;
    let times = SPLIT_GAPS[(finite.len() - ROUNDS_MIN).min(SPLIT_GAPS.len() - 1)];
    let parts = |above: &usize| {
        let gap = finite[*above] - finite[above - 1];
        let spread = (finite[above - 1] - finite[0]).max(finite[last] - finite[*above]);
        gap >= gap_min && gap >= times * spread
    };
    let above = (2..last).find(parts)?;
    let middle = f64::midpoint(finite[above - 1], finite[above]);
    Some(levels.iter().map(|level| *level > middle).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::{gamma, normal};
    use fastrand::Rng;

    #[test]
    fn two_levels_are_split_and_one_slow_round_is_not() {
        let result = split(&[0.0, 0.5, 0.02, 0.01, 0.52], 0.1).unwrap();
        assert_eq!(result, [false, true, false, false, true]);
        assert_eq!(since(&result), None);
        assert_eq!(since(&split(&[0.0, 0.01, 0.5, 0.51, 0.49], 0.1).unwrap()), Some(2));
        assert_eq!(split(&[0.0, 0.5, 0.02, 0.01, 0.03], 0.1), None);
        assert_eq!(split(&[0.0, 0.5, 0.02, 0.5], 0.1), None);
        assert_eq!(split(&[0.0, 0.5, 0.02, 0.5, f64::NAN], 0.1), None);
        assert_eq!(split(&[0.0, 0.05, 0.002, 0.001, 0.052], 0.1), None);
    }

    /// Levels that scatter: normally, with heavy tails, and with a long tail to one side.
    #[test]
    fn levels_that_scatter_are_hardly_ever_split() {
        let mut random = Rng::with_seed(5);
        for rounds in [5, 6, 7, 8, 9, 15] {
            for kind in 0..3 {
                let mut draw = || match kind {
                    0 => normal(&mut random),
                    1 => normal(&mut random) / (gamma(1.5, &mut random) / 1.5).sqrt(),
                    _ => gamma(1.0, &mut random),
                };
                let drawn = 20_000;
                let splits = (0..drawn)
                    .filter(|_| {
                        let levels: Vec<f64> = (0..rounds).map(|_| draw()).collect();
                        split(&levels, 0.0).is_some()
                    })
                    .count();
                println!("{rounds} rounds, kind {kind}: {splits} of {drawn}");
                assert!(splits < drawn / 75, "{rounds} rounds, kind {kind}: {splits} of {drawn}");
            }
        }
    }
}
