//! `knee analyse`: tables from elsewhere are read as they were meant, and what is wrong with a file is reported in one line.

use crate::common::{Came, Knee, came};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// `knee analyse` in the directory, with words as a shell takes them apart.
fn analyse(knee: &Knee, words: &str) -> Came {
    came(knee.shell(&format!("\"$KNEE\" analyse {words}")).current_dir(knee.directory.path()))
}

fn printed(knee: &Knee, words: &str) -> String {
    let came = analyse(knee, words);
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{words}");
    came.out
}

fn json(knee: &Knee, words: &str) -> Value {
    serde_json::from_str(&printed(knee, &format!("{words} --json"))).unwrap()
}

/// A table of this content.
fn with_table(content: &[u8]) -> Knee {
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("t.csv"), content).unwrap();
    knee
}

/// The analysis of a table with the columns n, us and who.
const PLAIN: &str = "t.csv --x n --y us --by who";

/// Text on one line, as it was before it was wrapped.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn words_are_compared_table_by_table_and_rows_of_one_place_are_repetitions() {
    let table = b"who,load,us,kernel\na,few,5,old\na,few,6,old\nb,few,20,old\nb,few,21,old\n\
                  a,few,5,new\na,many,5,new\nb,few,5,new\n";
    let knee = with_table(table);
    let text = printed(&knee, "t.csv --x load --y us --by who --per kernel");
    let text = unwrapped(&text);
    assert!(text.contains("b is ×3.73 of a at few (kernel = old) (95 % "), "{text}");
    assert!(text.contains("b is the same as a at few (kernel = new)."), "{text}");
    assert!(!text.contains("did not finish"), "a row that is not there says nothing: {text}");
}

#[test]
fn repeated_rows_are_rounds_and_give_an_interval() {
    let mut table = b"who,n,us,round\n".to_vec();
    for (round, noise) in [0.98, 1.01, 1.0, 0.97, 1.02, 1.03, 0.99].into_iter().enumerate() {
        for n in [10, 100, 1000, 10_000, 100_000] {
            let (flat, linear) = (2.0 * noise, 0.1 * noise * f64::from(n));
            writeln!(table, "a,{n},{flat},{round}\nb,{n},{linear},{round}").unwrap();
        }
    }
    let knee = with_table(&table);
    let run = json(&knee, PLAIN);
    assert_eq!(run["plan"]["rounds"], 7);
    assert_eq!(run["cells"].as_array().unwrap().len(), 70);
    assert_eq!(run["caveats"], serde_json::json!([]), "a column named round says what rows are");
    let rows = run["tables"][0]["rows"].as_array().unwrap();
    let at = &rows[1]["cells"][2];
    assert_eq!((&at["rounds"], &at["samples"]), (&7.into(), &7.into()));
    let median = &at["median"];
    let [value, low, high] = ["value", "low", "high"].map(|key| median[key].as_f64().unwrap());
    // Times are nanoseconds in a record.
    assert!((value - 100_000.0).abs() < 1e-6, "{median}");
    assert!(96_000.0 < low && low < value && value < high && high < 104_000.0, "{median}");
    assert_eq!(rows[0]["growth"]["class"], "constant");
    assert_eq!(rows[1]["growth"]["class"], "linear");
    assert!(printed(&knee, PLAIN).contains("median of 7 rounds"));
}

#[test]
fn rows_that_differ_in_an_unnamed_column_are_pooled_with_a_warning() {
    let knee = with_table(b"who,n,us,kernel\na,1,5,old\na,1,6,new\na,2,5,old\na,2,6,new\n");
    let pooled = "Rows that differ in kernel were taken as repetitions of one figure → --per kernel, \
                  or --where kernel=…";
    assert!(unwrapped(&printed(&knee, PLAIN)).contains(pooled));
    for apart in ["--per kernel", "--where kernel=old"] {
        assert!(!printed(&knee, &format!("{PLAIN} {apart}")).contains("repetitions"), "{apart}");
    }
    let both = format!("{PLAIN} --where kernel=old --where kernel=new");
    assert!(printed(&knee, &both).contains("repetitions"), "two values are not one");
    let several = printed(&knee, "t.csv --x n --y us --by kernel,who");
    assert!(several.contains("old a") && several.contains("new a"), "{several}");
}

#[test]
fn what_is_no_figure_stands_in_the_table_with_its_reason() {
    let knee = with_table(
        b"who,n,us\na,1,5\na,2,aborted after about 6 hours\na,3,n/a\nb,1,6\nb,2,\xe2\x80\x93\nb,3,7\n",
    );
    let text = unwrapped(&printed(&knee, PLAIN));
    for wanted in [
        "2: aborted after about 6 hours",
        "3: the table has no figure there",
        "1 cell of a at 2 failed: aborted after about 6 hours",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

/// Also where other rows of its round have figures: those are of what went well alone.
#[test]
fn a_row_without_a_figure_fails_its_round() {
    let table =
        b"day,n,us\nmon,1,5\nmon,2,6\nmon,2,timeout\ntue,1,5\ntue,2,-\ntue,2,6\nwed,1,5\nwed,2,6\n";
    let text = unwrapped(&printed(&with_table(table), "t.csv --x n --y us --round day"));
    let wanted = "2 cells of us at 2 failed: timeout or the table has no figure there";
    assert!(text.contains(wanted), "{text}");
}

/// The same table, however it is written.
#[test]
fn tables_are_read_as_programs_write_them() {
    let wanted = json(&with_table(b"who,n,us\na,1000,1.5\na,2000,2500000\n"), PLAIN);
    let same: [&[u8]; 7] = [
        b"\xef\xbb\xbfwho,n,us\r\na,1000,1.5\r\na,2000,2500000\r\n",
        b"who;n;us\na;1000;1.5\na;2000;2500000\n",
        b"who\tn\tus\na\t1k\t1.5\na\t2k\t2.5e6\n",
        b"\"who\",\"n\",\"us\"\n\"a\",1000,1.5\n\"a\",\"2,000\",\"2,500,000\"",
        b"\n\nwho,n,us\n\na,1000,1.5\n,,\na,2000,2.5M\n\n,,\n",
        b"n,who,us\n 1_000 , a , 1.5 \n2 000,a,2500000.0\n",
        b"us,n,who\n1.5,1e3,\"a\n\"\n2500k,2000.0,a\n",
    ];
    for content in same {
        let analysed = json(&with_table(content), PLAIN);
        let text = String::from_utf8_lossy(content);
        assert_eq!(analysed["tables"], wanted["tables"], "{text}");
    }
}

#[test]
fn subjects_of_one_name_are_distinguished() {
    let subjects = |table: &str, words: &str| {
        let tables =
            json(&with_table(table.as_bytes()), &format!("t.csv {words}"))["tables"].clone();
        let rows = tables[0]["rows"].as_array().unwrap().clone();
        let name = |row: &Value| row["subject"].as_str().unwrap().to_owned();
        rows.iter().map(name).collect::<Vec<String>>().join("; ")
    };
    let words = "cc,flag,n,ms\ngcc -O2,,1,1\ngcc,-O2,1,2\nclang,-O2,1,3\n";
    let wanted = "cc=gcc -O2 flag=; cc=gcc flag=-O2; clang -O2";
    assert_eq!(subjects(words, "--x n --y ms --by cc,flag"), wanted);
    let numbered =
        "name,ns\nsort/1/vec,1\nsort/2/vec,2\nsort/vec/1,1\nsort/vec/2,2\na/1/b,1\na/2/b,1\n";
    assert_eq!(subjects(numbered, "--x name --y ns"), "sort/{n}/vec; sort/vec/{n}; a/b");
    let criterion = "sort/1/vec  time:   [1 ns 2 ns 3 ns]\nsort/vec/1  time:   [1 ns 4 ns 5 ns]\n\
        sort/2/vec  time:   [1 ns 2 ns 3 ns]\nsort/vec/2  time:   [1 ns 4 ns 5 ns]\na/1/b  time:   [1 ns 2 ns 3 ns]\n";
    assert_eq!(subjects(criterion, ""), "sort/{n}/vec; sort/vec/{n}; a/b");
    let long = "x".repeat(130);
    let long = format!("who,n,us\n{long}a,1,5\n{long}b,1,5\n");
    assert_eq!(subjects(&long, "--x n --y us --by who").split("; ").count(), 2);
}

#[test]
fn decimals_and_percentages_become_whole_points() {
    let axis = |content: &str| {
        let table = json(&with_table(content.as_bytes()), PLAIN)["tables"][0].clone();
        (table["axis"].as_str().unwrap().to_owned(), table["points"].to_string())
    };
    let wanted = |axis: &str, points: &str| (axis.to_owned(), points.to_owned());
    assert_eq!(axis("who,n,us\na,0.5,1\na,1,2\n"), wanted("n (tenths)", "[5,10]"));
    assert_eq!(axis("who,n,us\na,0.125,1\na,1,2\n"), wanted("n (thousandths)", "[125,1000]"));
    assert_eq!(axis("who,n,us\na,10%,1\na,100 %,2\n"), wanted("n (%)", "[10,100]"));
    assert_eq!(axis("who,n,us\na,0.5%,1\na,2%,2\n"), wanted("n (tenths of %)", "[5,20]"));
}

#[test]
fn which_figures_are_better_follows_from_the_unit() {
    let head = |y: &str| format!("who,n,{y}\na,1,5\na,2,6\n");
    let better = |y: &str, more: &str| {
        let knee = with_table(head(y).as_bytes());
        let words = format!("t.csv --x n --y '{y}' --by who {more}");
        let run = json(&knee, &words);
        let metric = &run["tables"][0]["metric"];
        let message = unwrapped(&printed(&knee, &words));
        (metric["lower_is_better"].as_bool().unwrap(), metric["unit"].clone(), message)
    };
    let (lower, unit, message) = better("tokens_per_s", "");
    assert_eq!((lower, unit), (false, "tokens/s".into()));
    let note = "More was taken as better, since tokens/s is a rate → --better lower if less is";
    assert!(message.contains(note), "{message}");
    let (lower, _, message) = better("tokens_per_s", "--better lower");
    assert!(lower && !message.contains("taken as better"), "{message}");
    let (lower, unit, message) = better("latency (ms)", "");
    assert_eq!((lower, unit), (true, "ns".into()));
    assert!(
        message.contains("ms per operation (latency)") && !message.contains("taken as"),
        "{message}"
    );
    let (lower, unit, message) = better("score", "");
    assert_eq!((lower, unit), (true, "".into()));
    assert!(message.contains("Less score was taken as better"), "{message}");
    assert!(!better("score", "--unit pages/s").0);
    assert!(!better("score", "--better higher").0);
}

#[test]
fn figures_without_a_logarithm_are_no_mishap() {
    let knee = with_table(b"who,n,us\na,1,0\na,2,-5\na,3,1\nb,1,-1\nb,2,-2\nb,3,0\n");
    let text = printed(&knee, PLAIN);
    assert!(text.contains("undecided") && text.contains("not above zero"), "{text}");
    json(&knee, PLAIN);
    printed(&knee, &format!("{PLAIN} -o page.html"));
}

/// What is typed may be copied from the file or from what was printed.
#[test]
fn names_and_values_are_found_with_or_without_what_is_not_seen() {
    let content = "who,n\u{200f},us,os\na,1,5,X\u{202e}  Y\na,2,6,X\u{202e}  Y\na,1,7,Z\n";
    let knee = with_table(content.as_bytes());
    let ask = |n: &str, os: &str| {
        printed(&knee, &format!("t.csv --x '{n}' --y us --by who --where 'os={os}'"))
    };
    let plain = ask("n", "X Y");
    assert_eq!(plain, ask("n\u{200f}", "X\u{202e}  Y"));
    assert!(plain.contains("X Y") && !plain.contains(['\u{200f}', '\u{202e}']), "{plain}");
}

/// A table, more arguments, and the message.
type Bad = (&'static [u8], &'static str, &'static str);

fn assert_refused(cases: &[Bad]) {
    for (content, more, wanted) in cases {
        let knee = with_table(content);
        let words =
            if more.contains("--x") { (*more).to_owned() } else { format!("{PLAIN} {more}") };
        let came = analyse(&knee, &words);
        let text = String::from_utf8_lossy(&content[..content.len().min(60)]);
        assert_eq!((came.code, came.out.as_str()), (Some(2), ""), "{text} {more}: {came:?}");
        assert_eq!(came.err.lines().count(), 1, "{text} {more}: {}", came.err);
        assert!(came.err.starts_with("knee: "), "{}", came.err);
        assert!(came.err.contains(wanted), "{text} {more}: {}", came.err);
        assert_eq!(knee.files(), ["t.csv"], "nothing is written");
    }
}

#[test]
fn errors_of_a_table_name_its_line() {
    assert_refused(&[
        (b"", "", "t.csv is empty; it needs a line of column names"),
        (b"\n \r\n", "", "t.csv is empty"),
        (b"who,n,us\n", "", "t.csv has column names, but no rows below them"),
        (b"who,n,us\n,,\n", "", "no rows below them"),
        (b"a,1,5\na,2,6\n", "", "t.csv, line 1: this must name the columns, and `1` is no name"),
        (b"who,n,us,n\na,1,2,3\n", "", "line 1: columns 2 and 4 are both called `n`; rename one"),
        (b"who,n,us\na,1,5\na,2\n", "", "t.csv, line 3: 2 fields where the first line names 3"),
        (
            b"who,n,us\na,1,5\na,1,000,5\n",
            "",
            "line 3: 4 fields where the first line names 3 columns; if",
        ),
        (b"a title\nwho,n,us\na,1,5\na,2\n", "", "t.csv, line 4: 2 fields where line 2 names 3"),
        (b"who,n,us\na,1,5\n\nb,many,5\n", "", "line 4: n: `many` is not a number (such as 10000"),
        (b"\xef\xbb\xbfwho,n,us\r\n\r\n \r\na,1,5\r\nb,-2,5\r\n", "", "line 5: n: `-2`"),
        (b"who,n,us\n\"a\n\nb\",1,5\n\nb,-2,5\n", "", "line 6: n: `-2`"),
        (b"who,n,us\na,-3,5\n", "", "line 2: n: `-3` is below zero"),
        (b"who,n,us\na,,5\n", "", "line 2: n: there is no value"),
        (b"who,n,us\n,1,5\n", "", "line 2: who: there is no value"),
        (b"who,n,us\na,1e40,5\n", "", "line 2: n: `1e40` is too large"),
        (b"who,n,us\na,9007199254740993,5\n", "", "line 2: n: `9007199254740993` is too large"),
        (b"who,n,us\na,9007199254740990,5\na,0.1,5\n", "", "values in n that are too large or too"),
        (b"who,n,us\na,1,5\na,10%,5\n", "", "line 3: n: `10%` where line 2 has `1`"),
        (b"who,n,us\na,1,NaN\n", "", "line 2: us: `NaN` is no figure"),
        (b"who,n,us\na,1,-inf\n", "", "line 2: us: `-inf` is no figure"),
        (b"who,n,us\na,1,1.2.3\n", "", "line 2: us: `1.2.3` is no number (such as"),
        (b"who,n,us\na,1,1O0\n", "", "line 2: us: `1O0` is no number"),
        (b"who;n;us\na;1;12,345\n", "", "line 2: us: `12,345` may be 12345 or 12.345, and the col"),
        (
            b"who,n,us\na,1,5\nwhat,n,us\nb,1,5\n",
            "",
            "line 3: a second table begins here, with `what`",
        ),
        (
            b"who,n,us\na,1,lost\na,2,-\n",
            "",
            "no figure in us in any of these rows, but `lost` in line 2",
        ),
        (
            b"w\0h\0o\0,\0n\0,\0u\0s\0\n\0",
            "",
            "t.csv has bytes that are 0: it is UTF-16 without a mark",
        ),
        (b"who,n,us\n\"a\nb\x1b\",\"1\n,?\",5\n", "", "line 2: n: `1 ,?` is not a number"),
        (b"who,n,us\na,1,5\na,2,\"6\na,3,7\n", "", "line 3: a quote opens a field here"),
        (b"who,n,us\n\"a,1,5\n\"b\",1,6\na,2,7\n", "", "line 2: a quote opens a field here"),
        (b"who,n,us\na,few,5\na,2,5\n", "", "line 3: n: `2` where line 2 has `few`; write all"),
        (b"who,n,us\na,2,5\na,few,5\n", "", "line 3: n: `few` is not a number"),
    ]);
}

#[test]
fn errors_of_the_arguments_name_their_fix() {
    const T: &[u8] =
        b"who,n,us,kernel,pipes\na,1,5,Linux 2.2,10\na,2,6,Linux 2.4,10\nb,1,7,Linux 2.4,20\n";
    assert_refused(&[
        (T, "no.csv --x n --y us --by who", "no.csv: there is no such file"),
        (T, ". --x n --y us --by who", ".: that is a directory; name a file in it"),
        (T, "t.csv --x m --y us --by who", "--x: t.csv has no column `m`; its columns are who"),
        (T, "t.csv --x n --y us --by whoo", "--by: t.csv has no column `whoo`; did you mean who?"),
        (T, "t.csv --x n --y n --by who", "`n` is given to both --x and --y"),
        (T, "t.csv --x n --y us --by who,who", "--by: `who` is given twice"),
        (T, "--per who", "`who` is given to both --by and --per"),
        (T, "--per kernl", "--per: t.csv has no column `kernl`; did you mean kernel?"),
        (T, "--where kernel", "--where: `kernel` has no equals sign; write it as COL=VALUE"),
        (T, "--where core=1", "--where: t.csv has no column `core`; its columns are who, n, us"),
        (
            T,
            "--where kernel=BSD",
            "no row of t.csv has kernel=BSD; its values are Linux 2.2 and Linux 2.4",
        ),
        (T, "--where who=b --where pipes=20 --where 'kernel=Linux 2.2'", "none has all of them"),
        (
            T,
            "--of pipes",
            "--of: a table needs one value of pipes; add --per pipes, or --where pipes=VALUE",
        ),
        (T, "--of kernel --per kernel", "line 2: kernel: `Linux 2.2` is no number"),
        (
            b"who,n,us,p\na,0.5,5,1\n",
            "--of p --per p",
            "n: `0.5` is no whole number, and --of needs",
        ),
        (b"who,n,us,p\na,5%,5,1\n", "--of p --per p", "n: `5%` is no whole number, and --of needs"),
        (
            b"who,n,us,p\na,50,5,100\na,200,6,100\n",
            "--of p --per p",
            "t.csv, line 3: n: 200 is more than the 100 in p, and --of needs a part of that; swap",
        ),
        (T, "--better best", "is not `best`; it is one of lower or higher"),
        (b"who,n,us,p\na,few,5,10\n", "--of p --per p", "line 2: n: `few` is not a number"),
        (T, "--sd pips --n 5", "--sd: t.csv has no column `pips`; did you mean pipes?"),
        (T, "--sd us --n 5", "`us` is given to both --y and --sd"),
        (
            b"n,us,sd (%)\n10,5,1\n",
            "t.csv --x n --y us --sd 'sd (%)' --n 5",
            "--sd: sd (%) and us of t.csv are in different units",
        ),
        (T, "--sd pipes", "--n"),
        (T, "--sd pipes --n 1", "--n"),
        (b"who,n,us,sd\na,few,5,-1\n", "--sd sd --n 5", "line 2: sd: `-1` is below zero"),
        (
            b"who,n,us,sd\na,few,5,1\na,few,6,1\n",
            "--sd sd --n 5",
            "line 3: --sd says that a row is a mean, and an earlier one is of the same",
        ),
        (
            b"who,100,200\na,1,2\n",
            "t.csv --x n --y 100 --by who",
            "--x: t.csv has no column `n`; its columns are who, 100 and 200",
        ),
        (T, "t.csv --x n", "t.csv is a table, and needs --x and --y, and --by where several"),
        (T, "--decimal dot", "is not `dot`; it is one of point or comma"),
        (T, "-o t.csv", "t.csv: it exists and is no page of knee; name another file with -o"),
        (T, "-o nowhere/page.html", "its directory does not exist"),
    ]);
}

/// Kogan's benchmark readrandom, whose figures are the same at 8 threads.
#[test]
fn a_lead_is_that_of_the_points_that_show_it() {
    let figures = [
        (1, 0.532, 0.535),
        (2, 0.665, 0.673),
        (4, 0.715, 0.716),
        (8, 0.686, 0.686),
        (16, 0.719, 0.737),
        (32, 0.740, 0.959),
        (72, 0.652, 1.160),
    ];
    let rows = figures.map(|(n, stock, cna)| format!("stock,{n},{stock}\nCNA,{n},{cna}\n"));
    let knee = with_table(format!("who,n,throughput\n{}", rows.concat()).as_bytes());
    let text = unwrapped(&printed(&knee, "t.csv --x n --y throughput --by who --all"));
    let part = "CNA is better from 2 n on, ×1.01 to ×1.78, and too close to call at 1, 4 and 8.";
    assert!(text.contains(part), "{text}");
    let table = b"who,n,us\na,1,10\na,2,20\na,4,40\na,8,80\nb,1,9\nb,2,20\nb,4,12\nb,8,12\n";
    let text = unwrapped(&printed(&with_table(table), &format!("{PLAIN} --all")));
    let part = "b is better from 1 to 8 n, ×1.11 to ×6.67, and too close to call at 2.";
    assert!(text.contains(part) && text.contains("use b: 12.0 µs, faster from 4 n on"), "{text}");
}

#[test]
fn a_crossover_next_to_a_point_is_not_at_it() {
    for (second, position) in [([10.2, 8.0], "at 1.01 n."), ([10.11, 1e-5], "between 1 and 2 n.")] {
        let table = format!("who,n,us\na,1,10\na,2,20\nb,1,{}\nb,2,{}\n", second[0], second[1]);
        let knee = with_table(table.as_bytes());
        let text = unwrapped(&printed(&knee, &format!("{PLAIN} --all")));
        assert!(text.contains(&format!("b overtakes a {position}")), "{text}");
        assert!(!text.contains("from 1 on"), "{text}");
    }
}

/// Means of nine figures that scatter by 5 %, of two that are alike, and of two of which one is a fifth ahead: 40 of each.
#[test]
fn deviations_of_means_decide_where_x_is_numbers() {
    let mut random = fastrand::Rng::with_seed(38);
    let mut table = b"kind,case,who,n,us,sd\n".to_vec();
    for (kind, ahead) in [("alike", 1.0), ("ahead", 1.2)] {
        for (case, (who, level), n) in (0..40).flat_map(|case| {
            let subjects = [("a", 10.0), ("b", 10.0 * ahead)].into_iter();
            subjects.flat_map(move |who| [1, 2, 4, 8, 16, 32].map(|n| (case, who, n)))
        }) {
            let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
            let figures: Vec<f64> = (0..9).map(|_| level * (0.05 * normal()).exp()).collect();
            let mean = figures.iter().sum::<f64>() / 9.0;
            let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
            let deviation = (squares / 8.0).sqrt();
            writeln!(table, "{kind},{case},{who},{n},{mean},{deviation}").unwrap();
        }
    }
    let knee = with_table(&table);
    let run = json(&knee, &format!("{PLAIN} --per kind,case --sd sd --n 9"));
    let (mut false_leads, mut true_leads, mut flat) = (0, 0, 0);
    for table in run["tables"].as_array().unwrap() {
        let outcome = &table["comparisons"][0]["outcome"];
        let leads = outcome["outcome"] == "throughout";
        match table["parameters"]["kind"].as_str() {
            Some("alike") => false_leads += usize::from(outcome["outcome"] != "too-close"),
            _ => true_leads += usize::from(leads && outcome["better"] == "a"),
        }
        let rows = table["rows"].as_array().unwrap();
        flat += rows.iter().filter(|row| row["growth"]["class"] == "constant").count();
    }
    assert!(
        false_leads <= 1 && true_leads == 40 && flat == 160,
        "{false_leads} {true_leads} {flat}"
    );
}

#[test]
fn deviations_may_have_another_unit_than_their_means() {
    let rows = |sd: &str, deviations: [&str; 2]| {
        let table = format!("n,us,{sd}\n10,1000,{}\n20,1100,{}\n", deviations[0], deviations[1]);
        let words = format!("t.csv --x n --y us --sd {sd} --n 5");
        json(&with_table(table.as_bytes()), &words)["tables"][0]["rows"].clone()
    };
    let plain = rows("sd", ["50", "64"]);
    assert_eq!(plain, rows("sd_ms", ["0.05", "0.064"]));
    assert_eq!(plain, rows("s", ["50", "64"]), "a sign, and no unit");
}

#[test]
fn what_would_never_end_is_refused() {
    let rows = |head: &str, items: usize, row: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (1..=items).map(row).collect();
        format!("{head}\n{}\n", rows.join("\n"))
    };
    let many_subjects = rows("who,n,us", 101, &|n| format!("s{n},1,1"));
    let many_points = rows("who,n,us", 301, &|n| format!("a,{n},1"));
    let cases = [
        (many_subjects, "line 102: who has more than 100 values; is it the right column for --by?"),
        (many_points, "line 302: n has more than 300 values"),
        (format!("who,n,us\n{}", "x".repeat(1 << 21)), "line 2: it is longer than 1 MiB"),
    ];
    for (content, wanted) in cases {
        let came = analyse(&with_table(content.as_bytes()), PLAIN);
        assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{}", came.err);
        assert!(came.err.contains(wanted), "{}", came.err);
    }
    let came = analyse(&Knee::new(), "/dev/zero --x n --y us --by who");
    assert!(came.code == Some(2) && came.err.contains("longer than 1 MiB"), "{came:?}");
}

#[test]
fn a_million_figures_are_the_most() {
    let mut table = b"who,n,us\n".to_vec();
    for n in 0..=1_000_000 {
        writeln!(table, "a,{},1", n % 10 + 1).unwrap();
    }
    let came = analyse(&with_table(&table), PLAIN);
    let wanted = "knee: t.csv, line 1000002: more than 1,000,000 figures; take a part of them with --where\n";
    assert_eq!((came.code, came.err.as_str()), (Some(2), wanted));
}

#[test]
fn standard_input_is_a_table_too() {
    let knee = with_table(b"who,n,us,kernel\na,1,5,2.6 smp\na,2,5,2.6 smp\na,2,9,2.4\n");
    let words = "--x n --y us --by who --where kernel=2.6\\ smp";
    let text = printed(&knee, &format!("- {words} < t.csv"));
    assert!(text.starts_with("table · n · kernel 2.6 smp"), "{text}");
    assert!(text.contains("a is flat at 5.00 µs."), "{text}");
    let came = analyse(&knee, &format!("- {words} < /dev/null"));
    assert_eq!(came.code, Some(2));
    assert!(came.err.contains("knee: standard input is empty"), "{}", came.err);
}

/// A pipe that is filled byte by byte is read as any file.
#[test]
fn a_slow_writer_is_waited_for() {
    let knee = Knee::new();
    let words = ["analyse", "-", "--x", "n", "--y", "us", "--by", "who", "--json"];
    let mut command = knee.command(&words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    for byte in b"who;n;us\na;1;5\na;2;6\n" {
        pipe.write_all(&[*byte]).unwrap();
        pipe.flush().unwrap();
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["tables"][0]["points"], serde_json::json!([1, 2]));
}

#[test]
fn the_same_table_gives_the_same_words_and_the_same_page() {
    let mut table = b"who,n,us\n".to_vec();
    for round in 0..6 {
        for n in [1, 10, 100] {
            let (a, b) = (10 + round % 4, 9 + round * n % 7);
            writeln!(table, "a,{n},{a}\nb,{n},{b}").unwrap();
        }
    }
    let knee = with_table(&table);
    let both = |words: &str| (printed(&knee, words), printed(&knee, words));
    for words in [PLAIN.to_owned(), format!("{PLAIN} --json"), format!("{PLAIN} --all")] {
        let (first, second) = both(&words);
        assert_eq!(first, second);
    }
    let page = || {
        let message = printed(&knee, &format!("--all {PLAIN} -o page.html"));
        assert!(message.ends_with("Report: page.html\n"), "{message}");
        std::fs::read_to_string(knee.directory.path().join("page.html")).unwrap()
    };
    let (first, second) = (page(), page());
    assert!(first.starts_with("<!DOCTYPE html>") && first == second);
    assert!(first.contains("a table, <code>t.csv</code>"), "its source");
    assert_eq!(knee.files(), ["page.html", "t.csv"], "nothing is recorded");
    let id = json(&knee, PLAIN)["summary"]["id"].as_str().unwrap().to_owned();
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
}

/// A workload called null would be taken for the harness's own control.
#[test]
fn a_file_called_null_is_a_table_as_any_other() {
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("null.csv"), "who,n,us\na,1,5\na,2,6\n").unwrap();
    let text = printed(&knee, "null.csv --x n --y us --by who");
    assert!(!text.contains("harness"), "{text}");
}

#[test]
fn help_says_it_all() {
    let knee = Knee::new();
    let list = knee.run(&["--help"]).out;
    assert!(list.contains("Analyse a table of another program as if it were a run"), "{list}");
    let help = knee.run(&["help", "analyse"]).out;
    let flags =
        "--x --y --by --better --where --per --of --sd --n --unit --decimal --output --all --json";
    for flag in flags.split(' ') {
        assert!(help.contains(flag), "{flag}: {help}");
    }
    for message in
        ["repetitions", "n/a", "10,000, 10k, 0.5, 10% or BM_Sort/64", "standard input", "Examples:"]
    {
        assert!(unwrapped(&help).contains(message), "{message}: {help}");
    }
}
