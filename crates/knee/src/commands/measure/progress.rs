//! The progress of a run, on standard error: on a terminal a line with the time left, and below it the verdicts so far; else
//! only what failed.

use crate::exit::note;
use crate::output;
use engine::{RunProgress, Watch};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{CellKey, Outcome, Plan, Run};
use report::terminal;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

pub struct Progress {
    /// Absent off a terminal.
    bar: Option<ProgressBar>,
    /// The time that the bar shows instead of cells, where a budget ends the run.
    budget: Option<Duration>,
    /// Subjects that have to fail, each with its workload: their failures are no news.
    controls: Vec<(String, String)>,
    /// What failed: the workload, the subject and what happened. The first one is printed.
    failed: BTreeSet<(String, String, String)>,
    is_profiling: bool,
    verdicts: Option<Verdicts>,
    /// The names of several sides.
    labels: Vec<String>,
}

struct Verdicts {
    next: Instant,
    text: String,
}

const VERDICTS_EVERY: Duration = Duration::from_secs(5);
/// The time between two of them is at least as many times what one takes.
const VERDICTS_APART_MIN: u32 = 50;
/// Lines of the verdicts at most: half of a small terminal.
const VERDICTS_LINES_MAX: usize = 12;

impl Verdicts {
    fn new(began: Instant) -> Self {
        Self { next: began + VERDICTS_EVERY, text: String::new() }
    }

    /// Draws them anew if it is time: the next cell waits meanwhile.
    fn update(&mut self, run: &Run, now: Instant) {
        if now < self.next {
            return;
        }
        let began = Instant::now();
        let (conclusions, style) = (findings::conclude(run), output::style_of_progress());
        let text = terminal::answer_so_far(run, &conclusions, &style, VERDICTS_LINES_MAX);
        self.text = text.map_or_else(String::new, |text| format!("\n{}", text.trim_end()));
        self.next = now + VERDICTS_EVERY.max(began.elapsed() * VERDICTS_APART_MIN);
    }
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
            bar.set_style(style(template));
        }
        progress
    }

    pub fn with_verdicts(self) -> Progress {
        let verdicts = self.bar.is_some().then(|| Verdicts::new(Instant::now()));
        Progress { verdicts, ..self }
    }

    pub fn with_labels(self, labels: Vec<String>) -> Progress {
        Progress { labels, ..self }
    }

    fn set_position(&self, progress: &RunProgress) {
        let Some(bar) = &self.bar else { return };
        let spent =
            self.budget.zip(progress.left).map(|(budget, left)| budget.saturating_sub(left));
        bar.set_position(spent.map_or(progress.done, |spent| spent.as_millis() as u64));
    }

    /// Says that a cell failed, unless it has to, or another of its subject did for the same reason.
    fn note_failure(&mut self, key: &CellKey, outcome: &Outcome, when: &str) {
        let Outcome::Failed { reason, .. } = outcome else { return };
        let names = (key.workload.as_str(), key.subject.as_str());
        let mut controls = self.controls.iter();
        if controls.any(|(workload, subject)| (workload.as_str(), subject.as_str()) == names) {
            return;
        }
        let what = (key.workload.clone(), key.subject.clone(), reason.event());
        if !self.failed.insert(what) {
            return;
        }
        let line = format!("failed: {}, {when}: {reason}", cell_name(key));
        match &self.bar {
            Some(bar) => bar.println(line),
            None => note(&line),
        }
    }

    pub fn new(total: u64) -> Progress {
        Progress::drawn(Some(total), COUNTED)
    }

    /// By a template; without a `total`, only messages are to be shown.
    pub fn drawn(total: Option<u64>, template: &str) -> Progress {
        let bar = output::draws_progress().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(5);
            ProgressBar::with_draw_target(total, target).with_style(style(template))
        });
        Progress {
            bar,
            budget: None,
            controls: Vec::new(),
            failed: BTreeSet::new(),
            is_profiling: false,
            verdicts: None,
            labels: Vec::new(),
        }
    }

    /// Draws it anew this often, although nothing has changed but the time.
    pub fn tick_every(&self, interval: Duration) {
        if let Some(bar) = &self.bar {
            bar.enable_steady_tick(interval);
        }
    }

    pub fn at(&self, done: u64, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(what.to_owned());
        }
    }

    pub fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

const COUNTED: &str = "{bar:24} {pos}/{len}  {msg}";

fn style(template: &str) -> ProgressStyle {
    // The templates are ours: were one wrong, the default would do.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Watch for Progress {
    fn begins(&mut self, side: usize, key: &CellKey, progress: &RunProgress) {
        let Some(bar) = &self.bar else { return };
        let profiling = if progress.is_profile { "profiling " } else { "" };
        if progress.is_profile && !self.is_profiling {
            (self.is_profiling, self.budget) = (true, None);
            bar.set_style(style(COUNTED));
            bar.set_length(progress.total);
        }
        let verdicts = self.verdicts.as_ref().map_or("", |verdicts| &verdicts.text);
        let label = self.labels.get(side).map(|label| format!("{label}: ")).unwrap_or_default();
        let (left, cell) = (left(progress), cell_name(key));
        bar.set_message(format!("{left}{label}{profiling}{cell}{verdicts}"));
        self.set_position(progress);
    }

    fn ended(&mut self, key: &CellKey, outcome: &Outcome, progress: &RunProgress) {
        let round = format!("round {}", key.round + 1);
        let when = if progress.is_profile { "while it was profiled" } else { &round };
        self.note_failure(key, outcome, when);
        self.set_position(progress);
    }

    fn grew(&mut self, run: &Run) {
        if let Some(verdicts) = &mut self.verdicts {
            verdicts.update(run, Instant::now());
        }
    }
}

fn left(progress: &RunProgress) -> String {
    let left = progress.left.map(|left| format!("about {} left  ", HumanDuration(left)));
    left.unwrap_or_default()
}

fn cell_name(key: &CellKey) -> String {
    format!("{} {} at {}", key.workload, key.subject, key.point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_drawn_when_it_is_time_and_no_sooner() {
        let rounds = (0..5).flat_map(|round| [10, 100, 1_000].map(|point| (point, round)));
        let cell = |(point, round)| {
            let samples = (0..20).map(|step| (1_000 * point + step + u64::from(round)) as f64);
            fixtures::cell("poll", "select", point, round).samples("loop", samples.collect())
        };
        let workload = fixtures::workload("poll").axis("descriptors", "watched");
        let workload = workload.time("loop").subjects(["select"]);
        let run = fixtures::run(workload).cells(rounds.map(cell)).complete();
        let began = Instant::now();
        let mut verdicts = Verdicts::new(began);
        verdicts.update(&run, began);
        assert_eq!(verdicts.text, "");
        verdicts.update(&run, began + VERDICTS_EVERY);
        assert!(verdicts.text.contains("select"), "{}", verdicts.text);
        assert!(verdicts.next >= began + 2 * VERDICTS_EVERY, "and the next ones later");
    }
}
