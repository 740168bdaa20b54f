//! Figures as programs print them, whole: a number with its unit.
//!
//! This is the only reader of foreign figures: of what commands print, and of tables. It refuses what has two
//! readings, because a factor of a thousand would be a wrong answer in silence.

use crate::unit::{Unit, multiple};
use std::fmt;

/// The decimal sign of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalSign {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

/// A printed figure.
///
/// ```
/// use quantities::{DecimalSign, Figure, Unit};
///
/// let figure = Figure::read("1,163.4 ns", DecimalSign::Point).unwrap();
/// assert_eq!((figure.number(), figure.unit().symbol()), (1_163.4, "ns"));
/// let duration = Figure::read_alone("1m2.5s").unwrap();
/// assert_eq!(duration.in_unit(&Unit::read("s")), Ok(62.5));
/// assert!(Figure::read_alone("0x10").is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    number: f64,
    unit: Unit,
    /// The letter that multiplied the number: `k` of `1.5k`.
    multiple: Option<char>,
}

/// Why a text is not one figure. It is written as what follows the text: `` `0x10` is hexadecimal``.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// There is no text.
    #[error("is empty")]
    Empty,
    /// It does not begin with a number.
    #[error("is no number")]
    NoNumber,
    /// It begins with a number that goes on as none: `1.2.3`, `12,34`, `1O0`.
    #[error("is no number")]
    Malformed,
    /// Not a number, or infinite.
    #[error("is no finite number")]
    NotFinite,
    /// `0x10`
    #[error("is hexadecimal")]
    Hexadecimal,
    /// `0:01.23`
    #[error("is a time on a clock, which is not read as a duration")]
    Clock,
    /// Larger or smaller than a number can be here.
    #[error("is out of range")]
    OutOfRange,
    /// A comma or a point may be the decimal sign, or separate thousands.
    #[error("is {point} or {comma}: the comma may separate thousands, or be the decimal sign")]
    TwoReadings {
        /// With a point as the decimal sign.
        point: f64,
        /// With a comma as the decimal sign.
        comma: f64,
    },
    /// `12K` of bytes.
    #[error("may be multiples of 1,000 or of 1,024 {wanted}")]
    Multiple {
        /// The unit that it should have.
        wanted: String,
    },
    /// Its unit is of another kind than the one that it should have.
    #[error("is in {unit}, not {}", Wanted(.wanted))]
    OtherUnit {
        /// The unit that it has.
        unit: String,
        /// The unit that it should have; empty for a number alone.
        wanted: String,
    },
}

/// A unit in a message.
struct Wanted<'a>(&'a str);

impl fmt::Display for Wanted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => out.write_str("a number without a unit"),
            unit => write!(out, "in {unit}"),
        }
    }
}

/// What is written for what is no finite number.
const NOT_FINITE: [&str; 4] = ["nan", "inf", "infinity", "∞"];

impl Figure {
    /// Reads the whole text as one figure: `12.5`, `1,234.5 ms`, `1.2e6 ops/s`, `-3`, `1.5k`, `1m 2.5s`, `45 %`.
    ///
    /// # Errors
    /// Where it is none. Its unit may be any word; [`Figure::in_unit`] refuses one of another kind.
    pub fn read(text: &str, sign: DecimalSign) -> Result<Figure, FigureError> {
        let text = text.trim();
        let (is_negative, unsigned) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if text.is_empty() {
            return Err(FigureError::Empty);
        }
        if NOT_FINITE.contains(&unsigned.to_lowercase().as_str()) {
            return Err(FigureError::NotFinite);
        }
        if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
            return Err(FigureError::Hexadecimal);
        }
        let (number, rest) = number(unsigned, sign)?;
        if rest.starts_with(':') {
            return Err(FigureError::Clock);
        }
        let figure = with_unit(number, rest.trim(), sign)?;
        Ok(if is_negative { Figure { number: -figure.number, ..figure } } else { figure })
    }

    /// Reads a figure of which nothing else says what its decimal sign is. `1.234` has a point, as in programming
    /// languages; a comma is read where it has one reading: `12,5`, `1,234,567`, `1,234.5`.
    ///
    /// # Errors
    /// As [`Figure::read`], and where a comma has two readings: `12,345`.
    pub fn read_alone(text: &str) -> Result<Figure, FigureError> {
        let by_point = Figure::read(text, DecimalSign::Point);
        if !text.contains(',') {
            return by_point;
        }
        match (by_point, Figure::read(text, DecimalSign::Comma)) {
            (Ok(point), Ok(comma)) if point != comma => {
                Err(FigureError::TwoReadings { point: point.number, comma: comma.number })
            }
            (Err(_), Ok(comma)) => Ok(comma),
            (by_point, _) => by_point,
        }
    }

    /// The number, in its unit; that of a duration of several units is in nanoseconds.
    pub fn number(&self) -> f64 {
        self.number
    }

    /// The unit as it is printed; bare where there is none.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// The figure in `wanted`. Without a unit of its own, it is in that unit already.
    ///
    /// # Errors
    /// Where its unit is of another kind, or a multiple of bytes is not clear.
    pub fn in_unit(&self, wanted: &Unit) -> Result<f64, FigureError> {
        if self.multiple.is_some() && (wanted.is_data() || self.unit.is_data()) {
            return Err(FigureError::Multiple { wanted: wanted.base() });
        }
        if self.unit.is_bare() {
            return Ok(self.number);
        }
        let mismatch = || FigureError::OtherUnit {
            unit: self.unit.symbol().to_owned(),
            wanted: wanted.symbol().to_owned(),
        };
        let figure = self.unit.convert(self.number, wanted).ok_or_else(mismatch)?;
        if figure.is_finite() { Ok(figure) } else { Err(FigureError::OutOfRange) }
    }
}

/// What follows a number: nothing, a multiple, a unit, or more of a duration.
fn with_unit(number: f64, rest: &str, sign: DecimalSign) -> Result<Figure, FigureError> {
    if let Some((factor, letter, unit)) = multiplied(rest) {
        let number = number * factor;
        let figure = Figure { number, unit: Unit::read(unit), multiple: letter };
        return if number.is_finite() { Ok(figure) } else { Err(FigureError::OutOfRange) };
    }
    let unit = Unit::read(rest);
    if let Some(ns) = duration(number, rest, sign).filter(|_| !unit.is_known()) {
        return Ok(Figure { number: ns, unit: Unit::read("ns"), multiple: None });
    }
    let is_symbol = |c: char| c.is_alphabetic() || matches!(c, '/' | '%' | ' ');
    let figure = Figure { number, unit, multiple: None };
    if rest.chars().all(is_symbol) { Ok(figure) } else { Err(FigureError::Malformed) }
}

/// A multiple that stands alone or before a unit: its factor, its letter, and the unit.
fn multiplied(rest: &str) -> Option<(f64, Option<char>, &str)> {
    let (word, unit) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut letters = word.chars();
    let factor = match (letters.next(), letters.as_str()) {
        (Some(letter), "") => return multiple(letter).map(|factor| (factor, Some(letter), unit)),
        _ if word == "thousand" => 1e3,
        _ if word == "million" => 1e6,
        _ if word == "billion" => 1e9,
        _ => return None,
    };
    Some((factor, None, unit))
}

/// The nanoseconds of a duration of several units, each smaller than the one before and only the last one with a
/// fraction: `2.5s` after `1m`. None where it is no such duration.
fn duration(number: f64, rest: &str, sign: DecimalSign) -> Option<f64> {
    let unit_end = |text: &str| text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (unit, mut left) = rest.split_at(unit_end(rest));
    let mut smallest = Unit::read(unit);
    let mut sum = number * smallest.scale();
    let mut last = number;
    if !smallest.is_time() || left.is_empty() {
        return None;
    }
    while !left.trim_start().is_empty() {
        let (next, after) = self::number(left.trim_start(), sign).ok()?;
        let (unit, after) = after.trim_start().split_at(unit_end(after.trim_start()));
        let unit = Unit::read(unit);
        let is_smaller = unit.is_time() && unit.scale() < smallest.scale();
        if !is_smaller || last.fract() != 0.0 || next * unit.scale() >= smallest.scale() {
            return None;
        }
        sum += next * unit.scale();
        (smallest, last, left) = (unit, next, after);
    }
    sum.is_finite().then_some(sum)
}

/// The unsigned number at the start of a text, and what follows it.
fn number(text: &str, sign: DecimalSign) -> Result<(f64, &str), FigureError> {
    let mantissa_end = mantissa_end(text);
    let (mantissa, rest) = text.split_at(mantissa_end);
    if !mantissa.contains(|c: char| c.is_ascii_digit()) {
        return Err(FigureError::NoNumber);
    }
    let (exponent, rest) = exponent(rest);
    let decimal = match sign {
        DecimalSign::Point => '.',
        DecimalSign::Comma => ',',
    };
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FigureError::Malformed);
    }
    let whole = ungrouped(whole, sign).ok_or(FigureError::Malformed)?;
    // A number of this form is always read; one that is too large becomes infinite, one that is too small zero.
    let number: f64 = format!("{whole}.{fraction}0{exponent}").parse().unwrap_or(f64::INFINITY);
    let is_zero = !mantissa.contains(|c: char| matches!(c, '1'..='9'));
    if number.is_finite() && (is_zero || number > 0.0) {
        Ok((number, rest))
    } else {
        Err(FigureError::OutOfRange)
    }
}

/// Where the digits of a number end, with the signs between them. A sign that no digit follows belongs to it only
/// as the decimal sign of `5.` and `5.e3`.
fn mantissa_end(text: &str) -> usize {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut characters = text.char_indices().peekable();
    let mut end = 0;
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let goes_on = match c {
            _ if c.is_ascii_digit() => true,
            '.' | ',' if is_digit(next) => true,
            '.' => end > 0 && next.is_none_or(|c| !c.is_alphanumeric() || matches!(c, 'e' | 'E')),
            ' ' => end > 0 && has_three_digits(&text[at + 1..]),
            _ => SEPARATORS.contains(&c) && end > 0 && is_digit(next),
        };
        if !goes_on {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// Whether a text begins with three digits and no fourth one: a group of thousands.
fn has_three_digits(text: &str) -> bool {
    text.bytes().take_while(u8::is_ascii_digit).count() == 3
}

/// What separates thousands, next to the sign that is not the decimal one: underscores, apostrophes, and spaces.
const SEPARATORS: [char; 7] = ['_', '\'', '’', ' ', '\u{a0}', '\u{2009}', '\u{202f}'];

/// The exponent at the start of a text, as it is written, and what follows it.
fn exponent(text: &str) -> (&str, &str) {
    let digits =
        text.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    let count = |digits: &str| digits.bytes().take_while(u8::is_ascii_digit).count();
    match digits.map(|digits| (digits, count(digits))) {
        Some((digits, count)) if count > 0 => text.split_at(text.len() - digits.len() + count),
        _ => ("", text),
    }
}

/// Digits without what separates their thousands, if it separates thousands.
fn ungrouped(digits: &str, sign: DecimalSign) -> Option<String> {
    let Some(separator) = digits.chars().find(|c| !c.is_ascii_digit()) else {
        return Some(if digits.is_empty() { "0".into() } else { digits.into() });
    };
    let thousands_sign = match sign {
        DecimalSign::Point => ',',
        DecimalSign::Comma => '.',
    };
    if (separator != thousands_sign && !SEPARATORS.contains(&separator)) || digits.starts_with('0')
    {
        return None;
    }
    let groups: Vec<&str> = digits.split(separator).collect();
    let all_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let (first, rest) = groups.split_first()?;
    let thousands = (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3);
    (all_digits && thousands).then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(text: &str) -> Result<(f64, String), FigureError> {
        let figure = Figure::read_alone(text)?;
        let unit = figure.unit().in_base();
        figure.in_unit(&unit).map(|number| (number, unit.symbol().to_owned()))
    }

    #[test]
    fn figures_are_read_whole() {
        let cases = [
            ("52794.72", 52_794.72, ""),
            ("12,5", 12.5, ""),
            ("12,5 ms", 12.5e6, "ns"),
            ("1,234,567", 1_234_567.0, ""),
            ("1,234.5", 1_234.5, ""),
            ("1.234,5", 1_234.5, ""),
            ("1.234", 1.234, ""),
            ("1'234'567", 1_234_567.0, ""),
            ("1_000", 1_000.0, ""),
            ("10 000", 10_000.0, ""),
            ("10\u{202f}000,5 s", 10_000.5e9, "ns"),
            ("1.2e6", 1.2e6, ""),
            ("1.5E-3s", 1.5e6, "ns"),
            ("-1", -1.0, ""),
            ("−3.5", -3.5, ""),
            ("+1", 1.0, ""),
            (".5", 0.5, ""),
            ("5.", 5.0, ""),
            ("0", 0.0, ""),
            ("0,5", 0.5, ""),
            ("007", 7.0, ""),
            ("300 \u{b5}s", 300e3, "ns"),
            ("8.32 us", 8_320.0, "ns"),
            ("1m2.5s", 62.5e9, "ns"),
            ("1h 2m 3s", 3_723e9, "ns"),
            ("-1m30s", -90e9, "ns"),
            ("2d", 172_800e9, "ns"),
            ("1 KB", 1e3, "B"),
            ("3 MiB/s", 3.0 * 1_048_576.0, "B/s"),
            ("120 req/s", 120.0, "requests/s"),
            ("1.5k", 1_500.0, ""),
            ("1.5 M ops/s", 1.5e6, "ops/s"),
            ("2 million rows/s", 2e6, "rows/s"),
            ("45%", 45.0, "%"),
            ("12 points", 12.0, "points"),
        ];
        for (text, number, unit) in cases {
            let (came, came_unit) = base(text).unwrap_or_else(|error| panic!("{text} {error}"));
            assert!((came - number).abs() <= number.abs() * 1e-12, "{text}: {came}");
            assert_eq!(came_unit, unit, "{text}");
        }
    }

    #[test]
    fn what_is_not_one_figure_is_refused_with_the_reason() {
        use FigureError::{Clock, Empty, Hexadecimal, Malformed, NoNumber, NotFinite, OutOfRange};
        let cases = [
            ("", Empty),
            ("ms", NoNumber),
            ("-", NoNumber),
            ("?", NoNumber),
            ("late", NoNumber),
            ("NaN", NotFinite),
            ("-inf", NotFinite),
            ("0x10", Hexadecimal),
            ("-0XfF", Hexadecimal),
            ("1.2.3", Malformed),
            ("10.0.0.1", Malformed),
            ("1,23,456", Malformed),
            ("12,34.5", Malformed),
            ("1O0", Malformed),
            ("1-2", Malformed),
            ("1/2", Malformed),
            ("12±3", Malformed),
            ("1s 2m", Malformed),
            ("1.5m 2s", Malformed),
            ("1m 99s", Malformed),
            ("0:01.23", Clock),
            ("1e999", OutOfRange),
            ("1e-999", OutOfRange),
        ];
        for (text, why) in cases {
            assert_eq!(Figure::read_alone(text), Err(why), "{text}");
        }
        let two = FigureError::TwoReadings { point: 12_345.0, comma: 12.345 };
        assert_eq!(Figure::read_alone("12,345"), Err(two.clone()));
        assert_eq!(Figure::read_alone("12,345 ms"), Err(two.clone()));
        assert!(two.to_string().starts_with("is 12345 or 12.345"), "{two}");
    }

    #[test]
    fn a_decimal_sign_that_is_known_has_one_reading() {
        let read = |text, sign| Figure::read(text, sign).map(|figure| figure.number());
        assert_eq!(read("12,345", DecimalSign::Point), Ok(12_345.0));
        assert_eq!(read("12,345", DecimalSign::Comma), Ok(12.345));
        assert_eq!(read("1.000", DecimalSign::Comma), Ok(1_000.0));
        assert_eq!(read("1.000", DecimalSign::Point), Ok(1.0));
        assert_eq!(read("1.234.567,5", DecimalSign::Comma), Ok(1_234_567.5));
        assert_eq!(read("12,5", DecimalSign::Point), Err(FigureError::Malformed));
        assert_eq!(read("12.5", DecimalSign::Comma), Err(FigureError::Malformed));
    }

    #[test]
    fn units_convert_and_others_are_refused() {
        let read = |text, unit| Figure::read_alone(text).unwrap().in_unit(&Unit::read(unit));
        assert_eq!(read("300 \u{b5}s", "ms"), Ok(0.3));
        assert_eq!(read("3 GB/s", "MB/s"), Ok(3_000.0));
        assert_eq!(read("12", "ms"), Ok(12.0));
        assert_eq!(read("12 points", "points"), Ok(12.0));
        assert_eq!(read("1.2 kops", ""), Ok(1_200.0));
        for (text, unit, line) in [
            ("3 ms", "B", "is in ms, not in B"),
            ("3 ms", "", "is in ms, not a number without a unit"),
            ("12abc", "ms", "is in abc, not in ms"),
            ("12K", "B", "may be multiples of 1,000 or of 1,024 B"),
            ("1e300 d", "ns", "is out of range"),
        ] {
            assert_eq!(read(text, unit).unwrap_err().to_string(), line, "{text} {unit}");
        }
    }
}
