//! Which lock survives more threads than CPUs?
//!
//! What Jeremy Fitzhardinge measured in 2008 with the locks of a kernel and virtual CPUs, here with threads
//! and locks in a program. Threads take turns at one lock: one operation is to get it, to work for a
//! while while it is held, to release it, and to work for a while outside. With more threads than CPUs
//! the scheduler takes the CPU away from threads that hold the lock, or that are next in line for it; what
//! a lock makes of that is the difference between its algorithms.
//!
//! A cell has two passes. In the first, threads only count what they do: acquisitions a second, the CPU
//! that each takes, switches, and how evenly the threads came by it (Jain's index: 1 is evenly, and one
//! thread of N alone is 1/N). In the second, they read the clock as well: how long each waited, and how
//! long a lock that is waited for lies idle at a hand-over.
//!
//! Work is a loop without memory, so long as was asked for on an idle CPU; its measured length is
//! recorded with it. While the lock is held two words are read and written as well: they would show two threads
//! that are inside at once, or an acquisition that was lost, and then the cell fails. `broken`, which
//! locks nothing, is such a cell in every run: the check can fail.
//!
//! A cell measures for a set time, and then a lock that no thread gets for a while counts as not finished.
//! With `--work` each thread makes so many acquisitions instead; a cell that does not end fails by its
//! deadline, with what its threads were doing.

mod figures;
mod game;
mod passes;
mod shared;
mod work;

use crate::shared::crew::Ending;
use crate::shared::{c_library, cpus};
use engine::{
    About, Cell, Check, Defaults, Failure, FailureReason, Fit, Kind, LimitCause, MetricInfo,
    MetricRole, Parameter, Probe, Subject, SubjectInfo, Sweep, Usual, Values, Workload,
    WorkloadInfo, pairs, strings,
};
use figures::figures;
use game::Game;
use locks::{Algorithm, Lock, Setup, Visitor};
use passes::Pass;
use std::sync::{LazyLock, OnceLock};
use work::Work;

/// The row of the table.
pub(crate) const WORKLOAD: Locks = Locks;

pub(crate) struct Locks;

/// More threads than this say nothing that fewer don't, and fill the memory with their stacks.
const THREADS_MAX: u64 = 16_384;

const THREADS: Parameter = Parameter {
    name: "threads",
    about: "threads that compete for the lock",
    values: Values::TimesOf("cpus"),
    default: Defaults::always(&["2x"]),
    sweep: Some(Sweep::new(
        "threads",
        &["1/2x", "1x", "2x", "4x", "8x"],
        &["1/2x", "1x", "2x", "4x", "8x", "16x"],
    )),
};

const HELD: Parameter = Parameter {
    name: "held",
    about: "work while the lock is held, in ns",
    values: Values::Between(0, 1_000_000_000),
    default: Defaults::always(&["100"]),
    sweep: Some(Sweep::new("ns held", &["100", "1k", "10k"], &["10", "100", "1k", "10k", "100k"])),
};

const OUTSIDE: Parameter = Parameter {
    name: "outside",
    about: "work between two acquisitions, in ns",
    values: Values::Between(0, 1_000_000_000),
    default: Defaults::always(&["100"]),
    sweep: Some(Sweep::new(
        "ns outside",
        &["100", "1k", "10k"],
        &["10", "100", "1k", "10k", "100k"],
    )),
};

const SPINS: Parameter = Parameter {
    name: "spins",
    about: "spins of a spin-then-block lock before it blocks",
    values: Values::Between(0, 1 << 30),
    default: Defaults::always(&["1024"]),
    sweep: Some(Sweep::new(
        "spins",
        &["16", "1024", "64k"],
        &["1", "16", "128", "1024", "8k", "64k", "512k"],
    )),
};

const WORK: Parameter = Parameter {
    name: "work",
    about: "acquisitions of each thread; 0: measure for a set time",
    values: Values::Between(0, 1_000_000_000),
    default: Defaults::always(&["0"]),
    sweep: None,
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "lock".into(),
        question: "Which lock survives more threads than CPUs?".into(),
        operation: "get the lock, work while it is held, release it, and work outside".into(),
        not_measured: strings([
            "locks inside a kernel: `build` on one kernel and another shows these",
            "what the work touches: it is a loop without memory",
            "threads that are pinned to a CPU each: the scheduler places them on --cpus",
            "fairness over longer than a cell: with many threads each has a few turns at a CPU only",
            "the wait for a clock: the waiting times are of a second pass, in which threads read it",
        ]),
        ratio: Some(cpus::per_cpu(THREADS.name)),
        compared_pairs: pairs([
            ("byte", "byte-block"),
            ("ticket", "ticket-block"),
            ("byte", "ticket"),
        ]),
        metrics: vec![
            MetricInfo::more("acquisitions", "acquisitions", "acquisitions/s"),
            MetricInfo::time("cpu", "acquisition, on all CPUs").with_role(MetricRole::Cpu),
            MetricInfo::time("user", "acquisition, on all CPUs in user mode"),
            MetricInfo::time("system", "acquisition, on all CPUs in the kernel"),
            MetricInfo::less("switches", "voluntary context switches per 1,000 acquisitions", ""),
            MetricInfo::less(
                "preemptions",
                "involuntary context switches per 1,000 acquisitions",
                "",
            ),
            MetricInfo::more("fairness", "Jain's index of the threads' acquisitions", "")
                .with_role(MetricRole::Fairness),
            MetricInfo::time("waiting", "wait for the lock, at the median"),
            MetricInfo::time("p99", "wait for the lock, at the 99th percentile"),
            MetricInfo::time("longest", "wait for the lock, the longest")
                .with_role(MetricRole::MaxWait),
            MetricInfo::time("hand-over", "release to the next acquisition, by one who waited"),
            MetricInfo::time("held", "work while the lock is held, on an idle CPU"),
            MetricInfo::time("outside", "work outside, on an idle CPU"),
        ],
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![THREADS, cpus::ALL, HELD, OUTSIDE, SPINS, WORK],
    usual: Usual { rounds: 9, ..Usual::PLAIN },
    ..About::plain()
});

impl Workload for Locks {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        algorithms().map(subject).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let threads = cell.number(THREADS.name).unwrap_or(0);
        let is_control = algorithms().any(|row| row.name == cell.subject && row.control);
        if is_control && threads < 2 {
            let (what, clause) = ("The control".into(), "it takes two threads to be caught".into());
            let cause = LimitCause::Other { clause };
            return Fit::Leave { what, cause, remedy: String::new() };
        }
        cpus::threads_at_most(cell, &THREADS, THREADS_MAX)
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        cpus::choose(cell)?;
        let game = Game::from_cell(cell, probe)?;
        match own().iter().find(|lock| lock.algorithm.name == cell.subject) {
            Some(own) => (own.play)(&game, probe),
            None => locks::visit(&cell.subject, Play { game: &game, probe })
                .unwrap_or_else(|| Err(Failure::new(format!("there is no lock {}", cell.subject)))),
        }
    }
}

/// A lock of a program's own, which [`add_locks`] puts among the subjects.
#[derive(Clone, Copy, Debug)]
pub struct OwnLock {
    algorithm: &'static Algorithm,
    play: fn(&Game, &mut Probe) -> Result<(), Failure>,
}

impl OwnLock {
    /// The lock of that type.
    pub const fn new<L: Lock>() -> Self {
        Self { algorithm: L::ALGORITHM, play: play::<L> }
    }
}

static OWN: OnceLock<Vec<OwnLock>> = OnceLock::new();

fn own() -> &'static [OwnLock] {
    OWN.get_or_init(Vec::new)
}

/// Adds a program's own locks: at its start, before anything asks for the subjects, in every process of it.
///
/// # Panics
/// If it comes too late, or twice.
pub fn add_locks(own: &[OwnLock]) {
    assert!(OWN.set(own.to_vec()).is_ok(), "locks are added once, before anything asks for them");
}

/// The locks that this program compares: its own, and those of the table whose names these leave free.
pub fn algorithms() -> impl Iterator<Item = &'static Algorithm> {
    let own = || own().iter().map(|lock| lock.algorithm);
    let is_free = move |row: &&&'static Algorithm| own().all(|own| own.name != row.name);
    own().chain(locks::TABLE.iter().filter(is_free).copied())
}

fn subject(algorithm: &'static Algorithm) -> Subject {
    let control = algorithm.control;
    let note = algorithm.of_c_library.then(c_library::note).unwrap_or_default();
    let info = SubjectInfo { control, note, ..SubjectInfo::named(algorithm.name) };
    let available = Check::new(|| (algorithm.available)().map_err(|why| why.0.to_owned()));
    Subject { available, ..Subject::new(info, algorithm.summary) }
}

impl Game {
    fn from_cell(cell: &Cell, probe: &mut Probe) -> Result<Game, Failure> {
        let number = |name| cell.number(name);
        let threads = number(THREADS.name)? as u32;
        let spins = number(SPINS.name)? as u32;
        let [inside, outside] =
            [number(HELD.name)?, number(OUTSIDE.name)?].map(|ns| Work::new(ns, probe.clock()));
        probe.given("held", &[inside.ns], 1);
        probe.given("outside", &[outside.ns], 1);
        let ending = match number(WORK.name)? {
            0 => Ending::After(probe.time()),
            each => Ending::Done(each),
        };
        Ok(Game { threads, setup: Setup { seats: threads, spins }, inside, outside, ending })
    }
}

/// Both passes, with locks of a type that is only known by its name.
struct Play<'a> {
    game: &'a Game,
    probe: &'a mut Probe,
}

impl Visitor for Play<'_> {
    type Output = Result<(), Failure>;

    fn visit<L: Lock>(self) -> Result<(), Failure> {
        play::<L>(self.game, self.probe)
    }
}

fn play<L: Lock>(game: &Game, probe: &mut Probe) -> Result<(), Failure> {
    let clock = probe.clock();
    // With little work for each, one may be done before the next begins: a control is given time.
    let time = Ending::After(probe.time());
    let ending = if L::ALGORITHM.control { time } else { game.ending };
    let counted = Pass::<L>::new(game, ending, clock).count()?;
    if let Some(waited_ms) = counted.stalled_ms() {
        return Err(FailureReason::LockStalled { waited_ms }.into());
    }
    counted.state_with("acquisitions", &figures(&counted), probe);
    // The second pass is the shorter one.
    Pass::<L>::new(game, ending.half(), clock).time(probe.overhead_ns())?.state(probe);
    Ok(())
}
