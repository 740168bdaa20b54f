//! How a workload describes itself: its row in help, `list`, docs and reports.

use super::original::Original;
use super::parameter::Parameter;
use model::WorkloadInfo;

/// What a workload is.
#[derive(Clone, Debug)]
pub struct About {
    /// What the record keeps of it. Planning adds the subjects and the axis: it is a
    /// [trajectory](WorkloadInfo::trajectory) along its own only.
    pub info: WorkloadInfo,
    /// Whether it runs without being named.
    pub kind: Kind,
    /// What can be varied. The first is its own axis, which grows by default.
    pub parameters: Vec<Parameter>,
    /// How much is measured by default.
    pub usual: Usual,
    /// Classic benchmarks whose settings and output format it has (`--like`).
    pub originals: &'static [Original],
    /// Keys of a suite, and flags, that add commands or servers of the user's own.
    pub custom_keys: &'static [&'static str],
    /// The programs of the machine without which nothing of it can be measured.
    pub programs: Programs,
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
    /// Time that one metric of one cell is measured for, in milliseconds.
    pub measure_ms: u64,
    /// What one call of a trajectory takes at the very most, in milliseconds: by this its deadline is
    /// set by default.
    pub call_ms_max: u64,
    /// What a cell takes at the very most besides, in milliseconds: opening and closing what it measures
    /// on, or all that is not measured for a set time.
    pub cell_ms_max: u64,
    /// The parameter that says how many things a cell makes, where there can be millions, and what one of
    /// them takes to make at the very most, in microseconds.
    pub made_us_max: Option<(&'static str, u64)>,
}

impl Usual {
    /// Of most.
    pub const PLAIN: Usual = Usual {
        rounds: 7,
        measure_ms: 100,
        call_ms_max: 1,
        cell_ms_max: 30_000,
        made_us_max: None,
    };
    /// Of a trajectory: each of its rounds has every point of the axis, so fewer do.
    pub const TRAJECTORY: Usual = Usual { rounds: 5, ..Usual::PLAIN };
}

impl About {
    /// A control's or a simple workload's, in its first version. For use with `..`.
    pub fn plain() -> About {
        About {
            info: WorkloadInfo { version: 1, ..WorkloadInfo::default() },
            kind: Kind::Suite,
            parameters: Vec::new(),
            usual: Usual::PLAIN,
            originals: &[],
            custom_keys: &[],
            programs: Programs::None,
        }
    }

    /// The same, of a trajectory.
    pub fn trajectory() -> About {
        let info = WorkloadInfo { trajectory: true, ..About::plain().info };
        About { info, usual: Usual::TRAJECTORY, ..About::plain() }
    }

    /// The name of its own axis.
    pub fn axis(&self) -> &'static str {
        self.parameters.first().map_or("", |first| first.name)
    }

    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether `key` of a suite, or the flag of that name, adds commands or servers of the user's own to it.
    pub fn takes_custom(&self, key: &str) -> bool {
        self.custom_keys.contains(&key)
    }

    /// The parameters that can be the axis.
    pub fn axes(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.sweep.is_some())
    }
}

/// Texts, for the lists of a description.
pub fn strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(String::from).into()
}

/// Names of subjects, two and two.
pub fn pairs<const N: usize>(names: [(&str, &str); N]) -> Vec<(String, String)> {
    names.map(|(first, second)| (first.into(), second.into())).into()
}

/// Whether a workload runs without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Part of `knee run` without arguments. [Controls](model::WorkloadRole::Control) are.
    Suite,
    /// Takes longer than the whole suite: only by name.
    Named,
    /// Proves the instrument by misbehaving: only by name.
    Fault,
}
