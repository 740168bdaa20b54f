//! All of knee's commands, with what is in this repository before knee's own.

use knee::OwnLock;
use own_workload::{lookup::Lookup, nap::Nap, spin};
use std::process::ExitCode;

fn main() -> ExitCode {
    knee::with(&[&Lookup]).locks([OwnLock::new::<Nap>()]).mechanisms([&spin::MECHANISM]).main()
}
