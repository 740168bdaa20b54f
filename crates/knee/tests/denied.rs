//! Without permission for io_uring, the run goes on without it and says why.
//!
//! In a file of its own, because the setting is the whole machine's: `cargo xtask test` runs nothing beside it.

mod common;

use common::Knee;

const SETTING: &str = "/proc/sys/kernel/io_uring_disabled";

/// Puts the setting back, also when the test fails.
struct PutBack(String);

impl Drop for PutBack {
    fn drop(&mut self) {
        let _ = std::fs::write(SETTING, &self.0);
    }
}

#[test]
fn io_uring_that_is_disabled_is_unavailable_with_the_reason() {
    let Ok(before) = std::fs::read_to_string(SETTING) else {
        eprintln!("SKIPPED: this kernel has no kernel.io_uring_disabled");
        return;
    };
    let _put_back = PutBack(before);
    if std::fs::write(SETTING, "2").is_err() {
        eprintln!("SKIPPED: only root may disable io_uring");
        return;
    }
    let knee = Knee::new();
    let words = ["run", "poll", "--points", "10", "--rounds", "1", "--time", "1ms"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    for name in ["io_uring-oneshot", "io_uring-multishot"] {
        let row = came.out.lines().find(|line| line.contains(name));
        assert!(row.is_some_and(|row| row.contains("unavailable")), "{}", came.out);
    }
    assert!(came.out.contains("io_uring_disabled"), "{}", came.out);
    assert!(came.out.contains("epoll-level"), "{}", came.out);
    let doctor = knee.run(&["doctor", "--json"]);
    let reason = "switched off: sysctl kernel.io_uring_disabled is 2";
    assert!(doctor.out.contains(reason), "{}", doctor.out);
}
