//! The processes that had the CPUs, and for how long: a thread that could run has none because of its own processes, or of others.

use std::collections::{HashMap, VecDeque};

/// Few threads wait for a CPU for longer than this.
const KEPT_NS: u64 = 1_000_000_000;
/// From this part of the time on that CPUs are busy, other processes are why there is none.
const OTHERS_PART: u64 = 4;

/// The owner of a CPU at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Holder {
    /// The kernel, which has nothing to do.
    #[default]
    Idle,
    /// A followed process.
    Followed,
    /// Another one, or the kernel for itself.
    Other,
}

/// How long a CPU was busy with followed processes, and with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Busy {
    own_ns: u64,
    others_ns: u64,
}

impl Busy {
    fn add(&mut self, holder: Holder, time_ns: u64) {
        match holder {
            Holder::Idle => {}
            Holder::Followed => self.own_ns += time_ns,
            Holder::Other => self.others_ns += time_ns,
        }
    }
}

#[derive(Default)]
struct Cpu {
    /// Its owner, and since when.
    holder: Holder,
    switched_ns: u64,
    /// Until then.
    busy: Busy,
    /// When each turn ended of the last [`KEPT_NS`], and what the CPU had been busy before it.
    turns: VecDeque<(u64, Busy)>,
    /// When followed processes had it last.
    own_ns: Option<u64>,
}

impl Cpu {
    fn switched(&mut self, time_ns: u64, had: Holder, has: Holder) {
        let since_ns = std::mem::replace(&mut self.switched_ns, time_ns);
        self.holder = has;
        if had != Holder::Idle && since_ns > 0 {
            self.turns.push_back((time_ns, self.busy));
            self.busy.add(had, time_ns.saturating_sub(since_ns));
        }
        if had == Holder::Followed {
            self.own_ns = Some(time_ns);
        }
        while self.turns.front().is_some_and(|&(until_ns, _)| until_ns + KEPT_NS < time_ns) {
            self.turns.pop_front();
        }
    }

    /// Between two times; the second is that of the last record.
    fn busy(&self, since_ns: u64, now_ns: u64) -> Busy {
        let mut busy = Busy::default();
        let first = self.turns.partition_point(|&(until_ns, _)| until_ns <= since_ns);
        if let Some(&(until_ns, before)) = self.turns.get(first) {
            let after = self.turns.get(first + 1).map_or(self.busy, |(_, before)| *before);
            // The part of the first turn after that time.
            let rest_ns = until_ns - since_ns;
            let rest = |before: u64, after: u64| (after - before).min(rest_ns);
            busy.own_ns = self.busy.own_ns - after.own_ns + rest(before.own_ns, after.own_ns);
            busy.others_ns =
                self.busy.others_ns - after.others_ns + rest(before.others_ns, after.others_ns);
        }
        busy.add(self.holder, now_ns.saturating_sub(self.switched_ns.max(since_ns)));
        busy
    }

    /// Whether followed processes run there.
    fn is_used(&self, now_ns: u64) -> bool {
        let is_late = |own_ns: u64| own_ns + KEPT_NS >= now_ns;
        self.holder == Holder::Followed || self.own_ns.is_some_and(is_late)
    }
}

#[derive(Default)]
pub(super) struct Cpus(HashMap<u32, Cpu>);

impl Cpus {
    /// A CPU goes from one to another. The new owner is known less surely than the old one.
    pub fn switched(&mut self, cpu: u32, time_ns: u64, had: Holder, has: Holder) {
        self.0.entry(cpu).or_default().switched(time_ns, had, has);
    }

    /// Whether followed processes are why a thread that could run did not from then on until it got this CPU now: they had
    /// this one for most of that time, and next to nothing of the CPUs that they use was busy with others.
    pub fn are_own(&self, cpu: u32, since_ns: u64, now_ns: u64) -> bool {
        let own = self.0.get(&cpu).map_or(0, |cpu| cpu.busy(since_ns, now_ns).own_ns);
        let used = self.0.values().filter(|cpu| cpu.is_used(now_ns));
        let (mut all_ns, mut others_ns) = (0, 0);
        for Busy { own_ns, others_ns: of_others_ns } in used.map(|cpu| cpu.busy(since_ns, now_ns)) {
            all_ns += own_ns + of_others_ns;
            others_ns += of_others_ns;
        }
        own * 2 >= now_ns.saturating_sub(since_ns) && others_ns * OTHERS_PART < all_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Holder::{Followed, Idle, Other};

    #[test]
    fn a_cpu_is_own_where_followed_processes_had_it_for_most_of_a_time() {
        let mut cpus = Cpus::default();
        for (time_ns, had, has) in [
            (100, Followed, Followed),
            (200, Followed, Other),
            (300, Other, Followed),
            (400, Followed, Idle),
            (500, Idle, Other),
            (550, Other, Followed),
        ] {
            cpus.switched(7, time_ns, had, has);
        }
        let busy = |since_ns, now_ns| {
            let Busy { own_ns, others_ns } = cpus.0[&7].busy(since_ns, now_ns);
            (own_ns, others_ns)
        };
        assert_eq!([busy(100, 550), busy(150, 550)], [(200, 150), (150, 150)]);
        assert_eq!([busy(250, 550), busy(350, 600)], [(100, 100), (100, 50)]);
        assert_eq!(busy(540, 1_000), (450, 10), "it has it still");
        let own = [(100, 200), (550, 700), (540, 1_000), (400, 600)];
        assert_eq!(own.map(|(since, now)| cpus.are_own(7, since, now)), [false, true, true, false]);
        assert!(!cpus.are_own(9, 550, 700), "an unknown CPU");
    }

    #[test]
    fn a_cpu_that_others_keep_is_why_a_thread_waits_for_the_next_one() {
        let mut cpus = Cpus::default();
        for (cpu, time_ns, had, has) in [
            (1, 100, Idle, Followed),
            (0, 100, Idle, Followed),
            (0, 200, Followed, Other),
            (2, 100, Idle, Other),
            (1, 500, Followed, Followed),
        ] {
            cpus.switched(cpu, time_ns, had, has);
        }
        assert!(cpus.are_own(1, 110, 200), "no followed process uses the third");
        assert!(!cpus.are_own(1, 200, 500), "it would have run on the first");
        cpus.switched(0, 201 + KEPT_NS, Other, Other);
        cpus.switched(1, 500 + KEPT_NS, Followed, Followed);
        assert!(cpus.are_own(1, 202 + KEPT_NS, 500 + KEPT_NS), "they do not use it any more");
    }
}
