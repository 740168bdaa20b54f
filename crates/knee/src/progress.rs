//! The progress of a run, on standard error: a line with the time left on a terminal, else only what
//! failed.

use crate::exit::note;
use crate::output;
use engine::{RunProgress, Watch};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::{Cell, CellKey, Outcome, Plan};
use std::time::Duration;

/// Draws the progress of a run.
pub struct Progress {
    /// Absent off a terminal.
    bar: Option<ProgressBar>,
    /// The time that the bar shows instead of cells, where a budget ends the run.
    budget: Option<Duration>,
    /// Subjects that have to fail, each with its workload: their failures are no news.
    controls: Vec<(String, String)>,
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

    pub fn new(total: u64) -> Progress {
        let draws = output::draws_progress();
        let bar = draws.then(|| ProgressBar::with_draw_target(Some(total), target()));
        if let Some(bar) = &bar {
            // The template is ours: were it wrong, the default would do.
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        Progress { bar, budget: None, controls: Vec::new() }
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
        let left = progress.left.map(|left| format!("about {} left  ", HumanDuration(left)));
        let what = format!("{} {} at {}", key.workload, key.subject, key.point);
        bar.set_message(format!("{}{what}", left.unwrap_or_default()));
        self.set_position(progress);
    }

    fn ended(&mut self, cell: &Cell, progress: &RunProgress) {
        let key = &cell.key;
        let is_control = self
            .controls
            .iter()
            .any(|(workload, subject)| (workload, subject) == (&key.workload, &key.subject));
        if let Outcome::Failed { reason, .. } = &cell.outcome
            && !is_control
        {
            let line = format!(
                "failed: {} {} at {}, round {}: {reason}",
                key.workload,
                key.subject,
                key.point,
                key.round + 1
            );
            match &self.bar {
                Some(bar) => bar.println(line),
                None => note(&line),
            }
        }
        self.set_position(progress);
    }
}
