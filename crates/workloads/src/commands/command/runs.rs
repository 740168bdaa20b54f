//! The runs of one cell.

use super::counters::{self, Counters};
use super::figures::Figure;
use super::interpreter::Interpreter;
use super::{ABOUT, time_limit_ms};
use crate::shared::calls;
use crate::shared::cpus::{self, ALL};
use crate::shared::quota::{self, QuotaWatch};
use crate::shared::runner;
use engine::{
    Cell, CommandOutput, Custom, Fact, Failure, Probe, QuotaGroup, Ran, RunEnd, Runner,
    RunnerCommand, RunnerOutput, command_facts,
};
use quantities::template;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// More samples than this make the record larger and no CI narrower.
const SAMPLES_MAX: usize = 200;
/// A first run that takes less than this part of the measuring time warms up, and does not count.
const WARM_UP_PART: f64 = 0.1;
/// A cell with a slow hook takes this many measuring times at most.
const WALL_TIMES_MAX: f64 = 10.0;
/// Runs of the empty shell, the fastest of which is taken off: a typical one would leave less than nothing of many
/// a short command, and no logarithm.
const SHELL_RUNS: usize = 21;
/// The end of standard output that is kept with a cell.
const OUTPUT_CHARACTERS_MAX: usize = 2_000;

/// Measures one cell.
pub(super) fn measure(
    custom: &Custom,
    figures: &[Figure],
    cell: &Cell,
    probe: &mut Probe,
) -> Result<(), Failure> {
    if cell.parameters.contains_key(ALL.name) && !custom.words.contains_key(ALL.name) {
        cpus::choose(cell)?;
    }
    let commands = custom.commands.iter().find(|command| command.name == cell.subject);
    let template = commands
        .ok_or_else(|| Failure::new(format!("there is no command called {}", cell.subject)))?;
    // Before the guard starts: it is counted with what it starts.
    let counters = Counters::start()?;
    let runner = runner::start(probe)?;
    let mut site = Site { custom, figures, cell, runner, group: quota::group(cell)?, counters };
    let command = site.command(&template.text, site.output(), custom.input.is_some())?;
    probe.fact("command", site.text(&template.text));
    if !site.counters.note.is_empty() {
        probe.fact("instructions and cycles", site.counters.note.as_str());
    }
    let set_up = site.hook("--setup", custom.setup.as_deref());
    let measured = set_up.and_then(|()| site.measured(&template.text, &command, probe));
    // What the set-up made is taken away, however it and the runs ended.
    let cleaned = site.hook("--cleanup", custom.cleanup.as_deref());
    measured.and(cleaned)?;
    site.runner.end().map_err(|error| Failure::call("ending the guard", error))
}

/// Where a cell runs its commands.
struct Site<'a> {
    custom: &'a Custom,
    figures: &'a [Figure],
    cell: &'a Cell,
    runner: Runner,
    /// It goes when the runner has ended what it started.
    group: Option<Arc<QuotaGroup>>,
    counters: Counters,
}

/// A run with what was counted of it.
struct CountedRun {
    ran: Ran,
    /// In the order of [`counters::metrics`].
    counts: Vec<u64>,
}

/// What the empty shell takes, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct ShellCost {
    elapsed_ns: f64,
    user_ns: f64,
    system_ns: f64,
    /// In the order of [`counters::metrics`]; empty where there is no shell.
    counts: Vec<f64>,
}

/// Which of the metrics is the CPU time of a run.
const CPU: usize = 1;

/// Samples by metric, in the order of [`ABOUT`], of [`counters::metrics`] and then of the figures.
struct Samples(Vec<Vec<f64>>);

impl Site<'_> {
    /// A text with the values of this cell.
    fn text(&self, text: &str) -> String {
        template::fill(text, |word| self.cell.text(word).ok())
    }

    /// A command or hook as it is run.
    fn command(
        &self,
        text: &str,
        output: RunnerOutput,
        has_input: bool,
    ) -> Result<RunnerCommand, Failure> {
        let interpreter = Interpreter::for_text(self.custom, text);
        let input = self.custom.input.as_ref().filter(|_| has_input);
        Ok(RunnerCommand {
            words: interpreter.words(&self.text(text)).map_err(Failure::new)?,
            directory: self.custom.directory.clone(),
            input: input.map(|file| PathBuf::from(self.text(file))),
            output,
            call_tracepoint: None,
            group: self.group.as_ref().map(|group| group.entrance()),
            time_limit: Some(Duration::from_millis(time_limit_ms(self.custom))),
        })
    }

    fn output(&self) -> RunnerOutput {
        match &self.custom.output {
            Some(CommandOutput::File(file)) => RunnerOutput::File(self.text(file).into()),
            Some(CommandOutput::Inherit) => {
                // The standard error of the program that started this worker.
                let parent = rustix::process::getppid().map_or(1, |pid| pid.as_raw_nonzero().get());
                RunnerOutput::Append(format!("/proc/{parent}/fd/2").into())
            }
            Some(CommandOutput::Null) | None if self.figures.is_empty() => RunnerOutput::Null,
            Some(CommandOutput::Null | CommandOutput::Keep) | None => RunnerOutput::Kept,
        }
    }

    /// Runs what comes before or after runs.
    fn hook(&mut self, flag: &str, text: Option<&str>) -> Result<(), Failure> {
        let Some(text) = text else { return Ok(()) };
        let command = self.command(text, RunnerOutput::Null, false)?;
        let command = RunnerCommand { group: None, ..command };
        let CountedRun { ran, .. } = self.run(text, &command)?;
        match ending(&ran, self.custom) {
            None => Ok(()),
            Some(how) => Err(failure(flag, self.text(text), how, &ran)),
        }
    }

    fn run(&mut self, text: &str, command: &RunnerCommand) -> Result<CountedRun, Failure> {
        let counting = |error| Failure::call("reading the CPU's counters", error);
        let before = self.counters.read().map_err(counting)?;
        let ran = self.runner.run(command);
        let ran =
            ran.map_err(|error| Failure::call(format!("starting `{}`", self.text(text)), error))?;
        let after = self.counters.read().map_err(counting)?;
        Ok(CountedRun { ran, counts: Counters::between(&before, &after)? })
    }

    /// Runs the command until the time is spent.
    fn measured(
        &mut self,
        text: &str,
        command: &RunnerCommand,
        probe: &mut Probe,
    ) -> Result<(), Failure> {
        let shell = self.shell_cost(text, probe)?;
        let (clock, measure_ns) = (probe.clock(), probe.time().as_nanos() as f64);
        let begun = clock.now();
        let metrics = ABOUT.info.metrics.len() + counters::metrics().len() + self.figures.len();
        let mut samples = Samples(vec![Vec::new(); metrics]);
        let (mut measured_ns, mut runs) = (0.0, 0_u32);
        let (mut ends, mut left, mut left_cpu_ns) = (BTreeSet::<String>::new(), 0, 0);
        let mut quota = QuotaWatch::begin(self.group.as_ref())?;
        let last = loop {
            self.hook("--prepare", self.custom.prepare.as_deref())?;
            let CountedRun { ran, counts } = self.run(text, command)?;
            self.hook("--conclude", self.custom.conclude.as_deref())?;
            if let Some(how) = ending(&ran, self.custom) {
                let is_ignored = self.custom.ignore_failure && is_of_its_own(ran.end);
                if !is_ignored {
                    return Err(failure("", self.text(text), how, &ran));
                }
                ends.insert(how);
            }
            let elapsed_ns = clock.ns(ran.before, ran.after);
            runs += 1;
            left = left.max(ran.left);
            left_cpu_ns = left_cpu_ns.max(ran.left_cpu_ns);
            if self.warms_up(runs, elapsed_ns, measure_ns) {
                quota = QuotaWatch::begin(self.group.as_ref())?;
                continue;
            }
            let counted = CountedRun { ran, counts };
            samples.add(&counted, elapsed_ns, &shell, self.figures)?;
            let CountedRun { ran, .. } = counted;
            for metric in timed_metrics(self.custom.headline()) {
                let operations = samples.operations(metric, elapsed_ns, self.figures);
                probe.region(metric, ran.before, ran.after, operations);
            }
            measured_ns += elapsed_ns;
            let wall_ns = clock.ns(begun, clock.now());
            let is_spent = measured_ns >= measure_ns || wall_ns >= WALL_TIMES_MAX * measure_ns;
            if is_spent || samples.0[0].len() >= SAMPLES_MAX {
                break ran;
            }
        };
        if !ends.is_empty() {
            probe.fact(command_facts::IGNORED_ENDS, Fact::Texts(Vec::from_iter(ends)));
        }
        if left > 0 {
            probe.fact(command_facts::LEFT, left);
            probe.fact(command_facts::LEFT_CPU_MS, left_cpu_ns / 1_000_000);
        }
        if self.custom.output == Some(CommandOutput::Keep) {
            probe.fact("output", end_of(last.output.trim_end(), OUTPUT_CHARACTERS_MAX));
        }
        samples.give(self.figures, probe);
        if let Some(quota) = quota {
            quota.give(samples.0[0].len() as u64, probe)?;
        }
        self.count_calls(text, command, measured_ns / samples.0[0].len() as f64, probe)
    }

    /// Counts system calls in one more run, where it takes no longer than measuring did or they are what the cell is for.
    fn count_calls(
        &mut self,
        text: &str,
        command: &RunnerCommand,
        run_ns: f64,
        probe: &mut Probe,
    ) -> Result<(), Failure> {
        let is_headline = self.custom.headline().is_some_and(calls::is_counted);
        let tracepoint = match calls::tracepoint() {
            _ if run_ns > probe.time().as_nanos() as f64 && !is_headline => {
                Err("a run takes longer than --time, and --headline is another".to_owned())
            }
            tracepoint => tracepoint,
        };
        let tracepoint = match tracepoint {
            Ok(id) => id,
            Err(why) => {
                calls::state_uncounted(&why, probe);
                return Ok(());
            }
        };
        self.hook("--prepare", self.custom.prepare.as_deref())?;
        let counted = RunnerCommand { call_tracepoint: Some(tracepoint), ..command.clone() };
        match self.run(text, &counted) {
            Ok(CountedRun { ran, .. }) => calls::give(&ran.calls, 1, probe),
            Err(failure) => calls::state_uncounted(&failure.to_string(), probe),
        }
        self.hook("--conclude", self.custom.conclude.as_deref())
    }

    /// Whether a run that took so long warms up. `runs` counts it.
    fn warms_up(&self, runs: u32, elapsed_ns: f64, measure_ns: f64) -> bool {
        match self.custom.warm_up {
            Some(count) => runs <= count,
            None => runs == 1 && elapsed_ns < WARM_UP_PART * measure_ns,
        }
    }

    /// What the empty shell takes, where the command has one.
    fn shell_cost(&mut self, text: &str, probe: &mut Probe) -> Result<ShellCost, Failure> {
        let interpreter = Interpreter::for_text(self.custom, text);
        let Interpreter::Shell(words) = &interpreter else { return Ok(ShellCost::default()) };
        let empty = RunnerCommand {
            words: interpreter.words("").map_err(Failure::new)?,
            ..self.command(text, RunnerOutput::Null, false)?
        };
        let clock = probe.clock();
        let mut figures = vec![Vec::new(); 3 + counters::metrics().len()];
        for run in 0..=SHELL_RUNS {
            let CountedRun { ran, counts } = self.run(&words.join(" "), &empty)?;
            if let Some(how) = ending(&ran, self.custom) {
                let command = format!("{} -c ''", words.join(" "));
                return Err(failure("the empty shell", command, how, &ran));
            }
            // The first one warms up.
            if run > 0 {
                let times = [
                    clock.ns(ran.before, ran.after),
                    ran.used.user_ns as f64,
                    ran.used.system_ns as f64,
                ];
                let row = times.into_iter().chain(counts.into_iter().map(|count| count as f64));
                figures.iter_mut().zip(row).for_each(|(samples, figure)| samples.push(figure));
            }
        }
        let mut figures = figures.into_iter().map(min);
        let [elapsed_ns, user_ns, system_ns] = [(); 3].map(|()| figures.next().unwrap_or(0.0));
        let counts = figures.collect();
        probe.fact("shell", words.join(" "));
        probe.fact("start-up of the shell, taken off_us", Fact::rounded(elapsed_ns / 1e3, 0));
        Ok(ShellCost { elapsed_ns, user_ns, system_ns, counts })
    }
}

impl Samples {
    fn add(
        &mut self,
        CountedRun { ran, counts }: &CountedRun,
        elapsed_ns: f64,
        shell: &ShellCost,
        figures: &[Figure],
    ) -> Result<(), Failure> {
        let mut used = ran.used;
        used.add(&ran.orphans);
        let cpu_ns = (used.user_ns + used.system_ns) as f64;
        let mut row = vec![
            (elapsed_ns - shell.elapsed_ns).max(0.0),
            (cpu_ns - shell.user_ns - shell.system_ns).max(0.0),
            (used.user_ns as f64 - shell.user_ns).max(0.0),
            (used.system_ns as f64 - shell.system_ns).max(0.0),
            used.rss_max_bytes as f64,
            (used.faults_minor + used.faults_major) as f64,
            (used.switches_voluntary + used.switches_involuntary) as f64,
            used.switches_voluntary as f64,
        ];
        let io = ran.io.map(|io| [io.bytes_read, io.bytes_written, io.reads, io.writes]);
        // Unknown counts have no samples.
        row.extend(io.map_or([f64::NAN; 4], |counts| counts.map(|count| count as f64)));
        let shell_counts = shell.counts.iter().copied().chain(std::iter::repeat(0.0));
        let counts = counts.iter().zip(shell_counts);
        row.extend(counts.map(|(&count, shell)| (count as f64 - shell).max(0.0)));
        for figure in figures {
            row.push(figure.find(ran)?);
        }
        let counted = self.0.iter_mut().zip(row).filter(|(_, figure)| !figure.is_nan());
        counted.for_each(|(samples, figure)| samples.push(figure));
        Ok(())
    }

    /// The operations of the last run: where `metric` is a rate that it printed, what that makes in its time.
    fn operations(&self, metric: &str, elapsed_ns: f64, figures: &[Figure]) -> u64 {
        let first = self.0.len() - figures.len();
        let mut printed = figures.iter().zip(&self.0[first..]);
        let figure = printed.find(|(figure, _)| figure.name() == metric);
        let operations = figure.and_then(|(f, samples)| f.operations(*samples.last()?, elapsed_ns));
        operations.unwrap_or(1)
    }

    fn give(&self, figures: &[Figure], probe: &mut Probe) {
        let counted = counters::metrics();
        let names = ABOUT.info.metrics.iter().chain(&counted).map(|metric| metric.name.as_str());
        let all = names.chain(figures.iter().map(Figure::name)).zip(&self.0);
        let cpu_ns: f64 = self.0[CPU].iter().sum();
        let is_split = probe.has_cpu_split(cpu_ns as u64, self.0[CPU].len() as u64);
        let is_known = |name: &str| is_split || !["user", "system"].contains(&name);
        for (name, samples) in all.filter(|(name, samples)| is_known(name) && !samples.is_empty()) {
            probe.given(name, samples, samples.len() as u64);
        }
    }
}

/// The metrics that a run has samples of: its elapsed time, and the one that the user puts first.
fn timed_metrics(headline: Option<&str>) -> impl Iterator<Item = &str> {
    let elapsed = ABOUT.info.metrics[0].name.as_str();
    std::iter::once(elapsed).chain(headline.filter(move |headline| *headline != elapsed))
}

/// How a run ended, if not well.
fn ending(ran: &Ran, custom: &Custom) -> Option<String> {
    if ran.end == RunEnd::TimeLimit {
        let limit = Duration::from_millis(time_limit_ms(custom));
        return Some(format!(
            "took longer than {limit:?} and was killed (--time-limit raises that)"
        ));
    }
    runner::ending(ran.end)
}

/// Whether a command ended by itself.
fn is_of_its_own(end: RunEnd) -> bool {
    matches!(end, RunEnd::Exited(_) | RunEnd::Killed(_))
}

/// A failure with the last line of standard error; all that was kept of it stands in the record.
fn failure(role: &str, command: String, how: String, ran: &Ran) -> Failure {
    let errors = ran.errors.trim_end();
    // Whoever reads this may be gone.
    let _ = std::io::stderr().write_all(errors.as_bytes());
    Failure::command(role, command, how, errors)
}

/// The last characters of a text.
fn end_of(text: &str, max: usize) -> &str {
    let start = text.char_indices().rev().nth(max.saturating_sub(1));
    &text[start.map_or(0, |(index, _)| index)..]
}

fn min(figures: Vec<f64>) -> f64 {
    figures.into_iter().min_by(f64::total_cmp).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_has_whole_characters() {
        assert_eq!(end_of("äöü", 2), "öü");
        assert_eq!(end_of("ab", 5), "ab");
        assert_eq!(end_of("", 5), "");
    }

    #[test]
    fn a_run_has_samples_of_its_elapsed_time_and_of_the_headline() {
        let metrics = |headline| timed_metrics(headline).collect::<Vec<_>>();
        assert_eq!(metrics(None), ["elapsed"]);
        assert_eq!(metrics(Some("elapsed")), ["elapsed"]);
        assert_eq!(metrics(Some("user")), ["elapsed", "user"]);
    }

    #[test]
    fn the_fastest_empty_shell_is_taken_off() {
        assert!((min(vec![9.0, 1.0, 2.0]) - 1.0).abs() < 1e-9);
        assert!(min(Vec::new()).abs() < 1e-9);
    }
}
