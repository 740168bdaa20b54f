//! What the output looks like depends on where it goes: a terminal, a pipe, a pipe that closes.

use crate::common::Knee;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::process::Command;

fn measured() -> Knee {
    let knee = Knee::new();
    let came = knee.run(&["run", "null", "--points", "1,2,3", "--rounds", "2", "--time", "1ms"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(!came.out.contains('\x1b'), "no colour off a terminal: {}", came.out);
    assert!(!came.err.contains('\x1b'), "no progress off a terminal: {}", came.err);
    knee
}

/// What `command` writes to a terminal of its own that is 80 columns wide.
fn on_a_terminal(command: &mut Command) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let size = rustix::termios::Winsize { ws_row: 25, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&terminal, size).unwrap();
    let mut child = command.stdout(terminal.try_clone().unwrap()).stderr(terminal).spawn().unwrap();
    // The command still holds the terminal open; without it the reading below ends.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut message = Vec::new();
    let mut controller = File::from(controller);
    let mut buffer = [0; 4096];
    while let Ok(count) = controller.read(&mut buffer) {
        message.extend_from_slice(&buffer[..count]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8_lossy(&message).into()
}

#[test]
fn a_terminal_gets_colour_unless_it_is_not_wanted() {
    let knee = measured();
    let shown = on_a_terminal(knee.command(&["show"]).env("TERM", "xterm").env_remove("NO_COLOR"));
    assert!(shown.contains("\x1b["), "{shown:?}");
    let plain = on_a_terminal(knee.command(&["show"]).env("TERM", "xterm").env("NO_COLOR", "1"));
    assert!(!plain.contains('\x1b'), "{plain:?}");
    for words in [["show"], ["--help"]] {
        for term in ["dumb", ""] {
            let mut command = knee.command(&words);
            let plain = on_a_terminal(command.env("TERM", term).env_remove("NO_COLOR"));
            assert!(!plain.contains('\x1b'), "TERM={term:?} {words:?}: {plain:?}");
        }
    }
    for line in plain.lines() {
        let text = line.trim_end_matches('\r');
        assert!(text.chars().count() <= 80, "wider than the terminal: {text}");
    }
}

#[test]
fn progress_with_the_time_left_is_drawn_on_a_terminal_only() {
    let knee = Knee::new();
    let words = ["run", "null", "--points", "1,2", "--rounds", "20", "--time", "1ms"];
    let drawn = on_a_terminal(knee.command(&words).env("TERM", "xterm").env("NO_COLOR", "1"));
    assert!(drawn.contains("/40") && drawn.contains("left"), "{drawn:?}");
    for term in ["dumb", ""] {
        let plain = on_a_terminal(knee.command(&words).env("TERM", term));
        assert!(!plain.contains('\x1b') && !plain.contains("left"), "{plain:?}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let knee = measured();
    for command in
        ["show", "show --json", "list", "completions bash", "man", "record list", "--help"]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let words: Vec<&str> = command.split(' ').collect();
        let gone = knee.command(&words).stdout(writer).output().unwrap();
        let quiet = (Some(141), &b""[..]);
        assert_eq!((gone.status.code(), gone.stderr.as_slice()), quiet, "{command}: as cat ends");
    }
}

#[test]
fn quiet_output_is_the_answer_and_errors() {
    let knee = measured();
    let tiny = ["--points", "1,2,3", "--rounds", "2", "--time", "1ms"];
    let page = knee.directory.path().join("page.html").display().to_string();
    for words in [
        &[&["run", "null", "-q"], &tiny[..]].concat()[..],
        &["show", "-q"],
        &["show", "1", "--quiet"],
        &[&["ab", "-q", "env X=1", "--", "null"], &tiny[..]].concat(),
        &["compare", "1", "2", "-q", "-o", &page],
    ] {
        let came = knee.run(words);
        assert_eq!(came.code, Some(0), "{came:?}");
        assert_eq!(came.err, "", "{words:?}");
        for note in ["Report:", "Record:", "Other metrics", "null · ", "knee show", "Confidence"] {
            assert!(!came.out.contains(note), "{words:?}: {}", came.out);
        }
        assert!(!came.out.trim().is_empty(), "{words:?}");
    }
    assert_eq!(knee.run(&["report", "-q", "-o", &page]).out, "");
    assert!(knee.run(&["show", "--all", "-q"]).out.contains("null · "), "asked for by name");
    let failed = knee.run(&["show", "99", "-q"]);
    assert!(failed.code == Some(2) && failed.err.contains("no run 99"), "{failed:?}");
}
