//! What a knee.toml may hold, and the message for one that is wrong.

use std::time::Duration;
use suites::read;

fn wrong(text: &str) -> String {
    read(text, workloads::TABLE).unwrap_err().to_string()
}

#[test]
fn a_suite_holds_workloads_with_options_of_their_own() {
    let text = r#"
        [suite.nightly]
        about = "Everything that once grew"
        workloads = ["socket", "bind"]
        rounds = 9
        time = "50ms"
        budget = "10m"
        precision = "2%"
        pin = [0]
        seed = 7

        [[suite.two.workloads]]
        name = "poll"
        subjects = ["poll", "epoll-level"]
        points = [10, "1k"]
        active = ["1", "10%"]
        rounds = 3

        [[suite.two.workloads]]
        name = "fork"
        axis = "parent"
        without = "vfork"
    "#;
    let suites = read(text, workloads::TABLE).unwrap();
    let nightly = &suites["nightly"].request;
    assert_eq!(nightly.workloads, ["socket", "bind"]);
    assert_eq!((nightly.rounds, nightly.seed, nightly.quick), (Some(9), Some(7), false));
    assert_eq!(nightly.budget, Some(Duration::from_secs(600)));
    assert_eq!(nightly.pinned_cpus, [0]);
    let overrides = &suites["two"].request.overrides;
    let (poll, fork) = (&overrides["poll"], &overrides["fork"]);
    assert_eq!(poll.points, ["10", "1000"]);
    assert_eq!(poll.parameters["active"], ["1", "10%"]);
    assert_eq!(poll.rounds, Some(3));
    assert_eq!(fork.axis.as_deref(), Some("parent"));
    assert!(!fork.subjects.contains(&"vfork".to_owned()));
    assert!(fork.subjects.contains(&"dynamic".to_owned()));
}

#[test]
fn what_is_wrong_is_reported_with_its_position() {
    let cases = [
        ("suites = 1", "line 1, column 1: knee.toml has no `suites`; did you mean suite?"),
        (
            "[suite.a]\nworkloads = ['poll']\nround = 3",
            "line 3, column 1: a suite has no `round`; did you mean rounds?",
        ),
        (
            "[suite.a]\nworkloads = ['poll']\nxyz = 3",
            "line 3, column 1: a suite has no `xyz`; it may have about",
        ),
        (
            "[suite.a]\nworkloads = ['socket', 'pol']",
            "line 2, column 24: no workload is called `pol`; did you mean poll",
        ),
        (
            "[suite.a]\nworkloads = ['poll', 'poll']",
            "line 2, column 22: poll is in this suite already",
        ),
        ("[suite.a]\nrounds = 3", "line 1, column 1: a suite says which workloads"),
        (
            "[suite.a]\nworkloads = ['poll']\nrounds = 0",
            "line 3, column 10: rounds is 1 to 10000, not 0",
        ),
        (
            "[suite.a]\nworkloads = ['poll']\ntime = 30",
            "line 3, column 8: a text in quotes belongs here, not a number",
        ),
        (
            "[suite.a]\nworkloads = ['poll']\nquick = 'yes'",
            "line 3, column 9: true or false belongs here",
        ),
        ("[suite.a]\nworkloads = ['poll']\nquick = true\nfull = true", "a suite is quick or full"),
        ("[suite.a]\nworkloads = ['poll']\nseed = -1", "line 3, column 8: `-1` is no whole number"),
        (
            "[suite.a]\nworkloads = [{ name = 'poll', points = [10, 'many'] }]",
            "line 2, column 45: points: `many` is not a whole number",
        ),
        (
            "[suite.a]\nworkloads = [{ name = 'poll', activ = 1 }]",
            "line 2, column 31: poll has no `activ`; did you mean active",
        ),
        (
            "[suite.a]\nworkloads = [{ name = 'poll', active = '0%' }]",
            "line 2, column 40: active: `0%` is not above 0%",
        ),
        (
            "[suite.a]\nworkloads = [{ name = 'poll', subjects = ['pol'] }]",
            "line 2, column 43: no subject of poll is called `pol`; did you mean poll",
        ),
        (
            "[suite.a]\nworkloads = [{ name = 'poll', axis = 'object' }]",
            "line 2, column 38: `object` is no axis of poll: it grows over",
        ),
        (
            "[suite.a]\nworkloads = [{ points = 10 }]",
            "line 2, column 14: a workload of a suite says its name",
        ),
        (
            "[suite.a]\nworkloads = [{ name = 'poll', points = [10], watched = 20 }]",
            "line 2, column 46: points and watched name the same: watched is the axis",
        ),
        ("[suite.a]\nworkloads = []", "a suite says which workloads"),
        (
            "[suite.a]\nworkloads = [{ name = 'poll', points = [] }]",
            "line 2, column 40: there is nothing in this list",
        ),
        ("[suite]\na = 3", "line 2, column 5: a suite is a table, not a number"),
        ("[suite.a]\nworkloads = ['poll'", "line 2, column "),
        (
            "[suite.a]\nworkloads = ['poll']\nworkloads = ['poll']",
            "line 3, column 1: duplicate key",
        ),
    ];
    for (text, expected) in cases {
        let line = wrong(text);
        assert!(line.contains(expected), "{text}\n{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}

#[test]
fn columns_are_characters() {
    let line = wrong("[suite.a]\nabout = 'ö'\nworkloads = ['ö', 1]");
    assert!(line.starts_with("line 3, column 14: "), "{line}");
}

#[test]
fn an_empty_text_has_no_suites() {
    assert!(read("", workloads::TABLE).unwrap().is_empty());
    assert!(read("[suite]\n", workloads::TABLE).unwrap().is_empty());
}

#[test]
fn commands_of_the_users_own_are_read_like_flags() {
    let text = "[[suite.mine.workloads]]\nname = 'command'\n\
                command = { twice = 'sh -c true {n} {size}', once = 'true {n}' }\n\
                set = { size = ['4k', 64] }\nextract = 'ops=([0-9.]+) ops/s'\nbetter = 'lower'\n\
                headline = 'ops'\nwarmup = 2\nshell = 'bash'\nstdout = 'keep'\ntime-limit = '30s'\n\
                ignore-failure = true\npoints = [1, '1k']";
    let suites = read(text, workloads::TABLE).unwrap();
    let overrides = &suites["mine"].request.overrides["command"];
    assert_eq!(overrides.points, ["1", "1000"]);
    let custom = overrides.custom.as_ref().unwrap();
    let names: Vec<&str> = custom.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["twice", "once"]);
    let sizes: Vec<String> = custom.words["size"].iter().map(ToString::to_string).collect();
    assert_eq!(sizes, ["4k", "64"]);
    assert!(custom.figures[0].lower_is_better && custom.ignore_failure);
    assert_eq!((custom.warm_up, custom.time_limit_ms), (Some(2), Some(30_000)));

    let wrong = |line: &str| {
        let text = format!("[[suite.mine.workloads]]\nname = 'command'\n{line}\npoints = [1]");
        read(&text, workloads::TABLE).unwrap_err().to_string()
    };
    assert!(wrong("command = 'true {n} {sise}'\nset = { size = 1 }").contains("{size}?"));
    assert!(wrong("command = 'true {n}'\nwarmup = 'x'").starts_with("line 4"));
    assert!(wrong("command = 'true {n}'\nextract = 'x'").contains("names no figure"));
    let line = wrong("command = { '/var/x' = 'true {n}' }");
    assert!(line.starts_with("line 3") && line.contains("is no name of a subject"), "{line}");
    let line = wrong("comand = 'true {n}'");
    assert!(line.contains("did you mean command"), "{line}");
    let poll = "[[suite.mine.workloads]]\nname = 'poll'\ncommand = 'true {n}'";
    assert!(
        read(poll, workloads::TABLE).unwrap_err().to_string().contains("poll has no `command`")
    );
}
