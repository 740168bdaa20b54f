//! The progress of a run, on standard error: a line with the time left on a terminal, else only what
//! failed.

use crate::exit::note;
use crate::output;
use engine::{RunProgress, Watch};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Cell, CellKey, Outcome, Plan, ProfiledCell};
use std::time::Duration;

/// Draws the progress of a run.
pub struct Progress {
    /// Absent off a terminal.
    bar: Option<ProgressBar>,
    /// The time that the bar shows instead of cells, where a budget ends the run.
    budget: Option<Duration>,
    /// Subjects that have to fail, each with its workload: their failures are no news.
    controls: Vec<(String, String)>,
    /// Whether it shows the profile pass by now.
    is_profiling: bool,
}

impl Progress {
    /// For the cells of `runs` runs of this plan, or for the time of its budget.
    pub fn for_plan(plan: &Plan, runs: usize) -> Progress {
        let owned = |(workload, subject): (&str, &str)| (workload.to_owned(), subject.to_owned());
        let controls = plan.controls().map(owned).collect();
        let Some(budget) = plan.budget else {
            return Progress { controls, ..Progress::new((runs * plan.cells.len()) as u64) };
        };
        let time = Some(Duration::from_millis(budget.time_ms)).filter(|time| !time.is_zero());
        let progress = Progress { budget: time, controls, ..Progress::new(budget.time_ms.max(1)) };
        if let Some(bar) = &progress.bar {
            // Without a time the number of cells is unknown.
            let template = if time.is_some() { "{bar:24} {msg}" } else { "{pos} cells  {msg}" };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        progress
    }

    fn set_position(&self, progress: &RunProgress) {
        let Some(bar) = &self.bar else { return };
        let spent =
            self.budget.zip(progress.left).map(|(budget, left)| budget.saturating_sub(left));
        bar.set_position(spent.map_or(progress.done, |spent| spent.as_millis() as u64));
    }

    /// Says that a cell failed, unless it has to.
    fn note_failure(&self, key: &CellKey, outcome: &Outcome, when: &str) {
        let Outcome::Failed { reason, .. } = outcome else { return };
        let names = (key.workload.as_str(), key.subject.as_str());
        let mut controls = self.controls.iter();
        if controls.any(|(workload, subject)| (workload.as_str(), subject.as_str()) == names) {
            return;
        }
        let line = format!("failed: {}, {when}: {reason}", cell_name(key));
        match &self.bar {
            Some(bar) => bar.println(line),
            None => note(&line),
        }
    }

    pub fn new(total: u64) -> Progress {
        let draws = output::draws_progress();
        let bar = draws.then(|| ProgressBar::with_draw_target(Some(total), target()));
        if let Some(bar) = &bar {
            // The template is ours: were it wrong, the default would do.
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        Progress { bar, budget: None, controls: Vec::new(), is_profiling: false }
    }

    /// How many things are done, and what is being done.
    pub fn at(&self, done: u64, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(what.to_owned());
        }
    }

    /// Takes the line away.
    pub fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn target() -> ProgressDrawTarget {
    ProgressDrawTarget::stderr_with_hz(5)
}

impl Watch for Progress {
    fn begins(&mut self, key: &CellKey, progress: &RunProgress) {
        let Some(bar) = &self.bar else { return };
        bar.set_message(format!("{}{}", left(progress), cell_name(key)));
        self.set_position(progress);
    }

    fn ended(&mut self, cell: &Cell, progress: &RunProgress) {
        self.note_failure(&cell.key, &cell.outcome, &format!("round {}", cell.key.round + 1));
        self.set_position(progress);
    }

    fn profile_begins(&mut self, key: &CellKey, progress: &RunProgress) {
        let Some(bar) = &self.bar else { return };
        if !self.is_profiling {
            self.is_profiling = true;
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        bar.set_message(format!("{}profiling {}", left(progress), cell_name(key)));
    }

    fn profile_ended(&mut self, cell: &ProfiledCell, progress: &RunProgress) {
        self.note_failure(&cell.key, &cell.outcome, "while it was profiled");
        if let Some(bar) = &self.bar {
            bar.set_position(progress.done);
        }
    }
}

/// The time left, if it is known, before what is being done.
fn left(progress: &RunProgress) -> String {
    let left = progress.left.map(|left| format!("about {} left  ", HumanDuration(left)));
    left.unwrap_or_default()
}

fn cell_name(key: &CellKey) -> String {
    format!("{} {} at {}", key.workload, key.subject, key.point)
}
