//! More than two runs: each further one against the first.

use super::flags::{Compare, FailOn, Judgement, Refused};
use super::{Compared, GateVerdict, holder, verdict};
use crate::commands::concluded_runs;
use crate::commands::read::fleet;
use crate::exit::{Exit, Trouble};
use crate::output::print_json;
use ::report::matrix::{Matrix, html, json};
use analysis::compare::{Comparison, LeftOut, Several, Terms, compare_several};
use findings::{Conclusions, left_out};
use model::Run;

pub fn compare(compare: &Compare, runs: Vec<Run>, names: &[String]) -> Result<Exit, Trouble> {
    let Compare { judgement, output, across, .. } = compare;
    let runs = concluded_runs(runs);
    let Judgement { margin, fail_above, .. } = *judgement;
    let terms = Terms { margin, fail_above, across: *across, all: output.all };
    let several = compare_several(&runs.iter().map(|(run, _)| run).collect::<Vec<_>>(), &terms);
    for (name, result) in names[1..].iter().zip(&several.comparisons) {
        if let Err(refusal) = result {
            let why = left_out::refusal(refusal);
            return Err(Trouble::usage(format!(
                "{} and {name} can't be compared: {why}",
                names[0]
            )));
        }
    }
    let matrix = Matrix::several(&runs, &several, names);
    let verdicts = verdicts(judgement, names, &several);
    conclude(compare, &runs, &matrix, verdicts, names)
}

pub fn compare_fleet(compare: &Compare, name: &str) -> Result<Exit, Trouble> {
    let Compare { judgement, output, .. } = compare;
    let given = [
        (!compare.runs.is_empty(), "the names of runs"),
        (compare.baseline.is_some(), "--baseline"),
        (judgement.save_baseline.is_some(), "--save-baseline"),
        (judgement.junit.is_some(), "--junit"),
    ];
    if let Some((_, what)) = given.into_iter().find(|(given, _)| *given) {
        let what = format!("--fleet compares the runs of a fleet: leave out {what}");
        return Err(Trouble::usage(what));
    }
    let Judgement { margin, fail_above, .. } = *judgement;
    let terms = Terms { margin, fail_above, across: true, all: output.all };
    let machines = fleet::machines(name, &output.record_file, &terms, |_| Ok(()))?;
    let mut verdicts = verdicts(judgement, &machines.head.names, &machines.fleet.several);
    let further = machines.head.names[1..].iter().zip(&machines.fleet.several.comparisons);
    verdicts.extend(further.filter_map(|(name, comparison)| {
        apart(judgement, comparison.as_ref().ok()?).map(|why| GateVerdict {
            exit: Exit::Inconclusive,
            why: Some(format!("{name}: {why}")),
        })
    }));
    // A machine without a run may be slower.
    if machines.ranks_missing > 0 && judgement.gate().is_some() {
        let missing = printable::quantity(machines.ranks_missing as u64, "rank");
        let why = Some(format!("{missing} without figures: the gate can't pass them"));
        verdicts.push(GateVerdict { exit: Exit::Inconclusive, why });
    }
    conclude(compare, &machines.runs, &machines.matrix(), verdicts, &machines.head.names)
}

/// What this machine measured and fewer than half of the others did: they may be slower there, or have failed.
fn apart(judgement: &Judgement, comparison: &Comparison) -> Option<String> {
    let gate = judgement.gate().filter(|gate| !gate.ignores_missing)?;
    let any_metric = gate.refused == Refused::On(FailOn::Changed);
    let is_apart = |part: &&LeftOut| part.is_open(any_metric) && !part.is_unjudged(any_metric);
    let part = comparison.left_out.iter().find(is_apart)?;
    Some(format!("{}: the gate can't pass the others", left_out::of_comparison(part).what))
}

/// How the comparison of each further run ends; each reason begins with the run's name.
fn verdicts(judgement: &Judgement, names: &[String], several: &Several) -> Vec<GateVerdict> {
    let compared = names[1..].iter().zip(&several.comparisons);
    let verdict = |(name, comparison): (&String, &Result<Comparison, _>)| {
        let GateVerdict { exit, why } = verdict(judgement, comparison.as_ref().ok()?, false);
        Some(GateVerdict { exit, why: why.map(|why| format!("{name}: {why}")) })
    };
    compared.filter_map(verdict).collect()
}

/// Shows runs that were compared with the first, and ends as the worst of `verdicts` does, each of which says why.
fn conclude(
    compare: &Compare,
    runs: &[(Run, Conclusions)],
    matrix: &Matrix<'_>,
    verdicts: Vec<GateVerdict>,
    names: &[String],
) -> Result<Exit, Trouble> {
    let Compare { judgement, output, .. } = compare;
    let ranked = [Exit::Different, Exit::Inconclusive].into_iter();
    let mut worst = ranked.filter(|exit| verdicts.iter().any(|verdict| verdict.exit == *exit));
    let exit = worst.next().unwrap_or(Exit::Done);
    let compared = Compared {
        json: &|| print_json(&json::matrix(matrix)),
        matrix,
        page: &|| html::page(runs, matrix),
        cases: &|| None,
        newest: runs.last().map_or(0, |(run, _)| run.summary.number),
        holder: &|| holder(names, output),
    };
    let reasons = verdicts.into_iter().filter_map(|verdict| verdict.why).collect();
    compared.show(judgement, output, (exit, reasons), None)
}
