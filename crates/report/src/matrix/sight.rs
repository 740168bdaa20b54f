//! What differences a comparison can see, and what some differing facts mean.

use super::Matrix;
use analysis::compare::{Comparison, Sensitivity};
use analysis::is_predicted;
use findings::emulation::Emulation;
use findings::format::{duration, factor, percent};
use model::{CPU_QUOTAS, Cell, NICE, Run};

const MORE_ROUNDS: &str = "more rounds narrow their CIs";

/// What two runs can see: `These runs see changes of 24 % and more; to see 5 %: in turns, by knee ab with --rounds
/// 40`. Nothing where no series was judged, or a model computed the figures.
pub(super) fn sight(matrix: &Matrix<'_>) -> Option<String> {
    let (comparison, new) = (matrix.only()?, matrix.columns[1].run);
    let sensitivity = comparison.sensitivity.as_ref().filter(|_| !is_predicted(new))?;
    let rounds = |rounds: u32| more_rounds(comparison, new, rounds).1;
    Some(sentence("These runs see", sensitivity, comparison.fail_above, &rounds))
}

/// What narrows the intervals of what was compared: why, and how to measure so many rounds of it, the `new` run with
/// another.
pub(super) fn more_rounds(
    comparison: &Comparison,
    new: &Run,
    rounds: u32,
) -> (&'static str, String) {
    let in_time = |times| in_that_time(rounds, times * round_ms(comparison, new));
    if comparison.sensitivity.as_ref().is_some_and(is_beyond_rounds) {
        ("no number of rounds decides them here", "knee doctor names what disturbs".to_owned())
    } else if comparison.paired {
        (MORE_ROUNDS, format!("the same with --rounds {rounds}{}", in_time(2)))
    } else if new.is_load() {
        ("a longer load has more intervals", longer_load(new, rounds))
    } else if comparison.two_machines {
        (MORE_ROUNDS, format!("both again with --rounds {rounds}{}", in_time(1)))
    } else {
        (
            "taking turns removes what changes from run to run, and more rounds narrow the CIs",
            in_turns(rounds, round_ms(comparison, new)),
        )
    }
}

/// What another run like `run` would show, by `comparison` of it with itself: `subject` begins the sentence.
pub fn of_another_run(comparison: &Comparison, run: &Run, subject: &str) -> Option<String> {
    let rounds = |rounds: u32| more_rounds(comparison, run, rounds).1;
    let sensitivity = comparison.sensitivity.as_ref()?;
    Some(sentence(subject, sensitivity, None, &rounds))
}

/// What gives a load so many intervals.
fn longer_load(run: &Run, rounds: u32) -> String {
    let interval_ms = run.plan.measure_ms.max(1);
    let seconds = (u64::from(rounds) * interval_ms).div_ceil(1_000);
    format!("both with --duration {seconds}s --interval {interval_ms}ms")
}

/// Rounds that `knee ab` measures where none are named.
const ROUNDS_IN_TURNS: u32 = 20;

/// How long a round of `run` took, of what is compared.
fn round_ms(comparison: &Comparison, run: &Run) -> u64 {
    let is_compared =
        |cell: &&Cell| comparison.tables.iter().any(|table| table.workload == cell.key.workload);
    let cells = run.cells.iter().filter(is_compared);
    let all_ms = cells.map(|cell| cell.elapsed_ns).sum::<u64>() / 1_000_000;
    all_ms / u64::from(run.plan.rounds.max(1))
}

/// How long so many rounds take, where that is more than a person waits for: ` (about 41 min)`.
fn in_that_time(rounds: u32, round_ms: u64) -> String {
    let minutes = u64::from(rounds) * round_ms / 60_000;
    if minutes < 2 { String::new() } else { format!(" (about {})", duration(minutes * 60_000)) }
}

/// How to measure the same in turns, in so many rounds at least, of which one takes `round_ms` on either side.
fn in_turns(rounds: u32, round_ms: u64) -> String {
    if rounds <= ROUNDS_IN_TURNS {
        return "in turns, by knee ab".to_owned();
    }
    let time = in_that_time(rounds, 2 * round_ms);
    format!("in turns, by knee ab with --rounds {rounds}{time}")
}

/// Whether no number of rounds shows what is wanted.
fn is_beyond_rounds(sensitivity: &Sensitivity) -> bool {
    sensitivity.rounds.is_none() && sensitivity.detectable > sensitivity.wanted
}

fn sentence(
    subject: &str,
    sensitivity: &Sensitivity,
    fail_above: Option<f64>,
    rounds: &dyn Fn(u32) -> String,
) -> String {
    let &Sensitivity { detectable, wanted, fails_from, rounds: wanted_rounds, .. } = sensitivity;
    let gate = fail_above.map(|limit| {
        let (limit, from) = (percent(limit).replace(' ', ""), percent(fails_from));
        format!(", so --fail-above {limit} fails from about {from} on")
    });
    let (seen, gate) = (percent(detectable), gate.unwrap_or_default());
    let wanted_text = percent(wanted);
    let more = match wanted_rounds {
        _ if detectable <= wanted => ".".to_owned(),
        Some(number) => format!("; to see {wanted_text}: {}", rounds(number)),
        None => {
            format!(
                "; no number of rounds shows {wanted_text} here: knee doctor names what disturbs"
            )
        }
    };
    if detectable > wanted.max(1.0) {
        let from = factor(1.0 + detectable);
        return format!("{subject} no change below {from}: too much noise to tell{gate}{more}");
    }
    format!("{subject} changes of {seen} and more{gate}{more}")
}

/// That QEMU emulated the machines, and what those of the differing facts mean that are easily misread.
pub(super) fn notes(matrix: &Matrix<'_>) -> Vec<&'static str> {
    let differences = || matrix.comparisons().flat_map(|(_, comparison)| &comparison.differences);
    let differs = |key: &str| differences().any(|fact| fact.what == key);
    // A fact that one of them lacks is no difference of what was measured.
    let both = |key: &str| {
        let mut facts = differences().filter(|fact| fact.what == key);
        facts.any(|fact| fact.base.is_some() && fact.new.is_some())
    };
    let emulation = Emulation::from_runs(matrix.runs());
    let mut notes: Vec<&str> = emulation.map(Emulation::sentence).into_iter().collect();
    if both("cpu.count") && !differs("cpu.online") {
        notes.push(
            "The CPU masks differ on machines with the same CPUs: with fewer of them, threads and processes \
             wait for each other.",
        );
    }
    if CPU_QUOTAS.into_iter().any(both) {
        notes.push(
            "The CPU quotas differ: where a run uses its quota up, its threads stop until the next period begins, \
             and the ratios contain that.",
        );
    }
    if both(NICE) {
        notes.push(
            "nice decides who waits while others want the CPU; on a CPU that is free it changes nothing.",
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensitivity(detectable: f64, rounds: Option<u32>) -> Sensitivity {
        let (wanted, fails_from) = (0.1, 1.1 * (1.0 + detectable) - 1.0);
        Sensitivity { detectable, excluded_above: None, wanted, fails_from, rounds }
    }

    fn text(detectable: f64, rounds: Option<u32>, fail_above: Option<f64>) -> String {
        let rounds_text = |rounds: u32| in_turns(rounds, 1_000);
        sentence("These runs see", &sensitivity(detectable, rounds), fail_above, &rounds_text)
    }

    #[test]
    fn what_is_seen_and_what_shows_more() {
        assert_eq!(text(0.08, None, None), "These runs see changes of 8 % and more.");
        assert_eq!(
            text(0.24, Some(40), None),
            "These runs see changes of 24 % and more; to see 10 %: in turns, by knee ab with --rounds 40"
        );
        assert_eq!(
            text(0.24, None, None),
            "These runs see changes of 24 % and more; no number of rounds shows 10 % here: knee doctor names \
             what disturbs"
        );
        let far = "These runs see no change below ×24.3: too much noise to tell, so --fail-above 10% fails from";
        assert!(text(23.3, None, Some(0.1)).starts_with(far), "{}", text(23.3, None, Some(0.1)));
    }

    #[test]
    fn what_no_rounds_show_is_not_to_be_measured_in_more_of_them() {
        assert!(is_beyond_rounds(&sensitivity(0.24, None)));
        assert!(!is_beyond_rounds(&sensitivity(0.24, Some(40))));
        assert!(!is_beyond_rounds(&sensitivity(0.08, None)));
    }

    #[test]
    fn as_many_rounds_as_usual_are_not_named() {
        assert_eq!(in_turns(20, 90_000), "in turns, by knee ab");
        assert_eq!(in_turns(21, 1_000), "in turns, by knee ab with --rounds 21");
        assert_eq!(in_turns(145, 9_000), "in turns, by knee ab with --rounds 145 (about 43 min)");
    }

    #[test]
    fn a_gate_says_from_which_change_on_it_fails() {
        assert_eq!(
            text(0.2, Some(40), Some(0.1)),
            "These runs see changes of 20 % and more, so --fail-above 10% fails from about 32 % on; to see \
             10 %: in turns, by knee ab with --rounds 40"
        );
    }
}
