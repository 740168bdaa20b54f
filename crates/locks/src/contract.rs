//! The contract of a lock, as checks that any type can be held to: [`contract!`](crate::contract).
//!
//! No more threads run at once than two, since locks that serve in order stand still where there are
//! more than CPUs; only the check of the order has a line of three. Whether a thread waits is observed
//! and not supposed (see `watch.rs`), and nothing hangs: what is not done by the deadline is a failure.

mod exclusion;
mod leaving;
mod order;
mod wakeups;
mod watch;

use crate::{Lock, Setup};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What a check finds wrong.
pub type Outcome = Result<(), String>;

/// A check of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// No thread enters while another stays.
    Excludes,
    /// Two threads count without a loss.
    Counts,
    /// Who came first is served first, where the row says so.
    ServesInOrder,
    /// No wake-up is lost, where waiters sleep.
    Wakes,
    /// A thread that waited and ended blocks no thread.
    Ends,
    /// A thread that panics inside lets the others in.
    Panics,
    /// The seats of threads that ended are no hindrance.
    SeatsGoBack,
}

/// Makes a test of each check of the contract, for a type: `contract!(MyLock);`.
#[macro_export]
macro_rules! contract {
    (by $judge:path) => {
        $crate::contract! { $judge:
            no_thread_enters_while_another_stays: Excludes,
            two_threads_count_without_a_loss: Counts,
            the_first_to_come_is_served_first: ServesInOrder,
            no_wake_up_is_lost: Wakes,
            a_thread_that_waited_and_ended_blocks_no_thread: Ends,
            a_thread_that_panics_inside_lets_the_others_in: Panics,
            the_seats_of_threads_that_ended_are_no_hindrance: SeatsGoBack,
        }
    };
    ($judge:path: $($test:ident: $check:ident,)*) => {
        $(#[test]
        fn $test() {
            $judge($crate::contract::Check::$check);
        })*
    };
    ($Lock:ty) => {
        $crate::contract!(by $crate::contract::assert_holds::<$Lock>);
    };
}

/// No check takes this long, on the busiest machine.
const DEADLINE: Duration = Duration::from_secs(240);

/// One check at a time, so that no more threads run than the checks themselves start.
static TURN: Mutex<()> = Mutex::new(());

/// Two threads that spin for as long as a lock of 2008 did.
const USUAL: Setup = Setup { seats: 4, spins: Setup::SPINS };

/// Holds a type to a check. A lock that hangs keeps its threads.
///
/// # Errors
/// With what is wrong.
pub fn outcome<L: Lock>(check: Check) -> Outcome {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || {
        let result = match check {
            Check::Excludes => exclusion::excludes::<L>(),
            Check::Counts => exclusion::counts::<L>(),
            Check::ServesInOrder => order::serves_in_order::<L>(),
            Check::Wakes => {
                wakeups::wakes::<L>();
                Ok(())
            }
            Check::Ends => leaving::lets_others_in::<L>(false),
            Check::Panics => leaving::lets_others_in::<L>(true),
            Check::SeatsGoBack => leaving::seats_go_back::<L>(),
        };
        // After the deadline there is no receiver.
        let _ = done.send(result);
    });
    outcome.recv_timeout(DEADLINE).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => Err(format!("not done within {} s", DEADLINE.as_secs())),
        RecvTimeoutError::Disconnected => Err("a thread panicked".to_owned()),
    })
}

/// Holds a type to a check.
///
/// # Panics
/// With its name and what is wrong.
pub fn assert_holds<L: Lock>(check: Check) {
    if let Err(why) = outcome::<L>(check) {
        panic!("{}: {why}", L::ALGORITHM.name);
    }
}
