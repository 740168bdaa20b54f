//! Numbers as people and programs write them into tables: exponents, separated thousands and any number of
//! digits, none of which a flag takes (crate `quantities`).

use super::one_line;

/// A point on the axis, exact: `digits` over ten to the `decimals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    pub digits: u64,
    pub decimals: u32,
    pub percent: bool,
}

/// A field of the column of figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    Value(f64),
    /// Nothing, or a sign for nothing.
    None,
    /// Words: why there is no figure.
    Words(String),
}

/// The maximum number of decimals of a point.
const DECIMALS_MAX: u32 = 9;

/// Reads a point: `10000`, `10,000`, `10k`, `0.5`, `10%`. Otherwise says what is wrong with it.
pub fn point(text: &str, semicolons: bool) -> Result<Point, String> {
    let wrong = |why: &str| Err(format!("`{}` {why}", one_line(text)));
    let (bare, percent) = match text.strip_suffix('%') {
        Some(bare) => (bare.trim_end(), true),
        None => (text, false),
    };
    if text.is_empty() {
        return Err("there is no value".into());
    }
    if semicolons && may_be_decimal(bare) {
        return wrong(DECIMAL_COMMA);
    }
    let Some(number) = Number::read(bare) else {
        return wrong("is not a number (such as 10000, 10k, 0.5 or 10%)");
    };
    let digits = format!("{}{}", number.whole, number.fraction);
    let digits = digits.trim_start_matches('0');
    if number.negative && !digits.is_empty() {
        return wrong("is below zero, and an axis begins at zero");
    }
    if digits.is_empty() {
        return Ok(Point { digits: 0, decimals: 0, percent });
    }
    let shortened = digits.trim_end_matches('0');
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX / 4);
    let zeros = count(digits.len() - shortened.len());
    let decimals = count(number.fraction.len()) - i64::from(number.exponent) - zeros;
    let (decimals, zeros) = if decimals < 0 { (0, -decimals) } else { (decimals, 0) };
    if decimals > i64::from(DECIMALS_MAX) {
        return wrong("has more than nine decimals");
    }
    let scale = u32::try_from(zeros).ok().and_then(|zeros| 10_u64.checked_pow(zeros));
    let digits = shortened.parse::<u64>().ok().zip(scale).and_then(|(n, by)| n.checked_mul(by));
    match digits {
        Some(digits) => Ok(Point { digits, decimals: decimals as u32, percent }),
        None => wrong("is too large"),
    }
}

/// Whether it is words, and not a malformed number.
pub fn is_words(text: &str) -> bool {
    let bare = text.trim_end_matches('%').trim_end();
    let finite = !NOT_FINITE.contains(&text.to_lowercase().trim_start_matches(['+', '-', '−']));
    finite && Number::read(bare).is_none() && text.chars().any(char::is_alphabetic)
}

/// What is written for what is no finite number.
const NOT_FINITE: [&str; 4] = ["nan", "inf", "infinity", "∞"];

/// Reads a figure: `52794.72`, `12,345`, `1.2e6`. Otherwise says what is wrong with it.
pub fn figure(text: &str, semicolons: bool) -> Result<Figure, String> {
    const NOTHING: [&str; 7] = ["", "-", "–", "—", "n/a", "na", "n.a."];
    let lower = text.to_lowercase();
    let wrong = |why: &str| Err(format!("`{}` {why}", one_line(text)));
    if NOTHING.contains(&lower.as_str()) {
        return Ok(Figure::None);
    }
    if NOT_FINITE.contains(&lower.trim_start_matches(['+', '-', '−'])) {
        return wrong("is no figure; leave the field empty, or say there why there is none");
    }
    if semicolons && may_be_decimal(text) {
        return wrong(DECIMAL_COMMA);
    }
    match Number::read(text).map(|number| number.value()) {
        Some(value) if value.is_finite() => Ok(Figure::Value(value)),
        Some(_) => wrong("is too large"),
        None if text.chars().any(char::is_alphabetic) => Ok(Figure::Words(one_line(text))),
        None => wrong("is not a number (such as 12345, 12,345 or 1.2e6)"),
    }
}

const DECIMAL_COMMA: &str = "has a comma, which may be a decimal sign where semicolons separate the \
                             fields; write it with a point, or without the comma";

/// Whether the only comma may stand for a point.
fn may_be_decimal(text: &str) -> bool {
    let read = |text: &str| Number::read(text).is_some();
    text.matches(',').count() == 1 && !text.contains('.') && read(&text.replace(',', "."))
}

/// A number, taken apart.
struct Number {
    negative: bool,
    whole: String,
    fraction: String,
    exponent: i32,
}

impl Number {
    fn read(text: &str) -> Option<Number> {
        let (negative, text) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (text, thousands) = match text.chars().last()? {
            'k' | 'K' => (&text[..text.len() - 1], 3),
            'M' => (&text[..text.len() - 1], 6),
            'G' => (&text[..text.len() - 1], 9),
            _ => (text, 0),
        };
        let (text, exponent) = match text.split_once(['e', 'E']) {
            Some((text, exponent)) => (text, exponent.parse::<i16>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let whole = ungrouped(whole)?;
        let exponent = i32::from(exponent) + thousands;
        Some(Number { negative, whole, fraction: fraction.to_owned(), exponent })
    }

    fn value(&self) -> f64 {
        let Number { negative, whole, fraction, exponent } = self;
        // A number of this form can't fail to be read; one that is too large becomes infinite.
        let size = format!("{whole}.{fraction}e{exponent}").parse().unwrap_or(f64::INFINITY);
        if *negative { -size } else { size }
    }
}

/// Digits without what separates their thousands, if it separates thousands.
fn ungrouped(digits: &str) -> Option<String> {
    let Some(sign) = digits.chars().find(|c| !c.is_ascii_digit()) else {
        return Some(if digits.is_empty() { "0".into() } else { digits.into() });
    };
    // Comma, underscore, apostrophes, and the spaces that are used for it.
    if !",_'’ \u{a0}\u{2009}\u{202f}".contains(sign) || digits.starts_with('0') {
        return None;
    }
    let groups: Vec<&str> = digits.split(sign).collect();
    let all_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let (first, rest) = groups.split_first()?;
    let thousands = (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3);
    (all_digits && thousands).then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Result<(u64, u32), String> {
        point(text, false).map(|point| (point.digits, point.decimals))
    }

    #[test]
    fn points_are_exact() {
        for text in ["10000", "10,000", "10k", "10_000", "10 000", "1e4", "10000.0", "0.01M"] {
            assert_eq!(whole(text), Ok((10_000, 0)), "{text}");
        }
        assert_eq!(whole("0.5"), Ok((5, 1)));
        assert_eq!(whole(".250"), Ok((25, 2)));
        assert_eq!(whole("0"), Ok((0, 0)));
        assert_eq!(whole("-0.0"), Ok((0, 0)));
        assert_eq!(whole("1e-3"), Ok((1, 3)));
        assert_eq!(point("10 %", false), Ok(Point { digits: 10, decimals: 0, percent: true }));
        assert_eq!(whole("18446744073709551615"), Ok((u64::MAX, 0)));
    }

    #[test]
    fn what_is_no_point_is_refused() {
        let cases = [
            ("", "no value"),
            ("many", "not a number"),
            ("half (-j 3)", "not a number"),
            ("-5", "below zero"),
            ("-0.5%", "below zero"),
            ("1,00", "not a number"),
            ("0,500", "not a number"),
            ("1e", "not a number"),
            ("18446744073709551616", "too large"),
            ("1e99", "too large"),
            ("1e-10", "more than nine decimals"),
        ];
        for (text, why) in cases {
            let message = point(text, false).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }

    #[test]
    fn words_are_no_numbers_with_something_wrong() {
        for text in ["half (-j 3)", "optimal", "1O0"] {
            assert!(is_words(text), "{text}");
        }
        for text in ["10k", "1e40", "1e-10", "-5", "10 %", "", "?", "NaN", "-inf", "1,00"] {
            assert!(!is_words(text), "{text}");
        }
    }

    #[test]
    fn figures_are_read_as_they_are_written() {
        let cases = [
            ("52794.72", 52_794.72),
            ("12,345", 12_345.0),
            ("1.2e6", 1.2e6),
            ("-3", -3.0),
            ("−3.5", -3.5),
            ("+1", 1.0),
            ("0", 0.0),
            ("1,234,567.5", 1_234_567.5),
            ("1.5k", 1500.0),
        ];
        for (text, value) in cases {
            assert_eq!(figure(text, false), Ok(Figure::Value(value)), "{text}");
        }
        for text in ["", "-", "–", "n/a", "N/A"] {
            assert_eq!(figure(text, false), Ok(Figure::None), "{text}");
        }
        let words = "aborted after about 6 hours";
        assert_eq!(figure(words, false), Ok(Figure::Words(words.into())));
        for text in ["NaN", "-inf", "1e999", "1.2.3", "12,34", "45%", "?"] {
            assert!(figure(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn a_comma_among_semicolons_is_not_guessed_at() {
        assert!(figure("12,345", true).unwrap_err().contains("decimal sign"));
        assert!(point("0,5", true).unwrap_err().contains("decimal sign"));
        assert_eq!(figure("1,234,567", true), Ok(Figure::Value(1_234_567.0)));
    }
}
