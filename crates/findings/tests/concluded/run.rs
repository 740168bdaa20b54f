//! From a run to tables, findings and caveats.

use crate::common::{Finding, analyse};
use analysis::stats::random::normal;
use analysis::{Class, MissingFigure, Row, Table};
use fastrand::Rng;
use findings::{Kind, Reader, reasons};
use fixtures::{CellBuilder, cell, parameters, short};
use model::{
    Cell, CellKey, Change, FailureReason, Limit, LimitCause, Metric, PlanChange, Run, RunState,
    Usage, Value, Warning, WorkloadInfo,
};

const POINTS: [u64; 3] = [100, 1000, 10_000];

fn workload(name: &str, metrics: &[&str], subjects: &[&str]) -> WorkloadInfo {
    let mut workload = fixtures::workload(name).axis("watched descriptors", "");
    for metric in metrics {
        workload = workload.time(metric);
    }
    for subject in subjects {
        let label = if *subject == "kqueue" { "kqueue (libkqueue)" } else { subject };
        workload = workload.subject(subject, label, "");
    }
    workload.build()
}

fn cell_of(workload: &str, subject: &str, point: u64, round: u32) -> CellBuilder {
    cell(workload, subject, point, round).parameter("active", "1")
}

/// Samples about `level`, with the CPU time of `operations` operations.
fn samples(name: &str, level: f64, random: &mut Rng) -> Metric {
    let samples = (0..40).map(|_| level * (0.05 * normal(random)).exp()).collect();
    Metric {
        operations: 400,
        usage: Usage { user_ns: 4000, system_ns: 40_000, ..Usage::default() },
        ..fixtures::metric(name, samples)
    }
}

/// Five rounds of poll (linear), epoll-level (constant) and sigio, whose largest point failed, with
/// a control; /dev/poll is unavailable.
fn run() -> Run {
    let mut random = Rng::with_seed(3);
    let mut cells = Vec::new();
    for round in 0..5 {
        for point in POINTS {
            let n = point as f64;
            for (subject, level) in
                [("poll", 50.0 + 100.0 * n), ("epoll-level", 1880.0), ("kqueue", 10.0 * n)]
            {
                let loops = samples("loop", level, &mut random);
                let waits = samples("wait", level * 0.8, &mut random);
                cells.push(cell_of("poll", subject, point, round).metrics([loops, waits]));
            }
            let sigio = cell_of("poll", "sigio", point, round);
            cells.push(if point == 10_000 && round < 3 {
                sigio.failed("the queue overflowed")
            } else {
                sigio.metric(samples("loop", 1400.0, &mut random))
            });
        }
        let null = samples("loop", 2.1, &mut random);
        cells.push(cell_of("null", "nothing", 1, round).metric(null));
    }
    let subjects = ["poll", "epoll-level", "sigio", "kqueue", "devpoll"];
    fixtures::run(workload("null", &["loop"], &["nothing"]))
        .workload(workload("poll", &["loop", "wait"], &subjects))
        .seed(9)
        .times_ms(100, 10_000)
        .pinned_cpus(&[0])
        .unavailable("poll", "devpoll", "Solaris and illumos only")
        .cells(cells)
        .complete()
}

fn table<'a>(tables: &'a [Table], workload: &str, metric: &str) -> &'a Table {
    tables.iter().find(|t| t.workload == workload && t.metric.name == metric).unwrap()
}

fn row<'a>(table: &'a Table, subject: &str) -> &'a Row {
    table.rows.iter().find(|row| row.subject == subject).unwrap()
}

fn caveats(run: &Run) -> Vec<String> {
    analyse(run).caveats.into_iter().map(|caveat| caveat.what).collect()
}

#[test]
fn tables_stand_in_order_with_every_subject() {
    let analysis = analyse(&run());
    let names: Vec<(&str, &str)> =
        analysis.tables.iter().map(|t| (t.workload.as_str(), t.metric.name.as_str())).collect();
    assert_eq!(names, [("null", "loop"), ("poll", "loop"), ("poll", "wait")]);
    let table = table(&analysis.tables, "poll", "loop");
    assert_eq!(table.points, POINTS);
    let subjects: Vec<&str> = table.rows.iter().map(|row| row.subject.as_str()).collect();
    assert_eq!(subjects, ["poll", "epoll-level", "sigio", "kqueue", "devpoll"]);
    let devpoll = row(table, "devpoll");
    assert_eq!(devpoll.unavailable.as_deref(), Some("Solaris and illumos only"));
    assert!(devpoll.cells.iter().all(Option::is_none) && devpoll.growth.is_none());
}

#[test]
fn a_point_sums_up_its_rounds() {
    let analysis = analyse(&run());
    let epoll = row(table(&analysis.tables, "poll", "loop"), "epoll-level");
    let cell = epoll.cells[0].as_ref().unwrap();
    assert_eq!((cell.point, cell.rounds, cell.samples), (100, 5, 200));
    assert_eq!((cell.user_ns, cell.system_ns), (Some(10.0), Some(100.0)));
    assert!((cell.median.value / 1880.0 - 1.0).abs() < 0.02, "{cell:?}");
    assert!(cell.median.low < cell.median.value && cell.median.value < cell.median.high);
    let ascending =
        [cell.min, cell.p10, cell.p25, cell.median.value, cell.p75, cell.p90, cell.p99, cell.max];
    assert!(ascending.is_sorted(), "{ascending:?}");
}

#[test]
fn findings_are_sentences_in_the_fixed_vocabulary() {
    let analysis = analyse(&run());
    let sentences: Vec<&str> = analysis.findings.iter().map(|f| f.sentence.as_str()).collect();
    assert!(
        sentences[0].starts_with("The harness itself costs 2.1")
            && sentences[0].contains(" ns per operation (nothing, 95 % CI 2.")
            && analysis.findings[0].kind == Kind::HarnessCost,
        "{sentences:#?}"
    );
    assert!(
        sentences[1].starts_with("poll and kqueue (libkqueue) are linear: ×")
            && sentences[1].contains(" from 100 to 10,000 watched descriptors; ")
            && sentences[1].contains(" at 10,000. poll ×")
            && sentences[1].contains("), exponent 1.00, 95 % CI "),
        "{sentences:#?}"
    );
    assert!(sentences[2].starts_with("epoll-level and sigio are flat between 1.4"));
    assert!(sentences[2].contains(" µs. epoll-level ×1.0"), "{sentences:#?}");
    let growth = |finding: &&Finding| finding.kind == Kind::Growth;
    let of_wait = analysis.findings.iter().filter(growth).nth(2).unwrap();
    let start = "poll and kqueue (libkqueue) (wait) are linear: ×";
    assert!(of_wait.sentence.starts_with(start), "{sentences:#?}");
    let headline: Vec<bool> = analysis.findings.iter().map(|f| f.headline).collect();
    assert!(headline.is_sorted_by(|a, b| a >= b), "headline metrics come first");
}

#[test]
fn the_same_run_gives_the_same_analysis_and_another_seed_other_intervals() {
    let mut run = run();
    let first = analyse(&run);
    assert_eq!(first, analyse(&run));
    run.plan.seed += 1;
    let second = analyse(&run);
    let median = |analysis: &crate::common::Analysis| {
        row(table(&analysis.tables, "poll", "loop"), "poll").cells[0].as_ref().unwrap().median
    };
    assert_eq!(median(&first).value.to_bits(), median(&second).value.to_bits());
    assert_ne!(median(&first), median(&second));
}

#[test]
fn failed_cells_leave_the_good_rounds_and_a_caveat() {
    let mut run = run();
    let analysis = analyse(&run);
    let sigio = row(table(&analysis.tables, "poll", "loop"), "sigio");
    assert_eq!(sigio.cells[2].as_ref().unwrap().rounds, 2);
    assert!(sigio.missing.is_empty());
    let texts = "3 cells of sigio at 10,000 failed: the queue overflowed".to_owned();
    assert!(caveats(&run).contains(&texts), "{:?}", caveats(&run));

    run.cells.retain(|cell| {
        (cell.key.subject.as_str(), cell.key.point) != ("sigio", 10_000) || cell.metrics.is_empty()
    });
    let analysis = analyse(&run);
    let sigio = row(table(&analysis.tables, "poll", "loop"), "sigio");
    assert_eq!(sigio.cells[2], None);
    let overflow = FailureReason::CheckFailed { message: "the queue overflowed".into() };
    assert_eq!(sigio.missing, [(10_000, MissingFigure::Failed { reason: overflow })]);
    assert_eq!(sigio.growth.as_ref().unwrap().to, 1000);
}

#[test]
fn a_point_that_was_not_planned_or_not_reached_says_so() {
    let mut run = run();
    let is_poll_at = |key: &CellKey, point| (key.subject.as_str(), key.point) == ("poll", point);
    run.cells.retain(|cell| !is_poll_at(&cell.key, 10_000) && !is_poll_at(&cell.key, 1000));
    run.plan.cells.retain(|key| !is_poll_at(key, 10_000));
    let missing =
        |run: &Run| row(table(&analyse(run).tables, "poll", "loop"), "poll").missing.clone();
    let not_reached = (1000, MissingFigure::RunEnded);
    assert_eq!(missing(&run), [not_reached.clone(), (10_000, MissingFigure::NotPlanned)]);
    let cause = LimitCause::Descriptors { max: 20_000 };
    run.plan.changes = vec![PlanChange {
        cells: vec![cell_of("poll", "select", 1_000_000, 0).build().key],
        change: Change::Clamped(Limit {
            parameter: "watched".into(),
            label: "watched descriptors".into(),
            requested: Value::Number(1_000_000),
            max: 10_000,
            cause: cause.clone(),
            position: None,
        }),
        remedy: String::new(),
    }];
    let requested = Value::Number(1_000_000);
    let clamped_only = MissingFigure::ClampedOnly { requested, cause };
    let text = "measured only for what can't have 1,000,000: a process may have 20000 descriptors";
    assert_eq!(reasons::missing_figure(&clamped_only), text);
    assert_eq!(missing(&run), [not_reached.clone(), (10_000, clamped_only)]);
    let change = PlanChange {
        cells: vec![cell_of("poll", "poll", 10_000, 0).build().key],
        change: Change::LeftOut { what: "All".into(), cause: LimitCause::Descriptors { max: 9 } },
        remedy: String::new(),
    };
    run.plan.changes = vec![change.clone()];
    let left_out = MissingFigure::LeftOut { because: change.to_string() };
    assert_eq!(missing(&run), [not_reached, (10_000, left_out)]);
    let waits = analyse(&run);
    let sigio = row(table(&waits.tables, "poll", "wait"), "sigio");
    assert_eq!(sigio.missing[0], (100, MissingFigure::MetricMissing { metric: "wait".into() }));
}

#[test]
fn a_run_that_was_cut_off_in_its_profile_has_whole_figures() {
    let mut run = run();
    run.plan.profile = Some(model::ProfilePlan { frequency_hz: 997, measure_ms: 500 });
    let trust = |run: &Run| {
        let conclusions = findings::conclude_for(run, &Reader::default());
        findings::Answer::new(run, &conclusions).trust.sentence()
    };
    let whole = trust(&run);
    run.summary.state = RunState::Interrupted;
    run.plan.cells.truncate(run.cells.len());
    let caveat = analyse(&run).caveats[0].clone();
    assert_eq!(caveat.what, "The run was cut off in its profile, of which 0 cells ended");
    assert_eq!(caveat.remedy, "knee run --resume=1");
    assert_eq!(trust(&run), whole);
    run.cells.truncate(4);
    assert!(analyse(&run).caveats[0].what.contains("4 of"), "its rounds are not done");
}

#[test]
fn an_interrupted_run_says_how_far_it_came() {
    let mut run = run();
    assert!(!caveats(&run).iter().any(|what| what.contains("interrupted")));
    run.summary.state = RunState::Interrupted;
    run.cells.truncate(4);
    let caveat = analyse(&run).caveats[0].clone();
    assert_eq!(caveat.what, "The run was interrupted: 4 of 65 cells ended");
    assert_eq!(caveat.remedy, "knee run --resume=1");
    run.summary.number = 0;
    let unrecorded = &analyse(&run).caveats[0].remedy;
    assert_eq!(unrecorded, "it can't go on here: measure again");
    run.summary.number = 3;
    (run.summary.cells_ended, run.summary.cells_planned) = (4, 65);
    assert_eq!(analyse(&run).caveats[0].remedy, "knee run --resume=3");
    let remedy = |run: &Run, reader: &Reader| {
        let conclusions = findings::conclude_for(run, reader);
        let trust = findings::Answer::new(run, &conclusions).trust;
        assert_eq!(trust.remedy, conclusions.caveats[0].warning().remedy, "trust names the same");
        trust.remedy
    };
    let mut reader = Reader { record: Some("my lab.db".into()), host: None };
    assert_eq!(remedy(&run, &reader), "knee run --resume=3 --record 'my lab.db'");
    for (key, value) in [(model::HOST_ID, "a"), (model::HOST_NAME, "bench-7")] {
        run.host_before.facts.insert(key.into(), value.into());
    }
    let mut here = run.host_before.clone();
    reader.host = Some(here.clone());
    assert_eq!(remedy(&run, &reader), "knee run --resume=3 --record 'my lab.db'");
    here.facts.insert("kernel.release".into(), "99".into());
    run.host_before.facts.insert("kernel.release".into(), "98".into());
    reader.host = Some(here.clone());
    assert_eq!(remedy(&run, &reader), "it can't go on here: measure again");
    here.facts.insert(model::HOST_ID.into(), "b".into());
    reader.host = Some(here);
    assert_eq!(remedy(&run, &reader), "resume it on bench-7, where it began");
    run.host_before.facts.clear();
    run.summary.origin = "import".into();
    assert!(analyse(&run).caveats[0].remedy.starts_with("resume it where it began"));
    run.plan.paired_with = "fedcba9876543210".into();
    assert_eq!(analyse(&run).caveats[0].remedy, "measure both again");
}

#[test]
fn an_emulated_run_says_that_only_ratios_count() {
    let mut run = run();
    let accelerated = |run: &mut Run, by: &str| {
        run.host_before.facts.insert(model::ACCELERATOR.into(), by.into());
        let answer = findings::Answer::new(run, &findings::conclude(run));
        (caveats(run), answer.measurement.sentence())
    };
    let has_caveat = |(caveats, _): &(Vec<String>, String)| {
        caveats.iter().any(|what| what.starts_with("QEMU emulated this machine"))
    };
    let kvm = accelerated(&mut run, "kvm");
    assert!(!has_caveat(&kvm) && !kvm.1.contains("emulated"), "{}", kvm.1);
    let tcg = accelerated(&mut run, "tcg");
    assert!(has_caveat(&tcg) && tcg.1.ends_with("emulated: ratios only"), "{}", tcg.1);
    run.summary.state = RunState::Interrupted;
    run.summary.number = 3;
    let remedy = &analyse(&run).caveats[0].remedy;
    assert_eq!(remedy, "it can't go on here: measure again", "its guest is gone");
}

#[test]
fn a_run_with_a_false_complete_has_a_caveat() {
    let mut run = run();
    run.cells.truncate(4);
    let caveat = analyse(&run).caveats[0].clone();
    assert_eq!(caveat.what, "The run calls itself complete with 4 of 65 cells");
    run.plan.budget = Some(model::Budget { time_ms: 1000, precision: 0.0 });
    assert!(!caveats(&run).iter().any(|what| what.contains("calls itself")));
}

#[test]
fn warnings_of_run_and_plan_are_caveats_once() {
    let mut run = run();
    let busy = Warning { what: "The machine was busy".into(), remedy: "knee doctor".into() };
    run.warnings = vec![busy.clone(), busy.clone()];
    let analysis = analyse(&run);
    assert_eq!(analysis.caveats.iter().filter(|caveat| **caveat == busy).count(), 1);
    let cause = LimitCause::Descriptors { max: 9 };
    let change = Change::LeftOut { what: "The control".into(), cause };
    let change = PlanChange { cells: Vec::new(), change, remedy: "--points 2".into() };
    run.plan.changes = vec![change.clone()];
    assert!(analyse(&run).caveats.contains(&change.warning()));
}

#[test]
fn thin_evidence_has_caveats() {
    let mut run = run();
    let texts = caveats(&run);
    assert!(texts.iter().any(|what| what.contains("2 rounds only")), "{texts:?}");
    run.cells.retain(|cell| cell.key.round == 0);
    for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
        for (index, sample) in metric.samples.iter_mut().enumerate() {
            *sample *= if index % 2 == 0 { 1.0 } else { 2.0 };
        }
    }
    let texts = caveats(&run);
    assert!(texts.iter().any(|what| what.contains("1 round only")), "{texts:?}");
    assert!(texts.iter().any(|what| what.contains("wider than ±25 %")), "{texts:?}");
}

#[test]
fn parameters_stand_in_sentences_only_where_they_differ() {
    let mut run = run();
    let mut more: Vec<Cell> =
        run.cells.iter().filter(|cell| cell.key.subject == "poll").cloned().collect();
    for cell in &mut more {
        cell.key.parameters = parameters([("active", "10")]);
    }
    run.plan.cells.extend(more.iter().map(|cell| cell.key.clone()));
    run.cells.extend(more);
    let sentences: Vec<String> = analyse(&run).findings.into_iter().map(|f| f.sentence).collect();
    for start in
        ["poll and kqueue (libkqueue) (active = 1) are linear", "poll (active = 10) is linear"]
    {
        assert!(sentences.iter().any(|s| s.starts_with(start)), "{start}: {sentences:#?}");
    }
    assert!(sentences.iter().any(|s| s.starts_with("poll (wait, active = 10) is linear")));
}

#[test]
fn a_trajectory_is_cut_into_points() {
    let mut run = run();
    let mut random = Rng::with_seed(5);
    run.plan.workloads = vec![workload("socket", &["call"], &["tcp"])];
    run.plan.unavailable.clear();
    let positions: Vec<u64> = (1..=10_000).collect();
    let metric = Metric {
        samples: positions.iter().map(|_| 900.0 * (0.05 * normal(&mut random)).exp()).collect(),
        positions,
        ..samples("call", 1.0, &mut random)
    };
    let cell = cell_of("socket", "tcp", 10_000, 0).metric(metric).build();
    run.plan.cells = vec![cell.key.clone()];
    run.cells = vec![cell];
    let analysis = analyse(&run);
    let table = table(&analysis.tables, "socket", "call");
    assert_eq!(table.points, [1, 10, 100, 1000, 2000, 5000, 10_000]);
    let growth = row(table, "tcp").growth.as_ref().unwrap();
    assert_eq!(growth.class, Class::Constant, "{growth:?}");
    assert_eq!(row(table, "tcp").cells[0].as_ref().unwrap().user_ns, None);
}

#[test]
fn a_run_without_cells_is_analysed() {
    let mut run = run();
    run.cells.clear();
    run.summary.state = RunState::Open;
    let analysis = analyse(&run);
    assert!(analysis.findings.is_empty());
    assert_eq!(analysis.caveats[0].what, "The run has not ended: 0 of 65 cells ended");
    assert!(analysis.tables.iter().all(|table| table.headline));
}

/// Five rounds of a trajectory of `count` samples, each what `value` makes of its place and round.
fn trajectories(count: u64, value: impl Fn(f64, u32, &mut Rng) -> f64) -> Run {
    let mut run = run();
    let mut random = Rng::with_seed(6);
    let info = workload("fork", &["call"], &["dynamic"]);
    run.plan.workloads = vec![WorkloadInfo { axis: "processes".into(), trajectory: true, ..info }];
    run.plan.unavailable.clear();
    run.cells = (0..5)
        .map(|round| {
            let positions: Vec<u64> = (1..=count).collect();
            let mut draw = |&index: &u64| {
                value(index as f64, round, &mut random) * (0.05 * normal(&mut random)).exp()
            };
            let samples = positions.iter().map(&mut draw).collect();
            let metric = Metric { positions, ..fixtures::metric("call", samples) };
            cell_of("fork", "dynamic", 5_000, round).metric(metric).build()
        })
        .collect();
    run.plan.cells = run.cells.iter().map(|cell| cell.key.clone()).collect();
    run
}

fn sentences(run: &Run, kind: Kind) -> Vec<String> {
    let all = analyse(run).findings.into_iter().filter(|finding| finding.kind == kind);
    all.map(|finding| finding.sentence).collect()
}

#[test]
fn modes_of_a_trajectory_have_rounds_and_growth() {
    let graphs = |n: f64, round: u32, _: &mut Rng| {
        90_000.0 + if [1, 4].contains(&round) { 60.0 * n } else { 0.0 }
    };
    let run = trajectories(5_000, graphs);
    let texts = sentences(&run, Kind::Modes);
    let [mode] = texts.as_slice() else { panic!("{texts:?}") };
    assert!(mode.starts_with("dynamic: 40 % of the samples take 38"), "{mode}");
    assert!(mode.contains(" instead of 90.") && mode.contains(" µs (two modes). From "), "{mode}");
    assert!(mode.contains("to 5,000 processes, 60 % on the lower ("), "{mode}");
    assert!(mode.contains("µs), 40 % on the upper (linear, "), "{mode}");
    assert!(mode.ends_with("rounds 2 and 5 have the upper one."), "{mode}");
    assert!(sentences(&run, Kind::Step).is_empty());
    let tables = analyse(&run).tables;
    let modes = tables[0].rows[0].modes.clone().unwrap();
    assert!(modes.modes.iter().all(|mode| (5..=25).contains(&mode.curve.len())), "{modes:?}");
    assert!((modes.modes[1].curve.last().unwrap().1 / 385_000.0).ln().abs() < 0.05, "{modes:?}");
}

#[test]
fn steps_and_drift_of_a_trajectory_are_findings() {
    let stepped = |n: f64, _: u32, _: &mut Rng| if n >= 2_500.0 { 1_800.0 } else { 1_000.0 };
    let run = trajectories(5_000, stepped);
    let texts = sentences(&run, Kind::Step);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].starts_with("dynamic steps up ×1."), "{texts:?}");
    assert!(texts[0].contains(" at 2,500 processes"), "{texts:?}");
    assert!(sentences(&run, Kind::Modes).is_empty());
    let drifted = |_: f64, round: u32, _: &mut Rng| if round >= 3 { 1_300.0 } else { 1_000.0 };
    let texts = sentences(&trajectories(5_000, drifted), Kind::Drift);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains(" ×1.30 of the first. ×1.30 from round 4 on (95 % CI "), "{texts:?}");
}

#[test]
fn a_trajectory_that_was_cut_short_keeps_what_it_measured() {
    let mut run = trajectories(500, |n, _, _| 1_000.0 * n);
    for cell in &mut run.cells {
        let because = "fork: Resource temporarily unavailable (EAGAIN)";
        cell.short = Some(short(500, because, "ulimit -u 10000"));
    }
    let analysis = analyse(&run);
    let row = &analysis.tables[0].rows[0];
    let short = row.short.as_ref().unwrap();
    assert_eq!((short.reached, short.planned), (500, 5_000));
    assert_eq!(row.growth.as_ref().unwrap().class, Class::Linear, "{:?}", row.growth);
    let caveat = analysis.caveats.iter().find(|caveat| caveat.remedy == "ulimit -u 10000").unwrap();
    assert_eq!(
        caveat.what,
        "fork dynamic reached 500 of 5,000 processes in every round: fork: Resource temporarily \
         unavailable (EAGAIN)"
    );
    // In two rounds only: the others go on, and there is nothing missing.
    let mut whole = trajectories(5_000, |n, _, _| 1_000.0 * n);
    whole.cells[1] = run.cells[1].clone();
    whole.cells[3] = run.cells[3].clone();
    let analysis = analyse(&whole);
    assert!(analysis.caveats.iter().any(|c| c.what.contains("in 2 of 5 rounds: fork")));
    let row = &analysis.tables[0].rows[0];
    assert_eq!((row.cells.last().unwrap().as_ref().unwrap().rounds, row.missing.len()), (3, 0));
}

/// To start a program instead of copying this one is no advice: what is used instead does the same.
#[test]
fn what_to_use_instead_does_the_same() {
    // A way, its operation, and its cost: of itself, and of each MiB of the parent.
    const WAYS: [(&str, &str, f64, f64); 4] = [
        ("fork", "copy", 1e5, 1.4e5),
        ("clone", "copy", 1.02e5, 1.43e5),
        ("fork-exec", "start", 3e5, 1.5e5),
        ("vfork", "start", 2.4e5, 0.0),
    ];
    let about = fixtures::workload("fork").axis("MiB of the parent", "parent").time("fork");
    let about = WAYS.iter().fold(about, |about, (name, operation, ..)| {
        about.subject(name, name, "").subject_operation(operation)
    });
    let mut random = Rng::with_seed(1);
    let mut cells = Vec::new();
    for round in 0..5 {
        for (subject, _, base, slope) in WAYS {
            for point in [1, 4, 16, 64, 256, 1_000] {
                let level = base + slope * point as f64;
                let samples = (0..20).map(|_| level * (0.01 * normal(&mut random)).exp()).collect();
                cells.push(cell("fork", subject, point, round).samples("fork", samples));
            }
        }
    }
    let run = fixtures::run(about).rounds(5).cells(cells).complete();
    let conclusions = findings::conclude(&run);
    let answer = findings::answer::Answer::new(&run, &conclusions);
    let mut advised: Vec<(Vec<&str>, Option<Vec<String>>)> = answer
        .stops_scaling
        .iter()
        .map(|statement| {
            let subjects = statement.subjects.iter().map(String::as_str).collect();
            (subjects, statement.advice.as_ref().map(|advice| advice.subjects.clone()))
        })
        .collect();
    advised.sort();
    let vfork = Some(vec!["vfork".to_owned()]);
    assert_eq!(advised, [(vec!["fork", "clone"], None), (vec!["fork-exec"], vfork)]);
    let behind = answer.worth_knowing.iter().filter(|statement| statement.subjects.len() > 1);
    assert_eq!(behind.count(), 0, "no copy is set against a start");
}
