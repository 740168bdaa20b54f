//! Arrivals at random, independent of each other: a Poisson process, drawn slot by slot.
//!
//! How many come in a slot of time is drawn by the number of the slot, and when each of them comes, uniformly, by its own
//! number. So every thread knows the numbers of its own ones without the times of all.

use super::Share;
use fastrand::Rng;

/// Arrivals of a slot, in the mean.
const MEAN: f64 = 64.0;

#[derive(Debug)]
pub(super) struct Slots {
    share: Share,
    seed: u64,
    slot_s: f64,
    cumulative_shares: Vec<f64>,
    warm_up_ns: i64,
    /// The next one; that from zero on has the number 0.
    slot: i64,
    /// Arrivals in the slots before it, and those of them that are due from zero on.
    drawn: u64,
    counted: u64,
    /// This thread's in the present slot, the last one first.
    due_ns: Vec<i64>,
}

impl Slots {
    pub(super) fn new(per_s: f64, seed: u64, warm_up_s: f64, share: Share) -> Slots {
        let slot_s = MEAN / per_s;
        Slots {
            share,
            seed,
            slot_s,
            cumulative_shares: cumulative_shares(),
            warm_up_ns: (warm_up_s * 1e9) as i64,
            slot: (-warm_up_s / slot_s).floor() as i64,
            drawn: 0,
            counted: 0,
            due_ns: Vec::new(),
        }
    }

    /// The next one of this thread's share.
    #[inline]
    pub(super) fn next_ns(&mut self) -> Option<i64> {
        loop {
            if let Some(at_ns) = self.due_ns.pop() {
                return Some(at_ns);
            }
            if self.counted == self.share.counted_max && self.slot >= 0 {
                return None;
            }
            self.draw();
        }
    }

    /// Draws this thread's share of the next slot.
    fn draw(&mut self) {
        let Share { stride, offset, counted_max } = self.share;
        let seed = self.seed.wrapping_add((self.slot as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let drawn = Rng::with_seed(seed).f64();
        let mut count = self.cumulative_shares.partition_point(|share| *share <= drawn) as u64;
        let (slot, slot_s) = (self.slot as f64, self.slot_s);
        let at_ns = |number: u64| {
            let seed = seed.wrapping_add((number + 1).wrapping_mul(0xd1b5_4a32_d192_ed03));
            // Rounded down: what comes in a slot before zero does not count.
            ((slot + Rng::with_seed(seed).f64()) * slot_s * 1e9).floor() as i64
        };
        let first = (offset + stride - self.drawn % stride) % stride;
        let own = |count: u64| (first..count).step_by(stride as usize);
        let left = if self.slot < 0 { u64::MAX } else { counted_max - self.counted };
        if count > left {
            // Only the first of all are due.
            let mut all: Vec<i64> = (0..count).map(at_ns).collect();
            all.sort_unstable();
            count = left;
            self.due_ns.extend(own(count).map(|number| all[number as usize]));
        } else {
            self.due_ns.extend(own(count).map(at_ns).filter(|at_ns| *at_ns >= -self.warm_up_ns));
        }
        self.due_ns.sort_unstable_by(|left, right| right.cmp(left));
        self.drawn += count;
        self.counted += if self.slot < 0 { 0 } else { count };
        self.slot += 1;
    }
}

/// The shares of slots with at most 0, 1, 2, … arrivals: the law of Poisson, as far as a number of 64 bits tells it from 1.
fn cumulative_shares() -> Vec<f64> {
    let (mut share, mut sum, mut all) = ((-MEAN).exp(), 0.0, Vec::new());
    while sum < 1.0 - f64::EPSILON && all.len() < 4 * MEAN as usize {
        sum += share;
        all.push(sum);
        share *= MEAN / all.len() as f64;
    }
    all
}
