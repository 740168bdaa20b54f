//! What is stated of a cell or a machine besides its figures: a number, a text, or a list.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of a fact: a number stays one until it is shown. In JSON it is a number, a text or a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// How many.
    Count(u64),
    /// A finite number, in the unit that the fact's name gives.
    Number(f64),
    /// Any other text.
    Text(String),
    /// Parts of a whole, which is 1.
    Shares(Vec<f64>),
    /// Several texts.
    Texts(Vec<String>),
}

impl Fact {
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
    }

    #[test]
    fn lists_stay_lists() {
        let ends = ["exited with 3", "exited with 4"].map(str::to_owned).to_vec();
        let facts = [Fact::Shares(vec![0.0, 0.954]), Fact::Texts(ends)];
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"[[0.0,0.954],["exited with 3","exited with 4"]]"#);
        assert_eq!(serde_json::from_str::<Vec<Fact>>(&json).unwrap(), facts);
        assert_eq!(
            facts.each_ref().map(Fact::to_string),
            ["0% 95%", "exited with 3, exited with 4"]
        );
    }
}
