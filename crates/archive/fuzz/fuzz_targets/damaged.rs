//! Whatever went over a record: no panic, no hang, and nothing shown that was not kept.
#![no_main]
#![allow(dead_code, reason = "the tests use more of what they share")]

#[path = "../../tests/sqlite/common.rs"]
mod common;
#[path = "../../tests/sqlite/damage.rs"]
mod damage;

use damage::Stage;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static STAGE: Stage = Stage::new();
}

fuzz_target!(|input: &[u8]| STAGE.with(|stage| stage.exercise(input)));
