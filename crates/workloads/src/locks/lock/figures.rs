//! What came of a pass, as the figures of a cell.

use crate::shared::fairness::{FEWEST_EACH, jain};
use crate::shared::waits;
use engine::Probe;
use hdrhistogram::Histogram;
use sys::process::Resources;

/// Of the pass in which threads only count.
#[derive(Debug, PartialEq)]
pub(super) struct Counted {
    /// The clock at its beginning and its end.
    window: (u64, u64),
    acquisitions: u64,
    /// Nanoseconds for each of them, by the clock on the wall.
    each_ns: f64,
    /// CPU time for each of them.
    user_ns: f64,
    system_ns: f64,
    /// For a thousand of them.
    switches: f64,
    preemptions: f64,
    /// None of too few acquisitions: of ten among thirty threads, twenty have none in any case.
    fairness: Option<f64>,
}

impl Counted {
    /// Of `acquisitions` in a `window` of `ns`, with what they `used`, and the share of each thread.
    pub fn new(
        window: (u64, u64),
        acquisitions: u64,
        ns: f64,
        used: &Resources,
        each: &[f64],
    ) -> Counted {
        let per = |used: u64| used as f64 / acquisitions as f64;
        Counted {
            window,
            acquisitions,
            each_ns: ns / acquisitions as f64,
            user_ns: per(used.user_ns),
            system_ns: per(used.system_ns),
            switches: 1e3 * per(used.switches_voluntary),
            preemptions: 1e3 * per(used.switches_involuntary),
            fairness: (acquisitions >= FEWEST_EACH * each.len() as u64).then(|| jain(each)),
        }
    }

    pub fn state(&self, probe: &mut Probe) {
        let figures = [
            ("acquisitions", 1e9 / self.each_ns),
            ("cpu", self.user_ns + self.system_ns),
            ("user", self.user_ns),
            ("system", self.system_ns),
            ("switches", self.switches),
            ("preemptions", self.preemptions),
        ];
        let (begin, end) = self.window;
        probe.region("acquisitions", begin, end, self.acquisitions);
        let fairness = self.fairness.map(|fairness| ("fairness", fairness));
        for (metric, figure) in figures.into_iter().chain(fairness) {
            probe.given(metric, &[figure], self.acquisitions);
        }
    }
}

/// What one thread waited for, in nanoseconds.
#[derive(Debug)]
pub(super) struct Waits {
    waits: Histogram<u32>,
    hand_overs: Histogram<u32>,
}

impl Waits {
    pub fn new() -> Waits {
        Waits { waits: waits::histogram(), hand_overs: waits::histogram() }
    }

    /// It waited so long for the lock.
    #[inline]
    pub fn waited(&mut self, ns: u64) {
        self.waits.saturating_record(ns);
    }

    /// So long after a release it had the lock that it had waited for.
    #[inline]
    pub fn handed(&mut self, ns: u64) {
        self.hand_overs.saturating_record(ns);
    }
}

/// Of the pass in which threads read the clock.
#[derive(Debug)]
pub(super) struct Timed {
    waits: Waits,
    /// The clock at its beginning and its end.
    window: (u64, u64),
}

impl Timed {
    /// All of them together, in this window.
    pub fn new(each: Vec<Waits>, window: (u64, u64)) -> Timed {
        let mut all = Waits::new();
        for thread_waits in each {
            // Their bounds are the same.
            let _ = all.waits.add(thread_waits.waits);
            let _ = all.hand_overs.add(thread_waits.hand_overs);
        }
        Timed { waits: all, window }
    }

    pub fn state(&self, probe: &mut Probe) {
        let Waits { waits, hand_overs } = &self.waits;
        if waits.is_empty() {
            return;
        }
        let (begin, end) = self.window;
        probe.region("waiting", begin, end, waits.len());
        waits::state("waiting", waits, probe);
        // Where nobody had to wait, nothing was handed over.
        if !hand_overs.is_empty() {
            let median = hand_overs.value_at_quantile(0.5) as f64;
            probe.given("hand-over", &[median], hand_overs.len());
            probe.histogram("hand-over", hand_overs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn figures_are_for_each_acquisition_and_switches_for_a_thousand() {
        let before = Resources { user_ns: 1_000, ..Resources::default() };
        let after = Resources {
            user_ns: 401_000,
            system_ns: 100_000,
            switches_voluntary: 10,
            switches_involuntary: 4,
            ..Resources::default()
        };
        let counted = Counted::new((5, 6), 2_000, 1e6, &after.since(&before), &[1_000.0, 1_000.0]);
        let wanted = Counted {
            window: (5, 6),
            acquisitions: 2_000,
            each_ns: 500.0,
            user_ns: 200.0,
            system_ns: 50.0,
            switches: 5.0,
            preemptions: 2.0,
            fairness: Some(1.0),
        };
        assert_eq!(counted, wanted);
        let few = Counted::new((5, 6), 9, 1e6, &after.since(&before), &[9.0, 0.0]);
        assert_eq!(few.fairness, None, "nine among two");
    }

    #[test]
    fn a_histogram_is_read_as_it_was_written() {
        let mut waits = Waits::new();
        (1..=1_000).for_each(|ns| waits.waited(ns * 1_000));
        waits.handed(250);
        let all = Timed::new(vec![waits, Waits::new()], (5, 6)).waits;
        let bytes = STANDARD.decode(engine::packed(&all.waits)).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!((read.len(), read.max() / 1_000), (1_000, 1_000));
        assert_eq!(read.value_at_quantile(0.5) / 1_000, 500);
        assert_eq!(all.hand_overs.value_at_quantile(0.5), 250);
    }
}
