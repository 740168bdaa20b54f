//! The flags of `knee vm`.

use crate::commands::measure::run::flags::Run;
use crate::commands::read::compare::flags::Judgement;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use suites::Guests;

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Vm {
    /// Kernel to boot: a bzImage or vmlinuz, `debian:6.1` (fetched by apt), or `installed` [default: installed]
    #[arg(short, long = "kernel", value_name = "KERNEL")]
    pub kernels: Vec<String>,
    /// CPU model of QEMU with flags: `max,-smap` [default: max]
    #[arg(long = "cpu", value_name = "MODEL")]
    pub cpu_models: Vec<String>,
    /// Words for the kernel's command line: `nopvspin mitigations=off`
    #[arg(long = "append", value_name = "WORDS", allow_hyphen_values = true)]
    pub appends: Vec<String>,
    /// CPUs of each guest [default: 2]
    #[arg(long, value_name = "N", value_parser = quantities::count_within::<u32>(1..=255))]
    pub cpus: Option<u32>,
    /// CPUs of this machine that they run on [default: all]
    #[arg(long, value_name = "N", value_parser = quantities::count_within::<u32>(1..=4096))]
    pub on: Option<u32>,
    /// Xen's image, to boot first, with the kernels as its first domain: /boot/xen-4.17-amd64.gz
    #[arg(long, value_name = "FILE")]
    pub xen: Option<PathBuf>,
    /// Memory of each guest [default: 1G]
    #[arg(long, value_name = "BYTES", value_parser = quantities::bytes)]
    pub memory: Option<usize>,
    /// What runs the guests: KVM where it works, else emulation
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub accel: Accel,
    /// Measure this suite of knee.toml, or `over-commit`, in the guests that it describes; flags override it
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Judge the kernel for `git bisect run`: exit with 0 where it is as good as this one, a kernel that is measured
    /// in turns with it or a recorded run, with 1 where it is not, with 125 where that is undecided
    #[arg(long, value_name = "KERNEL|RUN", conflicts_with = "suite")]
    pub against: Option<String>,
    /// Words for the command line of the kernel that is judged against [default: those of --append]
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true, requires = "against")]
    pub against_append: Option<String>,
    #[command(flatten)]
    pub judgement: Judgement,
    /// Workloads and flags, as of `knee run`
    #[arg(value_name = "run WORKLOAD…", last = true, required_unless_present = "suite")]
    pub run: Vec<OsString>,
    /// What these words ask to be measured.
    #[arg(skip)]
    pub measured: Run,
}

impl Vm {
    pub fn run_words(&self) -> Vec<OsString> {
        let mut words = self.run.clone();
        if words.is_empty() {
            words.push("run".into());
        }
        if let Some(suite) = &self.suite {
            words.extend(["--suite".into(), suite.into()]);
        }
        words
    }

    /// The same with what `guests` say where no flag does.
    #[must_use]
    pub fn or(mut self, guests: Guests) -> Vm {
        let lists = [
            (&mut self.kernels, guests.kernels),
            (&mut self.cpu_models, guests.cpu_models),
            (&mut self.appends, guests.appends),
        ];
        for (typed, of_suite) in lists {
            if typed.is_empty() {
                *typed = of_suite;
            }
        }
        self.cpus = self.cpus.or(guests.cpus);
        self.on = self.on.or(guests.on);
        self.memory = self.memory.or(guests.memory);
        self
    }

    pub fn cpus(&self) -> u32 {
        self.cpus.unwrap_or(CPUS)
    }

    pub fn memory_mib(&self) -> u64 {
        self.memory.map_or(MEMORY_MIB, |bytes| (bytes >> 20) as u64)
    }
}

/// The CPUs and the memory of a guest, where neither a flag nor a suite says otherwise.
const CPUS: u32 = 2;
const MEMORY_MIB: u64 = 1_024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accel {
    /// KVM where it works, else emulation
    Auto,
    /// The CPU itself
    Kvm,
    /// QEMU's emulation: ratios only
    Tcg,
}

const MORE: &str = "\
Each kernel is booted with knee as its only program, and measures cell by cell in turns with the others. Give
--kernel, --cpu and --append more than once to compare all their combinations; the first is the base.

Examples:
  knee vm --kernel debian:6.1 --kernel debian:6.12 -- run poll
  knee vm --kernel arch/x86/boot/bzImage --append nopvspin --append '' -- run lock --quick
  knee vm --suite over-commit -- run -o over-commit.html
  git bisect run sh -c 'make -s bzImage || exit 125; knee vm --kernel arch/x86/boot/bzImage \
      --against good/bzImage --fail-above 20% -- run poll'";
