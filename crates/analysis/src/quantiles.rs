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
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let share = place - below as f64;
    let (low, high) = (ascending[below], ascending[above]);
    // A plain mixture of equal ends can be off by a rounding step, and of infinite ones by all.
    Some(if low.to_bits() == high.to_bits() { low } else { low + (high - low) * share })
}

/// The median of `ascending`; `None` when there are no figures.
pub fn median(ascending: &[f64]) -> Option<f64> {
    quantile(ascending, 0.5)
}

/// The median of figures in any order, which are left in another one; `None` when there are none.
pub fn median_of(figures: &mut [f64]) -> Option<f64> {
    let middle = figures.len() / 2;
    if figures.is_empty() {
        return None;
    }
    let odd = figures.len() % 2 == 1;
    let (below, upper, _) = figures.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    Some(lower + (upper - lower) * 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let by_sort = median(&sorted(&figures)).unwrap();
            let by_select = median_of(&mut figures.clone()).unwrap();
            assert!((by_sort - by_select).abs() < 1e-15, "{length}: {by_sort} and {by_select}");
        }
    }

    #[test]
    fn no_figures_have_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(median_of(&mut []), None);
        assert_eq!(quantile(&[3.0], 0.99), Some(3.0));
    }
}
