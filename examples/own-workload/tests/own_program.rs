//! The program: all of knee's commands, with what is this repository's own.

use std::process::Command;

/// What the program prints, which must succeed.
fn output(words: &str) -> String {
    let directory = env!("CARGO_TARGET_TMPDIR");
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-workload"));
    command.args(words.split(' ')).current_dir(directory).env("XDG_DATA_HOME", directory);
    let output = command.output().expect("it starts");
    let [text, errors] =
        [output.stdout, output.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned());
    assert!(output.status.success(), "{words}: {text}{errors}");
    text
}

#[test]
fn its_own_workload_is_measured() {
    let text = output("run lookup --points 10,10k --rounds 3");
    assert!(text.contains("ns per lookup of a key"), "{text}");
    for subject in ["list", "tree", "hash"] {
        assert!(
            text.lines().any(|line| line.trim_start().starts_with(subject)),
            "{subject}: {text}"
        );
    }
}

#[test]
fn its_lock_is_a_subject_next_to_knees() {
    let text = output("run lock --subjects nap,std --points 2 --rounds 1");
    assert!(text.lines().any(|line| line.trim_start().starts_with("nap ")), "{text}");
}

#[test]
fn its_mechanism_waits_and_drives_the_server() {
    let text = output("run poll --subjects epoll-spin,poll --points 10 --rounds 1");
    assert!(text.lines().any(|line| line.trim_start().starts_with("epoll-spin ")), "{text}");
    let text = output("run request --subjects epoll-spin --points 1 --rounds 1");
    assert!(text.contains("epoll-spin"), "{text}");
}

#[test]
fn knees_own_workloads_are_listed_after_it() {
    let text = output("list workloads");
    let at =
        |name: &str| text.find(&format!("\n  {name} ")).unwrap_or_else(|| panic!("{name}: {text}"));
    assert!(at("lookup") < at("poll"));
}
