//! How many descriptors a process may have: as many as the system lets it, and no fewer than before.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many descriptors this process may have, and the processes that it starts.
pub fn descriptors_max() -> usize {
    getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| limit as usize)
}

/// Raises the limit as far as it goes without privilege: shells hand out a soft limit of 1,024 where
/// the hard one is a thousand times that. It is never lowered.
pub fn raise_descriptors_max() {
    let limit = getrlimit(Resource::Nofile);
    // What can't be raised stays as it is, and is then what everything is planned by.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
