//! `knee vm --against`: whether one kernel is as good as another, by the exit codes of `git bisect run`.
//!
//! Whatever says nothing of the kernel must not look like a verdict: a kernel that can't be judged is skipped, and
//! where none could be, the bisection is aborted.

use super::flags::Vm;
use super::labels::labelled;
use super::turns::{GuestSide, Judge};
use super::{hardware, kernels, measure, runs_named, to_push, turns};
use crate::commands::read::compare;
use crate::commands::read::compare::bisect::{self, skip};
use crate::commands::read::compare::flags::{FailOn, Output};
use crate::commands::read::compare::{FailedPart, Failure, GateVerdict};
use crate::commands::read_run;
use crate::exit::{Exit, Trouble, complain, note};
use analysis::compare::Comparison;
use archive::{Location, RunRef};
use guest::{Hardware, Kernel};
use model::{Fact, Run};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow::{Break, Continue};
use std::path::Path;

/// The rounds of kernels that are judged, at most, where `--rounds` says nothing.
pub const ROUNDS_MAX: u32 = 40;
/// No verdict rests on fewer rounds, unless fewer are asked for.
const ROUNDS_MIN: u32 = 5;
/// Facts in which a recorded run must be like the one that is measured.
const SAME_FACTS: [(&str, &str); 6] = [
    ("vm.accelerator", "accelerator"),
    ("vm.qemu", "version of QEMU"),
    ("vm.host.machine_id", "machine id of the host"),
    ("vm.host.cpu", "CPU of the host"),
    ("vm.cpus", "number of CPUs of the guest"),
    ("vm.host.cpus", "number of CPUs of the host that it runs on"),
];

enum Base {
    Recorded(Box<Run>),
    /// A kernel, which is measured in turns with it.
    Kernel(Kernel),
}

pub fn judge(mut vm: Vm, output: &Output, file: &Path, qemu: &str) -> Result<Exit, Trouble> {
    check(&vm)?;
    if vm.judgement.gate().is_none() {
        vm.judgement.fail_on = Some(FailOn::Slower);
    }
    let base = base(vm.against.as_deref().unwrap_or_default(), output)?;
    if let Some(fault) = unbuilt(&vm) {
        return Ok(skip(&fault));
    }
    let mut all = hardware(&vm)?;
    let recorded = match base {
        Base::Recorded(run) => Some(*run),
        Base::Kernel(kernel) => {
            let judged = &all[0];
            let append = vm.against_append.clone().unwrap_or_else(|| judged.append.clone());
            all.insert(0, Hardware { kernel, append, ..judged.clone() });
            None
        }
    };
    let (looks, is_decided) = (RefCell::default(), Cell::default());
    let question = Question { vm: &vm, output, file, qemu, all, recorded, looks, is_decided };
    let first = question.measure(|compared| {
        if compared.failures.is_empty() {
            return compared.conclude(&question, |verdict| verdict).map(Break);
        }
        note(compared.kept.trim_end());
        Ok(Continue(compared.failures))
    })?;
    // These fail that the base measured, and no figure is worse: a busy host causes that, too.
    let first = match first {
        Break(exit) => return Ok(exit),
        Continue(failures) => failures,
    };
    complain(&format!("knee: {}: a second boot has to confirm that", failing(&first)));
    question.measure(|compared| {
        let second = compared.failures.clone();
        compared.conclude(&question, |verdict| confirmed(&first, &second, verdict))
    })
}

/// What is asked of the kernels of `all`, of which the last is judged.
struct Question<'a> {
    vm: &'a Vm,
    output: &'a Output,
    file: &'a Path,
    qemu: &'a str,
    all: Vec<Hardware>,
    /// The base, where it is not measured.
    recorded: Option<Run>,
    /// Rounds after which it is still to be looked at, ascending.
    looks: RefCell<Vec<u32>>,
    is_decided: Cell<bool>,
}

struct Compared {
    base: Run,
    new: Run,
    comparison: Comparison,
    /// What fails that the base measured, where no figure is worse.
    failures: BTreeSet<Failure>,
    kept: String,
}

impl Question<'_> {
    /// Measures once, and lets `conclude` say what comes of it before the runs are pushed.
    fn measure<T>(
        &self,
        conclude: impl FnOnce(Compared) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut sides = labelled(self.all.clone());
        *self.looks.borrow_mut() = self.early_looks();
        self.is_decided.set(false);
        let is_interrupted = measure(self.vm, &mut sides, (self.file, self.qemu), Some(self))
            .map_err(|trouble| unmeasured(&sides, trouble))?;
        let push = to_push(self.vm, &sides);
        let concluded = self.compare(&sides, is_interrupted).and_then(conclude);
        let concluded = concluded.map_err(|trouble| {
            trouble.say();
            Trouble::shown(trouble.exit)
        });
        // What the archive does not take is reported, and changes no verdict.
        if let Some(push) = push {
            push.push(&self.output.record_file);
        }
        concluded
    }

    /// Why there is nothing to compare, where that is so.
    fn compare(&self, sides: &[GuestSide], is_interrupted: bool) -> Result<Compared, Trouble> {
        let runs: Vec<&Run> = sides.iter().filter_map(|side| side.run.as_ref()).collect();
        let numbers: Vec<String> = runs.iter().map(|run| run.summary.number.to_string()).collect();
        let kept = format!("Record: {} ({})\n", self.file.display(), runs_named(&numbers));
        if is_interrupted {
            note(kept.trim_end());
            return Err(Trouble::shown(Exit::Interrupted));
        }
        if let Some(side) = sides.iter().find(|side| side.is_lost_by_host) {
            note(kept.trim_end());
            let what = "this machine or QEMU failed, which says nothing of a kernel";
            return Err(Trouble::failed(format!("{}: {what}", side.label)));
        }
        if let Some(side) = sides.iter().find(|side| !side.is_complete()) {
            note(kept.trim_end());
            let what = format!("{} was not measured to its end", side.label);
            return Err(Trouble::failed(what).skipped());
        }
        let new = read_run(&numbers[numbers.len() - 1], &self.output.record_file)?;
        let base = match &self.recorded {
            Some(run) => run.clone(),
            None => read_run(&numbers[0], &self.output.record_file)?,
        };
        let comparison = self.compared(&base, &new).map_err(Trouble::skipped)?;
        let failures = compare::only_failures(&self.vm.judgement, &comparison);
        Ok(Compared { base, new, comparison, failures, kept })
    }

    /// All looks hold at once, so that looking more than once finds no more by chance.
    fn compared(&self, base: &Run, new: &Run) -> Result<Comparison, Trouble> {
        let (is_in_turns, comparisons) = (self.recorded.is_none(), self.early_looks().len() + 1);
        let judgement = &self.vm.judgement;
        compare::compared((base, new), is_in_turns, judgement, self.output, comparisons)
    }

    fn early_looks(&self) -> Vec<u32> {
        early_looks(self.vm.measured.rounds.unwrap_or(ROUNDS_MAX))
    }
}

/// Another commit may be measured where it is this kernel that did not begin.
fn unmeasured(sides: &[GuestSide], trouble: Trouble) -> Trouble {
    let is_verdict = matches!(trouble.exit, Exit::Interrupted | Exit::Skip);
    if !is_verdict && turns::is_only_last_unable(sides) { trouble.skipped() } else { trouble }
}

impl Compared {
    fn conclude(
        self,
        question: &Question<'_>,
        confirm: impl FnOnce(GateVerdict) -> GateVerdict,
    ) -> Result<Exit, Trouble> {
        let Question { vm, output, file, .. } = *question;
        let Compared { base, new, comparison, kept, .. } = self;
        let verdict = confirm(compare::verdict(&vm.judgement, &comparison, true));
        let holder = Location::File(file.to_owned());
        let runs = (base, new);
        compare::conclude(&vm.judgement, output, runs, &comparison, verdict, &holder, Some(kept))
            .map(bisect::code)
    }
}

/// The verdict of a second boot, where these failed in the `first`: what fails in both is the kernel's. Where nothing
/// does, it can't be judged, since the figures of one boot are fewer.
fn confirmed(
    first: &BTreeSet<Failure>,
    second: &BTreeSet<Failure>,
    own: GateVerdict,
) -> GateVerdict {
    let in_both: BTreeSet<Failure> = first.intersection(second).cloned().collect();
    let (exit, why) = match own.exit {
        Exit::Different if second.is_empty() => return own,
        Exit::Different if in_both.is_empty() => {
            let [first, second] = [first, second].map(failing);
            let what = format!("{first}, in the first boot, and in the second another: {second}");
            (Exit::Skip, format!("can't tell: {what} (exit 125)"))
        }
        Exit::Different => {
            (Exit::Different, format!("bad: {}, in two boots (exit 1)", failing(&in_both)))
        }
        Exit::Done | Exit::Inconclusive => {
            let what = format!("{} in the first boot, and not in the second", failing(first));
            (Exit::Skip, format!("can't tell: {what} (exit 125)"))
        }
        _ => return own,
    };
    GateVerdict { exit, why: Some(why) }
}

/// What fails, as text: `poll: epoll-level at 10 and 100 fails, which the base measured`.
fn failing(failures: &BTreeSet<Failure>) -> String {
    let mut by_series: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for Failure { workload, parameters, subject, part } in failures {
        let points = by_series.entry((workload, parameters, subject)).or_default();
        if let FailedPart::Point(point) = part {
            points.push(findings::format::count(*point));
        }
    }
    let Some(((workload, _, subject), points)) = by_series.first_key_value() else {
        return "nothing fails".to_owned();
    };
    let at = match points.as_slice() {
        [] => String::new(),
        points => format!(" at {}", findings::format::list(points)),
    };
    let more = match by_series.len() - 1 {
        0 => String::new(),
        more => format!(" and of {more} more series"),
    };
    format!("{workload}: cells of {subject}{at}{more} fail, which the base measured")
}

fn check(vm: &Vm) -> Result<(), Trouble> {
    if [&vm.kernels, &vm.cpu_models, &vm.appends].iter().any(|typed| typed.len() > 1) {
        let what =
            "--against judges one kernel on one machine: give --kernel, --cpu and --append once";
        return Err(Trouble::usage(what));
    }
    if vm.measured.budget.is_some() || vm.measured.precision.is_some() {
        let what =
            "--against measures until a comparison is decided: leave out --budget and --precision";
        return Err(Trouble::usage(what));
    }
    Ok(())
}

fn base(typed: &str, output: &Output) -> Result<Base, Trouble> {
    let is_record = is_sqlite(Path::new(typed));
    if kernels::is_named(typed) || Path::new(typed).is_file() && !is_record {
        return kernels::find("--against", typed).map(Base::Kernel);
    }
    // A file that there is not may be either: a record's name says so.
    let is_run =
        is_record || !typed.contains('/') || typed.contains(".db") || typed.contains("://");
    if is_run && RunRef::parse(typed).is_ok() {
        return read_run(typed, &output.record_file).map(Box::new).map(Base::Recorded);
    }
    Err(Trouble::usage(format!(
        "--against {typed}: there is no such file, and it is no run (a number, FILE.db or FILE.db:RUN)"
    )))
}

fn is_sqlite(path: &Path) -> bool {
    const HEAD: &[u8] = b"SQLite format 3\0";
    let mut head = [0; HEAD.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == HEAD
}

/// Why the file of the kernel that is judged is none that can be booted: another commit may build one.
fn unbuilt(vm: &Vm) -> Option<String> {
    let typed = vm.kernels.first().filter(|typed| !kernels::is_named(typed))?;
    kernels::find("--kernel", typed).err().map(|trouble| trouble.to_string())
}

impl Judge for Question<'_> {
    fn check(&self, facts: &BTreeMap<String, Fact>) -> Result<(), Trouble> {
        let Some(run) = &self.recorded else { return Ok(()) };
        if run.host_before.fact(SAME_FACTS[0].0).is_none() {
            let what = "was not measured in a guest of `knee vm`, and says nothing of one";
            return Err(Trouble::usage(format!("--against: run {} {what}", run.summary.number)));
        }
        for (key, name) in SAME_FACTS {
            let (then, now) = (run.host_before.facts.get(key), facts.get(key));
            if then != now {
                let unknown = Fact::from("unknown");
                let [then, now] = [then, now].map(|value| value.unwrap_or(&unknown));
                let what = format!("the {name} is {now}, and {then} in the run to judge against");
                return Err(Trouble::usage(what).skipped());
            }
        }
        Ok(())
    }

    fn is_enough(&self, runs: &[&Run]) -> bool {
        let rounds = runs.iter().map(|run| whole_rounds(run)).min().unwrap_or(0);
        let mut looks = self.looks.borrow_mut();
        if self.is_decided.get() || looks.first().is_none_or(|look| rounds < *look) {
            return self.is_decided.get();
        }
        looks.retain(|look| *look > rounds);
        let (base, new) = match (&self.recorded, runs) {
            (Some(base), [new]) => (base, *new),
            (None, [base, new]) => (*base, *new),
            _ => return false,
        };
        let compared = self.compared(base, new);
        let verdict =
            compared.map(|comparison| compare::verdict(&self.vm.judgement, &comparison, true));
        self.is_decided.set(verdict.is_ok_and(|verdict| verdict.exit != Exit::Inconclusive));
        self.is_decided.get()
    }
}

/// The rounds of which each cell of `run` has ended.
fn whole_rounds(run: &Run) -> u32 {
    let ended: std::collections::HashSet<u64> =
        run.cells.iter().map(|cell| cell.sequence).collect();
    let mut open = (0..).zip(&run.plan.cells).filter(|(sequence, _)| !ended.contains(sequence));
    open.next().map_or(u32::MAX, |(_, cell)| cell.round)
}

/// The looks before the last: at a quarter and at a half of `rounds_max`.
fn early_looks(rounds_max: u32) -> Vec<u32> {
    let mut looks: Vec<u32> = [4, 2].map(|part| rounds_max.div_ceil(part).max(ROUNDS_MIN)).into();
    looks.dedup();
    looks.retain(|look| *look < rounds_max);
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_few_and_never_before_there_are_rounds() {
        assert_eq!(early_looks(40), [10, 20]);
        assert_eq!(early_looks(12), [5, 6]);
        assert_eq!(early_looks(8), [5]);
        assert_eq!(early_looks(5), [0; 0]);
        assert_eq!(early_looks(1), [0; 0]);
    }

    fn failure(subject: &str, point: u64) -> Failure {
        Failure {
            workload: "poll".to_owned(),
            parameters: model::Parameters::new(),
            subject: subject.to_owned(),
            part: FailedPart::Point(point),
        }
    }

    #[test]
    fn only_what_fails_in_both_boots_makes_a_kernel_bad() {
        let set = |all: &[(&str, u64)]| -> BTreeSet<Failure> {
            all.iter().map(|&(subject, point)| failure(subject, point)).collect()
        };
        let first = set(&[("poll", 10), ("poll", 100), ("select", 10)]);
        let judged = |second: &BTreeSet<Failure>, exit| {
            let verdict =
                confirmed(&first, second, GateVerdict { exit, why: Some("own".to_owned()) });
            (bisect::code(verdict.exit).code(), verdict.why.unwrap())
        };
        let none = BTreeSet::new();
        let second = set(&[("poll", 1), ("poll", 100), ("epoll", 10)]);
        let wanted =
            "bad: poll: cells of poll at 100 fail, which the base measured, in two boots (exit 1)";
        assert_eq!(judged(&second, Exit::Different), (1, wanted.to_owned()));
        // Another subject, and another point.
        for second in [set(&[("epoll", 10)]), set(&[("select", 100)])] {
            let (code, why) = judged(&second, Exit::Different);
            assert_eq!(code, 125, "{why}");
            assert!(why.starts_with("can't tell: poll: cells of poll at 10 and 100 and of 1 more"));
            assert!(!why.contains("two boots"), "{why}");
        }
        for exit in [Exit::Done, Exit::Inconclusive] {
            assert!(judged(&none, exit).1.ends_with("and not in the second (exit 125)"));
            assert_eq!(judged(&none, exit).0, 125);
        }
        // A figure needs no second boot.
        assert_eq!(judged(&none, Exit::Different), (1, "own".to_owned()));
        assert_eq!(judged(&none, Exit::Interrupted), (130, "own".to_owned()));
    }

    #[test]
    fn a_round_is_whole_when_each_of_its_cells_has_ended() {
        let subjects = ["a", "b"];
        let cells = (0..3).flat_map(|round| {
            subjects
                .map(|subject| fixtures::cell("made", subject, 1, round).samples("call", vec![1.0]))
        });
        let workload =
            fixtures::workload("made").axis("things", "things").time("call").subjects(subjects);
        let mut run = fixtures::run(workload).cells(cells).complete();
        assert_eq!(whole_rounds(&run), u32::MAX);
        run.cells.remove(3);
        assert_eq!(whole_rounds(&run), 1);
    }
}
