//! What measures: runs on this machine, in turns and in guests, loads on servers, and the simulator in their place.

pub mod ab;
pub mod config;
pub mod launchers;
pub mod load;
pub mod progress;
pub mod run;
pub mod simulate;
pub mod vm;
