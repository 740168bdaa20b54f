//! Which statuses of replies are a success.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Statuses, by single ones and by classes: `200`, `2xx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses(Vec<RangeInclusive<u16>>);

impl Default for Statuses {
    fn default() -> Statuses {
        Statuses(vec![200..=299, 300..=399])
    }
}

impl Statuses {
    /// Whether this is one of them.
    #[inline]
    pub fn has(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

impl FromStr for Statuses {
    type Err = String;

    fn from_str(text: &str) -> Result<Statuses, String> {
        let range = |word: &str| {
            let (first, last) = match word.strip_suffix("xx") {
                Some(class) => (format!("{class}00"), format!("{class}99")),
                None => (word.to_owned(), word.to_owned()),
            };
            let bound = |text: &str| text.parse::<u16>().ok().filter(|_| text.len() == 3);
            let range = bound(&first).zip(bound(&last));
            range.filter(|(first, last)| *first >= 100 && *last < 600)
        };
        let ranges = text.split(',').map(|word| {
            let (first, last) = range(word.trim())
                .ok_or_else(|| format!("{word:?} is no status: 404, or a class of them: 2xx"))?;
            Ok(first..=last)
        });
        ranges.collect::<Result<_, String>>().map(Statuses)
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            if range.start() == range.end() {
                write!(text, "{comma}{}", range.start())?;
            } else {
                write!(text, "{comma}{}xx", range.start() / 100)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_single_ones_and_classes() {
        let usual = Statuses::default();
        assert!(usual.has(200) && usual.has(304) && !usual.has(404) && !usual.has(199));
        let own: Statuses = "200, 404,5xx".parse().unwrap();
        assert!(own.has(404) && own.has(503) && !own.has(201) && !own.has(405));
        assert_eq!(
            (own.to_string().as_str(), usual.to_string().as_str()),
            ("200,404,5xx", "2xx,3xx")
        );
        for wrong in ["", "20", "2x", "xx", "600", "6xx", "+20", "200,", "ok"] {
            assert!(wrong.parse::<Statuses>().is_err(), "{wrong}");
        }
    }
}
