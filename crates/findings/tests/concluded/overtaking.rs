//! Leads, contests, maps and their sentences, from a run with rounds.

use crate::common::{Analysis, analyse};
use analysis::ComparisonOutcome;
use analysis::stats::random::normal;
use fastrand::Rng;
use findings::Kind;
use fixtures::{cell, metric_info, run};
use model::{Cell, Run, WorkloadInfo, WorkloadRole};

const POINTS: [u64; 7] = [1, 10, 50, 100, 300, 600, 1000];

/// A subject's figure at a point, under a value of the parameter.
type Curve = fn(f64, f64) -> f64;

/// A workload whose subjects follow curves.
struct Sketch {
    axis: &'static str,
    ratio: Option<(&'static str, &'static str)>,
    lower_is_better: bool,
    rivals: &'static [(&'static str, &'static str)],
    subjects: Vec<(&'static str, Curve)>,
    parameter: &'static str,
    values: &'static [&'static str],
}

impl Sketch {
    fn workload(&self) -> WorkloadInfo {
        let unit = if self.lower_is_better { "ns" } else { "tokens/s" };
        let mut workload = fixtures::workload("sketch")
            .axis(self.axis, self.axis)
            .metric_info(metric_info("main", "main", unit, self.lower_is_better))
            .subjects(self.subjects.iter().map(|(name, _)| *name));
        if let Some((part, whole)) = self.ratio {
            workload = workload.share(part, whole, "active");
        }
        for (first, second) in self.rivals {
            workload = workload.compared_pair(first, second);
        }
        workload.build()
    }

    fn cells(&self, random: &mut Rng) -> Vec<Cell> {
        let mut cells = Vec::new();
        for round in 0..7 {
            for value in self.values {
                for point in POINTS {
                    for (subject, curve) in &self.subjects {
                        let number = value.parse().unwrap_or(0.0);
                        let level = curve(point as f64, number) * (0.01 * normal(random)).exp();
                        let samples = (0..20).map(|_| level * (0.02 * normal(random)).exp());
                        let cell = cell("sketch", subject, point, round)
                            .parameter(self.parameter, value)
                            .samples("main", samples.collect());
                        cells.push(cell.build());
                    }
                }
            }
        }
        cells
    }

    fn run(&self) -> Run {
        run(self.workload()).seed(4).cells(self.cells(&mut Rng::with_seed(8))).complete()
    }

    fn analysis(&self) -> Analysis {
        analyse(&self.run())
    }
}

/// Rates over tokens: poll passes epoll at 600 of 1,000 pipes and more, ppoll is poll again.
fn rates() -> Sketch {
    Sketch {
        axis: "tokens",
        ratio: Some(("tokens", "pipes")),
        lower_is_better: false,
        rivals: &[("poll", "epoll")],
        subjects: vec![
            ("poll", |n, pipes| 1.0e6 * n / (n + 0.5 * pipes)),
            ("ppoll", |n, pipes| 0.999e6 * n / (n + 0.5 * pipes)),
            ("epoll", |n, pipes| 0.5e6 + 0.0 * (n + pipes)),
        ],
        parameter: "pipes",
        values: &["1000"],
    }
}

/// Costs over watched descriptors: the usual shape of `poll`.
fn costs() -> Sketch {
    Sketch {
        axis: "watched",
        ratio: Some(("active", "watched")),
        lower_is_better: true,
        rivals: &[],
        subjects: vec![
            ("poll", |n, active| 1000.0 + 50.0 * n + 500.0 * active),
            ("epoll", |_, active| 2000.0 + 700.0 * active),
        ],
        parameter: "active",
        values: &["1"],
    }
}

fn crossings(analysis: &Analysis) -> Vec<String> {
    let crossovers = analysis.findings.iter().filter(|finding| finding.kind == Kind::Crossover);
    crossovers.map(|finding| finding.sentence.clone()).collect()
}

/// The standing and the sentence of `costs` with this curve against a flat one at 10 µs.
fn against_flat(curve: Curve) -> (ComparisonOutcome, String) {
    let flat: Curve = |_, _| 10_000.0;
    let sketch =
        Sketch { subjects: vec![("flat", flat), ("other", curve)], ratio: None, ..costs() };
    let mut analysis = sketch.analysis();
    let sentences = crossings(&analysis);
    assert_eq!(sentences.len(), 1, "{sentences:#?}");
    (analysis.tables.remove(0).comparisons.remove(0).outcome, sentences[0].clone())
}

#[test]
fn a_rate_that_is_higher_overtakes() {
    let analysis = rates().analysis();
    let sentences = crossings(&analysis);
    assert_eq!(sentences.len(), 2, "{sentences:#?}");
    let same =
        "poll and ppoll are the same within 2 %: from 1 to 1,000 tokens neither leads (ratio 1.";
    assert!(sentences[0].starts_with(same), "{sentences:#?}");
    // The rates are equal at 500 tokens.
    let (both, each) = sentences[1].split_once(" tokens. ").unwrap();
    assert!(both.starts_with("poll and ppoll overtake epoll at 5"), "{sentences:#?}");
    let (poll, ppoll) = each.split_once("; ppoll at ").unwrap();
    assert!(poll.starts_with("poll at ") && poll.contains(" % active, 95 % CI 4"), "{each}");
    assert!(ppoll.contains(" % active, 95 % CI 4"), "{each}");
    assert!(analysis.tables[0].rows.iter().all(|row| row.growth.is_none()));
}

#[test]
fn no_subject_is_best_where_two_are_close() {
    let analysis = rates().analysis();
    let leads: Vec<(&str, bool)> = analysis.tables[0]
        .leads
        .iter()
        .flatten()
        .map(|lead| (&lead.best[lead.best.len() - 4..], lead.clear))
        .collect();
    assert_eq!(&leads[..4], [("poll", true); 4], "epoll, by far: {leads:?}");
    assert_eq!(&leads[5..], [("poll", false); 2], "poll or ppoll: {leads:?}");
    let first = &analysis.tables[0].leads[0][0];
    assert!(first.best == "epoll" && first.margin.low > 100.0, "{first:?}");
    assert!(first.margin.low < first.margin.value && first.margin.value < first.margin.high);
}

#[test]
fn a_ratio_falls_along_the_whole() {
    let analysis = costs().analysis();
    let table = &analysis.tables[0];
    let shares = table.shares.as_ref().unwrap();
    assert_eq!(shares.values[..2], [1.0, 0.1]);
    let ComparisonOutcome::Crosses { crossovers } = &table.comparisons[0].outcome else {
        panic!("{:?}", table.comparisons)
    };
    let (at, share) = (crossovers[0].at, crossovers[0].share.unwrap());
    // 50 n + 1,500 = 2,700.
    assert!(at.low <= 24.0 && 24.0 <= at.high, "{at:?}");
    assert!((share.low * at.high - 1.0).abs() < 1e-9 && (share.high * at.low - 1.0).abs() < 1e-9);
    let sentence = &crossings(&analysis)[0];
    assert!(sentence.starts_with("epoll overtakes poll at 2"), "{sentence}");
    assert!(sentence.contains(" watched (5 % active). 95 % CI "));
}

#[test]
fn standings_read_as_sentences() {
    let (_, apart) = against_flat(|_, _| 13_000.0);
    let start = "flat and other: no crossover in range; flat is better throughout, ×1.";
    assert!(apart.starts_with(start), "{apart}");
    assert!(apart.ends_with(" from 1 to 1,000 watched."), "{apart}");
    // Not clear on its own at the fourth point, and not needed there.
    let (outcome, apart) =
        against_flat(|n, _| if (99.0..101.0).contains(&n) { 10_050.0 } else { 13_000.0 });
    let open = |outcome| match outcome {
        ComparisonOutcome::Throughout { open, .. } => open,
        outcome => panic!("{outcome:?}"),
    };
    assert_eq!(open(outcome), [100]);
    let start = "; flat is better from 1 to 1,000 watched, ×1.";
    assert!(apart.contains(start) && apart.contains(" to ×1.3"), "{apart}");
    assert!(apart.ends_with(", and too close to call at 100."), "{apart}");
    let (outcome, part) = against_flat(|n, _| if n > 200.0 { 14_000.0 } else { 10_000.0 });
    assert_eq!(open(outcome), POINTS[..4]);
    let start = "flat and other: no crossover in range; flat is better from 300 watched on, ×1.";
    assert!(part.starts_with(start), "{part}");
    assert!(part.ends_with(", and too close to call below."), "{part}");
    let (_, part) = against_flat(|n, _| if n < 200.0 { 14_000.0 } else { 10_000.0 });
    assert!(part.contains("; flat is better up to 100 watched, ×1."), "{part}");
    assert!(part.ends_with(", and too close to call beyond."), "{part}");
    let (_, part) =
        against_flat(|n, _| if (99.0..101.0).contains(&n) { 14_000.0 } else { 10_000.0 });
    assert!(part.contains("; flat is better at 100 watched, ×1."), "{part}");
    assert!(part.ends_with(", and too close to call elsewhere."), "{part}");
    let (_, bump) = against_flat(|n, _| if (50.0..=300.0).contains(&n) { 14e3 } else { 7e3 });
    let (first, second) = bump.split_once("; other overtakes flat at ").unwrap();
    assert!(first.starts_with("flat overtakes other at "), "{bump}");
    assert_eq!(second.matches("95 % CI ").count(), 2, "{bump}");
    let zigzag: Curve = |n, _| if [1.0, 50.0, 300.0, 1000.0].contains(&n) { 14e3 } else { 7e3 };
    let (_, zigzag) = against_flat(zigzag);
    assert!(
        zigzag.starts_with(
            "flat and other alternate six times from 1 to 1,000 watched, by up to ×1."
        ),
        "{zigzag}"
    );
}

#[test]
fn qualifiers_distinguish_the_tables() {
    let analysis = Sketch { values: &["1", "100"], ..costs() }.analysis();
    let sentences = crossings(&analysis);
    assert!(sentences[0].starts_with("epoll (active = 1) overtakes poll at 2"), "{sentences:#?}");
    // 50 n + 51,000 = 72,000: 420 of which 100 are active.
    assert!(sentences[1].starts_with("epoll (active = 100) overtakes poll at 4"), "{sentences:#?}");
    let [map] = analysis.maps.as_slice() else { panic!("{:?}", analysis.maps) };
    assert_eq!(map.totals, POINTS);
    assert!(map.parameters.is_empty() && map.word == "active" && map.whole == "watched");
    // 1 of 10 and 100 of 1,000 are one column; nothing was measured at 1 % of 10.
    let at = |total: u64, share: f64| {
        let row = map.totals.iter().position(|&t| t == total).unwrap();
        let column = map.shares.iter().position(|s| (s / share - 1.0).abs() < 0.01).unwrap();
        map.leads[row][column].as_ref().map(|lead| lead.best.as_str())
    };
    assert_eq!(
        (at(1000, 0.001), at(1000, 0.1), at(1, 1.0)),
        (Some("epoll"), Some("epoll"), Some("poll"))
    );
    assert_eq!((at(300, 1.0 / 3.0), at(10, 0.01)), (Some("poll"), None));
}

#[test]
fn qualifiers_leave_out_parameters_without_an_effect() {
    let about = fixtures::workload("build")
        .axis("CPUs", "cpus")
        .time("wall")
        .subjects(["make"])
        .only_with("files", "tree", &["generated"]);
    let mut cells = Vec::new();
    for (tree, files) in [("generated", "48"), ("generated", "96"), ("linux", "12")] {
        let cell = cell("build", "make", 1, 0).parameter("tree", tree).parameter("files", files);
        cells.push(cell.samples("wall", vec![1e9]).build());
    }
    let qualifiers = |cells: &[Cell]| -> Vec<String> {
        let run = run(about.clone().build()).cells(cells.to_vec()).complete();
        let tables = analyse(&run).tables;
        tables.iter().map(|table| findings::qualifier(&tables, table)).collect()
    };
    let [few, many, linux] =
        [" (files = 48, tree = generated)", " (files = 96, tree = generated)", " (tree = linux)"];
    assert_eq!(qualifiers(&cells), [linux, few, many]);
    assert_eq!(qualifiers(&cells[1..]), [linux, " (tree = generated)"]);
}

#[test]
fn a_percentage_is_the_ratio_itself() {
    let analysis = Sketch { values: &["10%", "50%"], ..costs() }.analysis();
    assert_eq!(analysis.tables[0].shares.as_ref().unwrap().values, [0.1; 7]);
    assert_eq!(
        (&analysis.maps[0].totals[..], &analysis.maps[0].shares[..]),
        (&POINTS[..], &[0.1, 0.5][..])
    );
}

/// Of five series, the findings are rivals and changes of the best.
#[test]
fn of_many_series_rivals_and_changes_of_the_best_are_findings() {
    let mut sketch = costs();
    sketch.subjects.extend::<[(&str, Curve); 3]>([
        ("select", |n, _| 1800.0 + 80.0 * n),
        ("sigio", |_, _| 9000.0),
        ("aio", |n, _| 9500.0 + n),
    ]);
    let sentences = crossings(&sketch.analysis());
    assert_eq!(sentences.len(), 1, "{sentences:#?}");
    assert!(sentences[0].starts_with("epoll overtakes poll at "), "{sentences:#?}");
    sketch.rivals = &[("aio", "sigio"), ("poll", "devpoll")];
    let sentences = crossings(&sketch.analysis());
    assert_eq!(sentences.len(), 2, "{sentences:#?}");
    assert!(
        sentences[1].starts_with("sigio and aio: no crossover in range; sigio is better"),
        "{sentences:#?}"
    );
}

#[test]
fn one_point_has_leads_and_no_comparison() {
    let mut run = costs().run();
    run.cells.retain(|cell| cell.key.point == 10);
    run.plan.cells.retain(|key| key.point == 10);
    assert!(crossings(&analyse(&run)).is_empty());
    run.plan.workloads[0].compared_pairs = vec![("epoll".into(), "poll".into())];
    let analysis = analyse(&run);
    assert_eq!(
        crossings(&analysis),
        ["poll and epoll are undecided: only one point has figures above zero of both."]
    );
    let lead = &analysis.tables[0].leads[0][0];
    assert!(lead.best == "poll" && lead.clear, "{lead:?}");
    assert!(analysis.maps.is_empty());
}

#[test]
fn a_figure_of_zero_has_no_ratio() {
    let mut run = costs().run();
    for cell in &mut run.cells {
        if cell.key.subject == "poll" && cell.key.point == 10 {
            cell.metrics[0].samples.fill(0.0);
        }
    }
    let analysis = analyse(&run);
    let table = &analysis.tables[0];
    assert!(table.leads[1].is_empty() && !table.leads[0].is_empty());
    assert!(matches!(table.comparisons[0].outcome, ComparisonOutcome::Crosses { .. }));
}

#[test]
fn the_harness_is_compared_with_no_subject() {
    let mut run = costs().run();
    run.plan.workloads[0].name = "null".into();
    run.plan.workloads[0].role = WorkloadRole::Control;
    for key in run.plan.cells.iter_mut().chain(run.cells.iter_mut().map(|cell| &mut cell.key)) {
        key.workload = "null".into();
    }
    let analysis = analyse(&run);
    assert!(analysis.findings.iter().all(|finding| finding.kind == Kind::HarnessCost));
}
