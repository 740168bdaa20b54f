//! The time that the CPUs of a guest had on those of its host, over all its boots.

/// Clock ticks by the guest's CPU, and of QEMU's other threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    /// Of earlier boots.
    pub cpus: Vec<u64>,
    pub rest: u64,
    /// The most that was seen of this boot.
    now: (Vec<u64>, u64),
}

impl Ticks {
    /// What the boot at hand has come to. Threads that ended leave nothing to read: what was seen before counts.
    pub(super) fn see(&mut self, cpus: &[u64], rest: u64) {
        let (seen, seen_rest) = &mut self.now;
        seen.resize(seen.len().max(cpus.len()), 0);
        seen.iter_mut().zip(cpus).for_each(|(seen, now)| *seen = (*seen).max(*now));
        *seen_rest = rest.max(*seen_rest);
    }

    /// Ends this boot.
    pub(super) fn add_up(&mut self) {
        *self = self.all();
    }

    pub(super) fn all(&self) -> Ticks {
        let (now, rest) = &self.now;
        let mut cpus = self.cpus.clone();
        cpus.resize(cpus.len().max(now.len()), 0);
        cpus.iter_mut().zip(now).for_each(|(sum, now)| *sum += now);
        Ticks { cpus, rest: self.rest + rest, now: Default::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_boot_that_ended_counts() {
        let mut ticks = Ticks::default();
        ticks.see(&[10, 20], 5);
        ticks.see(&[], 0);
        ticks.add_up();
        ticks.see(&[1, 2], 3);
        let all = ticks.all();
        assert_eq!((all.cpus.as_slice(), all.rest), (&[11, 22][..], 8));
        assert_eq!(all.all(), all);
    }
}
