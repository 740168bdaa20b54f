//! Decimal numbers, exact: what was typed and what is printed are the same text.

use std::fmt;

/// A decimal number: `digits` over ten to the power of `decimals`, with its sign.
///
/// The number of decimals is kept, so that `10.0` is written `10.0` again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    digits: u64,
    decimals: u8,
}

/// Up to here a power of ten is exact as an `f64`, and so is the quotient's rounding.
const DECIMALS_MAX: usize = 18;

impl Decimal {
    /// Reads plain digits with at most one point: `10`, `0.5`, `.5`. No sign, exponent or separator.
    pub fn read(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = plain(whole) && plain(fraction) && whole.len() + fraction.len() > 0;
        if !is_number || fraction.len() > DECIMALS_MAX {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { negative: false, digits, decimals: fraction.len() as u8 })
    }

    /// Reads the same with a minus sign before it, or without one.
    pub fn read_signed(text: &str) -> Option<Decimal> {
        match text.strip_prefix('-') {
            Some(digits) => Some(Decimal { negative: true, ..Decimal::read(digits)? }),
            None => Decimal::read(text),
        }
    }

    /// The nearest floating-point number.
    pub fn value(self) -> f64 {
        let size = self.digits as f64 / 10_f64.powi(self.decimals.into());
        if self.negative { -size } else { size }
    }

    /// This number times `factor`, if that is a whole number of at least 0 that fits.
    pub fn scaled(self, factor: u64) -> Option<u64> {
        let scaled = u128::from(self.digits) * u128::from(factor);
        let divisor = 10_u128.pow(self.decimals.into());
        (scaled % divisor == 0 && !self.negative)
            .then(|| u64::try_from(scaled / divisor).ok())
            .flatten()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            write!(out, "-")?;
        }
        if self.decimals == 0 {
            return write!(out, "{}", self.digits);
        }
        let scale = 10_u64.pow(self.decimals.into());
        let (whole, fraction) = (self.digits / scale, self.digits % scale);
        write!(out, "{whole}.{fraction:0width$}", width = usize::from(self.decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_as_they_were_read() {
        for text in ["0", "10", "0.5", "10.0", "2.50", "0.000000000000000001"] {
            assert_eq!(Decimal::read(text).unwrap().to_string(), text);
        }
        for text in ["", ".", "-1", "+1", "1e3", "1_0", "1.2.3", "99999999999999999999", "٣"] {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
        assert!((Decimal::read("0.1").unwrap().value() - 0.1).abs() < f64::EPSILON);
        let below = Decimal::read_signed("-1.5").unwrap();
        assert_eq!(
            (below.value(), below.to_string(), below.scaled(2)),
            (-1.5, "-1.5".into(), None)
        );
    }

    #[test]
    fn a_multiple_of_a_decimal_is_whole_or_nothing() {
        let scaled = |text, factor| Decimal::read(text).unwrap().scaled(factor);
        assert_eq!(scaled("2.5", 1_000), Some(2_500));
        assert_eq!(scaled("1.0", 1), Some(1));
        assert_eq!(scaled("1.5", 1), None);
        assert_eq!(scaled("18446744073709551615", 10), None);
    }
}
