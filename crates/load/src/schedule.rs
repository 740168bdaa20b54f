//! The intended times of requests: arithmetic of their number, and no clock.

use crate::plan::{Arrivals, Plan};

/// The intended times of one thread's share, in nanoseconds from the start of what counts; what is
/// due while the load warms up is before zero. The shares of all threads of all
/// processes together are the same schedule, however many there are.
#[derive(Debug)]
pub(crate) struct Schedule {
    times: Times,
    /// Every so many of them is this thread's.
    stride: u64,
    offset: u64,
    /// The number of the next one, over all threads.
    number: u64,
    /// Requests from zero on, over all threads.
    counted: u64,
    counted_max: u64,
    end_ns: i64,
    next_ns: Option<i64>,
}

impl Schedule {
    /// The share of this process's `thread`. With sessions, the requests of the plan are
    /// those of whole sessions.
    pub(crate) fn new(arrivals: Arrivals, plan: &Plan, thread: usize, each: u64) -> Schedule {
        let end_ns = plan.duration.map_or(i64::MAX, |duration| duration.as_nanos() as i64);
        let mut schedule = Schedule {
            times: Times::new(arrivals, plan),
            stride: plan.threads_of_all(),
            offset: plan.thread_number(thread),
            number: 0,
            counted: 0,
            counted_max: plan.requests.map_or(u64::MAX, |requests| requests.div_ceil(each)),
            end_ns,
            next_ns: None,
        };
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
        self.next_ns = loop {
            let at_ns = self.times.next_ns();
            if at_ns >= self.end_ns || (at_ns >= 0 && self.counted == self.counted_max) {
                break None;
            }
            self.counted += u64::from(at_ns >= 0);
            self.number += 1;
            if (self.number - 1) % self.stride == self.offset {
                break Some(at_ns);
            }
        };
    }
}

/// The times of all, one after the other.
#[derive(Debug)]
struct Times {
    number: u64,
    /// Seconds before zero at which the first may be.
    warm_up_s: f64,
    law: Law,
}

#[derive(Debug)]
enum Law {
    Constant { per_s: f64 },
    Poisson { per_s: f64, random: fastrand::Rng, at_s: f64 },
    Ramp { from_per_s: f64, to_per_s: f64, duration_s: f64 },
}

impl Times {
    fn new(arrivals: Arrivals, plan: &Plan) -> Times {
        let law = match arrivals {
            Arrivals::Constant { per_s } => Law::Constant { per_s },
            Arrivals::Poisson { per_s, seed } => {
                Law::Poisson { per_s, random: fastrand::Rng::with_seed(seed), at_s: 0.0 }
            }
            Arrivals::Ramp { from_per_s, to_per_s } => {
                let duration_s = plan.duration.unwrap_or_default().as_secs_f64();
                Law::Ramp { from_per_s, to_per_s, duration_s }
            }
        };
        Times { number: 0, warm_up_s: plan.warm_up.as_secs_f64(), law }
    }

    #[inline]
    fn next_ns(&mut self) -> i64 {
        let k = self.number as f64;
        self.number += 1;
        let at_s = match &mut self.law {
            Law::Constant { per_s } => k / *per_s - self.warm_up_s,
            Law::Poisson { per_s, random, at_s } => {
                // 1 - [0, 1) is never zero, whose logarithm there is not.
                *at_s -= (1.0 - random.f64()).ln() / *per_s;
                *at_s - self.warm_up_s
            }
            Law::Ramp { from_per_s, to_per_s, duration_s } => {
                ramp_s(k, *from_per_s, *to_per_s, *duration_s, self.warm_up_s)
            }
        };
        // Beyond what 64 bits hold is beyond every end.
        (at_s * 1e9).round() as i64
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
