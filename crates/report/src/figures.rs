//! Figures as text: three significant digits, thousands separators, one unit per table.

/// What stands where there is no figure.
pub(crate) const NONE: &str = "–";

/// A whole number with thousands separators: `10,000`.
pub(crate) fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A figure with three significant digits, whole from 1,000 up: `1.88`, `12.2`, `4,571`.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let size = value.abs();
    if size >= 999.5 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", whole(size.round() as u64));
    }
    let decimals = match size {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 || s == 0.0 => 2,
        s if s >= 0.09995 => 3,
        s if s >= 0.009_995 => 4,
        _ => return format!("{value:.1e}"),
    };
    format!("{value:.decimals$}")
}

/// A growth factor: `×1.04`, `×9.3`, `×391`.
pub(crate) fn factor(value: f64) -> String {
    match value {
        v if !v.is_finite() => NONE.to_owned(),
        v if v >= 9.95 => format!("×{}", whole(v.round() as u64)),
        v if v >= 1.995 => format!("×{v:.1}"),
        v if v >= 0.01 => format!("×{v:.2}"),
        v => format!("×{v:.1e}"),
    }
}

/// The unit in which one table's figures are readable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Its sign: `µs`.
    pub sign: String,
    /// How many of the recorded unit make one of it.
    scale: f64,
}

impl Unit {
    /// Chooses by the middle one of `values`, so that the extremes can't make the rest unreadable.
    pub fn choose(recorded: &str, values: impl Iterator<Item = f64>) -> Self {
        let mut sizes: Vec<f64> = values.map(f64::abs).filter(|size| size.is_finite()).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let middle = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
        let (sign, scale) = match (recorded, middle) {
            ("ns", m) if m >= 1e9 => ("s", 1e9),
            ("ns", m) if m >= 1e6 => ("ms", 1e6),
            ("ns", m) if m >= 1e3 => ("µs", 1e3),
            (other, _) => (other, 1.0),
        };
        Self { sign: sign.to_owned(), scale }
    }

    /// The figure in this unit, without its sign.
    pub fn figure(&self, recorded: f64) -> String {
        figure(recorded / self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_separated_by_thousands() {
        assert_eq!(
            [0, 10, 999, 1000, 10_000, 1_234_567].map(whole),
            ["0", "10", "999", "1,000", "10,000", "1,234,567"]
        );
    }

    #[test]
    fn figures_keep_three_significant_digits_also_where_rounding_carries() {
        let given = [1.876, 12.24, 114.4, 4571.2, 0.0501, 9.996, 99.96, 999.7, 0.0, -12.24];
        let said =
            ["1.88", "12.2", "114", "4,571", "0.0501", "10.0", "100", "1,000", "0.00", "-12.2"];
        assert_eq!(given.map(figure), said);
        assert_eq!([1e-6, f64::NAN].map(figure), ["1.0e-6", "–"]);
    }

    #[test]
    fn factors_read_as_factors() {
        assert_eq!(
            [1.042, 9.31, 391.4, 0.85, 4571.0, f64::INFINITY].map(factor),
            ["×1.04", "×9.3", "×391", "×0.85", "×4,571", "–"]
        );
    }

    #[test]
    fn the_middle_figure_chooses_the_unit() {
        let choose = |values: &[f64]| Unit::choose("ns", values.iter().copied()).sign;
        assert_eq!(choose(&[20.0, 30.0, 4e6]), "ns");
        assert_eq!(choose(&[1.7e3, 1.9e3, 4.5e6]), "µs");
        assert_eq!(choose(&[2e6]), "ms");
        assert_eq!(choose(&[]), "ns");
        assert_eq!(Unit::choose("requests/s", [1e9].into_iter()).figure(1e4), "10,000");
    }
}
