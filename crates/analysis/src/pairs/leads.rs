//! How far two series are apart at each point that both have, with standard errors.
//!
//! What a round does to both falls out where both were measured in the same rounds, since they took turns there; what it
//! does to one of them is an error that all points share. What share of the cells is disturbed is the machine's, and so
//! the same for both.

use crate::growth::levels::{Evidence, Level, shared_error};
use crate::growth::thresholds::DISTURBANCE_LOG;
use crate::stats::moments::mean;

/// Two series at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointLead {
    /// The value on the axis.
    pub(crate) point: u64,
    /// The logarithms of the levels of both, of which what rounds do to one of them is taken off.
    pub(crate) logs: [f64; 2],
    /// Their standard errors; that of a single figure beside a repeated one is as large as the other's. None where
    /// nothing was repeated.
    pub(crate) errors: Option<[f64; 2]>,
    /// How likely each of them is off by what a disturbance does.
    pub(crate) astray: [f64; 2],
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
        Some(self.error()?.hypot((self.astray[0] + self.astray[1]).sqrt() * DISTURBANCE_LOG))
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
    /// `single_errors` are those of figures of each that were not repeated.
    pub(crate) fn new(series: [&Evidence; 2], single_errors: [&[Option<f64>]; 2]) -> Self {
        let [first, second] = series;
        if let Some(apart) = first.difference(second) {
            return Self::of_differences(&apart, first);
        }
        let log_shares =
            std::array::from_fn(|index| first.log_shares[index] + second.log_shares[index]);
        let levels = series.map(|series| series.levels(&log_shares));
        let astray = [0, 1].map(|side| series[side].astray(&levels[side], &log_shares));
        let (shift, common) = common_shift(first, second);
        let lead = |(index, level): (usize, &Level)| {
            let second_index =
                levels[1].binary_search_by_key(&level.point, |level| level.point).ok()?;
            let error = level.error.or_else(|| *single_errors[0].get(index)?);
            let second_error =
                levels[1][second_index].error.or_else(|| *single_errors[1].get(second_index)?);
            let errors = error.or(second_error).zip(second_error.or(error));
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
        let levels = apart.levels(&apart.log_shares);
        let astray = apart.astray(&levels, &apart.log_shares);
        let of_first = first.levels(&first.log_shares);
        let lead = |(level, astray): (&Level, f64)| {
            let of_first = of_first.iter().find(|of_first| of_first.point == level.point)?;
            let logs = [of_first.log, of_first.log - level.log - shift];
            let errors = level.error.map(|error| [0.0, error]);
            Some(PointLead { point: level.point, logs, errors, astray: [0.0, astray] })
        };
        let common = shared_error(&rounds, apart.round_error);
        Self { points: levels.iter().zip(astray).filter_map(lead).collect(), common }
    }
}

/// What rounds do to the first and not to the second, at all points alike, with its standard error.
fn common_shift(first: &Evidence, second: &Evidence) -> (f64, f64) {
    let [a, b] = [&first.rounds, &second.rounds];
    if a.keys().eq(b.keys()) {
        let apart: Vec<f64> = a.values().zip(b.values()).map(|(a, b)| a - b).collect();
        let shift = if apart.is_empty() { 0.0 } else { mean(&apart) };
        return (shift, shared_error(&apart, first.round_error.hypot(second.round_error)));
    }
    let each = [first, second].map(|series| {
        let off: Vec<f64> = series.rounds.values().copied().collect();
        shared_error(&off, series.round_error)
    });
    (0.0, each[0].hypot(each[1]))
}
