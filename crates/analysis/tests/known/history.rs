//! Whole histories: what is joined and what is left out, and what is reported of a change of known run and
//! size.

use analysis::Estimate;
use analysis::compare::{Difference, Direction};
use analysis::history::{
    FigurePath, History, Incomparable, LeftOut, Machine, Measured, Terms, Wanted, history, measured,
};
use analysis::stats::random::{generator, normal};
use fixtures::{cell, run as run_of, workload};
use model::{Host, Parameters, Run, RunState, RunSummary, WorkloadInfo};
use std::collections::BTreeMap;

fn made() -> WorkloadInfo {
    workload("made")
        .version(2)
        .axis("things", "things")
        .metric("call", "call", "ns")
        .rate("rate", "call", "calls/s")
        .subject("b", "B", "")
        .subject("a", "A", "")
        .build()
}

fn summary(number: i64) -> RunSummary {
    RunSummary {
        number,
        id: format!("{number:016x}"),
        started: format!("2026-11-{number:02}T12:00:00+00:00"),
        state: RunState::Complete,
        version: "0.1.0".into(),
        cells_ended: 1,
        cells_planned: 1,
        ..RunSummary::default()
    }
}

/// A run whose figures have these medians, each with an interval of 1 % to either side.
fn run(number: i64, figures: &[(&str, &str, u64, f64)]) -> Measured {
    let figure = |&(metric, subject, point, value): &(&str, &str, u64, f64)| {
        let path = FigurePath {
            metric: metric.into(),
            parameters: Parameters::new(),
            subject: subject.into(),
            point,
        };
        (path, Estimate { value, low: value * 0.99, high: value * 1.01 })
    };
    Measured {
        summary: summary(number),
        workload: made(),
        machine: Host {
            facts: BTreeMap::from([
                ("cpu.model".into(), "A CPU".into()),
                ("cpu.count".into(), "2".into()),
                ("kernel.release".into(), "6.18".into()),
            ]),
            ..Host::default()
        },
        setting: BTreeMap::new(),
        predicted: false,
        workers: None,
        failed: BTreeMap::new(),
        figures: figures.iter().map(figure).collect(),
    }
}

const TERMS: Terms = Terms { margin: 0.02, label: None };

fn joined(runs: Vec<Measured>) -> History {
    history(runs, &TERMS).expect("there are runs")
}

/// A few per cent up and down, the same every time.
fn wobble(number: i64) -> f64 {
    [0.0, 0.006, -0.008, 0.003, -0.002, 0.009, -0.005][number as usize % 7]
}

/// So many runs in which `a` at 10 goes up by `by` with run `since`.
fn with_a_step(count: i64, since: i64, by: f64) -> Vec<Measured> {
    (1..=count)
        .map(|number| {
            let level = if number < since { 1_000.0 } else { 1_000.0 * by };
            let noise = 1.0 + wobble(number);
            run(number, &[("call", "a", 10, level * noise), ("call", "b", 10, 500.0 / noise)])
        })
        .collect()
}

/// `kernel 6.18 6.19`.
fn differences(all: &[Difference]) -> Vec<String> {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let text = |difference: &Difference| {
        let Difference { what, base, new } = difference;
        format!("{what} {} {}", value(base), value(new))
    };
    all.iter().map(text).collect()
}

#[test]
fn a_step_has_its_run_its_size_and_the_differences() {
    let mut runs = with_a_step(14, 9, 1.2);
    for run in &mut runs {
        let later = run.summary.number >= 9;
        let commit = if later { "9cf01cb" } else { "3701d31" };
        run.summary.labels.insert("commit".into(), commit.into());
        if later {
            run.machine.facts.insert("kernel.release".into(), "6.19".into());
            run.summary.version = "0.2.0".into();
        }
    }
    let history = joined(runs.clone());
    assert_eq!((history.judged, history.changes.len()), (2, 1));
    let change = &history.changes[0];
    assert_eq!((change.at, change.direction, change.fresh), (8, Direction::Worse, false));
    assert_eq!((change.subject.as_str(), change.points.as_slice()), ("a", [10].as_slice()));
    assert_eq!(
        differences(&change.differences),
        ["commit 3701d31 9cf01cb", "kernel 6.18 6.19", "knee 0.1.0 0.2.0"]
    );
    let by = change.lines[0].1;
    assert!(1.18 < by.low && by.low < 1.2 && 1.2 < by.high && by.high < 1.22, "{by:?}");
    // The subjects are in the workload's order, and the other one did not change.
    let names: Vec<&str> = history.lines.iter().map(|line| line.subject.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
    assert!(!history.lines[0].has_changed());
    let shift = &history.lines[1].shifts[0];
    assert!(
        (shift.before / 1_000.0 - 1.0).abs() < 0.01 && (shift.after / 1_200.0 - 1.0).abs() < 0.01
    );
    let only = Terms { label: Some("commit".into()), ..TERMS };
    let only = analysis::history::history(runs, &only).expect("there are runs");
    assert_eq!(differences(&only.changes[0].differences), ["commit 3701d31 9cf01cb"]);
}

#[test]
fn where_more_is_better_less_is_slower() {
    let runs = (1..=12)
        .map(|number| {
            let level = if number < 7 { 5_000.0 } else { 4_000.0 };
            run(number, &[("rate", "a", 1, level * (1.0 + wobble(number)))])
        })
        .collect();
    let history = joined(runs);
    assert_eq!(history.changes[0].direction, Direction::Worse);
    let change = &history.changes[0];
    assert_eq!((change.metric.as_str(), change.at, change.last), ("rate", 6, None));
    assert!((change.lines[0].1.value - 0.8).abs() < 0.005, "{:?}", change.lines);
}

/// A gate fails with the run that first shows a change, and not for ever after.
#[test]
fn a_change_is_fresh_with_the_run_that_brings_it_to_light() {
    let fresh = |count: i64| -> Vec<bool> {
        joined(with_a_step(count, 9, 1.2)).changes.iter().map(|change| change.fresh).collect()
    };
    assert_eq!(fresh(9), [false; 0], "one run is no level");
    assert_eq!(fresh(10), [true]);
    assert_eq!(fresh(11), [false]);
}

#[test]
fn points_of_a_series_that_change_together_are_one_change() {
    let runs = (1..=12)
        .map(|number| {
            let later = if number < 7 { 1.0 } else { 1.3 };
            let noise = 1.0 + wobble(number);
            let point = |point: u64, by: f64| ("call", "a", point, 100.0 * by * noise);
            run(number, &[point(10, 1.0), point(100, later), point(1_000, later * later)])
        })
        .collect();
    let history = joined(runs);
    assert_eq!(history.changes.len(), 1);
    assert_eq!(history.changes[0].points, [100, 1_000]);
    let factors: Vec<f64> = history.changes[0].lines.iter().map(|(_, by)| by.value).collect();
    assert_eq!(history.changes[0].at, 6);
    assert!((factors[0] - 1.3).abs() < 0.01 && (factors[1] - 1.69).abs() < 0.01, "{factors:?}");
}

/// Four subjects in twenty runs; the first `shared` of them become slower, each with the run that is given.
fn shared(since: &[i64]) -> History {
    let runs = (1..=20).map(|number| {
        let subjects = (0u8..).zip(["a", "b", "c", "d"]);
        let figures: Vec<_> = subjects
            .map(|(path, subject)| {
                let slower = since.get(usize::from(path)).is_some_and(|&since| number >= since);
                let noise = 1.0 + wobble(number + i64::from(path));
                ("call", subject, 10, if slower { 1_300.0 } else { 1_000.0 } * noise)
            })
            .collect();
        let mut run = run(number, &figures);
        if number >= 11 {
            run.machine.facts.insert("kernel.release".into(), "6.19".into());
        }
        run
    });
    joined(runs.collect())
}

#[test]
fn a_change_of_most_subjects_is_a_joint_change() {
    let joint_changes = |since: &[i64]| {
        let history = shared(since);
        assert_eq!(history.changes.len(), since.len(), "each has its own: {:?}", history.changes);
        let joint = history.joint_changes.iter();
        joint
            .map(|joint| {
                assert_eq!(joint.direction, Direction::Worse);
                assert!(
                    joint.lines.iter().all(|(_, by)| (by.value - 1.3).abs() < 0.01),
                    "{joint:?}"
                );
                let span = (joint.from, joint.to);
                (joint.subjects, joint.judged, span, differences(&joint.differences))
            })
            .collect::<Vec<_>>()
    };
    let kernel = vec!["kernel 6.18 6.19".to_owned()];
    assert_eq!(joint_changes(&[11, 11, 11, 11]), [(4, 4, (10, 10), kernel)]);
    // Noise moves a change by a run or two.
    assert_eq!(joint_changes(&[14, 15, 13]), [(3, 4, (12, 14), Vec::new())]);
    assert_eq!(joint_changes(&[8, 12, 16, 18]), [], "one after the other");
    assert_eq!(joint_changes(&[11, 11]), [], "half of them");
}

#[test]
fn what_comes_and_goes_says_until_when() {
    let runs = (1..=21)
        .map(|number| {
            let level = if (8..15).contains(&number) { 1_300.0 } else { 1_000.0 };
            run(number, &[("call", "a", 1, level * (1.0 + wobble(number)))])
        })
        .collect();
    let history = joined(runs);
    let spans = history.changes.iter().map(|change| (change.direction, change.at, change.last));
    let expected = [(Direction::Better, 14, None), (Direction::Worse, 7, Some(13))];
    assert_eq!(spans.collect::<Vec<_>>(), expected);
}

#[test]
fn a_drift_has_no_run_of_its_own() {
    let runs = (1..=20)
        .map(|number| {
            let level = 1_000.0 * 1.01_f64.powi(number as i32);
            run(number, &[("call", "a", 1, level * (1.0 + wobble(number) / 2.0))])
        })
        .collect();
    let history = joined(runs);
    let line = &history.lines[0];
    assert_eq!(line.shifts, []);
    let drift = line.drift.expect("a drift");
    assert!(drift.low < 1.208 && 1.208 < drift.high, "{drift:?}");
    assert!(!history.changes[0].fresh, "it was there before");
    let change = &history.changes[0];
    assert_eq!((change.drift, change.at, change.direction), (true, 0, Direction::Worse));
}

/// A drift that a run brings to light is new with that run, and with no later one.
#[test]
fn a_drift_is_fresh_once() {
    let drifting = |count: i64| {
        let runs = (1..=count).map(|number| {
            let level = 1_000.0 * 1.01_f64.powi(number as i32);
            run(number, &[("call", "a", 1, level * (1.0 + wobble(number) / 2.0))])
        });
        joined(runs.collect())
    };
    let fresh: Vec<(i64, bool)> = (4..=24)
        .flat_map(|count| drifting(count).changes.into_iter().map(move |change| (count, change)))
        .filter(|(_, change)| change.fresh)
        .map(|(count, change)| (count, change.drift))
        .collect();
    assert_eq!(fresh, [(7, true)]);
}

/// Three runs at each of two levels with wide CIs: no change is reported, and none counts as detectable.
#[test]
fn detectable_changes_depend_on_the_errors_of_the_runs() {
    let with = |wide: f64, by: f64| {
        let mut runs: Vec<Measured> = (1..=6)
            .map(|number| {
                let level = if number > 3 { 1_000.0 * by } else { 1_000.0 };
                run(number, &[("call", "a", 1, level * (1.0 + wobble(number) / 10.0))])
            })
            .collect();
        for figure in runs.iter_mut().flat_map(|run| &mut run.figures) {
            figure.1.low = figure.1.value / wide;
            figure.1.high = figure.1.value * wide;
        }
        joined(runs)
    };
    let unseen = with(1.3, 0.78);
    assert_eq!(unseen.changes, []);
    let visible = unseen.lines[0].visible.expect("it was judged");
    assert!(visible > 1.0 / 0.78, "{visible}");
    for share in [0.95, 1.05] {
        let by = (visible.ln() * share).exp();
        assert_eq!(with(1.3, by).changes.len(), usize::from(share > 1.0), "{by} and {visible}");
    }
}

#[test]
fn the_other_side_of_a_pair_is_left_out_and_an_interrupted_run_is_named() {
    let mut runs = with_a_step(14, 20, 1.0);
    for number in [4_usize, 8, 14] {
        runs[number - 1].workers = Some("env X=1".into());
        for figure in &mut runs[number - 1].figures {
            figure.1.value *= 2.0;
        }
    }
    runs[2].summary.labels.insert("workers".into(), "of this knee".into());
    runs[4].summary.state = RunState::Interrupted;
    let history = joined(runs.clone());
    let workers = Incomparable::Workers { workers: Some("env X=1".into()) };
    let expected = [
        LeftOut::Runs { runs: vec![4, 8, 14], reason: workers },
        LeftOut::Unfinished { runs: vec![5] },
    ];
    assert_eq!(history.left_out, expected);
    assert_eq!((history.runs.len(), history.changes.len()), (11, 0));
    // On their own they are joined.
    runs.retain(|run| run.workers.is_some());
    assert_eq!(joined(runs).runs.len(), 3);
}

#[test]
fn what_is_not_comparable_with_the_newest_is_left_out_with_the_reason() {
    let mut runs = with_a_step(12, 7, 1.2);
    runs[0].workload.version = 1;
    runs[1].workload.version = 1;
    runs[2].machine.facts.insert("cpu.model".into(), "Another CPU".into());
    runs[3].workload.axis_parameter = "size".into();
    runs[3].workload.axis = "sizes".into();
    runs[4].predicted = true;
    runs[5].workload.metrics[0].unit = "ms".into();
    let history = joined(runs);
    let numbers: Vec<i64> = history.runs.iter().map(|run| run.number).collect();
    assert_eq!(numbers, [6, 7, 8, 9, 10, 11, 12]);
    let left_out = |runs: &[i64], reason| LeftOut::Runs { runs: runs.to_vec(), reason };
    let machine = |cpu_model: &str| Machine {
        name: None,
        cpu_model: Some(cpu_model.into()),
        cpu_count: Some("2".into()),
    };
    let version = Incomparable::Version { workload: "made".into(), version: 1, newest: 2 };
    let axis = Incomparable::Axis { axis: "sizes".into(), newest: "things".into() };
    let another =
        Incomparable::Machine { machine: machine("Another CPU"), newest: machine("A CPU") };
    let expected = [
        left_out(&[1, 2], version),
        left_out(&[3], another),
        left_out(&[4], axis),
        left_out(&[5], Incomparable::Predicted),
        LeftOut::Unit { runs: vec![6], metric: "call".into(), unit: "ms".into() },
    ];
    assert_eq!(history.left_out, expected);
    assert!(history.lines.iter().all(|line| line.figures[0].0 == 1), "run 6 has no figures left");
}

#[test]
fn runs_of_another_machine_with_equal_hardware_are_left_out_by_its_name() {
    let mut runs = with_a_step(12, 7, 1.2);
    for (index, run) in runs.iter_mut().enumerate() {
        let (name, id) = if index < 4 { ("alpha", "1") } else { ("beta", "2") };
        run.machine.facts.insert(model::HOST_NAME.into(), name.into());
        run.machine.facts.insert(model::HOST_ID.into(), id.into());
    }
    // A record of an older knee does not say which machine it was.
    runs[0].machine.facts.remove(model::HOST_ID);
    let history = joined(runs);
    let numbers: Vec<i64> = history.runs.iter().map(|run| run.number).collect();
    assert_eq!(numbers, [1, 5, 6, 7, 8, 9, 10, 11, 12]);
    let machine = |name: &str| Machine {
        name: Some(name.into()),
        cpu_model: Some("A CPU".into()),
        cpu_count: Some("2".into()),
    };
    let reason = Incomparable::Machine { machine: machine("alpha"), newest: machine("beta") };
    assert_eq!(history.left_out, [LeftOut::Runs { runs: vec![2, 3, 4], reason }]);
}

#[test]
fn runs_that_measured_other_points_make_lines_of_their_own() {
    let runs = (1..=6)
        .map(|number| match number {
            1 | 2 => run(number, &[("call", "a", 10, 1.0)]),
            _ => run(number, &[("call", "a", 10, 1.0), ("call", "a", 20, 2.0)]),
        })
        .collect();
    let history = joined(runs);
    let lengths: Vec<(u64, usize)> =
        history.lines.iter().map(|line| (line.point, line.figures.len())).collect();
    assert_eq!(lengths, [(10, 6), (20, 4)]);
}

#[test]
fn few_runs_and_figures_without_a_ratio_are_not_judged() {
    let history = joined(with_a_step(3, 2, 2.0));
    assert_eq!((history.judged, history.changes.len()), (0, 0));
    assert!(history.lines.iter().all(|line| line.has_too_few() && !line.is_judged()));
    let zero = (1..=6)
        .map(|number| run(number, &[("call", "a", 1, f64::from(u8::from(number > 3)))]))
        .collect();
    let history = joined(zero);
    assert_eq!(history.judged, 0);
    assert_eq!(history.left_out, [LeftOut::NotPositive { lines: 1, total: 1 }]);
    assert_eq!(analysis::history::history(Vec::new(), &TERMS), None);
}

/// The number of 100 histories of 60 unchanged lines that report a change, by their number of runs. This
/// `share` of the figures is disturbed, and runs differ as a whole, too.
fn alarms(share: f64) -> [(i64, usize); 4] {
    let alarms_in = |count: i64| {
        let with_alarms = (0..100).filter(|&repetition| {
            let mut random = generator(repetition, &["nothing happens"]);
            let runs = (1..=count).map(|number| {
                let all = 0.02 * normal(&mut random);
                let figures: Vec<(&str, &str, u64, f64)> = (0..60)
                    .map(|point| {
                        let far = if random.f64() < share { 6.0 } else { 1.0 };
                        let off = all + 0.03 * far * normal(&mut random);
                        ("call", "a", point, 1_000.0 * off.exp())
                    })
                    .collect();
                run(number, &figures)
            });
            !joined(runs.collect()).changes.is_empty()
        });
        with_alarms.count()
    };
    [5, 10, 20, 28].map(|count| (count, alarms_in(count)))
}

/// At most 5 % are allowed; 11 of 100 come with a chance of 1 % at that rate.
#[test]
fn a_history_without_changes_reports_none() {
    let counts = alarms(0.0);
    println!("number of runs, false alarms in 100 histories: {counts:?}");
    assert!(counts.iter().all(|(_, alarms)| *alarms <= 11), "{counts:?}");
}

/// Two disturbances one after the other look like a level. Where one figure in fifty is disturbed by six
/// times what is usual, a t-test promises too much: how much, docs/history.md says.
#[test]
fn disturbed_figures_cause_few_alarms() {
    let counts = alarms(0.02);
    println!("the same, where one figure in fifty is disturbed: {counts:?}");
    assert!(counts.iter().all(|(_, alarms)| *alarms <= 16), "{counts:?}");
}

/// A run of real cells: three rounds, of which one is disturbed.
fn whole_run() -> Run {
    let mut cells = Vec::new();
    for (round, by) in (0..).zip([1.0, 3.0, 1.02]) {
        for (subject, base) in [("a", 100.0), ("b", 200.0)] {
            for point in [10, 100] {
                let samples = [0.99, 1.0, 1.01].map(|also| base * by * also).to_vec();
                let cell = cell("made", subject, point, round);
                cells.push(cell.samples("call", samples.clone()).samples("rate", samples));
            }
        }
    }
    let run = run_of(made()).number(1).pinned_cpus(&[1]).clock("tsc", 0.0, 0.0);
    run.cells(cells).complete()
}

#[test]
fn of_a_run_the_medians_that_are_wanted_are_taken() {
    let run = whole_run();
    let figures = |wanted: &Wanted| -> Vec<(String, String, u64, f64)> {
        let part = measured(&run, "made", wanted).expect("it has that workload");
        let figure = |(path, figure): (FigurePath, Estimate)| {
            (path.metric, path.subject, path.point, figure.value)
        };
        part.figures.into_iter().map(figure).collect()
    };
    let row = |metric: &str, subject: &str, point: u64, value: f64| {
        (metric.to_owned(), subject.to_owned(), point, value)
    };
    let headline = [
        row("call", "b", 10, 204.0),
        row("call", "b", 100, 204.0),
        row("call", "a", 10, 102.0),
        row("call", "a", 100, 102.0),
    ];
    assert_eq!(figures(&Wanted::default()), headline);
    let narrow = Wanted { subjects: vec!["a".into()], points: vec![100], all: true };
    assert_eq!(figures(&narrow), [row("call", "a", 100, 102.0), row("rate", "a", 100, 102.0)]);
    assert_eq!(measured(&run, "other", &Wanted::default()), None);
    // The same run gives the same, intervals included.
    assert_eq!(measured(&run, "made", &narrow), measured(&run, "made", &narrow));
}

#[test]
fn a_run_says_whose_workers_measured_it_and_a_budget_what_its_intervals_hold() {
    let mut run = whole_run();
    let part = |run: &Run| measured(run, "made", &Wanted::default()).expect("it has that workload");
    let workers = |run: &Run| part(run).workers;
    run.summary.labels.insert("workers".into(), "env X=1".into());
    assert_eq!(workers(&run), None, "it took no turns");
    run.plan.paired_with = "00000000a3f1b2c4".into();
    assert_eq!(workers(&run).as_deref(), Some("env X=1"));
    run.summary.labels.insert("workers".into(), "of this knee".into());
    assert_eq!(workers(&run), None);

    let width = |run: &Run| part(run).figures[0].1.high - part(run).figures[0].1.low;
    for cell in &mut run.cells {
        for metric in &mut cell.metrics {
            let by = [0.9, 1.0, 1.1][cell.key.round as usize];
            metric.samples = (0..9).map(|at| by * (100.0 + f64::from(at))).collect();
        }
    }
    let plain = width(&run);
    run.plan.budget = Some(model::Budget { time_ms: 0, precision: 0.02 });
    assert!(width(&run) > plain, "{plain}");
}
