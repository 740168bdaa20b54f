//! When a cell timed what, for a profile: the samples of its processes are assigned to these regions by their
//! times.
//!
//! A region is bounded by the readings of the clock that its figure comes from, so nothing is read or done in
//! a timed region that is not there without a profile. Readings become `CLOCK_MONOTONIC` in the end, by two
//! readings of both clocks at the beginning and at the end of the cell.

use serde::{Deserialize, Serialize};
use stacks::SampledWait;
use sys::clock::Clock;

/// A pause between two regions that no sample certainly lies in, in nanoseconds: they become one range.
const PAUSE_NS_MAX: f64 = 200.0;
/// Stretches of a trajectory, each with samples of its own.
const STRETCHES_MAX: usize = 8;
/// Clocks are read together this often; the closest two readings count.
const TRIES: usize = 9;

/// The timed regions of one metric around one position, together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Region {
    pub metric: String,
    /// The cell's point, or the end of a stretch of a trajectory.
    pub position: u64,
    pub operations: u64,
    /// From when to when, ascending and apart, in nanoseconds of `CLOCK_MONOTONIC`.
    pub ranges: Vec<(u64, u64)>,
}

impl Region {
    /// Whether it was being timed at any moment from one time to another.
    pub fn meets(&self, begin_ns: u64, end_ns: u64) -> bool {
        self.ranges_between(begin_ns, end_ns).next().is_some()
    }

    /// How many samples of a wait are in it. A wait that began before a range and ended after it has none there: the
    /// thread had nothing to do with what was timed.
    pub fn samples_of_wait(&self, wait: &SampledWait, sample_ns: f64) -> u64 {
        let ranges = self.ranges_between(wait.begin_ns, wait.end_ns);
        let met = ranges.filter(|&(begin, end)| wait.begin_ns > begin || wait.end_ns < end);
        met.map(|(begin, end)| wait.samples_between(begin, end, sample_ns)).sum()
    }

    /// The greatest share of a range that a wait takes.
    pub fn share_of_wait(&self, wait: &SampledWait) -> f64 {
        let share = |(begin, end): (u64, u64)| {
            let both = end.min(wait.end_ns).saturating_sub(begin.max(wait.begin_ns));
            both as f64 / end.saturating_sub(begin).max(1) as f64
        };
        self.ranges_between(wait.begin_ns, wait.end_ns).map(share).fold(0.0, f64::max)
    }

    fn ranges_between(&self, begin_ns: u64, end_ns: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = self.ranges.partition_point(|&(_, end)| end < begin_ns);
        self.ranges[first..].iter().copied().take_while(move |&(begin, _)| begin <= end_ns)
    }

    pub fn elapsed_ns(&self) -> u64 {
        self.ranges.iter().map(|(begin, end)| end.saturating_sub(*begin)).sum()
    }
}

#[derive(Debug)]
pub(super) struct Regions {
    clock: Clock,
    begun: BothClocks,
    point: u64,
    /// Where the stretches of a trajectory end; empty where all regions are at the point.
    stretch_ends: Vec<u64>,
    /// With ranges in readings of the clock.
    noted: Vec<Region>,
}

impl Regions {
    /// Of a cell at this point, which is the far end of its positions where it is a trajectory.
    pub fn new(clock: Clock, point: u64, is_trajectory: bool) -> Regions {
        let stretch_ends = if is_trajectory { stretch_ends(point) } else { Vec::new() };
        Regions { clock, begun: BothClocks::read(clock), point, stretch_ends, noted: Vec::new() }
    }

    /// Adds what was timed between two readings of the clock; `position` is absent for a figure at the point.
    pub fn add(
        &mut self,
        metric: &str,
        position: Option<u64>,
        (begin, end): (u64, u64),
        operations: u64,
    ) {
        let at = position.map_or(self.point, |position| self.stretch(position));
        let is_same = |region: &Region| region.position == at && region.metric == metric;
        let index = self.noted.iter().position(is_same).unwrap_or_else(|| {
            let metric = metric.to_owned();
            self.noted.push(Region { metric, position: at, operations: 0, ranges: Vec::new() });
            self.noted.len() - 1
        });
        let region = &mut self.noted[index];
        region.operations += operations;
        match region.ranges.last_mut() {
            Some(last) if begin >= last.1 && self.clock.ns(last.1, begin) <= PAUSE_NS_MAX => {
                last.1 = end;
            }
            _ => region.ranges.push((begin, end)),
        }
    }

    /// Adds operations to the regions of `metric` at the point.
    pub fn add_operations(&mut self, metric: &str, operations: u64) {
        let is_same = |region: &&mut Region| region.metric == metric;
        if let Some(region) = self.noted.iter_mut().find(is_same) {
            region.operations += operations;
        }
    }

    fn stretch(&self, position: u64) -> u64 {
        let ends = &self.stretch_ends;
        let index = ends.partition_point(|&end| end < position);
        ends.get(index).or(ends.last()).copied().unwrap_or(self.point)
    }

    /// All of them, in nanoseconds of `CLOCK_MONOTONIC`.
    pub fn finish(self) -> Vec<Region> {
        let ended = BothClocks::read(self.clock);
        let mut regions = self.noted;
        for region in &mut regions {
            for (begin, end) in &mut region.ranges {
                (*begin, *end) = (
                    self.begun.monotonic_ns(&ended, *begin),
                    self.begun.monotonic_ns(&ended, *end),
                );
            }
            // Processes that are timed side by side are not noted in order.
            region.ranges.sort_unstable();
        }
        regions
    }
}

#[derive(Clone, Copy, Debug)]
struct BothClocks {
    reading: u64,
    ns: u64,
}

impl BothClocks {
    fn read(clock: Clock) -> BothClocks {
        let mut closest = (u64::MAX, BothClocks { reading: 0, ns: 0 });
        for _ in 0..TRIES {
            let (before, ns, after) = (clock.now(), Clock::Monotonic.now(), clock.now());
            let apart = after.saturating_sub(before);
            if apart < closest.0 {
                closest = (apart, BothClocks { reading: before + apart / 2, ns });
            }
        }
        closest.1
    }

    /// A reading as `CLOCK_MONOTONIC`, by the rate of the clocks between this moment and a later one.
    fn monotonic_ns(&self, later: &BothClocks, reading: u64) -> u64 {
        let ticks = later.reading.saturating_sub(self.reading).max(1);
        let rate = later.ns.saturating_sub(self.ns) as f64 / ticks as f64;
        let since = reading.saturating_sub(self.reading);
        self.ns + (since as f64 * rate).round() as u64
    }
}

/// Where the stretches of a trajectory to `far` end: 1, 2, 5, 10, … as in tables, of which the last few, and
/// `far`. What is before them is in the first.
fn stretch_ends(far: u64) -> Vec<u64> {
    let decades = (0..).map_while(|power| 10_u64.checked_pow(power));
    let heads = decades.flat_map(|decade| [1, 2, 5].map(|head| decade.saturating_mul(head)));
    // One that is nearly at the far end is none of its own.
    let mut ends: Vec<u64> = heads.take_while(|&end| end <= far / 5 * 4).collect();
    ends.push(far);
    ends.drain(..ends.len().saturating_sub(STRETCHES_MAX));
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_end_at_the_positions_of_tables() {
        assert_eq!(stretch_ends(10_000), [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]);
        assert_eq!(stretch_ends(500), [2, 5, 10, 20, 50, 100, 200, 500]);
        assert_eq!(stretch_ends(1_100), [5, 10, 20, 50, 100, 200, 500, 1_100]);
        assert_eq!(stretch_ends(1), [1]);
        assert_eq!(stretch_ends(0), [0]);
        assert_eq!(stretch_ends(u64::MAX).last(), Some(&u64::MAX));
    }

    #[test]
    fn a_region_is_at_the_end_of_its_stretch() {
        let mut regions = Regions::new(Clock::Monotonic, 1_000, true);
        for position in [1, 5, 6, 501, 1_000] {
            regions.add("open", Some(position), (position * 1_000, position * 1_000 + 10), 1);
        }
        let stretches: Vec<(u64, u64)> =
            regions.noted.iter().map(|region| (region.position, region.operations)).collect();
        assert_eq!(stretches, [(5, 2), (10, 1), (1_000, 2)]);
        let mut regions = Regions::new(Clock::Monotonic, 7, false);
        regions.add("loop", None, (1, 2), 9);
        regions.add("loop", Some(3), (2_000, 2_001), 1);
        assert_eq!((regions.noted[0].position, regions.noted[0].operations), (7, 10));
    }

    #[test]
    fn regions_without_a_pause_are_one_range() {
        let mut regions = Regions::new(Clock::Monotonic, 1, false);
        for range in [(1_000, 1_500), (1_600, 2_000), (2_300, 2_400)] {
            regions.add("loop", None, range, 1);
        }
        assert_eq!(regions.noted[0].ranges, [(1_000, 2_000), (2_300, 2_400)]);
    }

    #[test]
    fn a_time_is_in_a_region_or_between_two_ranges_of_it() {
        let region = Region {
            metric: "loop".into(),
            position: 1,
            operations: 2,
            ranges: vec![(10, 20), (30, 45)],
        };
        let times = [9, 10, 20, 21, 29, 30, 45, 46];
        let inside = times.map(|time| region.meets(time, time));
        assert_eq!(inside, [false, true, true, false, false, true, true, false]);
        assert_eq!(region.elapsed_ns(), 25);
        assert!(region.meets(0, 10) && region.meets(21, 99) && !region.meets(21, 29));
    }

    #[test]
    fn a_wait_counts_where_it_was_timed_unless_the_thread_had_no_part_in_that() {
        let region = Region {
            metric: "loop".into(),
            position: 1,
            operations: 2,
            ranges: vec![(10, 20), (30, 45)],
        };
        let samples = |begin_ns: u64, end_ns| {
            let (first_ns, count) = (begin_ns + 1, end_ns - begin_ns);
            let wait = SampledWait { begin_ns, end_ns, first_ns, count, stack: Vec::new() };
            region.samples_of_wait(&wait, 1.0)
        };
        assert_eq!(samples(12, 15), 3);
        assert_eq!(samples(0, 15), 6);
        assert_eq!(samples(15, 35), 5 + 6, "over a pause");
        assert_eq!(samples(9, 21), 0, "before and after");
        assert_eq!(samples(9, 35), 6);
        assert_eq!(samples(21, 29), 0);
    }

    #[test]
    fn readings_become_the_time_of_the_kernel() {
        let clock = crate::calibrate().clock;
        let begun = BothClocks::read(clock);
        let (before, reading, after) =
            (Clock::Monotonic.now(), clock.now(), Clock::Monotonic.now());
        std::thread::sleep(std::time::Duration::from_millis(2));
        let ended = BothClocks::read(clock);
        let ns = begun.monotonic_ns(&ended, reading);
        // An interrupt between two readings makes them differ by what it took.
        assert!(ns + 20_000 > before && ns < after + 20_000, "{before} {ns} {after}");
    }
}
