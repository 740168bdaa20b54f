//! The flags of `knee compare`: its own, and what those of a run are for here.

use crate::commands::run::flags::Run as Measured;
use clap::{Arg, Args, Command, ValueEnum};

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Compare {
    /// Compare with the run of this name: see --save-baseline
    #[arg(long, value_name = "NAME", conflicts_with = "interleave")]
    pub baseline: Option<String>,
    /// Name RUN, or the last; with a comparison, name the new run unless --fail-on fails
    #[arg(long, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// What lies within this is the same for all practical purposes; what is clear of chance and reaches
    /// beyond it is slower or faster, also where it is less
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = quantities::percentage)]
    pub margin: f64,
    /// Compare runs of two machines too
    #[arg(long)]
    pub across: bool,
    /// Exit with 3 where something is slower, or changed; with 4 where no headline series could be decided
    #[arg(long, value_name = "WHAT")]
    pub fail_on: Option<FailOn>,
    /// Print Markdown, for a pull request
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Measure now, in turns: the base by this knee, the new one by workers that are started through
    /// these words, such as `env X=1` or `/new/knee`
    #[arg(long, value_name = "CMD")]
    pub interleave: Option<String>,
    #[command(flatten)]
    pub run: Measured,
}

/// What `knee help compare` says below its flags.
const MORE: &str = "\
Faster and slower are clear of chance, over all ratios at once; the same is what lies within the margin
with its whole interval; all else is undecided. docs/compare.md says how.

Examples:
  knee compare 7                                    # run 7 with the last
  knee compare 7 9 -o compared.html                 # and a page with both overlaid
  knee compare --save-baseline main                 # the last run is the one to compare with
  knee compare --baseline main --fail-on slower     # exit 3 where something is slower
  knee compare --interleave 'env MALLOC_ARENA_MAX=1' poll --points 100,1k";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A headline series or point is slower, or grows or ends worse
    Slower,
    /// Anything that is compared changed, for the worse or the better
    Changed,
}

/// The margin where none is asked for.
pub const MARGIN: f64 = 0.05;
/// Flags of a run that mean something here without measuring.
const OURS: [&str; 5] = ["workloads", "output", "all", "json", "file"];
/// Flags of a run that mean nothing here.
const NEVER: [&str; 3] = ["resume", "like", "plan"];
/// Our own flags, which stand before those of a run.
const OWN: [&str; 7] =
    ["baseline", "save_baseline", "margin", "across", "fail_on", "markdown", "interleave"];

/// Says of each flag of `knee run` what it is for here: most say how to measure in turns.
pub fn adapted(command: Command) -> Command {
    let heading = "With --interleave, as of `knee run`";
    let command = command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        if OURS.contains(&id) || OWN.contains(&id) {
            return arg;
        }
        let arg =
            if NEVER.contains(&id) { arg.hide(true).conflicts_with("interleave") } else { arg };
        let headed = arg.get_help_heading().is_some();
        let arg = arg.requires("interleave").hide_short_help(true);
        if headed { arg } else { arg.help_heading(heading) }
    });
    let helped = |help: &'static str| move |arg: Arg| arg.help(help);
    command
        .mut_arg("workloads", |arg| {
            arg.value_name("RUN").help(
                "BASE and NEW [default: last]: numbers, beginnings of ids, `last`, FILE.db or \
                 FILE.db:RUN. With --interleave the workloads",
            )
        })
        .mut_arg("output", helped("Write the page of both runs overlaid to this file"))
        .mut_arg("all", helped("Compare all metrics, and show the medians"))
        .mut_arg("rounds", helped("Passes over all cells of both [default: 20]"))
}
