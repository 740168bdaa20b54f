//! What is counted while the model runs, and the figures that come of it.

use hdrhistogram::Histogram;
use std::fmt;

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// For how long it went on.
    pub time_ns: u64,
    /// How often a thread had the lock and released it.
    pub acquisitions: u64,
    /// CPU time of all threads outside the kernel, spinning included.
    pub user_ns: u64,
    /// CPU time of all threads inside: switches, and system calls.
    pub system_ns: u64,
    /// Time in which CPUs had nothing to run.
    pub idle_ns: u64,
    /// How often a thread went to sleep.
    pub voluntary: u64,
    /// How often a thread was preempted.
    pub involuntary: u64,
    /// Jain's index over the threads' acquisitions: 1 where all had as many, 1/N where one had all. None of
    /// fewer than five for each thread, as in a measured run: so few can't be spread evenly.
    pub fairness: Option<f64>,
    /// From a thread's arrival at the lock until it has it.
    pub waiting: Spread,
    /// From a release until the next thread has it, where somebody waited.
    pub hand_over: Spread,
    /// How many events it took: what the simulation itself costs.
    pub events: u64,
}

/// Times, and what their histogram says.
#[derive(Clone, PartialEq)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// Half of them are shorter.
    pub median_ns: f64,
    /// All but a hundredth are shorter.
    pub p99_ns: f64,
    /// The longest.
    pub max_ns: f64,
    /// Their mean.
    pub mean_ns: f64,
    /// All of them, in nanoseconds, to three digits.
    pub histogram: Histogram<u64>,
}

impl fmt::Debug for Spread {
    /// Without the histogram, which has thousands of places.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spread")
            .field("count", &self.count)
            .field("median_ns", &self.median_ns)
            .field("p99_ns", &self.p99_ns)
            .field("max_ns", &self.max_ns)
            .field("mean_ns", &self.mean_ns)
            .finish_non_exhaustive()
    }
}

impl Figures {
    /// Acquisitions a second.
    pub fn per_s(&self) -> f64 {
        self.acquisitions as f64 * 1e9 / self.time_ns as f64
    }

    /// So much for each acquisition; none where there was none.
    pub fn each(&self, total: u64) -> Option<f64> {
        (self.acquisitions > 0).then(|| total as f64 / self.acquisitions as f64)
    }
}

/// What is counted on the way.
#[derive(Clone, Debug)]
pub struct Tally {
    pub user_ns: u64,
    pub system_ns: u64,
    pub idle_ns: u64,
    pub voluntary: u64,
    pub involuntary: u64,
    pub events: u64,
    waiting: Times,
    hand_over: Times,
}

impl Tally {
    /// For times up to `max_ns`.
    pub fn new(max_ns: u64) -> Tally {
        Tally {
            user_ns: 0,
            system_ns: 0,
            idle_ns: 0,
            voluntary: 0,
            involuntary: 0,
            events: 0,
            waiting: Times::new(max_ns),
            hand_over: Times::new(max_ns),
        }
    }

    pub fn waited(&mut self, ns: u64) {
        self.waiting.add(ns);
    }

    pub fn handed_over(&mut self, ns: u64) {
        self.hand_over.add(ns);
    }

    /// The figures of all this, with how often each thread had the lock.
    pub fn figures(&self, time_ns: u64, acquisitions: &[u64]) -> Figures {
        Figures {
            time_ns,
            acquisitions: acquisitions.iter().sum(),
            user_ns: self.user_ns,
            system_ns: self.system_ns,
            idle_ns: self.idle_ns,
            voluntary: self.voluntary,
            involuntary: self.involuntary,
            fairness: fairness(acquisitions),
            waiting: self.waiting.spread(),
            hand_over: self.hand_over.spread(),
            events: self.events,
        }
    }
}

/// Acquisitions for each thread that it takes to tell how evenly they are spread.
const FEWEST_EACH: u64 = 5;

/// Jain's index; none of too few.
fn fairness(shares: &[u64]) -> Option<f64> {
    let sum: u64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    let enough = sum >= FEWEST_EACH * shares.len() as u64 && sum > 0;
    enough.then(|| (sum as f64).powi(2) / (shares.len() as f64 * squares))
}

/// Times, in a histogram to three digits.
#[derive(Clone, Debug)]
struct Times {
    histogram: Histogram<u64>,
    sum_ns: u128,
    max_ns: u64,
}

impl Times {
    fn new(max_ns: u64) -> Times {
        // Two is the least that a histogram takes, and any number above it will do.
        let histogram = Histogram::new_with_max(max_ns.max(2), 3);
        let histogram =
            histogram.unwrap_or_else(|_| unreachable!("three digits are a histogram's"));
        Times { histogram, sum_ns: 0, max_ns: 0 }
    }

    fn add(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn spread(&self) -> Spread {
        let count = self.histogram.len();
        let at = |quantile| self.histogram.value_at_quantile(quantile).min(self.max_ns) as f64;
        Spread {
            count,
            median_ns: at(0.5),
            p99_ns: at(0.99),
            max_ns: self.max_ns as f64,
            mean_ns: if count == 0 { 0.0 } else { self.sum_ns as f64 / count as f64 },
            histogram: self.histogram.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_for_equals_and_a_share_for_one_that_has_all() {
        let close = |shares: &[u64], to: f64| (fairness(shares).unwrap() - to).abs() < 1e-12;
        assert!(close(&[5, 5, 5, 5], 1.0));
        assert!(close(&[40, 0, 0, 0], 0.25));
        // (10+20+30)² / (3 · 1400)
        assert!(close(&[10, 20, 30], 36.0 / 42.0));
        assert_eq!((fairness(&[0, 0]), fairness(&[9, 0])), (None, None));
    }

    #[test]
    fn a_histogram_keeps_three_digits_and_the_maximum_as_it_is() {
        let mut times = Times::new(1_000_000_000);
        (1..=1_000).for_each(|n| times.add(n * 1_001));
        let spread = times.spread();
        assert_eq!(spread.count, 1_000);
        assert!((spread.median_ns / 500_500.0 - 1.0).abs() < 0.002, "{spread:?}");
        assert!((spread.p99_ns / 990_990.0 - 1.0).abs() < 0.002, "{spread:?}");
        assert!((spread.max_ns - 1_001_000.0).abs() < 0.5, "{spread:?}");
        assert!((spread.mean_ns - 500.5 * 1_001.0).abs() < 0.5, "{spread:?}");
    }
}
