//! What the harness costs: an empty operation, measured as all others are, against a bare loop.

use super::bench::request;
use super::{Bench, Control, Proof, State, twice};
use crate::exit::Trouble;
use analysis::Estimate;
use findings::format::interval;
use serde_json::json;

pub const CONTROL: Control = Control {
    name: "harness",
    proves: "an operation of nothing costs about what it does in a bare loop, timed by another clock",
    prove,
};

/// What the harness may add to an operation, in nanoseconds: a hundredth of the shortest system call.
const ADDED_NS_MAX: f64 = 1.0;

fn prove(bench: &mut Bench) -> Result<Proof, Trouble> {
    if cfg!(debug_assertions) {
        let why =
            "this knee was built without optimisation, where a loop costs what its closures cost";
        return Ok(Proof::not_possible(why));
    }
    twice(9, |rounds| {
        let run = bench.measured(&request(&["null"], &[], &["10"], rounds, 10))?;
        let analysis = analysis::analyse(&run);
        let mut tables = analysis.tables.iter().filter(|table| table.headline);
        let cell = tables.next().and_then(|table| table.rows.first()?.cells.first()?.as_ref());
        let Some(cell) = cell else {
            return Ok(Proof::new(State::Failed, "nothing was measured of nothing", json!({})));
        };
        Ok(judged(cell.median, workloads::bare_ns()))
    })
}

fn judged(nothing: Estimate, bare_ns: f64) -> Proof {
    let added = nothing.value - bare_ns;
    let state = match () {
        // Less than the loop itself can't be: operations were invented, or time was lost.
        () if nothing.high < 0.8 * bare_ns || nothing.low > bare_ns + ADDED_NS_MAX => State::Failed,
        () if nothing.high > bare_ns + ADDED_NS_MAX || nothing.value < 0.8 * bare_ns => {
            State::Undecided
        }
        () => State::Proved,
    };
    let (value, ci) = (nothing.value, interval(nothing, |value| format!("{value:.3}")));
    let seen = format!(
        "{value:.3} ns per operation of nothing{ci}, a bare loop {bare_ns:.3} ns: \
         the harness adds {added:.3} ns ({ADDED_NS_MAX} allowed)"
    );
    let figures = json!({ "nothing_ns": nothing, "bare_ns": bare_ns, "allowed_ns": ADDED_NS_MAX });
    Proof::new(state, seen, figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(value: f64, low: f64, high: f64) -> State {
        judged(Estimate { value, low, high }, 0.5).state
    }

    #[test]
    fn a_harness_that_costs_or_that_loses_time_is_found() {
        assert_eq!(state(0.52, 0.5, 0.6), State::Proved);
        assert_eq!(state(3.0, 2.9, 3.1), State::Failed);
        assert_eq!(state(0.1, 0.1, 0.1), State::Failed);
        assert_eq!(state(0.6, 0.5, 4.0), State::Undecided);
    }
}
