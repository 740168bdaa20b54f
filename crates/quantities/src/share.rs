//! Percentages: `5%`, `2.5 %`.

use crate::{Decimal, Error};

/// Reads a percentage above 0 and below 100 as a share: `5%` is 0.05.
///
/// # Errors
/// If it is none, or not between those two.
pub fn percentage(text: &str) -> Result<f64, Error> {
    let typed = text.trim();
    let digits = typed.strip_suffix('%').map(str::trim_end);
    match digits.and_then(Decimal::read).map(Decimal::value) {
        Some(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err(Error::new(format!(
            "`{typed}` is not a percentage above 0 and below 100 (such as 5%)"
        ))),
    }
}

/// More than this is no slowdown that anyone means, in per cent.
const SLOWDOWN_MAX: f64 = 100_000.0;

/// Reads a slowdown as a share: `5%` is 0.05, and `300%` is 3: four times as long.
///
/// # Errors
/// If it is no percentage above 0.
pub fn slowdown(text: &str) -> Result<f64, Error> {
    let typed = text.trim();
    let digits = typed.strip_suffix('%').map(str::trim_end);
    match digits.and_then(Decimal::read).map(Decimal::value) {
        Some(percent) if percent > 0.0 && percent <= SLOWDOWN_MAX => Ok(percent / 100.0),
        _ => Err(Error::new(format!(
            "`{typed}` is not a percentage above 0 (such as 5%; 100% is twice as long)"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slowdown_may_be_more_than_a_hundred_per_cent() {
        assert_eq!((slowdown("5%"), slowdown("300 %")), (Ok(0.05), Ok(3.0)));
        for text in ["5", "0%", "-1%", "1e9%", "100001%", "%"] {
            assert!(slowdown(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percentages_are_read_as_people_type_them() {
        assert_eq!(percentage("5%"), Ok(0.05));
        assert_eq!(percentage(" 2.5 %"), Ok(0.025));
        for text in ["5", "0%", "100%", "-1%", "NaN%", "%", ""] {
            assert!(percentage(text).is_err(), "{text}");
        }
    }
}
