//! Comparisons of runs as JSON are what the published schema says.

use crate::fixture::{baseline, compared, locks, profile, trajectory};
use analysis::compare::{
    Change, ChangeDetail, ChangeKind, Comparison, Contention, LeftOut, NoRatioReason, Share, Side,
    TableName, Terms, Unserved, Verdict, WholeFigure, compare, compare_fleet, compare_several,
};
use analysis::{CutShort, RateTrend};
use jsonschema::Validator;
use model::{FailureReason, Run, RunState};
use report::matrix::json::{SCHEMA, comparison as json, matrix};
use report::matrix::{FleetHead, Matrix};
use report::schemas;
use serde::Serialize;
use serde_json::{Value, json};

const TERMS: Terms = Terms { margin: 0.05, fail_above: Some(0.1), across: true, all: true };

fn schema(name: &str) -> Value {
    let schema = schemas::TABLE.iter().find(|schema| schema.name == name).expect("a schema");
    (schema.schema)().into()
}

fn compiled(name: &str) -> Validator {
    crate::fixture::strict_schema(name)
}

fn holds(schema: &Validator, value: &Value) {
    if let Err(error) = schema.validate(value) {
        let at = error.instance_path().to_string();
        let part = value.pointer(&at).unwrap_or(value).to_string();
        let part: String = part.chars().take(600).collect();
        let error: String = error.to_string().chars().rev().take(300).collect();
        panic!("{at}: …{}: {part}", error.chars().rev().collect::<String>());
    }
}

fn written(view: &impl Serialize) -> Value {
    serde_json::to_value(view).expect("written")
}

fn value(comparison: &Comparison) -> Value {
    written(&json(comparison))
}

/// Two runs of which each sort of change and of omission is stated.
fn with_everything() -> Value {
    let mut comparison = compared::compared(true).1;
    let (workload, axis) = ("poll".to_owned(), "watched descriptors".to_owned());
    let table = TableName { workload: workload.clone(), metric: None, parameters: [].into() };
    let labels = vec!["poll".to_owned()];
    let reason = FailureReason::Panicked { message: "a panic".to_owned() };
    let short = CutShort { reached: 6, planned: 9, reason: reason.clone() };
    let (row, modes) = {
        let (_, conclusions) = trajectory::before(trajectory::Size::SMALL);
        let mut rows = conclusions.analysis.tables.into_iter().flat_map(|table| table.rows);
        let modes = rows.find_map(|row| row.modes).expect("modes");
        (comparison.tables[0].rows[0].clone(), modes)
    };
    let points = vec![100, 300];
    let details = [
        ChangeDetail::Series { ratio: row.overall.clone(), most_at: Some(100) },
        ChangeDetail::Contention(Contention {
            point: 2,
            slowdown: row.overall.ratio,
            control: row.overall.ratio,
            control_verdict: Verdict::Undecided,
            sharing: "threads".to_owned(),
            separate: "processes".to_owned(),
            shared: "the descriptor table".to_owned(),
            waiting: comparison.differences.first().cloned(),
        }),
        ChangeDetail::Points { points: points.clone(), ratio: row.overall.clone() },
        ChangeDetail::Medians { ratio: row.overall },
        ChangeDetail::Trend { base: RateTrend::Holds, new: RateTrend::Collapses },
        ChangeDetail::ModesAppeared { modes: modes.clone() },
        ChangeDetail::ModesVanished { modes },
        ChangeDetail::Unavailable { reason: "another kernel".to_owned() },
        ChangeDetail::Available { reason: "another kernel".to_owned() },
        ChangeDetail::Failed { points: points.clone(), reason: reason.clone() },
        ChangeDetail::Measured { points: points.clone(), reason },
        ChangeDetail::CutShort { short: short.clone() },
        ChangeDetail::Completed { short },
        ChangeDetail::Served {
            what: Unserved::Connections,
            point: 10,
            base: Share { count: 0, all: 10 },
            new: Share { count: 6, all: 10 },
        },
    ];
    let change = comparison.changes[0].clone();
    comparison.changes.extend(details.map(|detail| Change {
        kind: ChangeKind::Contention,
        direction: None,
        subjects: vec!["poll".to_owned()],
        detail,
        ..change.clone()
    }));
    let text = |text: &str| text.to_owned();
    comparison.left_out.extend([
        LeftOut::Unfinished {
            side: Side::New,
            run: text("00"),
            state: RunState::Interrupted,
            cells: 1,
            planned: 2,
        },
        LeftOut::TwoMachines { base: Some(text("amber")), new: None },
        LeftOut::Workload { side: Side::Base, workload: workload.clone() },
        LeftOut::Axis { workload: workload.clone(), base: text("a"), new: text("b") },
        LeftOut::Table { side: Side::New, table: table.clone() },
        LeftOut::Unit { table, base: text("ns"), new: text("B") },
        LeftOut::Subjects {
            side: Side::New,
            workload: workload.clone(),
            metric: None,
            labels: labels.clone(),
        },
        LeftOut::Points {
            side: Side::New,
            workload: workload.clone(),
            metric: Some(text("add")),
            labels: labels.clone(),
            axis: axis.clone(),
            points: points.clone(),
            other_end: Some(7),
        },
        LeftOut::NoRatio {
            workload: workload.clone(),
            metric: Some(text("add")),
            labels,
            axis: axis.clone(),
            points,
            reason: NoRatioReason::Cold,
        },
        LeftOut::WholeLoad {
            workload,
            metric: text("max"),
            unit: text("ns"),
            axis,
            figures: vec![WholeFigure { label: text("shop"), point: 10, base: 2e6, new: 9e6 }],
        },
    ]);
    value(&comparison)
}

/// Comparisons as `analysis` makes them: of a rate, of a trajectory, with a profile.
fn analysed() -> Vec<Value> {
    let pairs = [
        vec![locks::locks(5), locks::locks(3)],
        vec![
            trajectory::before(trajectory::Size::SMALL),
            trajectory::after(trajectory::Size::SMALL),
        ],
        vec![profile::profiled(2), profile::slower(2)],
    ];
    pairs
        .iter()
        .map(|runs| {
            let comparison = compare(&runs[0].0, &runs[1].0, &TERMS).expect("comparable");
            value(&comparison)
        })
        .collect()
}

/// Several runs, and the same with one that can't be compared with the first.
fn several() -> [Value; 2] {
    [vec![], vec![locks::locks(3)]].map(|refused| {
        let runs = [baseline::machines(), refused].concat();
        let all: Vec<&Run> = runs.iter().map(|(run, _)| run).collect();
        let several = compare_several(&all, &TERMS);
        written(&matrix(&Matrix::several(&runs, &several, &[])))
    })
}

/// The machines of a fleet, some of which are unlike the others.
fn fleet() -> Value {
    let machines: Vec<Run> = baseline::machines().into_iter().map(|(run, _)| run).collect();
    let fleet = compare_fleet(&machines.iter().collect::<Vec<_>>(), &TERMS).expect("two machines");
    let names: Vec<String> = machines.iter().map(|run| run.summary.id.clone()).collect();
    let missing = vec!["rank 7 is missing.".to_owned()];
    let head = FleetHead::new("slurm-7.0".to_owned(), &fleet, &names, missing);
    let runs = [fleet.median.clone()].into_iter().chain(machines);
    let concluded = |run: Run| {
        let conclusions = findings::conclude(&run);
        (run, conclusions)
    };
    let runs: Vec<_> = runs.map(concluded).collect();
    written(&matrix(&Matrix::fleet(&runs, &fleet.several, &head)))
}

#[test]
fn every_comparison_is_what_its_schema_says() {
    assert_eq!(schema("comparison")["$id"], format!("urn:knee:comparison-{SCHEMA}"));
    let comparison = compiled("comparison");
    let alike = compared::alike().1;
    for value in [with_everything(), value(&alike)].into_iter().chain(analysed()) {
        holds(&comparison, &value);
    }
    let mut wrong = with_everything();
    wrong["changes"][0]["detail"]["change"] = json!("made up");
    assert!(comparison.validate(&wrong).is_err());
}

#[test]
fn several_runs_and_fleets_are_what_their_schema_says() {
    let compiled = compiled("several");
    for value in several() {
        holds(&compiled, &value);
    }
    let mut fleet = fleet();
    holds(&compiled, &fleet);
    let outliers = fleet["fleet"]["outliers"].as_array().expect("outliers");
    assert!(!outliers.is_empty(), "the test needs one");
    let names = fleet["fleet"]["names"].as_array().expect("names").len();
    assert_eq!(names, fleet["runs"].as_array().expect("runs").len());
    fleet["fleet"]["outliers"][0]["run"] = json!("1");
    assert!(compiled.validate(&fleet).is_err());
}

#[test]
fn every_kind_of_change_and_of_omission_occurs_in_the_values_of_the_test() {
    let text = with_everything().to_string();
    let schema = schema("comparison");
    for (list, key) in [("ChangeDetail", "change"), ("WordedLeftOut", "kind")] {
        for variant in schema["$defs"][list]["oneOf"].as_array().expect("variants") {
            let name = variant["properties"][key]["const"].as_str().expect("a name");
            assert!(text.contains(&format!("\"{key}\":\"{name}\"")), "no {list} is {name}");
        }
    }
}
