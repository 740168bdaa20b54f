//! `poll` with more watched descriptors than a process may have.

use crate::common::{Knee, came};
use serde_json::Value;

/// Runs poll where a process may have `limit` descriptors, one round, and returns its JSON.
fn run_limited(knee: &Knee, limit: u32, words: &str) -> Value {
    let script =
        format!("ulimit -n {limit}; exec \"$KNEE\" run poll --rounds 1 --time 1ms --json {words}");
    let came = came(&mut knee.shell(&script));
    assert_eq!(came.code, Some(0), "{words}: {}", came.err);
    assert!(!came.err.contains("failed"), "{words}: {}", came.err);
    serde_json::from_str(&came.out).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// The number that the fact of a cell is; 0 without it.
fn fact(cell: &Value, name: &str) -> u64 {
    cell["facts"][name].as_u64().unwrap_or(0)
}

/// The mechanisms here that watch files whose descriptors are closed.
fn detaching() -> Vec<&'static str> {
    let rows = readiness::TABLE.iter().filter(|row| row.detaches && (row.available)().is_ok());
    rows.map(|row| row.name).collect()
}

#[test]
fn forty_thousand_are_watched_where_a_process_may_have_fifteen() {
    let knee = Knee::new();
    let subjects = detaching().join(",");
    let run = run_limited(
        &knee,
        15_000,
        &format!("--subjects poll,{subjects} --object pipe --points 40k"),
    );
    let cells = list(&run, "cells");
    assert_eq!(cells.len(), 1 + detaching().len());
    for cell in cells {
        let (subject, watched) = (&cell["key"]["subject"], &cell["key"]["point"]);
        assert_eq!(cell["outcome"]["outcome"], "measured", "{cell}");
        let [peers, ends] = ["parked peers", "parked watched ends"].map(|name| fact(cell, name));
        if subject == "poll" {
            // As many as the process may have: their peers alone are elsewhere.
            assert!(watched.as_u64() < Some(15_000) && ends == 0, "{cell}");
        } else {
            assert_eq!((watched, peers), (&40_000.into(), 39_999), "{subject}");
            assert!((25_000..39_999).contains(&ends), "{subject}: {ends}");
        }
        for metric in ["loop", "wait", "add", "remove", "open"] {
            let has_it =
                |entry: &Value| entry["name"] == metric && !list(entry, "samples").is_empty();
            assert!(list(cell, "metrics").iter().any(has_it), "{subject}: no {metric}");
        }
    }
    let text = run["plan"]["changes"].to_string();
    assert!(text.contains("a process may have 15000 descriptors"), "{text}");
    knee.assert_no_process_left();
}

#[test]
fn beyond_the_limit_every_object_and_every_activity_keeps_its_account() {
    let knee = Knee::new();
    let subjects = detaching().join(",");
    let words = "--points 1k --active 1,20 --object socketpair,pipe,eventfd,tcp \
                 --activity spaced,random";
    let run = run_limited(&knee, 400, &format!("--subjects {subjects} {words}"));
    for cell in list(&run, "cells") {
        assert_eq!(cell["outcome"]["outcome"], "measured", "{cell}");
        assert_eq!(cell["key"]["point"], 1_000);
        assert!(fact(cell, "parked watched ends") > 600, "{cell}");
    }
    knee.assert_no_process_left();
}

#[test]
fn what_no_parking_makes_possible_is_clamped_with_its_reason() {
    let knee = Knee::new();
    let run = run_limited(&knee, 1_000, "--subjects epoll-level --points 400,3k --active 400");
    // Both ends of 400 active, and what is on its way to be parked, objects are more than a process may have.
    let text = run["plan"]["changes"].to_string();
    assert!(text.contains("a process may have 1000 descriptors"), "{text}");
    knee.assert_no_process_left();
}
