//! tmp
use analysis::bootstrap::median_over_rounds;
use analysis::random::normal;
use analysis::weigh::{weigh, GrowthPoint};
use std::time::Instant;
#[test]
fn t() {
    let mut r = fastrand::Rng::with_seed(1);
    let rounds: Vec<Vec<f64>> = (0..5).map(|_| (0..200).map(|_| (0.1 * normal(&mut r)).exp()).collect()).collect();
    let sl: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
    let t = Instant::now();
    for _ in 0..100 { std::hint::black_box(median_over_rounds(&sl, 1000, &mut r)); }
    println!("median_over_rounds {:?}", t.elapsed() / 100);
    let pts: Vec<GrowthPoint> = [10u64, 30, 100, 300, 1000, 3000, 10000].map(|n| GrowthPoint { point: n, median: n as f64 * (0.05 * normal(&mut r)).exp(), error: 0.02 }).to_vec();
    let t = Instant::now();
    for _ in 0..100 { std::hint::black_box(weigh(&pts)); }
    println!("weigh {:?}", t.elapsed() / 100);
}
#[test]
fn whole() {
    use record::*;
    let mut r = fastrand::Rng::with_seed(1);
    let mut cells = vec![];
    for s in 0..15 { for p in [10u64, 30, 100, 300, 1000, 3000, 10000] { for round in 0..5 {
        let key = CellKey { workload: "w".into(), subject: format!("s{s}"), conditions: Conditions::new(), point: p, round };
        let metrics = (0..6).map(|m| Metric { name: format!("m{m}"), samples: (0..200).map(|_| (if s % 2 == 0 { p as f64 } else { 5.0 }) * (0.1 * normal(&mut r)).exp()).collect(), positions: vec![], operations: 1, usage: Usage::default() }).collect();
        cells.push(Cell { key, sequence: 0, outcome: Outcome::Measured, elapsed_ns: 0, usage: Usage::default(), metrics, facts: Default::default() });
    }}}
    let w = WorkloadInfo { name: "w".into(), version: 1, question: "".into(), operation: "".into(), not_measured: vec![], axis: "n".into(), metrics: (0..6).map(|m| MetricInfo { name: format!("m{m}"), about: "".into(), unit: "ns".into(), lower_is_better: true }).collect(), subjects: (0..15).map(|s| SubjectInfo { name: format!("s{s}"), label: format!("s{s}"), note: "".into() }).collect() };
    let plan = Plan { workloads: vec![w], cells: cells.iter().map(|c| c.key.clone()).collect(), ..Plan::default() };
    let summary = RunSummary { number: 0, id: "".into(), started: "".into(), ended: None, state: RunState::Complete, command: vec![], version: "".into(), cells_ended: 0, cells_planned: 0 };
    let run = Run { summary, plan, clock: Clock::default(), host_before: Host::default(), host_after: None, warnings: vec![], cells };
    let t = Instant::now();
    let a = analysis::analyse(&run);
    println!("whole {:?} {}", t.elapsed(), a.findings.len());
}
