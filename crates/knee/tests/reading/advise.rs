//! Advice: from the record, measured on demand, or for a live process.

use crate::common::{Came, Knee};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

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
    let parameters = ["--pipes", "20,200", "--points", "10%,50%,100%", "--spread", "tail,random"];
    measure(&knee, &[&subjects[..], &parameters[..]].concat());
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
    let family = ["advise", "--total", "200", "--active", "20", "--mechanisms", "epoll"];
    let came = knee.run(&family);
    assert!(came.out.contains("Not measured there: epoll-edge"), "{came:?}");
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
        (&["--pid", "-3"], "--pid"),
        (&["--pid", "1", "--seconds", "0"], "--seconds"),
        (&["--profile", "--total", "10", "--active", "1"], "--profile"),
        (&["--pid", "1", "--profile", "--measure"], "cannot be used with"),
        (&["--pid", "999999999", "--profile"], "there is no process 999999999"),
    ];
    for (words, wanted) in cases {
        let came = knee.run(&[&["advise"], *words].concat());
        one_line(&came, 2, wanted);
    }
}

/// A server that makes so many of its descriptors active before each wait, in turn, and gives its
/// waits room for so many events.
const SERVER: &str = "
import select, socket, sys, time
watched, room, active = int(sys.argv[1]), int(sys.argv[2]), [int(n) for n in sys.argv[3].split(',')]
pairs = [socket.socketpair() for _ in range(watched)]
epoll = select.epoll()
for end, _ in pairs:
    epoll.register(end, select.EPOLLIN)
ends = {end.fileno(): end for end, _ in pairs}
print('ready', flush=True)
while True:
    for count in active:
        for _, peer in pairs[:count]:
            peer.send(b'x')
        got = 0
        while got < count:
            for descriptor, _ in epoll.poll(-1, room):
                ends[descriptor].recv(1)
                got += 1
        time.sleep(0.001)
";

/// Watches the server and advises; none where Python or the kernel's tracepoints can't be used.
fn watched(knee: &Knee, server: [&str; 3], words: &[&str]) -> Option<Came> {
    watched_program(knee, SERVER, &server, "1", words)
}

/// The same of any program, for so many seconds.
fn watched_program(
    knee: &Knee,
    program: &str,
    args: &[&str],
    seconds: &str,
    words: &[&str],
) -> Option<Came> {
    let mut command = Command::new("python3");
    command.args(["-c", program]).args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    let Ok(mut server) = command.spawn() else {
        println!("SKIPPED: python3 is not installed");
        return None;
    };
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let pid = server.id().to_string();
    let came = knee.run(&[&["advise", "--pid", &pid, "--seconds", seconds], words].concat());
    server.kill().unwrap();
    server.wait().unwrap();
    let barred = ["tracepoint", "perf_event", "run as root", "tracefs"];
    if came.code == Some(5) && barred.iter().any(|word| came.err.contains(word)) {
        println!("SKIPPED: {}", came.err.trim());
        return None;
    }
    Some(came)
}

#[test]
fn a_live_process_is_looked_at_and_what_is_missing_measured() {
    let knee = Knee::new();
    // One to four of sixty: a mean between two counts, whose interval has ends between counts too.
    let words = ["--mechanisms", "poll,epoll-level"];
    let Some(came) = watched(&knee, ["60", "60", "1,2,3,4"], &words) else { return };
    one_line(&came, 5, "knee run pipetest --pipes 60 --points 2,3 --spread random");
    assert!(came.out.contains("epoll_wait of set"), "what was seen is reported: {came:?}");
    let words = [&words[..], &["--measure", "--json"]].concat();
    let Some(came) = watched(&knee, ["60", "60", "1,2,3,4"], &words) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    let json: Value = serde_json::from_str(&came.out).unwrap();
    let waiter = &json["waiters"][0];
    assert_eq!(waiter["watched"]["median"], 60, "{json}");
    let events = waiter["events_per_wait"]["value"].as_f64().unwrap();
    assert!((2.3..2.7).contains(&events), "{json}");
    assert_eq!(json["advice"]["advice"]["ranking"].as_array().unwrap().len(), 2, "{json}");
    // Python's default is level-triggered.
    let triggers = serde_json::json!({ "level": 60, "edge": 0, "oneshot": 0 });
    assert_eq!((&waiter["triggers"], &json["in_use"]), (&triggers, &"epoll-level".into()));
    assert!(json["gain"]["cpu_saved"]["value"].is_number(), "{json}");
    let verdict = json["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("python") && verdict.contains("waits by epoll (level-triggered)"));
    let ends = json["cheapest_at_interval_ends"].as_array().unwrap();
    assert!(ends.iter().all(Value::is_string), "both ends were measured: {json}");
    // Its page says how to repeat what was measured.
    let command = &knee.run(&["show", "last", "--json"]).out;
    let run: Value = serde_json::from_str(command).unwrap();
    assert_eq!(run["summary"]["command"][1], "run", "{}", run["summary"]);
}

/// A process that waits in a way that wakes it up for nothing.
const IDLER: &str = "
import select, socket, sys
pairs = [socket.socketpair() for _ in range(20)]
epoll = select.epoll()
for end, _ in pairs:
    epoll.register(end, select.EPOLLIN)
if sys.argv[1] == 'spin':
    for _, peer in pairs[:3]:
        peer.send(b'x')
timeout = {'spin': 1, 'tick': 0.001, 'zero': 0}[sys.argv[1]]
print('ready', flush=True)
while True:
    epoll.poll(timeout)
";

/// Watches the idler until `wanted` is found: where the machine is busy, three seconds may have too few looks.
fn seen_idle(knee: &Knee, mode: &str, words: &[&str], wanted: &str) -> Option<Came> {
    const TRIES: usize = 5;
    let watch = || watched_program(knee, IDLER, &[mode], "3", words);
    let is_found = |came: &Came| {
        came.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted)
            || came.out.contains("may not be duplicated")
    };
    for _ in 1..TRIES {
        let came = watch()?;
        if is_found(&came) {
            return Some(came);
        }
    }
    watch()
}

#[test]
fn a_process_that_wakes_up_for_nothing_is_a_finding() {
    let knee = Knee::new();
    for (mode, wanted) in [
        ("spin", "three descriptors stay ready and are not served, so that epoll_wait of set"),
        ("tick", "the time-out of epoll_wait of set"),
        ("zero", "without waiting: the time-out of epoll_wait of set"),
    ] {
        let Some(came) = seen_idle(&knee, mode, &[], wanted) else { return };
        if came.out.contains("may not be duplicated") {
            return println!("SKIPPED: descriptors of other processes can't be duplicated here");
        }
        assert_eq!(came.code, Some(0), "{mode}: {came:?}");
        let text = came.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(wanted), "{mode}: {came:?}");
        assert!(!text.contains("nothing to gain"), "{mode}: {came:?}");
        if mode == "spin" {
            assert_eq!(text.matches("Unix socket to ").count(), 3, "{came:?}");
            assert!(text.contains("Read or accept what is readable"), "{came:?}");
        }
    }
    let Some(came) = seen_idle(&knee, "spin", &["--json"], "unserved") else { return };
    let json: Value = serde_json::from_str(&came.out).unwrap();
    let idle = &json["idle_wakeups"][0];
    assert_eq!(idle["wakeups"]["kind"], "unserved", "{json}");
    assert_eq!(idle["descriptors"].as_array().unwrap().len(), 3, "{json}");
    assert_eq!((&json["verdict"], &idle["descriptors"][0]["served"]), (&Value::Null, &0.into()));
}

#[test]
fn what_a_run_covers_in_part_is_measured_whole() {
    let knee = Knee::new();
    measure(&knee, &["--pipes", "50", "--points", "5", "--spread", "random", "--subjects", "poll"]);
    let words = ["advise", "--total", "50", "--active", "5", "--mechanisms", "poll,epoll-level"];
    let came = knee.run(&words);
    assert!(came.out.contains("Not measured there: epoll-level"), "{came:?}");
    let came = knee.run(&[&words[..], &["--measure"]].concat());
    assert!(came.out.contains("Measured just now, as run 2"), "{came:?}");
    assert!(!came.out.contains("Not measured there"), "{came:?}");
    // Now nothing is missing.
    let came = knee.run(&[&words[..], &["--measure"]].concat());
    assert!(came.out.contains("From run 2"), "{came:?}");
}

/// The output for a live process, which ends then, and its JSON; none where nothing can be sampled.
fn profiled(knee: &Knee, mut process: Child) -> Option<(Came, Value)> {
    let pid = process.id().to_string();
    let words = ["advise", "--pid", &pid, "--seconds", "1", "--profile"];
    let came = [&words[..], &[&words[..], &["--json"]].concat()].map(|words| knee.run(words));
    process.kill().unwrap();
    process.wait().unwrap();
    let [text, json] = came;
    if text.code == Some(5) {
        println!("SKIPPED: {}", text.err.trim());
        return None;
    }
    Some((text, serde_json::from_str(&json.out).unwrap()))
}

#[test]
fn a_live_process_is_profiled() {
    let knee = Knee::new();
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", "while :; do : < /dev/null; done"]).spawn().unwrap();
    let pid = shell.id();
    let Some((text, json)) = profiled(&knee, shell) else { return };
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.out.starts_with(&format!("sh ({pid}): ")), "{text:?}");
    for wanted in ["samples of its call stacks", "By system call: ", "self  function"] {
        assert!(text.out.contains(wanted), "{wanted}: {}", text.out);
    }
    let functions = json["functions"].as_array().unwrap();
    assert!(!functions.is_empty(), "{json}");
    let samples: u64 = functions.iter().filter_map(|row| row["samples"].as_u64()).sum();
    assert_eq!(json["samples"], samples);
    // Where the kernel may be seen, opening a file is.
    let opens = |row: &Value| row["call"].as_str().is_some_and(|call| call.starts_with("open"));
    let entries = json["entries"].as_array().unwrap();
    let is_hidden = !json["not_seen"].as_array().unwrap().is_empty();
    assert!(is_hidden || entries.iter().any(opens), "{json}");
    assert_eq!(knee.files(), [] as [String; 0], "it leaves no record behind");
}

#[test]
fn the_quota_of_a_live_process_is_named_with_what_it_did() {
    let knee = Knee::new();
    let group = match engine::QuotaGroup::new(0.05) {
        Ok(group) => group,
        Err(why) => return println!("SKIPPED: {why}"),
    };
    let script = format!("echo $$ > {}; while :; do :; done", group.entrance().display());
    let shell = Command::new("sh").args(["-c", &script]).spawn().unwrap();
    crate::common::wait_until("the quota is used up", || {
        group.throttling().unwrap().throttled_periods > 0
    });
    let Some((text, json)) = profiled(&knee, shell) else { return };
    let line = text.out.lines().find(|line| line.starts_with("CPU quota of 0.05 CPUs: "));
    assert!(line.is_some_and(|line| line.contains("throttled in ")), "{}", text.out);
    assert!(json["cpu_quota"]["did"]["throttled_periods"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn a_process_whose_descriptors_are_all_active_is_advised_too() {
    let knee = Knee::new();
    // Three digits of 105 % of a total would be more than there is.
    let words = ["--mechanisms", "poll", "--measure"];
    let Some(came) = watched(&knee, ["1005", "2000", "1005"], &words) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("  epoll-level "), "the one in use is measured too: {}", came.out);
    assert!(came.out.contains("waits by epoll (level-triggered)"), "{}", came.out);
    assert!(came.out.contains("1,005 watched descriptors"), "{}", came.out);
}

#[test]
fn waits_that_were_full_are_a_lower_bound() {
    let knee = Knee::new();
    let Some(came) = watched(&knee, ["60", "1", "20"], &["--mechanisms", "poll"]) else { return };
    assert!(came.out.contains("more may have been active"), "{}", came.out);
}

#[test]
fn the_run_that_covers_most_decides_not_the_newest() {
    let knee = Knee::new();
    let parameters = ["--pipes", "50", "--points", "5", "--spread", "random"];
    measure(&knee, &[&parameters[..], &["--subjects", "poll,epoll-level,ppoll"]].concat());
    measure(&knee, &[&parameters[..], &["--subjects", "select"]].concat());
    let came = knee.run(&["advise", "--total", "50", "--active", "5"]);
    assert!(came.out.contains("From run 1") && came.out.contains("epoll-level"), "{}", came.out);
    let words = ["advise", "--total", "50", "--active", "5", "--mechanisms", "poll,select"];
    let came = knee.run(&words);
    assert!(
        came.out.contains("Not measured there: "),
        "one of them is in another run: {}",
        came.out
    );
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
    let barred = ["tracepoint", "perf_event", "run as root", "tracefs"];
    if barred.iter().any(|word| came.err.contains(word)) {
        println!("SKIPPED: {}", came.err.trim());
        return;
    }
    one_line(&came, 5, "made no call of epoll, poll or select");
}
