//! The table of ratios.

use super::median;
use super::options::Options;
use std::fmt::Write as _;

/// One mechanism at one number of descriptors.
pub struct Row {
    /// The mechanism's name.
    pub mechanism: String,
    /// Watched descriptors.
    pub point: u64,
    /// Nanoseconds a loop, C's and ours, one entry a pair.
    pub pairs: Vec<(f64, f64)>,
}

impl Row {
    fn ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(|(c, ours)| ours / c).collect()
    }

    /// The median of the pairs' ratios ours/C.
    pub fn ratio(&self) -> f64 {
        median(self.ratios()).unwrap_or(f64::NAN)
    }

    /// `1.012 (0.987 to 1.034)`.
    pub fn in_words(&self) -> String {
        let ratios = self.ratios();
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{:.3} ({low:.3} to {high:.3})", self.ratio())
    }
}

/// The rows as a Markdown table, with the conditions above it.
pub fn markdown(rows: &[Row], options: &Options) -> String {
    let place =
        if options.pins { format!("CPU {}", options.cpu) } else { "no CPU held".to_owned() };
    let mut text = format!(
        "{} pairs, {place}, one active socketpair; nanoseconds a loop (write + wait + read): \
         median of the runs' medians; ratio: median of the pairs' ratios (smallest to largest).\n\n\
         | mechanism | watched | C, ns | knee, ns | knee / C |\n| --- | ---: | ---: | ---: | --- |\n",
        options.pairs
    );
    for row in rows {
        let side = |pick: fn(&(f64, f64)) -> f64| {
            median(row.pairs.iter().map(pick).collect()).unwrap_or(f64::NAN)
        };
        let (c, ours) = (side(|pair| pair.0), side(|pair| pair.1));
        let (name, ratio) = (&row.mechanism, row.in_words());
        let _ = writeln!(text, "| {name} | {} | {c:.0} | {ours:.0} | {ratio} |", row.point);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_the_median_of_the_ratios_not_the_ratio_of_the_medians() {
        let pairs = vec![(100.0, 110.0), (200.0, 200.0), (400.0, 412.0)];
        let row = Row { mechanism: "poll".into(), point: 9_000, pairs };
        assert_eq!(row.in_words(), "1.030 (1.000 to 1.100)");
        let options = Options::parse(&[]).unwrap();
        let text = markdown(&[row], &options);
        assert!(text.ends_with("| poll | 9000 | 200 | 200 | 1.030 (1.000 to 1.100) |\n"), "{text}");
    }
}
