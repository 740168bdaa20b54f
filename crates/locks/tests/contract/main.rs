//! The contract of `locks`, held against every row of the table. The control has to break it.
//!
//! No more threads run at once than two, since locks that serve in order stand still where there are
//! more than CPUs; only the test of the order has a line of three. Whether a thread waits is observed
//! and not supposed (see `watch.rs`), and nothing hangs: what is not done by the deadline is a failure
//! that names the row.

mod exclusion;
mod leaving;
mod order;
mod wakeups;
mod watch;

use locks::{Algorithm, Setup, TABLE, Visitor, visit};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What a check finds wrong.
type Outcome = Result<(), String>;

/// No check of a single row takes this long, on the busiest machine.
const DEADLINE: Duration = Duration::from_secs(240);

/// One test at a time, so that no more threads run than the tests themselves start.
static TURN: Mutex<()> = Mutex::new(());

/// Two threads that spin for as long as a lock of 2008 did.
const USUAL: Setup = Setup { seats: 4, spins: Setup::SPINS };

/// The rows that can be used here, and lock.
fn sound() -> impl Iterator<Item = &'static Algorithm> {
    TABLE.iter().copied().filter(|row| !row.control && (row.available)().is_ok())
}

/// Does a check with the lock of that name. A lock that hangs keeps its threads; the test goes on.
fn check<V>(name: &'static str, check: V) -> Outcome
where
    V: Visitor<Output = Outcome> + Send + 'static,
{
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || {
        let result = visit(name, check).unwrap_or_else(|| Err("no such row".to_owned()));
        // Nobody listens any more once the deadline is over.
        let _ = done.send(result);
    });
    outcome.recv_timeout(DEADLINE).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => Err(format!("not done within {} s", DEADLINE.as_secs())),
        RecvTimeoutError::Disconnected => Err("a thread panicked".to_owned()),
    })
}

/// Does a check with each of these rows, one after the other, and fails with all that went wrong.
fn hold_all_to<V>(rows: impl Iterator<Item = &'static Algorithm>, what: V)
where
    V: Visitor<Output = Outcome> + Copy + Send + 'static,
{
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = Vec::new();
    for row in rows {
        if let Err(why) = check(row.name, what) {
            wrong.push(format!("{}: {why}", row.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
