//! The flags of `knee vm`.

use crate::commands::compare::flags::Judgement;
use crate::commands::run::flags::Run;
use clap::{Args, ValueEnum};
use std::ffi::OsString;

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
    /// CPUs of each guest
    #[arg(long, value_name = "N", default_value = "2", value_parser = quantities::count_within::<u32>(1..=255))]
    pub cpus: u32,
    /// CPUs of this machine that they run on [default: all]
    #[arg(long, value_name = "N", value_parser = quantities::count_within::<u32>(1..=4096))]
    pub on: Option<u32>,
    /// Memory of each guest
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = quantities::bytes)]
    pub memory: usize,
    /// What runs the guests: KVM where it works, else emulation
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub accel: Accel,
    #[command(flatten)]
    pub judgement: Judgement,
    /// Workloads and flags, as of `knee run`
    #[arg(value_name = "run WORKLOAD…", last = true, required = true)]
    pub run: Vec<OsString>,
    /// What these words ask to be measured.
    #[arg(skip)]
    pub measured: Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accel {
    /// KVM where it works, else emulation
    Auto,
    /// The CPU itself
    Kvm,
    /// QEMU's emulation: ratios only
    Tcg,
}

/// What `knee help vm` says below its flags.
const MORE: &str = "\
Each kernel is booted with knee as its only program, and measures cell by cell in turns with the others. Give
--kernel, --cpu and --append more than once to compare all their combinations; the first is the base.

Examples:
  knee vm --kernel debian:6.1 --kernel debian:6.12 -- run poll
  knee vm --kernel arch/x86/boot/bzImage --append nopvspin --append '' -- run lock --quick";
