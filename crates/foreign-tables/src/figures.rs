//! The fields of the column of figures, and of that of their deviations: numbers in one unit, or why there is none.

use super::numbers::{Reading, Signs};
use super::one_line;
use super::unit::Unit;
use quantities::{DecimalSign, Figure as Quantity, FigureError, Unit as Symbol};

/// A field of the column of figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// In the unit of the column.
    Value(f64),
    /// With a decimal point, and with a decimal comma: the column says which.
    Two([f64; 2]),
    /// Nothing, or a sign for nothing.
    None,
    /// Words: why there is no figure.
    Words(String),
}

impl Figure {
    /// Whether it is none, or is the same in every unit.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Figure::None | Figure::Value(0.0))
    }

    /// With the decimal sign of its column.
    pub fn with(self, sign: DecimalSign) -> Figure {
        match self {
            Figure::Two([point, _]) if sign == DecimalSign::Point => Figure::Value(point),
            Figure::Two([_, comma]) => Figure::Value(comma),
            figure => figure,
        }
    }
}

/// What is written for no figure.
const NOTHING: [&str; 7] = ["", "-", "–", "—", "n/a", "na", "n.a."];

/// A field that has a unit, or none.
struct Shown {
    line: u64,
    text: String,
}

/// Reads fields of one column.
pub struct Reader {
    /// The unit that the column's name gives, or a flag.
    column: Unit,
    /// The unit of the fields that have their own, with the first of them.
    own: Option<(Symbol, Shown)>,
    /// The first field above zero that has none.
    bare: Option<Shown>,
}

impl Reader {
    /// Of a column whose name, or a flag, says that its figures are in `column`.
    pub fn new(column: Unit) -> Reader {
        Reader { column, own: None, bare: None }
    }

    /// Reads `text`, whose unit stands in another column if it is given; otherwise says what is wrong with it.
    pub fn read(
        &mut self,
        text: &str,
        unit: Option<&str>,
        line: u64,
        signs: &mut Signs,
    ) -> Result<Figure, String> {
        if unit.is_none()
            && self.own.is_none()
            && let Some(value) = plain(text)
        {
            let has_point = text.contains('.');
            if value != 0.0 || has_point {
                signs.add_plain(line, text, has_point);
            }
            return self.bare(value, line, text).map(Figure::Value);
        }
        if NOTHING.iter().any(|nothing| text.eq_ignore_ascii_case(nothing)) {
            return Ok(Figure::None);
        }
        let with_unit = unit.filter(|unit| !unit.is_empty()).map(|unit| format!("{text} {unit}"));
        let whole = with_unit.as_deref().unwrap_or(text);
        let reading = match Reading::new(whole) {
            Ok(reading) => reading,
            Err(FigureError::NoNumber) if text.chars().any(char::is_alphabetic) => {
                return Ok(Figure::Words(one_line(text)));
            }
            Err(FigureError::NotFinite) => {
                return Err(format!(
                    "`{}` is no figure; leave the field empty, or say there why there is none",
                    one_line(text)
                ));
            }
            Err(error) => {
                return Err(format!(
                    "`{}` {error} (such as 12345, 1.2e6 or 8.3 ms)",
                    one_line(whole)
                ));
            }
        };
        signs.add(&reading, line, text);
        match &reading {
            Reading::Two { point, comma } => {
                Ok(Figure::Two([self.value(point, line, whole)?, self.value(comma, line, whole)?]))
            }
            Reading::Either(figure) | Reading::Only(_, figure) => {
                self.value(figure, line, whole).map(Figure::Value)
            }
        }
    }

    /// A figure in the unit of the column.
    fn value(&mut self, figure: &Quantity, line: u64, text: &str) -> Result<f64, String> {
        if figure.unit().is_bare() {
            let column = Symbol::read(&self.column.symbol);
            let number =
                figure.in_unit(&column).map_err(|error| format!("`{}` {error}", one_line(text)))?;
            return self.bare(number, line, text);
        }
        // Nothing is nothing in every unit.
        if figure.number() == 0.0 {
            return Ok(0.0);
        }
        if let Some(bare) = self.bare.as_ref().filter(|_| !self.has_unit_of(figure.unit())) {
            return Err(unlike(text, bare));
        }
        let unit = figure.unit();
        let of_column = self.has_unit_of(unit);
        let (wanted, first) = self.own.get_or_insert_with(|| {
            let wanted = match of_column {
                true => Symbol::read(&self.column.symbol),
                false if has_two_sizes(unit) => unit.clone(),
                false => unit.in_base(),
            };
            (wanted, Shown { line, text: one_line(text) })
        });
        let is_clear = !(has_two_sizes(figure.unit()) || has_two_sizes(wanted))
            || figure.unit().symbol() == wanted.symbol();
        if !is_clear {
            let what = "a KB is 1,000 or 1,024 bytes";
            return Err(format!("{}: {what}", unlike(text, first)));
        }
        figure.in_unit(wanted).map_err(|_| unlike(text, first))
    }

    /// A number without a unit of its own is in that of the column.
    fn bare(&mut self, number: f64, line: u64, text: &str) -> Result<f64, String> {
        if number == 0.0 {
            return Ok(0.0);
        }
        if self.bare.is_none() {
            self.bare = Some(Shown { line, text: one_line(text) });
        }
        if let Some((_, first)) = self.own.as_ref().filter(|(unit, _)| !self.has_unit_of(unit)) {
            return Err(unlike(text, first));
        }
        let value = number * self.column.factor;
        if value.is_finite() {
            return Ok(value);
        }
        Err(format!(
            "`{}` is too large for {}; is it in another unit?",
            one_line(text),
            self.column.symbol
        ))
    }

    /// Whether the column as such is in a unit of the same kind.
    fn has_unit_of(&self, unit: &Symbol) -> bool {
        let column = Symbol::read(&self.column.symbol);
        !column.is_bare() && !has_two_sizes(unit) && unit.convert(1.0, &column).is_some()
    }

    /// The unit that the figures are in.
    pub fn unit(self, name: &str) -> Unit {
        match self.own {
            Some((own, _)) if own.symbol() != self.column.symbol => {
                Unit { factor: 1.0, ..Unit::new(name, Some(own.symbol())) }
            }
            _ => self.column,
        }
    }
}

/// Whether it is a multiple of bytes that is 1,000 to some programs and 1,024 to others.
fn has_two_sizes(unit: &Symbol) -> bool {
    let is_bytes = unit.base().split('/').next() == Some("B");
    let amount = unit.symbol().split('/').next().unwrap_or_default();
    is_bytes && matches!(amount.to_lowercase().as_str(), "k" | "kb" | "mb" | "gb" | "tb")
}

fn unlike(text: &str, first: &Shown) -> String {
    let Shown { line, text: first } = first;
    format!("`{}` where line {line} has `{first}`; write all in one unit", one_line(text))
}

/// A number that has one reading: digits, and perhaps a point with other than three digits behind it.
fn plain(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let has_one_reading = fraction.len() != 3 || whole.starts_with('0') || whole.len() > 3;
    (digits(whole) && digits(fraction) && has_one_reading).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What fields are in the unit of the column, or the first message.
    fn read(name: &str, texts: &[&str]) -> Result<(Vec<Figure>, String), String> {
        let mut reader = Reader::new(Unit::new(name, None));
        let mut signs = Signs::new(None, false);
        let figures: Result<Vec<Figure>, String> = (2..)
            .zip(texts)
            .map(|(line, text)| reader.read(text, None, line, &mut signs))
            .collect();
        let sign = signs.decimal().map_err(|(_, why)| why)?;
        let figures = figures?.into_iter().map(|figure| figure.with(sign)).collect();
        Ok((figures, reader.unit(name).symbol))
    }

    fn values(name: &str, texts: &[&str]) -> Result<(Vec<f64>, String), String> {
        let (figures, unit) = read(name, texts)?;
        let value = |figure| match figure {
            Figure::Value(value) => value,
            figure => panic!("{figure:?}"),
        };
        Ok((figures.into_iter().map(value).collect(), unit))
    }

    #[test]
    fn figures_have_their_unit_in_the_cell_or_in_the_name() {
        let wanted = |values: &[f64], unit: &str| Ok((values.to_vec(), unit.to_owned()));
        assert_eq!(values("Mean", &["12.50 ns", "1,163.4 ns"]), wanted(&[12.5, 1163.4], "ns"));
        assert_eq!(
            values("Mean", &["300 ns", "8 us", "1m2.5s"]),
            wanted(&[300.0, 8e3, 62.5e9], "ns")
        );
        assert_eq!(values("time_ms", &["2", "8 us"]), wanted(&[2e6, 8e3], "ns"));
        assert_eq!(values("time_ms", &["8 us", "2", "1.5"]), wanted(&[8e3, 2e6, 1.5e6], "ns"));
        assert_eq!(values("Allocated", &["1 KiB", "0 B", "2 B"]), wanted(&[1024.0, 0.0, 2.0], "B"));
        for (bytes, figures) in
            [(["1 KB", "0 B", "2 KB"], [1.0, 0.0, 2.0]), (["0 B", "1 KB", "2 KB"], [0.0, 1.0, 2.0])]
        {
            assert_eq!(values("Allocated", &bytes), wanted(&figures, "KB"));
        }
        assert_eq!(values("net", &["3 req/s", "2k req/s"]), wanted(&[3.0, 2000.0], "requests/s"));
        assert_eq!(
            values("events_per_ms", &["3", "2000 events/s"]),
            wanted(&[3.0, 2.0], "events/ms")
        );
        assert_eq!(values("cpu", &["45%", "3 %"]), wanted(&[45.0, 3.0], "%"));
    }

    #[test]
    fn units_that_are_no_one_unit_are_refused() {
        let cases: [(&str, &[&str], &str); 7] = [
            ("Mean", &["12 ns", "13"], "`13` where line 2 has `12 ns`; write all in one unit"),
            ("Mean", &["13", "12 ns"], "`12 ns` where line 2 has `13`; write all in one unit"),
            ("Mean", &["13 ns", "12 B"], "`12 B` where line 2 has `13 ns`"),
            ("Allocated", &["24 B", "1 KB"], "a KB is 1,000 or 1,024 bytes"),
            ("rps", &["24", "1 ms"], "`1 ms` where line 2 has `24`"),
            ("n", &["1O0"], "`1O0` is no number"),
            ("us", &["1e308"], "`1e308` is too large for ns; is it in another unit?"),
        ];
        for (name, texts, wanted) in cases {
            let came = read(name, texts);
            assert!(came.as_ref().is_err_and(|why| why.contains(wanted)), "{texts:?}: {came:?}");
        }
    }

    #[test]
    fn what_is_no_figure_is_nothing_or_words() {
        for text in ["", "-", "–", "n/a", "N/A"] {
            assert_eq!(read("us", &[text]), Ok((vec![Figure::None], "ns".into())), "{text}");
        }
        let words = "aborted after about 6 hours";
        assert_eq!(read("us", &[words]), Ok((vec![Figure::Words(words.into())], "ns".into())));
        for text in ["NaN", "-inf", "1e999", "1.2.3", "12,34,5", "?", "0x10", "3 runs: 2 failed"] {
            assert!(read("us", &[text]).is_err(), "{text}");
        }
    }
}
