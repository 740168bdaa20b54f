//! The processes that had the CPUs, and for how long: where a thread that could run has none, they were busy with its own
//! processes or with others, or idle.

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
    /// When it was seen first.
    seen_ns: u64,
    /// When each turn ended of the last [`KEPT_NS`], and what the CPU had been busy before it.
    turns: VecDeque<(u64, Busy)>,
    /// When followed processes had it last.
    own_ns: Option<u64>,
}

impl Cpu {
    fn switched(&mut self, time_ns: u64, had: Holder, has: Holder) {
        let since_ns = std::mem::replace(&mut self.switched_ns, time_ns);
        self.holder = has;
        if since_ns == 0 {
            self.seen_ns = time_ns;
        }
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

    /// A CPU has this owner, whoever was seen to get it.
    pub fn resumed(&mut self, cpu: u32, time_ns: u64, has: Holder) {
        let cpu = self.0.entry(cpu).or_default();
        if cpu.holder != has {
            cpu.switched(time_ns, cpu.holder, has);
        }
    }

    /// What had a CPU while a thread could run, until that got it now. Followed processes had it where they did for most of
    /// that time, and next to nothing of the CPUs that they use was busy with others; it was idle for most of that time
    /// where it is known to have been.
    pub fn kept_by(&self, cpu: u32, since_ns: u64, now_ns: u64) -> Holder {
        let is_known = |cpu: &&Cpu| cpu.seen_ns <= since_ns && since_ns + KEPT_NS >= now_ns;
        let busy = self.0.get(&cpu).filter(is_known).map(|cpu| cpu.busy(since_ns, now_ns));
        let Some(Busy { own_ns, others_ns }) = busy else { return Holder::Other };
        let waited_ns = now_ns.saturating_sub(since_ns);
        if (own_ns + others_ns) * 2 < waited_ns {
            return Holder::Idle;
        }
        let used = self.0.values().filter(|cpu| cpu.is_used(now_ns));
        let (mut all_ns, mut all_others_ns) = (0, 0);
        for Busy { own_ns, others_ns } in used.map(|cpu| cpu.busy(since_ns, now_ns)) {
            all_ns += own_ns + others_ns;
            all_others_ns += others_ns;
        }
        let is_own = own_ns * 2 >= waited_ns && all_others_ns * OTHERS_PART < all_ns;
        if is_own { Holder::Followed } else { Holder::Other }
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
        let kept = [(100, 200), (550, 700), (540, 1_000), (400, 520), (400, 600)];
        let kept = kept.map(|(since, now)| cpus.kept_by(7, since, now));
        assert_eq!(kept, [Other, Followed, Followed, Idle, Other]);
        assert_eq!(cpus.kept_by(9, 550, 700), Other, "an unknown CPU");
        assert_eq!(cpus.kept_by(7, 50, 550), Other, "since before it was seen");
        assert_eq!(cpus.kept_by(7, 540, 541 + KEPT_NS), Other, "and for longer than is known");
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
        assert_eq!(cpus.kept_by(1, 110, 200), Followed, "no followed process uses the third");
        assert_eq!(cpus.kept_by(1, 200, 500), Other, "it would have run on the first");
        cpus.switched(0, 201 + KEPT_NS, Other, Other);
        cpus.switched(1, 500 + KEPT_NS, Followed, Followed);
        let later = cpus.kept_by(1, 202 + KEPT_NS, 500 + KEPT_NS);
        assert_eq!(later, Followed, "they do not use it any more");
    }
}
