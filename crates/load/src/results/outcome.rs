//! The outcome of a load.

use super::counts::Counts;
use super::distribution::Quantiles;
use super::interval::{IntervalOutcome, Tick};
use crate::dead::DeadOutcome;
use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of a load.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Outcome {
    /// Time that counts, in seconds: without warm-up.
    pub elapsed_s: f64,
    /// What happened in it.
    #[serde(flatten)]
    pub counts: Counts,
    /// From the intended time of a request to the end of its reply, in nanoseconds.
    pub latency: Quantiles,
    /// As `latency`, with the requests that were given up or never sent: each counts with the time
    /// that it had waited by then, so that these figures are *at least*. Absent where there were none.
    pub latency_at_least: Option<Quantiles>,
    /// From the moment that a request was sent to the end of its reply, in nanoseconds.
    pub service: Quantiles,
    /// From `connect` to the connection, in nanoseconds.
    pub connect: Quantiles,
    /// From the connection to the end of the handshake of TLS, in nanoseconds; absent where there was none.
    pub handshake: Option<Quantiles>,
    /// Replies a second, a sample an interval.
    pub reply_rate: Rates,
    /// What happened in each interval.
    pub series: Vec<Tick>,
    /// The whole intervals with their distributions, if the plan [keeps them](crate::Plan::keeps_intervals).
    #[serde(skip)]
    pub intervals: Vec<IntervalOutcome>,
    /// The dead connections, if there were any.
    pub dead: Option<DeadOutcome>,
}

/// Replies a second over intervals, as httperf reports them.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Rates {
    /// Length of an interval, in seconds.
    pub interval_s: f64,
    /// Whole intervals.
    pub samples: u64,
    /// The minimum.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The maximum.
    pub max: f64,
    /// The standard deviation.
    pub stddev: f64,
}

impl Rates {
    /// Of the replies in each interval of this length.
    pub(crate) fn new(replies: &[u64], interval_s: f64) -> Rates {
        if replies.is_empty() {
            return Rates { interval_s, ..Rates::default() };
        }
        let rates = || replies.iter().map(|replies| *replies as f64 / interval_s);
        let count = replies.len() as f64;
        let avg = rates().sum::<f64>() / count;
        let squares = rates().map(|rate| (rate - avg).powi(2)).sum::<f64>();
        Rates {
            interval_s,
            samples: replies.len() as u64,
            min: rates().fold(f64::INFINITY, f64::min),
            avg,
            max: rates().fold(0.0, f64::max),
            stddev: if replies.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_the_mean_and_the_deviation_of_their_samples() {
        let rates = Rates::new(&[1, 2, 2, 2, 5], 0.5);
        assert_eq!((rates.samples, rates.min as u64, rates.max as u64), (5, 2, 10));
        assert!((rates.avg - 4.8).abs() < 1e-12);
        // 36.8 over 4: a sample's variance.
        assert!((rates.stddev.powi(2) - 9.2).abs() < 1e-12, "{}", rates.stddev);
        assert_eq!(Rates::new(&[], 5.0).samples, 0);
    }
}
