//! CPU time that the run did not get: other processes, a hypervisor or a CPU quota had it. How far a run is trusted reads the
//! same shares.

use super::prelude::*;
use crate::format::{capitalized, percent, time};
use crate::thresholds::{OTHERS_SHARES, STEAL_SHARES};
use model::{CPU_QUOTA, CpuUse, Host, QUOTA_REMEDY, fact_text};

/// CPU time that the run did not get.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CpuTaken {
    /// What had it.
    pub by: CpuTaker,
    /// The share of the CPU time; of a quota, that of its periods in which it was used up. Absent where the kernel does not
    /// say how often a quota was.
    pub share: Option<f64>,
}

/// What has CPU time in place of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuTaker {
    /// The hypervisor.
    Steal,
    /// Processes that are no part of the run.
    OtherProcesses,
    /// A CPU quota.
    Quota {
        /// The CPUs that it allows, where they are known.
        cpus: Option<f64>,
        /// The time for which it stopped runnable threads, over all CPUs, in nanoseconds.
        throttled_ns: Option<f64>,
    },
}

impl CpuTaker {
    /// The shares from which on figures are poor, and fair.
    pub(crate) fn bounds(self) -> [f64; 2] {
        match self {
            Self::Steal | Self::Quota { .. } => STEAL_SHARES,
            Self::OtherProcesses => OTHERS_SHARES,
        }
    }

    /// `other processes used 28 % of the CPUs`.
    pub(crate) fn clause(self, share: f64) -> String {
        let share = percent(share);
        match self {
            Self::Steal => format!("the hypervisor took {share} of the CPU time"),
            Self::OtherProcesses => format!("other processes used {share} of the CPUs"),
            Self::Quota { cpus, throttled_ns } => {
                let stopped = throttled_ns.filter(|ns| *ns > 0.0).map(time);
                let stopped = stopped.map(|time| format!(" and stopped threads for {time}"));
                let stopped = stopped.unwrap_or_default();
                format!("a {} was used up in {share} of its periods{stopped}", quota(cpus))
            }
        }
    }

    /// What to do about it.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Steal => "measure on a host that is not shared, or when it is quiet",
            Self::OtherProcesses => "end what else runs (knee doctor names it), then measure again",
            Self::Quota { .. } => QUOTA_REMEDY,
        }
    }
}

impl CpuTaken {
    /// What had CPU time that the run wanted, of those that `used` counted on a machine of such a quota.
    pub(crate) fn of_use(host: &Host, used: Option<CpuUse>) -> Vec<Self> {
        let throttling = used.and_then(|used| used.throttling);
        let cpus = host.cpu_quota();
        let throttled_ns = throttling.map(|throttling| throttling.throttled_us as f64 * 1e3);
        let each = [
            (CpuTaker::Steal, used.and_then(|used| used.steal_share())),
            (CpuTaker::OtherProcesses, used.and_then(|used| used.others_share())),
            (CpuTaker::Quota { cpus, throttled_ns }, used.and_then(|used| used.throttled_share())),
        ];
        let is_known_quota = |by: CpuTaker| matches!(by, CpuTaker::Quota { cpus: Some(_), .. });
        let counts = |&(by, share): &(CpuTaker, Option<f64>)| match share {
            Some(share) => share > by.bounds()[1],
            None => is_known_quota(by),
        };
        each.into_iter().filter(counts).map(|(by, share)| Self { by, share }).collect()
    }
}

impl CaveatKind for CpuTaken {
    fn find(context: &Context<'_>) -> Vec<Self> {
        Self::of_use(&context.run.host_before, context.run.cpu_use())
    }

    fn warning(&self) -> Warning {
        let clause = match (self.by, self.share) {
            (CpuTaker::Quota { cpus, .. }, None) => {
                format!("a {} held, and how often it was used up is not known", quota(cpus))
            }
            (by, share) => by.clause(share.unwrap_or_default()),
        };
        Warning { what: capitalized(&clause), remedy: self.by.remedy().into() }
    }
}

/// `CPU quota of 0.2 CPUs`.
pub(crate) fn quota(cpus: Option<f64>) -> String {
    match cpus {
        Some(cpus) => format!("CPU quota of {}", fact_text(CPU_QUOTA, &cpus.into())),
        None => "CPU quota".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Throttling;

    #[expect(clippy::unnecessary_wraps, reason = "as a run has it")]
    fn used(own_ns: Option<u64>, throttling: Option<Throttling>) -> Option<CpuUse> {
        let (total_ticks, idle_ticks, steal_ticks) = (1_000, 500, 20);
        Some(CpuUse { total_ticks, idle_ticks, steal_ticks, own_ns, throttling })
    }

    fn lines(host: &Host, used: Option<CpuUse>) -> Vec<String> {
        CpuTaken::of_use(host, used).iter().map(|taken| taken.warning().what).collect()
    }

    #[test]
    fn each_that_took_cpu_time_is_named_with_its_share_and_a_remedy() {
        let none = Host::default();
        let stolen = "The hypervisor took 2 % of the CPU time";
        assert_eq!(lines(&none, used(Some(4_000_000_000), None)), [stolen], "8 % are others'");
        let both = lines(&none, used(Some(3_600_000_000), None));
        assert_eq!(both, [stolen, "Other processes used 12 % of the CPUs"]);
        assert_eq!(lines(&none, used(None, None)), [stolen], "whose it is is not known");
        assert_eq!(lines(&none, None), [""; 0]);
    }

    #[test]
    fn a_quota_is_named_with_what_it_stopped() {
        let host = fixtures::host("", [(CPU_QUOTA, 0.2)]);
        let stopped = |throttled_periods| {
            let throttling =
                Throttling { periods: 100, throttled_periods, throttled_us: 7_400_000 };
            let used = CpuUse { throttling: Some(throttling), ..CpuUse::default() };
            lines(&host, Some(used))
        };
        let line = "A CPU quota of 0.2 CPUs was used up in 93 % of its periods and stopped threads for 7.40 s";
        assert_eq!(stopped(93), [line]);
        assert_eq!(stopped(0), [""; 0], "it stopped nothing");
        let unknown = "A CPU quota of 0.2 CPUs held, and how often it was used up is not known";
        assert_eq!(lines(&host, None), [unknown]);
        let free = fixtures::host("", [(CPU_QUOTA, model::NO_LIMIT)]);
        assert_eq!(lines(&free, None), [""; 0]);
    }
}
