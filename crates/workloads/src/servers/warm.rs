//! Warms a server up: the first replies of one that compiles while it runs, fills caches or starts threads say nothing of
//! those that come later.

use crate::servers::drivers::Running;
use crate::servers::served::FILE;
use engine::{Fact, Probe, server_facts};
use load::{Plan, Tick};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What the replies are counted in.
const TICK: Duration = Duration::from_millis(25);
/// The first look at whether the rate is level, for a server of knee's and for one of the user's own, which may compile while
/// it runs. Each further one is after twice the time.
const TICKS_MIN: usize = 4;
const TICKS_MIN_OWN: usize = 8;
/// A rate is level that rises by less from the second quarter of the time to the second half.
const RISE_MAX: f64 = 1.05;
/// Connections that ask: enough that a server of a few threads is not idle, and few enough for one of a few workers.
const CONNECTIONS: usize = 4;

/// The replies of each tick while a server warms up.
#[derive(Debug, Default)]
struct Ticks {
    replies: Vec<u64>,
    /// Ticks before the first look.
    min: usize,
}

impl Ticks {
    /// Takes one, and returns whether it is time to end: the rate is level, or there is none.
    fn take(&mut self, tick: &Tick) -> bool {
        self.replies.push(tick.replies);
        let count = self.replies.len();
        let is_look = count >= self.min && count.is_power_of_two();
        is_look && (!self.is_rising() || self.replies.iter().all(|&replies| replies == 0))
    }

    /// Whether the rate rises from the second quarter to the second half, by more than chance: replies are counted, and counts
    /// scatter by their square root.
    fn is_rising(&self) -> bool {
        let (quarter, half) = (self.replies.len() / 4, self.replies.len() / 2);
        let [early, late] = [&self.replies[quarter..half], &self.replies[half..]];
        let [before, after] = [early, late].map(|part| part.iter().sum::<u64>() as f64);
        let scale = late.len() as f64 / early.len().max(1) as f64;
        let scatter = (after + before * scale * scale).sqrt();
        after > RISE_MAX * scale * before + 2.0 * scatter
    }

    /// Replies a second at first, and in the end.
    fn rates(&self) -> (f64, f64) {
        let per_s = |ticks: &[u64]| mean(ticks) / TICK.as_secs_f64();
        let all = &self.replies;
        (per_s(&all[..TICKS_MIN.min(all.len())]), per_s(&all[all.len() / 2..]))
    }
}

fn mean(replies: &[u64]) -> f64 {
    replies.iter().sum::<u64>() as f64 / replies.len().max(1) as f64
}

/// Asks a server until its rate is level, and no longer than `time_max`; states how it came to that, and keeps the rate of a
/// server of the user's own that has just started as the metric `cold`, if the workload `has_cold`.
pub(crate) fn warm_up(
    server: &Running,
    cpus: &[usize],
    time_max: Duration,
    has_cold: bool,
    probe: &mut Probe,
) {
    let plan = Plan {
        connections: CONNECTIONS,
        duration: Some(time_max),
        timeout: time_max,
        pin: cpus.into(),
        interval: TICK,
        ..Plan::new(server.target(FILE))
    };
    let min = if server.is_own() { TICKS_MIN_OWN } else { TICKS_MIN };
    let (mut ticks, stop) = (Ticks { min, ..Ticks::default() }, AtomicBool::new(false));
    let mut watch = |tick: &Tick| {
        if ticks.take(tick) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    // What can't be asked is said by what is measured next.
    let outcome = load::run(&plan, &stop, Some(&mut watch));
    if outcome.is_err() || ticks.replies.len() < min {
        return;
    }
    let (cold_per_s, warm_per_s) = ticks.rates();
    if has_cold && server.is_own() && server.is_started() {
        probe.given("cold", &[cold_per_s], 1);
    }
    if ticks.replies.len() > min {
        let took_s = ticks.replies.len() as f64 * TICK.as_secs_f64();
        probe.fact(server_facts::WARM_UP_S, Fact::rounded(took_s, 2));
        probe.fact(server_facts::COLD_PER_S, Fact::rounded(cold_per_s, 0));
        probe.fact(server_facts::WARM_PER_S, Fact::rounded(warm_per_s, 0));
        if ticks.is_rising() {
            probe.fact(server_facts::IS_RISING, 1_u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many ticks pass of such rates, and whether it is still rising then.
    fn ended(rate: impl Fn(usize) -> u64, ticks_max: usize) -> (usize, bool) {
        let mut ticks = Ticks { min: 8, ..Ticks::default() };
        let tick = |number| Tick { replies: rate(number), ..Tick::default() };
        let end = (0..ticks_max).position(|number| ticks.take(&tick(number)));
        (end.map_or(ticks_max, |number| number + 1), ticks.is_rising())
    }

    #[test]
    fn it_ends_where_the_rate_is_level_and_not_before() {
        assert_eq!(ended(|_| 500, 200), (8, false));
        assert_eq!(ended(|number| if number == 0 { 10 } else { 500 }, 200), (8, false));
        // Full speed after 40 ticks: the look at 64 still has some of the rise in its first half.
        assert_eq!(ended(|number| 100 + 20 * number.min(40) as u64, 400), (128, false));
        assert_eq!(ended(|number| 100 + 20 * number as u64, 200), (200, true));
        assert_eq!(ended(|_| 0, 200), (8, false));
        // A few replies in each: chance alone.
        assert_eq!(ended(|number| [1, 2, 3, 2][number % 4], 400).0, 8);
    }
}
