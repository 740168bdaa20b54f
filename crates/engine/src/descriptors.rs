//! How many descriptors a process may have: of knee, as many as the system lets it; of a user, as many as whoever called
//! knee may.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;
use std::sync::OnceLock;

/// The variable by which workers and guards know the soft limit of whoever called knee.
pub(crate) const CALLER_LIMIT: &str = "KNEE_DESCRIPTORS";
/// The same where there is no limit.
const UNLIMITED: &str = "unlimited";

/// How many descriptors this process may have, and those of knee that it starts.
pub fn descriptors_max() -> usize {
    count(getrlimit(Resource::Nofile).current)
}

/// How many descriptors a process of the user's may have.
pub fn caller_descriptors_max() -> usize {
    count(caller_limit())
}

fn count(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| limit as usize)
}

/// The soft limit of whoever called knee: it was raised since.
fn caller_limit() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    *LIMIT.get_or_init(|| match std::env::var(CALLER_LIMIT) {
        Ok(limit) if limit == UNLIMITED => None,
        Ok(limit) => limit.parse().ok(),
        Err(_) => getrlimit(Resource::Nofile).current,
    })
}

/// Raises the limit as far as it goes without privilege: shells hand out a soft limit of 1,024 where
/// the hard one is a thousand times that. It is never lowered.
pub fn raise_descriptors_max() {
    caller_limit();
    let limit = getrlimit(Resource::Nofile);
    // What can't be raised stays as it is, and is then what everything is planned by.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Says the caller's limit to a process of knee.
pub(crate) fn with_caller_limit(command: &mut Command) -> &mut Command {
    let limit = caller_limit().map_or_else(|| UNLIMITED.to_owned(), |limit| limit.to_string());
    command.env(CALLER_LIMIT, limit)
}

/// Gives what this process starts the caller's limit: programs of the user.
pub(crate) fn restore_caller_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Lowering a soft limit needs no privilege.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: caller_limit(), ..limit });
}
