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
/// The first look at whether the rate is level. Each further one is after twice the time.
const TICKS_MIN: usize = 4;
/// A server of the user's own may compile while it runs: its rate is level at first too, until code has run often enough.
/// `HotSpot`'s last compiler waits for 15,000 calls (`Tier4CompileThreshold`), V8's for fewer.
const REPLIES_MIN_OWN: u64 = 15_000;
/// A server that is too slow for so many is looked at after this time, 1.6 s.
const TICKS_ENOUGH: usize = 64;
/// A rate is level that rises by less from the second quarter of the time to the second half.
const RISE_MAX: f64 = 1.05;
/// A tick is warm whose replies are by less than this below those in the end.
const WARM_PART: f64 = 1.1;
/// Connections that ask: enough that a server of a few threads is not idle, and few enough for one of a few workers.
const CONNECTIONS: usize = 4;

/// The replies of each tick while a server warms up.
#[derive(Debug, Default)]
struct Ticks {
    replies: Vec<u64>,
    /// Replies before the first look, unless it takes too long.
    replies_min: u64,
}

impl Ticks {
    /// Takes one, and returns whether it is time to end: the rate is level, or there is none.
    fn take(&mut self, tick: &Tick) -> bool {
        self.replies.push(tick.replies);
        let count = self.replies.len();
        let total: u64 = self.replies.iter().sum();
        let is_look = count >= TICKS_MIN && count.is_power_of_two();
        let is_enough = total >= self.replies_min || count >= TICKS_ENOUGH || total == 0;
        is_look && is_enough && (total == 0 || !self.is_rising())
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

    /// The time until a tick's replies came near those in the end.
    fn risen_s(&self) -> f64 {
        let level_min = mean(&self.replies[self.replies.len() / 2..]) / WARM_PART;
        let risen = self.replies.iter().position(|&replies| replies as f64 >= level_min);
        risen.unwrap_or(self.replies.len()) as f64 * TICK.as_secs_f64()
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
    let replies_min = if server.is_own() { REPLIES_MIN_OWN } else { 0 };
    let (mut ticks, stop) = (Ticks { replies_min, ..Ticks::default() }, AtomicBool::new(false));
    let mut watch = |tick: &Tick| {
        if ticks.take(tick) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    // A server that can't be asked shows in the cell that is measured next.
    let outcome = load::run(&plan, &stop, Some(&mut watch));
    if outcome.is_err() || ticks.replies.len() < TICKS_MIN {
        return;
    }
    let (cold_per_s, warm_per_s) = ticks.rates();
    if has_cold && server.is_own() && server.is_started() {
        probe.given("cold", &[cold_per_s], 1);
    }
    if ticks.replies.len() > TICKS_MIN {
        probe.fact(server_facts::WARM_UP_S, Fact::rounded(ticks.risen_s(), 2));
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

    /// The ticks of such rates, until it is enough.
    fn taken(rate: impl Fn(usize) -> u64, ticks_max: usize) -> Ticks {
        let mut ticks = Ticks { replies_min: REPLIES_MIN_OWN, ..Ticks::default() };
        let tick = |number| Tick { replies: rate(number), ..Tick::default() };
        (0..ticks_max).any(|number| ticks.take(&tick(number)));
        ticks
    }

    /// How many ticks pass of such rates, and whether it is still rising then.
    fn ended(rate: impl Fn(usize) -> u64, ticks_max: usize) -> (usize, bool) {
        let ticks = taken(rate, ticks_max);
        (ticks.replies.len(), ticks.is_rising())
    }

    #[test]
    fn it_ends_where_the_rate_is_level_and_not_before() {
        assert_eq!(ended(|_| 5_000, 200), (4, false));
        assert_eq!(ended(|_| 500, 200), (32, false));
        assert_eq!(ended(|number| if number == 0 { 10 } else { 500 }, 200), (32, false));
        // Full speed after 40 ticks: the look at 64 still has some of the rise in its first half.
        assert_eq!(ended(|number| 100 + 20 * number.min(40) as u64, 400), (128, false));
        assert_eq!(ended(|number| 100 + 20 * number as u64, 200), (200, true));
        assert_eq!(ended(|_| 0, 200), (4, false));
        // A few replies in each: chance alone.
        assert_eq!(ended(|number| [1, 2, 3, 2][number % 4], 400).0, 64);
    }

    /// As Node's http was seen to do it: level while its code is interpreted, then eight times as fast.
    #[test]
    fn a_server_that_has_not_compiled_yet_is_not_level() {
        let rate = |number| match number {
            0..=12 => 150,
            13..=25 => 150 + 85 * (number as u64 - 12),
            _ => 1_250,
        };
        let ticks = taken(rate, 400);
        assert_eq!((ticks.replies.len(), ticks.is_rising()), (128, false));
        assert!((ticks.risen_s() - 0.6).abs() < 1e-9);
        let (cold_per_s, warm_per_s) = ticks.rates();
        assert_eq!((cold_per_s.round(), warm_per_s.round()), (6_000.0, 50_000.0));
    }
}
