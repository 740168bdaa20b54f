//! The machine and the instrument: what limits measuring here, and whether knee measures right.

pub mod doctor;
pub mod selftest;
