//! Tables as other programs write them: each is read as its author meant it, or refused in one line with the remedy.

use crate::common::{Came, Knee, came};
use serde_json::Value;
use std::fmt::Write;

/// The tables, as they were found or as their programs write them.
const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exchange/tables");

/// `knee analyse` where the tables are, with words as a shell takes them apart.
fn analyse(words: &str) -> Came {
    came(Knee::new().shell(&format!("\"$KNEE\" analyse {words}")).current_dir(TABLES))
}

fn text(words: &str) -> String {
    let came = analyse(words);
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{words}");
    came.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The one line that refuses a table.
fn refusal(words: &str) -> String {
    let came = analyse(words);
    assert_eq!(
        (came.code, came.out.as_str(), came.err.lines().count()),
        (Some(2), "", 1),
        "{came:?}"
    );
    came.err
}

/// The medians of each subject, in the record's unit, and the points.
fn medians(words: &str) -> (Vec<u64>, Vec<(String, Vec<f64>)>) {
    let run: Value = serde_json::from_str(&analyse(&format!("{words} --json")).out)
        .unwrap_or_else(|_| panic!("{:?}", analyse(words)));
    let table = &run["tables"][0];
    let rows = table["rows"].as_array().unwrap().iter().map(|row| {
        let cells = row["cells"].as_array().unwrap().iter();
        let medians = cells.filter_map(|cell| cell["median"]["value"].as_f64()).collect();
        (row["subject"].as_str().unwrap().to_owned(), medians)
    });
    let points = table["points"].as_array().unwrap().iter().map(|point| point.as_u64().unwrap());
    (points.collect(), rows.collect())
}

/// The medians of the only subject.
fn only(words: &str) -> (Vec<u64>, Vec<f64>) {
    let (points, mut rows) = medians(words);
    assert_eq!(rows.len(), 1, "{rows:?}");
    (points, rows.remove(0).1)
}

#[test]
fn figures_may_have_their_units() {
    let (points, rows) = medians("t1-units.csv --x N --y Mean --by Method");
    assert_eq!(points, [100, 1000, 10_000, 100_000]);
    assert_eq!(rows[0], ("List".into(), vec![12.5, 1163.4, 19_260.6, 212_104.9]));
    assert_eq!(rows[1], ("Dict".into(), vec![14.02, 14.31, 15.9, 31.77]));
    let kb = "line 5: Allocated: `1 KB` where line 4 has `24 B`; write all in one unit: a KB is 1,000 or 1,024 bytes";
    assert!(refusal("t1-units.csv --x N --y Allocated --by Method").contains(kb));
}

#[test]
fn a_sign_before_three_digits_is_never_a_silent_factor() {
    let dots = "t2-excel-dots.csv --x Klienten --y Anfragen/s --by Server";
    let both = "line 5: Anfragen/s: `1.275` may be 1.275 or 1275, and the column does not say which; add --decimal";
    assert!(refusal(dots).contains(both), "{}", refusal(dots));
    let points = vec![10, 100, 1000, 10_000];
    let comma = only(&format!("{dots} --decimal comma"));
    assert_eq!(comma, (points, vec![125.0, 150.0, 200.0, 1275.0]));

    let quoted = "t2-quoted.csv --x n --y ms --by who";
    let both = "line 2: ms: `1,163` may be 1163 or 1.163, and the column does not say which";
    assert!(refusal(quoted).contains(both), "{}", refusal(quoted));
    assert_eq!(only(&format!("{quoted} --decimal point")).1, [1163e6, 2250e6, 16_831e6, 171_204e6]);
    assert_eq!(
        only(&format!("{quoted} --decimal comma")).1,
        [1.163e6, 2.25e6, 16.831e6, 171.204e6]
    );
}

#[test]
fn commas_that_split_numbers_are_named() {
    let wanted = "line 2: 4 fields where the first line names 3 columns; if commas stand in numbers, put these in \
                  quotes, or separate the fields by semicolons or tabs";
    let line = refusal("t2-comma-int.csv --x n --y ms --by who");
    assert!(line.contains(wanted), "{line}");
    let line = refusal("t2-comma.csv --x tick --y 'time [ms]'");
    assert!(
        line.contains("line 3: 3 fields") && line.contains("if commas stand in numbers"),
        "{line}"
    );
}

/// `sep=;`, a mark at the beginning, decimal commas and separated thousands; then Windows-1252 without them.
#[test]
fn what_a_spreadsheet_saves_is_read() {
    let words = "--x Klienten --y 'Latenz (ms)' --by Server";
    let (points, rows) = medians(&format!("t2-excel.csv {words}"));
    assert_eq!(points, [10, 100, 1000, 10_000]);
    assert_eq!(rows[0], ("nginx".into(), vec![1.25e6, 1.5e6, 2e6, 12.75e6]));
    assert_eq!(rows[1], ("händisch".into(), vec![3.1e6, 31e6, 310.5e6, 3105e6]));
    let without = text(&format!("t2-excel-nosep.csv {words}"));
    assert!(without.contains("händisch"), "{without}");
    assert!(without.contains("Line 5 is not UTF-8, and was read as Windows-1252"), "{without}");
}

#[test]
fn utf_16_with_its_mark_is_read() {
    let table = "n;wer;µs\r\n10;hä;1,5\r\n20;hä;2,25\r\n";
    let little = table.encode_utf16().flat_map(u16::to_le_bytes);
    let big = table.encode_utf16().flat_map(u16::to_be_bytes);
    let both = [
        [0xff, 0xfe].into_iter().chain(little).collect(),
        [0xfe, 0xff].into_iter().chain(big).collect(),
    ];
    for bytes in both {
        let bytes: Vec<u8> = bytes;
        let knee = Knee::new();
        std::fs::write(knee.directory.path().join("t.csv"), bytes).unwrap();
        let words = "\"$KNEE\" analyse t.csv --x n --y µs --by wer --json";
        let came = came(knee.shell(words).current_dir(knee.directory.path()));
        let run: Value = serde_json::from_str(&came.out).unwrap_or_else(|_| panic!("{came:?}"));
        let row = &run["tables"][0]["rows"][0];
        assert_eq!(
            (&row["subject"], &row["cells"][1]["median"]["value"]),
            (&"hä".into(), &2250.0.into())
        );
    }
}

#[test]
fn names_are_found_below_what_a_program_says_first() {
    let benchmark = text("t3-preamble.csv");
    for wanted in [
        "The table was taken for one of Google Benchmark: --x n, --y real_time and --by name",
        "2 rows were passed over: the program's own statistics of other rows (`BM_Sort_BigO`)",
    ] {
        assert!(benchmark.contains(wanted), "{wanted}: {benchmark}");
    }
    let (points, rows) = medians("t3-preamble.csv");
    assert_eq!(points, [8, 64, 512, 4096]);
    assert_eq!(rows[0], ("BM_Sort".into(), vec![171.2, 1602.9, 15_331.0, 151_204.0]));
    assert_eq!(rows[1], ("BM_Pair<int, long>".into(), vec![55.0]));
    let warning = text("t3-warning.csv --x test --y rps");
    assert!(warning.contains("The names of the columns are in line 2"), "{warning}");
    assert!(warning.contains("test: 1 GET, 2 SET"), "{warning}");
}

#[test]
fn a_second_table_in_a_file_is_named_by_its_line() {
    let line = refusal("t3-repeated.csv --x 'Size 100' --y s/op");
    let wanted = "line 5: a second table begins here, with `Size 1000` where the first one has `Size 100`; put each \
                  table into a file of its own";
    assert!(line.contains(wanted), "{line}");
}

#[test]
fn a_number_may_name_a_column() {
    let (points, values) = only("t3-numeric-names.csv --x clients --y 50");
    assert_eq!((points, values), (vec![1, 8, 64], vec![1.86, 1.89, 14.9]));
}

#[test]
fn known_programs_need_no_flags() {
    let (points, rows) = medians("t4-criterion.csv");
    assert_eq!(points, [10, 100, 1000, 10_000]);
    let is_close = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.03;
    assert_eq!((rows[0].0.as_str(), rows[1].0.as_str()), ("lookup linear", "lookup hashed"));
    assert!(is_close(rows[0].1[0], 19.9) && is_close(rows[1].1[3], 22.9), "{rows:?}");
    let criterion = text("t4-criterion.csv");
    assert!(
        criterion.contains("sample_measured_value was divided by iteration_count"),
        "{criterion}"
    );
    assert!(criterion.contains("ns per operation"), "{criterion}");

    let from_csv = medians("t5-hyperfine.csv");
    assert_eq!(from_csv.0, [1, 2, 3, 4, 5, 6, 7, 8]);
    let names: Vec<&str> = from_csv.1.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["./fd-gnu -j {threads} x /srv", "./fd-musl -j {threads} x /srv"]);
    assert!((from_csv.1[0].1[0] - 0.825_967_968e9).abs() < 1.0);
    let from_json = text("t5-hyperfine.json");
    assert!(from_json.contains("./fd-gnu -j {threads} x /srv"), "{from_json}");
    assert!(from_json.contains("median of 10 rounds"), "{from_json}");

    let (points, values) = only("t6-k6.csv");
    assert_eq!(points, [10, 50, 100, 200]);
    assert!(is_close(values[0], 8.2e6), "{values:?}");
    let k6 = text("t6-k6.csv");
    assert!(k6.contains("N vus") && k6.contains("--where metric_name=http_req_duration"), "{k6}");
}

#[test]
fn rates_are_better_when_they_are_higher() {
    for file in [
        "t7-specsdm91.csv --x load --y throughput_per_s",
        "t7-epoll-rwlock.csv --x threads --y events_per_ms --by lock",
    ] {
        let shown = text(file);
        assert!(shown.contains("More was taken as better"), "{shown}");
    }
    let knee = Knee::new();
    for (name, lower) in [
        ("ops", false),
        ("throughput", false),
        ("Gbps", false),
        ("req/s", false),
        ("MiB/s", false),
        ("errors/s", true),
    ] {
        std::fs::write(knee.directory.path().join("t.csv"), format!("n,{name}\n1,5\n2,6\n"))
            .unwrap();
        let words = format!("\"$KNEE\" analyse t.csv --x n --y '{name}' --json");
        let came = came(knee.shell(&words).current_dir(knee.directory.path()));
        let run: Value = serde_json::from_str(&came.out).unwrap();
        let metric = &run["tables"][0]["metric"];
        assert_eq!(metric["lower_is_better"], lower, "{name}");
        assert_eq!(metric.get("direction_assumed").is_some(), lower, "{name}");
    }
}

/// One subject grows and another does not: which is to be used depends on the direction.
#[test]
fn nothing_is_recommended_where_the_direction_is_a_guess() {
    let mut table = "n,what,score,us\n".to_owned();
    for n in [10, 100, 1000, 10_000, 100_000] {
        for _ in 0..3 {
            writeln!(table, "{n},a,{n},{n}\n{n},b,50,50").unwrap();
        }
    }
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("t.csv"), table).unwrap();
    let answer = |y: &str| {
        let words = format!("\"$KNEE\" analyse t.csv --x n --by what --y {y}");
        let out = came(knee.shell(&words).current_dir(knee.directory.path())).done(&words);
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(answer("us").contains("→ use b"), "{}", answer("us"));
    let guessed = answer("score");
    for ranking in ["→ use", "behind", "better throughout", "the best", "the fastest"] {
        assert!(!guessed.contains(ranking), "{ranking}: {guessed}");
    }
    assert!(guessed.contains("a guess, so nothing is ranked or recommended"), "{guessed}");
    assert!(guessed.contains("--better higher"), "{guessed}");
    assert!(answer("score --better lower").contains("→ use b"));
}

#[test]
fn a_table_without_by_is_one_series() {
    let (_, rows) = medians("t8-flat.csv --x n --y ns");
    assert_eq!(rows[0].0, "ns");
    assert!(text("t8-flat.csv --x n --y ns").contains("ns is flat"));
}

#[test]
fn a_wide_table_has_a_column_for_each_series() {
    let knee = Knee::new();
    let file = |name: &str, text: &str| {
        std::fs::write(knee.directory.path().join(name), text).unwrap();
    };
    file(
        "wide.csv",
        "n,day,a us,b us\n10,1,10,5\n100,1,100,5\nn,day,a us,b us\n10,2,11,6\n100,2,101,6\n",
    );
    file(
        "long.csv",
        "n,day,who,us\n10,1,a,10\n10,1,b,5\n100,1,a,100\n100,1,b,5\n10,2,a,11\n10,2,b,6\n100,2,a,101\n100,2,b,6\n",
    );
    let medians = |words: &str| -> Vec<Value> {
        let words = format!("\"$KNEE\" analyse {words} --json");
        let out = came(knee.shell(&words).current_dir(knee.directory.path())).done(&words);
        let view: Value = serde_json::from_str(&out).unwrap();
        let rows = view["tables"][0]["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["cells"].clone()).collect()
    };
    let wide = medians("wide.csv --x n --y 'a us,b us' --round day");
    assert_eq!(wide.len(), 2, "{wide:?}");
    assert_eq!(wide, medians("long.csv --x n --y us --by who --round day"));
    file("units.csv", "n,a us,b ms\n10,10,5\n100,100,5\n");
    file("short.csv", "n,a,b\n10,10,5\n100,100\n");
    for (words, wrong) in [
        ("units.csv --x n --y 'a us,b ms'", "a us and b ms are in different units"),
        (
            "short.csv --x n --y a,b",
            "short.csv, line 3: 2 fields where the first line names 3 columns",
        ),
        ("short.csv --x n --y a,c", "short.csv has no column `a,c`"),
    ] {
        let words = format!("\"$KNEE\" analyse {words}");
        let came = came(knee.shell(&words).current_dir(knee.directory.path()));
        assert_eq!(came.code, Some(2), "{words}: {came:?}");
        assert!(came.err.contains(wrong), "{words}: {}", came.err);
    }
}

/// A joined file has the names again.
#[test]
fn lines_that_repeat_the_names_are_passed_over() {
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("t.csv"), "n,us\n1,5\n2,6\nn,us\n1,5\n").unwrap();
    let words = "\"$KNEE\" analyse t.csv --x n --y us";
    let out = came(knee.shell(words).current_dir(knee.directory.path())).done(words);
    assert!(out.contains("1 line was passed over that repeats the names of the columns"), "{out}");
}

/// A spreadsheet runs what begins as a formula does; knee reads its own export as it was.
#[test]
fn texts_that_a_spreadsheet_would_run_are_exported_as_texts_and_come_back() {
    let knee = Knee::new();
    let names = ["=1+1", "+a", "-j 4", "@SUM(A1)", "'=1", "plain"];
    let mut table = "n,us,who\n".to_owned();
    for name in names {
        writeln!(table, "1,5,{name}\n2,-6,{name}").unwrap();
    }
    std::fs::write(knee.directory.path().join("t.csv"), table).unwrap();
    let run = |words: &str| came(knee.shell(words).current_dir(knee.directory.path())).done(words);
    run("\"$KNEE\" import t.csv --x n --y us --by who");
    for form in ["--what samples", ""] {
        let csv = run(&format!("\"$KNEE\" export last --format csv {form}"));
        for field in csv.lines().skip(1).flat_map(|line| line.split(',')) {
            let is_text = field.parse::<f64>().is_err();
            assert!(!(is_text && field.starts_with(['=', '+', '-', '@'])), "{field}");
        }
        let y = if form.is_empty() { "median" } else { "value" };
        let again = run(&format!(
            "\"$KNEE\" export last --format csv {form} | \"$KNEE\" analyse - --x point --y {y} --by subject --json"
        ));
        let again: Value = serde_json::from_str(&again).unwrap();
        let subjects = again["tables"][0]["rows"].as_array().unwrap().iter();
        let subjects: Vec<&str> = subjects.map(|row| row["subject"].as_str().unwrap()).collect();
        assert_eq!(subjects, names);
    }
    assert!(run("\"$KNEE\" export last --format markdown").contains("| '=1+1 |"));
}
