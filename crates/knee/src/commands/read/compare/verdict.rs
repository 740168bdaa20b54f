//! The verdict of a gate on a comparison.

use super::flags::{FailOn, Gate, Refused};
use crate::exit::Exit;
use ::model::Parameters;
use ::report::comparison::Counts;
use analysis::compare::{
    Bound, Change, ChangeDetail, ChangeKind, ComparedRow, ComparedTable, Comparison, Direction,
    LeftOut, Ratio, Slowdown, Verdict as RatioVerdict, slowdowns,
};
use findings::format::{counted, factor, percent, significant};
use findings::left_out;
use std::collections::BTreeSet;

/// How a comparison ends.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The exit code.
    pub exit: Exit,
    /// The reason, for standard error.
    pub why: Option<String>,
}

/// What fails in new and was measured in base.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The workload.
    pub workload: String,
    /// The parameters of the series.
    pub parameters: Parameters,
    /// The subject.
    pub subject: String,
    /// What fails of the series.
    pub part: FailedPart,
}

/// What fails of a series.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailedPart {
    /// All cells of a point.
    Point(u64),
    /// The end of its trajectory, or the subject at all.
    Series,
}

/// The exit code: 3 where what the gate refuses was found, 4 where nothing could be decided, or new lacks what base
/// measured.
pub fn exit(gate: Option<Gate>, comparison: &Comparison) -> Exit {
    let Some(gate) = gate else { return Exit::Done };
    if guess_text(gate, comparison).is_some() {
        return Exit::Inconclusive;
    }
    let (is_found, is_decided) = match gate.refused {
        Refused::On(FailOn::Slower) => (slower(comparison), decided(comparison)),
        Refused::On(FailOn::Changed) => (changed(comparison), decided(comparison)),
        Refused::Above(limit) => {
            let slowdowns = slowdowns(comparison, limit);
            let is_above = slowdowns.iter().any(|slowdown| slowdown.bound == Bound::Above);
            let is_below =
                |slowdown: &Slowdown| slowdown.point.is_none() && slowdown.bound == Bound::Below;
            (is_above || fails_now(comparison), slowdowns.iter().any(is_below))
        }
    };
    match (is_found, is_decided && unjudged(gate, comparison).is_empty()) {
        (true, _) => Exit::Different,
        (false, true) => Exit::Done,
        (false, false) => Exit::Inconclusive,
    }
}

/// That a headline metric changed of which it is a guess whether more or less is better.
fn guess_text(gate: Gate, comparison: &Comparison) -> Option<String> {
    let differs =
        |ratio: &Ratio| matches!(ratio.verdict, RatioVerdict::Slower | RatioVerdict::Faster);
    let is_guess = |table: &&ComparedTable| {
        let mut rows = table.rows.iter();
        let any = |row: &ComparedRow| {
            differs(&row.overall) || row.cells.iter().flatten().any(|cell| differs(&cell.ratio))
        };
        table.headline && table.metric.direction_assumed && rows.any(any)
    };
    let asks = gate.refused != Refused::On(FailOn::Changed);
    let table = comparison.tables.iter().filter(|_| asks).find(is_guess)?;
    Some(format!(
        "{} of {} changed, and it is a guess which is better; measure with --better lower or --better higher",
        table.metric.name, table.workload
    ))
}

/// What base measured and the gate can't judge.
fn unjudged(gate: Gate, comparison: &Comparison) -> Vec<&LeftOut> {
    let any_metric = gate.refused == Refused::On(FailOn::Changed);
    let counts = |left_out: &&LeftOut| !gate.ignores_missing && left_out.is_unjudged(any_metric);
    comparison.left_out.iter().filter(counts).collect()
}

/// The same for `git bisect run`, which takes a commit that passes for a good one: nothing may be undecided.
pub fn bisect_exit(gate: Option<Gate>, comparison: &Comparison) -> Exit {
    let is_open = gate.is_some_and(|gate| !undecided(gate, comparison).is_empty());
    match exit(gate, comparison) {
        Exit::Done if is_open => Exit::Inconclusive,
        exit => exit,
    }
}

/// The headline series and points of which the gate can't say whether it refuses them.
fn undecided(gate: Gate, comparison: &Comparison) -> Vec<Slowdown<'_>> {
    let (limit, by_bound) = match gate.refused {
        Refused::Above(limit) => (limit, true),
        Refused::On(_) => (0.0, false),
    };
    let is_open = |slowdown: &Slowdown<'_>| {
        if by_bound {
            slowdown.bound == Bound::Maybe
        } else {
            slowdown.verdict == RatioVerdict::Undecided
        }
    };
    let mut all = slowdowns(comparison, limit);
    all.retain(|slowdown| is_open(slowdown) && !slowdown.is_only_point);
    all
}

/// The reason of that exit code.
pub fn bisect_reason(gate: Option<Gate>, exit: Exit, comparison: &Comparison) -> Option<String> {
    let gate = gate?;
    let (what, limit) = match gate.refused {
        Refused::On(FailOn::Changed) => ("changed".to_owned(), 0.0),
        Refused::Above(limit) if limit > 0.0 => {
            (format!("slower by more than {}", percent(limit)), limit)
        }
        _ => ("slower".to_owned(), 0.0),
    };
    Some(match exit {
        Exit::Done => format!("good: no series is {what} (exit 0)"),
        Exit::Different => match worst(within(limit, comparison, Bound::Above)) {
            Some((worst, more)) => format!("bad: {what}: {worst}{more} (exit 1)"),
            None => format!("bad: {what} (exit 1)"),
        },
        Exit::Inconclusive => {
            if let Some(guess) = guess_text(gate, comparison) {
                return Some(format!("can't tell: {guess} (exit 125)"));
            }
            let open = undecided(gate, comparison);
            let series = open.iter().filter(|slowdown| slowdown.point.is_none()).count();
            let number = match series {
                0 => printable::quantity(open.len() as u64, "point"),
                series => format!("{series} series"),
            };
            let seen = worst(open).map(|(worst, _)| format!("{number} may be {what}: {worst}"));
            let parts: Vec<String> =
                seen.into_iter().chain(missing_text(gate, comparison)).collect();
            if parts.is_empty() {
                return Some("can't tell: no headline series has a ratio (exit 125)".to_owned());
            }
            format!("can't tell: {} (exit 125)", parts.join("; "))
        }
        _ => return None,
    })
}

/// The reason of the exit code, for standard error.
pub fn why(gate: Option<Gate>, exit: Exit, comparison: &Comparison) -> Option<String> {
    let gate = gate?;
    if let Some(guess) = guess_text(gate, comparison).filter(|_| exit == Exit::Inconclusive) {
        return Some(format!("can't pass (exit 4); {guess}"));
    }
    let reason = match (exit, gate.refused) {
        (Exit::Different, Refused::Above(limit)) => return Some(above(limit, comparison)),
        (Exit::Inconclusive, _) if is_only_missing(gate, comparison) => {
            let missing = missing_text(gate, comparison)?;
            return Some(format!("can't pass (exit 4); {missing} (--ignore-missing lets it)"));
        }
        (Exit::Inconclusive | Exit::Done, Refused::Above(limit)) => {
            return maybe(limit, exit, comparison);
        }
        (Exit::Different, Refused::On(FailOn::Slower)) => {
            "the new run is slower (--fail-on slower, exit 3)"
        }
        (Exit::Different, _) => "something changed (--fail-on changed, exit 3)",
        (Exit::Inconclusive, _) if comparison.paired => {
            "nothing could be decided (exit 4); measure more rounds"
        }
        (Exit::Inconclusive, _) => {
            "nothing could be decided (exit 4); measure more rounds, or use `knee ab`"
        }
        (Exit::Done, _) => return unseen(comparison),
        _ => return None,
    };
    Some(reason.to_owned())
}

/// Whether the gate would pass if it ignored what is missing.
fn is_only_missing(gate: Gate, comparison: &Comparison) -> bool {
    exit(Some(Gate { ignores_missing: true, ..gate }), comparison) == Exit::Done
}

/// What base measured and the gate can't judge: `not judged: poll: select only in base, and 1 more`.
fn missing_text(gate: Gate, comparison: &Comparison) -> Option<String> {
    named("not judged", &unjudged(gate, comparison))
}

/// What is surely slower by more than `limit`: the worst, and how many more.
fn above(limit: f64, comparison: &Comparison) -> String {
    let flag = format!("(--fail-above {}, exit 3)", percent(limit).replace(' ', ""));
    match worst(within(limit, comparison, Bound::Above)) {
        Some((worst, more)) => {
            format!("slower by more than {}: {worst}{more} {flag}", percent(limit))
        }
        None => format!("cells that base measured fail now {flag}"),
    }
}

/// What may be slower by more than `limit` in a comparison that does not fail; nothing where all is surely
/// within it.
fn maybe(limit: f64, exit: Exit, comparison: &Comparison) -> Option<String> {
    let state = if exit == Exit::Done { "passed" } else { "nothing could be decided (exit 4)" };
    let seen = match worst(within(limit, comparison, Bound::Maybe)) {
        Some((worst, more)) => {
            format!("may be slower by more than {}: {worst}{more}", percent(limit))
        }
        None if exit == Exit::Done => {
            return left_out_text(comparison).map(|what| format!("{state}; {what}"));
        }
        None => "no headline series has a ratio".to_owned(),
    };
    let left_out = left_out_text(comparison).map(|what| format!("; {what}"));
    Some(format!("{state}; {seen}{}", left_out.unwrap_or_default()))
}

/// What lies to `limit` like this.
fn within(limit: f64, comparison: &Comparison, bound: Bound) -> Vec<Slowdown<'_>> {
    let mut all = slowdowns(comparison, limit);
    all.retain(|slowdown| slowdown.bound == bound);
    all
}

/// The largest of these slowdowns, as text, and how many more of its kind there are: whole series, which come before
/// points, or points.
#[expect(clippy::needless_pass_by_value, reason = "the caller has no more use for it")]
fn worst(such: Vec<Slowdown<'_>>) -> Option<(String, String)> {
    let worst = such.iter().max_by(|first, second| {
        let rank = |slowdown: &Slowdown| (slowdown.point.is_none(), slowdown.factor.low);
        let ((is_series, low), (is_second_series, second_low)) = (rank(first), rank(second));
        is_series.cmp(&is_second_series).then(low.total_cmp(&second_low))
    })?;
    let Slowdown { workload, label, point, factor: by, .. } = worst;
    let at = point
        .map(|(axis, point)| format!(" at {}", counted(&findings::format::count(point), axis)));
    let text = format!(
        "{workload}: {label}{} {} (95 % {} to {})",
        at.unwrap_or_default(),
        factor(by.value),
        significant(by.low),
        significant(by.high)
    );
    let is_alike = |slowdown: &&Slowdown| slowdown.point.is_some() == point.is_some();
    let more = match (such.iter().filter(is_alike).count() - 1, point) {
        (0, _) => String::new(),
        (more, None) => format!(", and {more} more series"),
        (1, Some(_)) => ", and 1 more point".to_owned(),
        (more, Some(_)) => format!(", and {more} more points"),
    };
    Some((text, more))
}

/// Whether cells of a headline metric fail that base measured.
fn fails_now(comparison: &Comparison) -> bool {
    comparison.changes.iter().any(is_failure)
}

fn is_failure(change: &Change) -> bool {
    change.headline
        && change.kind == ChangeKind::Outcome
        && change.direction == Some(Direction::Worse)
}

/// What fails and was measured in base, where the gate refuses nothing else: no figure is worse. Else nothing.
pub fn only_failures(gate: Option<Gate>, comparison: &Comparison) -> BTreeSet<Failure> {
    let mut figures = comparison.clone();
    figures.changes.retain(|change| !is_failure(change));
    let is_refused = |comparison: &Comparison| exit(gate, comparison) == Exit::Different;
    if !is_refused(comparison) || is_refused(&figures) {
        return BTreeSet::new();
    }
    comparison.changes.iter().filter(|change| is_failure(change)).flat_map(failures).collect()
}

/// What fails by a change.
fn failures(change: &Change) -> Vec<Failure> {
    let parts: Vec<FailedPart> = match &change.detail {
        ChangeDetail::Failed { points, .. } => {
            points.iter().copied().map(FailedPart::Point).collect()
        }
        _ => vec![FailedPart::Series],
    };
    let failure = |subject: &String, part: &FailedPart| Failure {
        workload: change.workload.clone(),
        parameters: change.parameters.clone(),
        subject: subject.clone(),
        part: part.clone(),
    };
    let of_subject = |subject| parts.iter().map(move |part| failure(subject, part));
    change.subjects.iter().flat_map(of_subject).collect()
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
    parts.extend(left_out_text(comparison));
    (parts.len() > 1).then(|| parts.join("; "))
}

/// What the comparison leaves out: `left out: poll is in base only, and 1 more`.
fn left_out_text(comparison: &Comparison) -> Option<String> {
    named("left out", &comparison.left_out.iter().collect::<Vec<_>>())
}

/// The first of those left out, behind a word, and how many more there are.
fn named(word: &str, all: &[&LeftOut]) -> Option<String> {
    let (first, rest) = all.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
    Some(format!("{word}: {}{more}", left_out::of_comparison(first).what))
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
    use model::{FailureReason, MetricInfo, RunState, RunSummary};

    fn summary() -> RunSummary {
        RunSummary {
            number: 1,
            id: "00000000000000a1".to_owned(),
            state: RunState::Complete,
            cells_ended: 1,
            cells_planned: 1,
            ..RunSummary::default()
        }
    }

    /// A gate that ignores nothing.
    #[expect(clippy::unnecessary_wraps, reason = "as the gates that it is compared with")]
    fn gate(refused: Refused) -> Option<Gate> {
        Some(Gate { refused, ignores_missing: false })
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
            parameters: model::Parameters::new(),
            metric: MetricInfo {
                name: "loop".to_owned(),
                about: String::new(),
                unit: "ns".to_owned(),
                lower_is_better: true,
                ..MetricInfo::default()
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
            fail_above: None,
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
        let gate = gate(Refused::On(FailOn::Slower));
        let exit = |overall, point| exit(gate, &comparison(overall, point));
        assert_eq!(exit(Verdict::Undecided, Verdict::Same), Exit::Inconclusive);
        assert_eq!(exit(Verdict::Same, Verdict::Undecided), Exit::Done);
        assert_eq!(exit(Verdict::Undecided, Verdict::Slower), Exit::Different);
    }

    #[test]
    fn a_change_of_which_the_direction_is_a_guess_passes_no_gate() {
        for verdict in [Verdict::Slower, Verdict::Faster] {
            let mut comparison = comparison(verdict, Verdict::Same);
            comparison.tables[0].metric.direction_assumed = true;
            for refused in [Refused::On(FailOn::Slower), Refused::Above(0.5)] {
                assert_eq!(exit(gate(refused), &comparison), Exit::Inconclusive);
                let why = why(gate(refused), Exit::Inconclusive, &comparison).unwrap();
                assert!(why.contains("loop of poll changed, and it is a guess"), "{why}");
            }
            let changed = gate(Refused::On(FailOn::Changed));
            assert_eq!(exit(changed, &comparison), Exit::Different);
        }
        let mut same = comparison(Verdict::Same, Verdict::Same);
        same.tables[0].metric.direction_assumed = true;
        assert_eq!(exit(gate(Refused::On(FailOn::Slower)), &same), Exit::Done);
    }

    #[test]
    fn a_bisection_takes_nothing_undecided_for_good() {
        let [on_slower, above] = [Refused::On(FailOn::Slower), Refused::Above(0.5)].map(gate);
        let judged = |comparison: &Comparison| {
            let exit = bisect_exit(on_slower, comparison);
            (exit, bisect_reason(on_slower, exit, comparison).unwrap())
        };
        let mut comparison = comparison(Verdict::Same, Verdict::Undecided);
        let good = "good: no series is slower (exit 0)".to_owned();
        assert_eq!(judged(&comparison), (Exit::Done, good));
        let mut open = comparison.tables[0].rows[0].clone();
        open.overall.verdict = Verdict::Undecided;
        comparison.tables[0].rows.push(open);
        assert_eq!(exit(on_slower, &comparison), Exit::Done);
        let (code, reason) = judged(&comparison);
        assert_eq!(code, Exit::Inconclusive);
        assert!(
            reason.starts_with("can't tell: 1 series may be slower: poll: poll ×1.00"),
            "{reason}"
        );
        let slower =
            Ratio { ratio: Estimate { value: 1.3, low: 1.2, high: 1.4 }, verdict: Verdict::Slower };
        comparison.tables[0].rows[0].overall = slower;
        let (code, reason) = judged(&comparison);
        let wanted = "bad: slower: poll: poll ×1.30 (95 % 1.20 to 1.40) (exit 1)";
        assert_eq!((code, reason.as_str()), (Exit::Different, wanted));
        assert_eq!(bisect_exit(above, &comparison), Exit::Done, "slower, and surely by less");
        comparison.tables[0].rows[1].overall.ratio.high = 1.6;
        assert_eq!(bisect_exit(above, &comparison), Exit::Inconclusive);
    }

    #[test]
    fn a_bisection_takes_no_undecided_point_of_several_for_good() {
        let mut comparison = comparison(Verdict::Same, Verdict::Undecided);
        comparison.tables[0].points.push(10);
        let cells = &mut comparison.tables[0].rows[0].cells;
        let mut same = cells[0].clone();
        same.as_mut().unwrap().ratio.verdict = Verdict::Same;
        cells.push(same);
        let gate = gate(Refused::On(FailOn::Slower));
        assert_eq!(exit(gate, &comparison), Exit::Done);
        let exit = bisect_exit(gate, &comparison);
        assert_eq!(exit, Exit::Inconclusive);
        let reason = bisect_reason(gate, exit, &comparison).unwrap();
        let wanted = "can't tell: 1 point may be slower: poll: poll at 1";
        assert!(reason.starts_with(wanted), "{reason}");
    }

    #[test]
    fn no_gate_passes_on_what_new_lacks() {
        let mut comparison = comparison(Verdict::Same, Verdict::Same);
        comparison.tables[0].rows[0].overall.ratio = Estimate { value: 1.0, low: 0.99, high: 1.01 };
        let subjects = |side, metric: Option<&str>| LeftOut::Subjects {
            side,
            workload: "poll".to_owned(),
            metric: metric.map(str::to_owned),
            labels: vec!["select".to_owned()],
        };
        let gates =
            [Refused::On(FailOn::Slower), Refused::On(FailOn::Changed), Refused::Above(0.1)];
        for gate in gates.map(gate) {
            comparison.left_out = vec![subjects(Side::New, None)];
            assert_eq!(exit(gate, &comparison), Exit::Done, "what is new can't be worse");
            comparison.left_out = vec![subjects(Side::Base, None)];
            assert_eq!(exit(gate, &comparison), Exit::Inconclusive);
            assert_eq!(bisect_exit(gate, &comparison), Exit::Inconclusive);
            let reason = "can't pass (exit 4); not judged: poll: select only in base \
                          (--ignore-missing lets it)";
            assert_eq!(why(gate, Exit::Inconclusive, &comparison).as_deref(), Some(reason));
            let narrowed = gate.map(|gate| Gate { ignores_missing: true, ..gate });
            assert_eq!(exit(narrowed, &comparison), Exit::Done);
            // Of other metrics, only where any change fails the gate.
            comparison.left_out = vec![subjects(Side::Base, Some("cpu"))];
            let is_any = gate.is_some_and(|gate| gate.refused == Refused::On(FailOn::Changed));
            let wanted = if is_any { Exit::Inconclusive } else { Exit::Done };
            assert_eq!(exit(gate, &comparison), wanted);
        }
    }

    #[test]
    fn cells_that_fail_are_kept_apart_from_figures_that_are_worse() {
        let failed = Change {
            kind: ChangeKind::Outcome,
            direction: Some(Direction::Worse),
            workload: "poll".to_owned(),
            parameters: model::Parameters::new(),
            metric: "loop".to_owned(),
            subjects: vec!["poll".to_owned()],
            detail: ChangeDetail::Failed {
                points: vec![1, 10],
                reason: FailureReason::DeadlineExceeded { deadline_ms: 7, activity: String::new() },
            },
            headline: true,
            attribution: None,
        };
        let unavailable = Change {
            subjects: vec!["select".to_owned()],
            detail: ChangeDetail::Unavailable { reason: String::new() },
            ..failed.clone()
        };
        let mut comparison = comparison(Verdict::Same, Verdict::Same);
        comparison.tables[0].rows[0].overall.ratio = Estimate { value: 1.0, low: 0.9, high: 1.02 };
        let [slower, changed] = [FailOn::Slower, FailOn::Changed].map(Refused::On);
        for gate in [slower, changed, Refused::Above(0.1)].map(gate) {
            let mut comparison = comparison.clone();
            assert!(only_failures(gate, &comparison).is_empty());
            comparison.changes.extend([&failed, &unavailable].map(Clone::clone));
            let failures = only_failures(gate, &comparison).into_iter();
            let failures: Vec<_> =
                failures.map(|cell| (cell.workload, cell.subject, cell.part)).collect();
            let wanted = [
                ("poll", FailedPart::Point(1)),
                ("poll", FailedPart::Point(10)),
                ("select", FailedPart::Series),
            ];
            let wanted = wanted.map(|(name, part)| ("poll".to_owned(), name.to_owned(), part));
            assert_eq!(failures, wanted);
            // A figure needs no second boot.
            let slower = Estimate { value: 1.3, low: 1.2, high: 1.4 };
            comparison.tables[0].rows[0].overall =
                Ratio { ratio: slower, verdict: Verdict::Slower };
            assert!(only_failures(gate, &comparison).is_empty());
        }
    }

    #[test]
    fn turns_are_not_advised_to_who_took_turns() {
        let mut comparison = comparison(Verdict::Undecided, Verdict::Undecided);
        let why = |comparison: &Comparison| {
            why(gate(Refused::On(FailOn::Slower)), Exit::Inconclusive, comparison).unwrap()
        };
        assert!(why(&comparison).contains("knee ab"));
        comparison.paired = true;
        assert!(!why(&comparison).contains("knee ab"));
    }

    #[test]
    fn an_open_gate_says_what_it_could_not_see() {
        let why = |comparison: &Comparison| {
            why(gate(Refused::On(FailOn::Slower)), Exit::Done, comparison)
        };
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

    #[test]
    fn a_limit_judges_the_whole_interval() {
        let judged = |low: f64, high: f64| {
            let mut comparison = comparison(Verdict::Undecided, Verdict::Undecided);
            let estimate = Estimate { value: (low * high).sqrt(), low, high };
            comparison.tables[0].rows[0].overall.ratio = estimate;
            comparison.tables[0].rows[0].cells.clear();
            let gate = gate(Refused::Above(0.1));
            let exit = exit(gate, &comparison);
            (exit, why(gate, exit, &comparison).unwrap_or_default())
        };
        let (code, reason) = judged(1.12, 1.25);
        assert_eq!(code, Exit::Different);
        let wanted = "slower by more than 10 %: poll: poll ×1.18 (95 % 1.12 to 1.25) (--fail-above 10%, exit 3)";
        assert_eq!(reason, wanted);
        let (code, reason) = judged(1.05, 1.2);
        assert_eq!(code, Exit::Inconclusive);
        assert!(reason.contains("may be slower by more than 10 %: poll: poll ×1.12"), "{reason}");
        // Slower, and surely by less than what is refused.
        assert_eq!(judged(1.02, 1.07), (Exit::Done, String::new()));
    }

    #[test]
    fn a_point_above_the_limit_fails_and_a_series_below_it_passes() {
        let mut comparison = comparison(Verdict::Same, Verdict::Slower);
        let gate = gate(Refused::Above(0.1));
        comparison.tables[0].rows[0].overall.ratio = Estimate { value: 1.0, low: 0.98, high: 1.02 };
        assert_eq!(exit(gate, &comparison), Exit::Done);
        let mut with_point = |ratio| {
            let point = comparison.tables[0].rows[0].cells[0].as_mut().unwrap();
            point.ratio.ratio = ratio;
            comparison.clone()
        };
        let above = with_point(Estimate { value: 1.3, low: 1.2, high: 1.4 });
        assert_eq!(exit(gate, &above), Exit::Different);
        let comparison = with_point(Estimate { value: 1.1, low: 0.9, high: 1.3 });
        let reason = why(gate, exit(gate, &comparison), &comparison).unwrap();
        assert!(
            reason.starts_with("passed; may be slower by more than 10 %: poll: poll at 1"),
            "{reason}"
        );
    }
}
