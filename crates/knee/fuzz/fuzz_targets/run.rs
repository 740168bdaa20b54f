//! Whatever bytes come as a run in JSON: no panic, one line that says why, or a run that can be kept.
#![no_main]

#[path = "../exercise.rs"]
mod exercise;
libfuzzer_sys::fuzz_target!(|input: &[u8]| exercise::run(input));
