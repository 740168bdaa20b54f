//! How a load goes on, in one line on a terminal.

use crate::commands::measure::progress::Progress;
use ::load::{Plan, Tick};
use findings::format::{count, significant};
use std::time::Duration;

pub struct Live {
    progress: Progress,
    interval_s: f64,
}

impl Live {
    pub fn new(plan: &Plan) -> Live {
        let length = plan.duration.map(|duration| duration.as_millis() as u64);
        let drawn = if length.is_some() { "{bar:24}" } else { "{spinner}" };
        let progress = Progress::drawn(length, &format!("{drawn} {{elapsed}}  {{msg}}"));
        progress.tick_every(Duration::from_millis(500));
        Live { progress, interval_s: plan.interval.as_secs_f64() }
    }

    pub fn tick(&self, tick: &Tick) {
        let errors = match tick.errors {
            0 => String::new(),
            errors => format!("  {} errors", count(errors)),
        };
        let rate = significant(tick.replies as f64 / self.interval_s);
        let p99 = significant(tick.p99_ns / 1e6);
        let message = format!("{rate} replies/s  p99 {p99} ms{errors}");
        self.progress.at((tick.at_s * 1e3) as u64, &message);
    }

    pub fn done(&self) {
        self.progress.done();
    }
}
