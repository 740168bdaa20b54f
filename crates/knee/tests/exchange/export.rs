//! `knee export`: every format from a record, whole or not at all, and what is read back comes to the
//! same findings.

use crate::common::came;
use crate::made::{knee, knee_with};
use report::export::TABLE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn formats() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|format| format.name)
}

/// Each growth that was found: class and factor by subject and kind.
fn growths(json: &str) -> BTreeMap<(String, String), (String, f64)> {
    let run: Value = serde_json::from_str(json).unwrap();
    let mut growths = BTreeMap::new();
    for table in run["tables"].as_array().unwrap() {
        for row in table["rows"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let growth = &row["growth"];
            let key = (text(&row["subject"]), text(&table["parameters"]["kind"]));
            growths
                .insert(key, (text(&growth["class"]), growth["factor"]["value"].as_f64().unwrap()));
        }
    }
    growths
}

#[test]
fn what_is_analysed_again_has_grown_alike() {
    let knee = knee();
    let own = growths(&knee.run(&["show", "--json"]).done("show"));
    assert_eq!(own.len(), 4);
    let forms = [("samples", "--x point --y value"), ("medians", "--x point --y median")];
    for (what, columns) in forms {
        let file = knee.at(&format!("{what}.csv"));
        knee.run(&["export", "--format", "csv", "--what", what, "-o", &file]).done(what);
        let script = format!(
            "\"$KNEE\" analyse {file} {columns} --by subject --per kind --unit ns \
             --where workload=made --where metric=call --json"
        );
        let again = growths(&came(&mut knee.shell(&script)).done(&script));
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
    for format in formats() {
        let file = knee.at(&format!("run.{format}"));
        let printed = knee.command(&["export", "--format", format]).output().unwrap();
        assert_eq!((printed.status.code(), printed.stderr), (Some(0), Vec::new()), "{format}");
        let out = printed.stdout;
        assert!(out.len() > 200, "{format}");
        for run in ["last", "1", "00000000a3f1", &record, &format!("{record}:1")] {
            let words = ["export", run, "--format", format, "-o", &file];
            assert_eq!(knee.run(&words).done(run), "");
            assert!(std::fs::read(&file).unwrap() == out, "{format}: {run}");
            if ["bencher", "folded", "markdown"].contains(&format) {
                assert_eq!(knee.run(&words).code, Some(2), "{format} has no mark");
                std::fs::remove_file(&file).unwrap();
            }
        }
    }
    let json = knee.run(&["export", "--format", "json"]).done("json");
    assert!(json == knee.run(&["show", "--json"]).done("show"));
    let temporary = knee.files().into_iter().filter(|file| file.contains(".new")).count();
    assert_eq!(temporary, 0, "{:?}", knee.files());
}

#[test]
fn an_export_replaces_nothing_but_an_export_of_its_format() {
    let knee = knee();
    let record = knee.record().display().to_string();
    let (csv, notes, copy) = (knee.at("run.csv"), knee.at("notes.txt"), knee.at("other.db"));
    std::fs::write(&notes, "**knee** is mine").unwrap();
    std::fs::copy(&record, &copy).unwrap();
    knee.run(&["export", "--format", "csv", "-o", &csv]).done("csv");
    let before = std::fs::read(&record).unwrap();
    let page = knee.at("missing/run.csv");
    let refused = [
        ("last", record.as_str(), "that is the record"),
        (copy.as_str(), copy.as_str(), "that is the record"),
        (copy.as_str(), record.as_str(), "that is the record"),
        ("last", notes.as_str(), "it exists and is no such export"),
        ("last", csv.as_str(), "it exists and is no such export"),
        ("last", page.as_str(), "its directory does not exist"),
        ("last", knee.directory.path().to_str().unwrap(), "that is a directory"),
    ];
    for (run, file, wanted) in refused {
        let came = knee.run(&["export", run, "--format", "json", "-o", file]);
        assert_eq!(came.code, Some(2), "{file}: {came:?}");
        assert!(came.err.contains(wanted) && came.err.lines().count() == 1, "{came:?}");
    }
    assert!(std::fs::read(&record).unwrap() == before);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "**knee** is mine");
    let quotes = knee.at("quotes.md");
    std::fs::write(&quotes, format!("{}\nrun,workload,subject,", "A long text. ".repeat(100)))
        .unwrap();
    assert_eq!(knee.run(&["export", "--format", "csv", "-o", &quotes]).code, Some(2), "far below");
    let inode = || std::fs::metadata(&csv).unwrap().ino();
    let first = inode();
    let link = knee.at("link.csv");
    std::os::unix::fs::symlink(&csv, &link).unwrap();
    std::fs::set_permissions(&csv, Permissions::from_mode(0o600)).unwrap();
    knee.run(&["export", "--format", "csv", "-o", &link]).done("again");
    assert_ne!(inode(), first, "it is replaced as a whole, not written over");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&csv).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_reader_that_has_gone_and_a_disk_that_is_full_are_no_panic() {
    let knee = knee();
    for format in formats() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let words = format!("export --format {format}");
        let words: Vec<&str> = words.split(' ').collect();
        let gone = knee.command(&words).stdout(writer).output().unwrap();
        assert_eq!((gone.status.code(), gone.stderr.as_slice()), (Some(141), &b""[..]), "{format}");
        let full = came(&mut knee.shell(&format!("\"$KNEE\" export --format {format} >/dev/full")));
        assert_eq!(full.code, Some(1), "{format}: {full:?}");
        assert!(full.err.contains("No space left on device"), "{format}: {full:?}");
    }
    // Room for what SQLite needs to read, and not for the samples.
    let knee = knee_with(100);
    for format in ["csv --what samples", "json"] {
        let file = knee.at("limited");
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
    let cases: &[(&[&str], &str)] = &[
        (&["export"], "--format"),
        (
            &["export", "--format", "xml"],
            "csv or json or jsonl or gnuplot or svg or png or markdown or openmetrics",
        ),
        (
            &["export", "--format", "json", "--what", "medians"],
            "--what medians is for --format csv; json has one form only",
        ),
        (
            &["export", "--format", "csv", "--what", "bigger"],
            "is for --format github-action-benchmark; csv has --what medians and --what samples",
        ),
        (
            &["export", "--format", "github-action-benchmark", "--what", "bigger"],
            "no figure of which more is better; --what smaller has some",
        ),
        (&["export", "--format", "csv", "--what", "means"], "is not `means`"),
        (
            &["export", "--format", "csv", "--table", "mad"],
            "the run has no workload `mad`; it has made",
        ),
        (&["export", "--format", "json", "--table", "made"], "json is the whole run"),
        (&["export", "99", "--format", "csv"], "99"),
        (
            &["export", "--format", "json", "--points", "10k"],
            "--points is for --format svg and png and markdown and folded and pprof and perf-script and speedscope",
        ),
        (
            &["export", "--format", "markdown", "--points", "7"],
            "the run has no point `7`; it has 10, 100, 1000, 3000, 10000, 100000",
        ),
        (
            &["export", "--format", "folded", "--subjects", "step"],
            "the run has no subject in its profile `step`; it has flat, steep",
        ),
        (
            &["export", "--format", "pprof", "--points", "7"],
            "no point in its profile `7`; it has 10, 100, 1000, 3000, 10000, 100000",
        ),
    ];
    for (words, wanted) in cases {
        let came = knee.run(words);
        assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{words:?}: {came:?}");
        assert!(came.err.contains(wanted) && came.out.is_empty(), "{words:?}: {came:?}");
    }
}

#[test]
fn a_table_for_a_page_has_the_subjects_and_points_that_are_named() {
    let knee = knee();
    let words = "export --format markdown --table made --subjects steep --points 10,10k,100k";
    let text = knee.run(&words.split(' ').collect::<Vec<_>>()).done(words);
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("| subject")).collect();
    assert_eq!(heads, ["| subject | 10 | 10,000 | 100,000 | growth |"; 2], "{text}");
    // Verdicts are those of the whole run.
    let whole = knee.run(&["export", "--format", "markdown"]).done("whole");
    let growth = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.starts_with("| STEEP"));
        rows.filter_map(|line| Some(line.rsplit('|').nth(1)?.trim().to_owned())).collect()
    };
    assert_eq!(growth(&text), growth(&whole), "{text}");
    assert!(text.contains("| STEEP | ") && !text.contains("| FLAT"), "{text}");
}

/// The commands of the page about exports, and what it shows of their output.
#[test]
fn the_page_about_exports_shows_what_is_printed() {
    let knee = knee();
    let page = include_str!("../../../../docs/export.md");
    let mut shown = 0;
    let mut printed = String::new();
    for (number, block) in page.split("\n```").enumerate().filter(|(number, _)| number % 2 == 1) {
        let (kind, lines) = block.split_once('\n').unwrap();
        // Of another run, for other programs.
        if kind == "console" {
            continue;
        }
        if kind == "sh" {
            let script = lines.replace("knee ", "\"$KNEE\" ");
            let out = came(knee.shell(&format!("set -e\n{script}")).current_dir(&knee.directory));
            printed = out.done(lines);
            continue;
        }
        let wanted: Vec<&str> = lines.lines().filter(|line| *line != "…").collect();
        assert!(!wanted.is_empty(), "block {number}");
        for line in wanted {
            let line = line.trim_end();
            let is_there = printed.lines().any(|printed| printed.trim_end() == line);
            assert!(is_there, "block {number}: {line}\n{printed}");
        }
        shown += 1;
    }
    let without_example: Vec<&str> =
        formats().filter(|format| !page.contains(&format!("--format {format}"))).collect();
    // All but the pixels of png are text.
    assert!(without_example.is_empty() && shown >= TABLE.len() - 1, "{shown}: {without_example:?}");
}

#[test]
fn points_with_decimals_are_exported_as_they_are_in_the_table() {
    let knee = crate::common::Knee::new();
    std::fs::write(knee.at("t.csv"), "n,us\n0.5,1\n2.5,crashed\n10,3\n").unwrap();
    knee.run(&["import", &knee.at("t.csv"), "--x", "n", "--y", "us"]).done("import");
    for (format, wanted) in [
        ("csv", ",0.5,1000,"),
        ("csv --what samples", ",0,0.5,0,1000,"),
        ("jsonl", "\"point\":0.5,"),
        ("bencher", "t/us/us n=0.5\""),
        ("github-action-benchmark", "t/us/us n=0.5\""),
        ("openmetrics", "point=\"0.5\""),
    ] {
        let words: Vec<&str> =
            ["export", "--format"].into_iter().chain(format.split(' ')).collect();
        let out = knee.run(&words).done(format);
        assert!(out.contains(wanted) && !out.contains("tenths"), "{format}: {out}");
    }
    for (what, y) in [("samples", "value"), ("medians", "median")] {
        let words = format!(
            "\"$KNEE\" export --format csv --what {what} | \"$KNEE\" analyse - --x point --y {y} --by subject"
        );
        let out = came(&mut knee.shell(&words)).done(what);
        assert!(out.contains("25: crashed") && !out.contains("--per missing"), "{out}");
        assert!(!out.contains("failed: failed"), "{out}");
    }
}
