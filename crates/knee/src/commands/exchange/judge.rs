//! `knee judge`: whether costs grow at most as fast as a class, as exit codes for tests.

use crate::commands::exchange::table_flags::TableFlags;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json};
use crate::usage;
use analysis::Class;
use analysis::growth::limit::Kept;
use clap::Args;
use findings::limit;
use foreign_tables::Input;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = JUDGE_MORE)]
pub struct Judge {
    /// Samples as JSON lines, or a table as `knee analyse` reads it; - is standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub file: PathBuf,
    /// The fastest growth that is allowed
    #[arg(long, value_name = "CLASS", required = true, value_parser = usage::limit())]
    pub at_most: Class,
    #[command(flatten)]
    pub table: TableFlags,
    /// Print JSON, with every figure
    #[arg(short, long)]
    pub json: bool,
}

const JUDGE_MORE: &str = "\
A sample is a line such as {\"series\": \"lookup\", \"point\": 1000, \"round\": 0, \"value\": 81.5, \"unit\": \"ns\"};
series, round and unit may be absent (cost, 0, ns). Samples of one round are of one pass over all points: take the
points in turns, in at least three rounds. Nothing is recorded.

Exit codes: 0 every series holds, 3 one fails, 4 one is open: take more rounds, or more points, further apart.
For linear, n log n passes too unless linear is excluded: noise and caches leave both of most lines.

Examples:
  ./bench | knee judge --at-most linear
  knee judge p99.csv --at-most logarithmic --x clients --y p99_ms --by server";

pub fn judge(ask: &Judge, words: Vec<String>) -> Result<Exit, Trouble> {
    let input = Input::open(&ask.file)?;
    let name = input.name.clone();
    let run = foreign_tables::read(&ask.table.request(), input, words)?.with_numbers(&name)?;
    let analysis = analysis::analyse(&run);
    let judgement = limit::judge(&analysis, ask.at_most).ok_or_else(|| {
        Trouble::usage(format!(
            "{name} has no cost, and a limit is for costs: give the time of an operation, not a rate"
        ))
    })?;
    if ask.json {
        print_json(&judgement)?;
    } else {
        let lines = judgement.series.iter().map(|judged| judged.sentence.clone() + "\n");
        print(&lines.collect::<String>())?;
    }
    Ok(match judgement.verdict {
        Kept::Holds => Exit::Done,
        Kept::Fails => Exit::Different,
        Kept::Open => Exit::Inconclusive,
    })
}
