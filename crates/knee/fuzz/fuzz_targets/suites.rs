//! Whatever bytes come as a `knee.toml`: no panic, and one line that says where it is wrong.
#![no_main]
#![allow(dead_code, reason = "knee uses the rest")]

#[path = "../exercise.rs"]
mod exercise;
#[path = "../../src"]
mod knee {
    pub mod exit;
    pub mod foreign;
}

use knee::{exit, foreign};

libfuzzer_sys::fuzz_target!(|input: &[u8]| exercise::suites(input));
