//! How a run goes on, on standard error: a line with the time left on a terminal, else only what
//! went wrong.

use crate::exit::complain;
use crate::output;
use engine::{Outlook, Watch};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::{Cell, CellKey, Outcome};
use std::io::IsTerminal;

/// Draws the progress of a run.
pub struct Progress {
    /// Absent off a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(total: u64) -> Progress {
        let draws = std::io::stderr().is_terminal() && output::may_move();
        let bar = draws.then(|| ProgressBar::with_draw_target(Some(total), target()));
        if let Some(bar) = &bar {
            // The template is ours: were it wrong, the default would do.
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        Progress { bar }
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
    fn begins(&mut self, key: &CellKey, outlook: &Outlook) {
        let Some(bar) = &self.bar else { return };
        let left = outlook.left.map(|left| format!("about {} left  ", HumanDuration(left)));
        let what = format!("{} {} at {}", key.workload, key.subject, key.point);
        bar.set_position(outlook.done);
        bar.set_message(format!("{}{what}", left.unwrap_or_default()));
    }

    fn ended(&mut self, cell: &Cell, outlook: &Outlook) {
        if let Outcome::Void { reason, .. } = &cell.outcome {
            let key = &cell.key;
            let line = format!(
                "void: {} {} at {}, round {}: {reason}",
                key.workload,
                key.subject,
                key.point,
                key.round + 1
            );
            match &self.bar {
                Some(bar) => bar.println(line),
                None => complain(&line),
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_position(outlook.done);
        }
    }
}
