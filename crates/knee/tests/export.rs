//! `knee export`: every format from a record, whole or not at all, and what is read back comes to the
//! same findings.

mod common;

use common::{Came, Knee, came};
use record::{
    Archive, Cell, CellKey, Conditions, Ending, Metric, MetricInfo, Outcome, Plan, Run, RunState,
    RunSummary, SqliteArchive, SubjectInfo, Usage, WorkloadInfo,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

const FORMATS: [&str; 5] = ["csv", "json", "gnuplot", "markdown", "openmetrics"];
const POINTS: [u64; 6] = [10, 100, 1_000, 3_000, 10_000, 100_000];

/// A run of a workload `made` in which one subject grows as `per` times its point and another not.
fn made(samples: usize) -> (Run, Vec<Cell>) {
    let metric = MetricInfo {
        name: "call".into(),
        about: "call, made".into(),
        unit: "ns".into(),
        lower_is_better: true,
    };
    let subject = |name: &str| SubjectInfo {
        name: name.into(),
        label: name.to_uppercase(),
        note: String::new(),
    };
    let mut cells = Vec::new();
    for round in 0..5 {
        for kind in ["hot", "cold"] {
            for (subject, per) in [("flat", 0.0), ("steep", 0.25)] {
                for point in POINTS {
                    let mut cell = cell(cells.len() as u64, (kind, subject, per), point, round);
                    let of = &mut cell.metrics[0].samples;
                    *of = of.iter().copied().cycle().take(samples).collect();
                    cells.push(cell);
                }
            }
        }
    }
    let workload = WorkloadInfo {
        name: "made".into(),
        axis: "things".into(),
        axis_condition: "things".into(),
        metrics: vec![metric],
        subjects: vec![subject("flat"), subject("steep")],
        ..WorkloadInfo::default()
    };
    let plan = Plan {
        rounds: 5,
        workloads: vec![workload],
        cells: cells.iter().map(|cell| cell.key.clone()).collect(),
        ..Plan::default()
    };
    let summary = RunSummary {
        number: 0,
        id: "00000000a3f1b2c4".into(),
        started: "2026-11-21T14:02:11+00:00".into(),
        ended: None,
        state: RunState::Open,
        command: vec!["knee".into(), "run".into(), "made".into()],
        version: "0.1.0".into(),
        cells_ended: 0,
        cells_planned: cells.len() as u64,
    };
    let run = Run {
        summary,
        plan,
        clock: record::Clock { source: "tsc".into(), resolution_ns: 0.4, overhead_ns: 9.0 },
        host_before: record::Host {
            taken: "2026-11-21T14:02:11+00:00".into(),
            facts: BTreeMap::from([("cpu.model".into(), "A CPU".into())]),
        },
        host_after: None,
        warnings: Vec::new(),
        cells: Vec::new(),
    };
    (run, cells)
}

fn cell(sequence: u64, (kind, subject, per): (&str, &str, f64), point: u64, round: u32) -> Cell {
    let noise = [0.98, 1.01, 1.0, 0.97, 1.02][round as usize];
    let samples = [0.99, 1.0, 1.02].map(|also| (900.0 + per * point as f64) * noise * also);
    Cell {
        key: CellKey {
            workload: "made".into(),
            subject: subject.into(),
            conditions: Conditions::from([("kind".into(), kind.into())]),
            point,
            round,
        },
        sequence,
        outcome: Outcome::Measured,
        elapsed_ns: 1,
        short: None,
        usage: Usage::default(),
        metrics: vec![Metric {
            name: "call".into(),
            samples: samples.to_vec(),
            operations: 3,
            ..Metric::default()
        }],
        facts: BTreeMap::new(),
    }
}

/// A knee whose record holds that run.
fn knee() -> Knee {
    knee_with(3)
}

/// A knee whose record holds that run with so many samples a cell.
fn knee_with(samples: usize) -> Knee {
    let knee = Knee::new();
    std::fs::create_dir_all(knee.record().parent().unwrap()).unwrap();
    let mut archive = SqliteArchive::open(knee.record()).unwrap();
    let (run, cells) = made(samples);
    let number = archive.begin(&run).unwrap();
    for cell in &cells {
        archive.commit(number, cell).unwrap();
    }
    let ending = Ending {
        state: RunState::Complete,
        ended: "2026-11-21T14:02:12+00:00".into(),
        host_after: run.host_before.clone(),
        warnings: Vec::new(),
    };
    archive.finish(number, &ending).unwrap();
    knee
}

fn done(came: Came, what: &str) -> String {
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{what}");
    came.out
}

fn at(knee: &Knee, name: &str) -> String {
    knee.folder.path().join(name).display().to_string()
}

/// Each growth that was found: class and factor by subject and kind.
fn growths(json: &str) -> BTreeMap<(String, String), (String, f64)> {
    let run: Value = serde_json::from_str(json).unwrap();
    let mut found = BTreeMap::new();
    for table in run["tables"].as_array().unwrap() {
        for row in table["rows"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let growth = &row["growth"];
            let key = (text(&row["subject"]), text(&table["conditions"]["kind"]));
            found.insert(key, (text(&growth["class"]), growth["factor"].as_f64().unwrap()));
        }
    }
    found
}

#[test]
fn what_is_analysed_again_has_grown_alike() {
    let knee = knee();
    let own = growths(&done(knee.run(&["show", "--json"]), "show"));
    assert_eq!(own.len(), 4);
    let forms = [("samples", "--x position --y value"), ("medians", "--x point --y median")];
    for (what, columns) in forms {
        let file = at(&knee, &format!("{what}.csv"));
        done(knee.run(&["export", "--format", "csv", "--what", what, "-o", &file]), what);
        let script = format!(
            "\"$KNEE\" analyse --csv {file} {columns} --by subject --per kind --unit ns \
             --where workload=made --where metric=call --json"
        );
        let again = growths(&done(came(&mut knee.shell(&script)), &script));
        assert_eq!(again.len(), 4, "{what}");
        for (series, (class, factor)) in &own {
            let (class_again, factor_again) = &again[series];
            assert_eq!(class_again, class, "{what}: {series:?}");
            assert!((factor_again / factor - 1.0).abs() < 0.02, "{what}: {series:?}");
        }
        let classes: Vec<&str> = own.values().map(|(class, _)| class.as_str()).collect();
        assert_eq!(classes, ["constant", "constant", "linear", "linear"]);
    }
}

#[test]
fn every_format_goes_to_standard_output_or_into_a_file_and_is_the_same() {
    let knee = knee();
    let record = knee.record().display().to_string();
    for format in FORMATS {
        let file = at(&knee, &format!("run.{format}"));
        let out = done(knee.run(&["export", "--format", format]), format);
        assert!(out.lines().count() > 10, "{format}");
        for run in ["last", "1", "00000000a3f1", &record, &format!("{record}:1")] {
            let words = ["export", run, "--format", format, "-o", &file];
            assert_eq!(done(knee.run(&words), run), "");
            assert!(std::fs::read_to_string(&file).unwrap() == out, "{format}: {run}");
        }
    }
    let json = done(knee.run(&["export", "--format", "json"]), "json");
    assert!(json == done(knee.run(&["show", "--json"]), "show"));
    let temporary = knee.files().into_iter().filter(|file| file.contains(".new")).count();
    assert_eq!(temporary, 0, "{:?}", knee.files());
}

#[test]
fn an_export_replaces_nothing_but_an_export_of_its_format() {
    let knee = knee();
    let record = knee.record().display().to_string();
    let (csv, notes, other) = (at(&knee, "run.csv"), at(&knee, "notes.txt"), at(&knee, "other.db"));
    std::fs::write(&notes, "mine").unwrap();
    std::fs::copy(&record, &other).unwrap();
    done(knee.run(&["export", "--format", "csv", "-o", &csv]), "csv");
    let before = std::fs::read(&record).unwrap();
    let page = at(&knee, "missing/run.csv");
    let refused = [
        ("last", record.as_str(), "that is the record"),
        (other.as_str(), other.as_str(), "that is the record"),
        (other.as_str(), record.as_str(), "that is the record"),
        ("last", notes.as_str(), "it exists and is no such export"),
        ("last", csv.as_str(), "it exists and is no such export"),
        ("last", page.as_str(), "its folder does not exist"),
        ("last", knee.folder.path().to_str().unwrap(), "that is a folder"),
    ];
    for (run, file, wanted) in refused {
        let came = knee.run(&["export", run, "--format", "json", "-o", file]);
        assert_eq!(came.code, Some(2), "{file}: {came:?}");
        assert!(came.err.contains(wanted) && came.err.lines().count() == 1, "{came:?}");
    }
    assert!(std::fs::read(&record).unwrap() == before);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
    let inode = || std::fs::metadata(&csv).unwrap().ino();
    let first = inode();
    done(knee.run(&["export", "--format", "csv", "-o", &csv]), "again");
    assert_ne!(inode(), first, "it is replaced as a whole, not written over");
}

#[test]
fn a_reader_that_has_gone_and_a_disk_that_is_full_are_no_panic() {
    let knee = knee();
    for format in FORMATS {
        let script = format!(
            "{{ \"$KNEE\" export --format {format}; echo \"exit $?\" >&2; }} | head -c 1 >/dev/null"
        );
        assert_eq!(came(&mut knee.shell(&script)).err, "exit 0\n", "{format}");
        let full = came(&mut knee.shell(&format!("\"$KNEE\" export --format {format} >/dev/full")));
        assert_eq!(full.code, Some(1), "{format}: {full:?}");
        assert!(full.err.contains("No space left on device"), "{format}: {full:?}");
    }
    // Room for what SQLite needs to read, and not for the samples.
    let knee = knee_with(100);
    for format in ["csv", "json"] {
        let file = at(&knee, "limited");
        let script = format!("ulimit -f 150; \"$KNEE\" export --format {format} -o {file}");
        let limited = came(&mut knee.shell(&script));
        assert_eq!((limited.code, limited.err.lines().count()), (Some(1), 1), "{limited:?}");
        assert!(limited.err.contains("File too large"), "{limited:?}");
        assert!(knee.files().iter().all(|file| !file.contains("limited")), "{format}");
    }
}

#[test]
fn wrong_words_are_one_line_that_says_what_is_right() {
    let knee = knee();
    let cases: [(&[&str], &str); 5] = [
        (&["export"], "--format"),
        (&["export", "--format", "xml"], "csv or json or gnuplot or markdown or openmetrics"),
        (&["export", "--format", "json", "--what", "medians"], "--what is for --format csv"),
        (&["export", "--format", "csv", "--what", "means"], "is not `means`"),
        (&["export", "99", "--format", "csv"], "99"),
    ];
    for (words, wanted) in cases {
        let came = knee.run(words);
        assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{words:?}: {came:?}");
        assert!(came.err.contains(wanted) && came.out.is_empty(), "{words:?}: {came:?}");
    }
}

/// The commands of the page about exports, and what it shows of their output.
#[test]
fn the_page_about_exports_shows_what_is_printed() {
    let knee = knee();
    let page = include_str!("../../../docs/export.md");
    let mut shown = 0;
    let mut printed = String::new();
    for (number, block) in page.split("\n```").enumerate().filter(|(number, _)| number % 2 == 1) {
        let (kind, lines) = block.split_once('\n').unwrap();
        if kind == "sh" {
            let script = lines.replace("knee ", "\"$KNEE\" ");
            let out = came(knee.shell(&format!("set -e\n{script}")).current_dir(&knee.folder));
            printed = done(out, lines);
            continue;
        }
        let wanted: Vec<&str> = lines.lines().filter(|line| *line != "…").collect();
        assert!(!wanted.is_empty(), "block {number}");
        for line in wanted {
            let line = line.trim_end();
            let found = printed.lines().any(|printed| printed.trim_end() == line);
            assert!(found, "block {number}: {line}\n{printed}");
        }
        shown += 1;
    }
    assert!(shown >= FORMATS.len(), "each format has an example");
}
