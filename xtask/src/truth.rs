//! The held-out truth: series, rates, pairs and runs of known truth, through the commands that a user has. The result is
//! how often a verdict is wrong, undecided or exact.
//!
//! It shares neither code nor constants with `analysis` and its tests. Thresholds are never tuned on its seeds.

mod curves;
mod extrap;
mod family;
mod pairs;
mod program;
mod random;
mod rates;
mod runs;

use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use clap::Args;
use family::{Case, Family, Input, Score, Scores, csv};
use program::Program;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What was asked for.
#[derive(Args)]
pub struct Options {
    /// Cases of each family; of runs a tenth of it
    #[arg(long, default_value_t = 1_000)]
    cases: usize,
    /// What cases are drawn from [default: drawn, and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// Only families with this in their names
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Another program knee, such as that of the last commit
    #[arg(long, value_name = "FILE")]
    knee: Option<PathBuf>,
    /// A Python that has Extra-P (`pip install extrap`), which is asked of the single series as well
    #[arg(long, value_name = "PYTHON")]
    extrap: Option<PathBuf>,
    /// Keep wrong and undecided cases in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Cases of each family of growth that are drawn in a test.
const TESTED_CASES: usize = 8;
/// What they are drawn from: no threshold was tuned on it.
const TESTED_SEED: u64 = 61;
/// The most wrong verdicts on all of them: one in a hundred, and what chance adds to it.
const WRONG_MAX: u32 = 4;
/// The most undecided ones of families that grow by ×1.6 or more: three in a hundred, and chance.
const UNDECIDED_MAX: u32 = 6;

/// A small part of it as a test, by the program that was built for the others.
pub fn check(tally: &mut Tally) -> Result<()> {
    let knee = shell::target_dir()?.join("debug").join("knee");
    let asked = Asked { knee: &knee, cases: TESTED_CASES, seed: TESTED_SEED, keep: None };
    let (mut all, mut grown) = (Scores::default(), Scores::default());
    for family in curves::families() {
        let scores = asked.scores(&family)?;
        println!("{}", row(&family.name, &scores));
        all = all.and(scores);
        if !family.name.starts_with("flat") && !family.name.starts_with("weak") {
            grown = grown.and(scores);
        }
    }
    tally.check("truth: wrong verdicts on growth", all.wrong <= WRONG_MAX);
    tally.check("truth: undecided growth by ×1.6 or more", grown.undecided <= UNDECIDED_MAX);
    Ok(())
}

/// Draws all cases, asks knee and prints the table.
pub fn run(options: &Options) -> Result<()> {
    let knee = match &options.knee {
        Some(knee) => fs::canonicalize(knee).with_context(|| knee.display().to_string())?,
        None => crate::bench::build_knee(&shell::root(), &shell::target_dir()?)?,
    };
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let (cases, keep) = (options.cases, options.keep.as_deref());
    let asked = Asked { knee: &knee, cases, seed, keep };
    let mut all =
        [curves::families(), rates::families(), pairs::families(), runs::families()].concat();
    all.retain(|family| family.name.contains(&options.only));
    let python = options.extrap.as_deref().filter(|python| extrap::is_there(python));
    let mut table = String::new();
    let mut print = |line: &str, of_extrap: &str| {
        let line =
            if python.is_some() { format!("{line}{of_extrap}\n") } else { format!("{line}\n") };
        print!("{line}");
        table.push_str(&line);
    };
    let head = format!("| {:50} | cases | wrong | undecided | exact |", "family");
    print(&head, " Extra-P: wrong | exact |");
    print("| --- | ---: | ---: | ---: | ---: |", " ---: | ---: |");
    let mut total = Scores::default();
    for family in &all {
        let scores = asked.scores(family)?;
        let second = python.map(|python| extrap::scores(&asked, family, python)).transpose()?;
        print(&row(&family.name, &scores), &extrap_columns(second.flatten()));
        total = total.and(scores);
    }
    print(&row("all", &total), &extrap_columns(None));
    if let Some(output) = &options.output {
        fs::write(output, &table).with_context(|| output.display().to_string())?;
    }
    Ok(())
}

fn row(name: &str, scores: &Scores) -> String {
    let percent = |count| format!("{:.1} %", scores.percent(count));
    let Scores { cases, wrong, undecided, exact } = *scores;
    let (wrong, undecided, exact) = (percent(wrong), percent(undecided), percent(exact));
    format!("| {name:50} | {cases:5} | {wrong:>6} | {undecided:>7} | {exact:>7} |")
}

fn extrap_columns(scores: Option<Scores>) -> String {
    let column = |count: fn(&Scores) -> u32| {
        scores.map_or("–".to_owned(), |all| format!("{:.1} %", all.percent(count(&all))))
    };
    format!(" {:>7} | {:>7} |", column(|all| all.wrong), column(|all| all.exact))
}

/// The program that is asked, and the cases.
struct Asked<'a> {
    knee: &'a Path,
    cases: usize,
    seed: u64,
    keep: Option<&'a Path>,
}

impl Asked<'_> {
    /// The scores of one family, by a thread for each CPU.
    fn scores(&self, family: &Family) -> Result<Scores> {
        let (next, scores) = (AtomicUsize::new(0), Mutex::new(Scores::default()));
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let ask = || -> Result<()> {
                let scratch = tempfile::tempdir()?;
                let program = Program { knee: self.knee, scratch: scratch.path() };
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(score) = self.score(family, number, &program)? else { return Ok(()) };
                    scores.lock().unwrap_or_else(PoisonError::into_inner).add(score);
                }
            };
            let crew: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
            crew.into_iter().try_for_each(|each| each.join().expect("nothing panics in the crew"))
        })?;
        Ok(scores.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// A case; `None` behind the last one.
    fn case(&self, family: &Family, number: usize) -> Option<Case> {
        let mut rng = fastrand::Rng::with_seed(mixed(self.seed, &family.name, number));
        let case = (family.draw)(&mut rng);
        let is_of_runs = matches!(case.input, Input::Runs { .. });
        let cases = if is_of_runs { self.cases.div_ceil(10) } else { self.cases };
        (number < cases).then_some(case)
    }

    /// The score of one case; `None` behind the last one.
    fn score(
        &self,
        family: &Family,
        number: usize,
        program: &Program<'_>,
    ) -> Result<Option<Score>> {
        let Some(case) = self.case(family, number) else { return Ok(None) };
        let score = (case.judge)(&program.ask(&case.input)?);
        if let Some(keep) = self.keep.filter(|_| [Score::Wrong, Score::Undecided].contains(&score))
        {
            write_case(keep, &format!("{}-{number}-{score:?}", family.name), &case)?;
        }
        Ok(Some(score))
    }
}

/// Another seed for each case of each family, the same wherever it is drawn (FNV-1a).
fn mixed(seed: u64, family: &str, case: usize) -> u64 {
    let text = format!("{seed}/{family}/{case}");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Writes what was drawn, and what is true of it.
fn write_case(directory: &Path, name: &str, case: &Case) -> Result<()> {
    fs::create_dir_all(directory)?;
    let name = name.replace(['/', ' '], "_");
    let write = |end: &str, text: &str| fs::write(directory.join(format!("{name}{end}")), text);
    write(".txt", &format!("{}\n", case.about))?;
    match &case.input {
        Input::Costs(samples) | Input::Rates(samples) => write(".csv", &csv(samples))?,
        Input::Runs { base, new, .. } => {
            write(".base.csv", &csv(base))?;
            write(".new.csv", &csv(new))?;
        }
    }
    Ok(())
}
