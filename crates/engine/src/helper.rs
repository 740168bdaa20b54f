//! Processes that help a run and end with it: the guard of a program that is not ours, the holder of parked
//! descriptors, the janitor of a cell's files.

pub(crate) mod guard;
pub(crate) mod guarded;
mod log;
pub(crate) mod park;
pub(crate) mod runner;
pub(crate) mod scratch;
pub(crate) mod timed;

use std::io;

/// What a guard does with its arguments: starts a program, becomes it, or runs a command to its end.
pub fn guard_main(words: &[String]) -> io::Result<()> {
    let [role, words @ ..] = words else { return Err(io::Error::other("nothing to guard")) };
    match role.as_str() {
        guarded::BECOME => guarded::become_program(words),
        guarded::LOGGED => guarded::main_with_log(words),
        timed::TIMED => timed::main(words),
        runner::RUNNER => runner::main(words),
        cpus => guarded::main(cpus, words),
    }
}
