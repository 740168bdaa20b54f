//! What the tests share: runs and cells to keep, and child processes to keep them in.

use archive::{RunWriter, SqliteArchive};
use model::{
    Cell, CellKey, Clock, CodeFault, Ending, Fact, FailureReason, Frame, FrameKind, FunctionCode,
    Host, InstructionSamples, Interner, LoadCounts, LoadOutcome, MachineCode, Metric, MetricInfo,
    Outcome, Plan, Profile, ProfileLimit, ProfiledCell, ProfiledRegion, Rank, RankMeasured, Run,
    RunState, RunSummary, SampledEvent, Usage, Warning, WorkloadInfo,
};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Names the record that a child process works on.
pub const RECORD: &str = "KNEE_TEST_RECORD";

/// The record of this process, if it is such a child.
pub fn record_of_child() -> Option<PathBuf> {
    env::var_os(RECORD).map(PathBuf::from)
}

/// This test binary again, to run the one ignored test `name`, which does the child's part.
pub fn child(name: &str, record: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(arguments(name)).env(RECORD, record);
    command
}

/// The arguments that make the test binary run the one ignored test `name`.
pub fn arguments(name: &str) -> [&str; 5] {
    ["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]
}

/// Makes sure that the child's part was done and held.
pub fn assert_child_passed(output: &Output) {
    let printed = String::from_utf8_lossy(&output.stdout);
    let erred = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}{erred}");
}

/// A run of `cells_planned` cells that has just begun.
pub fn run(id: &str, cells_planned: u64) -> Run {
    let metric = |name: &str, unit: &str| MetricInfo {
        name: name.into(),
        about: "write + wait + dispatch".into(),
        unit: unit.into(),
        lower_is_better: true,
        ..MetricInfo::default()
    };
    Run {
        summary: RunSummary {
            id: id.into(),
            started: "2026-11-21T13:51:34+00:00".into(),
            command: vec!["knee".into(), "run".into(), "poll".into()],
            version: "0.1.0".into(),
            cells_planned,
            ..RunSummary::default()
        },
        plan: Plan {
            seed: u64::MAX,
            rounds: 5,
            workloads: vec![WorkloadInfo {
                name: "poll".into(),
                version: 1,
                question: "What does it cost to learn which descriptor is ready?".into(),
                operation: "one byte written, waited for and read".into(),
                not_measured: vec![],
                axis: "watched descriptors".into(),
                metrics: vec![metric("loop", "ns"), metric("add", "ns")],
                subjects: vec![],
                ..WorkloadInfo::default()
            }],
            ..Plan::default()
        },
        clock: Clock { source: "tsc".into(), resolution_ns: 0.4, overhead_ns: 11.25 },
        host_before: host("before"),
        host_after: None,
        warnings: vec![],
        cells: vec![],
        profile: Profile::default(),
    }
}

/// A machine.
pub fn host(taken: &str) -> Host {
    let facts = [("kernel.release", "6.18.0"), ("cpu.model", "Testor 9000")];
    let facts = facts.map(|(key, value)| (key.into(), value.into())).into();
    Host { taken: taken.into(), facts, cpu_use: None }
}

/// A cell that its sequence alone determines; every fifth one failed, every seventh one large.
pub fn cell(sequence: u64) -> Cell {
    let failed = sequence % 5 == 4;
    let samples = if sequence % 7 == 6 { 4000 } else { 20 };
    let metric = |name: &str, step: f64| Metric {
        name: name.into(),
        samples: (0..samples).map(|n: u32| 1000.0 + step * f64::from(n) / 3.0).collect(),
        positions: if name == "add" {
            (0..samples).map(|n| 10 * u64::from(n)).collect()
        } else {
            vec![]
        },
        operations: 1000 * u64::from(samples),
        deviation: None,
        usage: Usage { user_ns: 1, system_ns: 2, faults_minor: sequence, ..Usage::default() },
        histogram: if name == "loop" { "HISTFAAAAC".into() } else { String::new() },
    };
    Cell {
        key: CellKey {
            workload: "poll".into(),
            subject: if sequence.is_multiple_of(2) { "poll" } else { "epoll-level" }.into(),
            parameters: BTreeMap::from([("active".into(), "1".into())]),
            point: 100 * (sequence / 2 % 3 + 1),
            round: (sequence / 6) as u32,
        },
        sequence,
        outcome: if failed {
            let reason =
                FailureReason::DeadlineExceeded { deadline_ms: 10_000, activity: String::new() };
            Outcome::Failed { reason, detail: "state D".into() }
        } else {
            Outcome::Measured
        },
        elapsed_ns: 1_000_000 + sequence,
        usage: Usage { switches_voluntary: 3, ..Usage::default() },
        metrics: if failed { vec![] } else { vec![metric("loop", 1.0), metric("add", 0.1)] },
        facts: BTreeMap::from([
            ("parked peers".into(), sequence.into()),
            ("reply_ms".into(), 41.2.into()),
            ("compiler".into(), "cc".into()),
            ("hits per tenth".into(), Fact::shares(&[1, 3])),
            ("ends".into(), Fact::Texts(vec!["exited with 3".into()])),
        ]),
        load: (sequence % 6 == 5).then(load),
        ..Cell::default()
    }
}

/// A load of two ranks, one of which did not come to its end.
fn load() -> LoadOutcome {
    let measured = RankMeasured {
        host: "node1".into(),
        requests: 90,
        replies: 80,
        start_late_ns: 104_250,
        clock_bound_ns: 48_120,
        late: 3,
        busy_share: 0.25,
    };
    let errors = BTreeMap::from([("refused".into(), 5)]);
    let ranks = [Some(measured), None].into_iter().zip(0..);
    LoadOutcome {
        counts: LoadCounts { requests: 90, replies: 80, errors, ..LoadCounts::default() },
        ranks: ranks.map(|(measured, rank)| Rank { rank, measured }).collect(),
    }
}

/// The first `count` cells.
pub fn cells(count: u64) -> Vec<Cell> {
    (0..count).map(cell).collect()
}

/// A profile of `cells` cells, each of which brings a frame and a stack of its own; every third one failed. What
/// comes first of it is the same however many there are.
pub fn profile(cells: u64) -> Profile {
    let mut profile = Profile::default();
    let mut interner = Interner::default();
    for n in 0..cells {
        let frame = |function: &str, kind| Frame {
            function: function.into(),
            module: if kind == FrameKind::Kernel { "kernel" } else { "" }.into(),
            kind,
        };
        let process = frame("knee", FrameKind::Process);
        let poll = frame("do_sys_poll", FrameKind::Kernel);
        let own = frame(&format!("callee_{n}"), FrameKind::Kernel);
        let short = interner.stack(&mut profile, [&process, &poll]).unwrap();
        let long = interner.stack(&mut profile, [&process, &poll, &own]).unwrap();
        let function = interner.frame(&mut profile, &own);
        let failed = n % 3 == 2;
        let code = if n % 2 == 0 {
            Ok(MachineCode {
                architecture: "x86_64".into(),
                address: 0xffff_ffff_8120_0000 + 64 * n,
                bytes: "90c3".into(),
                lines: vec![(0, "fs/select.c:17".into())],
            })
        } else {
            Err(CodeFault::KernelMemoryUnreadable { error: "Operation not permitted".into() })
        };
        profile.code.push(FunctionCode { frame: function, code });
        let region = ProfiledRegion {
            metric: "loop".into(),
            position: 100 * (n + 1),
            operations: 1000,
            elapsed_ns: 2_000_000,
            samples: vec![(short, 3), (long, 17 + n)],
            instructions: vec![InstructionSamples { frame: function, offset: 1, count: 17 + n }],
        };
        profile.cells.push(ProfiledCell {
            key: CellKey { point: 100 * (n / 2 + 1), round: 0, ..cell(n).key },
            outcome: if failed { cell(4).outcome } else { Outcome::Measured },
            elapsed_ns: 3_000_000 + n,
            event: SampledEvent::CpuClock,
            sample_ns: 1e9 / 997.0,
            slow_down: None,
            regions: if failed { vec![] } else { vec![region] },
            samples_outside: 5,
            limits: vec![ProfileLimit::SamplesLost { lost: n }],
        });
    }
    profile
}

/// An orderly end.
pub fn ending(state: RunState) -> Ending {
    Ending {
        state,
        ended: "2026-11-21T13:53:20+00:00".into(),
        host_after: host("after"),
        warnings: vec![Warning {
            what: "The machine was busy".into(),
            remedy: "knee doctor".into(),
        }],
    }
}

/// Profiled cells in a record that [`make_record`] makes.
pub const PROFILED: u64 = 4;

/// A closed record at `path` with one complete run of `count` cells and a profile.
pub fn make_record(path: &Path, count: u64) {
    let mut archive = SqliteArchive::open(path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", count)).unwrap();
    for cell in cells(count) {
        archive.commit(number, &cell).unwrap();
    }
    let profile = profile(PROFILED);
    for cell in 0..profile.cells.len() {
        archive.commit_profiled(number, &profile, cell).unwrap();
    }
    archive.finish(number, &ending(RunState::Complete)).unwrap();
}

/// Makes sure that a directory holds the same files with the same bytes as `before`.
pub fn assert_unchanged(directory: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let after = contents(directory);
    let names = before.keys().chain(after.keys());
    let changed: Vec<_> = names.filter(|name| before.get(*name) != after.get(*name)).collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
}

/// Every file in a directory with its bytes.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| fs::metadata(path).unwrap().is_file());
    files.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// What SQLite's own check says of a record.
pub fn integrity(path: &Path) -> String {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}
