//! Figures in every notation of spreadsheets and programs: what is read is what was written, or it is refused.

use foreign_tables::{Input, TableRequest, read};
use quantities::DecimalSign;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Cursor;

/// Tables that are drawn.
const TABLES: usize = 1_000;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug)]
struct Notation {
    decimal: char,
    thousands: Option<char>,
    /// Decimals of every number; without it, as few as there are.
    decimals: Option<usize>,
    /// Units of the cells, with the nanoseconds that each has.
    units: &'static [(&'static str, f64)],
    blank: bool,
}

const NONE: &[(&str, f64)] = &[("", 1.0)];
const TIMES: &[(&str, f64)] = &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
const ONE_TIME: &[(&str, f64)] = &[("ms", 1e6)];
const RATES: &[(&str, f64)] = &[("req/s", 1.0)];

fn notation(random: &mut fastrand::Rng) -> Notation {
    let decimal = if random.bool() { '.' } else { ',' };
    let opposite = if decimal == '.' { ',' } else { '.' };
    let groups = [None, None, Some(opposite), Some(' '), Some('\''), Some('_'), Some('\u{a0}')];
    let units = [NONE, NONE, NONE, TIMES, ONE_TIME, RATES];
    Notation {
        decimal,
        thousands: groups[random.usize(..groups.len())],
        decimals: [None, Some(0), Some(1), Some(2), Some(3), Some(3), Some(6)][random.usize(..7)],
        units: units[random.usize(..units.len())],
        blank: random.bool(),
    }
}

impl Notation {
    fn grouped(&self, whole: &str) -> String {
        let Some(sign) = self.thousands else { return whole.to_owned() };
        let mut out = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                out.push(sign);
            }
            out.push(digit);
        }
        out
    }

    /// A number as it is written, and its value.
    fn written(&self, random: &mut fastrand::Rng) -> (String, f64) {
        let size = 10_f64.powf(random.f64() * 7.0 - 1.0);
        let digits_behind = self.decimals.unwrap_or_else(|| random.usize(..5));
        let mut plain = format!("{size:.digits_behind$}");
        if self.decimals.is_none() && plain.contains('.') {
            plain = plain.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        let (unit, factor) = *random.choice(self.units).unwrap();
        let value = plain.parse::<f64>().unwrap() * factor;
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        let mut text = self.grouped(whole);
        if !fraction.is_empty() {
            text.push(self.decimal);
            text.push_str(fraction);
        }
        if self.blank && !unit.is_empty() {
            text.push(' ');
        }
        (text + unit, value)
    }

    /// Whether nothing in a column of whole numbers tells points that separate thousands from decimal ones: where
    /// commas or tabs separate the fields, a point is decimal.
    fn looks_like_a_program(&self, separator: char) -> bool {
        separator != ';' && self.thousands == Some('.')
    }
}

/// A drawn table: its bytes, what is asked of it, and the figure at each point.
struct Drawn {
    bytes: Vec<u8>,
    text: String,
    request: TableRequest,
    figures: BTreeMap<u64, f64>,
    may_be_taken_for_decimals: bool,
}

fn drawn(random: &mut fastrand::Rng) -> Drawn {
    let notation = notation(random);
    let separator = [',', ';', '\t'][random.usize(..3)];
    let mut points: Vec<u64> = (0..random.usize(1..9)).map(|_| random.u64(1..20_000)).collect();
    points.sort_unstable();
    points.dedup();
    let field =
        |text: &str| if text.contains(separator) { format!("\"{text}\"") } else { text.to_owned() };
    let mut text = String::new();
    if random.u8(..4) == 0 {
        text += "A program, run 3\n\nof today\n";
    }
    if random.u8(..6) == 0 {
        text = format!("sep={separator}\r\n");
    }
    let end = if random.bool() { "\n" } else { "\r\n" };
    write!(text, "n{separator}who{separator}value{end}").unwrap();
    let mut figures = BTreeMap::new();
    let mut texts = Vec::new();
    for point in points {
        let (figure, value) = notation.written(random);
        figures.insert(point, value);
        let padding = if random.u8(..5) == 0 { " " } else { "" };
        let figure_field = field(&figure);
        write!(text, "{point}{separator}{padding}\"a\"{separator}{padding}{figure_field}{end}")
            .unwrap();
        texts.push(figure);
    }
    let sign = if notation.decimal == '.' { DecimalSign::Point } else { DecimalSign::Comma };
    let is_given = random.u8(..4) == 0;
    let column = |name: &str| Some(name.to_owned());
    let request = TableRequest {
        x: column("n"),
        y: column("value"),
        by: vec!["who".to_owned()],
        decimal: is_given.then_some(sign),
        ..TableRequest::default()
    };
    let bytes = match random.u8(..5) {
        0 => {
            [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        }
        1 => {
            [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect()
        }
        2 => format!("\u{feff}{text}").into_bytes(),
        _ => text.clone().into_bytes(),
    };
    let all_three =
        texts.iter().all(|text| text.matches('.').count() == 1 || text.starts_with('0'));
    let may_be_taken_for_decimals =
        !is_given && all_three && notation.looks_like_a_program(separator);
    Drawn { bytes, text, request, figures, may_be_taken_for_decimals }
}

/// Whether it was read; panics if a figure is another one than was written.
fn holds(drawn: &Drawn) -> bool {
    let input = Input::new("t.csv", Box::new(Cursor::new(drawn.bytes.clone())));
    let run = match read(&drawn.request, input, Vec::new()) {
        Ok(foreign) => foreign.run,
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains(char::is_control), "{line}");
            return false;
        }
    };
    if drawn.may_be_taken_for_decimals {
        return true;
    }
    assert_eq!(run.cells.len(), drawn.figures.len(), "{}", drawn.text);
    for cell in &run.cells {
        let wanted = drawn.figures[&cell.key.point];
        let came = cell.metrics[0].samples[0];
        let is_same = (came - wanted).abs() <= wanted.abs() * 1e-12;
        assert!(is_same, "{came} and not {wanted} at {}:\n{}", cell.key.point, drawn.text);
    }
    true
}

#[test]
fn a_figure_that_is_read_is_the_one_that_was_written() {
    let mut random = fastrand::Rng::with_seed(1845);
    let read = (0..TABLES).filter(|_| holds(&drawn(&mut random))).count();
    assert!(read > TABLES / 2, "{read} of {TABLES} tables were read");
}
