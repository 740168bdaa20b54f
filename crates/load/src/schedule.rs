//! The intended times of requests: arithmetic of their number, and no clock.

use crate::plan::{Arrivals, Plan};

/// The intended times of one thread's share, in nanoseconds from the start of what counts; what is
/// due while the load warms up is before zero. The shares of all threads of all
/// processes together are the same schedule, however many there are.
#[derive(Debug)]
pub(crate) struct Schedule {
    law: Law,
    /// Seconds before zero at which the first may be.
    warm_up_s: f64,
    /// Every so many of them is this thread's.
    stride: u64,
    /// The number of the one after the next, over all threads.
    number: u64,
    /// How many are due before zero, over all threads; of random ones, as far as they are drawn.
    uncounted: u64,
    /// How many may be due from zero on, over all threads.
    counted_max: u64,
    end_ns: i64,
    next_ns: Option<i64>,
}

#[derive(Debug)]
enum Law {
    Constant { per_s: f64 },
    Poisson { per_s: f64, random: fastrand::Rng, drawn: u64, at_s: f64 },
    Ramp { from_per_s: f64, to_per_s: f64, duration_s: f64 },
}

impl Schedule {
    /// The share of this process's `thread`. With sessions, the requests of the plan are
    /// those of whole sessions.
    pub(crate) fn new(arrivals: Arrivals, plan: &Plan, thread: usize, each: u64) -> Schedule {
        let warm_up_s = plan.warm_up.as_secs_f64();
        let (law, warm_up_per_s) = match arrivals {
            Arrivals::Constant { per_s } => (Law::Constant { per_s }, per_s),
            Arrivals::Poisson { per_s } => {
                let random = fastrand::Rng::with_seed(plan.seed);
                (Law::Poisson { per_s, random, drawn: 0, at_s: 0.0 }, 0.0)
            }
            Arrivals::Ramp { from_per_s, to_per_s } => {
                let duration_s = plan.duration.unwrap_or_default().as_secs_f64();
                (Law::Ramp { from_per_s, to_per_s, duration_s }, from_per_s)
            }
        };
        let mut schedule = Schedule {
            law,
            warm_up_s,
            stride: plan.threads_of_all(),
            number: plan.thread_number(thread),
            uncounted: 0,
            counted_max: plan.requests.map_or(u64::MAX, |requests| requests.div_ceil(each)),
            end_ns: plan.duration.map_or(i64::MAX, |duration| duration.as_nanos() as i64),
            next_ns: None,
        };
        if warm_up_per_s > 0.0 {
            // Rounding decides of one that is due at zero.
            schedule.uncounted = ((warm_up_s * warm_up_per_s) as u64).saturating_sub(1);
            while schedule.at_ns(schedule.uncounted) < 0 {
                schedule.uncounted += 1;
            }
        }
        schedule.advance();
        schedule
    }

    /// The intended time of the next one; none when there is no more.
    #[inline]
    pub(crate) fn peek(&self) -> Option<i64> {
        self.next_ns
    }

    /// Goes on to the one after that.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let at_ns = self.at_ns(self.number);
        let is_counted = at_ns < 0 || self.number.saturating_sub(self.uncounted) < self.counted_max;
        self.next_ns = (at_ns < self.end_ns && is_counted).then_some(at_ns);
        self.number += self.stride;
    }

    /// When the one of this number is due, which of random ones is none that was drawn before.
    #[inline]
    fn at_ns(&mut self, number: u64) -> i64 {
        let warm_up_s = self.warm_up_s;
        // Beyond what 64 bits hold is beyond every end.
        let ns = |at_s: f64| (at_s * 1e9).round() as i64;
        match &mut self.law {
            Law::Constant { per_s } => ns(number as f64 / *per_s - warm_up_s),
            // Each gap follows from random numbers of its own, and the sum of all before it is needed.
            Law::Poisson { per_s, random, drawn, at_s } => loop {
                // 1 - [0, 1) is never zero, whose logarithm there is not.
                *at_s -= (1.0 - random.f64()).ln() / *per_s;
                let at_ns = ns(*at_s - warm_up_s);
                self.uncounted += u64::from(at_ns < 0);
                *drawn += 1;
                if *drawn > number {
                    return at_ns;
                }
            },
            Law::Ramp { from_per_s, to_per_s, duration_s } => {
                ns(ramp_s(number as f64, *from_per_s, *to_per_s, *duration_s, warm_up_s))
            }
        }
    }
}

/// When `k` requests have come of a rate that is `from` until zero, and `to` after `duration_s`:
/// from·t + (to - from)·t²/2·duration = k, solved so that no two large numbers are subtracted.
fn ramp_s(k: f64, from: f64, to: f64, duration_s: f64, warm_up_s: f64) -> f64 {
    let warming = from * warm_up_s;
    if k < warming {
        return k / from - warm_up_s;
    }
    let k = k - warming;
    let under_root = from * from + 2.0 * (to - from) * k / duration_s;
    if under_root < 0.0 {
        return f64::INFINITY;
    }
    let below = from + under_root.sqrt();
    if below == 0.0 { 0.0 } else { 2.0 * k / below }
}

#[cfg(test)]
mod tests;
