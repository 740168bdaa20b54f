//! The table of ratios.

use super::game::Game;
use super::limit::Limit;
use super::median;
use super::options::Options;
use crate::tally::Tally;
use std::fmt::Write as _;

/// One mechanism in one setting.
pub struct Row {
    /// The mechanism's name.
    pub mechanism: String,
    /// What the setting is called in the table: a value for each of the game's columns.
    pub setting: Vec<u64>,
    /// Which way is better, and what is demanded.
    pub limit: Limit,
    /// C's figures and ours, one entry a pair.
    pub pairs: Vec<(Figures, Figures)>,
}

/// What one run found, in the game's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The median of its batches.
    pub median: f64,
    /// Its fastest batch.
    pub fastest: f64,
    /// What a reading of the clock cost there, in nanoseconds, where it was taken off each sample.
    pub overhead_ns: Option<f64>,
}

impl Figures {
    /// Of a run that found one figure.
    pub fn single(figure: f64) -> Self {
        Self { median: figure, fastest: figure, overhead_ns: None }
    }

    /// Of the batches of one run; none if there were none.
    pub fn new(batches: Vec<f64>, limit: Limit) -> Option<Self> {
        let fastest = limit.best(batches.iter().copied())?;
        median(batches).map(|median| Self { median, fastest, overhead_ns: None })
    }
}

impl Row {
    fn ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(|(c, ours)| ours.median / c.median).collect()
    }

    /// The median of the pairs' ratios, ours over C.
    fn ratio(&self) -> f64 {
        median(self.ratios()).unwrap_or(f64::NAN)
    }

    /// The ratio of the fastest batches of all runs.
    pub fn ratio_fastest(&self) -> f64 {
        let best = |pick: fn(&(Figures, Figures)) -> f64| {
            self.limit.best(self.pairs.iter().map(pick)).unwrap_or(f64::NAN)
        };
        best(|pair| pair.1.fastest) / best(|pair| pair.0.fastest)
    }

    /// Whether the ratio is within its limit. It is beyond only when the whole of the median's 95 %
    /// interval is: a busy machine must not accuse the code. Nor may it excuse it: what is to be the
    /// same is so only when the whole interval is within.
    pub fn verdict(&self) -> Verdict {
        let (sign, limit) = self.limit.turned();
        let interval = self.interval().map(|(low, high)| match sign {
            ..0.0 => (sign * high, sign * low),
            _ => (low, high),
        });
        let is_held = match self.limit {
            Limit::Within(max) => {
                interval.is_some_and(|(low, high)| low >= 1.0 / max && high <= max)
            }
            Limit::Most(_) | Limit::Least(_) => sign * self.ratio() <= limit,
        };
        // What is to be the same must not be less either.
        let is_less =
            |(_, high): (f64, f64)| matches!(self.limit, Limit::Within(max) if high < 1.0 / max);
        if is_held {
            Verdict::Held
        } else if interval.is_some_and(|interval| interval.0 > limit || is_less(interval)) {
            Verdict::Beyond
        } else {
            Verdict::Undecided
        }
    }

    /// The 95 % CI of the median of the ratios; none of too few.
    fn interval(&self) -> Option<(f64, f64)> {
        let mut ratios = self.ratios();
        ratios.sort_by(f64::total_cmp);
        rank_low(ratios.len()).map(|rank| (ratios[rank], ratios[ratios.len() - 1 - rank]))
    }

    /// Counts it against its limit, and adds its line to the table of all benches. What is known to be apart is so
    /// `because` of something, and does not fail.
    pub fn judge(&self, step: &str, anchor: &str, because: &str, tally: &mut Tally) {
        let ratio = self.in_words();
        let outcome = match self.verdict() {
            Verdict::Held => {
                tally.pass(1);
                "held"
            }
            _ if !because.is_empty() => {
                tally.skip(step, &format!("{because}: {ratio}"));
                because
            }
            Verdict::Beyond => {
                tally.fail(format!("{step}: {}: {ratio}", self.limit));
                "missed"
            }
            Verdict::Undecided => {
                let why = format!("undecided: {ratio}; more --pairs on a quiet machine");
                tally.skip(step, &why);
                "undecided"
            }
        };
        tally.line([step, anchor, &self.with_interval(), &self.limit.goal(), outcome]);
    }

    /// Counts it where nothing is demanded, and adds its line.
    pub fn show(&self, step: &str, anchor: &str, tally: &mut Tally) {
        tally.pass(1);
        tally.line([step, anchor, &self.with_interval(), "none", "shown"]);
    }

    /// `1.012 (0.991–1.020)`.
    pub fn with_interval(&self) -> String {
        let interval = self.interval().map(|(low, high)| format!(" ({low:.3}–{high:.3})"));
        format!("{:.3}{}", self.ratio(), interval.unwrap_or_default())
    }

    /// What a reading of the clock cost on each side, where it was taken off.
    fn overheads_ns(&self) -> Option<(f64, f64)> {
        let side = |pick: fn(&(Figures, Figures)) -> Option<f64>| {
            median(self.pairs.iter().filter_map(pick).collect())
        };
        Some((side(|pair| pair.0.overhead_ns)?, side(|pair| pair.1.overhead_ns)?))
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
    /// The median is within it; the whole of its interval, where both are to be the same.
    Held,
    /// The median is beyond it, and not by chance.
    Beyond,
    /// The pairs differ too much to tell.
    Undecided,
}

/// The place, from 0, of the value that is the lower end of the median's 95 % CI among
/// `count` sorted values: the last with at most 2.5 % of the binomial distribution below it. None
/// with fewer than six values, of which no interval is as sure.
pub(super) fn rank_low(count: usize) -> Option<usize> {
    let (mut below, mut term) = (0.0, 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX)));
    let mut rank = 0;
    loop {
        below += term;
        if below > 0.025 || rank >= count {
            return rank.checked_sub(1);
        }
        term *= (count - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
}

/// The rows as a Markdown table, with the parameters above it.
pub fn markdown(rows: &[Row], game: &Game, options: &Options) -> String {
    let machine =
        if options.pins { format!("CPU {}", options.cpu) } else { "no CPU held".to_owned() };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    let (unit, columns) = (game.unit, game.columns);
    let mut text = format!(
        "{} pairs, {machine}, load {load} at the end, {}: median of the runs' medians; ratio: median \
         of the pairs' ratios (smallest to largest); fastest: the fastest batch of all runs, ours \
         over C's.\n\n\
         | mechanism | {} | C, {unit} | knee, {unit} | knee / C | fastest |\n\
         | --- |{} ---: | ---: | --- | ---: |\n",
        options.pairs,
        options.about,
        columns.join(" | "),
        " ---: |".repeat(columns.len()),
    );
    for row in rows {
        let side = |pick: fn(&(Figures, Figures)) -> f64| {
            median(row.pairs.iter().map(pick).collect()).unwrap_or(f64::NAN)
        };
        let (c, ours) = (side(|pair| pair.0.median), side(|pair| pair.1.median));
        let setting: Vec<String> = row.setting.iter().map(u64::to_string).collect();
        let (name, setting) = (&row.mechanism, setting.join(" | "));
        let (ratio, fastest) = (row.in_words(), row.ratio_fastest());
        let _ =
            writeln!(text, "| {name} | {setting} | {c:.0} | {ours:.0} | {ratio} | {fastest:.3} |");
    }
    let overheads: Vec<(f64, f64)> = rows.iter().filter_map(Row::overheads_ns).collect();
    let side = |pick: fn(&(f64, f64)) -> f64| median(overheads.iter().map(pick).collect());
    if let (Some(c), Some(ours)) = (side(|pair| pair.0), side(|pair| pair.1)) {
        let _ = writeln!(
            text,
            "\nTaken off each sample for the clock: {c:.1} ns in C, {ours:.1} ns in knee."
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::options;
    use super::*;
    use crate::bench::game::{HARNESS, PIPETEST};

    /// The options of a bench without flags.
    fn usual<T: clap::Args + TryInto<Options, Error = anyhow::Error>>() -> Options {
        options::parse::<T>("").unwrap().try_into().unwrap()
    }

    /// A run of three batches with that median.
    fn run(median: f64) -> Figures {
        Figures::new(vec![2.0 * median, median, median - 10.0], TIME).unwrap()
    }

    const TIME: Limit = Limit::Most(1.03);
    const RATE: Limit = Limit::Least(0.97);

    #[test]
    fn the_interval_of_a_median_is_that_of_the_binomial_tables() {
        // Ranks, counted from 1, as tables of the sign test have them: n = 6 and 7: 1, 9: 2, 12: 3,
        // 15: 4, 20: 6, 30: 10.
        let ranks = [(6, 1), (7, 1), (9, 2), (12, 3), (15, 4), (20, 6), (30, 10)];
        for (count, rank) in ranks {
            assert_eq!(rank_low(count), Some(rank - 1), "{count}");
        }
        assert_eq!((rank_low(0), rank_low(1), rank_low(5)), (None, None, None));
    }

    #[test]
    fn a_verdict_needs_more_than_a_median() {
        let row = |limit, ratios: [f64; 7]| Row {
            mechanism: "poll".into(),
            setting: vec![100],
            limit,
            pairs: ratios.iter().map(|ratio| (run(100.0), run(100.0 * ratio))).collect(),
        };
        let verdict = |limit, ratios| row(limit, ratios).verdict();
        assert_eq!(verdict(TIME, [0.9, 1.0, 1.01, 1.02, 1.1, 1.2, 1.3]), Verdict::Held);
        assert_eq!(verdict(TIME, [0.9, 1.0, 1.01, 1.05, 1.1, 1.2, 1.3]), Verdict::Undecided);
        assert_eq!(verdict(TIME, [1.04, 1.05, 1.05, 1.05, 1.1, 1.2, 1.3]), Verdict::Beyond);
        let same = Limit::Within(1.03);
        assert_eq!(verdict(same, [0.98, 0.98, 0.99, 1.0, 1.0, 1.02, 1.02]), Verdict::Held);
        // The median is within, but it could as well be beyond, on either side.
        assert_eq!(verdict(same, [0.9, 0.95, 0.98, 0.98, 1.0, 1.0, 1.0]), Verdict::Undecided);
        assert_eq!(verdict(same, [0.98, 1.0, 1.0, 1.0, 1.02, 1.02, 1.1]), Verdict::Undecided);
        let few = Row { pairs: vec![(run(100.0), run(100.0)); 5], ..row(same, [1.0; 7]) };
        assert_eq!(few.verdict(), Verdict::Undecided);
        assert_eq!(verdict(same, [0.9, 0.95, 0.96, 0.96, 0.96, 1.0, 1.1]), Verdict::Undecided);
        assert_eq!(verdict(same, [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.95]), Verdict::Beyond);
        assert_eq!(verdict(same, [1.04, 1.05, 1.05, 1.05, 1.1, 1.2, 1.3]), Verdict::Beyond);
        assert_eq!(verdict(RATE, [0.7, 0.8, 0.9, 0.98, 1.0, 1.0, 1.1]), Verdict::Held);
        assert_eq!(verdict(RATE, [0.7, 0.8, 0.9, 0.95, 1.0, 1.0, 1.1]), Verdict::Undecided);
        assert_eq!(verdict(RATE, [0.7, 0.8, 0.9, 0.95, 0.95, 0.95, 0.96]), Verdict::Beyond);
        let none = Row { pairs: vec![], ..row(TIME, [1.0; 7]) };
        assert_eq!(none.verdict(), Verdict::Undecided);
        let pairs = vec![(run(100.0), run(200.0)); 5];
        assert_eq!(Row { pairs, ..row(TIME, [1.0; 7]) }.verdict(), Verdict::Undecided);
    }

    #[test]
    fn a_row_shows_the_median_of_the_ratios_not_the_ratio_of_the_medians() {
        let pairs = [(100.0, 110.0), (200.0, 200.0), (400.0, 412.0)];
        let pairs = pairs.map(|(c, ours)| (run(c), run(ours))).to_vec();
        let row = Row { mechanism: "poll".into(), setting: vec![9_000], limit: TIME, pairs };
        assert_eq!(row.in_words(), "1.030 (1.000 to 1.100)");
        let options = usual::<options::Harness>();
        let text = markdown(&[row], &HARNESS, &options);
        let wanted = "| poll | 9000 | 200 | 200 | 1.030 (1.000 to 1.100) | 1.111 |\n";
        assert!(text.ends_with(wanted), "{text}");
        assert_eq!(Figures::new(vec![], TIME), None);
    }

    #[test]
    fn the_fastest_batch_of_a_rate_is_the_highest() {
        let figures = |batches: [f64; 3]| Figures::new(batches.to_vec(), RATE).unwrap();
        let pairs = vec![(figures([8.0, 10.0, 4.0]), figures([9.0, 3.0, 5.0]))];
        let row = Row { mechanism: "poll".into(), setting: vec![1_000, 10], limit: RATE, pairs };
        assert_eq!(row.in_words(), "0.625 (0.625 to 0.625)");
        let text = markdown(&[row], &PIPETEST, &usual::<options::Pipetest>());
        let wanted = "\
            | mechanism | pipes | tokens | C, tokens/s | knee, tokens/s | knee / C | fastest |\n\
            | --- | ---: | ---: | ---: | ---: | --- | ---: |\n\
            | poll | 1000 | 10 | 8 | 5 | 0.625 (0.625 to 0.625) | 0.900 |\n";
        assert!(text.ends_with(wanted), "{text}");
    }
}
