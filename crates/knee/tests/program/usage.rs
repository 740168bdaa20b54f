//! Wrong words get one clear line, what and how to fix it, and exit code 2.

use crate::common::{Knee, came};

#[test]
fn wrong_words_get_one_line_and_exit_code_2() {
    let knee = Knee::new();
    let cases: &[(&[&str], &str)] = &[
        (&["run", "pol"], "no workload is called `pol`; did you mean poll?"),
        (&["run", "xyzzy"], "no workload is called `xyzzy`; `knee list workloads` shows them all"),
        (&["run", "poll", "--subjects", "epol-level"], "did you mean epoll-level?"),
        (
            &["run", "poll", "--subjects", "epol"],
            "did you mean epoll or epoll-edge or epoll-level?",
        ),
        (
            &["run", "poll", "--subjects", "empty"],
            "no subject of poll is called `empty`; `knee run null` has it",
        ),
        (
            &["run", "poll", "--subjects", "io_uring-completion"],
            "no subject of poll is called `io_uring-completion`; `knee run connect request dead` has it",
        ),
        (
            &["advise", "--total", "9", "--active", "1", "--mechanisms", "io_uring-completion"],
            "io_uring-completion is only a server's",
        ),
        (&["run", "--pionts", "10"], "there is no --pionts; did you mean --points?"),
        (&["advise", "--xyzzy"], "there is no --xyzzy; `knee advise --help` shows them all"),
        (&["analyse", "--qqq"], "there is no --qqq; `knee analyse --help` shows them all"),
        (&["record", "list", "--xyzzy"], "no --xyzzy; `knee record list --help` shows them all"),
        (&["--xyzzy"], "there is no --xyzzy; `knee --help` shows them all"),
        (&["record", "xyzzy"], "no command `xyzzy`; `knee record --help` shows them all"),
        (&["repot"], "there is no command `repot`; did you mean report?"),
        (&["httpd", ".", "--port", "0", "--log", "/xyzzy/log"], "the log /xyzzy/log: No such file"),
        (&["httpd", "/xyzzy", "--port", "0"], "can't serve /xyzzy: No such file or directory"),
        (&["xyzzy"], "there is no command `xyzzy`; `knee --help` shows them all"),
        (&["run", "poll", "--points", "0"], "--points is at least 1, not 0"),
        (&["run", "poll", "--points", "-5"], "`-5` is not a whole number"),
        (&["run", "poll", "--points", "ten"], "`ten` is not a whole number"),
        (&["run", "poll", "--points", "1.5"], "`1.5` is not a whole number"),
        (&["run", "poll", "--points", "99999999999999999999"], "not a whole number"),
        (&["run", "poll", "--points", "99999999999999999k"], "too large"),
        (&["run", "poll", "--points", ""], "`` is not a whole number"),
        (&["run", "poll", "--rounds", "0"], "`0` is not a whole number from 1 to 10000"),
        (&["run", "poll", "--rounds", "many"], "`many` is not a whole number"),
        (&["run", "poll", "--active", "0"], "--active is at least 1, not 0"),
        (&["run", "poll", "--object", "fifo"], "--object is one of socketpair, pipe"),
        (&["run", "null", "--active", "2"], "--active is no parameter of null"),
        (&["run", "poll", "--time", "soon"], "`soon` is not a length of time"),
        (&["run", "--quick", "--full"], "cannot be used with"),
        (&["show", "the best one"], "does not name a run"),
        (&["show", "xyzzy.db"], "there is no record at xyzzy.db; `knee run` makes one"),
        (&["compare", "xyzzy.db:1", "2"], "there is no record at xyzzy.db; `knee run` makes one"),
        (&["show", "--record", "xyzzy.db"], "there is no record at xyzzy.db; `knee run` makes one"),
        (
            &["run", "null", "--plan", "--label", "a=1", "--label", "a=2"],
            "--label a is given twice",
        ),
        (&["report", "last"], "--output"),
        (&["list", "locs"], "is not `locs`"),
        (&["completions", "tcsh"], "is not `tcsh`"),
    ];
    for (words, wanted) in cases {
        let came = knee.run(words);
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert_eq!(came.out, "", "{words:?}");
        assert_eq!(came.err.lines().count(), 1, "{words:?}: {}", came.err);
        assert!(
            came.err.starts_with("knee: ") && came.err.contains(wanted),
            "{words:?}: {}",
            came.err
        );
    }
    assert_eq!(knee.files(), [] as [String; 0], "nothing is written for wrong words");
}

#[test]
fn who_has_measured_nothing_yet_has_done_nothing_wrong() {
    let knee = Knee::new();
    let ask: [&[&str]; 6] = [
        &["show"],
        &["compare", "1"],
        &["compare", "--baseline", "main"],
        &["run", "--resume"],
        &["history", "poll"],
        &["record", "delete", "1"],
    ];
    for words in ask {
        let came = knee.run(words);
        assert_eq!((came.code, came.err.lines().count()), (Some(5), 1), "{words:?}: {came:?}");
        assert!(came.err.contains("`knee run` makes one"), "{words:?}: {came:?}");
    }
    assert_eq!(knee.run(&["record", "list"]).code, Some(0));
}

#[test]
fn a_file_that_is_no_record_is_refused_and_left_alone() {
    let knee = Knee::new();
    let text = knee.directory.path().join("notes.db");
    let newer = knee.directory.path().join("newer.db");
    let cut = knee.directory.path().join("cut.db");
    std::fs::write(&text, "These are my notes, not a record.\n".repeat(100)).unwrap();
    for file in [&newer, &cut] {
        let words = ["run", "null", "--points", "1", "--rounds", "1", "--time", "1ms", "--record"];
        let came = knee.run(&[&words[..], &[file.to_str().unwrap()]].concat());
        assert_eq!(came.code, Some(0), "{came:?}");
    }
    // The schema version stands at byte 60 of a SQLite file, most significant byte first.
    let mut bytes = std::fs::read(&newer).unwrap();
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    std::fs::write(&newer, bytes).unwrap();
    let whole = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &whole[..whole.len() * 2 / 3]).unwrap();

    let cases = [(&text, "not a SQLite database"), (&newer, "newer knee"), (&cut, "is cut short")];
    for (file, wanted) in cases {
        let before = std::fs::read(file).unwrap();
        let name = file.to_str().unwrap();
        let commands: [&[&str]; 4] = [
            &["run", "null", "--record", name],
            &["run", "--resume", "--record", name],
            &["show", name],
            &["record", "delete", "last", "--record", name],
        ];
        for words in commands {
            let came = knee.run(words);
            assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
            assert_eq!(came.err.lines().count(), 1, "{words:?}: {}", came.err);
            assert!(came.err.contains(wanted), "{words:?}: {}", came.err);
            assert_eq!(std::fs::read(file).unwrap(), before, "{words:?} changed it");
        }
    }
}

#[test]
fn help_states_the_exit_codes_and_derives_from_the_tables() {
    let knee = Knee::new();
    let help = knee.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    for code in ["  0  done", "  2  usage", "  5  not possible", "130  interrupted"] {
        assert!(help.out.contains(code), "{}", help.out);
    }
    let list = knee.run(&["list"]).out;
    let completions = knee.run(&["completions", "bash"]).out;
    for row in readiness::TABLE {
        assert!(list.contains(row.name), "{list}");
        assert!(completions.contains(row.name), "{}", row.name);
    }
    for row in workloads::TABLE {
        assert!(list.contains(&row.about().info.question), "{list}");
        assert!(completions.contains(row.name()));
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(knee.run(&["completions", shell]).out.contains("knee"), "{shell}");
    }
    let man = knee.run(&["man"]).out;
    assert!(man.starts_with(".ie") || man.contains(".TH knee"), "{man}");
    let pages = knee.directory.path().join("man");
    assert_eq!(knee.run(&["man", "--directory", pages.to_str().unwrap()]).code, Some(0));
    assert!(pages.join("knee-run.1").exists());
    let none = knee.run(&[]);
    assert_eq!((none.code, none.out.as_str()), (Some(2), ""), "no command at all is wrong usage");
    assert!(
        none.err.contains("What to do next:\n  knee doctor ") && !none.err.contains("knee show")
    );
}

#[test]
fn a_record_of_the_environment_is_used_unless_a_flag_names_another() {
    let knee = Knee::new();
    let at = |name: &str| knee.directory.path().join(name);
    let words = ["run", "null", "-p", "1", "-r", "2", "--time", "1ms"];
    for (words, name) in
        [(&words[..], "env.db"), (&[&words[..], &["--record", "-"]].concat(), "flag.db")]
    {
        let flag = at("flag.db").display().to_string();
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "-" { flag.as_str() } else { word }).collect();
        let came = came(knee.command(&words).env("KNEE_RECORD", at("env.db")));
        assert_eq!(came.code, Some(0), "{came:?}");
        assert!(came.out.contains(&format!("{name} (run 1)")), "{came:?}");
        assert!(at(name).exists() && !knee.record().exists());
    }
    let empty = came(knee.command(&["record", "path"]).env("KNEE_RECORD", ""));
    assert_eq!(empty.out.trim(), knee.record().display().to_string());
}

#[test]
fn colours_are_as_the_flag_says() {
    let knee = Knee::new();
    assert_eq!(knee.run(&["run", "null", "-p", "1", "-r", "2", "--time", "1ms"]).code, Some(0));
    for (when, wanted) in [("always", true), ("never", false), ("auto", false)] {
        let came = knee.run(&["--color", when, "show"]);
        assert_eq!(came.out.contains("\u{1b}["), wanted, "{when}: {came:?}");
    }
    let came = knee.run(&["show", "--color", "sometimes"]);
    assert!(came.code == Some(2) && came.err.contains("sometimes"), "{came:?}");
    assert_eq!(knee.run(&["analyze"]).code, Some(2), "it is there, and wants a table");
}

#[test]
fn json_is_json_on_every_command_that_prints_results() {
    let knee = Knee::new();
    let words = ["run", "null", "--points", "1,2", "--rounds", "2", "--time", "1ms", "--json"];
    let commands: [&[&str]; 4] =
        [&words, &["show", "--json"], &["list", "--json"], &["record", "list", "--json"]];
    for words in commands {
        let came = knee.run(words);
        assert_eq!(came.code, Some(0), "{came:?}");
        let value: Result<serde_json::Value, _> = serde_json::from_str(&came.out);
        assert!(value.is_ok(), "{words:?}: {}", came.out);
    }
}

#[test]
fn a_family_of_subjects_stands_for_its_members() {
    let knee = Knee::new();
    let run = ["run", "poll", "--points", "1", "--rounds", "1", "--time", "1ms"];
    let families = ["--subjects", "epoll,poll", "--without", "epoll-edge"];
    let came = knee.run(&[&run[..], &families].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let measured: std::collections::BTreeSet<String> =
        knee.last_run().cells.into_iter().map(|cell| cell.key.subject).collect();
    assert_eq!(measured.into_iter().collect::<Vec<_>>(), ["epoll-level", "epoll-oneshot", "poll"]);
    let history = knee.run(&["history", "poll", "--subjects", "epoll", "--all", "--json"]);
    assert!(history.out.contains("\"epoll-oneshot\""), "{history:?}");
    assert!(!history.out.contains("\"subject\": \"poll\""), "{history:?}");
    let listed = knee.run(&["list", "mechanisms"]).out;
    let line = listed.lines().find(|line| line.trim_start().starts_with("io_uring-completion"));
    assert!(line.is_some_and(|line| line.contains("only of servers")), "{listed}");
}

#[test]
fn standard_output_that_takes_nothing_is_a_failure_of_every_command() {
    let knee = Knee::new();
    for words in [
        "list",
        "list --json",
        "doctor --json",
        "completions bash",
        "--help",
        "list --help",
        "--version",
    ] {
        for (target, why) in [(">/dev/full", "No space left on device"), (">&-", "it is closed")] {
            let came = came(&mut knee.shell(&format!("exec \"$KNEE\" {words} {target}")));
            assert_eq!((came.code, came.err.lines().count()), (Some(1), 1), "{words}: {came:?}");
            assert!(came.err.contains(why), "{words}: {came:?}");
        }
    }
    // What goes nowhere by intent is no failure.
    assert_eq!(came(&mut knee.shell("exec \"$KNEE\" list >/dev/null")).code, Some(0));
}
