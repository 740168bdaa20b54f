//! The verdict of a gate on a comparison.

use super::flags::{FailOn, Gate, Refused};
use super::junit::{Case, Outcome};
use crate::commands::measure::ab::gate::CPU_TIME;
use crate::exit::Exit;
use crate::remedies::DIRECTION_IS_A_GUESS;
use ::model::Parameters;
use analysis::compare::{
    Bound, Change, ChangeDetail, ChangeKind, ComparedTable, Comparison, Direction, LeftOut,
    Slowdown, Verdict, bound, slowdowns,
};
use analysis::{Class, Row, Table};
use findings::format::{counted, factor, interval, percent, qualifiers, significant};
use findings::left_out;
use findings::run_changes::claim;
use std::collections::BTreeSet;

#[derive(Debug, PartialEq, Eq)]
pub struct GateVerdict {
    pub exit: Exit,
    pub why: Option<String>,
}

/// What fails in new and was measured in base.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    pub workload: String,
    pub parameters: Parameters,
    pub subject: String,
    pub part: FailedPart,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailedPart {
    /// All cells of a point.
    Point(u64),
    /// The end of its trajectory, or the subject at all.
    Series,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Refused,
    Open,
    /// It changed, and it is a guess which way is worse.
    Guess,
    Passed,
}

pub struct Evidence<'a> {
    refused: Refused,
    comparison: &'a Comparison,
    /// Every series and point that the gate judges.
    judged: Vec<(State, Slowdown<'a>)>,
    /// Every series whose growth it judges, by workload and label.
    grown: Vec<(State, [String; 2])>,
    /// What the gate refuses besides.
    changes: Vec<&'a Change>,
    /// Rounds that fail, and base's did not, by chance or not.
    failing: Vec<&'a Change>,
    /// What base measured and the gate can't judge.
    missing: Vec<&'a LeftOut>,
}

impl<'a> Evidence<'a> {
    pub fn new(gate: Gate, comparison: &'a Comparison) -> Self {
        let Gate { refused, classes, ignores_missing } = gate;
        let any_metric = refused == Refused::On(FailOn::Changed);
        let mut judged = slowdowns(comparison);
        judged.retain(|slowdown| any_metric || slowdown.table.headline);
        let judges_figures = refused != Refused::On(FailOn::Class);
        if !judges_figures {
            judged.clear();
        }
        let is_worse_class =
            |change: &Change| classes && change.kind == ChangeKind::Growth && is_worse(change);
        let is_refused = |change: &&Change| match refused {
            Refused::On(FailOn::Changed) => change.kind != ChangeKind::Part && !may_fail(change),
            Refused::On(FailOn::Slower) => is_worse(change) && !is_guess(comparison, change),
            Refused::On(FailOn::Class) | Refused::Above(_) => {
                is_failure(change) || is_worse_class(change) && !is_guess(comparison, change)
            }
        };
        let is_missing = |part: &&LeftOut| !ignores_missing && part.is_unjudged(any_metric);
        Self {
            refused,
            comparison,
            judged: judged
                .into_iter()
                .map(|slowdown| (state(refused, &slowdown), slowdown))
                .collect(),
            // Where each figure passes, no class can be worse by more.
            grown: if judges_figures { Vec::new() } else { growths(comparison) },
            changes: comparison.changes.iter().filter(is_refused).collect(),
            failing: comparison.changes.iter().filter(|change| may_fail(change)).collect(),
            missing: comparison.left_out.iter().filter(is_missing).collect(),
        }
    }

    /// 3 where something is refused, 0 where everything surely passes, else 4; or in the words of `git bisect run`.
    pub fn verdict(&self, is_bisection: bool) -> GateVerdict {
        let is_refused = self.within(State::Refused).next().is_some() || !self.changes.is_empty();
        let of_figures = self.judged.iter().map(|(state, _)| *state);
        let mut states = of_figures.chain(self.grown.iter().map(|(state, _)| *state)).peekable();
        let passes = states.peek().is_some()
            && self.missing.is_empty()
            && self.failing.is_empty()
            && states.all(|state| state == State::Passed);
        let (exit, why) = match (is_refused, passes, is_bisection) {
            (true, _, false) => (
                Exit::Different,
                Some(format!("{} ({}, exit 3)", self.refused_text(), self.flag())),
            ),
            (true, _, true) => {
                (Exit::Different, Some(format!("bad: {} (exit 1)", self.refused_text())))
            }
            (_, true, false) => (Exit::Done, self.left_out()),
            (_, true, true) => {
                (Exit::Done, Some(format!("good: no series is {} (exit 0)", self.what())))
            }
            (_, _, false) => {
                (Exit::Inconclusive, Some(format!("can't pass (exit 4); {}", self.open_text(true))))
            }
            (_, _, true) => (
                Exit::Inconclusive,
                Some(format!("can't tell: {} (exit 125)", self.open_text(false))),
            ),
        };
        GateVerdict { exit, why }
    }

    /// What fails and was measured in base, where nothing else is refused: no figure is worse. Else nothing.
    pub fn only_failures(&self) -> BTreeSet<Failure> {
        let is_other = self.within(State::Refused).next().is_some()
            || !self.changes.iter().all(|change| is_failure(change));
        let changes = self.changes.iter().filter(|_| !is_other);
        changes.flat_map(|change| failures(change)).collect()
    }

    pub fn cases(&self) -> Vec<Case> {
        let figures = self.judged.iter().map(|(state, slowdown)| {
            let Slowdown { table, label, .. } = slowdown;
            let name = format!("{label}{}", position(self.comparison, slowdown));
            let may_be = if *state == State::Refused { "" } else { "it may be " };
            let why = format!("{may_be}{}: {}", self.what(), ratio(slowdown));
            Case { workload: table.workload.clone(), name, outcome: outcome(*state, why) }
        });
        let grown = self.grown.iter().map(|(state, name)| {
            let [workload, name] = name.clone();
            let why = "how it grows is not decided in both".to_owned();
            Case { workload, name, outcome: outcome(*state, why) }
        });
        let is_other = |change: &&&Change| change.kind != ChangeKind::Figure;
        let changes = self.changes.iter().filter(is_other).map(|change| {
            let text = claim(self.comparison, change);
            let name = format!("{}, as a whole", change.subjects.join(", "));
            Case { workload: change.workload.clone(), name, outcome: Outcome::Refused(text) }
        });
        let failing = self.failing.iter().map(|change| {
            let (workload, name) = (change.workload.clone(), change.subjects.join(", "));
            Case { workload, name, outcome: Outcome::Open(claim(self.comparison, change)) }
        });
        let missing = self.missing.iter().map(|part| {
            let what = left_out::of_comparison(part).what;
            let outcome = Outcome::Open("base only: it is not judged".to_owned());
            Case { workload: "comparison".to_owned(), name: what, outcome }
        });
        figures.chain(grown).chain(changes).chain(failing).chain(missing).collect()
    }

    fn within(&self, wanted: State) -> impl Iterator<Item = &Slowdown<'a>> {
        self.judged.iter().filter(move |(state, _)| *state == wanted).map(|(_, slowdown)| slowdown)
    }

    fn what(&self) -> String {
        match self.refused {
            Refused::On(FailOn::Changed) => "changed".to_owned(),
            Refused::On(FailOn::Class) => "of a worse class".to_owned(),
            Refused::Above(limit) if limit > 0.0 => {
                format!("slower by more than {}", percent(limit))
            }
            _ => "slower".to_owned(),
        }
    }

    fn flag(&self) -> String {
        let only_grows = self.within(State::Refused).next().is_none()
            && self.changes.iter().all(|change| change.kind == ChangeKind::Growth);
        match self.refused {
            Refused::Above(_) if only_grows => "--fail-on class".to_owned(),
            Refused::On(FailOn::Class) => "--fail-on class".to_owned(),
            Refused::On(FailOn::Changed) => "--fail-on changed".to_owned(),
            Refused::On(FailOn::Slower) => "--fail-on slower".to_owned(),
            Refused::Above(limit) => format!("--fail-above {}", percent(limit).replace(' ', "")),
        }
    }

    /// The largest of what is refused: `slower by more than 10 %: poll: poll ×1.18 (95 % CI 1.12–1.25), and 1 more series`.
    fn refused_text(&self) -> String {
        if self.refused == Refused::On(FailOn::Changed) {
            return "something changed".to_owned();
        }
        let worst = self.within(State::Refused).max_by(|first, second| {
            let order = first.point.is_none().cmp(&second.point.is_none());
            order.then(first.factor.low.total_cmp(&second.factor.low))
        });
        let Some(worst) = worst else {
            let mut changes = self.changes.iter().filter(|change| !is_failure(change));
            return changes.next().map_or_else(
                || "more fails than in base".to_owned(),
                |change| format!("{}: {}", change.workload, claim(self.comparison, change)),
            );
        };
        let is_alike = |slowdown: &&Slowdown| slowdown.point.is_some() == worst.point.is_some();
        let more = match self.within(State::Refused).filter(is_alike).count() - 1 {
            0 => String::new(),
            more => format!(", and {more} more {}", noun(worst.point.is_some(), more)),
        };
        format!("{}: {}{more}", self.what(), text(self.comparison, worst))
    }

    /// Why the gate can't decide: `2 of 4 series may be slower; the widest is poll: poll at 1 ×1.12 (95 % CI 0.90–1.40)`.
    fn open_text(&self, with_remedy: bool) -> String {
        let mut parts = Vec::new();
        parts.extend(self.within(State::Guess).next().map(|Slowdown { table, .. }| {
            format!(
                "{} of {} changed, and {DIRECTION_IS_A_GUESS}",
                table.metric.name, table.workload
            )
        }));
        let width = |slowdown: &&Slowdown| slowdown.factor.high / slowdown.factor.low;
        let widest = self.within(State::Open).max_by(|a, b| width(a).total_cmp(&width(b)));
        if let Some(widest) = widest {
            let verb = if self.refused == Refused::On(FailOn::Changed) { "have" } else { "be" };
            parts.push(format!("{} may {verb} {}", self.open_count(), self.what()));
            parts.push(format!("the widest is {}", text(self.comparison, widest)));
            let remedy = if self.comparison.paired { "" } else { ", or use `knee ab`" };
            parts.extend(with_remedy.then(|| format!("measure more rounds{remedy}")));
            let is_decided_by_cpu = with_remedy && self.is_decided_by_cpu(&widest.table.workload);
            parts.extend(
                is_decided_by_cpu
                    .then(|| format!("CPU time decides in the same cells: --headline {CPU_TIME}")),
            );
        }
        let mut undecided = self.grown.iter().filter(|(state, _)| *state == State::Open);
        parts.extend(undecided.next().map(|(_, [workload, label])| {
            let remedy =
                if with_remedy { ": take more points, further apart, or more rounds" } else { "" };
            format!("{workload}: {label}: how it grows is not decided in both{remedy}")
        }));
        parts.extend(self.failing.iter().map(|change| claim(self.comparison, change)));
        let missing = named("not judged", &self.missing);
        parts.extend(missing.map(|missing| format!("{missing} (--ignore-missing lets it)")));
        if parts.is_empty() && self.refused == Refused::On(FailOn::Class) {
            "no headline series has a growth: it takes a cost at three points or more".to_owned()
        } else if parts.is_empty() {
            "no headline series has a ratio".to_owned()
        } else {
            parts.join("; ")
        }
    }

    /// Whether CPU time is no headline metric of a workload, may be, and would leave nothing open.
    fn is_decided_by_cpu(&self, workload: &str) -> bool {
        let mut cpu = slowdowns(self.comparison);
        cpu.retain(|Slowdown { table, .. }| {
            table.workload == workload && table.metric.name == CPU_TIME && !table.headline
        });
        let is_decided = |slowdown: &Slowdown<'_>| {
            matches!(state(self.refused, slowdown), State::Passed | State::Refused)
        };
        workloads::find(workload).is_some_and(|row| row.about().takes_custom("headline"))
            && !cpu.is_empty()
            && cpu.iter().all(is_decided)
    }

    /// How many are open, and of how many: `2 of 4 series and 3 of 28 points`.
    fn open_count(&self) -> String {
        let counts = [false, true].map(|is_point| {
            let all =
                self.judged.iter().filter(|(_, slowdown)| slowdown.point.is_some() == is_point);
            let open = all.clone().filter(|(state, _)| *state == State::Open).count();
            let all = all.count();
            (open > 0).then(|| format!("{open} of {all} {}", noun(is_point, all)))
        });
        counts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }

    /// What an open gate leaves out: `passed; left out: poll is in base only, and 1 more`.
    fn left_out(&self) -> Option<String> {
        let all: Vec<&LeftOut> = self.comparison.left_out.iter().collect();
        named("left out", &all).map(|text| format!("passed; {text}"))
    }
}

/// What a gate says of a series or point. Where it is a guess which way is worse, it passes if it does both ways.
fn state(refused: Refused, slowdown: &Slowdown<'_>) -> State {
    let judge = |factor, verdict| match (refused, verdict) {
        (Refused::Above(limit), _) => match bound(factor, limit) {
            Bound::Above => State::Refused,
            Bound::Maybe => State::Open,
            Bound::Below => State::Passed,
        },
        (_, Verdict::Undecided) => State::Open,
        (_, Verdict::Slower) | (Refused::On(FailOn::Changed), Verdict::Faster) => State::Refused,
        _ => State::Passed,
    };
    let own = judge(slowdown.factor, slowdown.verdict);
    if !slowdown.table.metric.direction_assumed || refused == Refused::On(FailOn::Changed) {
        return own;
    }
    let reverse = match slowdown.verdict {
        Verdict::Slower => Verdict::Faster,
        Verdict::Faster => Verdict::Slower,
        verdict => verdict,
    };
    match (own, judge(slowdown.factor.inverse(), reverse)) {
        (State::Refused, _) | (_, State::Refused) => State::Guess,
        (State::Passed, State::Passed) => State::Passed,
        _ => State::Open,
    }
}

/// Whether the growth of each headline cost is decided in both runs. One that surely got worse is a change.
fn growths(comparison: &Comparison) -> Vec<(State, [String; 2])> {
    let [base, new] = &comparison.sources;
    let costs = new.iter().filter(|table| table.headline && table.points.len() > 1);
    costs
        .flat_map(|table| {
            let is_of = |before: &&Table| {
                before.workload == table.workload
                    && before.parameters == table.parameters
                    && before.metric.name == table.metric.name
            };
            let before = base.iter().find(is_of);
            let both = move |row: &Row| {
                let before = before.and_then(|table| table.row(&row.subject))?.growth.as_ref()?;
                let growths = [before, row.growth.as_ref()?];
                let is_open = growths
                    .iter()
                    .any(|growth| matches!(growth.class, Class::Undecided | Class::Grows));
                let name = [table.workload.clone(), row.label.clone()];
                Some((if is_open { State::Open } else { State::Passed }, name))
            };
            table.rows.iter().filter_map(both)
        })
        .collect()
}

/// `poll: poll at 100 watched descriptors ×1.18 (95 % CI 1.12–1.25)`.
fn text(comparison: &Comparison, slowdown: &Slowdown<'_>) -> String {
    let Slowdown { table, label, .. } = slowdown;
    format!("{}: {label}{} {}", table.workload, position(comparison, slowdown), ratio(slowdown))
}

/// ` at 100 watched descriptors (wait, active = 10)`: which of a subject's figures, and of which table.
fn position(comparison: &Comparison, Slowdown { table, point, .. }: &Slowdown<'_>) -> String {
    let at = point.map(|at| format!(" at {}", counted(&findings::format::count(at), &table.axis)));
    let metric = (!table.headline).then_some(table.metric.name.as_str());
    let own = &table.parameters;
    let parts = qualifiers(metric, own, |key| {
        let mut tables =
            comparison.tables.iter().filter(|second| second.workload == table.workload);
        tables.any(|second| second.parameters.get(key) != own.get(key))
    });
    at.unwrap_or_default() + &parts
}

/// `×1.18 (95 % CI 1.12–1.25)`.
fn ratio(Slowdown { factor: by, .. }: &Slowdown<'_>) -> String {
    format!("{}{}", factor(by.value), interval(*by, significant))
}

fn outcome(state: State, why: String) -> Outcome {
    match state {
        State::Passed => Outcome::Passed,
        State::Refused => Outcome::Refused(why),
        State::Open | State::Guess => Outcome::Open(why),
    }
}

fn noun(is_point: bool, count: usize) -> &'static str {
    match (is_point, count) {
        (false, _) => "series",
        (true, 1) => "point",
        (true, _) => "points",
    }
}

fn named(word: &str, all: &[&LeftOut]) -> Option<String> {
    let (first, rest) = all.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
    Some(format!("{word}: {}{more}", left_out::of_comparison(first).what))
}

/// Whether a headline metric is worse: slower, of a worse growth or trend, or its cells failed.
fn is_worse(change: &Change) -> bool {
    change.headline && change.direction == Some(Direction::Worse)
}

/// Whether cells of a headline metric fail that base measured.
fn is_failure(change: &Change) -> bool {
    is_worse(change) && change.kind == ChangeKind::Outcome
}

/// Whether rounds of a headline metric fail, and too few tell whether by chance.
fn may_fail(change: &Change) -> bool {
    change.headline && change.kind == ChangeKind::Outcome && change.direction.is_none()
}

fn is_guess(comparison: &Comparison, change: &Change) -> bool {
    let is_of_change = |table: &&ComparedTable| {
        table.workload == change.workload && table.metric.name == change.metric
    };
    let table = comparison.tables.iter().find(is_of_change);
    !is_failure(change) && table.is_some_and(|table| table.metric.direction_assumed)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Estimate;
    use analysis::compare::{ComparedPoint, ComparedRow, Ratio, Side, Terms, compare_among};
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

    const SLOWER: Refused = Refused::On(FailOn::Slower);
    const CHANGED: Refused = Refused::On(FailOn::Changed);
    const CLASS: Refused = Refused::On(FailOn::Class);

    fn estimate(low: f64, high: f64) -> Estimate {
        Estimate { value: (low * high).sqrt(), low, high }
    }

    fn judged(refused: Refused, comparison: &Comparison) -> (Exit, String) {
        let gate = Gate { refused, classes: refused == CLASS, ignores_missing: false };
        let GateVerdict { exit, why } = Evidence::new(gate, comparison).verdict(false);
        (exit, why.unwrap_or_default())
    }

    fn exit(refused: Refused, comparison: &Comparison) -> Exit {
        judged(refused, comparison).0
    }

    /// A comparison of one series with two points, the second of which is the same.
    fn comparison(overall: Verdict, point: Verdict) -> Comparison {
        let ratio = |verdict| Ratio {
            ratio: match verdict {
                Verdict::Slower => estimate(1.2, 1.4),
                Verdict::Faster => estimate(0.7, 0.8),
                Verdict::Same => estimate(0.99, 1.01),
                Verdict::Undecided => estimate(0.8, 1.25),
            },
            verdict,
        };
        let cell = |verdict| {
            let median = estimate(1.0, 1.0);
            Some(ComparedPoint { base: median, new: median, ratio: ratio(verdict) })
        };
        let row = ComparedRow {
            subject: "poll".to_owned(),
            label: "poll".to_owned(),
            overall: ratio(overall),
            cells: vec![cell(point), cell(Verdict::Same)],
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
            axis: "pipes".to_owned(),
            points: vec![1, 10],
            rows: vec![row],
        };
        Comparison {
            base: summary(),
            new: summary(),
            margin: 0.05,
            fail_above: None,
            paired: false,
            two_machines: false,
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
    fn only_what_is_decided_everywhere_passes() {
        use Verdict::{Faster, Same, Slower, Undecided};
        let limits = [SLOWER, CHANGED, Refused::Above(0.1)];
        let cases = [
            ((Same, Same), [Exit::Done; 3]),
            ((Undecided, Same), [Exit::Inconclusive; 3]),
            ((Same, Undecided), [Exit::Inconclusive; 3]),
            ((Undecided, Slower), [Exit::Different; 3]),
            ((Slower, Undecided), [Exit::Different; 3]),
            ((Faster, Same), [Exit::Done, Exit::Different, Exit::Done]),
        ];
        for ((overall, point), wanted) in cases {
            let comparison = comparison(overall, point);
            let exits = limits.map(|refused| exit(refused, &comparison));
            assert_eq!(exits, wanted, "{overall:?} {point:?}");
        }
        // Undecided, and surely slower by less.
        assert_eq!(exit(Refused::Above(0.3), &comparison(Undecided, Undecided)), Exit::Done);
        // The point says what its series says, with an interval that is wider.
        let mut single = comparison(Same, Undecided);
        single.tables[0].rows[0].cells[1] = None;
        assert_eq!(exit(SLOWER, &single), Exit::Done);
        single.tables.clear();
        let none = "can't pass (exit 4); no headline series has a ratio".to_owned();
        assert_eq!(judged(SLOWER, &single), (Exit::Inconclusive, none));
    }

    #[test]
    fn what_is_open_is_counted_and_the_widest_named() {
        let mut comparison = comparison(Verdict::Undecided, Verdict::Undecided);
        let mut same = comparison.tables[0].rows[0].clone();
        same.overall = same.cells[1].as_ref().unwrap().ratio.clone();
        same.cells[0] = same.cells[1].clone();
        comparison.tables[0].rows.push(same);
        comparison.tables[0].rows[0].cells[0].as_mut().unwrap().ratio.ratio = estimate(0.5, 2.0);
        let wanted = "can't pass (exit 4); 1 of 2 series and 1 of 4 points may be slower; the widest is poll: poll \
                      at 1 pipe ×1.00 (95 % CI 0.500–2.00); measure more rounds, or use `knee ab`";
        assert_eq!(judged(SLOWER, &comparison).1, wanted);
        let limit = judged(Refused::Above(0.1), &comparison).1;
        assert!(limit.contains("1 of 4 points may be slower by more than 10 %; "), "{limit}");
        assert!(judged(CHANGED, &comparison).1.contains("points may have changed; "));
        comparison.paired = true;
        assert!(judged(SLOWER, &comparison).1.ends_with("; measure more rounds"));
        comparison.tables[0].workload = "command".to_owned();
        let mut cpu = comparison.tables[0].clone();
        (cpu.headline, cpu.metric.name) = (false, CPU_TIME.to_owned());
        comparison.tables.push(cpu.clone());
        assert!(judged(SLOWER, &comparison).1.ends_with("; measure more rounds"), "it is open too");
        cpu.rows.remove(0);
        comparison.tables[1] = cpu;
        let decided = "; CPU time decides in the same cells: --headline cpu";
        assert!(judged(SLOWER, &comparison).1.ends_with(decided));
    }

    #[test]
    fn a_change_of_which_the_direction_is_a_guess_passes_no_gate() {
        for verdict in [Verdict::Slower, Verdict::Faster] {
            let mut comparison = comparison(verdict, Verdict::Same);
            comparison.tables[0].metric.direction_assumed = true;
            for refused in [SLOWER, Refused::Above(0.1)] {
                let (exit, why) = judged(refused, &comparison);
                assert_eq!(exit, Exit::Inconclusive);
                assert!(why.contains("loop of poll changed, and it is a guess"), "{why}");
            }
            assert_eq!(exit(CHANGED, &comparison), Exit::Different);
            // Whichever way is worse, it is not so much.
            assert_eq!(exit(Refused::Above(0.5), &comparison), Exit::Done);
            // What is surely slower, is so all the same.
            let mut slower = comparison.tables[0].clone();
            slower.metric = MetricInfo { direction_assumed: false, ..slower.metric };
            slower.rows[0].overall = Ratio { ratio: estimate(1.2, 1.4), verdict: Verdict::Slower };
            comparison.tables.push(slower);
            assert_eq!(exit(SLOWER, &comparison), Exit::Different);
        }
        let mut same = comparison(Verdict::Same, Verdict::Same);
        same.tables[0].metric.direction_assumed = true;
        assert_eq!(exit(SLOWER, &same), Exit::Done);
    }

    #[test]
    fn a_bisection_is_judged_alike_in_words_of_its_own() {
        let judged = |refused, comparison: &Comparison| {
            let gate = Gate { refused, classes: refused == CLASS, ignores_missing: false };
            let GateVerdict { exit, why } = Evidence::new(gate, comparison).verdict(true);
            (exit, why.unwrap())
        };
        let same = comparison(Verdict::Same, Verdict::Same);
        let good = "good: no series is slower (exit 0)".to_owned();
        assert_eq!(judged(SLOWER, &same), (Exit::Done, good));
        let open = comparison(Verdict::Same, Verdict::Undecided);
        let wanted = "can't tell: 1 of 2 points may be slower; the widest is poll: poll at 1 pipe ×1.00 (95 % CI 0.800–1.25) (exit 125)";
        assert_eq!(judged(SLOWER, &open), (Exit::Inconclusive, wanted.to_owned()));
        let slower = comparison(Verdict::Slower, Verdict::Undecided);
        let wanted = "bad: slower by more than 10 %: poll: poll ×1.30 (95 % CI 1.20–1.40) (exit 1)";
        assert_eq!(judged(Refused::Above(0.1), &slower), (Exit::Different, wanted.to_owned()));
    }

    #[test]
    fn no_gate_passes_on_what_new_lacks() {
        let mut comparison = comparison(Verdict::Same, Verdict::Same);
        let subjects = |side, metric: Option<&str>| LeftOut::Subjects {
            side,
            workload: "poll".to_owned(),
            metric: metric.map(str::to_owned),
            labels: vec!["select".to_owned()],
        };
        for refused in [SLOWER, CHANGED, Refused::Above(0.1)] {
            comparison.left_out = vec![subjects(Side::New, None)];
            assert_eq!(exit(refused, &comparison), Exit::Done, "what is new can't be worse");
            comparison.left_out = vec![subjects(Side::Base, None)];
            let reason = "can't pass (exit 4); not judged: poll: select only in base \
                          (--ignore-missing lets it)";
            assert_eq!(judged(refused, &comparison), (Exit::Inconclusive, reason.to_owned()));
            let narrowed = Gate { refused, classes: false, ignores_missing: true };
            let passed = GateVerdict {
                exit: Exit::Done,
                why: Some("passed; left out: poll: select only in base".to_owned()),
            };
            assert_eq!(Evidence::new(narrowed, &comparison).verdict(false), passed);
            // Of other metrics, only where any change fails the gate.
            comparison.left_out = vec![subjects(Side::Base, Some("cpu"))];
            let wanted = if refused == CHANGED { Exit::Inconclusive } else { Exit::Done };
            assert_eq!(exit(refused, &comparison), wanted);
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
            calls: None,
        };
        let unavailable = Change {
            subjects: vec!["select".to_owned()],
            detail: ChangeDetail::Unavailable { reason: String::new() },
            ..failed.clone()
        };
        let comparison = comparison(Verdict::Same, Verdict::Same);
        for refused in [SLOWER, CHANGED, Refused::Above(0.1)] {
            let mut comparison = comparison.clone();
            let only_failures = |comparison: &Comparison| {
                let gate = Gate { refused, classes: refused == CLASS, ignores_missing: false };
                Evidence::new(gate, comparison).only_failures()
            };
            assert!(only_failures(&comparison).is_empty());
            comparison.changes.extend([&failed, &unavailable].map(Clone::clone));
            let why = judged(refused, &comparison).1;
            assert!(refused == CHANGED || why.starts_with("more fails than in base"));
            let failures = only_failures(&comparison).into_iter();
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
            comparison.tables[0].rows[0].overall =
                Ratio { ratio: estimate(1.2, 1.4), verdict: Verdict::Slower };
            assert!(only_failures(&comparison).is_empty());
        }
    }

    /// A series whose cost at each point is `cost` and some noise.
    fn grown(id: &str, noise: f64, cost: impl Fn(f64) -> f64) -> model::Run {
        let workload = fixtures::workload("poll").axis("pipes", "pipes").time("loop");
        let cells = (0..8).flat_map(|round| {
            let by = noise * (f64::from(round) - 3.5);
            [10, 100, 1_000, 10_000].map(|point| {
                let samples =
                    vec![cost(point as f64) * if point > 10 { 1.0 - by } else { 1.0 + by }];
                fixtures::cell("poll", "poll", point, round).samples("loop", samples)
            })
        });
        fixtures::run(workload.subjects(["poll"])).id(id).cells(cells).complete()
    }

    #[test]
    fn a_worse_class_is_refused_alone_or_next_to_a_limit() {
        let terms = Terms { margin: 0.05, fail_above: Some(0.1), across: false, all: false };
        let base = grown("00000000000000a1", 0.001, |n| 7.0 * n);
        let exits = |noise, cost: fn(f64) -> f64| {
            let new = grown("00000000000000a2", noise, cost);
            let comparison = compare_among(&base, &new, &terms, 1).unwrap();
            [(CLASS, true), (Refused::Above(0.1), true), (Refused::Above(0.1), false)].map(
                |(refused, classes)| {
                    let gate = Gate { refused, classes, ignores_missing: false };
                    let GateVerdict { exit, why } = Evidence::new(gate, &comparison).verdict(false);
                    (exit, why.unwrap_or_default())
                },
            )
        };
        let [(alone, why), (both, _), _] = exits(0.001, |n| n * n);
        assert_eq!((alone, both), (Exit::Different, Exit::Different));
        assert!(
            why.starts_with("poll: poll ") && why.ends_with("(--fail-on class, exit 3)"),
            "{why}"
        );
        let [(alone, _), (both, _), (limit, _)] = exits(0.001, |n| 7.0 * n);
        assert_eq!((alone, both, limit), (Exit::Done, Exit::Done, Exit::Done));
        let [(alone, why), ..] = exits(0.05, |n| n.powf(0.038));
        assert_eq!(alone, Exit::Inconclusive);
        assert!(why.contains("poll: poll: how it grows is not decided"), "{why}");
        // It starts lower, and so is faster at most points: only its class is worse.
        let [_, (both, why), (limit, _)] = exits(0.001, |n| n * n / 2_000.0);
        assert_eq!((both, limit), (Exit::Different, Exit::Done), "{why}");
    }

    #[test]
    fn a_limit_judges_the_whole_interval() {
        let judged = |low: f64, high: f64| {
            let mut comparison = comparison(Verdict::Undecided, Verdict::Same);
            comparison.tables[0].rows[0].overall.ratio = estimate(low, high);
            judged(Refused::Above(0.1), &comparison)
        };
        let wanted = "slower by more than 10 %: poll: poll ×1.18 (95 % CI 1.12–1.25) (--fail-above 10%, exit 3)";
        assert_eq!(judged(1.12, 1.25), (Exit::Different, wanted.to_owned()));
        let (code, reason) = judged(1.05, 1.2);
        assert_eq!(code, Exit::Inconclusive);
        assert!(reason.contains("1 of 1 series may be slower by more than 10 %; "), "{reason}");
        // Slower, and surely by less than what is refused.
        assert_eq!(judged(1.02, 1.07), (Exit::Done, String::new()));
    }
}
