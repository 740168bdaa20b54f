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
    /// C's figures and ours, one entry a pair.
    pub pairs: Vec<(Figures, Figures)>,
}

/// What one run found, in nanoseconds a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The median of its batches.
    pub median: f64,
    /// Its fastest batch.
    pub fastest: f64,
}

impl Figures {
    /// Of the batches of one run; none if there were none.
    pub fn of(batches: Vec<f64>) -> Option<Self> {
        let fastest = batches.iter().copied().min_by(f64::total_cmp)?;
        median(batches).map(|median| Self { median, fastest })
    }
}

impl Row {
    fn ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(|(c, ours)| ours.median / c.median).collect()
    }

    /// The median of the pairs' ratios ours/C.
    pub fn ratio(&self) -> f64 {
        median(self.ratios()).unwrap_or(f64::NAN)
    }

    /// The fastest batch of all our runs over that of all of C's: what is left when nothing disturbs.
    fn ratio_fastest(&self) -> f64 {
        let least = |pick: fn(&(Figures, Figures)) -> f64| {
            self.pairs.iter().map(pick).fold(f64::INFINITY, f64::min)
        };
        least(|pair| pair.1.fastest) / least(|pair| pair.0.fastest)
    }

    /// Whether the ratio is held to `ratio_max`. It is over only when the lower end of the median's
    /// 95 % interval is: a busy machine must not accuse the code.
    pub fn verdict(&self, ratio_max: f64) -> Verdict {
        let mut ratios = self.ratios();
        ratios.sort_by(f64::total_cmp);
        let low = ratios.get(rank_low(ratios.len())).copied();
        match low {
            Some(_) if self.ratio() <= ratio_max => Verdict::Held,
            Some(low) if low > ratio_max => Verdict::Over,
            _ => Verdict::Undecided,
        }
    }

    /// `1.012 (0.987 to 1.034)`.
    pub fn in_words(&self) -> String {
        let ratios = self.ratios();
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{:.3} ({low:.3} to {high:.3})", self.ratio())
    }
}

/// What the pairs say about a limit.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The median is within it.
    Held,
    /// The median is over it, and not by chance.
    Over,
    /// The median is over it, but the pairs differ too much to tell.
    Undecided,
}

/// The place, from 0, of the value that is the lower end of the median's 95 % interval among
/// `count` sorted values: the last with at most 2.5 % of the binomial distribution below it. With
/// fewer than six values no interval is as sure; then it is the smallest.
fn rank_low(count: usize) -> usize {
    let (mut below, mut term) = (0.0, 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX)));
    let mut rank = 0;
    loop {
        below += term;
        if below > 0.025 || rank >= count {
            return rank.saturating_sub(1);
        }
        term *= (count - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
}

/// The rows as a Markdown table, with the conditions above it.
pub fn markdown(rows: &[Row], options: &Options) -> String {
    let place =
        if options.pins { format!("CPU {}", options.cpu) } else { "no CPU held".to_owned() };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    let mut text = format!(
        "{} pairs, {place}, load {load} at the end, one active socketpair; nanoseconds a loop (write + wait + read): \
         median of the runs' medians; ratio: median of the pairs' ratios (smallest to largest); \
         fastest: the fastest batch of all runs, ours over C's.\n\n\
         | mechanism | watched | C, ns | knee, ns | knee / C | fastest |\n\
         | --- | ---: | ---: | ---: | --- | ---: |\n",
        options.pairs
    );
    for row in rows {
        let side = |pick: fn(&(Figures, Figures)) -> f64| {
            median(row.pairs.iter().map(pick).collect()).unwrap_or(f64::NAN)
        };
        let (c, ours) = (side(|pair| pair.0.median), side(|pair| pair.1.median));
        let (name, ratio, fastest) = (&row.mechanism, row.in_words(), row.ratio_fastest());
        let _ = writeln!(
            text,
            "| {name} | {} | {c:.0} | {ours:.0} | {ratio} | {fastest:.3} |",
            row.point
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of three batches with that median.
    fn run(median: f64) -> Figures {
        Figures::of(vec![2.0 * median, median, median - 10.0]).unwrap()
    }

    #[test]
    fn the_interval_of_a_median_is_that_of_the_binomial_tables() {
        // Ranks, counted from 1, as tables of the sign test have them: n = 6 and 7: 1, 9: 2, 12: 3,
        // 15: 4, 20: 6, 30: 10.
        let ranks = [(6, 1), (7, 1), (9, 2), (12, 3), (15, 4), (20, 6), (30, 10)];
        for (count, rank) in ranks {
            assert_eq!(rank_low(count) + 1, rank, "{count}");
        }
        assert_eq!((rank_low(0), rank_low(1), rank_low(5)), (0, 0, 0));
    }

    #[test]
    fn a_verdict_needs_more_than_a_median() {
        let row = |ratios: [f64; 7]| Row {
            mechanism: "poll".into(),
            point: 100,
            pairs: ratios.iter().map(|ratio| (run(100.0), run(100.0 * ratio))).collect(),
        };
        let verdict = |ratios| row(ratios).verdict(1.03);
        assert_eq!(verdict([0.9, 1.0, 1.01, 1.02, 1.1, 1.2, 1.3]), Verdict::Held);
        assert_eq!(verdict([0.9, 1.0, 1.01, 1.05, 1.1, 1.2, 1.3]), Verdict::Undecided);
        assert_eq!(verdict([1.04, 1.05, 1.05, 1.05, 1.1, 1.2, 1.3]), Verdict::Over);
        let none = Row { mechanism: "poll".into(), point: 100, pairs: vec![] };
        assert_eq!(none.verdict(1.03), Verdict::Undecided);
    }

    #[test]
    fn a_row_shows_the_median_of_the_ratios_not_the_ratio_of_the_medians() {
        let pairs = [(100.0, 110.0), (200.0, 200.0), (400.0, 412.0)];
        let pairs = pairs.map(|(c, ours)| (run(c), run(ours))).to_vec();
        let row = Row { mechanism: "poll".into(), point: 9_000, pairs };
        assert_eq!(row.in_words(), "1.030 (1.000 to 1.100)");
        let options = Options::parse(&[]).unwrap();
        let text = markdown(&[row], &options);
        let wanted = "| poll | 9000 | 200 | 200 | 1.030 (1.000 to 1.100) | 1.111 |\n";
        assert!(text.ends_with(wanted), "{text}");
        assert_eq!(Figures::of(vec![]), None);
    }
}
