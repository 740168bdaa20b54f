//! Figures that were built from a known number and unit are read as these, and of any text the reader says what
//! two regular expressions say, one for each decimal sign.

use proptest::prelude::*;
use quantities::{DecimalSign, Figure, FigureError, Unit};
use regex_lite::Regex;
use std::sync::LazyLock;

/// Units with what one of them is, as a number and what follows it in exponents: no code of the reader's.
const UNITS: [(&str, f64, &str); 22] = [
    ("", 1.0, ""),
    ("ns", 1.0, "ns"),
    ("us", 1e3, "ns"),
    ("\u{b5}s", 1e3, "ns"),
    ("\u{3bc}s", 1e3, "ns"),
    ("ms", 1e6, "ns"),
    ("msec", 1e6, "ns"),
    ("s", 1e9, "ns"),
    ("seconds", 1e9, "ns"),
    ("min", 6e10, "ns"),
    ("h", 3.6e12, "ns"),
    ("B", 1.0, "B"),
    ("KB", 1e3, "B"),
    ("KiB", 1024.0, "B"),
    ("GiB", 1_073_741_824.0, "B"),
    ("MB/s", 1e6, "B/s"),
    ("Mbit/s", 1e6, "bit/s"),
    ("Gbps", 1e9, "bit/s"),
    ("%", 1.0, "%"),
    ("req/s", 1.0, "requests/s"),
    ("Mops/s", 1e6, "ops/s"),
    ("us/op", 1e3, "ns/op"),
];
/// What separates thousands, apart from the sign that is not the decimal one.
const NEUTRAL: [&str; 5] = ["", "_", "'", "\u{2009}", "\u{202f}"];

/// `digits` in groups of three.
fn grouped(digits: &str, separator: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push_str(separator);
        }
        text.push(digit);
    }
    text
}

/// A number in its parts.
#[derive(Clone, Debug)]
struct Parts {
    negative: bool,
    whole: u64,
    fraction: String,
    exponent: Option<i32>,
}

impl Parts {
    /// As Rust writes it.
    fn value(&self) -> f64 {
        let Parts { negative, whole, fraction, exponent } = self;
        let sign = if *negative { "-" } else { "" };
        format!("{sign}{whole}.{fraction}0e{}", exponent.unwrap_or(0)).parse().unwrap()
    }

    fn written(&self, separator: &str, decimal: &str) -> String {
        let sign = if self.negative { "-" } else { "" };
        let fraction = match self.fraction.as_str() {
            "" => String::new(),
            fraction => format!("{decimal}{fraction}"),
        };
        let exponent = self.exponent.map_or(String::new(), |exponent| format!("e{exponent}"));
        format!("{sign}{}{fraction}{exponent}", grouped(&self.whole.to_string(), separator))
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let whole = prop_oneof![0..10_u64, 0..10_000_u64, 0..10_000_000_000_000_u64];
    let exponent = proptest::option::weighted(0.2, -12..12);
    (any::<bool>(), whole, "[0-9]{0,6}", exponent).prop_map(
        |(negative, whole, fraction, exponent)| Parts { negative, whole, fraction, exponent },
    )
}

fn assert_near(came: f64, wanted: f64, text: &str) {
    assert!((came - wanted).abs() <= wanted.abs() * 1e-12, "{text}: {came}, not {wanted}");
}

/// A number alone, with a point and with a comma as its decimal sign: groups of three with one separator.
fn grammar(decimal: char, thousands: char) -> Regex {
    let separators =
        [&format!("\\{thousands}"), "_", "'", "’", " ", "\u{a0}", "\u{2009}", "\u{202f}"];
    let groups = separators.map(|sign| format!("[1-9][0-9]{{0,2}}(?:{sign}[0-9]{{3}})+")).join("|");
    let fraction = if decimal == '.' { "(?:\\.[0-9]*)?" } else { "(?:,[0-9]+)?" };
    let number = format!("(?:{groups}|[0-9]+){fraction}|\\{decimal}[0-9]+");
    Regex::new(&format!("^[-+−]?(?:{number})(?:[eE][-+]?[0-9]+)?$")).unwrap()
}

static POINT: LazyLock<Regex> = LazyLock::new(|| grammar('.', ','));
static COMMA: LazyLock<Regex> = LazyLock::new(|| grammar(',', '.'));

/// What the text is by one grammar.
fn reading(text: &str, grammar: &Regex, decimal: char) -> Option<f64> {
    let kept = |c: char| match c {
        '−' => Some('-'),
        _ if c == decimal => Some('.'),
        '0'..='9' | '-' | '+' | 'e' | 'E' => Some(c),
        _ => None,
    };
    grammar.is_match(text).then(|| {
        let plain: String = text.chars().filter_map(kept).collect();
        plain.parse().unwrap()
    })
}

proptest! {
    #[test]
    fn a_figure_that_was_written_is_read(
        parts in parts(),
        neutral in proptest::sample::select(&NEUTRAL[..]),
        is_grouped in any::<bool>(),
        (unit, scale, base) in proptest::sample::select(&UNITS[..]),
        space in proptest::sample::select(&["", " ", "  ", "\t"][..]),
    ) {
        for (sign, decimal, thousands) in
            [(DecimalSign::Point, ".", ","), (DecimalSign::Comma, ",", ".")]
        {
            let separator = if is_grouped { thousands } else { neutral };
            let text = format!("{}{space}{unit}", parts.written(separator, decimal));
            let figure = Figure::read(&text, sign);
            let figure = figure.unwrap_or_else(|error| panic!("{text:?} {error}"));
            prop_assert_eq!(figure.unit().base(), base, "{}", &text);
            let wanted = parts.value() * scale;
            assert_near(figure.in_unit(&Unit::read(base)).unwrap(), wanted, &text);
            // A point alone is the decimal sign where nothing says what it is.
            if decimal == "," && text.contains('.') && !text.contains(',') {
                continue;
            }
            match Figure::read_alone(&text) {
                Ok(alone) => assert_near(alone.in_unit(&Unit::read(base)).unwrap(), wanted, &text),
                Err(FigureError::TwoReadings { point, comma }) => {
                    let own = if decimal == "." { point } else { comma };
                    assert_near(own * scale, wanted, &text);
                }
                Err(error) => prop_assert!(false, "{} {}", text, error),
            }
        }
    }

    #[test]
    fn a_duration_is_the_sum_of_its_parts(
        h in 0..100_u64, m in 0..60_u64, s in 0..60_u64, ms in 0..1_000_u64, space in "[ ]?",
    ) {
        let text = format!("{h}h{space}{m}m{space}{s}.{ms:03}s");
        let wanted = (h * 3_600 + m * 60 + s) as f64 * 1e9 + ms as f64 * 1e6;
        let figure = Figure::read_alone(&text).unwrap();
        assert_near(figure.in_unit(&Unit::read("ns")).unwrap(), wanted, &text);
    }

    #[test]
    fn a_number_has_the_readings_of_two_grammars(text in "[-+−]?[0-9.,]{0,12}[-+0-9.,_'’eE \u{a0}\u{2009}\u{202f}]{0,8}") {
        let text = text.trim();
        let point = reading(text, &POINT, '.');
        let comma = reading(text, &COMMA, ',');
        for (sign, wanted) in [(DecimalSign::Point, point), (DecimalSign::Comma, comma)] {
            match (Figure::read(text, sign), wanted) {
                (Ok(figure), Some(wanted)) => {
                    // One letter may be a multiple or a unit, and these texts have none.
                    prop_assert!(figure.unit().is_bare(), "{}", text);
                    assert_near(figure.number(), wanted, text);
                }
                (Err(FigureError::OutOfRange), Some(wanted)) => {
                    prop_assert!(wanted.is_infinite() || wanted == 0.0, "{}: {}", text, wanted);
                }
                (Ok(figure), None) => {
                    // `1e` is one of a unit called e.
                    prop_assert!(!figure.unit().is_known(), "{} as {:?}", text, figure);
                }
                (Err(error), Some(wanted)) => prop_assert!(false, "{} {}, not {}", text, error, wanted),
                (Err(_), None) => {}
            }
        }
        if let (Some(point), Some(comma)) = (point, comma)
            && point.to_bits() != comma.to_bits()
            && text.contains(',')
        {
            prop_assert!(Figure::read_alone(text).is_err(), "{} has two readings", text);
        }
    }

    #[test]
    fn no_text_is_a_panic(text in any::<String>(), figure in "[0-9.,eExX+\\-_'kKMGTiBbpsmunµ/%: ]{0,16}") {
        for text in [text, figure] {
            for sign in [DecimalSign::Point, DecimalSign::Comma] {
                if let Ok(figure) = Figure::read(&text, sign) {
                    prop_assert!(figure.number().is_finite(), "{}", text);
                    let same = figure.in_unit(&figure.unit().in_base());
                    prop_assert!(same.is_err() || same.is_ok_and(f64::is_finite));
                }
            }
            let _ = Figure::read_alone(&text);
        }
    }
}
