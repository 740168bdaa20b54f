//! Several guests that measure in turns: each waits with its next cell until the others have ended theirs.

mod died_in;
mod ticks;

use super::{consoles, facts};
use crate::args;
use crate::commands::keep::claim::Claim;
use crate::commands::measure::progress::{Progress, cell_name};
use crate::exit::{Trouble, complain};
use archive::{Error, RunWriter};
use engine::{CpuLook, RunProgress, Stop, Watch};
use guest::{FromGuest, Guest, GuestFault, Hardware, Job, Mishap, Profiled, ToGuest};
use indicatif::HumanDuration;
use model::{Budget, Cell, CpuUse, Ending, Fact, Plan, Run, RunState, Warning};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use ticks::Ticks;

/// A kernel is up within seconds, and within this even where its host is busy.
const UP_MAX: Duration = Duration::from_secs(180);
const UP_LOOK: Duration = Duration::from_millis(20);
/// A guest is booted so often at most, however far each boot comes.
const BOOTS_MAX: u32 = 20;
/// What a cell takes beyond its deadline: the guest's own instrument ends it first.
const CELL_MARGIN: Duration = Duration::from_secs(120);

pub struct GuestSide {
    /// What tells it from the others: `6.1.0 · cpu max,-smap`.
    pub label: String,
    pub hardware: Hardware,
    guest: Option<Guest>,
    boots: u32,
    /// How often since something of it was kept.
    tries: u32,
    died_at: Option<usize>,
    given_up: BTreeSet<usize>,
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
    answer: Option<ToGuest>,
    /// Why the record does not have what came last.
    unkept: Option<String>,
    /// Whether all is measured, or nothing more will be.
    ended: bool,
    is_enough: bool,
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
    /// The host before the guests were booted. What used its CPUs disturbs them; they don't see it themselves.
    pub cpus: &'a CpuLook,
    pub facts: &'a BTreeMap<String, Fact>,
    pub record: Option<&'a Path>,
    pub stop: &'a Stop,
    pub judge: Option<&'a dyn Judge>,
}

impl Ground<'_> {
    /// What used the host's CPUs so far, of which the guests of all sides are the run's own.
    fn cpu_use(&self) -> CpuUse {
        CpuLook::now(Some(0)).since(self.cpus)
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
            died_at: None,
            given_up: BTreeSet::new(),
            ticks: Ticks::default(),
            booted: Instant::now(),
            up: Duration::ZERO,
            measuring: Duration::ZERO,
            turn: Duration::ZERO,
            run: None,
            claim: None,
            answer: None,
            unkept: None,
            ended: false,
            is_enough: false,
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

    pub fn is_kept(&self) -> bool {
        self.unkept.is_none() && self.run.as_ref().is_some_and(|run| run.summary.number > 0)
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
        match guest.receive(patience, &|| ground.stop.is_requested())? {
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

    /// Waits until it is up, and gives it its job, which is to go on where it began already.
    fn employ(&mut self, ground: &Ground<'_>) -> Result<(), GuestFault> {
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
            resumed: self.run.as_ref().map(to_go_on),
            time_s: time_s.unwrap_or_default().as_secs(),
        };
        guest.send(&ToGuest::Job(Box::new(job)), UP_MAX, &|| ground.stop.is_requested())
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

    fn next(&mut self, ground: &Ground<'_>) -> Result<FromGuest, GuestFault> {
        let deadline_ms = self.run.as_ref().map_or(0, |run| run.plan.deadline_ms);
        let begun = Instant::now();
        let guest = self.guest.as_mut().ok_or(GuestFault::Mute)?;
        let patience = Duration::from_millis(deadline_ms) + CELL_MARGIN;
        let is_over = || ground.stop.is_requested();
        let sent = match self.answer.take() {
            Some(answer) => guest.send(&answer, patience, &is_over),
            None => Ok(()),
        };
        let message = sent.and_then(|()| guest.receive(patience, &is_over));
        self.turn = begun.elapsed();
        self.measuring += self.turn;
        self.look_at_ticks();
        message
    }

    /// How far it is: its next cell where all plans have the same ones, else the round of that.
    fn position(&self, are_alike: bool) -> u64 {
        let Some(run) = &self.run else { return 0 };
        let next = self.next_cell(run);
        match run.plan.cells.get(next) {
            None => u64::MAX,
            Some(_) if are_alike => next as u64,
            Some(key) => u64::from(key.round),
        }
    }

    /// The place in the plan of the cell that it measures next, or a later one where a budget leaves some out.
    fn next_cell(&self, run: &Run) -> usize {
        let ended = run.cells.iter().map(|cell| cell.sequence as usize);
        // What an earlier boot left out was not needed then.
        let behind = ended.filter(|at| !self.given_up.contains(at)).map(|at| at + 1).max();
        let mut next = behind.unwrap_or(0);
        while self.given_up.contains(&next) {
            next += 1;
        }
        next
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

    fn note_unkept(&mut self, kept: &Result<(), Error>) {
        let why = kept.as_ref().err().map(ToString::to_string);
        if let Some(why) = why.as_ref().filter(|_| self.unkept.is_none()) {
            complain(&format!("knee: {}: what it measures can't be kept: {why}", self.label));
        }
        self.unkept = why;
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

    /// Lets it finish, whatever of its plan is left.
    fn finish(&mut self) {
        if let Some(ToGuest::Kept(number)) = self.answer {
            (self.answer, self.is_enough) = (Some(ToGuest::Enough(number)), true);
        }
    }
}

/// Whether all sides began but the last, and that by a fault of its own kernel.
pub fn is_only_last_unable(sides: &[GuestSide]) -> bool {
    let Some((last, bases)) = sides.split_last() else { return false };
    let is_unable = last.boots > 0 && last.run.is_none() && !last.is_lost_by_host;
    is_unable && bases.iter().all(|side| side.run.is_some())
}

/// With the figures to go on: widths decide how a budget is spent, and times how often a profile samples.
fn to_go_on(run: &Run) -> Run {
    let mut run = run.clone();
    // It is the host that decides when it is enough.
    run.plan.budget = run.plan.budget.filter(|budget| *budget != UNTIL_DECIDED);
    let are_needed = run.plan.budget.is_some() || run.plan.profile.is_some();
    for cell in &mut run.cells {
        if !are_needed {
            cell.metrics.clear();
        }
        cell.metrics.iter_mut().for_each(|metric| metric.histogram.clear());
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
    archive: &mut dyn RunWriter,
) -> Result<(), Trouble> {
    if let Some(judge) = ground.judge {
        judge.check(ground.facts)?;
    }
    boot(sides, ground)?;
    let measured = in_turns(sides, ground, archive);
    let closed: Vec<Result<(), Trouble>> =
        sides.iter_mut().map(|side| interrupt(side, ground, archive)).collect();
    let lost = sides.iter().find_map(|side| Some((&side.label, side.unkept.as_ref()?)));
    let kept = lost.map_or(Ok(()), |(label, why)| {
        Err(Trouble::failed(format!("{label}: not all that it measured could be kept: {why}")))
    });
    measured.and(kept).and(closed.into_iter().collect())
}

/// Begins the runs of all sides that are up: whether their cells can take turns.
fn begin_runs(
    sides: &mut [GuestSide],
    ground: &Ground<'_>,
    archive: &mut dyn RunWriter,
) -> Result<bool, Trouble> {
    let base = sides.iter().find_map(|side| {
        let run = side.run.as_ref()?;
        Some((run.summary.id.clone(), run.plan.clone()))
    });
    let plans: Vec<&Plan> =
        sides.iter().filter_map(|side| Some(&side.run.as_ref()?.plan)).collect();
    let are_alike = plans.windows(2).all(|two| is_alike(two[0], two[1]));
    for side in sides {
        let Some(run) = &mut side.run else { continue };
        let base = base.as_ref().filter(|(id, _)| *id != run.summary.id);
        run.plan.paired_with = match base {
            Some((id, plan)) if is_alike(plan, &run.plan) => id.clone(),
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
        // What it has by then is the guest's own number.
        run.summary.number = 0;
        side.claim.replace(Claim::new(&run.summary.id, ground.record)?);
        run.summary.number = archive.begin(run)?;
        side.answer = Some(ToGuest::Kept(run.summary.number));
    }
    Ok(are_alike)
}

fn in_turns(
    sides: &mut [GuestSide],
    ground: &Ground<'_>,
    archive: &mut dyn RunWriter,
) -> Result<(), Trouble> {
    let are_alike = begin_runs(sides, ground, archive)?;
    let cells = sides.iter().filter_map(|side| side.run.as_ref());
    let plan = cells.max_by_key(|run| run.plan.cells.len()).map(|run| run.plan.clone());
    let plan = Plan { budget: None, ..plan.unwrap_or_default() };
    let mut progress = Shown {
        progress: Progress::for_plan(&plan, sides.len()),
        begun: Instant::now(),
        done: 0,
        total: (plan.cells.len() * sides.len()) as u64,
    };
    while !ground.stop.is_requested() && sides.iter().any(|side| !side.ended) {
        for side in sides.iter_mut().filter(|side| !side.ended) {
            let fault = side.guest.as_ref().and_then(Guest::complains);
            if let Some(fault) = fault {
                died(side, &fault, ground);
            }
        }
        let is_lost = |side: &GuestSide| side.ended && !side.is_complete();
        if ground.judge.is_some() && sides.iter().any(is_lost) {
            // There is nothing to judge without it.
            break;
        }
        let first =
            sides.iter().filter(|side| !side.ended).map(|side| side.position(are_alike)).min();
        let is_next = |side: &GuestSide| !side.ended && Some(side.position(are_alike)) == first;
        for side in sides.iter_mut().filter(|side| is_next(side)) {
            progress.begins(side);
            let message = side.next(ground);
            if ground.stop.is_requested() {
                break;
            }
            take(side, message, ground, archive, &mut progress);
        }
        let runs: Vec<&Run> = sides.iter().filter_map(|side| side.run.as_ref()).collect();
        if ground.judge.is_some_and(|judge| judge.is_enough(&runs)) {
            sides.iter_mut().filter(|side| !side.ended).for_each(GuestSide::finish);
        }
    }
    progress.progress.done();
    Ok(())
}

fn is_alike(base: &Plan, second: &Plan) -> bool {
    base.cells == second.cells
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
            side.ended = true;
        }
    }
    // A judge has nothing to judge without one of them.
    let may_lack = |ground: &Ground<'_>| ground.judge.is_none() && !ground.stop.is_requested();
    if troubles.is_empty() || may_lack(ground) {
        await_first_words(sides, ground);
    }
    for (index, side) in sides.iter_mut().enumerate().filter(|(_, side)| !side.ended) {
        if !troubles.is_empty() && !may_lack(ground) {
            break;
        }
        match begin(side, ground) {
            Ok(()) => progress.at(index as u64 + 1, &format!("{} is up", side.label)),
            Err(trouble) => {
                (side.ended, side.guest) = (true, None);
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
    while !ground.stop.is_requested() {
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

/// Closes a run that will not go on: the user ended it, or its guest can't be booted any more.
fn interrupt(
    side: &mut GuestSide,
    ground: &Ground<'_>,
    archive: &mut dyn RunWriter,
) -> Result<(), Trouble> {
    let facts = side.facts(ground);
    side.guest = None;
    let is_open = |run: &&mut Run| run.summary.state == RunState::Open && run.summary.number > 0;
    let Some(run) = side.run.as_mut().filter(is_open) else { return Ok(()) };
    let mut host_after = run.host_before.clone();
    host_after.facts.extend(facts);
    host_after.cpu_use = Some(ground.cpu_use());
    let (state, ended) = (RunState::Interrupted, engine::now());
    (run.summary.state, run.summary.ended) = (state, Some(ended.clone()));
    let ending = Ending { state, ended, host_after, warnings: run.warnings.clone() };
    Ok(archive.finish(run.summary.number, &ending)?)
}

struct Shown {
    progress: Progress,
    begun: Instant,
    done: u64,
    total: u64,
}

impl Shown {
    fn begins(&self, side: &GuestSide) {
        let Some(run) = &side.run else { return };
        let cell = run.plan.cells.get(run.cells.len()).map(cell_name);
        let left =
            self.begun.elapsed().as_secs_f64() * (self.total - self.done) as f64 / self.done as f64;
        let left = if left.is_finite() && run.plan.budget.is_none() {
            format!("about {} left  ", HumanDuration(Duration::from_secs_f64(left)))
        } else {
            String::new()
        };
        let what = cell.unwrap_or_else(|| "ending".to_owned());
        self.progress.at(self.done, &format!("{left}{}: {what}", side.label));
    }

    fn ended(&mut self, cell: &Cell) {
        self.done += 1;
        let (done, total) = (self.done, self.total);
        let so_far = RunProgress { is_profile: false, done, total, left: None };
        self.progress.ended(&cell.key, &cell.outcome, &so_far);
    }
}

/// Waits for a side that was started, and boots it again where it dies, until its run begins.
fn begin(side: &mut GuestSide, ground: &Ground<'_>) -> Result<(), Trouble> {
    loop {
        match side.employ(ground).and_then(|()| side.next(ground)) {
            Ok(FromGuest::Begin(run)) => {
                side.run = Some(*run);
                return Ok(());
            }
            Ok(FromGuest::Refused { line, exit }) => return Err(Trouble::of_guest(line, exit)),
            Ok(_) => return Err(Trouble::failed(format!("{}: it began no run", side.label))),
            Err(_) if ground.stop.is_requested() => {
                return Err(Trouble::interrupted("interrupted"));
            }
            Err(fault) if side.may_boot(&fault) => {
                complain(&format!("knee: {}; it is booted again", side.line_of(&fault)));
                start(side, ground)?;
            }
            Err(fault) => return Err(refused(side, &fault)),
        }
    }
}

/// Starts a side, and once more where its QEMU ends before its serial ports are there.
fn start(side: &mut GuestSide, ground: &Ground<'_>) -> Result<(), Trouble> {
    while let Err(fault) = side.start(ground) {
        if !side.may_boot(&fault) || ground.stop.is_requested() {
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

fn take(
    side: &mut GuestSide,
    message: Result<FromGuest, GuestFault>,
    ground: &Ground<'_>,
    archive: &mut dyn RunWriter,
    progress: &mut Shown,
) {
    let (facts, warnings) = match &message {
        Ok(FromGuest::Finish { mishaps, .. }) => (side.facts(ground), side.warnings(mishaps)),
        _ => Default::default(),
    };
    let Some(run) = &mut side.run else { return };
    let number = run.summary.number;
    let kept = match message {
        Ok(FromGuest::Cell(cell)) => {
            let kept = archive.commit(number, &cell);
            // What is not kept comes again.
            if kept.is_ok() {
                progress.ended(&cell);
                run.cells.push(*cell);
                (side.tries, side.died_at) = (1, None);
            }
            kept
        }
        Ok(FromGuest::Profiled(new)) => keep_profiled(archive, run, *new),
        Ok(FromGuest::Finish { mut ending, .. }) => {
            side.ended = true;
            if side.is_enough {
                ending.state = RunState::Complete;
            }
            ending.host_after.facts.extend(facts);
            ending.host_after.cpu_use = Some(ground.cpu_use());
            ending.warnings.extend(warnings);
            side.guest = None;
            let kept = archive.finish(number, &ending);
            (run.host_after, run.warnings) = (Some(ending.host_after), ending.warnings);
            (run.summary.state, run.summary.ended) = (ending.state, Some(ending.ended));
            kept
        }
        Ok(FromGuest::Refused { line, .. }) => {
            (side.ended, side.guest) = (true, None);
            complain(&format!("knee: {}: {line}; what it measured is kept", side.label));
            return;
        }
        Ok(FromGuest::Up | FromGuest::Begin(_)) => {
            side.ended = true;
            complain(&format!("knee: {}: it began again; what it measured is kept", side.label));
            return;
        }
        Err(fault) => {
            died_in::note(side, &fault, archive, progress);
            died(side, &fault, ground);
            return;
        }
    };
    side.note_unkept(&kept);
    side.answer = Some(answer(number, kept));
}

/// Keeps a cell of a profile, and what is new with it, wholly or not at all: what is not kept comes again.
fn keep_profiled(archive: &mut dyn RunWriter, run: &mut Run, new: Profiled) -> Result<(), Error> {
    let profile = &mut run.profile;
    let (frames, stacks) = (profile.frames.len(), profile.stacks.len());
    let (code, cells) = (profile.code.len(), profile.cells.len());
    profile.frames.extend(new.frames);
    profile.stacks.extend(new.stacks);
    profile.code.extend(new.code);
    profile.cells.push(new.cell);
    let kept = archive.commit_profiled(run.summary.number, profile, cells);
    if kept.is_err() {
        profile.frames.truncate(frames);
        profile.stacks.truncate(stacks);
        profile.code.truncate(code);
        profile.cells.truncate(cells);
    }
    kept
}

fn died(side: &mut GuestSide, fault: &GuestFault, ground: &Ground<'_>) {
    let mut fault = fault.clone();
    if side.unkept.is_some() {
        // It ends when it has measured all, and still has cells that the record does not take.
        side.ended = true;
        side.guest = None;
        return;
    }
    while side.may_boot(&fault) && !ground.stop.is_requested() {
        complain(&format!("knee: {}; it is booted again", side.line_of(&fault)));
        side.answer = None;
        match side.start(ground).and_then(|()| side.employ(ground)) {
            Ok(()) => return,
            Err(again) => fault = again,
        }
    }
    (side.ended, side.is_lost_by_host) = (true, fault.is_of_host());
    if !ground.stop.is_requested() {
        complain(&format!("knee: {}; what it measured is kept", side.line_of(&fault)));
    }
    side.guest = None;
}

fn answer(number: i64, kept: Result<(), Error>) -> ToGuest {
    match kept {
        Ok(()) => ToGuest::Kept(number),
        Err(error) => ToGuest::Lost(error.to_string()),
    }
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
