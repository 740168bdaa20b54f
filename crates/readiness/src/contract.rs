//! The contract of a readiness mechanism, as checks that any row can be held to: [`contract!`](crate::contract).
//!
//! A row that can't do something says so in its limits, and the checks heed that: `no eventfd`, `full when it is added`,
//! `the thread that opens it`, `stops sending`, `moments`, `capacity`.

// A check that fails panics.
#![allow(clippy::missing_panics_doc)]

mod model;
#[doc(hidden)]
pub mod objects;
#[doc(hidden)]
pub mod watcher;

use crate::Mechanism;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Held for writing by tests that use most of the process's descriptors or signal numbers, or that
/// expect a number to be given again; for reading by all others.
static PROCESS: RwLock<()> = RwLock::new(());

/// For a test that others may run next to.
pub fn shared() -> RwLockReadGuard<'static, ()> {
    PROCESS.read().unwrap_or_else(PoisonError::into_inner)
}

/// For a test that has the process to itself.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    PROCESS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Declares the files of checks, and makes a test of each check in the macro that others call.
macro_rules! checks {
    ($d:tt $($file:ident { $($check:ident,)* })*) => {
        $(#[doc(hidden)] pub mod $file;)*

        /// Makes a test of each check of the contract, for each of these rows: `contract!([&MINE]);`. Rows that are
        /// unavailable here are skipped.
        #[macro_export]
        macro_rules! contract {
            ($d rows:expr) => {
                $($(
                    #[test]
                    fn $check() {
                        for row in $d crate::contract::available($d rows) {
                            $d crate::contract::$file::$check(row);
                        }
                    }
                )*)*
            };
        }
    };
}

/// The rows that can be used here.
pub fn available(
    rows: impl IntoIterator<Item = &'static Mechanism>,
) -> impl Iterator<Item = &'static Mechanism> {
    rows.into_iter().filter(|row| (row.available)().is_ok())
}

checks! {
    $
    basics {
        a_descriptor_with_data_is_readable,
        what_is_ready_is_found_without_waiting,
        a_descriptor_is_writable_until_its_buffer_is_full,
        both_reports_either,
        nothing_ready_is_nothing_reported,
        data_from_before_add_is_reported,
    }
    detached {
        what_is_closed_here_and_open_elsewhere_is_reported,
        what_came_before_the_descriptor_was_closed_is_reported,
        a_thousand_under_one_number_are_all_watched,
        rows_that_watch_descriptors_refuse,
    }
    lifecycle {
        a_removed_descriptor_is_silent,
        a_descriptor_added_again_is_reported_under_its_new_token,
        events_of_a_closed_descriptor_never_reach_the_next_of_its_number,
        a_peer_that_hangs_up_makes_a_reader_readable,
        a_file_goes_away_when_it_is_removed_and_closed,
        wrong_use_is_an_error_and_changes_nothing,
        one_that_is_dropped_leaves_its_descriptors_alone,
    }
    random {
        no_event_is_lost_spurious_or_doubled_over_ten_thousand_operations,
    }
    scale {
        none_watched_is_none_reported,
        five_thousand_watched_are_reported_exactly_as_often_as_they_were_sent_to,
        a_queue_that_is_too_short_loses_nothing,
    }
    threads {
        a_wait_on_another_thread_works_or_says_why_not,
    }
    triggers {
        level_repeats_until_it_is_drained,
        edge_reports_an_arrival_once,
        oneshot_is_silent_until_it_is_armed_again,
        modify_before_an_event_does_not_double_it,
        modify_reports_what_is_there_for_the_new_interest,
    }
}
