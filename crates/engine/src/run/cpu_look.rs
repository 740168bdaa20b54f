//! A look at what the kernel counts of the CPUs: two of them, at both ends of a session, say what used them.

use super::cgroup::{CpuQuota, cpu_quotas};
use model::{CpuUse, Throttling};
use std::path::Path;
use sys::proc::{CpuTicks, descendants};

/// What the kernel has counted until one moment.
#[derive(Clone, Debug, Default)]
pub struct CpuLook {
    ticks: Option<CpuTicks>,
    own_ns: Option<u64>,
    quotas: Vec<CpuQuota>,
}

impl CpuLook {
    /// This moment, where a run is this process, all that it started, and what has used `more_ns` until now: a server that
    /// ran before. It is none where that can't be seen.
    pub fn now(more_ns: Option<u64>) -> CpuLook {
        CpuLook {
            ticks: CpuTicks::read(Path::new("/proc")),
            own_ns: more_ns.map(|more_ns| more_ns + own_ns()),
            quotas: cpu_quotas(Path::new("/")).unwrap_or_default(),
        }
    }

    /// What used the CPUs since `before`.
    pub fn since(&self, before: &CpuLook) -> CpuUse {
        let ticks = before.ticks.zip(self.ticks);
        let spent = |count: fn(&CpuTicks) -> u64| {
            ticks.map_or(0, |(before, now)| count(&now).saturating_sub(count(&before)))
        };
        let own_ns = before.own_ns.zip(self.own_ns);
        CpuUse {
            total_ticks: spent(|ticks| ticks.total),
            idle_ticks: spent(|ticks| ticks.idle),
            steal_ticks: spent(|ticks| ticks.steal),
            own_ns: own_ns.map(|(before, now)| now.saturating_sub(before)),
            throttling: self.throttling_since(before),
        }
    }

    /// What the quota did that stopped the run most.
    fn throttling_since(&self, before: &CpuLook) -> Option<Throttling> {
        let each = self.quotas.iter().filter_map(|quota| {
            let earlier = before.quotas.iter().find(|old| old.directory == quota.directory)?;
            Some(quota.throttling?.since(&earlier.throttling?))
        });
        each.max_by_key(|throttling| throttling.throttled_periods)
    }
}

/// The CPU time of this process and of all that it started, those that have ended included, in nanoseconds.
fn own_ns() -> u64 {
    let own = std::process::id();
    let all = descendants(own, usize::MAX).into_iter().chain([own]);
    all.filter_map(|pid| sys::cputime::cpu_ns_with_ended(pid.cast_signed()).ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::TICK_NS;
    use proptest::prelude::*;

    /// A machine of so many CPUs, by what its counters show: all of it in nanoseconds.
    #[derive(Clone, Copy, Debug, Default)]
    struct Counters {
        wall_ns: u64,
        cpus: u64,
        own_ns: u64,
        others_ns: u64,
        steal_ns: u64,
    }

    impl Counters {
        /// After `wall_ns` in which each of the sides spins for a part of its CPU, as long as the CPUs suffice.
        fn after(mut self, wall_ns: u64, [own, foreign, steal]: [f64; 3]) -> Counters {
            let all = (self.cpus * wall_ns) as f64;
            let part = |share: f64| (all * share) as u64;
            self.wall_ns += wall_ns;
            self.own_ns += part(own);
            self.others_ns += part(foreign);
            self.steal_ns += part(steal);
            self
        }

        /// As the kernel shows them: whole ticks.
        fn look(&self) -> CpuLook {
            let total_ns = self.cpus * self.wall_ns;
            let idle_ns = total_ns - self.own_ns - self.others_ns - self.steal_ns;
            let [total, idle, steal] = [total_ns, idle_ns, self.steal_ns].map(|ns| ns / TICK_NS);
            let ticks = Some(CpuTicks { idle, steal, total });
            CpuLook { ticks, own_ns: Some(self.own_ns), quotas: Vec::new() }
        }
    }

    /// The difference of each of the three counts of ticks is off by less than one.
    const ROUNDED_TICKS: f64 = 3.0;

    proptest! {
        #[test]
        fn what_both_sides_of_a_pair_use_is_not_others(
            cpus in 1u64..256,
            wall_ms in 1u64..10_000_000,
            sides in (0.0..0.5, 0.0..0.5),
            busy_before in 0.0..1.0,
        ) {
            let booted = Counters { cpus, ..Counters::default() };
            let before = booted.after(1_234_567_890, [0.0, busy_before, 0.0]);
            let after = before.after(wall_ms * 1_000_000, [sides.0 + sides.1, 0.0, 0.0]);
            let used = after.look().since(&before.look());
            let resolution = ROUNDED_TICKS / used.total_ticks.max(1) as f64;
            prop_assert!(used.others_share().unwrap_or(0.0) <= resolution, "{used:?}");
        }

        #[test]
        fn what_others_use_is_their_share(
            cpus in 1u64..256,
            wall_ms in 1_000u64..10_000_000,
            shares in (0.0..0.3, 0.0..0.3, 0.0..0.3),
        ) {
            let (own, foreign, steal) = shares;
            let booted = Counters { cpus, ..Counters::default() };
            let after = booted.after(wall_ms * 1_000_000, [own, foreign, steal]);
            let used = after.look().since(&booted.look());
            let resolution = ROUNDED_TICKS / used.total_ticks as f64;
            prop_assert!((used.others_share().unwrap() - foreign).abs() <= resolution, "{used:?}");
            prop_assert!((used.steal_share().unwrap() - steal).abs() <= resolution, "{used:?}");
        }

        #[test]
        fn a_busy_pause_changes_nothing(
            cpus in 1u64..256,
            sessions in prop::collection::vec((1_000u64..100_000, 0.0..0.5, 0.0..0.5), 1..4),
            pause_ms in 0u64..1_000_000,
        ) {
            let whole = |pause_ms: u64| {
                let mut machine = Counters { cpus, ..Counters::default() };
                let mut sum = CpuUse { own_ns: Some(0), ..CpuUse::default() };
                for &(wall_ms, own, foreign) in &sessions {
                    // Whole ticks, so that both are rounded alike; and another process has knee's number by then.
                    machine = Counters { own_ns: 0, others_ns: 0, wall_ns: 0, ..machine };
                    let before = machine.after(10 * pause_ms * 1_000_000, [0.0, 1.0, 0.0]);
                    let after = before.after(10 * wall_ms * 1_000_000, [own, foreign, 0.0]);
                    sum = sum.plus(&after.look().since(&before.look()));
                }
                sum
            };
            prop_assert_eq!(whole(pause_ms), whole(0));
        }
    }

    #[test]
    fn a_server_that_can_not_be_seen_leaves_the_share_of_others_unknown() {
        let (before, now) = (CpuLook::now(None), CpuLook::now(None));
        let used = now.since(&before);
        assert_eq!((used.own_ns, used.others_share()), (None, None));
        assert!(CpuLook::now(Some(0)).since(&CpuLook::now(Some(0))).own_ns.is_some());
    }

    #[test]
    fn the_quota_that_stopped_most_counts_and_one_that_is_new_does_not() {
        let quota = |directory: &str, throttled_periods| CpuQuota {
            directory: directory.into(),
            quota_us: 20_000,
            period_us: 100_000,
            throttling: Some(Throttling { periods: 100, throttled_periods, throttled_us: 7 }),
        };
        let look = |quotas: &[CpuQuota]| CpuLook { quotas: quotas.to_vec(), ..CpuLook::default() };
        let before = look(&[quota("a", 1), quota("b", 90)]);
        let after = look(&[quota("a", 40), quota("b", 99), quota("c", 100)]);
        assert_eq!(after.since(&before).throttling.unwrap().throttled_periods, 39);
        assert_eq!(after.since(&look(&[])).throttling, None);
    }

    #[test]
    fn what_a_child_used_counts_while_it_runs_and_when_it_has_ended() {
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read line";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id().cast_signed();
        let used = || sys::cputime::cpu_ns_with_ended(pid).unwrap();
        while used() < 2 * TICK_NS {}
        assert!(own_ns() >= 2 * TICK_NS);
        let before = own_ns();
        drop(child.stdin.take());
        child.wait().unwrap();
        // What has ended is counted in whole ticks.
        assert!(own_ns() + TICK_NS >= before, "{before}, then {}", own_ns());
    }
}
