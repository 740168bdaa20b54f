//! `knee list locks` shows the table of locks, all of it, and in JSON as well.

use serde_json::Value;
use std::process::Command;

fn message(arguments: &[&str]) -> String {
    let knee = Command::new(env!("CARGO_BIN_EXE_knee")).args(arguments).output();
    let output = knee.expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn every_lock_has_a_line_with_its_order_and_what_those_do_that_wait() {
    let text = message(&["list", "locks"]);
    assert!(text.starts_with("Locks\n"), "{text}");
    for lock in locks::TABLE {
        let is_its = |line: &&str| line.split_whitespace().next() == Some(lock.name);
        let line = text.lines().find(is_its).unwrap_or_else(|| panic!("{} in {text}", lock.name));
        let order = line.split_whitespace().nth(1);
        assert_eq!(order == Some("FIFO"), lock.order == locks::Order::Fifo, "{line}");
        assert_eq!(line.contains("(control: "), lock.control, "{line}");
        if (lock.available)().is_ok() {
            assert!(line.contains(lock.summary), "{line}");
        }
        assert!(
            lock.limits.iter().all(|limit| text.contains(&format!("limit: {limit}"))),
            "{text}"
        );
    }
    assert!(!text.contains("Workloads") && message(&["list"]).contains(&text), "{text}");
}

#[test]
fn json_has_every_field_of_every_lock() {
    let value: Value = serde_json::from_str(&message(&["list", "locks", "--json"])).expect("JSON");
    assert_eq!(value.as_object().expect("an object").len(), 1);
    let rows = value["locks"].as_array().expect("rows");
    assert_eq!(rows.len(), locks::TABLE.len());
    for (row, lock) in rows.iter().zip(locks::TABLE) {
        assert_eq!((&row["name"], &row["summary"]), (&lock.name.into(), &lock.summary.into()));
        assert_eq!(row["control"], lock.control);
        assert_eq!(row["limits"].as_array().map(Vec::len), Some(lock.limits.len()));
        assert!(["FIFO", "any"].contains(&row["order"].as_str().expect("a word")), "{row}");
        assert!(row["unavailable"].is_null() || row["unavailable"].is_string(), "{row}");
    }
    let all: Value = serde_json::from_str(&message(&["list", "--json"])).expect("JSON");
    assert_eq!(all["locks"], value["locks"]);
}
