//! Counts and rates: `100`, `9k`, `2.5k`, `1M`.

use crate::{Decimal, Error};
use std::ops::RangeInclusive;

/// The largest count: no machine has more of anything, and sums of it fit a `u64`.
pub const COUNT_MAX: u64 = 1_000_000_000_000;

/// Reads a whole number: `100`, `9k`, `2.5k`, `1M`, `1_000`. `9,000` is a list.
///
/// # Errors
/// If it is no whole number, or above [`COUNT_MAX`].
pub fn count(text: &str) -> Result<u64, Error> {
    let typed = text.trim();
    let (number, factor) = number(typed).ok_or_else(|| not_a_count(typed))?;
    match number.scaled(factor) {
        Some(count) if count <= COUNT_MAX => Ok(count),
        None if number.value() * factor as f64 <= COUNT_MAX as f64 => Err(not_a_count(typed)),
        _ => Err(Error::new(format!("`{typed}` is too large: the maximum is 1,000,000M"))),
    }
}

/// A reader of whole numbers from `min` to `max`, for a flag.
pub fn count_within<N>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<N, Error> + Clone + Send + Sync + 'static
where
    N: TryFrom<u64>,
{
    move |text| {
        let count = count(text)?;
        let (min, max) = (range.start(), range.end());
        let refused = || {
            Error::new(if *max == COUNT_MAX {
                format!("`{}` is not a whole number of at least {min}", text.trim())
            } else {
                format!("`{}` is not a whole number from {min} to {max}", text.trim())
            })
        };
        if !range.contains(&count) {
            return Err(refused());
        }
        N::try_from(count).map_err(|_| refused())
    }
}

/// Reads a number of at least zero that may have a fraction: `0.5`, `100`, `2.5k`.
///
/// # Errors
/// If it is no such number, or above [`COUNT_MAX`].
pub fn rate(text: &str) -> Result<f64, Error> {
    let typed = text.trim();
    let wrong = || Error::new(format!("`{typed}` is not a number (such as 0.5, 100 or 2.5k)"));
    let (number, factor) = number(typed).ok_or_else(wrong)?;
    let value = number.value() * factor as f64;
    if value <= COUNT_MAX as f64 { Ok(value) } else { Err(wrong()) }
}

fn not_a_count(typed: &str) -> Error {
    let has_minutes = typed.strip_suffix('m').is_some_and(|digits| Decimal::read(digits).is_some());
    let hint = if has_minutes { ": M is million, m is minutes" } else { "" };
    Error::new(format!("`{typed}` is not a whole number (such as 100, 9k or 1M){hint}"))
}

/// A decimal number and what its suffix multiplies it by.
fn number(typed: &str) -> Option<(Decimal, u64)> {
    let (digits, factor) = match typed.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => typed.strip_suffix('M').map_or((typed, 1), |digits| (digits, 1_000_000)),
    };
    Some((Decimal::read(&digits.replace('_', ""))?, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_people_type_them() {
        let cases =
            [("100", 100), ("9k", 9_000), ("9K", 9_000), ("2.5k", 2_500), ("1M", 1_000_000)];
        for (text, number) in cases.into_iter().chain([(" 1_000 ", 1_000), ("0", 0)]) {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        let wrong = ["", "k", "-1", "1.5", "1,000", "1G", "x", "inf", "1e9", "1000001M", "9 k"];
        for text in wrong {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(count("99999999999999999k").unwrap_err().to_string().contains("too large"));
    }

    #[test]
    fn m_is_minutes_and_never_million() {
        assert_eq!(
            count("2m").unwrap_err().to_string(),
            "`2m` is not a whole number (such as 100, 9k or 1M): M is million, m is minutes"
        );
        assert!(rate("2m").is_err());
        assert_eq!(count("2M"), Ok(2_000_000));
    }

    #[test]
    fn a_count_keeps_within_its_range() {
        let port = count_within::<u16>(1..=65_535);
        assert_eq!(port("8k"), Ok(8_000));
        assert!(port("0").unwrap_err().to_string().ends_with("from 1 to 65535"));
        assert!(port("70k").is_err());
        let positive = count_within::<u64>(1..=COUNT_MAX);
        assert!(positive("0").unwrap_err().to_string().ends_with("of at least 1"));
    }

    #[test]
    fn rates_may_have_a_fraction() {
        assert_eq!((rate("0.5"), rate("2.5k"), rate("0")), (Ok(0.5), Ok(2_500.0), Ok(0.0)));
        for text in ["", "-1", "nan", "10G", "2e9"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
