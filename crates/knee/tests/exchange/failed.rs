//! What failed is never passed over: no verdict holds, and no gate passes, because only the rest was looked at.

use crate::common::{Knee, alone};
use std::fmt::Write as _;

/// Rounds of a cost that is linear; `fails` says of a round and a point whether it timed out.
fn table(rounds: u32, fails: impl Fn(u32, u32) -> bool) -> String {
    let mut text = "round,n,us\n".to_owned();
    for round in 0..rounds {
        for n in [10, 100, 1000, 10_000] {
            let value = f64::from(n) * (1.0 + f64::from((7 * round + n) % 5) / 500.0);
            let value = if fails(round, n) { "timeout".to_owned() } else { value.to_string() };
            writeln!(text, "{round},{n},{value}").unwrap();
        }
    }
    text
}

const COLUMNS: [&str; 6] = ["--x", "n", "--y", "us", "--round", "round"];

/// Imports tables as runs 1, 2, … of one workload.
fn imported(tables: &[String]) -> Knee {
    let knee = Knee::new();
    for (index, table) in tables.iter().enumerate() {
        let file = knee.at(&format!("{index}.csv"));
        std::fs::write(&file, table).unwrap();
        let words = ["import", &file, "--name", "cost"];
        knee.run(&[&words[..], &COLUMNS].concat()).done("import");
    }
    knee
}

#[test]
fn a_limit_is_open_where_cells_failed() {
    let knee = Knee::new();
    let file = knee.at("table.csv");
    for (fails, wanted) in [
        ((|_, n| n == 10_000) as fn(u32, u32) -> bool, "5 of 5 cells failed at 10,000 n: timeout"),
        (|round, n| round > 3 && n == 100, "1 of 5 cells failed at 100 n: timeout"),
    ] {
        std::fs::write(&file, table(5, fails)).unwrap();
        let came = knee.run(&[&["judge", "--at-most", "linear", &file][..], &COLUMNS].concat());
        assert_eq!(came.code, Some(4), "{came:?}");
        assert!(came.out.starts_with("open: us at most linear: ×"), "{came:?}");
        assert!(came.out.ends_with(&format!("; {wanted}\n")), "{came:?}");
    }
}

#[test]
fn a_gate_does_not_pass_what_fails_more_often() {
    let _alone = alone();
    let last = |rounds: u32| move |round, n| round < rounds && n == 10_000;
    let tables = [table(8, last(0)), table(8, last(5)), table(3, last(0)), table(3, last(1))];
    let knee = imported(&tables);
    for (runs, code, wanted) in [
        (["1", "2"], 3, "more fails than in base"),
        (["3", "4"], 4, "at 10,000 n: 1 of 3 (33 %) rounds fail; in base 0 of 3"),
        (["2", "1"], 0, ""),
    ] {
        let came = knee.run(&[&["compare"][..], &runs, &["--fail-above", "10%"]].concat());
        assert_eq!(came.code, Some(code), "{runs:?}: {came:?}");
        assert!((came.out + &came.err).contains(wanted), "{runs:?}");
    }
}

#[test]
fn a_history_does_not_pass_a_line_that_fails_again_and_again() {
    let _alone = alone();
    let newest = |round: u32, n| n == 1000 || n == 10_000 && round == 0;
    let mut tables: Vec<String> = (0..6).map(|_| table(3, |_, _| false)).collect();
    for _ in 0..2 {
        tables.push(table(3, newest));
        let came = imported(&tables).run(&["history", "cost", "--fail-above", "5%"]);
        assert_eq!(came.code, Some(4), "{came:?}");
        assert!(!came.out.contains("Nothing changed"), "{came:?}");
        let wanted = "failed: us: 3 of 3 cells failed at 1,000 n: timeout, and 1 more line";
        assert!(came.out.contains(wanted) && came.err.contains(wanted), "{came:?}");
    }
}
