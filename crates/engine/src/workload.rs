//! What the instrument asks of a workload.

pub(crate) mod parameter;

use crate::{Parameter, Probe};
use record::{
    CellKey, FailureReason, MetricInfo, MetricRole, Parameters, Ratio, SubjectInfo, Value, Warning,
    WorkloadInfo, WorkloadRole,
};
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::path::PathBuf;

/// What is exercised. A workload describes itself, says what it compares, and measures one cell;
/// help, `list`, docs and reports derive from that.
pub trait Workload: Sync {
    /// What it is.
    fn about(&self) -> &'static About;

    /// What it compares, unavailable subjects included, in the order of its tables.
    fn subjects(&self) -> Vec<Subject>;

    /// Whether a cell can be measured here, before anything is started. Everything can, unless the
    /// workload knows better.
    fn fit(&self, _cell: &Cell) -> Fit {
        Fit::Measure
    }

    /// Measures one cell. Runs in a worker process of its own.
    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure>;
}

/// What a workload is, for people.
#[derive(Debug)]
pub struct About {
    /// Its name: `poll`.
    pub name: &'static str,
    /// Raised when what is measured changes, so that figures are not compared across.
    pub version: u32,
    /// Whether it runs when nobody names it.
    pub kind: Kind,
    /// The question it answers.
    pub question: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// What it does not measure.
    pub not_measured: &'static [&'static str],
    /// What can be varied, the axis included.
    pub parameters: &'static [Parameter],
    /// The parameter that grows when nobody names another: it has a sweep.
    pub axis: &'static str,
    /// The ratio that its figures are read by, where there is one.
    pub ratio: Option<RatioAbout>,
    /// Whether one cell goes all the way along the workload's own axis ([`Probe::trajectory`]), so that
    /// its point is the far end. Along any other axis its samples are all at the point.
    pub trajectory: bool,
    /// Whether its tables have the points down and the subjects across.
    pub points_down: bool,
    /// Pairs of subjects whose comparison is always reported.
    pub compared_pairs: &'static [(&'static str, &'static str)],
    /// How much is measured when nobody says.
    pub usual: Usual,
    /// Programs that measured the same before, and whose results this can be told in.
    pub likes: &'static [Like],
    /// Metrics besides the headline whose growth is reported with it.
    pub also_growth: &'static [&'static str],
    /// Whether its tables show means with their standard deviations, metrics down.
    pub averages: bool,
    /// What it measures; the first one is the headline.
    pub metrics: &'static [MetricAbout],
}

/// A program that measured the same before: its parameters, and how it printed its result.
#[derive(Debug)]
pub struct Like {
    /// The name on the command line: `poller-bench`.
    pub name: &'static str,
    /// What it was: author, year, command line.
    pub original: &'static str,
    /// What it compared; the names are ours.
    pub subjects: &'static [&'static str],
    /// Its points on the workload's own axis.
    pub points: &'static [&'static str],
    /// Its other parameters, by name.
    pub parameters: &'static [(&'static str, &'static str)],
    /// How often it was run, where that is known.
    pub rounds: Option<u32>,
    /// How it printed the headline metric, or all that it measured.
    pub print: Print,
    /// Other metrics in a line each: the metric, and what stood behind its figure in microseconds,
    /// with `{}` for the last point.
    pub also: &'static [(&'static str, &'static str)],
    /// What those parameters hide, a line each.
    pub hides: &'static [&'static str],
}

/// How a program printed its figures.
#[derive(Clone, Copy, Debug)]
pub enum Print {
    /// Points across under this word, subjects down, whole microseconds.
    Microseconds(&'static str),
    /// Points down under this word, subjects across, operations a second with two decimals.
    Rates(&'static str),
    /// A line for each subject and point: least, mean, most and deviation of the samples.
    ReplyRates,
    /// A block for each subject: the mean of each metric and its standard deviation.
    Averages,
    /// A line for each call and a block for each round, microseconds with one decimal. A column is a
    /// metric of a workload, named in this order; the workloads share subjects and parameters.
    Calls(&'static [(&'static str, &'static str)]),
}

impl Like {
    /// The workloads that measure it, where it stands with `about`: several, if its columns are
    /// figures of several.
    pub fn workloads(&self, about: &About) -> Vec<&'static str> {
        let Print::Calls(columns) = self.print else { return vec![about.name] };
        let mut all: Vec<&str> = Vec::new();
        for (workload, _) in columns {
            if !all.contains(workload) {
                all.push(workload);
            }
        }
        all
    }
}

/// How much is measured when nobody says, neither more nor less.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// Passes over all cells.
    pub rounds: u32,
    /// The same with `--quick`, and in the suite.
    pub rounds_quick: u32,
    /// Time that one metric of one cell is measured for, in milliseconds.
    pub measure_ms: u64,
    /// What one call of a trajectory takes at the very most, in milliseconds: by this its deadline is
    /// set where nobody sets one.
    pub call_ms_max: u64,
    /// What a cell takes at the very most besides, in milliseconds: opening and closing what it measures
    /// on, or all that is not measured for a set time.
    pub cell_ms_max: u64,
}

impl Usual {
    /// Of a trajectory: each of its rounds has every point of the axis, so fewer do.
    pub const TRAJECTORY: Usual = Usual { rounds: 5, rounds_quick: 5, ..About::PLAIN.usual };
}

impl About {
    /// A control's or a simple workload's: no ratio, no compared pairs, points across. For use with `..`.
    pub const PLAIN: About = About {
        name: "",
        version: 1,
        kind: Kind::Suite,
        question: "",
        operation: "",
        not_measured: &[],
        parameters: &[],
        axis: "",
        ratio: None,
        trajectory: false,
        points_down: false,
        compared_pairs: &[],
        usual: Usual {
            rounds: 7,
            rounds_quick: 9,
            measure_ms: 100,
            call_ms_max: 1,
            cell_ms_max: 30_000,
        },
        likes: &[],
        also_growth: &[],
        averages: false,
        metrics: &[],
    };

    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether one cell goes all the way along `axis`.
    pub(crate) fn is_trajectory(&self, axis: &str) -> bool {
        self.trajectory && axis == self.axis
    }

    /// The parameters that can be the axis.
    pub fn axes(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().filter(|parameter| parameter.sweep.is_some())
    }
}

/// One parameter as a share of another: active of watched descriptors.
#[derive(Debug)]
pub struct RatioAbout {
    /// The parameter that is a part: `active`.
    pub part: &'static str,
    /// The parameter that it is a part of: `watched`.
    pub whole: &'static str,
    /// What the part is, in a sentence after a percentage: `active`; or after a multiple: `per CPU`.
    pub word: &'static str,
    /// Whether it is told as so many of the part for each of the whole, and not as a percentage.
    pub multiple: bool,
}

/// Whether a workload runs when nobody names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Part of `knee run` without arguments.
    Suite,
    /// Proves the instrument, and runs along with the suite.
    Control,
    /// Takes longer than the whole suite: only by name.
    Named,
    /// Proves the instrument by misbehaving: only by name.
    Fault,
}

/// One figure that a workload measures.
#[derive(Debug)]
pub struct MetricAbout {
    /// Short name: `loop`.
    pub name: &'static str,
    /// What is inside the timed region: `write + wait + dispatch`.
    pub about: &'static str,
    /// What its samples say.
    pub says: Says,
    /// What findings read in it besides its growth.
    pub role: MetricRole,
}

/// What the samples of a metric say. The probe counts nanoseconds an operation; the worker makes
/// rates of them where that is what the field speaks of, and leaves amounts as they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Nanoseconds an operation: less is better.
    Time,
    /// Operations a second, in this unit (`tokens/s`): more is better.
    Rate(&'static str),
    /// So much of this unit (`B`) for each of what there is, [given](Probe::given): less is better.
    Amount(&'static str),
    /// A degree, [given](Probe::given) in this unit (`%`), which may be empty: more is better.
    Degree(&'static str),
}

impl MetricAbout {
    /// One that says nanoseconds an operation.
    pub const fn time(name: &'static str, about: &'static str) -> MetricAbout {
        MetricAbout::new(name, about, Says::Time)
    }

    /// One of no special role.
    pub const fn new(name: &'static str, about: &'static str, says: Says) -> MetricAbout {
        MetricAbout { name, about, says, role: MetricRole::Plain }
    }

    /// The same in this role.
    #[must_use]
    pub const fn with_role(self, role: MetricRole) -> MetricAbout {
        MetricAbout { role, ..self }
    }
}

/// What is compared within a workload.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in reports.
    pub label: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What a reader has to know to read its figures rightly; may be empty.
    pub note: String,
    /// Whether it can be measured here, or why not.
    pub available: Result<(), String>,
    /// Whether it is wrong on purpose: a control, each cell of which has to fail. It is measured at
    /// the far end of the axis only, where it has the most chances to be caught.
    pub control: bool,
}

impl Subject {
    /// One that there is everywhere, and of which the name says what a reader has to know.
    pub const fn plain(name: &'static str, summary: &'static str) -> Subject {
        Subject {
            name,
            label: name,
            summary,
            note: String::new(),
            available: Ok(()),
            control: false,
        }
    }
}

/// Whether a cell can be measured here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As it is.
    Measure,
    /// Only with that parameter at most this: it is clamped if it is the axis, and else the cell is
    /// left out.
    AtMost {
        /// The parameter: `watched`.
        parameter: &'static str,
        /// The most that it can be here.
        most: u64,
        /// Why, as the end of a sentence: `a process may have 20,000 descriptors`.
        because: String,
        /// What mends it; may be empty.
        remedy: String,
    },
    /// Not at all, and why.
    Leave(Warning),
}

/// One cell, as a worker sees it.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The subject: `epoll-level`.
    pub subject: String,
    /// Every parameter, the axis included, one value each, checked; shares as the numbers that they
    /// come to.
    pub parameters: Parameters,
    /// Seeds whatever the workload draws at random; the same for all subjects of a point and round.
    pub seed: u64,
    /// Where a folder for its files may be made: see [`crate::Scratch`].
    pub scratch: PathBuf,
}

impl Cell {
    /// The value of a parameter that is a whole number.
    pub fn number(&self, name: &str) -> Result<u64, Failure> {
        let value = self.parameter(name)?;
        let not_whole = || Failure::new(format!("{name} is {value}, not a whole number"));
        value.number().ok_or_else(not_whole)
    }

    /// The value of a parameter that is a word or any other text.
    pub fn text(&self, name: &str) -> Result<Cow<'_, str>, Failure> {
        self.parameter(name).map(Value::text)
    }

    fn parameter(&self, name: &str) -> Result<&Value, Failure> {
        let value = self.parameters.get(name);
        value.ok_or_else(|| Failure::new(format!("the cell lacks the parameter {name}")))
    }

    /// The row of the cell's subject among `rows`, by the name of each.
    pub fn find_subject<'a, T>(
        &self,
        rows: &'a [T],
        name: impl Fn(&'a T) -> &'static str,
    ) -> Result<&'a T, Failure> {
        let row = rows.iter().find(|row| name(row) == self.subject);
        row.ok_or_else(|| Failure::new(format!("there is no subject {}", self.subject)))
    }

    /// The cell that `key` stands for, with `axis` as its axis.
    pub(crate) fn of(about: &About, axis: &str, key: &CellKey, seed: u64) -> Cell {
        let mut all = key.parameters.clone();
        all.insert(axis.into(), Value::Number(key.point));
        let resolved = all.iter().map(|(name, value)| {
            let parameter = about.parameter(name);
            let number = parameter.and_then(|parameter| parameter.number(value, &all));
            (name.clone(), number.map_or_else(|| value.clone(), Value::Number))
        });
        Cell {
            subject: key.subject.clone(),
            parameters: resolved.collect(),
            seed,
            scratch: PathBuf::new(),
        }
    }
}

/// Why a cell failed; or, where it [ran out](Failure::ran_out) of something, why there are no more of its
/// figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(FailureReason);

impl std::error::Error for Failure {}

/// The reason in one line, without the remedy.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            FailureReason::ResourceExhausted { message, .. } => f.write_str(message),
            other => other.fmt(f),
        }
    }
}

impl From<FailureReason> for Failure {
    fn from(reason: FailureReason) -> Failure {
        Failure(reason)
    }
}

impl From<Failure> for FailureReason {
    fn from(failure: Failure) -> FailureReason {
        failure.0
    }
}

impl Failure {
    /// The workload's own check failed: with what it found, in one line.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(FailureReason::CheckFailed { message: message.into() })
    }

    /// What was being done when `error` came: `opening a socketpair: Too many open files`.
    pub fn call(operation: impl Display, error: impl Display) -> Failure {
        let (operation, error) = (operation.to_string(), error.to_string());
        Failure(FailureReason::CallFailed { operation, error })
    }

    /// The machine has no more of something to give: descriptors, processes, ports, room. What a
    /// trajectory measured up to there counts; `remedy` is what gives it more, and may be empty.
    pub fn ran_out(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
        let (message, remedy) = (message.into(), remedy.into());
        Failure(FailureReason::ResourceExhausted { message, remedy })
    }

    /// What gives more of what there was no more of; none where it is another failure.
    pub(crate) fn remedy(&self) -> Option<&str> {
        match &self.0 {
            FailureReason::ResourceExhausted { remedy, .. } => Some(remedy),
            _ => None,
        }
    }
}

/// A workload's own description, in the record's shape, with `axis` as its axis.
pub fn info(workload: &dyn Workload, axis: &Parameter) -> WorkloadInfo {
    let about = workload.about();
    let word = |&word: &&str| word.to_owned();
    WorkloadInfo {
        name: about.name.into(),
        version: about.version,
        question: about.question.into(),
        operation: about.operation.into(),
        not_measured: about.not_measured.iter().map(word).collect(),
        axis: axis.sweep.as_ref().map_or(axis.name, |sweep| sweep.label).into(),
        axis_parameter: axis.name.into(),
        ratio: about.ratio.as_ref().map(|ratio| Ratio {
            part: ratio.part.into(),
            whole: ratio.whole.into(),
            word: ratio.word.into(),
            multiple: ratio.multiple,
        }),
        trajectory: about.is_trajectory(axis.name),
        points_down: about.points_down,
        role: Some(match about.kind {
            Kind::Control => WorkloadRole::Control,
            Kind::Suite | Kind::Named | Kind::Fault => WorkloadRole::Comparison,
        }),
        compared_pairs: about
            .compared_pairs
            .iter()
            .map(|(first, second)| (word(first), word(second)))
            .collect(),
        also_growth: about.also_growth.iter().map(word).collect(),
        averages: about.averages,
        metrics: about.metrics.iter().map(metric_info).collect(),
        subjects: workload.subjects().iter().map(subject_info).collect(),
    }
}

fn metric_info(metric: &MetricAbout) -> MetricInfo {
    let (unit, lower_is_better) = match metric.says {
        Says::Time => ("ns", true),
        Says::Amount(unit) => (unit, true),
        Says::Rate(unit) | Says::Degree(unit) => (unit, false),
    };
    MetricInfo {
        name: metric.name.into(),
        about: metric.about.into(),
        unit: unit.into(),
        lower_is_better,
        role: Some(metric.role),
    }
}

fn subject_info(subject: &Subject) -> SubjectInfo {
    SubjectInfo {
        name: subject.name.into(),
        label: subject.label.into(),
        note: subject.note.clone(),
        control: subject.control,
    }
}
