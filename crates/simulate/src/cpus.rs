//! The CPUs and their queues, as Linux has them: a queue for each, out of which the thread comes next
//! that has had the least.
//!
//! A queue of its own for each CPU is what makes a lock's waiters wait for each other's slices: who is
//! behind a thread on the same CPU can't run elsewhere. One queue for all would be fairer than Linux is.

use std::collections::BTreeSet;

/// A set of CPUs that finds its members fast, however many there are.
#[derive(Clone, Debug)]
pub struct CpuSet {
    words: Vec<u64>,
    count: usize,
}

impl CpuSet {
    fn new(cpus: u32) -> CpuSet {
        CpuSet { words: vec![0; (cpus as usize).div_ceil(64)], count: 0 }
    }

    pub fn has(&self, cpu: u32) -> bool {
        self.words[cpu as usize / 64] >> (cpu % 64) & 1 == 1
    }

    fn set(&mut self, cpu: u32, is_in: bool) {
        if self.has(cpu) == is_in {
            return;
        }
        self.words[cpu as usize / 64] ^= 1 << (cpu % 64);
        self.count = if is_in { self.count + 1 } else { self.count - 1 };
    }

    /// All of them, in order.
    fn all(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros();
                left &= left - 1;
                Some(index as u32 * 64 + bit)
            })
        })
    }

    /// The nearest from `cpu` on, and round to it.
    pub fn nearest(&self, cpu: u32) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let words = self.words.len();
        let (first, bit) = (cpu as usize / 64, cpu % 64);
        let lowest_bit = |index: usize, word: u64| {
            (word != 0).then(|| index as u32 * 64 + word.trailing_zeros())
        };
        lowest_bit(first, self.words[first] & (u64::MAX << bit)).or_else(|| {
            let following = (1..=words).map(|step| (first + step) % words);
            following.into_iter().find_map(|index| lowest_bit(index, self.words[index]))
        })
    }
}

/// One CPU.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// The thread on it.
    pub running: Option<u32>,
    /// When that thread was put on it.
    pub picked_ns: u64,
    /// Raised with each thread that is put on it.
    pub stamp: u32,
    /// Those that could run, by what they have had.
    queue: BTreeSet<(u64, u32)>,
    /// What the one has had that has had the least; it only grows.
    pub floor_ns: u64,
    /// Up to when the time is counted in which it had nothing to run.
    pub idle_from_ns: u64,
}

impl Cpu {
    /// How many threads want it.
    fn load(&self) -> usize {
        self.queue.len() + usize::from(self.running.is_some())
    }

    /// What the first in its queue has had.
    pub fn least_ns(&self) -> Option<u64> {
        self.queue.first().map(|(had_ns, _)| *had_ns)
    }
}

/// All CPUs.
#[derive(Clone, Debug)]
pub struct Cpus {
    all: Vec<Cpu>,
    /// Those that run nothing.
    pub idle: CpuSet,
    /// Those in whose queue somebody waits.
    queued: CpuSet,
}

impl Cpus {
    pub fn new(cpus: u32) -> Cpus {
        let mut idle = CpuSet::new(cpus);
        (0..cpus).for_each(|cpu| idle.set(cpu, true));
        Cpus { all: vec![Cpu::default(); cpus as usize], idle, queued: CpuSet::new(cpus) }
    }

    pub fn get(&mut self, cpu: u32) -> &mut Cpu {
        &mut self.all[cpu as usize]
    }

    /// Puts `thread` on `cpu`, or none.
    pub fn run(&mut self, cpu: u32, thread: Option<u32>) {
        self.get(cpu).running = thread;
        self.idle.set(cpu, thread.is_none());
    }

    /// Puts a thread that has had `had_ns` into the queue of `cpu`.
    pub fn queue(&mut self, cpu: u32, thread: u32, had_ns: u64) {
        self.get(cpu).queue.insert((had_ns, thread));
        self.queued.set(cpu, true);
    }

    /// Takes the thread out of the queue of `cpu` that comes next there.
    pub fn next(&mut self, cpu: u32) -> Option<u32> {
        let entry = self.get(cpu);
        let (had_ns, thread) = entry.queue.pop_first()?;
        entry.floor_ns = entry.floor_ns.max(had_ns);
        let is_left = !entry.queue.is_empty();
        self.queued.set(cpu, is_left);
        Some(thread)
    }

    /// The CPU with the longest queue, where there is one at all.
    pub fn busiest(&self) -> Option<u32> {
        if self.queued.count == 0 {
            return None;
        }
        self.queued.all().max_by_key(|&cpu| (self.all[cpu as usize].load(), std::cmp::Reverse(cpu)))
    }

    /// Two CPUs of which one has two threads or more above the other's, the busier one first.
    pub fn uneven(&self) -> Option<(u32, u32)> {
        let most_loaded = self.busiest()?;
        let loads = self.all.iter().enumerate().map(|(index, cpu)| (cpu.load(), index as u32));
        let (least_load, least_loaded) = loads.min()?;
        (self.all[most_loaded as usize].load() >= least_load + 2)
            .then_some((most_loaded, least_loaded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_idle_cpu_is_found_all_the_way_round() {
        let mut set = CpuSet::new(130);
        assert_eq!(set.nearest(7), None);
        for cpu in [3, 64, 129] {
            set.set(cpu, true);
        }
        let nearest = |cpu| set.nearest(cpu);
        assert_eq!([0, 3, 4, 64, 65, 129].map(nearest), [3, 3, 64, 64, 129, 129].map(Some));
        set.set(129, false);
        assert_eq!(set.nearest(65), Some(3));
        assert_eq!(set.all().collect::<Vec<u32>>(), [3, 64]);
    }

    #[test]
    fn who_has_had_the_least_comes_next() {
        let mut cpus = Cpus::new(2);
        for (thread, had_ns) in [(1, 30), (2, 10), (3, 20)] {
            cpus.queue(0, thread, had_ns);
        }
        assert_eq!(cpus.uneven(), Some((0, 1)));
        assert_eq!([cpus.next(0), cpus.next(0)], [Some(2), Some(3)]);
        assert_eq!(cpus.uneven(), None);
        assert_eq!([cpus.next(0), cpus.next(0)], [Some(1), None]);
        assert_eq!(cpus.busiest(), None);
    }
}
