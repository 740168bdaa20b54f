//! The flags of `knee ab`.

use super::gate::Pair;
use crate::commands::measure::run::flags::Run;
use crate::commands::read::compare::flags::Judgement;
use clap::Args;
use std::ffi::OsString;

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Ab {
    #[command(flatten)]
    pub judgement: Judgement,
    /// Judge the last CMD for `git bisect run`: exit with 0 where every series and point is decided and none is slower,
    /// or fails the gate that is named; with 1 where one does; with 125 where one is undecided; with 128 where none can be
    /// judged
    #[arg(long)]
    pub bisect: bool,
    /// The sides: a knee (`/new/knee`), or words that start this one (`env X=1`, `taskset -c 1`).
    /// With one, the base is this knee as it is; with two, the first is the base
    #[arg(value_name = "CMD", num_args = 1..=2, required = true)]
    pub sides: Vec<String>,
    /// Workloads and flags, as of `knee run` [default rounds: 20]
    #[arg(value_name = "WORKLOAD…", last = true, required = true)]
    pub run: Vec<OsString>,
    /// What the words after `--` ask to be measured.
    #[arg(skip)]
    pub measured: Run,
    /// The programs of `knee gate`, which are then the sides.
    #[arg(skip)]
    pub programs: Option<Pair>,
}

const MORE: &str = "\
Each cell is measured by both sides, one right after the other, in an order that is drawn anew: a
disturbance hits both alike. Both become runs of the record, and are compared as by `knee compare`.

Examples:
  knee ab /new/knee -- poll --points 100,1k
  knee ab ./base/knee ./new/knee --fail-on slower -- poll --points 100,1k
  knee ab 'env MALLOC_ARENA_MAX=1' -- thread -o compared.html
  knee ab 'env P=../good/prog' 'env P=./prog' -- command --command 'prog=$P {size}' --points 100,1k
  git bisect run sh -c 'make -s prog || exit 125; knee ab --bisect --fail-above 20% \
      \"env P=../good/prog\" \"env P=./prog\" -- command --command \"prog=\\$P {size}\" --points 1k'";
