//! What is exchanged with other programs: JSON that its published schema describes and that is read
//! back to the same run, JSON lines, and the formats of those who follow figures over commits.

use crate::fixture::trajectory::{self, Size};
use crate::fixture::{
    baseline, build, dead, load, locks, memory, pipetest, realistic, small, syscalls,
};
use findings::Conclusions;
use model::{
    AxisPosition, Budget, CellKey, Change, CodeFault, CommandOutput, CpuUse, Custom, Fact,
    FailureReason, Limit, LimitCause, MachineCode, Outcome, PlanChange, PrintedFigure,
    ProfileLimit, ProfilePlan, Run, RunState, SampledEvent, Shell, Template, Throttling,
    server_facts,
};
use report::export::{Material, What, find};
use report::json::{BYTES_MAX, SCHEMA, VALUES_MAX, read};
use report::schemas;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Runs with all that there is: voids, histograms, trajectories that ended early, means, maps.
fn runs() -> Vec<Run> {
    let mut all = vec![
        realistic(3).0,
        pipetest::pipetest(2).0,
        trajectory::before(Size::SMALL).0,
        dead::dead(2).0,
        servers(),
        load::load(12).0,
        locks::locks(3).0,
        build::build(&[1, 2]).0,
        baseline::baseline(&baseline::MACHINES[0]).0,
        syscalls::syscalls().0,
        memory::memory().0,
    ];
    all.extend([
        labelled(),
        interrupted(),
        open(),
        profiled(),
        attributed(),
        emulated(),
        throttled(),
    ]);
    all
}

/// Servers that do all that can be seen of one.
fn servers() -> Run {
    let (mut run, _) = dead::dead(2);
    let closes =
        [(server_facts::REPLIES_PER_CONNECTION, 1.into()), (server_facts::HTTP_10, 1.into())];
    let requests =
        [(server_facts::REPLIES_PER_CONNECTION, 1_000.into()), (server_facts::HTTP_10, 0.into())];
    let delayed =
        [(server_facts::DELAYED_MS, 41.2.into()), (server_facts::IMMEDIATE_MS, 0.21.into())];
    let grows = |processes: u64, threads: u64| {
        [
            (server_facts::DEAD, 1_000.into()),
            (server_facts::PROCESSES_BEFORE, 1.into()),
            (server_facts::PROCESSES_AFTER, processes.into()),
            (server_facts::THREADS_BEFORE, 1.into()),
            (server_facts::THREADS_AFTER, threads.into()),
        ]
    };
    let cold = [
        (server_facts::WARM_UP_S, 5.8.into()),
        (server_facts::COLD_PER_S, 2_680.into()),
        (server_facts::WARM_PER_S, 10_640.into()),
        (server_facts::IS_RISING, 1.into()),
        (server_facts::WORKERS, 3.into()),
        (server_facts::WORKERS_ENDED, 0.into()),
        (server_facts::WORKERS_CPU_S, 2.5.into()),
        (server_facts::BUSIEST_SHARE, 0.98.into()),
    ];
    let (threads, processes) = (grows(1, 1_001), grows(1_001, 1_001));
    let facts: [(&str, &[(&str, Fact)]); 6] = [
        ("io_uring-completion", &cold),
        ("select", &closes),
        ("poll", &requests),
        ("epoll-level", &delayed),
        ("epoll-edge", &threads),
        ("nginx", &processes),
    ];
    for cell in &mut run.cells {
        for (subject, facts) in facts {
            if cell.key.subject == subject {
                let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                cell.facts.extend(facts);
            }
        }
    }
    run
}

/// A run of a guest that QEMU emulated.
fn emulated() -> Run {
    let mut run = small();
    run.host_before.facts.insert(model::ACCELERATOR.to_owned(), model::EMULATOR.into());
    run
}

/// A run with all that a profile can have.
fn profiled() -> Run {
    let mut run = small();
    run.cells.retain(|cell| cell.sequence < 2);
    run.plan.cells.truncate(2);
    (run.summary.cells_ended, run.summary.cells_planned) = (2, 2);
    let keys = run.plan.cells.clone();
    let stacks =
        [("knee worker;main;do_sys_poll_[k];sock_poll_[k]", 90), ("knee worker;[libc.so.6]", 10)];
    let machine = MachineCode {
        architecture: "x86_64".into(),
        address: u64::MAX - 4096,
        bytes: "90c3".into(),
        lines: vec![(0, "net/socket.c:1380".into())],
    };
    let error = || "Operation not permitted".to_owned();
    let file = CodeFault::FileUnreadable { path: "/lib/libc.so.6".into(), error: error() };
    run.profile = fixtures::profile()
        .cell(keys[0].clone(), "loop", (1000, 100_000_000), stacks)
        .instructions("sock_poll_[k]", &[(0x1a3, 60), (0x1a7, 30)])
        .limit(ProfileLimit::KernelHidden { perf_level: Some(2) })
        .limit(ProfileLimit::KernelHidden { perf_level: None })
        .limit(ProfileLimit::KernelSymbolsHidden)
        .limit(ProfileLimit::SamplesLost { lost: 7 })
        .limit(ProfileLimit::ProcessHidden { program: "nginx".into(), error: error() })
        .limit(ProfileLimit::WaitsHidden { error: error() })
        .cell(keys[1].clone(), "loop", (1000, 100_000_000), [])
        .code("sock_poll_[k]", Ok(machine))
        .code("do_sys_poll_[k]", Err(CodeFault::KernelMemoryUnreadable { error: error() }))
        .code("[libc.so.6]", Err(file))
        .code("main", Err(CodeFault::NoSuchFile))
        .code("sock_poll_[k]", Err(CodeFault::TimedOut))
        .build();
    let failed = &mut run.profile.cells[1];
    failed.regions.clear();
    failed.event = SampledEvent::Cycles;
    failed.outcome = Outcome::Failed {
        reason: FailureReason::DeadlineExceeded { deadline_ms: 10_000, activity: String::new() },
        detail: "state D".into(),
    };
    run.plan.profile = Some(ProfilePlan { frequency_hz: 997, measure_ms: 500 });
    run
}

const LOCK: &str =
    "nginx;wait for a lock_[w];push;a.c:41_[l];futex_do_wait_[k];ended by_[e];nginx;pop;a.c:52_[l]";

/// A run whose profiles show of each subject something else: added time and a lock, waiting, no change.
fn attributed() -> Run {
    let few = [("nginx;write_[k]", 200), ("nginx;do_poll_[k]", 50), ("knee worker;load", 250)];
    let many = [
        ("nginx;do_poll_[k];sock_poll_[k]", 2_000),
        ("nginx;do_poll_[k]", 900),
        ("nginx;[libc.so.6]", 300),
        ("knee worker;load", 250),
    ];
    let mut profile = fixtures::profile();
    let mut cells = Vec::new();
    for (subject, far) in [("epoll", 500), ("futex", 1_000_000), ("poll", 3_450)] {
        for (point, round) in [10, 100, 1_000].into_iter().flat_map(|p| [(p, 0), (p, 1)]) {
            let grown = point == 1_000 && subject == "poll";
            let elapsed = if point == 1_000 { far * 1_000_000 } else { 500_000_000 };
            let key = fixtures::key("dead", subject, point, round);
            let stacks: &[(&str, u64)] = if grown { &many } else { &few };
            if round == 0 {
                profile = profile.cell(key, "loop", (1_000, elapsed), stacks.iter().copied());
                let waits = [(LOCK, 4_000)].into_iter().filter(|_| grown);
                profile = profile.region("loop waits", point, (1_000, elapsed), waits);
            }
            let samples = vec![elapsed as f64 / 1_000.0; 9];
            cells.push(fixtures::cell("dead", subject, point, round).samples("loop", samples));
        }
    }
    let workload = fixtures::workload("dead").axis("dead connections", "dead").time("loop");
    let workload = workload.subjects(["epoll", "futex", "poll"]).compared_pair("epoll", "poll");
    let run = fixtures::run(workload).cells(cells).profile(profile.build());
    run.host_after(fixtures::host("2026-11-21T10:01:00+00:00", [("load.1m", 0.25)])).complete()
}

/// A run that had little of its CPUs, on a machine that changed meanwhile. What it measured had less by a quota of its own.
fn throttled() -> Run {
    let mut run = small();
    let own = Throttling { periods: 50, throttled_periods: 48, throttled_us: 2_100_000 };
    let keys = run.plan.cells.iter_mut().chain(run.cells.iter_mut().map(|cell| &mut cell.key));
    keys.for_each(|key| drop(key.parameters.insert(model::QUOTA.to_owned(), "0.5".into())));
    for cell in &mut run.cells {
        cell.facts.extend(own.facts().map(|(name, count)| (name.to_owned(), count)));
    }
    run.host_before.facts.insert(model::CPU_QUOTA.to_owned(), 0.2.into());
    let after = run.host_after.as_mut().unwrap();
    after.facts.insert(model::CPU_QUOTA.to_owned(), 0.5.into());
    let throttling = Throttling { periods: 100, throttled_periods: 93, throttled_us: 7_400_000 };
    after.cpu_use = Some(CpuUse {
        total_ticks: 1_000,
        idle_ticks: 500,
        steal_ticks: 20,
        own_ns: Some(100_000_000),
        throttling: Some(throttling),
    });
    let caveats = findings::conclude(&run).caveats;
    let kinds = caveats.iter().filter(|caveat| {
        matches!(caveat, findings::Caveat::CpuTaken(_) | findings::Caveat::MachineChanged(_))
    });
    assert_eq!(kinds.count(), 4, "{caveats:?}");
    run
}

fn labelled() -> Run {
    let mut run = small();
    let labels = [("commit", "3701d31"), ("kernel \"new\"", "ä \u{1f980}")];
    run.summary.labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    run.plan.budget = Some(Budget { time_ms: 120_000, precision: 0.02 });
    "00000000a3f1b2c4".clone_into(&mut run.plan.paired_with);
    run.plan.seed = u64::MAX;
    run.plan.changes = changes(&run);
    run.plan.workloads[0].custom = Some(Box::new(custom()));
    // Figures at the ends of what a number can be.
    let samples = [f64::MIN_POSITIVE, f64::MAX, 0.1 + 0.2, -0.0, 5e-324];
    run.cells[0].metrics[0].samples = samples.to_vec();
    run
}

/// What a user adds, in every field.
fn custom() -> Custom {
    let template = |name: &str, text: &str| Template { name: name.into(), text: text.into() };
    let figure = PrintedFigure {
        direction_assumed: false,
        name: "ops".into(),
        unit: "ops/s".into(),
        pattern: "([0-9.]+) ops/s".into(),
        lower_is_better: false,
    };
    Custom {
        commands: vec![template("sort", "sort {n}.txt")],
        servers: vec![template("mine", "./mine {port}")],
        urls: vec![template("nginx", "http://***@host/")],
        ca: Some("/srv/ca.pem".into()),
        insecure: true,
        words: BTreeMap::from([("size".into(), vec!["4k".into(), 7.into()])]),
        figures: vec![figure],
        headline: Some("ops".into()),
        setup: Some("make".into()),
        prepare: Some("sync".into()),
        conclude: Some("ls".into()),
        cleanup: Some("make clean".into()),
        warm_up: Some(2),
        shell: Some(Shell::Program("bash".into())),
        ignore_failure: true,
        input: Some("{n}.txt".into()),
        output: Some(CommandOutput::File("{n}.out".into())),
        time_limit_ms: Some(1_000),
        directory: "/srv".into(),
        search_paths: Vec::new(),
    }
}

/// A change of each kind.
fn changes(run: &Run) -> Vec<PlanChange> {
    let limit = |position| Limit {
        parameter: "watched".into(),
        label: "watched descriptors".into(),
        requested: 30_000.into(),
        max: 10_000,
        cause: LimitCause::Descriptors { max: 20_000 },
        position,
    };
    let position = AxisPosition { label: "active descriptors".into(), point: 10 };
    let change = |change| PlanChange {
        cells: vec![CellKey { point: 30_000, ..run.plan.cells[0].clone() }],
        change,
        remedy: "ulimit -n 65536".into(),
    };
    let (workload, label, last) = ("fork".into(), "processes".into(), 9.into());
    vec![
        change(Change::Clamped(limit(None))),
        change(Change::OverLimit(limit(Some(position)))),
        change(Change::LeftOut {
            what: "sigio".into(),
            cause: LimitCause::Other { clause: "eventfds send no signals".into() },
        }),
        change(Change::FarEndOnly { workload, label, last }),
    ]
}

/// A run that was ended in an orderly way before all was measured.
fn interrupted() -> Run {
    let mut run = small();
    run.cells.truncate(100);
    (run.summary.state, run.summary.cells_ended) = (RunState::Interrupted, 100);
    run
}

/// A run that was killed.
fn open() -> Run {
    let (mut run, _) = trajectory::before(Size::SMALL);
    (run.summary.state, run.summary.ended, run.host_after) = (RunState::Open, None, None);
    run
}

fn written(run: &Run, format: &str, what: Option<What>) -> String {
    let format = find(format).expect("a format");
    let material = Material::new(run, what);
    (format.check)(&material).expect("it can be had");
    let mut bytes = Vec::new();
    (format.write)(&material, &mut bytes).expect("written");
    let text = String::from_utf8(bytes).expect("UTF-8");
    assert!(
        crate::export::is_marked(format, text.as_bytes()),
        "{}: {:?}",
        format.name,
        text.lines().next()
    );
    text
}

/// A run without conclusions: they are passed over where it is read.
fn value(run: &Run) -> Value {
    as_json(run, &Conclusions::default())
}

fn as_json(run: &Run, conclusions: &Conclusions) -> Value {
    serde_json::to_value(report::json::run(run, conclusions)).expect("written")
}

#[test]
fn every_run_is_what_its_schema_says() {
    let schema = schemas::TABLE.iter().find(|schema| schema.name == "run").expect("a schema");
    let schema: Value = (schema.schema)().into();
    assert_eq!(schema["$id"], format!("urn:knee:run-{SCHEMA}"));
    let validator = crate::fixture::strict_schema("run");
    let check = |value: &Value| {
        let wrong = validator.validate(value);
        let wrong = wrong.map_err(|error| format!("{}: {error}", error.instance_path()));
        wrong.map_err(|wrong| wrong.chars().take(300).collect::<String>())
    };
    for run in runs() {
        let value = as_json(&run, &findings::conclude(&run));
        assert_eq!(check(&value), Ok(()), "{}", run.summary.id);
    }
    // What reports show of modes and steps is made by hand there, so that all of it occurs.
    let (run, conclusions) = trajectory::before(Size::SMALL);
    let mut value = as_json(&run, &conclusions);
    assert_eq!(check(&value), Ok(()));
    let whole = value.clone();
    value["tables"][0]["rows"][0]["modes"]["modes"][1]["share"] = json!("38 %");
    assert!(check(&value).is_err());
    for pointer in ["", "/summary", "/cells/0", "/tables/0/rows/0", "/findings/0", "/caveats/0"] {
        let mut more = whole.clone();
        more.pointer_mut(pointer).expect("it is there")["undeclared"] = json!(1);
        assert!(check(&more).is_err(), "{pointer}");
    }
}

#[test]
fn what_was_written_is_read_back_to_the_same_run_and_written_the_same() {
    for run in runs() {
        let text = written(&run, "json", None);
        let again = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        assert!(again == run, "{}", run.summary.id);
        assert!(written(&again, "json", None) == text, "{}", run.summary.id);
    }
    let bits = |run: &Run| run.cells[0].metrics[0].samples.iter().map(|v| v.to_bits()).collect();
    let again = read(written(&labelled(), "json", None).as_bytes()).unwrap();
    let (shapes, wanted): (Vec<u64>, Vec<u64>) = (bits(&again), bits(&labelled()));
    assert_eq!(shapes, wanted);
}

/// The error of a run's JSON that was changed.
fn refused(change: impl FnOnce(&mut Value)) -> String {
    let mut value = value(&interrupted());
    change(&mut value);
    let text = serde_json::to_string_pretty(&value).unwrap();
    read(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "it was taken".to_owned())
}

#[test]
fn what_contradicts_itself_is_refused_with_its_place() {
    let wanted = "summary.id is not made of 16 digits from 0 to f";
    for id in ["", "00000000A3F1B2C4", "../../../etc/cron"] {
        assert_eq!(refused(|run| run["summary"]["id"] = json!(id)), wanted);
    }
    assert_eq!(
        refused(|run| run["summary"]["cells_ended"] = json!(99)),
        "summary.cells_ended is 99, and there are 100 cells"
    );
    assert!(
        refused(|run| drop(run["plan"]["cells"].as_array_mut().unwrap().pop()))
            .starts_with("summary.cells_planned is ")
    );
    assert_eq!(
        refused(|run| run["summary"]["started"] = json!("yesterday")),
        "summary.started is no moment such as 2026-11-21T13:51:34+00:00"
    );
    let complete = refused(|run| run["summary"]["state"] = json!("complete"));
    assert!(complete.starts_with("summary.state is complete, and 100 of "), "{complete}");
    let wanted = "cells.7.key is not what plan.cells.7 says";
    assert_eq!(refused(|run| run["cells"][7]["key"]["point"] = json!(1)), wanted);
    assert_eq!(refused(|run| run["plan"]["cells"][7]["round"] = json!(9)), wanted);
    let beyond = refused(|run| run["cells"][7]["sequence"] = json!(i64::MAX));
    assert_eq!(beyond, format!("cells.7.key is not what plan.cells.{} says", i64::MAX));
    assert_eq!(
        refused(|run| run["summary"]["ended"] = Value::Null),
        "summary.state is interrupted, which summary.ended and host_after contradict"
    );
    assert_eq!(
        refused(|run| run["cells"][7]["sequence"] = json!(3)),
        "cells.7: cell 3 is there twice"
    );
    assert_eq!(
        refused(|run| run["cells"][2]["metrics"][1]["positions"] = json!([1, 2, 3])),
        "cells.2.metrics.1.positions: 3 positions of 2 samples"
    );
    let large = refused(|run| run["cells"][2]["usage"]["user_ns"] = json!(u64::MAX));
    assert!(
        large.starts_with("line ") && large.ends_with(": 18446744073709551615 is too large"),
        "{large}"
    );
    assert_eq!(
        refused(|run| run["cells"][0]["key"]["rounds"] = json!(1)),
        "cells.0.key.rounds is a key that this knee does not know"
    );
}

/// Makes something else of a value.
type Damage = dyn Fn(&mut Value);

/// What a drawn or damaged number would make of a walk through it: none of it is taken.
#[test]
fn a_profile_with_numbers_of_nothing_is_refused() {
    let original = value(&profiled());
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut value = original.clone();
        change(&mut value["profile"]);
        read(value.to_string().as_bytes())
            .map_or_else(|error| error.to_string(), |_| "taken".into())
    };
    let cases: [(&Damage, &str); 13] = [
        (
            &|profile| profile["stacks"][0]["caller"] = json!(0),
            "stack 0 of the profile is not before it",
        ),
        (&|profile| profile["stacks"][2]["caller"] = json!(u32::MAX), "is not before it"),
        (
            &|profile| profile["stacks"][1]["frame"] = json!(99),
            "stack 1 of the profile has no frame",
        ),
        (&|profile| profile["stacks"][1]["frame"] = json!(-1), "invalid value: integer `-1`"),
        (&|profile| profile["code"][0]["frame"] = json!(99), "code of frame 99"),
        (&|profile| profile["cells"][0]["regions"][0]["samples"][0] = json!([99, 1]), "stack 99"),
        (
            &|profile| profile["cells"][0]["regions"][0]["samples"][0] = json!([0, i64::MAX]),
            "the profile has 9223372036854775907 samples",
        ),
        (
            &|profile| {
                let lost = json!({ "kind": "samples-lost", "lost": i64::MAX });
                profile["cells"][0]["limits"] = json!([lost, lost]);
            },
            "the profile lost 18446744073709551614 samples",
        ),
        (
            &|profile| {
                let region = profile["cells"][0]["regions"][0].clone();
                profile["cells"][0]["regions"].as_array_mut().unwrap().push(region);
            },
            " twice",
        ),
        (
            &|profile| profile["cells"][0]["regions"][0]["instructions"][0]["frame"] = json!(99),
            "samples of frame 99",
        ),
        (
            &|profile| profile["cells"][1]["key"] = profile["cells"][0]["key"].clone(),
            "it is there twice",
        ),
        (
            &|profile| profile["cells"][1]["key"]["point"] = json!(12_345),
            "profile.cells.1.key is not of a cell in plan.cells",
        ),
        (
            &|profile| profile["cells"][0]["regions"][0]["operations"] = json!(u64::MAX),
            "18446744073709551615 is too large",
        ),
    ];
    for (change, expected) in cases {
        let error = refused(change);
        assert!(error.contains(expected), "{error}: {expected}");
    }
    let unknown = refused(&|profile| profile["cells"][0]["eventual"] = json!(1));
    assert_eq!(unknown, "profile.cells.0.eventual is a key that this knee does not know");
    assert!(value(&interrupted()).get("profile").is_none());
}

#[test]
fn the_sentence_of_a_change_may_be_that_of_another_version() {
    let run = labelled();
    let mut value = value(&run);
    value["plan"]["changes"][0]["text"] = json!("another sentence");
    assert_eq!(read(value.to_string().as_bytes()).unwrap(), run);
}

#[test]
fn a_text_that_gives_orders_to_a_terminal_is_refused_with_its_line() {
    let orders = ["\u{1b}[2J", "two\nlines", "a\u{7f}", "a\u{9b}31m", "a\u{202e}b", "a\u{200b}b"];
    for order in orders {
        for changed in [
            refused(|run| run["summary"]["command"][0] = json!(order)),
            refused(|run| run["summary"]["labels"][order] = json!("1")),
            refused(|run| run["plan"]["workloads"][0]["subjects"][0]["label"] = json!(order)),
            refused(|run| run["host_before"]["facts"]["cpu.model"] = json!(order)),
        ] {
            let wanted =
                changed.ends_with(": a text with a control or an invisible character in it");
            assert!(wanted && changed.starts_with("line "), "{order:?}: {changed}");
        }
    }
}

/// The output of a command may hold anything, and is shown nowhere.
#[test]
fn the_detail_of_a_failed_cell_is_kept_as_it_is() {
    let mut run = interrupted();
    let detail = "error:\n\t\u{1b}[31mno rule\u{1b}[0m".to_owned();
    run.cells[3].outcome = Outcome::Failed {
        reason: FailureReason::CheckFailed { message: "make ended with 2".into() },
        detail,
    };
    run.cells[3].metrics.clear();
    assert!(read(written(&run, "json", None).as_bytes()).unwrap() == run);
}

#[test]
fn what_is_no_run_is_refused_with_line_and_column() {
    let error = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(error("{\n  \"schema\": ,"), "line 2, column 13: expected value");
    assert_eq!(error(""), "line 1, column 0: EOF while parsing a value");
    let changed = "it is JSON, but no run that knee wrote: `schema` or `summary` is missing";
    assert_eq!(error("{}"), changed);
    assert_eq!(error("{\"schema\": 1}"), changed);
    let newer = "it is of schema 3, and this knee reads schema 1";
    assert_eq!(error("{\"schema\": 3, \"summary\": {}}"), newer);
    assert!(error(&"[".repeat(100_000)).starts_with("line 1, column "));
    let missing = refused(|run| drop(run["plan"].as_object_mut().unwrap().remove("seed")));
    assert!(missing.starts_with("line ") && missing.ends_with("missing field `seed`"), "{missing}");
    let huge = refused(|run| run["cells"][0]["metrics"][0]["samples"] = json!(["1e999"]));
    assert!(huge.contains("invalid type: string \"1e999\", expected f64"), "{huge}");
    let lines = written(&small(), "jsonl", None);
    assert!(error(&lines).contains("line 2, column 1: trailing characters"), "{}", error(&lines));
}

#[test]
fn no_prefix_of_a_run_is_a_run_and_none_is_a_panic() {
    let mut run = interrupted();
    run.cells.truncate(2);
    run.plan.cells.truncate(2);
    (run.summary.cells_ended, run.summary.cells_planned) = (2, 2);
    let text = written(&run, "json", None).into_bytes();
    for end in (0..text.len() - 2).step_by(61) {
        assert!(read(&text[..end]).is_err(), "{end}");
    }
    assert!(read(&text).is_ok());
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let large = vec![b' '; BYTES_MAX + 1];
    assert_eq!(read(&large).unwrap_err().to_string(), "it is larger than 256 MiB");
    let many = vec![b','; VALUES_MAX];
    assert_eq!(read(&many).unwrap_err().to_string(), "it has more than 16 million values");
}

#[test]
fn json_lines_have_every_cell_with_all_its_samples_and_the_same_keys() {
    for run in runs() {
        let text = written(&run, "jsonl", None);
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        let keys = |line: &Value| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert!(lines.iter().all(|line| keys(line) == keys(&lines[0])));
        let figures: usize = run.cells.iter().map(|cell| cell.metrics.len().max(1)).sum();
        assert_eq!(lines.len(), figures);
        let mut of_cell: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
        for line in &lines {
            of_cell.entry(line["sequence"].as_u64().unwrap()).or_default().push(line);
        }
        for cell in &run.cells {
            let own = &of_cell[&cell.sequence];
            assert_eq!(own.len(), cell.metrics.len().max(1));
            assert_eq!(own[0]["parameters"], json!(cell.key.parameters));
            for (line, metric) in own.iter().zip(&cell.metrics) {
                assert_eq!(line["metric"], metric.name.as_str());
                assert_eq!(line["samples"], json!(metric.samples));
                assert_eq!(line["positions"], json!(metric.positions));
                assert!(line["unit"].is_string() && line["point"] == cell.key.point);
            }
            if cell.metrics.is_empty() {
                assert!(own[0]["metric"].is_null() && own[0]["samples"] == json!([]));
                let Outcome::Failed { reason, .. } = &cell.outcome else { panic!("{cell:?}") };
                assert_eq!(own[0]["missing"], reason.to_string());
            }
        }
    }
}

#[test]
fn the_action_gets_figures_of_one_direction_under_names_that_stay() {
    let (run, conclusions) = realistic(3);
    let entries: Value =
        serde_json::from_str(&written(&run, "github-action-benchmark", None)).unwrap();
    let names: Vec<&str> =
        entries.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    let figures = conclusions.analysis.tables.iter().flat_map(|table| &table.rows);
    assert_eq!(names.len(), figures.map(|row| row.cells.iter().flatten().count()).sum::<usize>());
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "each is there once");
    assert_eq!(names[0], "poll/select/loop active=1 object=socketpair watched=10");
    let at = conclusions.analysis.tables[0].rows[0].cells[0].as_ref().unwrap();
    assert_eq!(entries[0]["value"], at.median.value);
    assert_eq!(entries[0]["unit"], "ns");
    assert_eq!(entries[0]["range"], format!("95 % CI {}–{}", at.median.low, at.median.high));
    let changed = crate::fixture::slower(12).0;
    let changed = written(&changed, "github-action-benchmark", Some(What::Smaller));
    assert!(changed.contains(names[0]), "another run of the same plan has the same names");
}

#[test]
fn a_run_with_both_directions_has_a_file_for_each() {
    let format = find("github-action-benchmark").unwrap();
    let run = dead::dead(2).0;
    let material = Material::new(&run, None);
    let why = (format.check)(&material).unwrap_err();
    assert!(why.ends_with("--what smaller or --what bigger"), "{why}");
    let [smaller, bigger] = [What::Smaller, What::Bigger]
        .map(|what| written(&run, "github-action-benchmark", Some(what)));
    let count = |text: &str| serde_json::from_str::<Value>(text).unwrap().as_array().unwrap().len();
    let tables = findings::conclude(&run).analysis.tables;
    let count_of = |lower: bool| -> usize {
        let tables = tables.iter().filter(|table| table.metric.lower_is_better == lower);
        tables.flat_map(|table| &table.rows).map(|row| row.cells.iter().flatten().count()).sum()
    };
    assert_eq!((count(&smaller), count(&bigger)), (count_of(true), count_of(false)));
    let run = small();
    let why = (format.check)(&Material::new(&run, Some(What::Bigger))).unwrap_err();
    assert!(why.ends_with("--what smaller has some"), "{why}");
}

#[test]
fn bencher_gets_medians_with_intervals_by_benchmark_and_measure() {
    let (run, conclusions) = dead::dead(3);
    let metrics: Value = serde_json::from_str(&written(&run, "bencher", None)).unwrap();
    let mut wanted = 0;
    for table in &conclusions.analysis.tables {
        for row in &table.rows {
            for at in row.cells.iter().flatten() {
                wanted += 1;
                let mut name = format!("dead/{}/{}", row.subject, table.metric.name);
                for (parameter, value) in &table.parameters {
                    name = format!("{name} {parameter}={value}");
                }
                let benchmark = &metrics[format!("{name} {}={}", table.axis_parameter, at.point)];
                let (measure, figures) = benchmark.as_object().unwrap().iter().next().unwrap();
                assert_eq!(figures["value"], at.median.value, "{name}");
                assert_eq!(figures["lower_value"], at.median.low);
                assert_eq!(figures["upper_value"], at.median.high);
                assert_eq!(measure == "latency", table.metric.unit == "ns", "{measure}");
            }
        }
    }
    assert_eq!(metrics.as_object().unwrap().len(), wanted);
}
