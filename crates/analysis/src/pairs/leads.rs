//! How far two series are apart at each point that both have, with standard errors.
//!
//! What a round does to both falls out where both were measured in the same rounds, since they took turns there; what it
//! does to one of them is an error that all points share. What share of the cells is disturbed is the machine's, and so
//! the same for both.

use crate::growth::levels::{Astray, Evidence, Level, LogShares, shared_error, shares_of};
use crate::stats::moments::mean;

/// Two series at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointLead {
    /// The value on the axis.
    pub(crate) point: u64,
    /// The logarithms of the levels of both, of which what rounds do to one of them is taken off.
    pub(crate) logs: [f64; 2],
    /// Their standard errors; none where nothing was repeated.
    pub(crate) errors: Option<[f64; 2]>,
    /// What a disturbance may have done to each of them.
    pub(crate) astray: [Astray; 2],
}

impl PointLead {
    /// The logarithm of the first over the second.
    pub(crate) fn log(&self) -> f64 {
        self.logs[0] - self.logs[1]
    }

    /// Its standard error, disturbances left out; none where nothing was repeated.
    pub(crate) fn error(&self) -> Option<f64> {
        self.errors.map(|[first, second]| first.hypot(second))
    }

    /// The same with disturbances.
    pub(crate) fn whole_error(&self) -> Option<f64> {
        let [first, second] = self.astray.map(Astray::variance);
        Some(self.error()?.hypot((first + second).sqrt()))
    }
}

/// Two series at all points that both have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leads {
    /// Ascending.
    pub(crate) points: Vec<PointLead>,
    /// The standard error of what rounds shift at all points alike.
    pub(crate) common: f64,
}

impl Leads {
    /// How far two `series` are apart, by what is known of the share of disturbed cells.
    pub(crate) fn new(series: [&Evidence; 2], log_shares: &LogShares) -> Self {
        let [first, second] = series;
        if let Some(apart) = first.difference(second) {
            return Self::of_differences(&apart, first);
        }
        let levels = series.map(|series| series.levels(log_shares));
        let astray = [0, 1].map(|side| series[side].astray(&levels[side], log_shares));
        let (shift, common) = common_shift(first, second);
        let common = series.iter().fold(common, |error, series| error.hypot(series.single_drift));
        let lead = |(index, level): (usize, &Level)| {
            let second_index =
                levels[1].binary_search_by_key(&level.point, |level| level.point).ok()?;
            let (error, second_error) = (level.error, levels[1][second_index].error);
            // A single figure next to a repeated one has the noise of the cells there.
            let borrowed = |own: Option<f64>, sibling: &Evidence, of_sibling: Option<f64>| {
                own.or_else(|| sibling.noise()).or(of_sibling)
            };
            let errors =
                borrowed(error, second, second_error).zip(borrowed(second_error, first, error));
            Some(PointLead {
                point: level.point,
                logs: [level.log + shift, levels[1][second_index].log],
                errors: errors.map(|(first, second)| [first, second]),
                astray: [astray[0][index], astray[1][second_index]],
            })
        };
        Self { points: levels[0].iter().enumerate().filter_map(lead).collect(), common }
    }

    /// By what cells of the same round are `apart`. The levels of the first stand for both.
    fn of_differences(apart: &Evidence, first: &Evidence) -> Self {
        let rounds: Vec<f64> = apart.rounds.values().copied().collect();
        let shift = if rounds.is_empty() { 0.0 } else { mean(&rounds) };
        let log_shares = shares_of([apart]);
        let levels = apart.levels(&log_shares);
        let astray = apart.astray(&levels, &log_shares);
        let of_first = first.levels(&shares_of([first]));
        let lead = |(level, astray): (&Level, Astray)| {
            let index = of_first.binary_search_by_key(&level.point, |level| level.point).ok()?;
            let log = of_first[index].log;
            let logs = [log, log - level.log - shift];
            let errors = level.error.map(|error| [0.0, error]);
            Some(PointLead {
                point: level.point,
                logs,
                errors,
                astray: [Astray::default(), astray],
            })
        };
        let common = shared_error(&rounds, apart.round_error);
        Self { points: levels.iter().zip(astray).filter_map(lead).collect(), common }
    }
}

/// What rounds do to the first and not to the second, at all points alike, with its standard error.
fn common_shift(first: &Evidence, second: &Evidence) -> (f64, f64) {
    let both = first.rounds.iter();
    let both = both.filter_map(|(round, off)| Some(off - second.rounds.get(round)?));
    let apart: Vec<f64> = both.collect();
    if apart.len() > 1 {
        let error = first.round_error.hypot(second.round_error);
        return (mean(&apart), shared_error(&apart, error));
    }
    let each = [first, second].map(|series| {
        let off: Vec<f64> = series.rounds.values().copied().collect();
        shared_error(&off, series.round_error)
    });
    (0.0, each[0].hypot(each[1]))
}
