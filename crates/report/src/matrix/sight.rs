//! What differences a comparison can see, and what some differing facts mean.

use super::Matrix;
use analysis::compare::{Comparison, Sensitivity};
use analysis::is_predicted;
use findings::emulation::Emulation;
use findings::format::{duration, factor, percent};
use model::{CPU_QUOTAS, NICE, Plan, Run};
use std::collections::BTreeSet;

/// What two runs can see: `These runs see changes of 24 % and more; to see 5 %: knee ab CMD -- poll --rounds
/// 40`. Nothing where no series was judged, or a model computed the figures.
pub(super) fn sight(matrix: &Matrix<'_>) -> Option<String> {
    let (comparison, new) = (matrix.only()?, matrix.columns[1].run);
    let sensitivity = comparison.sensitivity.as_ref().filter(|_| !is_predicted(new))?;
    let rounds = |rounds: u32| more_rounds(comparison, new, rounds);
    Some(sentence("These runs see", sensitivity, comparison.fail_above, &rounds))
}

/// What measures so many rounds of what was compared, the `new` run with another.
pub(super) fn more_rounds(comparison: &Comparison, new: &Run, rounds: u32) -> String {
    if comparison.paired {
        let time = in_that_time(rounds, 2 * round_ms(comparison, new));
        format!("the same with --rounds {rounds}{time}")
    } else if new.is_load() {
        longer_load(new, rounds)
    } else {
        in_turns(&workloads(comparison, &new.plan), rounds, round_ms(comparison, new))
    }
}

/// What another run like `run` would show, by `comparison` of it with itself: `subject` begins the sentence.
pub fn of_another_run(comparison: &Comparison, run: &Run, subject: &str) -> Option<String> {
    let rounds = |rounds: u32| more_rounds(comparison, run, rounds);
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
/// More workloads than these make no readable command.
const WORKLOADS_MAX: usize = 3;

fn compared(comparison: &Comparison) -> BTreeSet<&str> {
    comparison.tables.iter().map(|table| table.workload.as_str()).collect()
}

/// How long a round of `run` took, of what is compared; of one of them where they make no readable command.
fn round_ms(comparison: &Comparison, run: &Run) -> u64 {
    let workloads = compared(comparison);
    let cells = run.cells.iter().filter(|cell| workloads.contains(cell.key.workload.as_str()));
    let all_ms = cells.map(|cell| cell.elapsed_ns).sum::<u64>() / 1_000_000;
    let count = workloads.len() as u64;
    let shown = if workloads.len() > WORKLOADS_MAX { 1 } else { count.max(1) };
    all_ms * shown / count.max(1) / u64::from(run.plan.rounds.max(1))
}

/// How long so many rounds take, where that is more than a person waits for: ` (about 41 min)`.
fn in_that_time(rounds: u32, round_ms: u64) -> String {
    let minutes = u64::from(rounds) * round_ms / 60_000;
    if minutes < 2 { String::new() } else { format!(" (about {})", duration(minutes * 60_000)) }
}

/// The command that measures `workloads` in turns, in so many rounds at least, of which one takes `round_ms` on either side.
fn in_turns(workloads: &[String], rounds: u32, round_ms: u64) -> String {
    let workloads = match workloads.len() {
        1..=WORKLOADS_MAX => workloads.join(" "),
        _ => "WORKLOAD".to_owned(),
    };
    if rounds <= ROUNDS_IN_TURNS {
        return format!("knee ab CMD -- {workloads}");
    }
    let time = in_that_time(rounds, 2 * round_ms);
    format!("knee ab CMD -- {workloads} --rounds {rounds}{time}")
}

/// The workloads that are compared, each with the flags of the user's own that it can't do without.
fn workloads(comparison: &Comparison, plan: &Plan) -> Vec<String> {
    let flags = |name: &str| own_flags(name, plan);
    compared(comparison).into_iter().map(|name| format!("{name}{}", flags(name))).collect()
}

/// The flags that add a workload's subjects, without their values: these are in the run's command line.
fn own_flags(workload: &str, plan: &Plan) -> String {
    let info = plan.workload(workload);
    let Some(custom) = info.and_then(|info| info.custom.as_deref()) else { return String::new() };
    let flags = [
        (" --command …", &custom.commands),
        (" --server …", &custom.servers),
        (" --url …", &custom.urls),
    ];
    flags.into_iter().filter(|(_, templates)| !templates.is_empty()).map(|(flag, _)| flag).collect()
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
        let rounds_text =
            |rounds: u32| in_turns(&["poll", "fork"].map(String::from), rounds, 1_000);
        sentence("These runs see", &sensitivity(detectable, rounds), fail_above, &rounds_text)
    }

    #[test]
    fn what_is_seen_and_what_shows_more() {
        assert_eq!(text(0.08, None, None), "These runs see changes of 8 % and more.");
        assert_eq!(
            text(0.24, Some(40), None),
            "These runs see changes of 24 % and more; to see 10 %: knee ab CMD -- poll fork --rounds 40"
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
    fn as_many_rounds_as_usual_are_not_named() {
        assert_eq!(in_turns(&["poll".into()], 20, 90_000), "knee ab CMD -- poll");
        assert_eq!(
            in_turns(&["a", "b", "c", "d"].map(String::from), 21, 1_000),
            "knee ab CMD -- WORKLOAD --rounds 21"
        );
        assert_eq!(
            in_turns(&["poll".into()], 145, 9_000),
            "knee ab CMD -- poll --rounds 145 (about 43 min)"
        );
    }

    #[test]
    fn a_workload_of_the_users_own_has_the_flags_that_it_needs() {
        let template = model::Template { name: "x".into(), text: "sort {n}".into() };
        let custom = model::Custom { commands: vec![template], ..model::Custom::default() };
        let command = model::WorkloadInfo {
            name: "command".into(),
            custom: Some(Box::new(custom)),
            ..model::WorkloadInfo::default()
        };
        let plan = Plan { workloads: vec![command], ..Plan::default() };
        assert_eq!(own_flags("command", &plan), " --command …");
        assert_eq!(own_flags("poll", &plan), "");
    }

    #[test]
    fn a_gate_says_from_which_change_on_it_fails() {
        assert_eq!(
            text(0.2, Some(40), Some(0.1)),
            "These runs see changes of 20 % and more, so --fail-above 10% fails from about 32 % on; to see \
             10 %: knee ab CMD -- poll fork --rounds 40"
        );
    }
}
