//! Our server compared with nginx and lighttpd, and our load generator with wrk and httperf: what each does
//! with a second of CPU time.

mod generators;
mod loops;
mod options;
mod servers;

use super::median;
use super::table::{Row, Verdict};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use options::Half;
pub use options::Options;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// The CPU that the server runs on, and that of the generator.
const SERVER_CPU: &str = "0";
const GENERATOR_CPU: &str = "1";

/// One of our programs and a rival, in one setting.
struct Comparison {
    /// The name of another's, which `row.mechanism` is measured against.
    rival: &'static str,
    setting: String,
    /// What is done per second of CPU time: the pairs' first figure is the rival's.
    row: Row,
    /// Whether the limit is demanded, or only shown.
    is_bounded: bool,
}

/// What the contests need.
struct Arena {
    knee: PathBuf,
    /// The example that starts a server and a program against it.
    against: PathBuf,
    options: Options,
    scratch: tempfile::TempDir,
}

/// Measures both halves and prints their tables.
pub fn run(options: Options, tally: &mut Tally) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 || !shell::has("taskset") {
        let why = "it takes two CPUs and `taskset`, to keep server and generator apart";
        tally.skip("bench http", why);
        return Ok(());
    }
    let arena = Arena::build(options)?;
    let mut text = String::new();
    if arena.options.wants(Half::Servers) {
        let mut comparisons = servers::comparisons(&arena, tally)?;
        comparisons.extend(loops::servers(&arena, tally)?);
        text += &markdown("server", "replies", &comparisons, &arena.options);
        judge_all(&comparisons, tally);
    }
    if arena.options.wants(Half::Generators) {
        let mut comparisons = generators::comparisons(&arena, tally)?;
        comparisons.extend(loops::generators(&arena)?);
        text += &markdown("generator", "requests", &comparisons, &arena.options);
        judge_all(&comparisons, tally);
    }
    print!("\n{text}");
    if let Some(file) = &arena.options.output {
        fs::write(file, text).with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(())
}

impl Arena {
    /// Builds the programs.
    fn build(options: Options) -> Result<Self> {
        let knee = super::build_knee(&shell::root(), &shell::target_dir()?)?;
        let against = super::build_example("against")?;
        let arena = Self { knee, against, options, scratch: tempfile::tempdir()? };
        generators::make_site(&arena.site())?;
        Ok(arena)
    }

    /// The directory that is served.
    fn site(&self) -> PathBuf {
        self.scratch.path().join("site")
    }
}

/// Why nothing is compared with a program that is missing.
fn not_here(program: &str) -> String {
    format!("{program} is not here: `cargo xtask setup` installs it")
}

fn judge_all(comparisons: &[Comparison], tally: &mut Tally) {
    for comparison in comparisons {
        let Comparison { rival, setting, row, is_bounded } = comparison;
        let step = format!("bench http: {} and {rival}, {setting}", row.mechanism);
        match is_bounded {
            true => row.judge(&step, rival, "", tally),
            false => row.show(&step, rival, tally),
        }
    }
}

/// The contests as a Markdown table, with the parameters above it.
fn markdown(side: &str, what: &str, comparisons: &[Comparison], options: &Options) -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown").to_owned();
    let mut text = format!(
        "{} pairs of {} ms, server on CPU {SERVER_CPU}, generator on CPU {GENERATOR_CPU}, load {load} at \
         the end: {what} per second of the {side}'s CPU time, medians; ratio: median of the pairs' \
         ratios (smallest to largest).\n\n\
         | ours | rival | setting | {what}/CPU-s, theirs | ours | ratio | wanted |\n\
         | --- | --- | --- | ---: | ---: | --- | --- |\n",
        options.pairs, options.time_ms,
    );
    for Comparison { rival, setting, row, is_bounded } in comparisons {
        let side = |ours: bool| {
            let side = row.pairs.iter().map(|pair| if ours { pair.1 } else { pair.0 }.median);
            median(side.collect()).unwrap_or(f64::NAN)
        };
        let verdict = match row.verdict() {
            Verdict::Held => "met",
            Verdict::Beyond => "missed",
            Verdict::Undecided => "undecided",
        };
        let wanted = match is_bounded {
            true => format!("{:.2}: {verdict}", row.limit.demanded()),
            false => "(shown only)".to_owned(),
        };
        let (theirs, ours) = (side(false), side(true));
        let (name, ratio) = (&row.mechanism, row.in_words());
        let _ = writeln!(
            text,
            "| {name} | {rival} | {setting} | {theirs:.0} | {ours:.0} | {ratio} | {wanted} |"
        );
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::super::limit::Limit;
    use super::super::table::Figures;
    use super::*;

    fn comparison(ratio: f64, is_bounded: bool) -> Comparison {
        let figures = |rate| Figures::new(vec![rate], Limit::Least(2.0)).unwrap();
        let pairs = vec![(figures(100.0), figures(100.0 * ratio)); 7];
        let row = Row {
            mechanism: "epoll-edge".into(),
            setting: vec![],
            limit: Limit::Least(2.0),
            pairs,
        };
        Comparison { rival: "nginx", setting: "128 bytes".into(), row, is_bounded }
    }

    fn summary(comparisons: &[Comparison]) -> String {
        let mut tally = Tally::default();
        judge_all(comparisons, &mut tally);
        tally.summary()
    }

    #[test]
    fn a_ratio_below_what_is_wanted_fails_only_where_it_is_held() {
        assert!(summary(&[comparison(2.0, true)]).contains("1 passed, 0 failed"));
        assert!(summary(&[comparison(1.9, true)]).contains("0 passed, 1 failed"));
        assert!(summary(&[comparison(1.9, false)]).contains("1 passed, 0 failed"));
    }

    #[test]
    fn the_table_names_both_and_the_verdict() {
        let options = crate::bench::options::parse("").unwrap();
        let comparisons = [comparison(2.5, true), comparison(1.5, true), comparison(1.5, false)];
        let text = markdown("server", "replies", &comparisons, &options);
        for wanted in [
            "| epoll-edge | nginx | 128 bytes | 100 | 250 | 2.500 (2.500 to 2.500) | 2.00: met |",
            "| epoll-edge | nginx | 128 bytes | 100 | 150 | 1.500 (1.500 to 1.500) | 2.00: missed |",
            "1.500 (1.500 to 1.500) | (shown only) |",
        ] {
            assert!(text.contains(wanted), "{text}");
        }
    }
}
