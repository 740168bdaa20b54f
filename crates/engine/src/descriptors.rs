//! How many descriptors a process may have: of knee, as many as the system lets it; of a user, as many as knee's caller
//! may.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;
use std::sync::OnceLock;

/// The variable by which guards know the soft limit of knee's caller.
pub(crate) const CALLER_LIMIT: &str = "KNEE_DESCRIPTORS";
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

static OF_CALLER: OnceLock<Option<u64>> = OnceLock::new();

/// The soft limit of knee's caller: it was raised since. There may be none.
pub(crate) fn caller_limit() -> Option<u64> {
    *OF_CALLER.get_or_init(|| match std::env::var(CALLER_LIMIT) {
        Ok(limit) if limit == UNLIMITED => None,
        Ok(limit) => limit.parse().ok(),
        Err(_) => getrlimit(Resource::Nofile).current,
    })
}

/// Takes the caller's limit from a worker's order: a side of `knee ab` may give its worker an empty environment.
pub(crate) fn take_caller_limit(limit: Option<u64>) {
    let _ = OF_CALLER.set(limit);
}

/// Raises the limit as far as it goes without privilege: shells hand out a soft limit of 1,024 where
/// the hard one is a thousand times that. It is never lowered.
pub fn raise_descriptors_max() {
    caller_limit();
    let limit = getrlimit(Resource::Nofile);
    // What can't be raised stays as it is, and is then what everything is planned by.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

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
