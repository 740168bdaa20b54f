//! The contract of `readiness`, held against every row of the table that is available here.
//!
//! A row that can't be used is listed on standard error with its reason; one that has to work on
//! this kind of system and doesn't fails the test.

#[cfg(target_os = "linux")]
mod interrupted;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod signals;

use readiness::contract::{alone, available};
use readiness::{Mechanism, TABLE};

readiness::contract!(TABLE.iter().copied());

/// Starts a child of a test. Until it has become its program, it has every descriptor that there is, and
/// no other test would see that one has been closed.
#[cfg(target_os = "linux")]
fn started(command: &mut std::process::Command) -> std::process::Child {
    let _alone = alone();
    command.spawn().unwrap()
}

/// The rows that can be used here.
fn rows() -> impl Iterator<Item = &'static Mechanism> {
    available(TABLE.iter().copied())
}

#[test]
fn rows_that_any_such_system_has_are_available() {
    let required: &[&str] = if cfg!(target_os = "linux") {
        &[
            "select",
            "poll",
            "ppoll",
            "epoll-level",
            "epoll-edge",
            "epoll-oneshot",
            "sigio",
            "signalfd",
            "mio",
            "polling",
        ]
    } else {
        &["select", "poll", "mio", "polling"]
    };
    let mut missing = Vec::new();
    for row in TABLE {
        if let Err(why) = (row.available)() {
            eprintln!("SKIPPED in part: {}: {why}", row.name);
            missing.push(row.name);
        }
    }
    let broken: Vec<_> = required.iter().filter(|name| missing.contains(name)).collect();
    assert!(broken.is_empty(), "these have to work here: {broken:?}");
    for name in required {
        assert!(readiness::find(name).is_some(), "{name} is not in the table");
    }
}

#[test]
fn names_are_unique_and_plain() {
    for (at, row) in TABLE.iter().enumerate() {
        assert!(TABLE[..at].iter().all(|earlier| earlier.name != row.name), "{} twice", row.name);
        assert!(!row.summary.is_empty() && !row.label.is_empty(), "{}", row.name);
        let plain = |letter: char| letter.is_ascii_lowercase() || "-_".contains(letter);
        assert!(row.name.chars().all(plain), "{}", row.name);
    }
}
