//! `knee show`: of one run the workloads that are named; several runs side by side.

use crate::common::Knee;
use serde_json::Value;

const BASELINE: &[&str] =
    &["run", "baseline", "--subjects", "null-call,stat,bw-pipe", "--rounds", "3", "--time", "1ms"];

/// Three runs of `baseline`, and one of two other workloads.
fn measured() -> Knee {
    let knee = Knee::new();
    for _ in 0..3 {
        let came = knee.run(BASELINE);
        assert_eq!(came.code, Some(0), "{came:?}");
        assert!(came.out.contains("3 figures of baseline"), "{}", came.out);
        assert!(!came.out.contains("stops scaling"), "{}", came.out);
        assert!(came.out.contains("knee show baseline "), "{}", came.out);
    }
    let words = ["run", "null", "socket", "--points", "1,2", "--rounds", "3", "--time", "1ms"];
    assert_eq!(knee.run(&words).code, Some(0));
    knee
}

#[test]
fn runs_stand_side_by_side_and_workloads_are_named_before_them() {
    let knee = measured();
    let came = knee.run(&["show", "baseline", "1", "2", "3"]);
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{came:?}");
    let order = ["run 1 (", "run 3 (", "1 copy · ", "null-call", "bw-pipe", "ratios to"];
    let positions =
        order.map(|part| came.out.find(part).unwrap_or_else(|| panic!("{part}: {}", came.out)));
    assert!(positions.is_sorted(), "{}", came.out);
    let all = knee.run(&["show", "baseline", "1", "2", "3", "--all"]).out;
    assert!(all.matches('±').count() >= 9, "each figure has its own interval: {all}");
    let json = knee.run(&["show", "1", "2", "3", "--json"]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["runs"].as_array().map(Vec::len), Some(3));
    let json = knee.run(&["show", "baseline", "1", "2", "--json"]);
    assert_eq!(json.code, Some(0), "a comparison may be of a part: {json:?}");
    // Runs with nothing in common stand side by side as well, without ratios.
    let came = knee.run(&["show", "1", "4"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("run 4 has no ratio to run 1: "), "{}", came.out);

    let file = knee.record().display().to_string();
    let of_file = knee.run(&["show", "baseline", &format!("{file}:2"), &format!("{file}:1")]);
    assert!(of_file.out.contains("ratios to run 2"), "{}", of_file.out);
}

#[test]
fn it_says_which_share_of_the_time_operations_were_timed() {
    let knee = Knee::new();
    let words = ["run", "null", "socket", "--points", "1,2", "--rounds", "3", "--time", "5ms"];
    let run = knee.run(&[&words[..], &["--timing"]].concat());
    let show = knee.run(&["show", "--timing"]);
    assert_eq!((run.code, show.code), (Some(0), Some(0)), "{run:?} {show:?}");
    assert!(run.out.ends_with(&show.out), "the last of {}: {}", run.out, show.out);
    let shares = show.out.lines().skip(2).take(3).map(|line| {
        let [name, cells, .., share, "%"] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        (name.to_owned(), cells.parse::<u32>().unwrap(), share.parse::<f64>().unwrap())
    });
    let shares: Vec<(String, u32, f64)> = shares.collect();
    assert_eq!(shares[2].0, "all");
    assert_eq!(shares[0].1 + shares[1].1, shares[2].1);
    assert!(shares.iter().all(|(.., share)| (0.0..=100.0).contains(share)), "{shares:?}");
    assert!(shares[2].2 > 0.0, "{shares:?}");
}

#[test]
fn a_workload_narrows_what_is_shown() {
    let knee = measured();
    let both = knee.run(&["show", "--all"]).out;
    assert!(both.contains("null · ") && both.contains("socket · "), "{both}");
    let only = knee.run(&["show", "socket", "--all"]).out;
    assert!(!only.contains("null · ") && only.contains("socket · "), "{only}");
    for (words, why) in [
        (&["show", "fork"][..], "fork: the run has no such workload, and it names no run"),
        (&["show", "sokcet"], "sokcet: the run has no such workload"),
        (&["show", "the best"], "does not name a run"),
        (&["show", "1", "1"], "is named twice"),
        (&["show", "socket", "--json"], "not socket only: knee show last --json"),
        (&["show", "baseline", "2", "--json"], "not baseline only: knee show 2 --json"),
        (&["show", "1", "2", "--profile"], "--profile shows one run"),
    ] {
        let came = knee.run(words);
        assert_eq!((came.code, came.out.as_str()), (Some(2), ""), "{words:?}: {came:?}");
        assert!(came.err.contains(why), "{words:?}: {}", came.err);
    }
}
