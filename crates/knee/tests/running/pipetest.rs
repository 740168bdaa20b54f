//! pipetest as a person runs it: every mechanism, every spread, and each of its axes.

use crate::common::Knee;
use serde_json::Value;

/// Runs pipetest with `words` besides, quickly, and returns its JSON.
fn run(knee: &Knee, words: &[&str]) -> Value {
    let quick = ["run", "pipetest", "--rounds", "1", "--time", "1ms", "--json"];
    let came = knee.run(&[&quick[..], words].concat());
    assert_eq!(came.code, Some(0), "{words:?}: {}", came.err);
    assert!(!came.err.contains("failed"), "{words:?}: {}", came.err);
    serde_json::from_str(&came.out).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn every_mechanism_keeps_its_account_with_every_spread() {
    let knee = Knee::new();
    // Tokens of all sizes of crowd, short lives so that games end, and a token that fills a page.
    for words in [
        ["--pipes", "1,40", "--points", "1%,100%", "--generations", "3"],
        ["--pipes", "40", "--points", "50%", "--bufsize", "4096"],
        ["--pipes", "300", "--points", "300", "--timeout", "0,-1"],
    ] {
        let run = run(&knee, &[&words[..], &["--spread", "tail,spread,random"]].concat());
        let cells = list(&run, "cells");
        assert!(cells.len() > 20, "{words:?}: {} cells", cells.len());
        for cell in cells {
            assert_eq!(cell["outcome"]["outcome"], "measured", "{cell}");
            assert_eq!(list(&cell["facts"], "hits per tenth").len(), 10, "{cell}");
            let metric = &list(cell, "metrics")[0];
            assert_eq!(metric["name"], "passes", "{metric}");
        }
    }
    knee.assert_no_process_left();
}

#[test]
fn a_tail_hits_the_last_tenth_and_the_others_hit_them_all() {
    let knee = Knee::new();
    let words = ["--subjects", "poll", "--pipes", "100", "--points", "10", "--time", "20ms"];
    let spreads = ["--spread", "tail,spread,random"];
    let came = knee
        .run(&[&["run", "pipetest", "--rounds", "1", "--json"], &words[..], &spreads[..]].concat());
    let run: Value = serde_json::from_str(&came.out).unwrap();
    for cell in list(&run, "cells") {
        let tenths = list(&cell["facts"], "hits per tenth");
        let mut tenths = tenths.iter().map(|share| share.as_f64().unwrap());
        if cell["key"]["parameters"]["spread"] == "tail" {
            assert!(tenths.eq([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), "{cell}");
        } else {
            // Thousands of passes: the rule and the draw both reach every tenth about evenly.
            assert!(tenths.all(|share| (0.05..=0.15).contains(&share)), "{cell}");
        }
    }
}

#[test]
fn percentages_are_of_the_pipes_and_each_point_is_measured_once() {
    let knee = Knee::new();
    let words = ["--subjects", "poll", "--spread", "tail", "--pipes", "10,1k"];
    let run = run(&knee, &[&words[..], &["--points", "0.1%,1%,50%,1"]].concat());
    let points = |pipes: &str| {
        let tables = list(&run, "tables").iter();
        let mut matching = tables.filter(|table| table["parameters"]["pipes"] == pipes);
        matching.next().unwrap()["points"].clone()
    };
    assert_eq!(points("10"), serde_json::json!([1, 5]));
    assert_eq!(points("1000"), serde_json::json!([1, 10, 500]));
    let metric = &list(&run, "tables")[0]["metric"];
    assert_eq!((&metric["unit"], &metric["lower_is_better"]), (&"tokens/s".into(), &false.into()));
}

#[test]
fn pipes_and_generations_can_be_the_axis_too() {
    let knee = Knee::new();
    let base = ["--subjects", "poll", "--spread", "tail"];
    let pipes = ["--axis", "pipes", "--points", "10,100", "--tokens", "1,50%"];
    let pipes = run(&knee, &[&base[..], &pipes[..]].concat());
    let headline: Vec<&Value> =
        list(&pipes, "tables").iter().filter(|table| table["headline"] == true).collect();
    assert_eq!(headline.len(), 2, "{headline:?}");
    for table in headline {
        assert_eq!((&table["axis"], &table["points"]), (&"pipes".into(), &[10, 100].into()));
        let tokens = table["parameters"]["tokens"].as_str().unwrap();
        assert!(["1", "50%"].contains(&tokens), "{tokens}");
    }
    let generations = ["--axis", "generations", "--points", "1,10", "--pipes", "20"];
    let generations = run(&knee, &[&base[..], &generations[..]].concat());
    assert_eq!(list(&generations, "tables")[0]["axis_parameter"], "generations");
    // The axis's own flag says its points as well.
    let own = run(&knee, &[&base[..], &["--tokens", "3,5", "--pipes", "20"]].concat());
    assert_eq!(list(&own, "tables")[0]["points"], serde_json::json!([3, 5]));
}

#[test]
fn more_pipes_than_fit_are_clamped_or_left_out_and_reported() {
    let knee = Knee::new();
    let script = "ulimit -n 200; exec \"$KNEE\" run pipetest --rounds 1 --time 1ms --json \
                  --subjects poll,epoll-level --spread tail,random --axis pipes --points 10,500";
    let came = crate::common::came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    let run: Value = serde_json::from_str(&came.out).unwrap();
    let changes = list(&run["plan"], "changes");
    assert_eq!(changes.len(), 2, "{changes:#?}");
    for change in changes {
        let clamped = &change["change"];
        assert_eq!((&clamped["kind"], &clamped["requested"]), (&"clamped".into(), &"500".into()));
        assert_eq!(clamped["cause"], serde_json::json!({ "kind": "descriptors", "max": 200 }));
        assert!(change["remedy"].as_str().unwrap().contains("ulimit -n"), "{change}");
        // How many fit depends on what knee itself has open. A pipe takes two descriptors where both ends are read, and all
        // that can be measured is.
        let spread = &change["cells"][0]["parameters"]["spread"];
        let max = clamped["max"].as_u64().unwrap();
        assert!((50..200).contains(&max), "{change}");
        let measured = list(&run, "cells").iter().filter(|cell| {
            let key = &cell["key"];
            key["parameters"]["spread"] == *spread && key["point"] == max
        });
        assert_eq!(measured.count(), 2, "each subject at {max} pipes");
    }
    let script = "ulimit -n 200; exec \"$KNEE\" run pipetest --rounds 1 --time 1ms \
                  --subjects poll --spread random --pipes 10,500 --points 1";
    let came = crate::common::came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("500 pipes at tokens 1 are left out"), "{}", came.out);
    // What is clamped has to fit as well: 100 tokens don't go into fewer pipes.
    let script = "ulimit -n 200; exec \"$KNEE\" run pipetest --rounds 1 --time 1ms --json \
                  --subjects poll --spread tail,random --axis pipes --points 150 --tokens 50,100";
    let came = crate::common::came(&mut knee.shell(script));
    assert!(!came.err.contains("failed"), "{came:?}");
    let run: Value = serde_json::from_str(&came.out).unwrap();
    let cells = list(&run, "cells");
    assert!(!cells.is_empty());
    for cell in cells {
        let tokens = cell["key"]["parameters"]["tokens"].as_str().unwrap().parse::<u64>().unwrap();
        assert!(tokens <= cell["key"]["point"].as_u64().unwrap(), "{cell}");
    }
}

#[test]
fn wrong_words_get_one_line() {
    let knee = Knee::new();
    let cases: &[(&[&str], &str)] = &[
        (&["--points", "0%"], "`0%` is not above 0% and at most 100% of pipes"),
        (&["--points", "120%"], "`120%` is not above 0%"),
        (&["--points", "0"], "--points is at least 1, not 0"),
        (&["--points", "1", "--tokens", "2"], "--points and --tokens name the same"),
        (&["--bufsize", "7"], "--bufsize is at least 8, not 7"),
        (&["--bufsize", "1M"], "--bufsize is at most 4096, not 1000000"),
        (&["--spread", "even"], "--spread is one of tail, spread, random"),
        (&["--axis", "token"], "did you mean tokens?"),
        (
            &["--axis", "watched"],
            "pipetest over tokens or pipes or generations can grow; over watched",
        ),
        (&["--pipes", "10%"], "`10%` is not a whole number"),
    ];
    for (words, wanted) in cases {
        let came = knee.run(&[&["run", "pipetest"], *words].concat());
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert_eq!(came.err.lines().count(), 1, "{words:?}: {}", came.err);
        assert!(came.err.contains(wanted), "{words:?}: {}", came.err);
    }
    let came = knee.run(&["run", "pipetest", "--pipes", "10", "--points", "11"]);
    assert_eq!(came.code, Some(5), "{came:?}");
    assert!(came.err.contains("11 tokens in 10 pipes is left out"), "{came:?}");
}
