//! `knee record merge`: many files into one, without loss and without doubles.

use crate::common::{Knee, alone};
use archive::{Archive, SqliteArchive};
use model::{Run, Warning};

/// Measures into a file of its own, and says which.
fn measured(knee: &Knee, name: &str, runs: usize) -> String {
    let file = knee.directory.path().join(name).display().to_string();
    for _ in 0..runs {
        let words = ["run", "null", "--points", "10", "--rounds", "1", "--time", "1ms"];
        let came = knee.run(&[&words[..], &["--record", &file]].concat());
        assert_eq!(came.code, Some(0), "{came:?}");
    }
    file
}

fn runs(file: &str) -> Vec<Run> {
    let archive = SqliteArchive::open_read_only(file).unwrap();
    let numbers = archive.runs().unwrap().into_iter().map(|run| run.number);
    numbers.map(|number| archive.load(number).unwrap()).collect()
}

#[test]
fn many_records_become_one_without_loss_or_doubles() {
    let knee = Knee::new();
    let (first, second) = (measured(&knee, "one.db", 2), measured(&knee, "other.db", 1));
    let all = knee.directory.path().join("all.db").display().to_string();
    // Twice, and one of them by two names.
    for _ in 0..2 {
        let came = knee.run(&["record", "merge", &first, &second, &first, "--record", &all]);
        assert_eq!(came.code, Some(0), "{came:?}");
    }
    let mut wanted: Vec<Run> = runs(&first).into_iter().chain(runs(&second)).collect();
    for (number, run) in (1..).zip(&mut wanted) {
        run.summary.number = number;
        run.summary.origin = "merge".into();
    }
    assert_eq!(runs(&all), wanted);
    let came = knee.run(&["record", "merge", &first, "--record", &all]);
    assert_eq!(came.out, format!("2 runs were there already\nRecord: {all}\n"), "{came:?}");
    let shown = knee.run(&["show", "2", "--record", &all]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
}

#[test]
fn what_is_no_record_is_refused_before_anything_is_changed() {
    let knee = Knee::new();
    let first = measured(&knee, "one.db", 1);
    let all = knee.directory.path().join("all.db").display().to_string();
    let text = knee.directory.path().join("notes.txt").display().to_string();
    std::fs::write(&text, "no record").unwrap();
    for (wrong, output) in [(text.as_str(), "is not a record"), ("/xyzzy.db", "there is no record")]
    {
        let came = knee.run(&["record", "merge", &first, wrong, "--record", &all]);
        assert_ne!(came.code, Some(0), "{came:?}");
        assert!(came.err.contains(output), "{came:?}");
        assert!(!std::path::Path::new(&all).exists(), "nothing was begun");
    }
}

/// A run of `file` under another id, changed so, in a record of its own.
fn changed(knee: &Knee, file: &str, name: &str, id: &str, change: impl Fn(&mut Run)) -> String {
    let mut run = runs(file).remove(0);
    id.clone_into(&mut run.summary.id);
    change(&mut run);
    let second = knee.directory.path().join(name).display().to_string();
    archive::merge(&mut SqliteArchive::open(&second).unwrap(), &run).unwrap();
    second
}

#[test]
fn nothing_of_a_record_orders_the_terminal_about_or_invents_lines_of_a_list() {
    let knee = Knee::new();
    let first = measured(&knee, "one.db", 1);
    let order = "\u{1b}[2J\n    9  sound\u{9b}1m\u{202e}";
    let strange = changed(&knee, &first, "strange.db", "00000000\u{1b}[31m0", |run| {
        run.summary.command.push(order.into());
        run.warnings.push(Warning { what: order.into(), remedy: String::new() });
        order.clone_into(&mut run.summary.started);
    });
    let all = knee.directory.path().join("all.db").display().to_string();
    let merged = knee.run(&["record", "merge", &first, &strange, "--record", &all]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    let listed = knee.run(&["record", "list", "--record", &all]);
    let shown = knee.run(&["show", "2", "--record", &all]);
    assert!(shown.out.contains("sound"), "{shown:?}");
    for text in [&merged.out, &listed.out] {
        assert_eq!(text.lines().count(), 3, "{text}");
    }
    for text in [&merged.out, &listed.out, &shown.out] {
        let orders = |character: char| {
            (character.is_control() && character != '\n') || character == '\u{202e}'
        };
        assert!(!text.contains(orders), "{text:?}");
    }
}

/// Changes a byte of the record wherever `text` stands, as a failing disk does.
fn damage(file: &str, text: &str) {
    let mut bytes = std::fs::read(file).unwrap();
    let positions: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(text.as_bytes())).collect();
    assert!(!positions.is_empty(), "{text} is nowhere in the file");
    for at in positions {
        bytes[at] ^= 1;
    }
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn a_damaged_run_is_marked_in_the_list_and_left_out_of_a_merge() {
    let _alone = alone();
    let knee = Knee::new();
    let file = measured(&knee, "file.db", 1);
    let hit = changed(&knee, &file, "hit.db", "00000000a3f1b2c4", |run| {
        run.summary.labels.insert("mark".into(), "hit-by-a-ray".into());
    });
    let came = knee.run(&["record", "merge", &file, "--record", &hit]);
    assert_eq!(came.code, Some(0), "{came:?}");
    damage(&hit, "hit-by-a-ray");
    let list = knee.run(&["record", "list", "--record", &hit]).out;
    let marked: Vec<bool> = list.lines().map(|line| line.ends_with("(damaged)")).collect();
    assert_eq!(marked, [false, true, false], "{list}");
    let all = knee.directory.path().join("all.db").display().to_string();
    let came = knee.run(&["record", "merge", &hit, "--record", &all]);
    assert_eq!((came.code, came.err.lines().count()), (Some(1), 1), "{came:?}");
    assert!(came.err.contains("run 1 is left out: "), "{came:?}");
    assert_eq!(runs(&all).len(), 1, "the others are merged all the same");
}

/// Copies that were resumed apart, each until its budget was used up.
#[test]
fn two_ways_to_be_complete_are_named_and_the_other_runs_are_merged() {
    let _alone = alone();
    let knee = Knee::new();
    let first = measured(&knee, "one.db", 1);
    let budget = |run: &mut Run| {
        run.plan.budget = Some(model::Budget { time_ms: 1000, precision: 0.0 });
    };
    let id = "00000000a3f1b2c4";
    let whole = changed(&knee, &first, "whole.db", id, budget);
    let part = changed(&knee, &first, "part.db", id, |run| {
        budget(run);
        run.cells.clear();
    });
    assert!(!runs(&whole)[0].cells.is_empty());
    knee.run(&["record", "merge", &first, "--record", &whole]);
    let came = knee.run(&["record", "merge", &whole, "--record", &part]);
    assert_eq!((came.code, came.err.lines().count()), (Some(1), 1), "{came:?}");
    assert!(came.err.contains("is in both records and differs in"), "{came:?}");
    assert_eq!(runs(&part).len(), 2);
}
