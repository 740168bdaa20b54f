//! Processes that help a run and end with it: the guard of a program that is not ours, the holder of parked
//! descriptors, the janitor of a cell's files.

pub(crate) mod guard;
pub(crate) mod park;
pub(crate) mod scratch;
pub(crate) mod timed;
