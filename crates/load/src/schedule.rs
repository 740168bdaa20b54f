//! The intended times of requests: arithmetic of their number, or drawn, and no clock.

mod random;

use crate::plan::{Arrivals, Plan};
use random::Slots;

/// The intended times of one thread's share, in nanoseconds from the start of what counts; what is
/// due while the load warms up is before zero. The shares of all threads of all
/// processes together are the same schedule, however many there are, and each thread computes its own share only.
#[derive(Debug)]
pub(crate) struct Schedule {
    times: Times,
    end_ns: i64,
    next_ns: Option<i64>,
}

/// Which of all arrivals are a thread's, and how many of all may be due from zero on.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Every so many of them is, from this one on.
    stride: u64,
    offset: u64,
    counted_max: u64,
}

#[derive(Debug)]
enum Times {
    /// The number of the next one, and of the first that is none any more.
    Planned {
        rate: Rate,
        next: u64,
        end: u64,
        stride: u64,
    },
    Random(Slots),
}

impl Schedule {
    /// The share of this process's `thread`. With sessions, the requests of the plan are
    /// those of whole sessions.
    pub(crate) fn new(arrivals: Arrivals, plan: &Plan, thread: usize, each: u64) -> Schedule {
        let counted_max = plan.requests.map_or(u64::MAX, |requests| requests.div_ceil(each));
        let (stride, offset) = (plan.threads_of_all(), plan.thread_number(thread));
        let warm_up_s = plan.warm_up.as_secs_f64();
        let planned = |rate: Rate| {
            let end = rate.before_zero().saturating_add(counted_max);
            Times::Planned { rate, next: offset, end, stride }
        };
        let times = match arrivals {
            Arrivals::Constant { per_s } => planned(Rate { per_s, warm_up_s, ramp: None }),
            Arrivals::Ramp { from_per_s, to_per_s } => {
                let ramp = Some((to_per_s, plan.duration.unwrap_or_default().as_secs_f64()));
                planned(Rate { per_s: from_per_s, warm_up_s, ramp })
            }
            Arrivals::Poisson { per_s } => {
                let share = Share { stride, offset, counted_max };
                Times::Random(Slots::new(per_s, plan.seed, warm_up_s, share))
            }
        };
        let end_ns = plan.duration.map_or(i64::MAX, |duration| duration.as_nanos() as i64);
        let mut schedule = Schedule { times, end_ns, next_ns: None };
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
        let next_ns = match &mut self.times {
            Times::Planned { rate, next, end, stride } => {
                let number = *next;
                *next += *stride;
                (number < *end).then(|| rate.at_ns(number))
            }
            Times::Random(slots) => slots.next_ns(),
        };
        self.next_ns = next_ns.filter(|at_ns| *at_ns < self.end_ns);
    }
}

/// A rate that is `per_s` until zero, and then what a ramp leads to: a rate after so many seconds.
#[derive(Clone, Copy, Debug)]
struct Rate {
    per_s: f64,
    /// Seconds before zero at which the first is due.
    warm_up_s: f64,
    ramp: Option<(f64, f64)>,
}

impl Rate {
    /// When the one of this number is due. On a ramp, `k` have come since zero at the time t of
    /// from·t + (to - from)·t²/2·duration = k, solved so that no two large numbers are subtracted.
    #[inline]
    fn at_ns(self, number: u64) -> i64 {
        let Rate { per_s: from, warm_up_s, ramp } = self;
        let (number, warming) = (number as f64, from * warm_up_s);
        let at_s = match ramp {
            Some((to, duration_s)) if number >= warming => {
                let k = number - warming;
                let under_root = from * from + 2.0 * (to - from) * k / duration_s;
                let below = from + under_root.sqrt();
                match below {
                    _ if under_root < 0.0 => f64::INFINITY,
                    0.0 => 0.0,
                    _ => 2.0 * k / below,
                }
            }
            _ => number / from - warm_up_s,
        };
        // Beyond what 64 bits hold is beyond every end.
        (at_s * 1e9).round() as i64
    }

    fn before_zero(self) -> u64 {
        // Rounding decides of one that is due at zero.
        let mut count = ((self.warm_up_s * self.per_s) as u64).saturating_sub(1);
        while self.at_ns(count) < 0 {
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests;
