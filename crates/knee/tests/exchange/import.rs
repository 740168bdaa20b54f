//! `knee import`: a run that was exported comes back as it was, and a table becomes a run like any
//! other; what has something wrong with it changes nothing.

use crate::common::{Knee, alone, came};
use crate::made::{knee, knee_with};
use archive::{Archive, SqliteArchive};
use model::{Run, RunState};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const LATENCIES: &str = "day,server,clients,p50_us\n\
    mon,a,10,5.0\nmon,a,10,5.5\nmon,a,100,6.0\nmon,b,10,4.0\nmon,b,100,40.0\n\
    tue,a,10,5.2\ntue,a,100,6.1\ntue,b,10,4.1\ntue,b,100,down\n";
const COLUMNS: [&str; 6] = ["--x", "clients", "--y", "p50_us", "--by", "server"];

fn write(knee: &Knee, name: &str, text: impl AsRef<[u8]>) -> String {
    let file = knee.at(name);
    std::fs::write(&file, text).unwrap();
    file
}

fn exported(knee: &Knee, format: &str) -> String {
    knee.run(&["export", "--format", format]).done(format)
}

/// The runs of a knee's own record; none where there is no record.
fn runs(knee: &Knee) -> Vec<Run> {
    let Ok(archive) = SqliteArchive::open_read_only(knee.record()) else { return Vec::new() };
    let numbers = archive.runs().unwrap().into_iter().map(|run| run.number);
    numbers.map(|number| archive.load(number).unwrap()).collect()
}

/// Measures for real, with everything that is small.
fn measured(words: &[&str]) -> Knee {
    let knee = Knee::new();
    let small = ["--rounds", "2", "--time", "1ms", "--label", "commit=3701d31"];
    let came = knee.run(&[&["run"][..], words, &small].concat());
    assert!(came.code.is_some_and(|code| code < 2), "{came:?}");
    knee
}

#[test]
fn a_run_comes_back_as_it_was_and_only_once() {
    let _alone = alone();
    for from in [
        knee(),
        measured(&["null", "--points", "10"]),
        measured(&["socket", "--points", "200"]),
        measured(&["fault", "--points", "1", "--deadline", "1s"]),
    ] {
        let text = exported(&from, "json");
        let into = Knee::new();
        let file = write(&into, "run.json", &text);
        let out = into.run(&["import", &file]).done("import");
        let id = &runs(&from)[0].summary.id;
        let record = into.record().display().to_string();
        assert_eq!(out, format!("Imported {file}: run 1 ({id})\nRecord: {record}\n"));
        let mut came = runs(&into);
        for run in &mut came {
            run.summary.origin.clear();
        }
        assert_eq!(came, runs(&from));
        assert!(exported(&into, "json") == text, "{id}");
        let again = into.run(&["import", &file, &file]).done("again");
        let there = format!("{file} was there already: run 1 ({id})\n");
        assert_eq!(again, format!("{there}{there}Record: {record}\n"));
        assert_eq!(runs(&into).len(), 1);
    }
}

#[test]
fn what_is_measured_is_what_the_listed_schema_says() {
    let schemas = Knee::new().run(&["list", "schemas", "--json"]).done("schemas");
    let schemas: Value = serde_json::from_str(&schemas).unwrap();
    let schema = jsonschema::draft202012::new(&schemas["schemas"]["run"]).unwrap();
    for words in [&["null", "--points", "10"], &["socket", "--points", "200"]] {
        let knee = measured(words);
        for words in [&["show", "--json"][..], &["export", "--format", "json"]] {
            let run: Value = serde_json::from_str(&knee.run(words).done("json")).unwrap();
            let validity = schema.validate(&run).map_err(|error| error.to_string());
            assert!(validity.is_ok(), "{words:?}: {validity:?}");
            assert_eq!(run["summary"]["labels"]["commit"], "3701d31");
        }
    }
}

#[test]
fn a_run_from_standard_input_and_one_that_was_cut_off() {
    let _alone = alone();
    let from = knee();
    let text = exported(&from, "json").replace("\"complete\"", "\"interrupted\"");
    let into = Knee::new();
    write(&into, "run.json", text);
    let script = format!("\"$KNEE\" import - < {}", into.at("run.json"));
    let out = came(&mut into.shell(&script)).done(&script);
    assert!(out.starts_with("Imported standard input: run 1 "), "{out}");
    assert_eq!(runs(&into)[0].summary.state, RunState::Interrupted);
}

/// The median at each point of each series of the last run.
fn medians(knee: &Knee) -> BTreeMap<(String, String, u64), u64> {
    let run: Value = serde_json::from_str(&exported(knee, "json")).unwrap();
    let mut medians = BTreeMap::new();
    for table in run["tables"].as_array().unwrap() {
        for row in table["rows"].as_array().unwrap() {
            for cell in row["cells"].as_array().unwrap() {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let key = (text(&row["subject"]), text(&table["parameters"]["kind"]));
                let median = cell["median"]["value"].as_f64().unwrap();
                medians.insert((key.0, key.1, cell["point"].as_u64().unwrap()), median.to_bits());
            }
        }
    }
    medians
}

#[test]
fn a_table_of_every_sample_comes_to_the_same_medians() {
    let _alone = alone();
    let (from, into) = (knee(), Knee::new());
    let text = from.run(&["export", "--format", "csv", "--what", "samples"]).done("export");
    let file = write(&into, "samples.csv", text.clone());
    let words = ["import", &file, "--x", "point", "--y", "value", "--unit", "ns", "--by"];
    let more = ["subject", "--per", "kind", "--round", "round", "--name", "made"];
    into.run(&[&words[..], &more].concat()).done("import");
    // Older exports called the axis `position`, and scripts name it so: either name reads either file.
    let old = text.replacen(",round,point,sample,", ",round,position,n,", 1);
    assert_ne!(old, text);
    let older = write(&into, "older.csv", old);
    let renamed = Knee::new();
    for (file, axis) in [(&file, "position"), (&older, "point"), (&older, "position")] {
        let words = ["import", file, "--x", axis, "--y", "value", "--unit", "ns", "--by"];
        renamed.run(&[&words[..], &more].concat()).done(axis);
        assert_eq!(medians(&renamed), medians(&from), "{axis}");
    }
    let [own, again] = [medians(&from), medians(&into)];
    assert_eq!((own.len(), &again), (24, &own));
    let (run, again) = (&runs(&from)[0], &runs(&into)[0]);
    assert_eq!((again.plan.rounds, again.cells.len()), (5, run.cells.len()));
    assert!(again.cells.iter().all(|cell| cell.metrics[0].samples.len() == 3));
}

#[test]
fn a_table_is_a_run_like_any_other() {
    let knee = Knee::new();
    let file = write(&knee, "latencies.csv", LATENCIES);
    let more = ["--round", "day", "--name", "p50", "--label", "commit=3701d31", "--started"];
    let words = [&["import", &file][..], &COLUMNS, &more, &["2010-05-12"]].concat();
    let out = knee.run(&words).done("import");
    assert!(out.starts_with(&format!("Imported {file}: run 1 (")), "{out}");
    let out = knee.run(&words).done("again");
    assert!(out.starts_with(&format!("{file} was there already: run 1 (")), "{out}");

    let [run] = runs(&knee).try_into().expect("one run");
    assert_eq!(run.summary.started, "2010-05-12T00:00:00Z");
    assert_eq!(run.summary.labels, BTreeMap::from([("commit".into(), "3701d31".into())]));
    assert_eq!((run.summary.state, run.summary.ended.is_some()), (RunState::Complete, true));
    assert_eq!((run.plan.workloads[0].name.as_str(), run.plan.rounds), ("p50", 2));
    let first = &run.cells[0];
    assert_eq!((first.key.point, first.key.round), (10, 0));
    assert_eq!(first.metrics[0].samples, [5_000.0, 5_500.0]);
    let failed = run.cells.iter().find(|cell| cell.metrics.is_empty()).expect("a failed cell");
    assert_eq!((failed.key.subject.as_str(), failed.key.point, failed.key.round), ("b", 100, 1));

    let shown = knee.run(&["show"]).done("show");
    assert!(shown.contains("p50") && shown.contains("clients"), "{shown}");
    let list = knee.run(&["record", "list"]).done("list");
    assert!(list.contains("2010-05-12T00:00:00Z"), "{list}");
    let page = knee.at("page.html");
    knee.run(&["report", "-o", &page]).done("report");
    assert!(std::fs::read_to_string(page).unwrap().contains("p50"));
    assert!(exported(&knee, "csv").contains("p50,a,"));
    let back = write(&knee, "back.json", exported(&knee, "json"));
    let out = knee.run(&["import", &back]).done("back");
    assert!(out.starts_with(&format!("{back} was there already: run 1 (")), "{out}");
}

#[test]
fn the_same_table_under_another_label_is_another_run() {
    let knee = Knee::new();
    let file = write(&knee, "latencies.csv", LATENCIES);
    for commit in ["commit=one", "commit=two"] {
        knee.run(&[&["import", &file, "--label", commit][..], &COLUMNS].concat()).done(commit);
    }
    let labels: Vec<String> =
        runs(&knee).iter().map(|run| run.summary.labels["commit"].clone()).collect();
    assert_eq!(labels, ["one", "two"]);
}

/// Says that a file is refused in one line that has all of `wanted` in it, and that nothing was begun.
fn refused(knee: &Knee, words: &[&str], wanted: &[&str]) {
    let came = knee.run(words);
    let outcome = (came.code, came.err.lines().count(), came.out.as_str());
    assert_eq!(outcome, (Some(2), 1, ""), "{words:?}: {came:?}");
    assert!(wanted.iter().all(|part| came.err.contains(part)), "{wanted:?}: {}", came.err);
    assert!(!knee.record().exists(), "{words:?}: nothing was begun");
}

#[test]
fn a_gate_refuses_rounds_in_which_rows_failed() {
    let knee = Knee::new();
    let round = |round| format!("{round},1,5\n{round},2,6\n");
    let good: String = ["r,n,us\n".to_owned()].into_iter().chain((0..4).map(round)).collect();
    let failure = |round| format!("{round},2,timeout\n");
    let failed: String = (0..4).map(failure).collect();
    for (name, text) in [("good.csv", good.clone()), ("bad.csv", good + &failed)] {
        let file = write(&knee, name, text);
        let words = ["import", &file, "--x", "n", "--y", "us", "--round", "r", "--name", "t"];
        knee.run(&words).done("import");
    }
    let came = knee.run(&["compare", "1", "2", "--fail-above", "10%"]);
    assert_eq!(came.code, Some(3), "{came:?}");
    assert!(came.out.contains("timeout"), "{came:?}");
}

#[test]
fn what_has_something_wrong_with_it_is_one_line_and_changes_nothing() {
    let _alone = alone();
    let knee = Knee::new();
    let good = write(&knee, "good.json", exported(&crate::made::knee(), "json"));
    let text = std::fs::read_to_string(&good).unwrap();
    let cut = write(&knee, "cut.json", &text[..text.len() / 2]);
    let twice = write(&knee, "twice.json", text.replace("\"sequence\": 7,", "\"sequence\": 8,"));
    let newer = write(&knee, "newer.json", text.replace("\"schema\": 1,", "\"schema\": 3,"));
    let second_file = write(&knee, "other.json", "{\"a\": 1}");
    let lines = write(&knee, "lines.jsonl", exported(&crate::made::knee(), "jsonl"));
    let table = write(&knee, "latencies.csv", LATENCIES);
    let torn = write(&knee, "torn.csv", format!("{LATENCIES}wed,a\n"));
    let words = write(&knee, "words.csv", "server,load,us\na,half load,5\na,full load,6\n");
    let instead = "export it again (`knee export --format json`)";
    refused(&knee, &["import", &cut], &["cut.json, line ", ", column ", "EOF", instead]);
    let wanted = ["twice.json: cells.7.key is not what plan.cells.8 says", instead];
    refused(&knee, &["import", &twice], &wanted);
    refused(&knee, &["import", &newer], &["newer.json: it is of schema 3"]);
    refused(&knee, &["import", &second_file], &["other.json: it is JSON, but no run"]);
    refused(&knee, &["import", &lines], &["lines.jsonl, line 2, column 1", instead]);
    refused(&knee, &["import", "none.json"], &["none.json: there is no such file"]);
    let wanted =
        ["needs --x and --y, and --by where several", "are day, server, clients and p50_us"];
    refused(&knee, &["import", &table], &wanted);
    refused(&knee, &[&["import", &torn][..], &COLUMNS].concat(), &["torn.csv, line 11: 2 fields"]);
    let columns = ["--x", "load", "--y", "us", "--by", "server"];
    let wanted = ["load is words in", "`knee analyse` compares words"];
    refused(&knee, &[&["import", &words][..], &columns].concat(), &wanted);
    refused(&knee, &["import", &good, "--label", "a=b"], &["--label is for tables", "leave it"]);
    refused(&knee, &["import", &good, &cut], &["cut.json, line "]);
    refused(&knee, &["import"], &["FILE"]);
    refused(&knee, &["import", &table, "--started", "soon"], &["`soon` is no date"]);
}

/// What is not all there, what would give orders to a terminal, and what leaves the numbers that there are.
#[test]
fn what_a_stranger_could_put_in_is_refused_before_anything_is_imported() {
    let _alone = alone();
    let knee = Knee::new();
    let text = exported(&crate::made::knee(), "json");
    let mut quarter: Value = serde_json::from_str(&text).unwrap();
    quarter["cells"].as_array_mut().unwrap().truncate(30);
    quarter["summary"]["cells_ended"] = 30.into();
    let quarter = write(&knee, "quarter.json", quarter.to_string());
    let order = text.replacen("\"run\"", "\"run\\u001b[2J\"", 1);
    assert_ne!(order, text);
    let order = write(&knee, "order.json", order);
    let good = write(&knee, "good.csv", "n,s,who\n1,1,a\n2,2,a\n");
    let large = write(&knee, "large.csv", "n,s,who\n1,1,a\n2,1e308,a\n");
    refused(&knee, &["import", &quarter], &["summary.state is complete, and 30 of 120 cells"]);
    refused(
        &knee,
        &["import", &order],
        &["order.json, line ", "a text with a control or an invisible character"],
    );
    let words = ["import", &good, &large, "--x", "n", "--y", "s", "--by", "who"];
    refused(&knee, &words, &["large.csv, line 3: s: `1e308` is too large for ns"]);
    let twice = ["--label", "a=1", "--label", "a=2"];
    refused(&knee, &[&words[..2], &words[3..], &twice].concat(), &["--label a is given twice"]);
}

/// Its plan is a stranger's.
#[test]
fn what_was_imported_is_not_resumed() {
    let _alone = alone();
    let knee = Knee::new();
    let text = exported(&crate::made::knee(), "json").replace("\"complete\"", "\"interrupted\"");
    let run = write(&knee, "run.json", text);
    let table = write(&knee, "latencies.csv", LATENCIES);
    knee.run(&["import", &run]).done("run");
    knee.run(&[&["import", &table][..], &COLUMNS].concat()).done("table");
    assert!(runs(&knee).iter().all(|run| run.summary.origin == "import"));
    for words in [&["run", "--resume"][..], &["run", "--resume=1"]] {
        let came = knee.run(words);
        assert!(came.code != Some(0) && came.err.lines().count() == 1, "{came:?}");
    }
    assert!(!exported(&knee, "json").contains("origin"), "it is the record's own");
}

#[test]
fn a_run_of_the_same_id_that_says_something_else_is_refused_and_named() {
    let _alone = alone();
    let knee = knee();
    let before = runs(&knee);
    let text = exported(&knee, "json");
    let second_file = write(&knee, "other.json", text.replacen("873.18", "1.5", 1));
    let came = knee.run(&["import", &second_file]);
    assert_eq!((came.code, came.err.lines().count()), (Some(1), 1), "{came:?}");
    assert!(came.err.contains("other.json: run 00000000a3f1b2c4 is in both"), "{came:?}");
    assert_eq!(runs(&knee), before);
}

#[test]
fn a_file_without_end_and_a_full_disk_leave_nothing_behind() {
    let _alone = alone();
    let knee = Knee::new();
    let (json, table) = (knee.at("endless.json"), knee.at("endless.csv"));
    for (file, head) in [(&json, "{\"schema\": 2, \"summary\": \""), (&table, "a,b,c")] {
        std::fs::write(file, head).unwrap();
        // Zeros that take no room on the disk.
        std::fs::OpenOptions::new().write(true).open(file).unwrap().set_len(8 << 30).unwrap();
    }
    let columns = COLUMNS.join(" ");
    for (file, wanted) in [(&json, "more than 256 MiB"), (&table, "longer than 1 MiB")] {
        let script = format!("ulimit -v 2000000; \"$KNEE\" import {file} {columns}");
        let came = came(&mut knee.shell(&script));
        assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
        assert!(came.err.contains(wanted), "{came:?}");
        assert!(!knee.record().exists());
    }
    let run = write(&knee, "run.json", exported(&knee_with(300), "json"));
    let came = came(&mut knee.shell(&format!("ulimit -f 600; \"$KNEE\" import {run}")));
    // The kernel ends it in the middle of writing.
    assert!(came.code != Some(0) && !came.out.contains("Imported"), "{came:?}");
    assert_eq!(runs(&knee), [], "all of it, or nothing");
    knee.run(&["import", &run]).done("without the limit");
    assert_eq!(runs(&knee)[0].cells.len(), 120);
}

/// The commands of the page about imports, and what it shows of their output.
#[test]
fn the_page_about_imports_shows_what_is_printed() {
    let _alone = alone();
    let knee = knee();
    let page = include_str!("../../../../docs/import.md");
    let (mut printed, mut shown) = (String::new(), 0);
    for (number, block) in page.split("\n```").enumerate().filter(|(number, _)| number % 2 == 1) {
        let (kind, lines) = block.split_once('\n').unwrap();
        match kind {
            "csv" => drop(write(&knee, "latencies.csv", format!("{lines}\n"))),
            "sh" => {
                let script = format!("set -e\n{}", lines.replace("knee ", "\"$KNEE\" "));
                printed = came(knee.shell(&script).current_dir(&knee.directory)).done(lines);
            }
            _ => {
                for line in lines.lines().filter(|line| *line != "…") {
                    let is_there = printed.lines().any(|printed| printed.trim_end() == line);
                    assert!(is_there, "block {number}: {line}\n{printed}");
                    shown += 1;
                }
            }
        }
    }
    assert!(shown > 5 && Path::new(&knee.at("run.json")).exists());
}
