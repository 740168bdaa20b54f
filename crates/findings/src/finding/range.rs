//! The least and the greatest of some figures.

use schemars::JsonSchema;
use serde::Serialize;

/// The least and the greatest of some figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Range(pub f64, pub f64);

impl Range {
    /// That of `figures`; both ends are NaN where there are none.
    pub fn new(figures: impl IntoIterator<Item = f64>) -> Self {
        let start = Self(f64::NAN, f64::NAN);
        figures
            .into_iter()
            .fold(start, |Self(min, max), figure| Self(min.min(figure), max.max(figure)))
    }

    /// `×870 to ×1,000`; a single figure where both ends read the same.
    pub fn format(self, figure: impl Fn(f64) -> String) -> String {
        let (min, max) = (figure(self.0), figure(self.1));
        if min == max { min } else { format!("{min} to {max}") }
    }
}

#[cfg(test)]
mod tests {
    use super::Range;
    use crate::format::factor;

    #[test]
    fn ends_that_read_the_same_are_one() {
        assert_eq!(Range::new([870.2, 1000.0, 900.0]).format(factor), "×870 to ×1,000");
        assert_eq!(Range::new([870.2, 870.3]).format(factor), "×870");
        assert_eq!(Range::new([]).format(factor), "–");
    }
}
