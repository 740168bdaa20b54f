//! The verdict of a gate on a comparison.

use super::flags::FailOn;
use crate::exit::Exit;
use ::report::comparison::Counts;
use analysis::compare::{ChangeKind, Comparison, Direction};
use findings::left_out;

/// The exit code: 3 where the difference of `fail_on` was found, 4 where nothing could be decided.
pub fn exit(fail_on: Option<FailOn>, comparison: &Comparison) -> Exit {
    let is_found = match fail_on {
        None => return Exit::Done,
        Some(FailOn::Slower) => slower(comparison),
        Some(FailOn::Changed) => changed(comparison),
    };
    match (is_found, decided(comparison)) {
        (true, _) => Exit::Different,
        (false, true) => Exit::Done,
        (false, false) => Exit::Inconclusive,
    }
}

/// The reason of the exit code, for standard error.
pub fn why(fail_on: Option<FailOn>, exit: Exit, comparison: &Comparison) -> Option<String> {
    let reason = match (exit, fail_on) {
        (Exit::Different, Some(FailOn::Slower)) => {
            "the new run is slower (--fail-on slower, exit 3)"
        }
        (Exit::Different, _) => "something changed (--fail-on changed, exit 3)",
        (Exit::Inconclusive, _) if comparison.paired => {
            "nothing could be decided (exit 4); measure more rounds"
        }
        (Exit::Inconclusive, _) => {
            "nothing could be decided (exit 4); measure more rounds, or use `knee ab`"
        }
        (Exit::Done, Some(_)) => return unseen(comparison),
        _ => return None,
    };
    Some(reason.to_owned())
}

/// What an open gate could not see: `passed; 2 comparison 3 series are undecided; left out: poll: s1 only in base`.
fn unseen(comparison: &Comparison) -> Option<String> {
    let series = Counts::of_series(comparison.tables.iter().filter(|table| table.headline));
    let mut parts = vec!["passed".to_owned()];
    if series.undecided > 0 {
        let are = if series.undecided == 1 { "is" } else { "are" };
        let (some, all) = (series.undecided, series.total());
        parts.push(format!("{some} of {all} series {are} undecided"));
    }
    if let [first, rest @ ..] = comparison.left_out.as_slice() {
        let more =
            if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
        parts.push(format!("left out: {}{more}", left_out::of_comparison(first).what));
    }
    (parts.len() > 1).then(|| parts.join("; "))
}

/// Whether a headline series or point is slower, or a headline metric changed for the worse otherwise:
/// it grows faster than it did, or its cells failed.
fn slower(comparison: &Comparison) -> bool {
    let headline = || comparison.tables.iter().filter(|table| table.headline);
    let counted = [Counts::of_series(headline()), Counts::of_points(headline())];
    let worse = comparison.changes.iter().filter(|change| change.headline);
    counted.iter().any(|counts| counts.slower > 0)
        || worse.into_iter().any(|change| change.direction == Some(Direction::Worse))
}

/// Whether anything certainly changed, for the better or the worse.
fn changed(comparison: &Comparison) -> bool {
    let counted =
        [Counts::of_series(comparison.tables.iter()), Counts::of_points(comparison.tables.iter())];
    counted.iter().any(|counts| counts.slower + counts.faster > 0)
        || comparison.changes.iter().any(|change| change.kind != ChangeKind::Part)
}

/// Whether a headline series as a whole is decided: a point alone opens no gate.
fn decided(comparison: &Comparison) -> bool {
    let headline = || comparison.tables.iter().filter(|table| table.headline);
    Counts::of_series(headline()).decided() > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Estimate;
    use analysis::compare::{ComparedPoint, ComparedRow, ComparedTable, Ratio, Verdict};
    use analysis::compare::{LeftOut, Side};
    use record::{MetricInfo, RunState, RunSummary};

    fn summary() -> RunSummary {
        RunSummary {
            number: 1,
            id: "00000000000000a1".to_owned(),
            started: String::new(),
            ended: None,
            state: RunState::Complete,
            command: Vec::new(),
            version: String::new(),
            cells_ended: 1,
            cells_planned: 1,
            labels: std::collections::BTreeMap::new(),
            origin: String::new(),
        }
    }

    /// A comparison of one series with one point.
    fn comparison(overall: Verdict, point: Verdict) -> Comparison {
        let estimate = Estimate { value: 1.0, low: 0.9, high: 1.1 };
        let ratio = |verdict| Ratio { ratio: estimate, verdict };
        let cell = ComparedPoint { base: estimate, new: estimate, ratio: ratio(point) };
        let row = ComparedRow {
            subject: "poll".to_owned(),
            label: "poll".to_owned(),
            overall: ratio(overall),
            cells: vec![Some(cell)],
        };
        let table = ComparedTable {
            workload: "poll".to_owned(),
            parameters: record::Parameters::new(),
            metric: MetricInfo {
                name: "loop".to_owned(),
                about: String::new(),
                unit: "ns".to_owned(),
                lower_is_better: true,
                role: None,
            },
            headline: true,
            axis: String::new(),
            points: vec![1],
            rows: vec![row],
        };
        Comparison {
            base: summary(),
            new: summary(),
            margin: 0.05,
            paired: false,
            sensitivity: None,
            judged: 2,
            differences: Vec::new(),
            left_out: Vec::new(),
            tables: vec![table],
            changes: Vec::new(),
            sources: Default::default(),
        }
    }

    #[test]
    fn a_point_alone_opens_no_gate() {
        let gate = |overall, point| exit(Some(FailOn::Slower), &comparison(overall, point));
        assert_eq!(gate(Verdict::Undecided, Verdict::Same), Exit::Inconclusive);
        assert_eq!(gate(Verdict::Same, Verdict::Undecided), Exit::Done);
        assert_eq!(gate(Verdict::Undecided, Verdict::Slower), Exit::Different);
    }

    #[test]
    fn turns_are_not_advised_to_who_took_turns() {
        let mut comparison = comparison(Verdict::Undecided, Verdict::Undecided);
        let why = |comparison: &Comparison| {
            why(Some(FailOn::Slower), Exit::Inconclusive, comparison).unwrap()
        };
        assert!(why(&comparison).contains("knee ab"));
        comparison.paired = true;
        assert!(!why(&comparison).contains("knee ab"));
    }

    #[test]
    fn an_open_gate_says_what_it_could_not_see() {
        let why = |comparison: &Comparison| why(Some(FailOn::Slower), Exit::Done, comparison);
        let mut comparison = comparison(Verdict::Same, Verdict::Same);
        assert_eq!(why(&comparison), None);
        comparison.left_out = ["poll", "fork"]
            .map(|workload| LeftOut::Workload { side: Side::Base, workload: workload.to_owned() })
            .to_vec();
        comparison.tables[0].rows[0].overall.verdict = Verdict::Undecided;
        let reason =
            "passed; 1 of 1 series is undecided; left out: poll is in base only, and 1 more";
        assert_eq!(why(&comparison).as_deref(), Some(reason));
    }
}
