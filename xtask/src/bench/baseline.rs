//! The rows of `knee run baseline` and lmbench's own programs, in turns. lmbench is a package of Debian's non-free
//! component: it is fetched with a configuration of apt of our own and unpacked below `target`; nothing is installed.

mod fetch;
mod figure;
mod plays;

use super::limit::Limit;
use super::options::above_zero;
use super::table::{Figures, Row, Verdict};
use super::{RUN_MAX, build_knee, failure_text, in_turn, median, samples_of};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use clap::Args;
use plays::{PLAYS, Play};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Our figure and lmbench's may differ by this factor.
const LIMIT: Limit = Limit::Within(1.10);

/// What was asked for.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct Options {
    /// Turns of each
    #[arg(long, default_value_t = 7, value_parser = above_zero::<usize>)]
    pairs: usize,
    /// Rows of knee; all that lmbench has by default
    #[arg(long, value_delimiter = ',')]
    rows: Vec<String>,
    /// Keep both to this CPU [default: the last]
    #[arg(long)]
    cpu: Option<usize>,
    /// Let the scheduler place the processes of both on all CPUs: only on a machine that is idle
    #[arg(long, conflicts_with = "cpu")]
    free: bool,
    /// A knee that is built already
    #[arg(long)]
    knee: Option<PathBuf>,
}

/// Measures each row by both, and prints the table.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let target = shell::target_dir()?;
    let programs = match fetch::lmbench(&target.join("lmbench")) {
        Ok(programs) => programs,
        Err(why) => {
            tally.skip("baseline", &format!("lmbench can't be had: {why:#}"));
            return Ok(());
        }
    };
    let built = || build_knee(&shell::root(), &target);
    let knee = options.knee.clone().map_or_else(built, |knee| Ok(fs::canonicalize(knee)?))?;
    let scratch = tempfile::tempdir()?;
    let last = std::thread::available_parallelism().map_or(0, |count| count.get() - 1);
    let cpu = (!options.free).then(|| options.cpu.unwrap_or(last));
    let bench = Turns { programs, knee, directory: scratch.path(), cpu };
    bench.make_files()?;
    let mut rows = Vec::new();
    for play in PLAYS {
        let wanted =
            |name: &str| options.rows.is_empty() || options.rows.iter().any(|row| row == name);
        if !play.rows.iter().any(|row| wanted(row.name)) {
            continue;
        }
        match bench.pairs(play, options.pairs) {
            Ok(measured) => rows.extend(measured.into_iter().filter(|row| wanted(&row.mechanism))),
            Err(why) => tally.skip(play.command, &format!("{why:#}")),
        }
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "\n{} pairs, load {} at the end: medians of the runs' medians with the 95 % CI of ours; ratio: median of the \
         pairs' ratios.\n",
        options.pairs,
        load.split_whitespace().next().unwrap_or("unknown")
    );
    println!("| row | knee | lmbench | knee / lmbench | |\n| --- | ---: | ---: | --- | --- |");
    for row in &rows {
        println!("{}", line(row));
        judge(row, tally);
    }
    Ok(())
}

/// The line of a row in the table.
fn line(row: &Row) -> String {
    let side = |pick: fn(&(Figures, Figures)) -> f64| {
        let mut figures: Vec<f64> = row.pairs.iter().map(pick).collect();
        figures.sort_by(f64::total_cmp);
        figures
    };
    let (theirs, ours) = (side(|pair| pair.0.median), side(|pair| pair.1.median));
    let middle = |figures: &[f64]| median(figures.to_vec()).unwrap_or(f64::NAN);
    let (unit, factor) = unit_of(&row.mechanism, middle(&theirs));
    let ci = super::table::rank_low(ours.len()).map_or_else(
        || "too few for a CI".to_owned(),
        |rank| {
            let (low, high) = (ours[rank] / factor, ours[ours.len() - 1 - rank] / factor);
            format!("{} to {}", short(low), short(high))
        },
    );
    let mark = match row.verdict() {
        Verdict::Held => "",
        _ if !plays::apart_because(&row.mechanism).is_empty() => {
            plays::apart_because(&row.mechanism)
        }
        Verdict::Beyond => "beyond 10 %",
        Verdict::Undecided => "undecided",
    };
    format!(
        "| {} | {} {unit} ({ci}) | {} {unit} | {} | {mark} |",
        row.mechanism,
        short(middle(&ours) / factor),
        short(middle(&theirs) / factor),
        row.in_words(),
    )
}

/// Three digits that count.
fn short(figure: f64) -> String {
    let digits = if figure >= 100.0 {
        0
    } else if figure >= 10.0 {
        1
    } else {
        2
    };
    format!("{figure:.digits$}")
}

/// The unit that a figure of a row is shown in, and how many of the record's that is.
fn unit_of(name: &str, figure: f64) -> (&'static str, f64) {
    match figure {
        _ if plays::is_bandwidth(name) => ("MB/s", 1e6),
        ..1e3 => ("ns", 1.0),
        _ => ("µs", 1e3),
    }
}

fn judge(row: &Row, tally: &mut Tally) {
    let because = plays::apart_because(&row.mechanism);
    row.judge(&format!("baseline {}", row.mechanism), "lmbench", because, tally);
}

/// What the runs have in common.
struct Turns<'a> {
    /// The directory of lmbench's programs.
    programs: PathBuf,
    knee: PathBuf,
    directory: &'a Path,
    /// The only CPU for both; all where there is none.
    cpu: Option<usize>,
}

impl Turns<'_> {
    /// What lmbench reads: a small file as deep as that of knee.
    fn make_files(&self) -> Result<()> {
        fs::create_dir_all(self.directory.join("lmbench/0"))?;
        fs::write(self.directory.join("lmbench/0/file"), vec![b'k'; 4_096])?;
        Ok(())
    }

    /// Runs both in turn.
    fn pairs(&self, play: &Play, count: usize) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = play.rows.iter().map(|row| empty_row(row.name)).collect();
        for pair in 0..count {
            let (theirs, ours) = in_turn(pair, || self.lmbench(play), || self.ours(play))?;
            for ((row, theirs), ours) in rows.iter_mut().zip(theirs).zip(ours) {
                row.pairs.push((theirs, ours));
            }
        }
        for row in &rows {
            println!("{}", line(row));
        }
        Ok(rows)
    }

    /// One run of lmbench's program: the figure of each row.
    fn lmbench(&self, play: &Play) -> Result<Vec<Figures>> {
        let mut command = self.isolated(play.server);
        let set_up = "hello=/var/tmp/lmbench; mount -t tmpfs none /var/tmp && mkdir $hello && \
                      cp \"$BIN/hello\" $hello/ && ";
        // As lmbench's own script makes it.
        let file = if play.command.contains("MAPPED") {
            "lmdd of=mapped move=32m fsync=1 print=0 2> /dev/null && "
        } else {
            ""
        };
        let body = play.command.replace("FILE", "$PWD/lmbench/0/file").replace("MAPPED", "mapped");
        let server = match play.server {
            Some(server) => format!("{server} -s && sleep 1 && "),
            None => String::new(),
        };
        command.args(["sh", "-c", &format!("ip link set lo up && {set_up}{server}{file}{body}")]);
        command.envs([("ENOUGH", "10000"), ("TIMING_O", "0"), ("LOOP_O", "0")]);
        let inherited = std::env::var("PATH").unwrap_or_default();
        command.env("BIN", &self.programs).env("TMPDIR", self.directory.join("lmbench/0"));
        command.env("PATH", format!("{}:{inherited}", self.programs.display()));
        let done = shell::bounded(command.current_dir(self.directory), 2 * RUN_MAX)?;
        // lmbench prints its figures as errors.
        let printed = format!("{}\n{}", done.stdout, done.stderr);
        let of_row = |row: &plays::Pairing| {
            let figure = figure::find(&row.figure, &printed);
            let figures = figure.and_then(|figure| Figures::new(vec![figure], LIMIT));
            figures
                .with_context(|| format!("no figure in {:?} of {}", printed.trim(), play.command))
        };
        play.rows.iter().map(of_row).collect()
    }

    /// One run of ours, in namespaces of the same kind.
    fn ours(&self, play: &Play) -> Result<Vec<Figures>> {
        let subjects: Vec<&str> = play.rows.iter().map(|row| row.name).collect();
        let mut command = self.isolated(None);
        command.args(["sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]).arg(&self.knee);
        command.args(["run", "baseline", "--rounds", "1", "--quiet", "--json"]);
        command.args(["--output", "page.html", "--record", "bench.db", "--cpus", "all"]);
        command.args(["--subjects", &subjects.join(",")]).env("TMPDIR", self.directory);
        let text = shell::output(command.current_dir(self.directory))?;
        let run: Value = serde_json::from_str(&text).context("knee run --json")?;
        let of_row = |name: &&str| {
            let metric = if plays::is_bandwidth(name) { "bandwidth" } else { "latency" };
            let samples = samples_of(&run, name, metric);
            let figures = samples.and_then(|samples| Figures::new(samples, LIMIT));
            figures.with_context(|| format!("knee measured no {name}: {}", failure_text(&run)))
        };
        subjects.iter().map(of_row).collect()
    }

    /// A command in a session, a network and a mount namespace of its own. A server ends with its process namespace.
    fn isolated(&self, server: Option<&str>) -> Command {
        let mut command = Command::new("setsid");
        let is_root = shell::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
        if let Some(cpu) = self.cpu {
            command.args(["taskset", "--cpu-list", &cpu.to_string()]);
        }
        command.args(["sh", "-c", FIRST, "sh"]).env("LIMIT", RUN_MAX.as_secs().to_string());
        // Others are root in a user namespace.
        command.args((!is_root).then_some("--map-root-user")).args(["--net", "--mount"]);
        if server.is_some() {
            command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
        }
        command
    }
}

/// Runs the command that follows before all others: what else runs would be in most of lmbench's intervals, which
/// are of 10 ms, and in few of ours. Without the privilege, it runs like all others.
const FIRST: &str = "(echo -20 > /proc/self/autogroup) 2> /dev/null; \
                     exec nice -n -20 timeout -s KILL \"$LIMIT\" unshare \"$@\"";

fn empty_row(name: &str) -> Row {
    Row { mechanism: name.to_owned(), setting: Vec::new(), limit: LIMIT, pairs: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_both_figures_and_marks_what_is_beyond_the_limit() {
        let figures = Figures::single;
        let row = |ratio: f64| {
            let pairs = (0..7)
                .map(|n| 1_000.0 + f64::from(n))
                .map(|theirs| (figures(theirs), figures(ratio * theirs)));
            Row { pairs: pairs.collect(), ..empty_row("pipe") }
        };
        let line_of = |ratio| line(&row(ratio));
        assert_eq!(
            line_of(1.0),
            "| pipe | 1.00 µs (1.00 to 1.01) | 1.00 µs | 1.000 (1.000 to 1.000) |  |"
        );
        assert!(line_of(1.2).ends_with("beyond 10 % |"), "{}", line_of(1.2));
        assert!(line_of(0.8).ends_with("beyond 10 % |"), "{}", line_of(0.8));
        let apart = line(&Row { mechanism: "tcp-connect".into(), ..row(0.01) });
        assert!(apart.contains("a second for each"), "{apart}");
        let mut tally = Tally::default();
        for ratio in [0.95, 1.05, 1.2] {
            judge(&row(ratio), &mut tally);
        }
        assert_eq!(tally.failed(), 1);
        // What lies apart for a known reason is named with it, and no evidence that both are the same.
        let mut tally = Tally::default();
        judge(&Row { mechanism: "tcp-connect".into(), ..row(0.01) }, &mut tally);
        let summary = tally.summary();
        assert!(summary.contains("a second for each"), "{summary}");
        assert!(summary.ends_with("0 passed, 0 failed, 1 skipped\n"), "{summary}");
    }

    #[test]
    fn flags_are_read() {
        let options: Options = super::super::options::parse("--pairs 3 --rows pipe,unix").unwrap();
        assert_eq!((options.pairs, options.rows.len()), (3, 2));
    }
}
