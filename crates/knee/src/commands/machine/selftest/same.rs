//! The same against the same: a difference that is found there is a false alarm.

use super::bench::request;
use super::{Control, Proof, State, of_two, twice};
use analysis::compare::{Comparison, Terms, Verdict};
use analysis::thresholds::MARGIN;
use engine::{RunRequest, Starter};
use model::Run;
use serde_json::json;

pub const IN_TURNS: Control = Control {
    name: "same-in-turns",
    proves: "of three workloads measured twice in turns nothing is called different: no comparison cries \
             wolf",
    prove: |bench| {
        twice(9, |rounds| {
            let [base, new] = bench.in_turns(&three(rounds), Starter::default())?;
            Ok(compared(&base, &new))
        })
    },
};

pub const ONE_AFTER_THE_OTHER: Control = Control {
    name: "same-after",
    proves: "the same of two runs one after the other, between which the machine goes its own way",
    prove: |bench| {
        twice(9, |rounds| {
            let request = three(rounds);
            let base = bench.measured(&request)?;
            Ok(compared(&base, &bench.measured(&request)?))
        })
    },
};

/// Figures that differ by less are the same.
const TERMS: Terms = Terms { margin: MARGIN, fail_above: None, across: false, all: false };

/// A loop without system calls, one with them, and a trajectory.
fn three(rounds: u32) -> RunRequest {
    let subjects = ["empty", "poll", "epoll-level", "ipv4"];
    request(&["null", "poll", "socket"], &subjects, &["10", "100", "1000"], rounds, 6)
}

fn compared(base: &Run, new: &Run) -> Proof {
    of_two(base, new, &TERMS, judged)
}

fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    let rows = comparison.tables.iter().flat_map(|table| &table.rows);
    rows.flat_map(|row| {
        let points = row.cells.iter().flatten().map(|cell| cell.ratio.verdict);
        points.chain([row.overall.verdict])
    })
    .collect()
}

fn judged(comparison: &Comparison) -> Proof {
    let verdicts = verdicts(comparison);
    let count = |wanted: Verdict| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
    let [faster, slower] = [count(Verdict::Faster), count(Verdict::Slower)];
    let [same, undecided] = [count(Verdict::Same), count(Verdict::Undecided)];
    let differ = faster + slower;
    let workloads: std::collections::BTreeSet<&str> =
        comparison.tables.iter().map(|table| table.workload.as_str()).collect();
    let state = match (verdicts.len(), differ) {
        (0, _) => State::Failed,
        (_, 0) if workloads.len() == 3 => State::Proved,
        _ => State::Failed,
    };
    let seen = format!(
        "{differ} of {} ratios of {} workloads differ ({same} the same within {:.0} %, {undecided} \
         undecided: not clear of chance, and not surely within that); at 95 % for all together, one \
         comparison in 20 may have any",
        verdicts.len(),
        workloads.len(),
        comparison.margin * 100.0,
    );
    let figures = json!({
        "ratios": verdicts.len(),
        "workloads": workloads,
        "faster": faster,
        "slower": slower,
        "same": same,
        "undecided": undecided,
        "margin": comparison.margin,
    });
    Proof::new(state, seen, figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::machine::selftest::tests::fake;

    fn state(poll: f64) -> Proof {
        let mut request = three(9);
        // Its samples stand along its axis, which these don't.
        request.workloads.retain(|name| name != "socket");
        request.workloads.push("known".to_owned());
        request.subjects.extend(["constant".to_owned()]);
        request.subjects.retain(|name| name != "ipv4");
        request.points = vec![100.into(), 1_000.into()];
        let base = fake(&request, |_| Ok(100.0));
        let new = fake(&request, |key| Ok(if key.subject == "poll" { poll } else { 100.0 }));
        compared(&base, &new)
    }

    #[test]
    fn a_comparison_that_calls_the_same_different_is_found() {
        let proof = state(100.0);
        assert_eq!(proof.state, State::Proved, "{proof:?}");
        let proof = state(130.0);
        assert_eq!(proof.state, State::Failed, "{proof:?}");
        assert!(proof.figures["slower"].as_u64().unwrap() >= 1, "{proof:?}");
    }

    #[test]
    fn runs_that_are_not_comparable_prove_nothing() {
        let null = fake(&request(&["null"], &[], &["1"], 2, 1), |_| Ok(1.0));
        let log = fake(&request(&["known"], &["log"], &["16"], 2, 1), |_| Ok(1.0));
        assert_eq!(compared(&null, &log).state, State::Failed);
    }
}
