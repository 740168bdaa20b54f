//! What used the CPUs while a run was measured, and which part of it was the run's own: the one place that a share of other
//! processes, of a hypervisor and of a quota comes from.

use crate::{Fact, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// CPU time over the sessions of a run. One that was resumed has several; what the CPUs did in the pauses between them does
/// not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUse {
    /// Clock ticks of all CPUs.
    pub total_ticks: u64,
    /// Those in which a CPU was idle.
    pub idle_ticks: u64,
    /// Those that a hypervisor took away.
    pub steal_ticks: u64,
    /// CPU time of knee, of all processes that it started and of the server that it measured, in nanoseconds. Absent where
    /// not all of these can be seen.
    pub own_ns: Option<u64>,
    /// What a CPU quota did. Absent where there is none.
    pub throttling: Option<Throttling>,
}

/// What a CPU quota did, as the kernel counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// Periods in which something ran.
    pub periods: u64,
    /// Those of them in which the quota was used up.
    pub throttled_periods: u64,
    /// The time for which runnable threads were stopped, over all CPUs, in microseconds.
    pub throttled_us: u64,
}

/// The name of the parameter that gives a cell a CPU quota of its own.
pub const QUOTA: &str = "quota";
/// The period of such a quota, the default of both versions of control groups, in microseconds.
pub const QUOTA_PERIOD_US: u64 = 100_000;

/// The names of the facts of a cell that say what its own CPU quota did: see [`Throttling`].
const PERIODS: &str = "periods of the quota";
const THROTTLED_PERIODS: &str = "throttled periods";
const THROTTLED_US: &str = "throttled time_us";

/// Nanoseconds of a clock tick, wherever Linux shows one to user space.
pub const TICK_NS: u64 = 10_000_000;

impl CpuUse {
    /// The sum with that of another session.
    #[must_use]
    pub fn plus(&self, more: &CpuUse) -> CpuUse {
        CpuUse {
            total_ticks: self.total_ticks + more.total_ticks,
            idle_ticks: self.idle_ticks + more.idle_ticks,
            steal_ticks: self.steal_ticks + more.steal_ticks,
            own_ns: self.own_ns.zip(more.own_ns).map(|(first, second)| first + second),
            throttling: match (self.throttling, more.throttling) {
                (Some(first), Some(second)) => Some(first.plus(&second)),
                (first, second) => first.or(second),
            },
        }
    }

    /// The share of the CPU time that a hypervisor took away; `None` where the host did not count.
    pub fn steal_share(&self) -> Option<f64> {
        self.share(self.steal_ticks as f64)
    }

    /// The share of the CPU time that processes used that are no part of the run; `None` where the host did not count, or
    /// where not all processes of the run could be seen.
    pub fn others_share(&self) -> Option<f64> {
        let busy = self.total_ticks.saturating_sub(self.idle_ticks).saturating_sub(self.steal_ticks)
            as f64;
        self.share((busy - self.own_ns? as f64 / TICK_NS as f64).max(0.0))
    }

    /// The share of its periods in which a CPU quota was used up; `None` without a quota.
    pub fn throttled_share(&self) -> Option<f64> {
        self.throttling.map(|throttling| throttling.share())
    }

    fn share(&self, ticks: f64) -> Option<f64> {
        (self.total_ticks > 0).then(|| ticks / self.total_ticks as f64)
    }
}

impl Throttling {
    /// It as facts of a cell.
    pub fn facts(&self) -> [(&'static str, Fact); 3] {
        let Throttling { periods, throttled_periods, throttled_us } = *self;
        [(PERIODS, periods), (THROTTLED_PERIODS, throttled_periods), (THROTTLED_US, throttled_us)]
            .map(|(name, count)| (name, count.into()))
    }

    /// That of a cell with these facts; `None` where it had no quota of its own.
    pub fn from_facts(facts: &BTreeMap<String, Fact>) -> Option<Throttling> {
        let count = |name: &str| Some(facts.get(name)?.number()? as u64);
        Some(Throttling {
            periods: count(PERIODS)?,
            throttled_periods: count(THROTTLED_PERIODS)?,
            throttled_us: count(THROTTLED_US)?,
        })
    }

    /// The share of its periods in which the quota was used up.
    pub fn share(&self) -> f64 {
        self.throttled_periods as f64 / self.periods.max(1) as f64
    }

    /// The sum with that of another time.
    #[must_use]
    pub fn plus(&self, more: &Throttling) -> Throttling {
        Throttling {
            periods: self.periods + more.periods,
            throttled_periods: self.throttled_periods + more.throttled_periods,
            throttled_us: self.throttled_us + more.throttled_us,
        }
    }

    /// What was counted since `before`.
    #[must_use]
    pub fn since(&self, before: &Throttling) -> Throttling {
        Throttling {
            periods: self.periods.saturating_sub(before.periods),
            throttled_periods: self.throttled_periods.saturating_sub(before.throttled_periods),
            throttled_us: self.throttled_us.saturating_sub(before.throttled_us),
        }
    }
}

impl Run {
    /// What used the CPUs while it was measured; `None` where it was cut off, or where another program measured it.
    pub fn cpu_use(&self) -> Option<CpuUse> {
        self.host_after.as_ref()?.cpu_use
    }
}
