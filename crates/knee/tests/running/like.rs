//! The originals' parameters and their way to print.

use crate::common::{Knee, in_a_network};
use model::{CellKey, Run};
use std::process::Command;

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
fn several_tables_are_labelled_by_what_differs() {
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
    // A single round always has a warning with a remedy.
    let rounds =
        lines.iter().find(|line| line.starts_with("Warning: ") && line.contains("--rounds"));
    assert!(rounds.is_some_and(|line| line.contains(" → ")), "{}", came.out);
}

#[test]
fn likes_are_listed_with_what_they_hide() {
    let knee = Knee::new();
    let came = knee.run(&["list", "likes"]);
    assert!(came.out.contains("poller-bench") && came.out.contains("hides:"), "{came:?}");
    let came = knee.run(&["list", "originals", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&came.out).unwrap();
    assert!(json["originals"].as_array().unwrap().len() >= 2, "{json}");
    let came = knee.run(&["run", "--like", "poler-bench"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
    assert!(came.err.contains("did you mean poller-bench?"), "{came:?}");
}

/// The lines of figures of each block, which is named by the comment above it.
fn blocks(out: &str) -> Vec<(String, Vec<&str>)> {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    let mut name = "";
    for line in out.lines() {
        match line.strip_prefix('#') {
            Some(comment) => name = comment.trim(),
            None if line.is_empty() => {}
            None => match all.last_mut() {
                Some((last, lines)) if last == name => lines.push(line),
                _ => all.push((name.to_owned(), vec![line])),
            },
        }
    }
    all
}

/// What a run of `columns` has to print for `subject` in `round`, from what the record holds.
fn expected(run: &Run, columns: &[(&str, &str)], subject: &str, round: u32) -> Vec<String> {
    let samples_of = |&(workload, metric): &(&str, &str)| {
        let same = |key: &CellKey| {
            (key.workload.as_str(), key.subject.as_str(), key.round) == (workload, subject, round)
        };
        let cell = run.cells.iter().find(|cell| same(&cell.key)).unwrap();
        &cell.metrics.iter().find(|recorded| recorded.name == metric).unwrap().samples
    };
    let samples: Vec<&Vec<f64>> = columns.iter().map(samples_of).collect();
    let last = samples.iter().map(|column| column.len()).max().unwrap();
    let figure = |column: &Vec<f64>, call: usize| match column.get(call) {
        Some(ns) => format!("{:.1}", ns / 1000.0),
        None => "NaN".to_owned(),
    };
    let line = |call| samples.iter().map(|column| figure(column, call)).collect::<Vec<_>>();
    (0..last).map(|call| line(call).join(" ")).collect()
}

/// Runs it with 50 calls and two rounds, and compares each figure with the record.
fn assert_prints(like: &str, columns: &[(&str, &str)], subjects: &[(&str, &str)]) {
    let knee = Knee::new();
    let came = knee.run(&["run", "--like", like, "--points", "50", "--rounds", "2"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let (run, blocks) = (knee.last_run(), blocks(&came.out));
    let named = subjects.iter().flat_map(|subject| [(subject, 0), (subject, 1)]);
    assert_eq!(blocks.len(), 2 * subjects.len(), "{}", came.out);
    for ((name, lines), ((subject, label), round)) in blocks.iter().zip(named) {
        assert_eq!(name, &format!("{label}, round {}", round + 1), "{like}");
        assert_eq!(lines.len(), 50, "{like}: {name}");
        let columns_found = lines[0].split(' ').count();
        assert_eq!(columns_found, columns.len(), "{like}: {name}");
        assert_eq!(*lines, expected(&run, columns, subject, round), "{like}: {name}");
    }
    // Two blank lines between blocks, and none elsewhere but one before the remarks.
    let blank = came.out.lines().filter(|line| line.is_empty()).count();
    assert_eq!(blank, 2 * (blocks.len() - 1) + 1, "{}", came.out);
    for remark in ["# Hidden: ", "# Report: "] {
        assert!(came.out.lines().any(|line| line.starts_with(remark)), "{}", came.out);
    }
}

#[test]
fn mmapbench_prints_the_mmap_and_the_touch_of_each_page() {
    assert_prints("mmapbench", &[("mmap", "mmap"), ("touch", "touch")], &[("file", "file")]);
}

#[test]
fn manymapbench_prints_the_open_the_mmap_and_the_touch_of_each_file() {
    let columns = [("manyfiles", "open"), ("manyfiles", "mmap"), ("manyfiles", "touch")];
    assert_prints("manymapbench", &columns, &[("map", "map")]);
}

#[test]
fn forkbench_prints_the_fork_of_each_child_and_its_end() {
    let here = available("fork");
    let here = here.iter().filter(|(name, _)| ["dynamic", "static"].contains(&name.as_str()));
    let here: Vec<_> = here.map(|(name, label)| (name.as_str(), label.as_str())).collect();
    assert_prints("forkbench", &[("fork", "fork"), ("reap", "reap")], &here);
}

#[test]
fn bindbench_prints_both_families_where_there_are_both() {
    let here = available("bind");
    let here: Vec<_> = here.iter().map(|(name, label)| (name.as_str(), label.as_str())).collect();
    assert_prints("bindbench", &[("socket", "socket"), ("bind", "bind")], &here);
}

/// Names and labels of the subjects of a workload that can be measured here.
fn available(workload: &str) -> Vec<(String, String)> {
    let all = workloads::find(workload).unwrap().subjects().into_iter();
    let here = all.filter(|subject| subject.available.ask().is_ok());
    here.map(|subject| (subject.info.name, subject.info.label)).collect()
}

#[test]
fn shortages_and_missing_subjects_are_printed_with_the_figures() {
    let knee = Knee::new();
    let set_up = "echo 40000 40099 > /proc/sys/net/ipv4/ip_local_port_range \
                  && for all in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 > $all; done";
    let words = "run --like bindbench --points 150 --rounds 1";
    let Some(came) = in_a_network(&knee, set_up, words) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    let blocks = blocks(&came.out);
    assert_eq!(blocks.len(), 1, "{}", came.out);
    let lines = &blocks[0].1;
    assert_eq!(
        (lines.len(), lines.iter().filter(|line| line.ends_with(" NaN")).count()),
        (150, 50)
    );
    let columns = [("socket", "socket"), ("bind", "bind")];
    assert_eq!(*lines, expected(&knee.last_run(), &columns, "ipv4", 0));
    let says = |start: &str| came.out.lines().any(|line| line.starts_with(start));
    assert!(says("# bind: ended at 100: "), "{}", came.out);
    assert!(says("# IPv6: unavailable: ::1 can't be reached here"), "{}", came.out);
}

#[test]
fn blocks_are_labelled_by_what_differs() {
    let knee = Knee::new();
    let words = ["run", "--like", "forkbench", "--parent", "0,1", "--points", "3", "--rounds", "1"];
    let came = knee.run(&[&words[..], &["--subjects", "dynamic"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let blocks = blocks(&came.out);
    let names: Vec<&str> = blocks.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["dynamic, parent 0, round 1", "dynamic, parent 1, round 1"]);
    assert!(blocks.iter().all(|(_, lines)| lines.len() == 3), "{}", came.out);
}

#[test]
fn a_failed_cell_has_its_reason_instead_of_its_figures() {
    let knee = Knee::new();
    // Ten thousand sockets in a thousandth of a second are too many for any machine.
    let words = ["run", "--like", "bindbench", "--subjects", "ipv4", "--points", "10k"];
    let came = knee.run(&[&words[..], &["--rounds", "1", "--deadline", "1ms"]].concat());
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(blocks(&came.out).is_empty(), "{}", came.out);
    for workload in ["socket", "bind"] {
        let failed = format!("# {workload}: failed: did not finish within");
        let failures = came.out.lines().filter(|line| line.starts_with(&failed)).count();
        assert_eq!(failures, 1, "{}", came.out);
    }
    assert!(came.out.lines().all(|line| line.is_empty() || line.starts_with('#')), "{}", came.out);
}

#[test]
fn gnuplot_reads_it_as_it_is() {
    let knee = Knee::new();
    if Command::new("gnuplot").arg("--version").output().is_err() {
        eprintln!("SKIPPED: gnuplot is not installed (apt-get install gnuplot-nox)");
        return;
    }
    let words = ["run", "--like", "manymapbench", "--points", "20", "--rounds", "2"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let file = knee.directory.path().join("calls.dat");
    std::fs::write(&file, &came.out).unwrap();
    let script = format!(
        "f = '{}'; stats f using 3 nooutput; print STATS_blocks, STATS_records, STATS_invalid; \
         stats f index 1 using 3 nooutput; print STATS_records; a = STATS_sum; \
         stats f index 'map, round 2' using 3 nooutput; print STATS_records, STATS_sum == a",
        file.display()
    );
    let message = Command::new("gnuplot").args(["-e", &script]).output().unwrap();
    let message = String::from_utf8_lossy(&message.stderr).into_owned();
    let words: Vec<&str> = message.split_whitespace().collect();
    assert_eq!(words, ["2", "40", "0", "20", "20", "1"], "{message}\n{}", came.out);
}

#[test]
fn lmbench_prints_its_summary_of_one_run_and_of_several() {
    let knee = Knee::new();
    let words = ["run", "--like", "lmbench", "--subjects", "null-call,bw-pipe", "--rounds", "3"];
    let words = [&words[..], &["--time", "1ms"]].concat();
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    for part in
        ["S U M M A R Y", "Processor, Processes", "bandwidths in MB/s", "Hidden: the spread"]
    {
        assert!(came.out.contains(part), "{part}: {}", came.out);
    }
    assert!(!came.out.contains("Context switching"), "nothing of it was measured: {}", came.out);
    assert_eq!(knee.run(&words).code, Some(0));
    let shown = knee.run(&["show", "--like", "lmbench", "1", "2"]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{shown:?}");
    let rows = shown.out.lines().filter(|line| line.contains(" Linux ")).count();
    assert_eq!(rows, 4, "a row for each run in each table: {}", shown.out);
    let tiny = ["--points", "1", "--rounds", "1", "--time", "1ms"];
    assert_eq!(knee.run(&[&["run", "null"], &tiny[..]].concat()).code, Some(0));
    for (words, why) in [
        (&["show", "--like", "lmbench", "1", "3"][..], "run 3 ("),
        (&["show", "--like", "lmbnch", "1"], "did you mean lmbench?"),
        (&["show", "--like", "poller-bench", "1"], "has no figures of poll"),
    ] {
        let came = knee.run(words);
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert!(came.err.contains(why), "{words:?}: {}", came.err);
    }
}
