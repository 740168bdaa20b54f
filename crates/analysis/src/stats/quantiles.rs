//! Quantiles of sorted figures.

/// Sorts figures ascending; not-a-number goes last, so that it can't hide in the middle.
pub fn sort(figures: &mut [f64]) {
    figures.sort_unstable_by(f64::total_cmp);
}

/// The figures in ascending order.
pub fn sorted(figures: &[f64]) -> Vec<f64> {
    let mut copy = figures.to_vec();
    sort(&mut copy);
    copy
}

/// The quantile `p` (0 to 1) of `ascending`, interpolated between neighbours (type 7 of Hyndman and
/// Fan, the default of R and NumPy). `None` when there are no figures.
pub fn quantile(ascending: &[f64], p: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let position = p.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let share = position - below as f64;
    let (low, high) = (ascending[below], ascending[above]);
    // A plain mixture of equal ends can be off by a rounding step, and of infinite ones by all.
    Some(if low.to_bits() == high.to_bits() { low } else { low + (high - low) * share })
}

/// The median of figures in any order, which are left in another one; `None` when there are none.
pub fn median_of(figures: &mut [f64]) -> Option<f64> {
    if figures.is_empty() {
        return None;
    }
    let is_odd = figures.len() % 2 == 1;
    let (less, upper, _) = figures.select_nth_unstable_by(figures.len() / 2, f64::total_cmp);
    if is_odd {
        return Some(*upper);
    }
    let lower = less.iter().copied().max_by(f64::total_cmp)?;
    Some(lower + (*upper - lower) * 0.5)
}

/// The median of these figures; `None` when there are none.
pub fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    median_of(&mut figures.into_iter().collect::<Vec<f64>>())
}

/// The quantiles `wanted` of the samples of several rounds together, each round with the same weight: a round of slow
/// operations gives fewer samples in the same time, and would be outvoted otherwise. As [`quantile`] where all rounds have
/// as many samples. `None` without samples; empty rounds do not count.
pub fn pooled<const COUNT: usize>(rounds: &[&[f64]], wanted: [f64; COUNT]) -> Option<[f64; COUNT]> {
    let weighted = rounds.iter().flat_map(|round| {
        let weight = 1.0 / round.len() as f64;
        round.iter().map(move |&sample| (sample, weight))
    });
    let mut ascending: Vec<(f64, f64)> = weighted.collect();
    ascending.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let last = ascending.len().checked_sub(1)?;
    let mut before = 0.0;
    // The middle of each sample's share: with equal shares these are type 7's positions.
    let middle = |&(_, weight): &(f64, f64)| {
        before += weight;
        before - 0.5 * weight
    };
    let middles: Vec<f64> = ascending.iter().map(middle).collect();
    let span = if middles[last] > middles[0] { middles[last] - middles[0] } else { 1.0 };
    // The rank of each sample between 0, the smallest, and 1, the largest.
    let ranks: Vec<f64> = middles.iter().map(|middle| (middle - middles[0]) / span).collect();
    Some(wanted.map(|p| {
        let p = p.clamp(0.0, 1.0);
        let above = ranks.partition_point(|&rank| rank < p).min(last);
        let below = above.saturating_sub(1);
        let (low, high) = (ascending[below].0, ascending[above].0);
        let gap = ranks[above] - ranks[below];
        let share = if gap > 0.0 { ((p - ranks[below]) / gap).clamp(0.0, 1.0) } else { 1.0 };
        if low.to_bits() == high.to_bits() { low } else { low + (high - low) * share }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooled_rounds_of_one_length_are_as_if_they_were_one() {
        let rounds: [&[f64]; 3] = [&[5.0, 1.0, 9.0], &[2.0, 2.5, 7.0], &[3.0, 8.0, 4.0]];
        let plain = sorted(&rounds.concat());
        for p in [0.0, 0.1, 0.25, 0.5, 0.6, 0.9, 0.99, 1.0] {
            let ([actual], expected) =
                (pooled(&rounds, [p]).unwrap(), quantile(&plain, p).unwrap());
            assert!((actual - expected).abs() < 1e-9, "{p}: {actual}, not {expected}");
        }
        assert_eq!(pooled(&[], [0.5]), None);
        assert_eq!(pooled(&[&[4.0]], [0.1]), Some([4.0]));
    }

    #[test]
    fn a_round_of_many_samples_does_not_outvote_one_of_few() {
        let (fast, slow) = ([1.0; 98], [3.0; 2]);
        assert_eq!(pooled(&[&fast, &slow, &slow], [0.25, 0.5]), Some([1.0, 3.0]));
    }

    /// Reference: `numpy.quantile([1, 2, 4, 8, 16, 32, 64, 128], p)` of NumPy 2.4, whose default
    /// is R's type 7.
    #[test]
    fn quantiles_equal_those_of_numpy() {
        let figures = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let expected = [
            (0.0, 1.0),
            (0.1, 1.7),
            (0.25, 3.5),
            (0.5, 12.0),
            (0.9, 83.2),
            (0.99, 123.52),
            (1.0, 128.0),
        ];
        for (p, value) in expected {
            let got = quantile(&figures, p).unwrap();
            assert!((got - value).abs() < 1e-12, "{p}: {got} instead of {value}");
        }
    }

    #[test]
    fn the_two_medians_agree_on_every_length() {
        let mut random = fastrand::Rng::with_seed(7);
        for length in 1..60 {
            let figures: Vec<f64> = (0..length).map(|_| random.f64().powi(3)).collect();
            let by_sort = quantile(&sorted(&figures), 0.5).unwrap();
            let by_select = median_of(&mut figures.clone()).unwrap();
            assert!((by_sort - by_select).abs() < 1e-15, "{length}: {by_sort} and {by_select}");
        }
    }

    #[test]
    fn figures_of_any_kind_are_sorted_in_their_total_order() {
        let mut random = fastrand::Rng::with_seed(9);
        for length in [5, 31, 32, 1000] {
            let mut figures: Vec<f64> =
                (0..length).map(|_| f64::from_bits(random.u64(..))).collect();
            figures.extend([0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
            let mut expected = figures.clone();
            expected.sort_by(f64::total_cmp);
            sort(&mut figures);
            let same = figures.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same && figures.len() == expected.len(), "{length}");
        }
    }

    #[test]
    fn no_figures_have_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(median_of(&mut []), None);
        assert_eq!(quantile(&[3.0], 0.99), Some(3.0));
    }
}
