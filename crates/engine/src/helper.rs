//! Processes that help a run and end with it: the guard of a program that is not ours, the holder of parked
//! descriptors, the janitor of a cell's files.

pub(crate) mod guard;
mod guarded;
mod log;
pub(crate) mod park;
pub(crate) mod quota;
pub(crate) mod runner;
pub(crate) mod scratch;
mod watch;

use std::io;

/// What a guard does with its arguments: starts a program, becomes it, runs commands to their end, or removes files.
pub fn guard_main(words: &[String]) -> io::Result<()> {
    let [role, words @ ..] = words else { return Err(io::Error::other("nothing to guard")) };
    // By this name a profile leaves it out.
    rustix::thread::set_name(c"knee guard")?;
    match role.as_str() {
        guarded::PROGRAM => guarded::main(words),
        guarded::BECOME => guarded::become_program(words),
        runner::RUNNER => runner::main(words),
        scratch::JANITOR => scratch::main(words),
        _ => Err(io::Error::other(format!("no guard: {role}"))),
    }
}
