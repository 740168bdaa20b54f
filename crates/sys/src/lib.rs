//! The system calls that rustix lacks or changes on the way, in a few safe functions.
//!
//! Every `unsafe` block of the project that talks to the kernel is here, one file a family of calls.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod clock;
pub mod process;
