//! A harness for `cargo bench`: measures, keeps the samples, and compares them with a baseline.

use crate::rounds::Rounds;
use crate::series::{Sample, Series};
use crate::timed::Measure;
use crate::{Class, Growth, Kept, Scaling, growth, scaling};
use analysis::compare::{Terms, Verdict, compare};
use findings::format::ratio_with_interval;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Rounds of each series: a comparison takes more than a limit does.
const ROUNDS: u32 = 12;
/// Figures that differ by less than this share are called the same: runs apart differ by some per cent on any machine.
const MARGIN: f64 = 0.1;
const HELP: &str = "\
Usage: cargo bench --bench NAME -- [FILTER] [--save NAME] [--baseline NAME] [--page FILE.html]
  FILTER           measure only what has this in its name
  --save NAME      keep the samples as a baseline
  --baseline NAME  compare with this baseline; default: with the run before
  --page FILE.html write the report (by the program knee, or $KNEE)
";

/// Runs the benchmarks of a target with `harness = false`. The samples are in `target/grows`, a line each, for `knee
/// analyse`.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     grows::bench(|bench| {
///         let sum = grows::cost("sum").over([1_000, 10_000, 100_000]);
///         let sum = sum.measure(|n| (0..n).fold(0, |sum, item| sum ^ std::hint::black_box(item)));
///         bench.at_most(sum, grows::Class::Linear);
///     })
/// }
/// ```
///
/// Without `--bench`, as `cargo test` runs it, each is measured in one round, which is not judged and not kept.
///
/// The exit code is 1 if a limit is exceeded, and 2 if an argument or a file is wrong.
pub fn bench(benches: impl FnOnce(&mut Bench)) -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    match directory().and_then(|directory| run(&directory, arguments, benches)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("grows: {why}");
            ExitCode::from(2)
        }
    }
}

/// Whether every limit was kept.
fn run(
    directory: &Path,
    arguments: impl Iterator<Item = OsString>,
    benches: impl FnOnce(&mut Bench),
) -> Result<bool, String> {
    let Some(options) = Options::read(arguments)? else {
        print!("{HELP}");
        return Ok(true);
    };
    let base = match &options.baseline {
        Some(name) => Some(read(&directory.join(format!("{name}.jsonl")))?),
        None => read(&directory.join(LAST)).ok(),
    };
    let base = Series::all(base.unwrap_or_default());
    let Options { filter, keeps_samples, .. } = &options;
    let (filter, keeps_samples) = (filter.clone(), *keeps_samples);
    let mut bench = Bench { filter, keeps_samples, base, all: Vec::new(), kept: true };
    benches(&mut bench);
    if keeps_samples {
        bench.keep(directory, &options)?;
    }
    Ok(bench.kept)
}

/// The file of the samples of the last run.
const LAST: &str = "last.jsonl";

/// Where the samples of this target are.
fn directory() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let package = std::env::var_os("CARGO_PKG_NAME");
    let directory = directory_of(&program, package.as_deref());
    directory.ok_or_else(|| format!("{} is in no directory of cargo", program.display()))
}

/// `target/grows/PACKAGE/NAME` of `target/release/deps/NAME-HASH`: benches of two packages may have one name. Without a
/// package where cargo did not start it.
fn directory_of(program: &Path, package: Option<&OsStr>) -> Option<PathBuf> {
    let name = program.file_stem()?.to_string_lossy();
    let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
    let all = program.ancestors().nth(3)?.join("grows");
    Some(all.join(package.unwrap_or_default()).join(name))
}

/// What was asked for.
#[derive(Debug, Default, PartialEq)]
struct Options {
    /// Whether cargo says that it is no test.
    keeps_samples: bool,
    filter: Option<String>,
    save: Option<String>,
    baseline: Option<String>,
    page: Option<PathBuf>,
}

impl Options {
    /// None where help was asked for.
    fn read(arguments: impl Iterator<Item = OsString>) -> Result<Option<Options>, String> {
        let mut options = Options::default();
        let mut words = arguments.map(|word| word.to_string_lossy().into_owned());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value\n{HELP}"));
            match word.as_str() {
                "--bench" => options.keeps_samples = true,
                "--help" | "-h" => return Ok(None),
                "--save" => options.save = Some(name(value()?)?),
                "--baseline" => options.baseline = Some(name(value()?)?),
                "--page" => options.page = Some(value()?.into()),
                flag if flag.starts_with('-') => return Err(format!("{flag} is no flag\n{HELP}")),
                _ if options.filter.is_some() => return Err(format!("two filters\n{HELP}")),
                _ => options.filter = Some(word),
            }
        }
        let Options { keeps_samples, save, baseline, page, .. } = &options;
        if !keeps_samples && (save.is_some() || baseline.is_some() || page.is_some()) {
            return Err(format!("without --bench there is nothing to keep or compare\n{HELP}"));
        }
        Ok(Some(options))
    }
}

/// A baseline's name, which names a file.
fn name(word: String) -> Result<String, String> {
    let is_plain = |c: char| c.is_alphanumeric() || ['-', '_', '.'].contains(&c);
    let is_name = word.chars().all(is_plain) && !word.starts_with('.') && !word.is_empty();
    if is_name { Ok(word) } else { Err(format!("`{word}` is no name for a baseline")) }
}

/// The benchmarks of a target: see [`bench`].
pub struct Bench {
    filter: Option<String>,
    keeps_samples: bool,
    base: Vec<Series>,
    all: Vec<Series>,
    /// Whether no limit was exceeded.
    kept: bool,
}

impl Bench {
    /// Measures a cost, and prints how it grows.
    pub fn growth<M: Measure>(&mut self, growth: Growth<M>) {
        self.add(growth.rounds, |series| {
            let analysis = analysis::analyse(&series.run());
            let mut rows = analysis.tables.iter().flat_map(|table| &table.rows);
            let growth = rows.find_map(|row| row.growth.as_ref());
            let words = growth.map(|growth| findings::limit::growth(growth, series.axis));
            (format!("{}: {}", series.name, words.unwrap_or_default()), Kept::Holds)
        });
    }

    /// Measures a cost, and holds it against a limit.
    ///
    /// # Panics
    /// If `limit` is no class, but a word for several: see [`Growth::judge`].
    pub fn at_most<M: Measure>(&mut self, cost: Growth<M>, limit: Class) {
        self.add(cost.rounds, |series| {
            let judged = growth(series, limit);
            (judged.sentence, judged.verdict)
        });
    }

    /// Measures a rate over threads, and holds it against what each of them must do: see [`Scaling::at_least`].
    pub fn at_least<M: Measure>(&mut self, rate: Scaling<M>, share: f64) {
        self.add(rate.rounds, |series| {
            let judged = scaling(series, share);
            (judged.sentence, judged.verdict)
        });
    }

    fn add<M: Measure>(
        &mut self,
        mut rounds: Rounds<M>,
        judge: impl Fn(&Series) -> (String, Kept),
    ) {
        let name = &rounds.series.name;
        if self.filter.as_ref().is_some_and(|filter| !name.contains(filter)) {
            return;
        }
        if !self.keeps_samples {
            println!("{name}: measured once, and not judged: cargo bench does");
            rounds.at_least(1);
            return;
        }
        rounds.at_least(ROUNDS);
        let series = rounds.series;
        let (sentence, verdict) = judge(&series);
        println!("{sentence}");
        let is_same = |base: &&Series| base.name == series.name && base.unit == series.unit;
        if let Some(base) = self.base.iter().find(is_same) {
            println!("  {}", compared(base, &series));
        }
        self.kept &= verdict != Kept::Fails;
        self.all.push(series);
    }

    /// Writes what was measured, and the page where it is asked for.
    fn keep(&self, directory: &Path, options: &Options) -> Result<(), String> {
        let lines = lines(self.all.iter())?;
        fs::create_dir_all(directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        let saved = options.save.as_ref().map(|name| format!("{name}.jsonl"));
        // A part of the series would take the place of all.
        let last = self.filter.is_none().then(|| LAST.to_owned());
        for file in last.into_iter().chain(saved) {
            let path = directory.join(file);
            write(&path, &lines)?;
            println!("Samples: {}", path.display());
        }
        options.page.as_ref().map_or(Ok(()), |page| self.write_pages(directory, page))
    }

    /// The report, by knee; where there are several units, a page for each, since they share no axis.
    fn write_pages(&self, directory: &Path, page: &Path) -> Result<(), String> {
        let mut units: Vec<&str> = Vec::new();
        for series in &self.all {
            if !units.contains(&series.unit.as_str()) {
                units.push(&series.unit);
            }
        }
        for (number, unit) in (1..).zip(units) {
            let samples = directory.join("page.jsonl");
            write(&samples, &lines(self.all.iter().filter(|series| series.unit == unit))?)?;
            let stem = page.file_stem().unwrap_or_default().to_string_lossy();
            let page = match number {
                1 => page.to_owned(),
                _ => page.with_file_name(format!("{stem}-{number}.html")),
            };
            write_page(&samples, &page)?;
        }
        Ok(())
    }
}

/// Samples as lines of JSON.
fn lines<'a>(all: impl Iterator<Item = &'a Series>) -> Result<String, String> {
    let mut lines = String::new();
    for sample in all.flat_map(Series::lines) {
        let line = serde_json::to_string(&sample).map_err(|error| error.to_string())?;
        let _ = writeln!(lines, "{line}");
    }
    Ok(lines)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// How a series differs from the same one before.
fn compared(base: &Series, new: &Series) -> String {
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: false };
    let (base, new) = (base.run(), new.run());
    let Ok(comparison) = compare(&base, &new, &terms) else {
        return "not comparable with the baseline".to_owned();
    };
    let row = comparison.tables.first().and_then(|table| table.rows.first());
    let Some(overall) = row.map(|row| &row.overall) else {
        return "no point in common with the baseline".to_owned();
    };
    let word = match overall.verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        Verdict::Same => "the same",
        Verdict::Undecided => "too noisy to tell",
    };
    format!("against the baseline: {word}, {}", ratio_with_interval(overall.ratio))
}

fn read(path: &Path) -> Result<Vec<Sample>, String> {
    let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| in_file(&error))?;
    let samples = text.lines().map(serde_json::from_str::<Sample>);
    samples.collect::<Result<_, _>>().map_err(|error| in_file(&error))
}

/// The report of a file of samples.
fn write_page(samples: &Path, page: &Path) -> Result<(), String> {
    let knee = std::env::var_os("KNEE").unwrap_or_else(|| "knee".into());
    let mut command = Command::new(&knee);
    let ended = command.arg("analyse").arg(samples).arg("--output").arg(page).output();
    let ended = ended.map_err(|error| format!("{}: {error}", knee.to_string_lossy()))?;
    if ended.status.success() {
        println!("Report: {}", page.display());
        return Ok(());
    }
    Err(format!("knee analyse: {}", String::from_utf8_lossy(&ended.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &str) -> Result<Option<Options>, String> {
        Options::read(words.split_whitespace().map(OsString::from))
    }

    #[test]
    fn arguments_are_cargos_and_ours() {
        let asked = options("--bench sum --save a --baseline b.1 --page p.html").unwrap().unwrap();
        let text = |word: &str| Some(word.to_owned());
        let wanted = Options {
            keeps_samples: true,
            filter: text("sum"),
            save: text("a"),
            baseline: text("b.1"),
            page: Some("p.html".into()),
        };
        assert_eq!(asked, wanted);
        assert_eq!(options("--help"), Ok(None));
        for wrong in ["--bench --save", "--bench --save ../a", "--save a", "--what", "a b"] {
            assert!(options(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn samples_are_kept_and_limits_decide() {
        let directory = tempfile::tempdir().unwrap();
        let squares = |words: &str, limit: Class| {
            let cost = crate::cost("squares").over([10, 30, 100, 300, 1000]);
            let cost = cost.metric("steps", |n| (n * n) as f64);
            let words = words.split_whitespace().map(OsString::from);
            run(directory.path(), words, |bench| bench.at_most(cost, limit))
        };
        let path = |file: &str| directory.path().join(file);
        assert_eq!(squares("--bench --save base", Class::Quadratic), Ok(true));
        let samples = read(&path(LAST)).unwrap();
        assert_eq!(samples.len(), 5 * ROUNDS as usize);
        assert_eq!(read(&path("base.jsonl")), Ok(samples));
        assert_eq!(squares("--bench --baseline base", Class::Linear), Ok(false));
        let missing = squares("--bench --baseline none", Class::Linear).unwrap_err();
        assert!(missing.contains("none.jsonl: "), "{missing}");
        // What a filter leaves out is not measured, and the last run stays.
        assert_eq!(squares("--bench lookup", Class::Constant), Ok(true));
        assert_eq!(read(&path(LAST)).unwrap().len(), 5 * ROUNDS as usize);
    }

    #[test]
    fn a_test_of_all_targets_measures_once_and_keeps_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let calls = std::cell::Cell::new(0);
        let count = |_| {
            calls.set(calls.get() + 1);
            f64::from(calls.get())
        };
        let cost = crate::cost("calls").over([10, 100, 1_000]).metric("steps", count);
        let kept =
            run(directory.path(), [].into_iter(), |bench| bench.at_most(cost, Class::Constant));
        assert_eq!((kept, calls.get()), (Ok(true), 3));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn benches_of_two_packages_share_no_samples() {
        let program = Path::new("/w/target/release/deps/sort-0a1b");
        let [first, second] =
            ["one", "other"].map(|package| directory_of(program, Some(package.as_ref())));
        assert_eq!(first.as_deref(), Some(Path::new("/w/target/grows/one/sort")));
        assert_ne!(first, second);
        assert_eq!(directory_of(program, None), Some("/w/target/grows/sort".into()));
    }

    #[test]
    fn a_series_is_compared_with_the_one_before() {
        let series = |factor: f64| {
            let mut series = Series::new("sum", "ns");
            for round in 0..ROUNDS {
                for point in [10, 100, 1000] {
                    let noise = 1.0 + f64::from(round % 3) / 1000.0;
                    series.samples.push((point, round, point as f64 * factor * noise));
                }
            }
            series
        };
        let [base, same, slower] = [1.0, 1.0, 2.0].map(series);
        let (same, slower) = (compared(&base, &same), compared(&base, &slower));
        assert!(same.starts_with("against the baseline: the same, ratio 1.00"), "{same}");
        assert!(slower.starts_with("against the baseline: worse, ratio 2.00"), "{slower}");
        let lines: Vec<Sample> = base.lines().collect();
        assert_eq!(Series::all(lines), [base]);
    }
}
