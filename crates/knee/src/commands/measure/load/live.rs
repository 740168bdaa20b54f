//! How a load goes on, in one line on a terminal.

use crate::output;
use ::load::{Plan, Tick};
use findings::format::{count, significant};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Draws the line; absent off a terminal.
pub struct Live {
    bar: Option<ProgressBar>,
    interval_s: f64,
}

impl Live {
    pub fn new(plan: &Plan) -> Live {
        let draws = output::draws_progress();
        let length = plan.duration.map(|duration| duration.as_millis() as u64);
        let bar = draws.then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(5);
            let bar = ProgressBar::with_draw_target(length, target);
            let template = if length.is_some() {
                "{bar:24} {elapsed}  {msg}"
            } else {
                "{spinner} {elapsed}  {msg}"
            };
            // The template is ours: were it wrong, the default would do.
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Live { bar, interval_s: plan.interval.as_secs_f64() }
    }

    /// An interval has ended.
    pub fn tick(&self, tick: &Tick) {
        let Some(bar) = &self.bar else { return };
        bar.set_position((tick.at_s * 1e3) as u64);
        let errors = match tick.errors {
            0 => String::new(),
            errors => format!("  {} errors", count(errors)),
        };
        bar.set_message(format!(
            "{} replies/s  p99 {} ms{errors}",
            significant(tick.replies as f64 / self.interval_s),
            significant(tick.p99_ns / 1e6),
        ));
    }

    /// Takes the line away.
    pub fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
