//! The originals' conditions and their way to print.

mod common;

use common::Knee;

#[test]
fn poller_bench_prints_pipes_across_and_microseconds() {
    let knee = Knee::new();
    let words = ["run", "--like", "poller-bench", "--points", "10,20", "--rounds", "1"];
    let came = knee.run(&[&words[..], &["--time", "1ms"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let lines: Vec<&str> = came.out.lines().collect();
    let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<String>>();
    assert_eq!(words(lines[0]), ["pipes", "10", "20"]);
    assert_eq!(words(lines[1])[0], "select");
    assert!(words(lines[1])[1..].iter().all(|figure| figure.parse::<u64>().is_ok()), "{came:?}");
    for wanted in
        ["to open each of 20 socketpairs", "to close each of 20", "Hidden: a time-out of 0"]
    {
        assert!(came.out.contains(wanted), "{wanted}: {}", came.out);
    }
}

#[test]
fn pipetest_prints_threads_down_and_tokens_per_second() {
    let knee = Knee::new();
    let words = ["run", "--like", "pipetest", "--pipes", "20", "--rounds", "1", "--time", "1ms"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let lines: Vec<&str> = came.out.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["Threads", "poll", "epoll-level"]);
    for (line, threads) in lines[1..11].iter().zip(["2", "4", "6", "8", "10", "12"]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], threads);
        assert!(words[1..].iter().all(|figure| figure.contains('.')), "{line}");
    }
    assert!(came.out.contains("Hidden: the active pipes are the last ones"), "{}", came.out);
}

#[test]
fn several_tables_are_told_apart_by_what_differs() {
    let knee = Knee::new();
    let words =
        ["run", "--like", "pipetest", "--pipes", "20,40", "--points", "50%", "--rounds", "1"];
    let came = knee.run(&[&words[..], &["--time", "1ms"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let lines: Vec<&str> = came.out.lines().collect();
    assert_eq!((lines[0], lines[3], lines[4]), ("pipes 20", "", "pipes 40"), "{}", came.out);
    for (head, threads) in [(1, "10 "), (5, "20 ")] {
        assert!(lines[head].starts_with("Threads"), "{}", came.out);
        assert!(lines[head + 1].starts_with(threads), "{}", came.out);
    }
    // A single round always has something to be minded, and what mends it.
    let rounds = lines.iter().find(|line| line.starts_with("Mind: ") && line.contains("--rounds"));
    assert!(rounds.is_some_and(|line| line.contains(" → ")), "{}", came.out);
}

#[test]
fn likes_are_listed_with_what_they_hide() {
    let knee = Knee::new();
    let came = knee.run(&["list", "likes"]);
    assert!(came.out.contains("poller-bench") && came.out.contains("hides:"), "{came:?}");
    let came = knee.run(&["list", "likes", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&came.out).unwrap();
    assert!(json["likes"].as_array().unwrap().len() >= 2, "{json}");
    let came = knee.run(&["run", "--like", "poler-bench"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
    assert!(came.err.contains("did you mean poller-bench?"), "{came:?}");
}
