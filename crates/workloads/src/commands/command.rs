//! How does the time of your own command grow with its input?
//!
//! The subjects are commands that the user names, each a template with words in braces; the axis is one of the
//! words, `{n}` unless another is named. One operation is one run of a command, from its start to its end. Its
//! user and system time, page faults and context switches are those that the kernel counted for it and for all
//! descendants that ended before it (wait4), and its resident set is the largest of theirs. Figures that it
//! prints are metrics, too.
//!
//! A cell prepares (`--setup`), warms up, and runs its command until the time for one metric is spent: a long
//! command once, a short one many times, each a sample. What a command leaves running is killed before the next
//! one starts. Where a command needs a shell, the time that the empty shell takes is taken off.

mod checks;
mod counters;
mod figures;
mod interpreter;
mod runs;
mod token;

pub(crate) use interpreter::needs_shell;

use crate::shared::calls;
use crate::shared::cpus::{ALL, per_cpu};
use crate::shared::quota::{self, QUOTA};
use checks::checked;
use engine::{
    About, Cell, Custom, Defaults, Failure, Kind, MetricInfo, MetricRole, Parameter, Probe,
    Programs, Subject, SubjectInfo, Sweep, Usual, Values, WORKER_AXES, Workload, WorkloadInfo,
    pairs, strings, unused_words, word_axis, word_parameters,
};
use figures::Figure;
use quantities::template;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Commands = Commands;

/// The workload without a command.
pub(crate) struct Commands;

/// The workload with the user's commands.
struct CustomCommands {
    about: About,
    custom: Custom,
    figures: Vec<Figure>,
}

/// The word that is the axis where no other is named.
const AXIS: &str = "n";
/// A run that takes longer is killed where no limit is named, in milliseconds.
const TIME_LIMIT_MS: u64 = 600_000;

const COMMANDS: Parameter = Parameter {
    name: "command",
    about: "what to measure, [NAME=]COMMAND, with n in braces where each point goes",
    values: Values::Text,
    default: Defaults::always(&[]),
    sweep: None,
};

const N: Parameter = Parameter {
    name: AXIS,
    about: "values of the word n in braces; --axis names another word",
    values: Values::AtLeast(0),
    default: Defaults::always(&[]),
    sweep: Some(Sweep { label: AXIS, points: Defaults::always(&[]) }),
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "command".into(),
        question: "How does the time of your own command grow with its input?".into(),
        operation: "one run of a command, from its start to its end".into(),
        not_measured: strings([
            "the start-up of the shell, where a command needs one",
            "--setup, --prepare, --conclude, --cleanup and runs that warm up",
            "processes that are still there when the command has ended: they are killed",
        ]),
        metrics: vec![
            MetricInfo::time("elapsed", "run"),
            MetricInfo::time("cpu", "run, on its CPUs").with_role(MetricRole::Cpu),
            MetricInfo::time("user", "run, on its CPUs in user mode")
                .with_role(MetricRole::CpuPart),
            MetricInfo::time("system", "run, on its CPUs in the kernel")
                .with_role(MetricRole::CpuPart),
            MetricInfo::less("max RSS", "largest resident set of a process of the run", "B"),
            MetricInfo::less("page faults", "minor and major page faults of a run", "faults"),
            MetricInfo::less(
                "context switches",
                "voluntary and involuntary context switches of a run",
                "switches",
            ),
            MetricInfo::less("wake-ups", "voluntary context switches of a run", "switches"),
            MetricInfo::less(
                "bytes read",
                "bytes that a run read, from files, pipes and sockets",
                "B",
            ),
            MetricInfo::less("bytes written", "bytes that a run wrote", "B"),
            MetricInfo::less("reads", "system calls of a run that read", "calls"),
            MetricInfo::less("writes", "system calls of a run that wrote", "calls"),
        ],
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![N, COMMANDS, QUOTA],
    programs: Programs::Commands,
    usual: Usual { measure_ms: 200, ..Usual::PLAIN },
    custom_keys: &[
        "command",
        "set",
        "extract",
        "better",
        "headline",
        "setup",
        "prepare",
        "conclude",
        "cleanup",
        "warmup",
        "shell",
        "ignore-failure",
        "input",
        "stdout",
        "time-limit",
        "directory",
    ],
    ..About::plain()
});

impl Workload for Commands {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        Vec::new()
    }

    fn with_custom(
        &self,
        custom: &Custom,
        axis: Option<&str>,
    ) -> Result<Box<dyn Workload>, String> {
        let axis = axis.unwrap_or_else(|| only_open_word(custom));
        checked(custom, axis)?;
        let figures = figures::figures(custom)?;
        let about = about(custom, axis, &figures)?;
        let workload = CustomCommands { about, custom: custom.clone(), figures };
        Ok(Box::new(workload))
    }

    fn measure(&self, _: &Cell, _: &mut Probe) -> Result<(), Failure> {
        Err(Failure::new("there is no command"))
    }
}

/// The axis where none is named: `{n}`, or else the only word that nothing gives a value to.
fn only_open_word(custom: &Custom) -> &str {
    let mut open: Vec<&str> = custom.texts().flat_map(template::words).collect();
    open.retain(|word| !custom.words.contains_key(*word));
    open.sort_unstable();
    open.dedup();
    match open.as_slice() {
        [word] => word,
        _ => AXIS,
    }
}

/// The description of the workload with the user's commands.
fn about(custom: &Custom, axis: &str, figures: &[Figure]) -> Result<About, String> {
    let axis_parameter = word_axis(custom, axis);
    let is_parallel = WORKER_AXES.contains(&axis) && !custom.words.contains_key(ALL.name);
    let mut parameters = if is_parallel {
        vec![Parameter { values: Values::TimesOf(ALL.name), ..axis_parameter }, ALL]
    } else {
        vec![axis_parameter]
    };
    parameters.extend(word_parameters(custom, axis));
    if axis != QUOTA.name && !custom.words.contains_key(QUOTA.name) {
        parameters.push(QUOTA);
    }
    let mut metrics = ABOUT.info.metrics.clone();
    metrics.extend(counters::metrics());
    metrics.extend(calls::metrics("run"));
    metrics.extend(quota::metrics("run"));
    metrics.extend(figures.iter().map(Figure::metric));
    if let Some(headline) = custom.headline() {
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        let index = names.iter().position(|name| *name == headline);
        let index = index.ok_or_else(|| {
            format!("--headline is one of {}, not `{headline}`", names.join(", "))
        })?;
        let metric = metrics.remove(index);
        metrics.insert(0, metric);
    }
    let info = WorkloadInfo {
        question: format!("How does the time of these commands grow with {{{axis}}}?"),
        ratio: is_parallel.then(|| per_cpu(axis)),
        metrics,
        compared_pairs: match custom.commands.as_slice() {
            [first, second] => pairs([(&first.name, &second.name)]),
            _ => Vec::new(),
        },
        ..ABOUT.info.clone()
    };
    let usual = Usual { cell_ms_max: cell_ms_max(custom), ..ABOUT.usual };
    Ok(About { info, parameters, usual, ..ABOUT.clone() })
}

/// What a run may take, in milliseconds.
fn time_limit_ms(custom: &Custom) -> u64 {
    custom.time_limit_ms.unwrap_or(TIME_LIMIT_MS)
}

/// What a cell takes at most: what comes before and after all runs, each run that warms up, and one that counts,
/// each with what comes before and after it. Where runs are short, measuring ends by time.
fn cell_ms_max(custom: &Custom) -> u64 {
    let present =
        |hooks: &[&Option<String>]| hooks.iter().filter(|hook| hook.is_some()).count() as u64;
    let around = present(&[&custom.setup, &custom.cleanup]);
    let runs = u64::from(custom.warm_up.unwrap_or(1)) + 1;
    let commands = around + runs * (1 + present(&[&custom.prepare, &custom.conclude]));
    commands.saturating_mul(time_limit_ms(custom)).saturating_add(Usual::PLAIN.cell_ms_max)
}

impl Workload for CustomCommands {
    fn about(&self) -> &About {
        &self.about
    }

    fn subjects(&self) -> Vec<Subject> {
        // Hooks, files and the shell are those of every command.
        let around = Custom { commands: Vec::new(), ..self.custom.clone() };
        let subject = |command: &engine::Template| {
            let texts = around.texts().chain([command.text.as_str()]);
            let unused = unused_words(&self.custom, texts);
            let note = command.text.clone();
            let info = SubjectInfo { note, ..SubjectInfo::named(&command.name) };
            Subject { unused, ..Subject::new(info, &command.text) }
        };
        self.custom.commands.iter().map(subject).collect()
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        runs::measure(&self.custom, &self.figures, cell, probe)
    }
}
