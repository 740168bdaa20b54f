//! Does the instrument survive a workload that misbehaves?
//!
//! One operation is an addition; besides, each subject does the one thing that it is named after.
//! Every cell but those of `well-behaved` must fail with its reason, the run must go on, and
//! nothing may be left behind.

use crate::controls::null::TIMES;
use engine::{
    About, Cell, Defaults, Failure, Kind, MetricInfo, Parameter, Parking, Probe, Subject, Sweep,
    Workload, WorkloadInfo, strings,
};
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Fault = Fault;

pub(crate) struct Fault;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "fault".into(),
        question: "Does the instrument survive a workload that misbehaves?".into(),
        operation: "an addition, and the fault that the subject is named after".into(),
        not_measured: strings(["anything"]),
        metrics: vec![MetricInfo::time("batch", "addition")],
        ..About::plain().info
    },
    kind: Kind::Fault,
    parameters: vec![Parameter {
        sweep: Some(Sweep { label: "times nothing", points: Defaults::always(&["1"]) }),
        ..TIMES
    }],
    ..About::plain()
});

type Misbehave = fn(&mut Probe) -> Result<(), Failure>;

/// Every fault: its name, what it does, and how.
const FAULTS: &[(&str, &str, Misbehave)] = &[
    ("well-behaved", "does nothing wrong", |_| Ok(())),
    ("hangs", "never ends", |_| {
        loop {
            std::thread::park();
        }
    }),
    ("spins", "never ends, and uses its CPU", |_| spin()),
    ("fails", "reports a failure", |_| Err(Failure::new("a failure, as it was asked for"))),
    ("panics", "panics", |_| panic!("a panic, as it was asked for")),
    ("is-killed", "dies by SIGKILL", |_| die(Signal::KILL)),
    ("segfaults", "dies by SIGSEGV", |_| segfault()),
    ("exits", "exits before it replied", |_| std::process::exit(7)),
    ("leaks-descriptors", "leaves descriptors open", leak_descriptors),
    ("prints-garbage", "writes to the standard output that replies go through", print_garbage),
    ("floods", "writes to standard output without end", |_| {
        loop {
            print_all(&vec![b'x'; 1 << 16])?;
        }
    }),
    ("leaves-processes", "leaves a process running", leave_process),
    ("leaves-orphans", "leaves a process of a session of its own running", leave_orphan),
    ("hangs-parked", "never ends, with descriptors parked elsewhere", hang_parked),
    ("measures-nothing", "ends without a figure", |_| Ok(())),
];

impl Workload for Fault {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        FAULTS.iter().map(|&(name, summary, _)| Subject::plain(name, summary)).collect()
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let (name, _, misbehave) = cell.find_subject(FAULTS, |(name, ..)| name)?;
        if *name != "measures-nothing" {
            let add = |done: &mut u64| {
                *done = black_box(*done + 1);
                Ok(())
            };
            probe.steady("batch", &mut 0_u64, add, |_, _| Ok(()))?;
        }
        misbehave(probe)
    }
}

/// Not inlined, so that it is found by its name.
#[inline(never)]
fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

fn die(signal: Signal) -> Result<(), Failure> {
    kill_process(getpid(), signal).map_err(|error| Failure::call("killing itself", error))
}

/// A handler that takes the first such signal for an overflow of the stack hands on the second.
fn segfault() -> Result<(), Failure> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    // Its memory is not wanted on the disk.
    setrlimit(Resource::Core, none)
        .map_err(|error| Failure::call("forgoing a core file", error))?;
    loop {
        die(Signal::SEGV)?;
    }
}

fn leak_descriptors(_: &mut Probe) -> Result<(), Failure> {
    for _ in 0..3 {
        let null = std::fs::File::open("/dev/null");
        std::mem::forget(null.map_err(|error| Failure::call("opening /dev/null", error))?);
    }
    Ok(())
}

fn print_garbage(_: &mut Probe) -> Result<(), Failure> {
    print_all(b"debug: x = 3\n")
}

fn print_all(bytes: &[u8]) -> Result<(), Failure> {
    std::io::stdout().write_all(bytes).map_err(|error| Failure::call("writing", error))
}

fn sleeper() -> Command {
    let mut command = Command::new("sleep");
    command.arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn leave_process(_: &mut Probe) -> Result<(), Failure> {
    sleeper().spawn().map(drop).map_err(|error| Failure::call("starting sleep", error))
}

fn leave_orphan(_: &mut Probe) -> Result<(), Failure> {
    let mut command = Command::new("setsid");
    command.args(["--fork", "sleep", "1000"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(drop).map_err(|error| Failure::call("starting setsid", error))
}

fn hang_parked(_: &mut Probe) -> Result<(), Failure> {
    let mut parking = Parking::new();
    let (left, right) = std::os::unix::net::UnixStream::pair()
        .map_err(|error| Failure::call("opening a socketpair", error))?;
    parking
        .park(vec![left.into(), right.into()])
        .map_err(|error| Failure::call("parking descriptors", error))?;
    loop {
        std::thread::park();
    }
}
