//! Whatever bytes come as a run in JSON: no panic, one line that says why, or a run that can be kept.
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

libfuzzer_sys::fuzz_target!(|input: &[u8]| exercise::run(input));
