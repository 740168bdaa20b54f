//! What the instrument asks of a workload.

mod about;
mod cell;
pub(crate) mod custom;
mod failure;
mod original;
pub(crate) mod parameter;
mod subject;

pub use about::{About, Kind, Programs, Usual, pairs, strings};
pub use cell::Cell;
pub use failure::{Failure, last_line};
pub use original::{Original, Print};
pub use subject::{Check, Fit, Subject};

use crate::probe::Probe;
use model::{Custom, WorkloadInfo};
use parameter::Parameter;

/// What is exercised. A workload describes itself, says what it compares, and measures one cell;
/// help, `list`, docs and reports derive from that.
pub trait Workload: Sync {
    /// What it is.
    fn about(&self) -> &About;

    /// What it compares, unavailable subjects included, in the order of its tables.
    fn subjects(&self) -> Vec<Subject>;

    /// Its name: `poll`.
    fn name(&self) -> &str {
        &self.about().info.name
    }

    /// What the record keeps of it, with `axis` as its axis.
    fn info(&self, axis: &Parameter) -> WorkloadInfo {
        let own = &self.about().info;
        WorkloadInfo {
            axis: axis.label().into(),
            axis_parameter: axis.name.into(),
            trajectory: own.trajectory && axis.name == self.about().axis(),
            subjects: self.subjects().into_iter().map(|subject| subject.info).collect(),
            ..own.clone()
        }
    }

    /// Whether a cell can be measured here, before anything is started. Everything can, unless the
    /// workload knows better.
    fn fit(&self, _cell: &Cell) -> Fit {
        Fit::Measure
    }

    /// The workload with what the user adds to it, where it takes that. `axis` is the parameter that was named as the axis, which may be a
    /// word of the user's own. The worker of each cell asks for it again.
    ///
    /// # Errors
    /// With one line that says what can't be done, and how to fix it.
    fn with_custom(
        &self,
        _custom: &Custom,
        _axis: Option<&str>,
    ) -> Result<Box<dyn Workload>, String> {
        Err("it takes no commands or servers of your own".to_owned())
    }

    /// Measures one cell. Runs in a worker process of its own.
    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure>;
}
