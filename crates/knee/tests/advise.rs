//! Advice: from the record, measured on demand, or for a live process.

mod common;

use common::{Came, Knee};
use serde_json::Value;
use std::process::{Command, Stdio};

fn measure(knee: &Knee, words: &[&str]) {
    let quick = ["run", "pipetest", "--rounds", "2", "--time", "1ms"];
    let came = knee.run(&[&quick[..], words].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
}

fn one_line(came: &Came, code: i32, wanted: &str) {
    assert_eq!(came.code, Some(code), "{came:?}");
    assert_eq!(came.err.lines().count(), 1, "{came:?}");
    assert!(came.err.starts_with("knee: ") && came.err.contains(wanted), "{came:?}");
}

#[test]
fn without_figures_it_says_what_to_run_and_exits_with_5() {
    let knee = Knee::new();
    let spot = ["advise", "--total", "2k", "--active", "5%"];
    let came = knee.run(&spot);
    one_line(&came, 5, "`knee run pipetest --pipes 2000 --points 100 --spread random`");
    assert_eq!(knee.files(), [] as [String; 0], "asking leaves no record behind");
    // The command that it names answers the question.
    measure(&knee, &["--pipes", "2000", "--points", "100", "--spread", "random"]);
    assert_eq!(knee.run(&spot).code, Some(0));
    // Elsewhere it still knows nothing, and does not guess.
    one_line(&knee.run(&["advise", "--total", "3000", "--active", "100"]), 5, "--pipes 3000");
}

#[test]
fn advice_ranks_what_was_measured_and_says_where_from() {
    let knee = Knee::new();
    let subjects = ["--subjects", "poll,select,epoll-level"];
    let places = ["--pipes", "20,200", "--points", "10%,50%,100%", "--spread", "tail,random"];
    measure(&knee, &[&subjects[..], &places[..]].concat());
    let came = knee.run(&["advise", "--total", "200", "--active", "20"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    for wanted in [
        "200 watched descriptors, 20 of them active",
        "poll",
        "epoll-level",
        "From run 1 of",
        "spread random",
        "rarely the largest",
    ] {
        assert!(came.out.contains(wanted), "{wanted}: {}", came.out);
    }
    let words = ["advise", "--total", "100", "--active", "30", "--mechanisms", "poll,select"];
    let came = knee.run(&[&words[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&came.out).unwrap();
    let ranking = json["advice"]["ranking"].as_array().unwrap();
    let mut names: Vec<&str> = ranking.iter().map(|row| row["subject"].as_str().unwrap()).collect();
    assert!(ranking[0]["cost_ns"]["value"].as_f64() <= ranking[1]["cost_ns"]["value"].as_f64());
    names.sort_unstable();
    assert_eq!(names, ["poll", "select"]);
    assert_eq!(json["advice"]["between"], serde_json::json!([20, 200]));
}

#[test]
fn what_is_missing_is_measured_when_that_is_wanted() {
    let knee = Knee::new();
    let words = ["advise", "--total", "50", "--active", "5", "--mechanisms", "poll,epoll-level"];
    let came = knee.run(&[&words[..], &["--measure"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("Measured just now, as run 1"), "{}", came.out);
    // It is in the record now.
    let came = knee.run(&words);
    assert!(came.out.contains("From run 1"), "{came:?}");
    knee.assert_no_process_left();
}

#[test]
fn wrong_words_get_one_line() {
    let knee = Knee::new();
    let cases: &[(&[&str], &str)] = &[
        (&[], "--total"),
        (&["--total", "100"], "--active"),
        (&["--total", "0", "--active", "1"], "--total is at least 1, not 0"),
        (&["--total", "many", "--active", "1"], "`many` is not a whole number"),
        (&["--total", "10", "--active", "0%"], "not above 0%"),
        (&["--total", "10", "--active", "11"], "--active 11 is more than --total 10"),
        (&["--total", "10", "--active", "1", "--mechanisms", "epol"], "no mechanism is called"),
        (&["--pid", "1", "--total", "10"], "cannot be used with"),
        (&["--pid", "x"], "--pid"),
        (&["--pid", "1", "--seconds", "0"], "--seconds"),
    ];
    for (words, wanted) in cases {
        let came = knee.run(&[&["advise"], *words].concat());
        one_line(&came, 2, wanted);
    }
}

#[test]
fn a_process_that_is_not_there_or_does_not_wait_gets_one_line() {
    let knee = Knee::new();
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let gone = ended.id().to_string();
    one_line(&knee.run(&["advise", "--pid", &gone]), 2, &format!("there is no process {gone}"));

    let mut sleeper = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let pid = sleeper.id().to_string();
    let came = knee.run(&["advise", "--pid", &pid, "--seconds", "0.2"]);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    // Where the kernel's tracepoints may not be used, the line says that instead.
    one_line(&came, 5, "");
}
