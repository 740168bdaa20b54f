//! `knee analyse`: the tables and findings of a table from elsewhere.

use crate::commands::exchange::table_flags::TableFlags;
use crate::commands::read::report;
use crate::commands::read::show;
use crate::exit::{Exit, Trouble};
use analysis::{Analysis, MissingFigure};
use clap::Args;
use foreign_tables::{Foreign, Input};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = more())]
pub struct Analyse {
    /// The table: a file with a line of column names, separated by commas, semicolons or tabs, or what a known program
    /// exports; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub table: TableFlags,
    /// Write the HTML report to this file
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Show every table and every finding
    #[arg(short, long)]
    pub all: bool,
    /// Print JSON, with every figure
    #[arg(short, long)]
    pub json: bool,
}

fn more() -> String {
    format!(
        "\
Rows with the same subject and x in one table are repetitions: their median is shown, with its
interval. A figure that is empty, -, – or n/a is none; other text in its place, such as `aborted
after 6 hours`, is the reason why there is none. Figures may have their unit: 8.32 us, 1m2.5s, 4 KiB.
x may be written 10000, 10,000, 10k, 0.5, 10% or BM_Sort/64. Each column shows whether its decimals
begin with a point or a comma; if it does not, add --decimal. Lines above the names are passed over.
Nothing is recorded.

What these programs write needs no flags; --x, --y and --by take other parameters and figures of it:
{}.

Where x is words, such as `half load`, nothing grows: at each of them the others are compared with
the first. Means have intervals where their standard deviations are known (--sd, --n).

Examples:
  knee analyse hyperfine.json
  knee analyse pipetest.csv --x threads --y tokens_per_s --by mechanism --of pipes \\
      --per machine,pipes -o pipetest.html
  knee analyse kernbench.csv --x load --y elapsed_s --by lock --sd elapsed_sd --n 5",
        foreign_tables::recognised()
    )
}

pub fn analyse(ask: &Analyse, words: Vec<String>) -> Result<Exit, Trouble> {
    if let Some(page) = &ask.output {
        report::check(page, None)?;
    }
    let input = Input::open(&ask.file)?;
    let Foreign { run, named_points } = foreign_tables::read(&ask.table.request(), input, words)?;
    let mut conclusions = match named_points {
        Some(points) => findings::conclude_named(&run, &points),
        None => findings::conclude(&run),
    };
    reword(&mut conclusions.analysis);
    let files = [ask.output.as_deref(), None];
    show::show_analysed((run, conclusions), "", files, (ask.all, ask.json))
}

/// Gives missing figures the reason of a table: it has no plan that could leave them out.
fn reword(analysis: &mut Analysis) {
    let rows = analysis.tables.iter_mut().flat_map(|table| &mut table.rows);
    for (_, reason) in rows.flat_map(|row| &mut row.missing) {
        if *reason == MissingFigure::NotPlanned {
            *reason = MissingFigure::NoRow;
        }
    }
}
