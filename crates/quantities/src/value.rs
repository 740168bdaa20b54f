//! The value of a parameter: a number, a share, a multiple or a word.

use crate::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// The value of a parameter, parsed once, where it is read: from a flag, from knee.toml or from a record.
///
/// Any text is a value. A value is written as it was read, except that `10 %` becomes `10%`.
///
/// ```
/// use quantities::Value;
///
/// assert_eq!(Value::from("9000").number(), Some(9_000));
/// assert_eq!(Value::from("10%").resolve(9_000), Some(900));
/// assert_eq!(Value::from("1/2x").resolve(4), Some(2));
/// assert_eq!(Value::from("pipe").word(), Some("pipe"));
/// assert_eq!(Value::from("1/2x").to_string(), "1/2x");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(with = "String")]
pub enum Value {
    /// A whole number: `9000`.
    Number(u64),
    /// Another number: `0.5`, `-1`.
    Decimal(Decimal),
    /// A percentage of another parameter: `10%`.
    Share(Share),
    /// A multiple of another parameter: `4x`, `1/2x`.
    Multiple(Multiple),
    /// Anything else: `pipe`, a directory, a command.
    Word(String),
}

/// A percentage above zero and up to 100, as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    percent: Decimal,
}

/// A multiple above zero and up to [`Multiple::MAX`], as it was typed: `1.5x`, `1/2x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiple {
    numerator: Decimal,
    denominator: Option<Decimal>,
}

impl Share {
    /// Reads `10%`, `0.5%` or `10 %`.
    pub fn read(text: &str) -> Option<Share> {
        let percent = Decimal::read(text.strip_suffix('%')?.trim_end())?;
        (percent.value() > 0.0 && percent.value() <= 100.0).then_some(Share { percent })
    }

    /// As a fraction of 1.
    pub fn fraction(self) -> f64 {
        self.percent.value() / 100.0
    }

    /// The number before its percent sign.
    pub fn percent(self) -> Decimal {
        self.percent
    }
}

impl Multiple {
    /// The largest multiple.
    pub const MAX: f64 = 10_000.0;

    /// Reads `4x`, `1.5x` or `1/2x`.
    pub fn read(text: &str) -> Option<Multiple> {
        let number = text.strip_suffix('x')?;
        let multiple = match number.split_once('/') {
            Some((numerator, denominator)) => Multiple {
                numerator: Decimal::read(numerator)?,
                denominator: Some(Decimal::read(denominator)?),
            },
            None => Multiple { numerator: Decimal::read(number)?, denominator: None },
        };
        (multiple.factor() > 0.0 && multiple.factor() <= Multiple::MAX).then_some(multiple)
    }

    /// As a number: 0.5 for `1/2x`.
    pub fn factor(self) -> f64 {
        self.numerator.value() / self.denominator.map_or(1.0, Decimal::value)
    }

    /// What stands before its `x`: `1/2`.
    pub fn times(self) -> String {
        match self.denominator {
            Some(denominator) => format!("{}/{denominator}", self.numerator),
            None => self.numerator.to_string(),
        }
    }
}

impl Value {
    /// Reads a quantity as a person types it: `9k` is the number 9,000. Any other text stays a word.
    pub fn typed(text: &str) -> Value {
        let typed = text.trim();
        crate::count(typed).map_or_else(|_| Value::from(typed), Value::Number)
    }

    /// The value as a whole number; none if it is anything else.
    pub fn number(&self) -> Option<u64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The value as a word; none if it is a number of any kind.
    pub fn word(&self) -> Option<&str> {
        match self {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Its text, as it is written.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Value::Word(word) => Cow::Borrowed(word),
            number => Cow::Owned(number.to_string()),
        }
    }

    /// Its size, if it is a plain number.
    pub fn size(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number as f64),
            Value::Decimal(decimal) => Some(decimal.value()),
            Value::Share(_) | Value::Multiple(_) | Value::Word(_) => None,
        }
    }

    /// What it multiplies another parameter by: a share or a multiple; none if it is neither.
    pub fn factor(&self) -> Option<f64> {
        match self {
            Value::Share(share) => Some(share.fraction()),
            Value::Multiple(multiple) => Some(multiple.factor()),
            Value::Number(_) | Value::Decimal(_) | Value::Word(_) => None,
        }
    }

    /// The number that it stands for: a share or a multiple is taken of `whole`, rounded, and at least 1.
    /// None if it is a word.
    pub fn resolve(&self, whole: u64) -> Option<u64> {
        match self.factor() {
            Some(factor) => Some(((whole as f64 * factor).round() as u64).max(1)),
            None => self.number(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        // `007` is no number: it would not be written again as it was.
        let is_plain = text == "0" || !text.starts_with(['0', '+']);
        if let Some(number) = is_plain.then(|| text.parse().ok()).flatten() {
            return Value::Number(number);
        }
        if let Some(share) = Share::read(text) {
            return Value::Share(share);
        }
        if let Some(multiple) = Multiple::read(text) {
            return Value::Multiple(multiple);
        }
        match Decimal::read_signed(text).filter(|decimal| decimal.to_string() == text) {
            Some(decimal) => Value::Decimal(decimal),
            None => Value::Word(text.to_owned()),
        }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::from(text.as_str())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number)
    }
}

/// Numbers and percentages by size, then multiples by size, then words: the order of tables.
impl Ord for Value {
    fn cmp(&self, right: &Value) -> Ordering {
        let key = |value: &Value| match value {
            Value::Number(_) | Value::Decimal(_) => (0, value.size()),
            Value::Share(share) => (0, Some(share.percent.value())),
            Value::Multiple(multiple) => (1, Some(multiple.factor())),
            Value::Word(_) => (2, None),
        };
        let ((rank, size), (right_rank, right_size)) = (key(self), key(right));
        let by_size = size.unwrap_or(0.0).total_cmp(&right_size.unwrap_or(0.0));
        let by_text = || self.text().cmp(&right.text());
        rank.cmp(&right_rank).then(by_size).then_with(by_text)
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, right: &Value) -> Option<Ordering> {
        Some(self.cmp(right))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(out),
            Value::Decimal(decimal) => out.pad(&decimal.to_string()),
            Value::Share(share) => out.pad(&format!("{}%", share.percent)),
            Value::Multiple(multiple) => out.pad(&format!("{}x", multiple.times())),
            Value::Word(word) => out.pad(word),
        }
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, text: &str) -> bool {
        self.text() == text
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

/// Written as its text, the format of records and JSON.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        String::deserialize(deserializer).map(Value::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_its_text_looks_like() {
        assert!(matches!(Value::from("9000"), Value::Number(9_000)));
        assert!(matches!(Value::from("0.1%"), Value::Share(_)));
        assert!(matches!(Value::from("1.5x"), Value::Multiple(_)));
        for word in [
            "pipe", "", "007", "+7", "--1", ".5", "1e3", "9k", "0%", "101%", "0x", "1/0x", "x",
            "1x2",
        ] {
            assert_eq!(Value::from(word).word(), Some(word));
        }
    }

    #[test]
    fn a_typed_count_becomes_a_number() {
        assert_eq!(Value::typed(" 9k "), Value::Number(9_000));
        assert_eq!(Value::typed("10%"), "10%");
        for text in ["-5", "1.5", "9m", "ten"] {
            assert_eq!(Value::typed(text).number(), None);
            assert_eq!(Value::typed(text), text);
        }
    }

    #[test]
    fn a_value_is_written_as_it_was_read() {
        for text in [
            "0",
            "-1",
            "0.5",
            "18446744073709551615",
            "10%",
            "10.0%",
            "1/2x",
            "1.50x",
            "a,b",
            "007",
        ] {
            let value = Value::from(text);
            assert_eq!(value.to_string(), text);
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
        }
        assert_eq!(Value::from("10 %"), "10%");
    }

    #[test]
    fn values_are_in_the_order_of_their_size() {
        let mut values: Vec<Value> =
            ["pipe", "16x", "9000", "4x", "10%", "0", "all", "-1", "10000", "0.5"]
                .map(Value::from)
                .into();
        values.sort();
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        let expected = ["-1", "0", "0.5", "10%", "9000", "10000", "4x", "16x", "all", "pipe"];
        assert_eq!(texts, expected);
        // It is a total order: whatever the values, sorting ends and neighbours are in order.
        let letters = ["", "1", "9", "x", ".", "k", "%", "-"];
        let mut many: Vec<Value> = (0..512)
            .map(|n| [n / 64, n / 8 % 8, n % 8].map(|letter| letters[letter]).concat())
            .map(Value::from)
            .collect();
        many.sort();
        assert!(many.is_sorted());
    }

    #[test]
    fn a_part_of_a_whole_is_rounded_and_at_least_one() {
        let part = |text, whole| Value::from(text).resolve(whole);
        assert_eq!(part("10%", 1_000), Some(100));
        assert_eq!(part("0.1%", 9_000), Some(9));
        assert_eq!(part("0.1%", 100), Some(1));
        assert_eq!(part("100%", 9_988), Some(9_988));
        assert_eq!(part("25", 9_988), Some(25));
        assert_eq!(part("1/2x", 1), Some(1));
        assert_eq!(part("1.5x", 3), Some(5));
        assert_eq!(part("16x", 2), Some(32));
        assert_eq!(part("pipe", 2), None);
    }
}
