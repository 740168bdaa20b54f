//! Numbers of a column: which sign begins their decimals, and points of an axis, exactly.
//!
//! `1.163` and `1,163` are two numbers each. Which one is meant is judged by the whole column ([`Signs`]).

use super::one_line;
use quantities::{DecimalSign, Figure, FigureError};

/// A point on the axis, exact: `digits` over ten to the `decimals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    pub digits: u64,
    pub decimals: u32,
    pub percent: bool,
}

/// The maximum number of decimals of a point.
const DECIMALS_MAX: usize = 9;
/// So many digits of a decimal number are the same after it was a floating-point number.
const DIGITS_MAX: usize = 15;
/// The largest point that keeps its last digit in a page's script, and as a floating-point number.
pub const POINT_MAX: u64 = 1 << 53;

impl Point {
    /// The point at `value`, or what is wrong with it.
    pub fn new(value: f64, percent: bool) -> Result<Point, &'static str> {
        if value < 0.0 {
            return Err("is below zero, and an axis begins at zero");
        }
        if value >= POINT_MAX as f64 {
            return Err("is too large");
        }
        // The shortest digits that make this number: those that were read.
        let text = value.abs().to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let all = format!("{whole}{fraction}");
        let is_exact = fraction.is_empty() || all.trim_start_matches('0').len() <= DIGITS_MAX;
        if fraction.len() > DECIMALS_MAX || !is_exact {
            return Err("has too many decimals");
        }
        let digits = all.parse().map_err(|_| "is too large")?;
        Ok(Point { digits, decimals: fraction.len() as u32, percent })
    }
}

/// The readings of a field that holds a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// It is one figure, whatever the decimal sign is.
    Either(Figure),
    /// It is a figure with this decimal sign only.
    Only(DecimalSign, Figure),
    /// It is one figure with a decimal point, and another one with a decimal comma.
    Two { point: Figure, comma: Figure },
}

impl Reading {
    /// Reads `text`.
    pub fn new(text: &str) -> Result<Reading, FigureError> {
        let point = Figure::read(text, DecimalSign::Point);
        if !text.contains(['.', ',']) {
            return point.map(Reading::Either);
        }
        match (point, Figure::read(text, DecimalSign::Comma)) {
            (Ok(point), Ok(comma)) if point == comma => Ok(Reading::Either(point)),
            (Ok(point), Ok(comma)) => Ok(Reading::Two { point, comma }),
            (Ok(point), Err(_)) => Ok(Reading::Only(DecimalSign::Point, point)),
            (Err(_), Ok(comma)) => Ok(Reading::Only(DecimalSign::Comma, comma)),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// The figure with this decimal sign; that of another one, where it is a figure with that one only.
    pub fn with(&self, sign: DecimalSign) -> &Figure {
        match self {
            Reading::Either(figure) | Reading::Only(_, figure) => figure,
            Reading::Two { point, .. } if sign == DecimalSign::Point => point,
            Reading::Two { comma, .. } => comma,
        }
    }
}

/// A field that shows what the signs of its column are.
#[derive(Clone, Debug)]
struct Shown {
    line: u64,
    text: String,
}

/// The decimal sign of a column, as its fields show it.
#[derive(Clone, Debug)]
pub struct Signs {
    /// What a flag says.
    given: Option<DecimalSign>,
    /// Whether semicolons separate the fields, as programs of countries with a decimal comma write them.
    semicolons: bool,
    /// The first field that is a figure with a decimal point only, and with a decimal comma only.
    point: Option<Shown>,
    comma: Option<Shown>,
    /// The first field with two readings whose sign is a point, and whose sign is a comma.
    unclear: [Option<Shown>; 2],
    /// Whether one of these ends in a zero, as `1.000` does.
    zero_behind: bool,
    /// Whether a field above zero has no sign at all.
    bare: bool,
}

impl Signs {
    /// Of a column of which nothing was read yet.
    pub fn new(given: Option<DecimalSign>, semicolons: bool) -> Signs {
        let (point, comma, unclear) = (None, None, [None, None]);
        Signs { given, semicolons, point, comma, unclear, zero_behind: false, bare: false }
    }

    /// Takes in what a field shows that has digits and a decimal point, and nothing else.
    pub fn add_plain(&mut self, line: u64, text: &str, has_point: bool) {
        if !has_point {
            self.bare = true;
        } else if self.point.is_none() {
            self.point = Some(Shown { line, text: text.to_owned() });
        }
    }

    /// Takes in what the field `text` shows.
    pub fn add(&mut self, reading: &Reading, line: u64, text: &str) {
        let shown = || Shown { line, text: one_line(text) };
        match reading {
            Reading::Either(figure) => self.bare |= figure.number() != 0.0,
            Reading::Only(DecimalSign::Point, _) => drop(self.point.get_or_insert_with(shown)),
            Reading::Only(DecimalSign::Comma, _) => drop(self.comma.get_or_insert_with(shown)),
            Reading::Two { .. } => {
                self.unclear[usize::from(text.contains(','))].get_or_insert_with(shown);
                let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
                self.zero_behind |= digits.ends_with('0');
            }
        }
    }

    /// The decimal sign of the column; or the line where it is contradicted or unclear, and why.
    pub fn decimal(&self) -> Result<DecimalSign, (u64, String)> {
        match (&self.point, &self.comma, self.given) {
            (Some(point), Some(comma), _) => {
                let [first, second] =
                    if point.line < comma.line { [point, comma] } else { [comma, point] };
                let why = format!(
                    "`{}` and `{}` in line {} have different decimal signs; write all alike",
                    second.text, first.text, first.line
                );
                Err((second.line, why))
            }
            (Some(shown), None, Some(DecimalSign::Comma))
            | (None, Some(shown), Some(DecimalSign::Point)) => {
                let why = format!("`{}` has another decimal sign than --decimal says", shown.text);
                Err((shown.line, why))
            }
            (_, _, Some(given)) => Ok(given),
            (Some(_), None, None) => Ok(DecimalSign::Point),
            (None, Some(_), None) => Ok(DecimalSign::Comma),
            (None, None, None) => self.undecided(),
        }
    }

    /// The decimal sign where no field has one reading only.
    fn undecided(&self) -> Result<DecimalSign, (u64, String)> {
        // A column that writes 1 as `1` does not write 1,000 thousandths as `1.000`.
        let separates_thousands = self.bare && self.zero_behind;
        let shown = match &self.unclear {
            [None, None] => return Ok(DecimalSign::Point),
            [Some(_), None] if self.semicolons && separates_thousands => {
                return Ok(DecimalSign::Comma);
            }
            // Programs write so, but no whole numbers next to exactly three decimals.
            [Some(_), None] if !self.semicolons && !self.bare => {
                return Ok(DecimalSign::Point);
            }
            [None, Some(_)] if separates_thousands => return Ok(DecimalSign::Point),
            [Some(shown), _] | [None, Some(shown)] => shown,
        };
        let [point, comma] = [DecimalSign::Point, DecimalSign::Comma]
            .map(|sign| Figure::read(&shown.text, sign).map_or(f64::NAN, |figure| figure.number()));
        let why = format!(
            "`{}` may be {point} or {comma}, and the column does not say which; add --decimal point or \
             --decimal comma",
            shown.text
        );
        Err((shown.line, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_exact() {
        let point = |text: &str| {
            let point = Point::new(Figure::read_alone(text).unwrap().number(), false)?;
            Ok((point.digits, point.decimals))
        };
        for text in ["10000", "10k", "10_000", "10 000", "1e4", "10000.0", "0.01M"] {
            assert_eq!(point(text), Ok((10_000, 0)), "{text}");
        }
        assert_eq!(point("0.5"), Ok((5, 1)));
        assert_eq!(point(".250"), Ok((25, 2)));
        assert_eq!(point("0"), Ok((0, 0)));
        assert_eq!(point("-0.0"), Ok((0, 0)));
        assert_eq!(point("1e-3"), Ok((1, 3)));
        assert_eq!(point("123456.123456789"), Ok((123_456_123_456_789, 9)));
        assert_eq!(point("9007199254740991"), Ok((POINT_MAX - 1, 0)));
        let cases = [
            ("-5", "is below zero, and an axis begins at zero"),
            ("9007199254740993", "is too large"),
            ("1e99", "is too large"),
            ("1e-10", "has too many decimals"),
            ("1234567.123456789", "has too many decimals"),
        ];
        for (text, wanted) in cases {
            assert_eq!(point(text), Err(wanted), "{text}");
        }
    }

    const POINT: Result<DecimalSign, String> = Ok(DecimalSign::Point);
    const COMMA: Result<DecimalSign, String> = Ok(DecimalSign::Comma);

    fn judged(
        given: Option<DecimalSign>,
        semicolons: bool,
        texts: &[&str],
    ) -> Result<DecimalSign, String> {
        let mut signs = Signs::new(given, semicolons);
        for (line, text) in (2..).zip(texts) {
            signs.add(&Reading::new(text).unwrap(), line, text);
        }
        signs.decimal().map_err(|(line, why)| format!("line {line}: {why}"))
    }

    #[test]
    fn signs_are_judged_by_their_column() {
        // Among semicolons.
        assert_eq!(judged(None, true, &["10", "100", "1.000", "10.000"]), COMMA);
        assert_eq!(judged(None, true, &["1,25", "1.275"]), COMMA);
        assert_eq!(judged(None, true, &["3.105,0"]), COMMA);
        assert_eq!(judged(None, true, &["12.5", "1.275"]), POINT);
        assert_eq!(judged(Some(DecimalSign::Comma), true, &["125", "1.275"]), COMMA);
        assert_eq!(judged(Some(DecimalSign::Point), true, &["125", "1.275"]), POINT);
        // Among commas or tabs.
        assert_eq!(judged(None, false, &["1.163", "2.250", "0"]), POINT);
        assert_eq!(judged(None, false, &["10", "1,000", "12,500"]), POINT);
        assert_eq!(judged(None, false, &["1,163", "12.5"]), POINT);
        assert_eq!(judged(None, false, &["1,163", "1,234,567"]), POINT);
        assert_eq!(judged(None, false, &["1,163", "12,5"]), COMMA);
        assert_eq!(judged(None, false, &["12.50 ns", "1,163.4 ns", "1,163 ns"]), POINT);
    }

    #[test]
    fn two_readings_are_refused() {
        let comma = Some(DecimalSign::Comma);
        let cases: [(Option<DecimalSign>, bool, &[&str], &str); 8] = [
            (None, false, &["125", "1.275"], "line 3: `1.275` may be 1.275 or 1275"),
            (None, true, &["125", "1.275"], "line 3: `1.275` may be 1.275 or 1275, and the column"),
            (None, true, &["1.275", "2.500"], "line 2: `1.275` may be 1.275 or 1275"),
            (None, false, &["1,163", "171,204"], "line 2: `1,163` may be 1163 or 1.163"),
            (None, false, &["10", "100", "1.000"], "line 4: `1.000` may be 1 or 1000"),
            (None, false, &["1.234", "1,234"], "line 2: `1.234` may be 1.234 or 1234"),
            (None, false, &["1,5", "1.5"], "line 3: `1.5` and `1,5` in line 2 have different"),
            (comma, false, &["1.5"], "line 2: `1.5` has another decimal sign than --decimal says"),
        ];
        for (given, semicolons, texts, wanted) in cases {
            let judged = judged(given, semicolons, texts);
            assert!(
                judged.as_ref().is_err_and(|why| why.contains(wanted)),
                "{texts:?}: {judged:?}"
            );
        }
    }
}
