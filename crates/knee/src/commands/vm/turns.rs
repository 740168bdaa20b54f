//! Several guests that measure in turns: each waits with its next cell until the others have ended theirs.

use crate::exit::{Trouble, complain};
use crate::progress::Progress;
use ::record::{Cell, Error, Profile, Run, RunState, RunWriter, SqliteArchive, Warning};
use engine::{RunProgress, Stop, Watch};
use guest::{Accelerator, FromGuest, Guest, GuestFault, Hardware, Job, Profiled, ToGuest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A kernel is up within seconds, and within this even where its host is busy.
const UP_MAX: Duration = Duration::from_secs(180);
/// What a cell takes beyond its deadline: the guest's own instrument ends it first.
const CELL_MARGIN: Duration = Duration::from_secs(120);
/// A guest that dies is booted again so often.
const BOOTS_MAX: u32 = 3;

/// One kernel on one machine, and what it measured.
pub struct GuestSide {
    /// What tells it from the others: `6.1.0 · cpu max,-smap`.
    pub label: String,
    /// The machine.
    pub hardware: Hardware,
    guest: Option<Guest>,
    /// How often it was booted.
    boots: u32,
    /// What has come of its run; its plan and its cells, once it began.
    pub run: Option<Run>,
    /// The answer that lets it go on.
    answer: Option<ToGuest>,
    /// Whether all is measured, or nothing more will be.
    ended: bool,
}

/// What all guests share.
pub struct Ground<'a> {
    /// This program.
    pub knee: &'a Path,
    /// The root of each.
    pub initramfs: &'a Path,
    /// Where their directories are made.
    pub directory: &'a Path,
    /// The CPUs of the host that they run on; all, where there are none.
    pub host_cpus: &'a [usize],
    /// What they measure.
    pub words: &'a [String],
    /// Facts of the host that each run keeps, by name.
    pub facts: &'a BTreeMap<String, String>,
    /// Whether the user wants it to end.
    pub stop: &'a Stop,
}

impl GuestSide {
    /// A side that was not booted yet.
    pub fn new(label: String, hardware: Hardware) -> GuestSide {
        GuestSide { label, hardware, guest: None, boots: 0, run: None, answer: None, ended: false }
    }

    /// Whether all of its plan was measured.
    pub fn is_complete(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.summary.state == RunState::Complete)
    }

    /// Boots it and gives it its job, which is to go on where it began already.
    fn boot(&mut self, ground: &Ground<'_>) -> Result<(), GuestFault> {
        // What is left of an earlier boot ends first.
        self.guest = None;
        self.boots += 1;
        let name = format!("guest-{}-{}", std::process::id(), fastrand::u32(..));
        let directory: PathBuf = ground.directory.join(name);
        let Ground { knee, initramfs, host_cpus, .. } = *ground;
        let mut guest = Guest::boot(knee, &self.hardware, initramfs, &directory, host_cpus)?;
        match guest.receive(UP_MAX, &|| ground.stop.is_requested())? {
            FromGuest::Up => {}
            _ => {
                return Err(GuestFault::Damaged(
                    "it did not say that it is up".into(),
                    guest.console(),
                ));
            }
        }
        let time_s = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let job = Job {
            words: ground.words.to_vec(),
            resumed: self.run.as_ref().map(without_samples),
            time_s: time_s.unwrap_or_default().as_secs(),
        };
        guest.send(&ToGuest::Job(Box::new(job)))?;
        self.guest = Some(guest);
        Ok(())
    }

    /// The next message, after the answer to the one before.
    fn next(&mut self, ground: &Ground<'_>) -> Result<FromGuest, GuestFault> {
        let deadline_ms = self.run.as_ref().map_or(0, |run| run.plan.deadline_ms);
        let Some(guest) = &mut self.guest else {
            return Err(GuestFault::NotStarted("it has not been booted".into()));
        };
        if let Some(answer) = self.answer.take() {
            guest.send(&answer)?;
        }
        let patience = Duration::from_millis(deadline_ms) + CELL_MARGIN;
        guest.receive(patience, &|| ground.stop.is_requested())
    }
}

/// The same run, of which no figure is needed to go on.
fn without_samples(run: &Run) -> Run {
    let mut run = run.clone();
    run.profile = Profile::default();
    for cell in &mut run.cells {
        cell.metrics.clear();
    }
    run
}

/// Measures on all sides in turns, into the record; each run names that of the first side, with which its cells took
/// turns. A side that fails says so on standard error, and the others go on.
///
/// # Errors
/// Where none can begin, or the record can't be written.
pub fn measure(
    sides: &mut [GuestSide],
    ground: &Ground<'_>,
    archive: &mut SqliteArchive,
) -> Result<(), Trouble> {
    for side in &mut *sides {
        begin(side, ground)?;
    }
    let base = sides.iter().find_map(|side| Some(side.run.as_ref()?.summary.id.clone()));
    for side in &mut *sides {
        let Some(run) = &mut side.run else { continue };
        run.plan.paired_with =
            base.clone().filter(|base| *base != run.summary.id).unwrap_or_default();
        run.summary.labels.insert("kernel".to_owned(), side.label.clone());
        run.host_before.facts.extend(ground.facts.clone());
        run.warnings.extend(emulated(&side.hardware));
        run.summary.number = archive.begin(run)?;
        side.answer = Some(ToGuest::Kept(run.summary.number));
    }
    let cells = sides.iter().filter_map(|side| side.run.as_ref());
    let plan = cells.max_by_key(|run| run.plan.cells.len()).map(|run| run.plan.clone());
    let plan = plan.unwrap_or_default();
    let mut progress = Shown {
        progress: Progress::for_plan(&plan, sides.len()),
        done: 0,
        total: (plan.cells.len() * sides.len()) as u64,
    };
    while !ground.stop.is_requested() && sides.iter().any(|side| !side.ended) {
        for side in sides.iter_mut().filter(|side| !side.ended) {
            let message = side.next(ground);
            if ground.stop.is_requested() {
                break;
            }
            take(side, message, ground, archive, &mut progress)?;
        }
    }
    progress.progress.done();
    Ok(())
}

/// How far all sides together have come.
struct Shown {
    progress: Progress,
    done: u64,
    total: u64,
}

impl Shown {
    fn ended(&mut self, cell: &Cell) {
        self.done += 1;
        let so_far = RunProgress { done: self.done, total: self.total, left: None };
        self.progress.ended(cell, &so_far);
    }
}

/// Boots a side until its run begins.
fn begin(side: &mut GuestSide, ground: &Ground<'_>) -> Result<(), Trouble> {
    loop {
        let begun = side.boot(ground).and_then(|()| side.next(ground));
        match begun {
            Ok(FromGuest::Begin(run)) => {
                side.run = Some(*run);
                return Ok(());
            }
            Ok(FromGuest::Refused { line, exit }) => return Err(Trouble::of_guest(line, exit)),
            Ok(_) => return Err(Trouble::failed(format!("{}: it began no run", side.label))),
            Err(_) if ground.stop.is_requested() => {
                return Err(Trouble::interrupted("interrupted"));
            }
            Err(fault) if side.boots < BOOTS_MAX => {
                complain(&format!("knee: {}: {fault}; it is booted again", side.label));
            }
            Err(fault) => return Err(Trouble::failed(format!("{}: {fault}", side.label))),
        }
    }
}

/// Keeps what came of a side, and prepares the answer.
fn take(
    side: &mut GuestSide,
    message: Result<FromGuest, GuestFault>,
    ground: &Ground<'_>,
    archive: &mut SqliteArchive,
    progress: &mut Shown,
) -> Result<(), Trouble> {
    let Some(run) = &mut side.run else { return Ok(()) };
    let number = run.summary.number;
    let kept = match message {
        Ok(FromGuest::Cell(cell)) => {
            let kept = archive.commit(number, &cell);
            progress.ended(&cell);
            run.cells.push(*cell);
            kept
        }
        Ok(FromGuest::Profiled(profiled)) => {
            let Profiled { cell, frames, stacks, code } = *profiled;
            run.profile.frames.extend(frames);
            run.profile.stacks.extend(stacks);
            run.profile.code.extend(code);
            run.profile.cells.push(cell);
            archive.commit_profiled(number, &run.profile, run.profile.cells.len() - 1)
        }
        Ok(FromGuest::Finish(mut ending)) => {
            side.ended = true;
            let guest = side.guest.take();
            let (cpus, rest) = guest.as_ref().map(Guest::cpu_ticks).unwrap_or_default();
            ending.host_after.facts.extend(ground.facts.clone());
            ending.host_after.facts.extend(cpu_facts(&cpus, rest));
            ending.warnings.extend(emulated(&side.hardware));
            let kept = archive.finish(number, &ending);
            (run.host_after, run.warnings) = (Some(ending.host_after), ending.warnings);
            (run.summary.state, run.summary.ended) = (ending.state, Some(ending.ended));
            kept
        }
        Ok(FromGuest::Refused { line, exit }) => return Err(Trouble::of_guest(line, exit)),
        Ok(FromGuest::Up | FromGuest::Begin(_)) => {
            side.ended = true;
            complain(&format!("knee: {}: it began again; what it measured is kept", side.label));
            return Ok(());
        }
        Err(fault) => {
            died(side, &fault, ground);
            return Ok(());
        }
    };
    side.answer = Some(answer(number, kept));
    Ok(())
}

/// Boots a side that died again, as often as is worth it.
fn died(side: &mut GuestSide, fault: &GuestFault, ground: &Ground<'_>) {
    let label = side.label.clone();
    let mut fault = fault.clone();
    while side.boots < BOOTS_MAX && !ground.stop.is_requested() {
        complain(&format!("knee: {label}: {fault}; it is booted again"));
        side.answer = None;
        match side.boot(ground) {
            Ok(()) => return,
            Err(again) => fault = again,
        }
    }
    side.ended = true;
    side.guest = None;
    complain(&format!("knee: {label}: {fault}; what it measured is kept"));
}

/// What a reader has to know of a guest that QEMU emulates.
fn emulated(hardware: &Hardware) -> Option<Warning> {
    (hardware.accelerator == Accelerator::Tcg).then(|| Warning {
        what: "QEMU emulated this machine: only ratios between such runs mean something".to_owned(),
        remedy: "measure where KVM works".to_owned(),
    })
}

fn answer(number: i64, kept: Result<(), Error>) -> ToGuest {
    match kept {
        Ok(()) => ToGuest::Kept(number),
        Err(error) => ToGuest::Lost(error.to_string()),
    }
}

/// The time of each of the guest's CPUs on those of the host, as facts.
fn cpu_facts(cpus: &[u64], rest: u64) -> BTreeMap<String, String> {
    let seconds = |ticks: u64| format!("{:.2} s", ticks as f64 / 100.0);
    let named = |(cpu, &ticks): (usize, &u64)| (format!("vm.cpu.{cpu}.time"), seconds(ticks));
    let mut facts: BTreeMap<String, String> = cpus.iter().enumerate().map(named).collect();
    facts.insert("vm.rest.time".to_owned(), seconds(rest));
    facts
}
