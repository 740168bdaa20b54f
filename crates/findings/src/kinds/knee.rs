//! Where more work is answered later and no more often: the knee of a curve of latency.
//!
//! It is where the rate divided by the latency has its maximum: Kleinrock's *power* (1979). Below it the rate gains more than
//! the latency loses, above it less.

use super::prelude::*;
use crate::format::{interval, time};
use analysis::thresholds::SAME_MAX;
use analysis::{Estimate, PointSummary, Row};
use model::MetricRole;

/// The knee of one series.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Knee {
    /// Its point.
    pub point: u64,
    /// Whether that is the first one, so that the knee may lie below.
    pub or_below: bool,
    /// The latency there, in nanoseconds.
    pub latency_ns: Estimate,
    /// The next point.
    pub next: u64,
    /// The latency there.
    pub next_latency_ns: Estimate,
}

impl FindingKind for Knee {
    const TAG: Tag = Tag::new("knee", Tone::High);
    const SECTION: Section = Section::StopsScaling;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let rates = context.headline_rows().filter(|(table, _)| !table.metric.lower_is_better);
        Finding::of_rows(rates, |table, row| {
            let latencies = context.sibling(table, MetricRole::Latency)?;
            Self::new(row, latencies.row(&row.subject)?)
        })
    }

    fn rank(&self) -> f64 {
        stake(self.next_latency_ns.value / self.latency_ns.value)
    }

    fn joins(&self, second: &Self) -> bool {
        let ends = |knee: &Self| (knee.point, knee.or_below, knee.next);
        ends(self) == ends(second)
    }

    /// `nginx has its knee at 10,000 requests/s: a reply takes 736 µs there, and 5.15 ms at 20,000`
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let list = |latency_ns: fn(&Self) -> Estimate| {
            crate::format::list(all.iter().map(|knee| time(latency_ns(knee).value)))
        };
        let (have, at, next) = (
            names.verb("has its knee", "have their knee"),
            names.point(all[0].point),
            crate::format::count(all[0].next),
        );
        let at = if all[0].or_below { format!("or below {at}") } else { at };
        let (here, there) = (list(|knee| knee.latency_ns), list(|knee| knee.next_latency_ns));
        names.claim(format!(" {have} at {at}: a reply takes {here} there, and {there} at {next}"))
    }

    /// `736 µs (95 % CI 702 µs–760 µs), then 5.15 ms (95 % CI 4.9 ms–5.4 ms)`
    fn detail(&self, _: &Names<'_>) -> String {
        let figure = |figure: Estimate| format!("{}{}", time(figure.value), interval(figure, time));
        format!("{}, then {}", figure(self.latency_ns), figure(self.next_latency_ns))
    }
}

impl Knee {
    /// None where the maximum is at the last point, where the rate does not rise to it, or where the next latency is not
    /// clearly higher. To the first point the rate rises if the axis is what is asked for, and as much is done there.
    fn new(rates: &Row, latencies: &Row) -> Option<Self> {
        let rates: Vec<&PointSummary> = rates.cells.iter().flatten().collect();
        let power = |rate: &&PointSummary| {
            let latency_ns = latencies.at(rate.point)?.median.value;
            Some(rate.median.value / latency_ns).filter(|power| power.is_finite())
        };
        let powers: Vec<f64> = rates.iter().map(power).collect::<Option<_>>()?;
        let (index, _) = powers.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        let (knee, next) = (rates.get(index)?, rates.get(index + 1)?.point);
        let (here, or_below) = (knee.point, index == 0);
        let keeps_up = (knee.median.value / here as f64).ln().abs() < SAME_MAX.ln();
        let rises = if or_below { keeps_up } else { knee.median.low > rates[0].median.high };
        let (latency_ns, next_latency_ns) =
            (latencies.at(here)?.median, latencies.at(next)?.median);
        let is_clear = next_latency_ns.low > latency_ns.high;
        let knee = Self { point: here, or_below, latency_ns, next, next_latency_ns };
        (rises && is_clear).then_some(knee)
    }
}

#[cfg(test)]
mod tests {
    use fixtures::cell;

    /// What is found at these rates, of a server whose latency is that of M/M/1 with a capacity of `capacity_per_s`.
    fn sentences(capacity_per_s: f64, rates: &[u64]) -> Vec<String> {
        let cells = (0..5).flat_map(|round| {
            rates.iter().map(move |&rate| {
                let wobble = 1.0 + f64::from(round) * 0.01;
                let left_per_s = (capacity_per_s - rate as f64).max(capacity_per_s / 1_000.0);
                let replies = (rate as f64).min(capacity_per_s);
                cell("load", "server", rate, round)
                    .samples("replies", vec![replies / wobble; 4])
                    .samples("latency", vec![1e9 / left_per_s * wobble; 4])
                    .build()
            })
        });
        let workload = fixtures::workload("load")
            .axis("requests/s", "rate")
            .rate("replies", "replies", "replies/s")
            .metric("latency", "request", "ns")
            .subjects(["server"]);
        let run = fixtures::run(workload).cells(cells).complete();
        let all = crate::conclude(&run).findings;
        let knees =
            all.iter().filter(|finding| matches!(finding.data, crate::kinds::Data::Knee(_)));
        knees.map(|finding| finding.sentence.to_string()).collect()
    }

    #[test]
    fn the_knee_of_a_queue_is_at_half_of_its_capacity() {
        // Of M/M/1, power is λ (μ − λ).
        let all = sentences(20_000.0, &[1_000, 5_000, 10_000, 15_000, 19_000]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(
            all[0].contains("has its knee at 10,000 requests/s: a reply takes 102 µs"),
            "{all:?}"
        );
    }

    #[test]
    fn a_server_that_bears_hardly_more_than_the_first_rate_has_it_there_or_below() {
        let all = sentences(1_800.0, &[1_000, 5_000, 10_000]);
        assert!(all[0].contains("has its knee at or below 1,000 requests/s"), "{all:?}");
    }

    #[test]
    fn without_a_maximum_between_the_ends_there_is_none() {
        assert_eq!(sentences(1e9, &[1_000, 5_000, 10_000]), [""; 0]);
        // The same rate at each, and ever later: there is no rise to a knee.
        assert_eq!(sentences(900.0, &[1_000, 5_000, 10_000]), [""; 0]);
    }
}
