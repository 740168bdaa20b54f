//! Several guests that measure in turns: each waits until the host asks for its next cell.

mod died_in;
mod ticks;

use super::{consoles, facts};
use crate::args;
use crate::commands::keep::claim::Claim;
use crate::commands::measure::progress::Progress;
use crate::exit::{Trouble, complain};
use archive::{Error, RunWriter, SqliteArchive};
use died_in::DeadEnd;
use engine::{Instrument, RunProgress, Settings, Side, Watch};
use guest::{FromGuest, Guest, GuestFault, Hardware, Job, Mishap, ToGuest};
use model::{Budget, Cell, CellKey, Fact, Host, Outcome, ProfiledCell, Run, RunState, Warning};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use ticks::Ticks;

/// A kernel is up within seconds, and within this even where its host is busy.
const UP_MAX: Duration = Duration::from_secs(180);
const UP_LOOK: Duration = Duration::from_millis(20);
/// A guest is booted so often at most, however far each boot comes.
const BOOTS_MAX: u32 = 20;
/// A cell that its guest dies in so often is kept as failed.
const DEATHS_MAX: u32 = 2;
const BEGAN_AGAIN: &str = "it began again";
/// What a cell takes beyond its deadline: the guest's own instrument ends it first.
const CELL_MARGIN: Duration = Duration::from_secs(120);

pub struct GuestSide {
    /// What tells it from the others: `6.1.0 · cpu max,-smap`.
    pub label: String,
    pub hardware: Hardware,
    guest: Option<Guest>,
    boots: u32,
    /// How often since it measured something.
    tries: u32,
    dead_ends: Vec<DeadEnd>,
    ticks: Ticks,
    booted: Instant,
    /// From then until knee in it was up.
    up: Duration,
    /// The time of its own turns.
    measuring: Duration,
    /// The time of the last of them.
    turn: Duration,
    /// What has come of its run; its plan and its cells, once it began.
    pub run: Option<Run>,
    claim: Option<Claim>,
    /// Whether this machine or QEMU kept it from going on, which says nothing of its kernel.
    pub is_lost_by_host: bool,
}

pub trait Judge {
    /// Refuses to have anything measured on a machine of these facts.
    fn check(&self, facts: &BTreeMap<String, Fact>) -> Result<(), Trouble>;
    fn is_enough(&self, runs: &[&Run]) -> bool;
}

/// A run that ends when a judge has enough: neither a time nor a width ends it.
const UNTIL_DECIDED: Budget = Budget { time_ms: 0, precision: 0.0 };

#[derive(Clone, Copy)]
pub struct Ground<'a> {
    pub knee: &'a Path,
    pub initramfs: &'a Path,
    pub directory: &'a Path,
    /// The CPUs of the host that they run on; all, where there are none.
    pub host_cpus: &'a [usize],
    pub words: &'a [String],
    pub facts: &'a BTreeMap<String, Fact>,
    pub settings: &'a Settings,
    pub judge: Option<&'a dyn Judge>,
}

impl Ground<'_> {
    pub fn is_stopped(&self) -> bool {
        self.settings.stop.is_requested()
    }
}

impl GuestSide {
    pub fn new(label: String, hardware: Hardware) -> GuestSide {
        GuestSide {
            label,
            hardware,
            guest: None,
            boots: 0,
            tries: 0,
            dead_ends: Vec::new(),
            ticks: Ticks::default(),
            booted: Instant::now(),
            up: Duration::ZERO,
            measuring: Duration::ZERO,
            turn: Duration::ZERO,
            run: None,
            claim: None,
            is_lost_by_host: false,
        }
    }

    pub fn is_complete(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.summary.state == RunState::Complete)
    }

    /// How it went, for people: `6.1.0: up after 6.2 s, measured for 21 s`.
    pub fn times(&self) -> Option<String> {
        self.run.as_ref()?;
        let [up, measuring] = [self.up, self.measuring].map(|time| time.as_secs_f64());
        let boots = match self.boots {
            0 | 1 => String::new(),
            boots => format!(", booted {boots} times"),
        };
        Some(format!("{}: up after {up:.1} s, measured for {measuring:.1} s{boots}", self.label))
    }

    fn start(&mut self, ground: &Ground<'_>) -> Result<(), GuestFault> {
        // What is left of an earlier boot ends first.
        self.look_at_ticks();
        self.guest = None;
        self.ticks.add_up();
        self.boots += 1;
        self.tries += 1;
        self.up = Duration::ZERO;
        self.booted = Instant::now();
        let name = format!("guest-{}-{}", std::process::id(), fastrand::u32(..));
        let directory: PathBuf = ground.directory.join(name);
        let Ground { knee, initramfs, host_cpus, .. } = *ground;
        self.guest = Some(Guest::boot(knee, &self.hardware, initramfs, &directory, host_cpus)?);
        Ok(())
    }

    /// Boots it, and waits until it is up. It stays, and [`measure`] goes on with it.
    ///
    /// # Errors
    /// Why it is not up within `patience`.
    pub fn boot(&mut self, ground: &Ground<'_>, patience: Duration) -> Result<(), GuestFault> {
        self.start(ground)?;
        self.await_greeting(ground, patience)
    }

    /// As before it was booted. Its QEMU ends in a thread: where it hangs in the kernel, it may never end.
    pub fn put_back(&mut self) {
        let guest = self.guest.take();
        thread::spawn(move || drop(guest));
        *self = GuestSide::new(self.label.clone(), self.hardware.clone());
    }

    fn is_up(&self) -> bool {
        self.guest.as_ref().is_some_and(Guest::has_spoken)
    }

    fn await_greeting(
        &mut self,
        ground: &Ground<'_>,
        patience: Duration,
    ) -> Result<(), GuestFault> {
        let guest = self.guest.as_mut().ok_or(GuestFault::Mute)?;
        match guest.receive(patience, &|| ground.is_stopped())? {
            FromGuest::Up => {}
            _ => {
                return Err(GuestFault::Damaged(
                    "it did not say that it is up".into(),
                    guest.console(),
                ));
            }
        }
        self.note_up();
        Ok(())
    }

    /// Waits until it is up, and gives it its job, which is to go on with a run that it began already.
    fn employ(&mut self, ground: &Ground<'_>, begun: Option<&Run>) -> Result<(), GuestFault> {
        if !self.is_up() {
            self.await_greeting(ground, UP_MAX)?;
        }
        let guest = self.guest.as_mut().ok_or(GuestFault::Mute)?;
        for warning in guest.qemu_warnings() {
            complain(&format!("knee: {}: QEMU warns: {warning}", self.label));
        }
        let time_s = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let job = Job {
            words: ground.words.to_vec(),
            resumed: begun.map(to_go_on),
            time_s: time_s.unwrap_or_default().as_secs(),
        };
        guest.send(&ToGuest::Job(Box::new(job)), UP_MAX, &|| ground.is_stopped())
    }

    fn may_boot(&self, fault: &GuestFault) -> bool {
        self.tries < fault.boots_max() && self.boots < BOOTS_MAX
    }

    fn line_of(&self, fault: &GuestFault) -> String {
        let console = self.guest.as_ref().map(Guest::console_path);
        let kept = console.and_then(|console| consoles::keep(&console, &self.label));
        let kept = kept.map(|path| format!(" (its console: {})", path.display()));
        format!("{}: {fault}{}", self.label, kept.unwrap_or_default())
    }

    /// Boots it again, until it has its job, as often as its faults let it; else what the last one was.
    fn boot_again(
        &mut self,
        mut fault: GuestFault,
        ground: &Ground<'_>,
        begun: Option<&Run>,
    ) -> Result<(), GuestFault> {
        while self.may_boot(&fault) && !ground.is_stopped() {
            complain(&format!("knee: {}; it is booted again", self.line_of(&fault)));
            match self.start(ground).and_then(|()| self.employ(ground, begun)) {
                Ok(()) => return Ok(()),
                Err(again) => fault = again,
            }
        }
        Err(fault)
    }

    /// What it answers to a question, or to its job, within the deadline of a cell.
    fn answer(
        &mut self,
        question: Option<&ToGuest>,
        deadline_ms: u64,
        ground: &Ground<'_>,
    ) -> Result<FromGuest, GuestFault> {
        let begun = Instant::now();
        let guest = self.guest.as_mut().ok_or(GuestFault::Mute)?;
        let patience = Duration::from_millis(deadline_ms) + CELL_MARGIN;
        let is_over = || ground.is_stopped();
        let sent = question.map_or(Ok(()), |question| guest.send(question, patience, &is_over));
        let answer = sent.and_then(|()| guest.receive(patience, &is_over));
        self.turn = begun.elapsed();
        self.measuring += self.turn;
        self.look_at_ticks();
        answer
    }

    fn note_up(&mut self) {
        if self.up.is_zero() {
            self.up = self.booted.elapsed();
        }
    }

    /// Reads what its CPUs have had so far: of a guest that ended there is nothing to read.
    fn look_at_ticks(&mut self) {
        let (cpus, rest) = self.guest.as_ref().map(Guest::cpu_ticks).unwrap_or_default();
        self.ticks.see(&cpus, rest);
    }

    fn facts(&self, ground: &Ground<'_>) -> BTreeMap<String, Fact> {
        let Ticks { cpus, rest, .. } = self.ticks.all();
        let mut facts = ground.facts.clone();
        facts.extend(facts::of_hardware(&self.hardware));
        facts.extend(cpu_facts(&cpus, rest));
        let own = [
            ("vm.up.time_s", seconds(self.up)),
            ("vm.plan.time_s", seconds(self.measuring)),
            ("vm.boots", u64::from(self.boots).into()),
        ];
        facts.extend(own.map(|(name, value)| (name.to_owned(), value)));
        facts
    }

    /// What went wrong in its kernel, which went on: what was measured then may be anything.
    fn warnings(&self, mishaps: &[Mishap]) -> Vec<Warning> {
        let Some(guest) = self.guest.as_ref().filter(|_| !mishaps.is_empty()) else {
            return Vec::new();
        };
        let kept = consoles::keep(&guest.console_path(), &self.label);
        let kept = kept.map(|path| format!("its console is in {}", path.display()));
        let mut warnings = Vec::new();
        for Mishap { kind, line } in mishaps {
            let sentence = kind.sentence();
            complain(&format!("knee: {}: its kernel {sentence}: {line}", self.label));
            let what = format!("The guest's kernel {sentence}: {line}");
            warnings.push(Warning { what, remedy: kept.clone().unwrap_or_default() });
        }
        warnings
    }
}

/// Whether all sides began but the last, and that by a fault of its own kernel.
pub fn is_only_last_unable(sides: &[GuestSide]) -> bool {
    let Some((last, bases)) = sides.split_last() else { return false };
    let is_unable = last.boots > 0 && last.run.is_none() && !last.is_lost_by_host;
    is_unable && bases.iter().all(|side| side.run.is_some())
}

/// What a guest needs of a run to go on with it: a profile samples by what its cells took.
fn to_go_on(run: &Run) -> Run {
    let mut run = run.clone();
    if run.plan.profile.is_none() {
        run.cells.clear();
    }
    let metrics = run.cells.iter_mut().flat_map(|cell| &mut cell.metrics);
    metrics.for_each(|metric| metric.histogram.clear());
    run
}

/// Measures on all sides in turns, into the record in `file`; each run names that of the first side, with which its cells
/// took turns. A side that fails says so on standard error, and the others go on.
///
/// # Errors
/// Where none can begin, or the record can't be written.
pub fn measure(sides: &mut [GuestSide], ground: &Ground<'_>, file: &Path) -> Result<(), Trouble> {
    if let Some(judge) = ground.judge {
        judge.check(ground.facts)?;
    }
    boot(sides, ground)?;
    let mut archives = begin_runs(sides, ground, file)?;
    let begun =
        sides.iter_mut().filter_map(|side| Some((side.run.take()?, Turns { side, ground })));
    let (mut runs, mut guests): (Vec<Run>, Vec<Turns<'_>>) = begun.unzip();
    let labels: Vec<String> = guests.iter().map(|guest| guest.side.label.clone()).collect();
    let max = runs.iter().map(|run| &run.plan).max_by_key(|plan| plan.cells.len());
    let progress =
        max.map_or_else(|| Progress::new(0), |plan| Progress::for_plan(plan, runs.len()));
    let mut shown =
        Shown { progress: progress.with_labels(labels.clone()), labels, judge: ground.judge };
    let by_cell = |run: &Run| analysis::trust::by_cell(run);
    let turns = runs.iter_mut().zip(&mut guests).zip(&mut archives);
    let turns = turns.map(|((run, instrument), archive)| Side {
        run,
        archive: Some(archive),
        instrument,
        judge: ground.judge.is_none().then_some(&by_cell as &engine::budget::Judge<'_>),
    });
    let unsaved = engine::run(turns.collect(), ground.settings, &mut shown);
    shown.progress.done();
    for (guest, run) in guests.into_iter().zip(runs) {
        guest.side.run = Some(run);
    }
    let unsaved = shown.labels.iter().zip(unsaved);
    let mut lost = unsaved.filter_map(|(label, unsaved)| {
        let why = unsaved?.error;
        Some(Trouble::failed(format!("{label}: not all that it measured could be kept: {why}")))
    });
    let last = lost.next_back();
    lost.for_each(|trouble| trouble.say());
    last.map_or(Ok(()), Err)
}

/// Begins the runs of all sides that are up, each in an archive of its own over the record.
fn begin_runs(
    sides: &mut [GuestSide],
    ground: &Ground<'_>,
    file: &Path,
) -> Result<Vec<SqliteArchive>, Trouble> {
    let base = sides.iter().find_map(|side| {
        let run = side.run.as_ref()?;
        Some((run.summary.id.clone(), run.plan.clone()))
    });
    let mut archives = Vec::new();
    for side in sides {
        let Some(run) = &mut side.run else { continue };
        let base = base.as_ref().filter(|(id, _)| *id != run.summary.id);
        run.plan.paired_with = match base {
            Some((id, plan)) if plan.cells == run.plan.cells => id.clone(),
            Some(_) => {
                run.warnings.push(not_paired());
                complain(&format!("knee: {}: {}", side.label, not_paired().what));
                String::new()
            }
            None => String::new(),
        };
        run.plan.budget = run.plan.budget.or(ground.judge.map(|_| UNTIL_DECIDED));
        run.summary.labels.insert("kernel".to_owned(), side.label.clone());
        run.summary.command = typed();
        run.host_before.facts.extend(ground.facts.clone());
        run.host_before.facts.extend(facts::of_hardware(&side.hardware));
        run.host_before.facts.insert("vm.up.time_s".to_owned(), seconds(side.up));
        let mut archive = SqliteArchive::open(file)?;
        side.claim.replace(Claim::new(&run.summary.id, Some(file))?);
        run.summary.number = archive.begin(run)?;
        archives.push(archive);
    }
    Ok(archives)
}

fn not_paired() -> Warning {
    let what = "Its plan has other cells than that of the first guest, so they took turns only round by round";
    Warning { what: what.to_owned(), remedy: String::new() }
}

/// The command line of this program: what was typed in the guest measures this machine, where it is typed here.
fn typed() -> Vec<String> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    args::recorded(&words.collect::<Vec<String>>())
}

fn boot(sides: &mut [GuestSide], ground: &Ground<'_>) -> Result<(), Trouble> {
    let labels: Vec<String> = sides.iter().map(|side| side.label.clone()).collect();
    let progress = Progress::new(sides.len() as u64);
    let all = sides.len();
    progress.at(
        0,
        &format!("booting {}: {}", printable::quantity(all as u64, "guest"), labels.join(", ")),
    );
    let mut troubles = Vec::new();
    for side in sides.iter_mut().filter(|side| !side.is_up()) {
        if let Err(trouble) = start(side, ground) {
            troubles.push(trouble);
        }
    }
    // A judge has nothing to judge without one of them.
    let may_lack = |ground: &Ground<'_>| ground.judge.is_none() && !ground.is_stopped();
    if troubles.is_empty() || may_lack(ground) {
        await_first_words(sides, ground);
    }
    for (index, side) in sides.iter_mut().enumerate().filter(|(_, side)| side.guest.is_some()) {
        if !troubles.is_empty() && !may_lack(ground) {
            break;
        }
        match begin(side, ground) {
            Ok(()) => progress.at(index as u64 + 1, &format!("{} is up", side.label)),
            Err(trouble) => {
                side.guest = None;
                troubles.push(trouble);
            }
        }
    }
    progress.done();
    if may_lack(ground) && sides.iter().any(|side| side.run.is_some()) {
        troubles.iter().for_each(Trouble::say);
        return Ok(());
    }
    troubles.into_iter().next().map_or(Ok(()), Err)
}

/// Notes when each side is up. Their jobs are given one after the other, when all are up or the first has failed.
fn await_first_words(sides: &mut [GuestSide], ground: &Ground<'_>) {
    while !ground.is_stopped() {
        for side in sides.iter_mut() {
            if side.guest.as_mut().is_some_and(Guest::is_readable) {
                side.note_up();
            }
        }
        let is_waiting = |side: &GuestSide| {
            side.up.is_zero() && side.booted.elapsed() < UP_MAX && side.guest.is_some()
        };
        if !sides.iter().any(is_waiting) {
            return;
        }
        thread::sleep(UP_LOOK);
    }
}

/// A side while runs are measured.
struct Turns<'a> {
    side: &'a mut GuestSide,
    ground: &'a Ground<'a>,
}

impl Turns<'_> {
    /// What its guest answers to a question about a cell. A guest that dies is booted again, and asked again: what it died of
    /// at last, where it does so too often. None where it can't go on.
    fn ask(
        &mut self,
        question: &ToGuest,
        key: &CellKey,
        run: &Run,
    ) -> Option<Result<FromGuest, GuestFault>> {
        // What it died of before is no fault of this cell.
        if let Some(fault) = self.side.guest.as_ref()?.complains() {
            self.boot_again(fault, run);
        }
        for death in 1..=DEATHS_MAX {
            self.side.guest.as_ref()?;
            let answer = self.side.answer(Some(question), run.plan.deadline_ms, self.ground);
            let fault = match answer {
                Ok(FromGuest::Refused { line, .. }) => return self.lose(&line),
                Ok(answer) => {
                    self.side.tries = 1;
                    return Some(Ok(answer));
                }
                Err(_) if self.ground.is_stopped() => return None,
                Err(fault) => fault,
            };
            let is_last = death == DEATHS_MAX;
            if is_last {
                complain(&format!(
                    "knee: {}: {} {} at {} is kept as failed, since the guest died in it twice",
                    self.side.label, key.workload, key.subject, key.point
                ));
                self.side.tries = 0;
            }
            self.boot_again(fault.clone(), run);
            if is_last {
                return Some(Err(fault));
            }
        }
        None
    }

    /// Boots its guest again after `fault`, if that may be.
    fn boot_again(&mut self, fault: GuestFault, run: &Run) {
        let Err(fault) = self.side.boot_again(fault, self.ground, Some(run)) else { return };
        self.side.is_lost_by_host = fault.is_of_host();
        if !self.ground.is_stopped() {
            complain(&format!("knee: {}; what it measured is kept", self.side.line_of(&fault)));
        }
        self.side.guest = None;
    }

    fn lose<T>(&mut self, why: &str) -> Option<T> {
        self.side.guest = None;
        complain(&format!("knee: {}: {why}; what it measured is kept", self.side.label));
        None
    }
}

impl Instrument for Turns<'_> {
    fn measure(&mut self, run: &Run, sequence: usize, _: &Settings) -> Option<(Cell, u64)> {
        self.side.guest.as_ref()?;
        let key = run.plan.cells.get(sequence)?;
        let failed = |outcome, elapsed: Duration| Cell {
            key: key.clone(),
            sequence: sequence as u64,
            outcome,
            elapsed_ns: elapsed.as_nanos() as u64,
            ..Cell::default()
        };
        if let Some(dead_end) = self.side.dead_ends.iter().find(|dead_end| dead_end.is_at(key)) {
            return Some((failed(dead_end.outcome(), Duration::ZERO), 0));
        }
        match self.ask(&ToGuest::Measure(sequence), key, run)? {
            Ok(FromGuest::Cell(cell)) => Some((*cell, 0)),
            Ok(_) => self.lose(BEGAN_AGAIN),
            Err(fault) => {
                self.side.dead_ends.extend(DeadEnd::new(run, key, &fault));
                Some((failed(died_in::outcome(&fault), self.side.turn), 0))
            }
        }
    }

    fn profile(&mut self, run: &mut Run, key: &CellKey, _: &Settings) -> Option<ProfiledCell> {
        match self.ask(&ToGuest::Profile(Box::new(key.clone())), key, run)? {
            Ok(FromGuest::Profiled(new)) => {
                run.profile.frames.extend(new.frames);
                run.profile.stacks.extend(new.stacks);
                run.profile.code.extend(new.code);
                new.cells.into_iter().next()
            }
            Ok(_) => self.lose(BEGAN_AGAIN),
            Err(fault) => {
                let (key, outcome) = (key.clone(), died_in::outcome(&fault));
                Some(ProfiledCell { key, outcome, ..ProfiledCell::default() })
            }
        }
    }

    fn end(&mut self, run: &mut Run) {
        let is_over = self.side.guest.is_none() || self.ground.is_stopped();
        let answer = (!is_over)
            .then(|| self.side.answer(Some(&ToGuest::Finish), run.plan.deadline_ms, self.ground));
        let mut host_after = run.host_before.clone();
        match answer {
            Some(Ok(FromGuest::Finish { host_after: host, mishaps })) => {
                host_after = engine::named_as(&run.host_before, *host);
                run.warnings.extend(self.side.warnings(&mishaps));
            }
            Some(Err(fault)) => complain(&format!("knee: {}", self.side.line_of(&fault))),
            _ => {}
        }
        host_after.facts.extend(self.side.facts(self.ground));
        // What used the CPUs of the host, which the guest does not see, disturbed it.
        let cpu_use = run.host_after.take().and_then(|host| host.cpu_use);
        run.host_after = Some(Host { cpu_use, ..host_after });
        self.side.guest = None;
    }
}

struct Shown<'a> {
    progress: Progress,
    labels: Vec<String>,
    judge: Option<&'a dyn Judge>,
}

impl Watch for Shown<'_> {
    fn begins(&mut self, side: usize, key: &CellKey, progress: &RunProgress) {
        self.progress.begins(side, key, progress);
    }

    fn ended(&mut self, key: &CellKey, outcome: &Outcome, progress: &RunProgress) {
        self.progress.ended(key, outcome, progress);
    }

    fn refused(&mut self, side: usize, why: &Error) {
        complain(&format!("knee: {}: what it measures can't be kept: {why}", self.labels[side]));
    }

    fn is_enough(&mut self, runs: &[&Run]) -> bool {
        self.judge.is_some_and(|judge| judge.is_enough(runs))
    }

    fn goes_on_without_a_side(&self) -> bool {
        // There is nothing to judge without it.
        self.judge.is_none()
    }
}

/// Waits for a side that was started, and boots it again where it dies, until its run begins.
fn begin(side: &mut GuestSide, ground: &Ground<'_>) -> Result<(), Trouble> {
    let mut employed = side.employ(ground, None);
    loop {
        let fault = match employed.and_then(|()| side.answer(None, 0, ground)) {
            Ok(FromGuest::Begin(run)) => {
                side.run = Some(*run);
                return Ok(());
            }
            Ok(FromGuest::Refused { line, exit }) => return Err(Trouble::of_guest(line, exit)),
            Ok(_) => return Err(Trouble::failed(format!("{}: it began no run", side.label))),
            Err(fault) => fault,
        };
        employed = side.boot_again(fault, ground, None);
        match &employed {
            Ok(()) => {}
            Err(_) if ground.is_stopped() => return Err(Trouble::interrupted("interrupted")),
            Err(fault) => return Err(refused(side, fault)),
        }
    }
}

/// Starts a side, and once more where its QEMU ends before its serial ports are there.
fn start(side: &mut GuestSide, ground: &Ground<'_>) -> Result<(), Trouble> {
    while let Err(fault) = side.start(ground) {
        if !side.may_boot(&fault) || ground.is_stopped() {
            return Err(refused(side, &fault));
        }
        complain(&format!("knee: {}; it is booted again", side.line_of(&fault)));
    }
    Ok(())
}

fn refused(side: &mut GuestSide, fault: &GuestFault) -> Trouble {
    let line = side.line_of(fault);
    side.is_lost_by_host = fault.is_of_host();
    if fault.is_usage() { Trouble::usage(line) } else { Trouble::failed(line) }
}

fn seconds(time: Duration) -> Fact {
    Fact::rounded(time.as_secs_f64(), 2)
}

fn cpu_facts(cpus: &[u64], rest: u64) -> BTreeMap<String, Fact> {
    let seconds = |ticks: u64| Fact::from(ticks as f64 / 100.0);
    let named = |(cpu, &ticks): (usize, &u64)| (format!("vm.cpu.{cpu}.time_s"), seconds(ticks));
    let rest = ("vm.rest.time_s".to_owned(), seconds(rest));
    cpus.iter().enumerate().map(named).chain([rest]).collect()
}

#[cfg(test)]
mod tests;
