//! `knee gate`: two builds of a program by one command line.

use crate::common::{Came, Knee, came};
use archive::{Archive, SqliteArchive};
use model::Fact;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

/// Makes a script.
fn write(knee: &Knee, path: &str, text: &str) {
    let file = knee.directory.path().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
}

fn gate(knee: &Knee, words: &[&str]) -> Came {
    let short = ["--points", "1,2", "--rounds", "2", "--time", "1ms", "--warmup", "0"];
    let mut command = knee.command(&[&["gate"], words, &short[..]].concat());
    came(command.current_dir(knee.directory.path()))
}

/// What the command printed at the first point on each side. Two rounds of next to nothing decide no gate.
fn outputs(knee: &Knee, old: &str, new: &str, command: &str) -> [String; 2] {
    let came = gate(knee, &[old, new, "--", command, "--stdout", "keep"]);
    assert!(matches!(came.code, Some(0 | 3 | 4)), "{came:?}");
    knee.assert_no_process_left();
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let last = archive.resolve("last").unwrap();
    [last - 1, last].map(|number| {
        let run = archive.load(number).unwrap();
        let cell = run.cells.iter().find(|cell| cell.key.point == 1).unwrap();
        let Fact::Text(output) = &cell.facts["output"] else { panic!("{:?}", cell.facts) };
        output.trim().to_owned()
    })
}

#[test]
fn each_side_runs_its_own_program_whatever_the_files_are_called() {
    let knee = Knee::new();
    for (path, says) in [("old.sh", "old"), ("a/prog", "a"), ("b/prog", "b")] {
        write(&knee, path, &format!("#!/bin/sh\necho {says} $1\n"));
    }
    assert_eq!(outputs(&knee, "a", "b", "./prog {n}"), ["a 1", "b 1"]);
    assert_eq!(outputs(&knee, "old.sh", "b/prog", "prog {n}"), ["old 1", "b 1"]);
    assert_eq!(outputs(&knee, "old.sh", "b/prog", "sh $BUILD {n}"), ["old 1", "b 1"]);
}

#[test]
fn what_no_side_can_run_is_refused_before_anything_is_measured() {
    let knee = Knee::new();
    write(&knee, "a/prog", "#!/bin/sh\n");
    fs::write(knee.at("text"), "").unwrap();
    for (new, command, why) in [
        ("b", "prog {n}", "b: No such file or directory"),
        ("a", "sort {n}", "a/sort: No such file or directory"),
        ("text", "prog {n}", "text: not a program; of a script, write 'python3 $BUILD {n}'"),
        ("a", "A=1", "`A=1` names no program"),
    ] {
        let came = gate(&knee, &["a", new, "--", command]);
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(why), "{why}: {came:?}");
    }
    assert!(!knee.record().exists());
}

#[test]
fn a_gate_is_named_where_none_is_asked_for_and_its_cases_are_written() {
    let knee = Knee::new();
    write(&knee, "a/prog", "#!/bin/sh\n");
    write(&knee, "b/prog", "#!/bin/sh\n[ $1 = 1 ]\n");
    let came = gate(&knee, &["a", "b", "--junit", "cases.xml", "--", "prog {n}"]);
    assert_eq!(came.code, Some(3), "{came:?}");
    assert!(came.err.contains("more fails than in base (--fail-above 10%, exit 3)"), "{came:?}");
    let cases = fs::read_to_string(knee.at("cases.xml")).unwrap();
    assert!(cases.contains("<failure type=\"refused\""), "{cases}");
    let came = knee.run(&["compare", "1", "2", "--junit", "cases.xml"]);
    assert!(came.err.contains("--junit: name a gate"), "{came:?}");
    fs::write(knee.at("cases.xml"), "a text").unwrap();
    let came = gate(&knee, &["a", "b", "--junit", "cases.xml", "--", "prog {n}"]);
    assert!(came.err.contains("no test cases of knee"), "{came:?}");
}
