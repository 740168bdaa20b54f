//! The contract of `locks`, held against every row of the table. The control has to break it.

use locks::contract::{Check, Outcome, outcome};
use locks::{Lock, TABLE, Visitor, visit};

locks::contract!(by every_sound_row);

/// Holds a lock that is known by its name to a check.
struct Held(Check);

impl Visitor for Held {
    type Output = Outcome;

    fn visit<L: Lock>(self) -> Outcome {
        outcome::<L>(self.0)
    }
}

/// Holds each row that can be used here, and locks, to a check, and fails with all that went wrong.
fn every_sound_row(check: Check) {
    let rows = TABLE.iter().filter(|row| !row.control && (row.available)().is_ok());
    let outcomes = rows.map(|row| (row.name, visit(row.name, Held(check)).expect(row.name)));
    let wrong: Vec<_> = outcomes
        .filter_map(|(name, outcome)| Some(format!("{name}: {}", outcome.err()?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_control_is_caught() {
    for row in TABLE.iter().filter(|row| row.control) {
        let caught = visit(row.name, Held(Check::Excludes)).expect(row.name);
        assert_eq!(caught, Err("two were inside at once".to_owned()));
    }
}

#[test]
fn every_row_can_be_used_here_and_one_is_a_control() {
    let unavailable: Vec<_> = TABLE.iter().filter_map(|row| (row.available)().err()).collect();
    assert!(unavailable.is_empty(), "{unavailable:?}");
    let controls: Vec<_> = TABLE.iter().filter(|row| row.control).map(|row| row.name).collect();
    assert_eq!(controls, ["broken"]);
}

#[test]
fn names_are_distinct() {
    for (at, row) in TABLE.iter().enumerate() {
        assert!(TABLE[..at].iter().all(|earlier| earlier.name != row.name), "{}", row.name);
        assert!(std::ptr::eq(locks::find(row.name).unwrap(), *row));
    }
}
