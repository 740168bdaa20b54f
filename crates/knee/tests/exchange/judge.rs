//! `knee judge`: limits on growth from lines of samples and from tables, and from the clients in `clients`.

use crate::common::{Came, Knee, came};
use fixtures::needed_program;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients");
const POINTS: [u64; 5] = [1_000, 3_000, 10_000, 30_000, 100_000];

/// Three rounds of a series that costs `cost`, within a hundredth.
fn samples(series: &str, cost: fn(f64) -> f64) -> String {
    let mut lines = String::new();
    for round in 0..3_u32 {
        for point in POINTS {
            let value = cost(point as f64) * (1.0 + f64::from((round + point as u32) % 3) / 200.0);
            let sample =
                json!({ "series": series, "point": point, "round": round, "value": value });
            writeln!(lines, "{sample}").unwrap();
        }
    }
    lines
}

/// `knee judge` of a file with this content.
fn judge(content: &str, words: &str) -> Came {
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("samples"), content).unwrap();
    let script = format!("\"$KNEE\" judge {words} < samples");
    came(knee.shell(&script).current_dir(knee.directory.path()))
}

#[test]
fn the_exit_code_says_whether_a_limit_holds() {
    let linear = samples("line", |n| 3.0 * n);
    let holds = judge(&linear, "--at-most linear");
    assert_eq!((holds.code, holds.err.as_str()), (Some(0), ""));
    assert!(holds.out.starts_with("holds: line at most linear: ×100"), "{}", holds.out);
    assert!(holds.out.ends_with(" from 1,000 to 100,000 n, linear\n"), "{}", holds.out);
    let fails = judge(&linear, "--at-most logarithmic");
    assert_eq!(fails.code, Some(3));
    assert!(fails.out.starts_with("fails: line at most logarithmic: "), "{}", fails.out);
    // The worst series decides.
    let both = linear + &samples("square", |n| n * n);
    let open_or_worse = judge(&both, "--at-most linear");
    assert_eq!((open_or_worse.code, open_or_worse.out.lines().count()), (Some(3), 2));
}

#[test]
fn what_is_open_says_what_decides_it() {
    let two = r#"{"point": 10, "value": 10}
                 {"point": 20, "value": 20}"#;
    let open = judge(two, "--at-most linear");
    assert_eq!(open.code, Some(4));
    let end = "quadratic is not excluded; it takes more points\n";
    assert!(open.out.ends_with(end), "{}", open.out);
}

#[test]
fn json_has_the_growth_of_each_series() {
    let judged = judge(&samples("line", |n| 3.0 * n), "--at-most linear --json");
    let judged: Value = serde_json::from_str(&judged.out).unwrap();
    assert_eq!((&judged["verdict"], &judged["limit"]), (&json!("holds"), &json!("linear")));
    let series = &judged["series"][0];
    assert_eq!((&series["series"], &series["verdict"]), (&json!("line"), &json!("holds")));
    assert_eq!(series["growth"]["classes"], json!(["linear"]));
}

#[test]
fn tables_are_judged_by_their_columns() {
    let table =
        "clients,p99_ms\n10,1\n100,10\n1000,100\n10,1.1\n100,11\n1000,101\n10,1\n100,10\n1000,99\n";
    let judged = judge(table, "--at-most constant --x clients --y p99_ms");
    assert_eq!(judged.code, Some(3), "{}{}", judged.out, judged.err);
}

#[test]
fn what_can_not_be_judged_is_refused_in_one_line() {
    for (content, words, wanted) in [
        ("{\"point\": 10}\n", "--at-most linear", "line 1: no sample (missing field `value`"),
        ("x,y_per_s\n1,5\n2,6\n", "--at-most linear --x x --y y_per_s", "has no cost"),
        ("load,us\nfew,5\nmany,6\n", "--at-most linear --x load --y us", "--x: load is words in"),
        ("", "", "--at-most"),
    ] {
        let refused = judge(content, words);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{words}");
        let is_one_line = refused.err.lines().count() == 1;
        assert!(is_one_line && refused.err.contains(wanted), "{wanted}: {}", refused.err);
    }
}

fn run(program: &Path, directory: &Path, words: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(words).current_dir(directory).env("KNEE", env!("CARGO_BIN_EXE_knee"));
    let ended = came(command.env("PYTHONPATH", format!("{CLIENTS}/python")));
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    ended.out
}

const IN_PYTHON: &str = "
import knee

def pairs(items):
    return sum(a < b for a in items for b in items)

async def nothing(n):
    pass

limits = dict(over=[10, 30, 100], setup=lambda n: list(range(n)))
try:
    knee.grows(pairs, **limits).at_most('constant')
except knee.Exceeded as exceeded:
    print(exceeded)
print(knee.grows(list.sort, fresh=True, **limits).at_most('quadratic').rounds >= 3)
print(knee.grows(nothing, over=[1, 2, 4]).at_most('quadratic').verdict in ('holds', 'open'))
try:
    knee.grows(pairs, **limits).at_most('cubic')
except ValueError as error:
    print(error)
";

#[test]
fn a_function_of_python_is_held_against_a_limit() {
    let Some(python) = needed_program("python3") else { return };
    let out = run(&python, Path::new("/"), &["-c", IN_PYTHON]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("fails: pairs at most constant: ×"), "{out}");
    assert_eq!(lines[1..3], ["True", "True"], "{out}");
    assert!(lines[3].contains("--at-most") && lines[3].contains("cubic"), "{out}");
}

const IN_C: &str = r#"
#define _POSIX_C_SOURCE 200809L
#include "knee.h"
static volatile unsigned long sink;
static void pairs(void *argument, size_t n) {
    (void)argument;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) sink = a ^ b;
}
int main(void) {
    const size_t points[] = {10, 30, 100};
    printf("%d\n", knee_at_most("constant", "pairs", pairs, NULL, points, 3));
    printf("%d\n", knee_at_most("constant; true", "pairs", pairs, NULL, points, 3));
    setenv("KNEE", "/is/not/there", 1);
    printf("%d\n", knee_at_most("constant", "pairs", pairs, NULL, points, 3));
    return 0;
}
"#;

#[test]
fn a_function_of_c_is_held_against_a_limit() {
    let Some(compiler) = needed_program("cc") else { return };
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("growth.c"), IN_C).unwrap();
    let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-I"];
    let include = format!("{CLIENTS}/c");
    let words = [&flags[..], &[include.as_str(), "growth.c", "-o", "growth"]].concat();
    run(&compiler, directory.path(), &words);
    let out = run(&directory.path().join("growth"), directory.path(), &[]);
    assert!(out.contains("fails: pairs at most constant: ×"), "{out}");
    assert!(out.ends_with("3\n2\n2\n"), "{out}");
}

#[test]
fn limits_are_tests_of_ctest_and_of_googletest() {
    let (Some(cmake), Some(ctest)) = (needed_program("cmake"), needed_program("ctest")) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let source = format!("{CLIENTS}/c/example");
    run(&cmake, directory.path(), &["-S", &source, "-B", "built"]);
    run(&cmake, directory.path(), &["--build", "built"]);
    let out = run(&ctest, directory.path(), &["--test-dir", "built", "--verbose"]);
    // On a busy machine it may be open, which CTest skips.
    assert!(out.contains(": sum at most linear: ×"), "{out}");
    if out.contains("growth_test") {
        assert!(out.contains(": sort at most n log n: ×"), "{out}");
    } else {
        println!("SKIPPED in part: GoogleTest is not installed");
    }
}
