//! What is stated of a cell or a machine besides its figures: a number, a text, or a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of a fact: a number stays one until it is shown. In JSON it is a number, a text or a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Fact {
    /// How many.
    Count(u64),
    /// A finite number, in the unit that the fact's name gives.
    Number(f64),
    /// Any other text.
    Text(String),
    /// Texts. They come before the shares, because JSON's empty list is read as the first kind of list.
    Texts(Vec<String>),
    /// Parts of a whole, which is 1: finite numbers, at least one.
    Shares(Vec<f64>),
}

impl Fact {
    /// What part of all of them each of these counts is.
    pub fn shares(counts: &[u64]) -> Fact {
        let all = counts.iter().sum::<u64>().max(1) as f64;
        Fact::Shares(counts.iter().map(|&count| count as f64 / all).collect())
    }

    /// A number to so many decimals.
    pub fn rounded(number: f64, decimals: i32) -> Fact {
        let scale = 10_f64.powi(decimals);
        ((number * scale).round() / scale).into()
    }

    /// The number that it is.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Fact::Count(count) => Some(count as f64),
            Fact::Number(number) => Some(number),
            _ => None,
        }
    }
}

impl From<u64> for Fact {
    fn from(count: u64) -> Fact {
        Fact::Count(count)
    }
}

impl From<f64> for Fact {
    /// JSON has no number that is not finite: such a one is its text.
    fn from(number: f64) -> Fact {
        if number.is_finite() { Fact::Number(number) } else { Fact::Text(number.to_string()) }
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Fact {
        Fact::Text(text.to_owned())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Fact {
        Fact::Text(text)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Count(count) => count.fmt(out),
            Fact::Number(number) => number.fmt(out),
            Fact::Text(text) => text.fmt(out),
            Fact::Shares(shares) => {
                let percent = |share: &f64| format!("{:.0}%", 1e2 * share);
                out.write_str(&shares.iter().map(percent).collect::<Vec<String>>().join(" "))
            }
            Fact::Texts(texts) => out.write_str(&texts.join(", ")),
        }
    }
}

/// The unit that the end of a key says, as people read it.
const UNITS: [(&str, &str); 9] = [
    ("_bytes", " B"),
    ("_cpus", " CPUs"),
    ("_ms", " ms"),
    ("_ns", " ns"),
    ("_percent", " %"),
    ("_s", " s"),
    ("_us", " µs"),
    ("_kib", " KiB"),
    ("_mib", " MiB"),
];

/// A fact as people read it, with the unit that its key says: `0.2 CPUs`.
pub fn fact_text(key: &str, fact: &Fact) -> String {
    let unit = UNITS.iter().find(|(end, _)| key.ends_with(end));
    match (fact.number(), unit) {
        (Some(1.0), Some((_, " CPUs"))) => "1 CPU".to_owned(),
        (Some(number), Some((_, unit))) => format!("{number}{unit}"),
        _ => fact.to_string(),
    }
}

/// The key of a fact without the unit at its end, which [`fact_text`] shows.
pub fn fact_name(key: &str) -> &str {
    UNITS.iter().find_map(|(end, _)| key.strip_suffix(end)).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_in_json_and_a_text_that_reads_like_one_is_none() {
        let facts = [9_000.into(), 41.2.into(), Fact::from("9000"), f64::NAN.into(), (-3.0).into()];
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"[9000,41.2,"9000","NaN",-3.0]"#);
        assert_eq!(serde_json::from_str::<Vec<Fact>>(&json).unwrap(), facts);
        assert_eq!(facts.each_ref().map(Fact::to_string), ["9000", "41.2", "9000", "NaN", "-3"]);
        assert_eq!(facts.each_ref().map(Fact::number)[..3], [Some(9e3), Some(41.2), None]);
        assert_eq!(Fact::rounded(41.251, 1), 41.3.into());
        assert_eq!(Fact::rounded(f64::INFINITY, 1), "inf".into());
    }

    #[test]
    fn the_end_of_a_key_is_the_unit_of_a_number() {
        let shown = |key, fact: Fact| (fact_name(key), fact_text(key, &fact));
        assert_eq!(
            shown("server on a CPU_percent", 37.0.into()),
            ("server on a CPU", "37 %".into())
        );
        assert_eq!(shown("stride_bytes", 64.into()), ("stride", "64 B".into()));
        assert_eq!(shown("mapped_kib", "unknown".into()), ("mapped", "unknown".into()));
        assert_eq!(shown("parked peers", 9.into()), ("parked peers", "9".into()));
    }

    #[test]
    fn lists_stay_lists() {
        let ends = ["exited with 3", "exited with 4"].map(str::to_owned).to_vec();
        let none = Fact::Texts(Vec::new());
        let facts = [Fact::shares(&[0, 0]), Fact::shares(&[46, 954]), Fact::Texts(ends), none];
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"[[0.0,0.0],[0.046,0.954],["exited with 3","exited with 4"],[]]"#);
        assert_eq!(serde_json::from_str::<Vec<Fact>>(&json).unwrap(), facts);
        assert_eq!(
            facts.each_ref().map(Fact::to_string),
            ["0% 0%", "5% 95%", "exited with 3, exited with 4", ""]
        );
    }
}
