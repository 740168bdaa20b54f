//! How a table's subjects, points and figures are named in sentences.

use crate::Table;
use crate::findings::words;

impl Table {
    /// Points in words, with what they are for each of the whole: `8 and 16 threads (4 and 8 per CPU)`.
    pub(crate) fn places(&self, points: &[u64]) -> String {
        let counted = words::counted(&words::points(points), &self.axis);
        let times: Option<Vec<f64>> = points.iter().map(|&point| self.multiple_at(point)).collect();
        match (times, &self.shares) {
            (Some(times), Some(shares)) => {
                let times: Vec<String> =
                    times.iter().map(|&times| words::multiple(times)).collect();
                format!("{counted} ({} {})", words::list(&times), shares.word)
            }
            _ => counted,
        }
    }
}
