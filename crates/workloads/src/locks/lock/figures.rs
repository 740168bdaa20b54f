//! What came of a pass, as the figures of a cell.

use crate::shared::crew::Counted;
use crate::shared::waits;
use engine::Probe;
use hdrhistogram::Histogram;
use sys::process::{Resources, is_cpu_time_split};

/// CPU time of each operation, with its split where there is one, and switches for a thousand of them.
pub(super) fn figures(counted: &Counted<Resources>) -> Vec<(&'static str, f64)> {
    let used = counted.used.1.since(&counted.used.0);
    let per = |used: u64| used as f64 / counted.operations() as f64;
    let cpu_ns = used.user_ns + used.system_ns;
    let split = [("user", per(used.user_ns)), ("system", per(used.system_ns))];
    let switches = [
        ("switches", 1e3 * per(used.switches_voluntary)),
        ("preemptions", 1e3 * per(used.switches_involuntary)),
    ];
    let split = split.into_iter().filter(|_| is_cpu_time_split(cpu_ns, 1));
    [("cpu", per(cpu_ns))].into_iter().chain(split).chain(switches).collect()
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

    /// Another thread waited for these too.
    pub fn add(&mut self, more: &Waits) {
        // Their bounds are the same.
        let _ = self.waits.add(&more.waits);
        let _ = self.hand_overs.add(&more.hand_overs);
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
    pub waits: Waits,
    /// The clock at its beginning and its end.
    pub window: (u64, u64),
}

impl Timed {
    pub fn state(&self, probe: &mut Probe) {
        let Waits { waits, hand_overs } = &self.waits;
        if waits.is_empty() {
            return;
        }
        let (begin, end) = self.window;
        probe.region("waiting", begin, end, waits.len());
        waits::state("waiting", waits, probe);
        // Where no thread had to wait, nothing was handed over.
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
            user_ns: 400_001_000,
            system_ns: 100_000_000,
            switches_voluntary: 10_000,
            switches_involuntary: 4_000,
            ..Resources::default()
        };
        let wanted = [
            ("cpu", 250.0),
            ("user", 200.0),
            ("system", 50.0),
            ("switches", 5.0),
            ("preemptions", 2.0),
        ];
        assert_eq!(figures(&Counted::from_one(2_000_000, (before, after))), wanted);
        // A tick takes a millisecond at least.
        let short = Resources { user_ns: 401_000, system_ns: 100_000, ..after };
        let short = figures(&Counted::from_one(2_000_000, (before, short)));
        let names: Vec<&str> = short.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["cpu", "switches", "preemptions"]);
    }

    #[test]
    fn a_histogram_is_read_as_it_was_written() {
        let mut waits = Waits::new();
        (1..=1_000).for_each(|ns| waits.waited(ns * 1_000));
        waits.handed(250);
        let mut all = Waits::new();
        all.add(&waits);
        let bytes = STANDARD.decode(engine::packed(&all.waits)).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!((read.len(), read.max() / 1_000), (1_000, 1_000));
        assert_eq!(read.value_at_quantile(0.5) / 1_000, 500);
        assert_eq!(all.hand_overs.value_at_quantile(0.5), 250);
    }
}
