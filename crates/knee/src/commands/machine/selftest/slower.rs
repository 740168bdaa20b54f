//! One subject does more work by a known share: a comparison has to find it, and of the right size.

use super::bench::request;
use super::{Bench, Control, Proof, State, of_two, twice};
use crate::exit::Trouble;
use analysis::compare::{ComparedRow, Comparison, Terms, Verdict};
use engine::Starter;
use findings::format::interval;
use model::Run;
use serde_json::json;

pub const BY_3_PERCENT: Control = Control {
    name: "slower-3%",
    proves: "3 % more work of one subject is found, of the right size, and nothing of the other",
    prove: |bench| prove(bench, Injected { factor: 1.03, margin: 0.01, rounds: 21 }),
};

pub const BY_10_PERCENT: Control = Control {
    name: "slower-10%",
    proves: "10 % more work of one subject is found, of the right size, and nothing of the other",
    prove: |bench| prove(bench, Injected { factor: 1.1, margin: 0.05, rounds: 15 }),
};

pub const TWICE: Control = Control {
    name: "slower-2x",
    proves: "twice the work of one subject is found, of the right size, and nothing of the other",
    prove: |bench| prove(bench, Injected { factor: 2.0, margin: 0.05, rounds: 9 }),
};

/// The subject that does more, and the one that does not.
const SLOWED: &str = "linear";
const UNCHANGED: &str = "constant";
/// Where one operation is thousands of turns: what stands around them is a thousandth of a few hundred.
const POINTS: &[&str] = &["1024", "4096"];
/// The loop around the work is no part of what is injected: this much of the factor may be lost in it.
const LOST: f64 = 0.002;

/// How far the ends of the interval may be from the factor, as a share of what is injected.
const WIDE: f64 = 0.5;

#[derive(Clone, Copy, Debug)]
struct Injected {
    factor: f64,
    margin: f64,
    rounds: u32,
}

fn prove(bench: &mut Bench, injected: Injected) -> Result<Proof, Trouble> {
    twice(injected.rounds, |rounds| {
        let variables =
            vec![(workloads::SLOWER.to_owned(), format!("{SLOWED}={}", injected.factor))];
        let more = Starter { variables, ..Starter::default() };
        let request = request(&["known"], &[SLOWED, UNCHANGED], POINTS, rounds, 8);
        let [base, new] = bench.in_turns(&request, more)?;
        Ok(compared(&base, &new, injected))
    })
}

fn compared(base: &Run, new: &Run, injected: Injected) -> Proof {
    let terms = Terms { margin: injected.margin, fail_above: None, across: false, all: false };
    of_two(base, new, &terms, |comparison| judged(comparison, injected))
}

fn judged(comparison: &Comparison, injected: Injected) -> Proof {
    let row = |subject: &str| -> Option<&ComparedRow> {
        comparison.tables.iter().flat_map(|table| &table.rows).find(|row| row.subject == subject)
    };
    let (Some(slowed), Some(unchanged)) = (row(SLOWED), row(UNCHANGED)) else {
        return Proof::new(State::Failed, "the comparison lacks a subject", json!({}));
    };
    let ratio = slowed.overall.ratio;
    let factor = injected.factor;
    let holds = ratio.low <= factor * (1.0 + LOST) && ratio.high >= factor * (1.0 - LOST);
    // A wide interval shows no size.
    let offset_max = (factor - 1.0) * WIDE;
    let is_narrow = factor - ratio.low <= offset_max && ratio.high - factor <= offset_max;
    let is_different =
        |row: &ComparedRow| matches!(row.overall.verdict, Verdict::Faster | Verdict::Slower);
    let state = match slowed.overall.verdict {
        _ if is_different(unchanged) => State::Failed,
        Verdict::Slower if holds && is_narrow => State::Proved,
        Verdict::Slower if holds => State::Undecided,
        Verdict::Undecided => State::Undecided,
        _ => State::Failed,
    };
    let label = |row: &ComparedRow| {
        let ratio = row.overall.ratio;
        let verdict = word(row.overall.verdict);
        let ci = interval(ratio, |value| format!("{value:.3}"));
        format!("{} {verdict}, ×{:.3}{ci}", row.subject, ratio.value)
    };
    let seen = format!("×{factor} done: {}; ×1 done: {}", label(slowed), label(unchanged));
    let figures = json!({
        "injected": factor,
        "margin": injected.margin,
        "found": ratio,
        "verdict": slowed.overall.verdict,
        "unchanged": unchanged.overall.ratio,
        "unchanged_verdict": unchanged.overall.verdict,
    });
    Proof::new(state, seen, figures)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "the same",
        Verdict::Undecided => "undecided",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::machine::selftest::tests::fake;

    #[test]
    fn a_wide_interval_proves_nothing() {
        let twice = Injected { factor: 2.0, margin: 0.05, rounds: 9 };
        let request = request(&["known"], &[SLOWED, UNCHANGED], POINTS, twice.rounds, 1);
        let base = fake(&request, |_| Ok(100.0));
        // Rounds that are far apart, about the factor that was injected.
        let spread = [1.7, 2.9, 1.6, 2.5, 2.0, 1.8, 2.7, 1.65, 2.3];
        let new = fake(&request, |key| {
            Ok(100.0 * if key.subject == SLOWED { spread[key.round as usize] } else { 1.0 })
        });
        let proof = compared(&base, &new, twice);
        assert_eq!(proof.figures["verdict"], "slower", "{proof:?}");
        assert_eq!(proof.state, State::Undecided, "{proof:?}");
    }

    const INJECTED: Injected = Injected { factor: 1.1, margin: 0.05, rounds: 9 };

    fn proof(slowed: f64, unchanged: f64) -> Proof {
        let request = request(&["known"], &[SLOWED, UNCHANGED], POINTS, INJECTED.rounds, 1);
        let base = fake(&request, |_| Ok(100.0));
        let new =
            fake(
                &request,
                |key| Ok(100.0 * if key.subject == SLOWED { slowed } else { unchanged }),
            );
        compared(&base, &new, INJECTED)
    }

    #[test]
    fn what_was_injected_is_found_and_what_was_not_is_missed() {
        let right = proof(1.1, 1.0);
        assert_eq!(right.state, State::Proved, "{right:?}");
        for (slowed, unchanged) in [(1.0, 1.0), (1.5, 1.0), (0.9, 1.0), (1.1, 1.1), (1.1, 0.8)] {
            let missed = proof(slowed, unchanged);
            assert_eq!(missed.state, State::Failed, "{slowed} {unchanged}: {missed:?}");
        }
    }
}
