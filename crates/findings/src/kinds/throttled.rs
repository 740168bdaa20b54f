//! Which subject waits for its own CPU quota: its threads stop when it is used up, however many CPUs are idle.

use super::prelude::*;
use crate::caveats::cpu_taken::quota;
use crate::format::{count, counted, percent, ratio, time};
use crate::thresholds::STEAL_SHARES;
use analysis::{Row, Table};
use model::{MetricRole, QUOTA, QUOTA_PERIOD_US, Throttling};
use std::collections::BTreeMap;

/// A subject whose quota is used up at a point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Throttled {
    /// The CPUs of the quota.
    pub cpus: f64,
    /// The first point at which it is used up too often.
    pub from: u64,
    /// The last such point.
    pub point: u64,
    /// The share of its periods there in which it is used up.
    pub share: f64,
    /// The CPUs on which stopped threads would run there, on average.
    pub stopped_cpus: f64,
    /// The time for which threads stopped there in all cells, over all CPUs, in nanoseconds.
    pub throttled_ns: f64,
    /// Of a server, the latency of requests there, at the median and at the 99th percentile, in nanoseconds: the second has
    /// the stops in it.
    pub latency_ns: Option<[f64; 2]>,
}

impl FindingKind for Throttled {
    const TAG: Tag = Tag::new("quota", Tone::High);
    const SECTION: Section = Section::StopsScaling;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.headline_rows(), |table, row| Self::new(context, table, row))
    }

    /// How many times as much it would use without the quota.
    fn rank(&self) -> f64 {
        (self.cpus + self.stopped_cpus) / self.cpus
    }

    fn joins(&self, second: &Self) -> bool {
        let ends = |throttled: &Self| (throttled.from, throttled.point);
        ends(self) == ends(second)
            && self.cpus.total_cmp(&second.cpus).is_eq()
            && [self, second].iter().all(|throttled| throttled.latency_ns.is_none())
    }

    /// `mt waits for its CPU quota of 0.5 CPUs from 1 thread on: throttled in 97 % of the periods at 4 threads, where 1.40 CPUs
    /// more had work`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Throttled { cpus, from, point, .. } = all[0];
        let waits = names.verb("waits for its", "wait for their");
        let quota = quota(Some(cpus));
        let at = |point: u64| counted(&count(point), names.axis());
        let range = if from < point { format!(" from {} on", at(from)) } else { String::new() };
        let shares = Range::new(all.iter().map(|throttled| throttled.share)).format(percent);
        let more = Range::new(all.iter().map(|throttled| throttled.stopped_cpus)).format(ratio);
        let latency = all[0].latency_ns.map(|latency| {
            let [median, p99] = latency.map(time);
            format!("; a reply takes {median} at the median, {p99} at the 99th percentile")
        });
        names.claim(format!(
            " {waits} {quota}{range}: throttled in {shares} of the periods at {}, where {more} CPUs more had work{}",
            at(point),
            latency.unwrap_or_default()
        ))
    }

    /// `stopped for 7.40 s in all`.
    fn detail(&self, _: &Names<'_>) -> String {
        format!("stopped for {} in all", time(self.throttled_ns))
    }
}

impl Throttled {
    /// None where nothing had a quota of its own, or where it was enough.
    fn new(context: &Context<'_>, table: &Table, row: &Row) -> Option<Self> {
        let cpus = table.parameters.get(QUOTA)?.size()?;
        let mut points: BTreeMap<u64, Throttling> = BTreeMap::new();
        for cell in table.cells(context.run, &row.subject) {
            if let Some(used) = Throttling::from_facts(&cell.facts) {
                let sum = points.entry(cell.key.point).or_default();
                *sum = sum.plus(&used);
            }
        }
        points.retain(|_, used| used.share() >= STEAL_SHARES[0]);
        let from = *points.keys().next()?;
        let (point, last) = points.pop_last()?;
        let latency_ns = |role: MetricRole| {
            let of_role = context.sibling(table, role)?;
            Some(of_role.row(&row.subject)?.at(point)?.median.value)
        };
        let median_ns = latency_ns(MetricRole::Latency);
        let p99_ns = latency_ns(MetricRole::TailLatency);
        let periods_us = last.periods as f64 * QUOTA_PERIOD_US as f64;
        Some(Self {
            cpus,
            from,
            point,
            share: last.share(),
            stopped_cpus: last.throttled_us as f64 / periods_us,
            throttled_ns: last.throttled_us as f64 * 1e3,
            latency_ns: median_ns.zip(p99_ns).map(|(median, p99)| [median, p99]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::{cell, run, workload};

    #[test]
    fn a_quota_that_is_used_up_is_named_with_its_points() {
        let subjects = ["calm", "busy"];
        let at = |subject: &'static str, point, throttled_periods| {
            let used = Throttling { periods: 50, throttled_periods, throttled_us: 7_000_000 };
            let cell = cell("command", subject, point, 0).parameter(QUOTA, "0.5");
            used.facts()
                .into_iter()
                .fold(cell.samples("elapsed", vec![1e6]), |cell, (name, fact)| {
                    cell.fact(name, fact)
                })
        };
        let workload =
            workload("command").axis("threads", "threads").time("elapsed").subjects(subjects);
        let points = [(1, 2), (2, 40), (4, 50)];
        let cells = points.into_iter().flat_map(|(point, throttled)| {
            [at("calm", point, throttled / 20), at("busy", point, throttled)]
        });
        let run = run(workload).cells(cells).complete();
        let sentences: Vec<String> = crate::conclude(&run)
            .findings
            .iter()
            .filter(|finding| finding.data.kind() == super::super::Kind::Throttled)
            .map(|finding| finding.sentence.to_string())
            .collect();
        let [sentence] = &sentences[..] else { panic!("{sentences:?}") };
        assert_eq!(
            sentence,
            "busy waits for its CPU quota of 0.5 CPUs from 2 threads on: throttled in 100 % of the periods at 4 \
             threads, where 1.40 CPUs more had work"
        );
    }
}
