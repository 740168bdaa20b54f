//! Whatever bytes come as a `knee.toml`: no panic, and one line that says where it is wrong.
#![no_main]

#[path = "../exercise.rs"]
mod exercise;
libfuzzer_sys::fuzz_target!(|input: &[u8]| exercise::suites(input));
