//! The column that grows: numbers, numbers at the end of names, or words.

use super::numbers::{Point, Reading, Signs};
use super::rows::within;
use super::tail::Tail;
use printable::one_line;
use quantities::{DecimalSign, FigureError};
use std::collections::HashMap;

/// More points than these are no axis, but a wrong column.
const POINTS_MAX: usize = 300;
/// More words than these are no axis, but a wrong column.
const WORDS_MAX: usize = 30;

/// The values of the column, in order of appearance.
pub struct Axis {
    pub values: Vec<XValue>,
    numbers: HashMap<String, usize>,
    kind: Option<Kind>,
    /// What the numbers at the end of names are called.
    pub key: Option<String>,
    pub signs: Signs,
    /// Whether the numbers are parts of a whole.
    is_part: bool,
}

/// One value of x.
pub struct XValue {
    line: u64,
    /// As it is written, on one line.
    pub text: String,
    /// The name that the number stands behind; empty where it stands alone.
    pub series: String,
    /// The same with the place of the number, where the number has no name.
    pub template: String,
    /// None for words.
    number: Option<Reading>,
}

/// What the first value is, and with it all.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Tail,
    Words,
}

impl Axis {
    pub fn new(signs: Signs, is_part: bool) -> Axis {
        Axis { values: Vec::new(), numbers: HashMap::new(), kind: None, key: None, signs, is_part }
    }

    /// Whether x is words.
    pub fn is_words(&self) -> bool {
        self.kind == Some(Kind::Words)
    }

    /// The number of the value `field` of the column called `name`, which is a new one or not.
    pub fn number(&mut self, field: &str, line: u64, name: &str) -> Result<usize, String> {
        if let Some(&number) = self.numbers.get(field) {
            return Ok(number);
        }
        let text = one_line(field);
        let existing = self.values.iter().position(|value| value.text == text);
        let number = if let Some(number) = existing {
            number
        } else {
            let value = self.value(text, line).map_err(|why| format!("{name}: {why}"))?;
            self.values.push(value);
            self.values.len() - 1
        };
        let (max, flag) =
            if self.is_words() { (WORDS_MAX, "--x words") } else { (POINTS_MAX, "--x") };
        within(self.values.len(), max, name, flag)?;
        self.numbers.insert(field.to_owned(), number);
        Ok(number)
    }

    /// A new value, which must be of the same kind as the first one.
    fn value(&mut self, text: String, line: u64) -> Result<XValue, String> {
        let read = Reading::new(&text);
        let is_words = !self.is_part && is_words(&read) && text.chars().any(char::is_alphabetic);
        let number = read.ok().filter(is_number);
        let tail = Tail::in_name(&text).filter(|_| !self.is_part);
        let kind = *self.kind.get_or_insert(match (&number, &tail) {
            (None, Some(_)) => Kind::Tail,
            (None, None) if is_words => Kind::Words,
            _ => Kind::Number,
        });
        let first = self.values.first();
        let unlike = |rest: &str| {
            let (line, first) =
                first.map_or((line, text.as_str()), |first| (first.line, &first.text));
            Err(format!("`{text}` where line {line} has `{first}`; {rest}"))
        };
        match kind {
            Kind::Words if is_words => Ok(XValue {
                line,
                text,
                series: String::new(),
                template: String::new(),
                number: None,
            }),
            Kind::Words => unlike("write all as numbers, or all as words"),
            Kind::Tail => match tail {
                Some(Tail { series, template, key, number })
                    if key == self.key || first.is_none() =>
                {
                    let reading = Reading::new(&number)
                        .map_err(|error| format!("`{text}`: {number} {error}"))?;
                    self.checked(&reading, &text)?;
                    self.key = key;
                    Ok(XValue { line, text, series, template, number: Some(reading) })
                }
                _ => unlike("it has no such number; leave such rows out with --where"),
            },
            Kind::Number if text.is_empty() => Err("there is no value".into()),
            Kind::Number => {
                let reading = number.ok_or_else(|| {
                    format!("`{text}` is not a number (such as 10000, 10k, 0.5 or 10%)")
                })?;
                self.checked(&reading, &text)?;
                let percent = is_percent(&reading);
                if first
                    .and_then(|first| first.number.as_ref())
                    .is_some_and(|first| is_percent(first) != percent)
                {
                    return unlike("write all as percentages, or none");
                }
                self.signs.add(&reading, line, &text);
                let number = Some(reading);
                Ok(XValue { line, text, series: String::new(), template: String::new(), number })
            }
        }
    }

    /// Refuses what can't be a point.
    fn checked(&self, reading: &Reading, text: &str) -> Result<(), String> {
        let (Reading::Either(figure) | Reading::Only(_, figure)) = reading else { return Ok(()) };
        let point = Point::new(figure.number(), is_percent(reading))
            .map_err(|why| format!("`{text}` {why}"))?;
        self.part(point, text)
    }

    fn part(&self, point: Point, text: &str) -> Result<(), String> {
        if self.is_part && (point.percent || point.decimals > 0) {
            return Err(format!(
                "`{text}` is no whole number, and --of needs those; leave --of away"
            ));
        }
        Ok(())
    }

    /// The points of all values: the numbers, or the numbers of words, counted from 1.
    pub fn points(&self, decimal: DecimalSign) -> Result<Vec<Point>, (u64, String)> {
        let point = |(index, value): (usize, &XValue)| {
            let Some(reading) = &value.number else {
                return Ok(Point { digits: index as u64 + 1, decimals: 0, percent: false });
            };
            let point = Point::new(reading.with(decimal).number(), is_percent(reading))
                .map_err(|why| (value.line, format!("`{}` {why}", value.text)))?;
            self.part(point, &value.text).map_err(|why| (value.line, why))?;
            Ok(point)
        };
        self.values.iter().enumerate().map(point).collect()
    }

    /// The words, in order; empty where x is numbers.
    pub fn words(&self) -> Vec<String> {
        let values = self.values.iter().filter(|_| self.is_words());
        values.map(|value| value.text.clone()).collect()
    }
}

/// Whether it is a number alone, or a percentage.
fn is_number(reading: &Reading) -> bool {
    let unit = reading.with(DecimalSign::Point).unit();
    unit.is_bare() || unit.symbol() == "%"
}

fn is_percent(reading: &Reading) -> bool {
    !reading.with(DecimalSign::Point).unit().is_bare()
}

/// Whether it may be words, and not a number with something wrong.
fn is_words(read: &Result<Reading, FigureError>) -> bool {
    match read {
        Ok(reading) => !is_number(reading),
        Err(error) => matches!(error, FigureError::NoNumber | FigureError::Malformed),
    }
}
