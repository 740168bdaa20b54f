//! Suites of knee.toml, and the plan of a run.

use crate::common::{Came, Knee, came};
use serde_json::Value;
use std::fs;
use std::process::Command;

const FILE: &str = r#"
[suite.small]
about = "As little as there is"
workloads = ["null", { name = "poll", points = [5, 10], subjects = ["poll", "select"], active = [1, 2], rounds = 1 }]
rounds = 2
time = "1ms"
"#;

/// A knee in a directory below the one with the file.
fn below(knee: &Knee, file: &str, words: &[&str]) -> Came {
    let below = knee.directory.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    fs::write(knee.directory.path().join("knee.toml"), file).unwrap();
    came(knee.command(words).current_dir(below))
}

fn json(came: &Came) -> Value {
    serde_json::from_str(&came.out).unwrap_or_else(|error| panic!("{error}: {came:?}"))
}

#[test]
fn a_suite_is_one_run_and_flags_win() {
    let knee = Knee::new();
    let came = below(&knee, FILE, &["run", "--suite", "small", "--json"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let names: Vec<&str> = run.plan.workloads.iter().map(|info| info.name.as_str()).collect();
    assert_eq!(names, ["null", "poll"]);
    let cell_count = |name: &str| run.cells.iter().filter(|cell| cell.key.workload == name).count();
    let null_points = run.plan.cells.iter().filter(|key| key.workload == "null" && key.round == 0);
    assert_eq!(cell_count("null"), 2 * null_points.count());
    // Two subjects at two points under two parameters, in one round.
    assert_eq!((cell_count("poll"), run.plan.measure_ms), (8, 1));

    let words = ["run", "--suite", "small", "poll", "--points", "3", "--active", "1", "--json"];
    let came = below(&knee, FILE, &words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert!(run.cells.iter().all(|cell| cell.key.workload == "poll" && cell.key.point == 3));
    assert_eq!(run.cells.len(), 2);
}

/// Whether this machine has memory for `dead` connections, twice what docs/workloads.md says of each, and descriptors
/// for a 64th of them in a process, and as many again.
fn has_capacity_for(dead: u64) -> bool {
    let info = fs::read_to_string("/proc/meminfo").unwrap();
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    let available_kib: u64 = available.trim().trim_end_matches(" kB").parse().unwrap();
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    available_kib > dead * 2 * 9 && descriptors.is_none_or(|max| max > dead / 64 * 2)
}

/// The recipe of docs/workloads.md, with as many dead connections as a machine for tests bears.
#[test]
fn the_suite_of_a_million_holds_fifty_thousand_dead_connections() {
    let knee = Knee::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/million.toml");
    let suite = ["run", "--suite", "million", "--config", file];
    let plan = knee.run(&[&suite[..], &["--plan", "--json"]].concat());
    assert_eq!(plan.code, Some(0), "{plan:?}");
    let words = ["dead", "--points", "50k", "--subjects", "epoll-level", "--rounds", "1"];
    let came = knee.run(&[&suite[..], &words, &["--time", "5ms", "--json"]].concat());
    let run = json(&came);
    let cells = run["cells"].as_array().unwrap();
    let [cell] = &cells[..] else { panic!("{cells:?}") };
    assert_eq!(cell["outcome"]["outcome"], "measured", "{cell}");
    let dead = cell["key"]["point"].as_u64().unwrap();
    if has_capacity_for(50_000) {
        assert_eq!(dead, 50_000, "{}", run["plan"]["changes"]);
    } else {
        // What the machine does not allow is in the plan with its reason; and on the screen here.
        let changes = &run["plan"]["changes"];
        assert!(changes.to_string().contains("50000 dead connections are clamped"), "{changes}");
        eprintln!("{dead} dead connections instead of 50,000: {changes}");
    }
    knee.assert_no_process_left();
}

#[test]
fn the_plan_measures_and_records_nothing() {
    let knee = Knee::new();
    let came = below(&knee, FILE, &["run", "--suite", "small", "--plan"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    for part in [
        "poll: watched descriptors · 5  10",
        "compares select, poll",
        "active 1, 2",
        "Time: about",
        "the record has no such cells",
    ] {
        assert!(came.out.contains(part), "{part}\n{}", came.out);
    }
    let ample = ["run", "--suite", "small", "--budget", "1h", "--rounds", "2", "--plan"];
    let came = below(&knee, FILE, &ample);
    assert!(came.out.contains("which is less than the budget of 1 h"), "{}", came.out);
    assert!(!knee.record().exists());
    assert_eq!(below(&knee, FILE, &["run", "--suite", "small", "--json"]).code, Some(0));
    let plan = json(&below(&knee, FILE, &["run", "--suite", "small", "--plan", "--json"]));
    assert_eq!(plan["estimate"]["cells_by_time"], 0, "the record has all of them now");
    assert_eq!(plan["estimate"]["cells_recorded"], plan["cells_per_round"]);
    assert_eq!(plan["plan"]["rounds"], 2);
    // What such runs can see is known from the one that there is.
    let came = below(&knee, FILE, &["run", "--suite", "small", "--plan"]);
    assert!(came.out.contains("Runs like run 1 show "), "{}", came.out);
}

#[test]
fn only_a_regular_file_of_some_size_holds_suites() {
    let knee = Knee::new();
    let directory_path = knee.directory.path();
    let fifo = directory_path.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let large = directory_path.join("large.toml");
    std::fs::write(&large, "#".repeat(1 << 21)).unwrap();
    let cases =
        [("/dev/zero".as_ref(), "not a regular file"), (fifo.as_path(), "not a regular file")];
    for (file, expected) in cases.into_iter().chain([(large.as_path(), "larger than 1 MiB")]) {
        let file = file.to_str().unwrap();
        let came = knee.run(&["run", "--suite", "small", "--config", file]);
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(expected), "{}", came.err);
    }
}

#[test]
fn what_is_wrong_with_the_file_is_one_line_with_its_place() {
    let knee = Knee::new();
    let run = ["run", "--suite", "small"];
    let cases = [
        (
            "[suite.small]\nworkloads = ['null']\nround = 2",
            "knee.toml: line 3, column 1: a suite has no `round`; did you mean rounds?",
        ),
        (
            "[suite.small]\nworkloads = ['nul']",
            "line 2, column 14: no workload is called `nul`; did you mean null?",
        ),
        (
            "[suite.small]\nworkloads = ['null']\ntime = 'soon'",
            "line 3, column 8: `soon` is not a length of time",
        ),
        (
            "[suite.small]\nworkloads = ['null']\nprecision = '2'",
            "line 3, column 13: `2` is not a percentage",
        ),
        ("[suite.smal]\nworkloads = ['null']", "no suite is called `small`; did you mean smal?"),
        ("[suite.small\n", "line 1, column "),
    ];
    for (file, expected) in cases {
        let came = below(&knee, file, &run);
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(expected) && came.err.lines().count() == 1, "{}", came.err);
    }
    let stray = below(&knee, FILE, &["run", "--suite", "small", "fork"]);
    assert_eq!(stray.code, Some(2));
    assert!(
        stray.err.contains("fork is not in the suite small: it has null, poll"),
        "{}",
        stray.err
    );
    assert!(!knee.record().exists());
}

#[test]
fn another_file_can_be_named_and_a_missing_one_is_reported() {
    let knee = Knee::new();
    let second_file = knee.directory.path().join("other.toml");
    fs::write(&second_file, FILE).unwrap();
    let words = ["run", "--suite", "small", "--plan", "--config", second_file.to_str().unwrap()];
    assert_eq!(knee.run(&words).code, Some(0));
    let nowhere = |command: &mut Command| came(command.current_dir("/"));
    let none = nowhere(&mut knee.command(&["run", "--suite", "small"]));
    assert_eq!(none.code, Some(2), "{none:?}");
    assert!(
        none.err.contains("there is no knee.toml in this directory or above it"),
        "{}",
        none.err
    );
    let listed = nowhere(&mut knee.command(&["list", "suites"]));
    assert!(listed.out.contains("none: there is no knee.toml"), "{}", listed.out);
    let listed = below(&knee, FILE, &["list", "suites"]);
    assert!(listed.out.contains("small") && listed.out.contains("null, poll"), "{}", listed.out);
}

/// The example in the documents is what it says.
#[test]
fn the_example_can_be_planned() {
    let document = include_str!("../../../../docs/suites.md");
    let example = document.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let knee = Knee::new();
    for suite in ["pr", "servers"] {
        let words = ["run", "--suite", suite, "--plan", "--json"];
        let plan = json(&below(&knee, example.unwrap(), &words));
        assert!(plan["cells_per_round"].as_u64().unwrap() > 0, "{plan}");
    }
}
