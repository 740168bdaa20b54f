//! How a workload describes itself: its row in help, `list`, docs and reports.

use super::original::Original;
use super::parameter::Parameter;
use model::MetricRole;

/// What a workload is, for people.
#[derive(Clone, Debug)]
pub struct About {
    /// Its name: `poll`.
    pub name: &'static str,
    /// Raised when what is measured changes, so that figures are not compared across.
    pub version: u32,
    /// Whether it runs without being named.
    pub kind: Kind,
    /// The question it answers.
    pub question: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// What it does not measure.
    pub not_measured: &'static [&'static str],
    /// What can be varied, the axis included.
    pub parameters: &'static [Parameter],
    /// Which of them have an effect only with some values of another.
    pub only_with: &'static [OnlyWith],
    /// The parameter that grows by default: it has a sweep.
    pub axis: &'static str,
    /// The ratio that its figures are read by, where there is one.
    pub ratio: Option<RatioAbout>,
    /// Whether one cell goes all the way along the workload's own axis ([`Probe::trajectory`]), so that
    /// its point is the far end. Along any other axis its samples are all at the point.
    pub trajectory: bool,
    /// Whether its tables have the points down and the subjects across.
    pub points_down: bool,
    /// What works side by side along the axis, each at work of its own, so that its rate is to grow up to one for each of
    /// the [ratio](About::ratio)'s whole.
    pub parallel: Option<ParallelAbout>,
    /// Pairs of subjects whose comparison is always reported, also where their operations differ.
    pub compared_pairs: &'static [(&'static str, &'static str)],
    /// How much is measured by default.
    pub usual: Usual,
    /// Classic benchmarks whose settings and output format it has (`--like`).
    pub originals: &'static [Original],
    /// Metrics besides the headline whose growth is reported with it.
    pub also_growth: &'static [&'static str],
    /// Whether its tables show means with their standard deviations, metrics down.
    pub averages: bool,
    /// Keys of a suite, and flags, that add commands or servers of the user's own.
    pub custom_keys: &'static [&'static str],
    /// The programs of the machine without which nothing of it can be measured.
    pub programs: Programs,
    /// What it measures; the first one is the headline, unless a [subject](super::Subject) has another.
    pub metrics: &'static [MetricAbout],
}

/// Programs of the machine that a workload can't do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// None: this one is enough.
    None,
    /// A C compiler, make and a shell.
    Compiler,
    /// Those of the user's commands.
    Commands,
}

/// How much is measured by default.
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
    /// The parameter that says how many things a cell makes, where there can be millions, and what one of
    /// them takes to make at the very most, in microseconds.
    pub made_us_max: Option<(&'static str, u64)>,
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
        only_with: &[],
        axis: "",
        ratio: None,
        trajectory: false,
        points_down: false,
        parallel: None,
        compared_pairs: &[],
        usual: Usual {
            rounds: 7,
            rounds_quick: 9,
            measure_ms: 100,
            call_ms_max: 1,
            cell_ms_max: 30_000,
            made_us_max: None,
        },
        originals: &[],
        also_growth: &[],
        averages: false,
        custom_keys: &[],
        programs: Programs::None,
        metrics: &[],
    };

    /// The same, of a trajectory.
    pub const TRAJECTORY: About =
        About { trajectory: true, usual: Usual::TRAJECTORY, ..About::PLAIN };

    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether `key` of a suite, or the flag of that name, adds commands or servers of the user's own to it.
    pub fn takes_custom(&self, key: &str) -> bool {
        self.custom_keys.contains(&key)
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

/// A parameter that has an effect only with some values of another one. Cells that differ in nothing else are planned
/// once, and reports leave it out of the others' titles.
#[derive(Clone, Copy, Debug)]
pub struct OnlyWith {
    /// The parameter: `position`.
    pub parameter: &'static str,
    /// The parameter that it depends on: `activity`.
    pub depends_on: &'static str,
    /// The values of that one with which it has an effect.
    pub values: &'static [&'static str],
}

/// One parameter as a share of another: active of watched descriptors.
#[derive(Clone, Copy, Debug)]
pub struct RatioAbout {
    /// The parameter that is a part: `active`.
    pub part: &'static str,
    /// The parameter that it is a part of: `watched`.
    pub whole: &'static str,
    /// What the part is, in a sentence after a percentage: `active`; or after a multiple: `per CPU`.
    pub word: &'static str,
    /// Whether reports write it as a multiple (`4 per CPU`), and not as a percentage.
    pub multiple: bool,
}

/// What works side by side: threads that share what is their process's, or processes that don't.
#[derive(Clone, Copy, Debug)]
pub struct ParallelAbout {
    /// The parameter that says which: `by`.
    pub parameter: &'static str,
    /// Its value for those that share: `threads`.
    pub sharing: &'static str,
    /// Its value for those that don't: `processes`.
    pub separate: &'static str,
}

/// Whether a workload runs without being named.
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
#[derive(Clone, Copy, Debug)]
pub struct MetricAbout {
    /// Short name: `loop`.
    pub name: &'static str,
    /// What is inside the timed region: `write + wait + dispatch`.
    pub about: &'static str,
    /// What its samples count.
    pub samples: SampleKind,
    /// What findings read in it besides its growth.
    pub role: MetricRole,
    /// Whether it is a guess which of two is better.
    pub direction_assumed: bool,
}

/// What the samples of a metric count. The probe counts nanoseconds an operation; the worker turns them
/// into rates where the metric is one, and leaves amounts as they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// Nanoseconds an operation: less is better.
    Time,
    /// Operations a second, in this unit (`tokens/s`): more is better.
    Rate(&'static str),
    /// An amount of this unit (`B`) for each existing thing, [given](Probe::given): less is better.
    Amount(&'static str),
    /// A degree, [given](Probe::given) in this unit (`%`), which may be empty: more is better.
    Degree(&'static str),
}

impl MetricAbout {
    /// A metric in nanoseconds an operation.
    pub const fn time(name: &'static str, about: &'static str) -> MetricAbout {
        MetricAbout::new(name, about, SampleKind::Time)
    }

    /// A metric without a special role.
    pub const fn new(name: &'static str, about: &'static str, samples: SampleKind) -> MetricAbout {
        MetricAbout { name, about, samples, role: MetricRole::Plain, direction_assumed: false }
    }

    /// The same in this role.
    #[must_use]
    pub const fn with_role(self, role: MetricRole) -> MetricAbout {
        MetricAbout { role, ..self }
    }
}
