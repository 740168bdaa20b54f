//! What is kept of guests, and whose turn it is: without guests.

use super::*;
use archive::{Archive, SqliteArchive};
use guest::{Accelerator, Console, Kernel, Machine};
use model::{CellKey, Metric, Profile, ProfilePlan};
use model::{FailureReason, Outcome};

/// Takes what it is given, unless it is full.
#[derive(Default)]
struct Record {
    is_full: bool,
    cells: Vec<Cell>,
    profile: Profile,
    ended: Option<RunState>,
}

impl Record {
    fn taken(&self) -> Result<(), Error> {
        let what = "no space left on device".to_owned();
        if self.is_full { Err(Error::Invalid { path: "record".into(), what }) } else { Ok(()) }
    }
}

impl RunWriter for Record {
    fn begin(&mut self, _: &Run) -> Result<i64, Error> {
        self.taken().map(|()| 1)
    }

    fn commit(&mut self, _: i64, cell: &Cell) -> Result<(), Error> {
        self.taken().map(|()| self.cells.push(cell.clone()))
    }

    fn commit_profiled(&mut self, _: i64, profile: &Profile, _: usize) -> Result<(), Error> {
        self.taken().map(|()| self.profile = profile.clone())
    }

    fn finish(&mut self, _: i64, ending: &Ending) -> Result<(), Error> {
        self.taken().map(|()| self.ended = Some(ending.state))
    }
}

fn cell(sequence: u64, round: u32) -> Cell {
    let latency = Metric { histogram: "x".into(), ..fixtures::metric("latency", vec![3.0]) };
    let cell = fixtures::cell("poll", "poll", sequence % 2, round).build();
    Cell { sequence, metrics: vec![latency], ..cell }
}

/// A side whose run has a plan of two cells in each of two rounds.
fn side() -> GuestSide {
    let kernel = Kernel { path: "bzImage".into(), machine: Machine::X86, release: "6.1".into() };
    let hardware = Hardware {
        kernel,
        cpus: 1,
        memory_mib: 64,
        cpu: "max".into(),
        append: String::new(),
        accelerator: Accelerator::Tcg,
        xen: None,
    };
    let mut run = fixtures::run(fixtures::workload("poll")).complete();
    run.plan.cells = (0..4).map(|at| cell(at, at as u32 / 2).key).collect::<Vec<CellKey>>();
    run.summary.state = RunState::Open;
    GuestSide { run: Some(run), ..GuestSide::new("6.1".into(), hardware) }
}

/// Does something where no guest can be booted.
fn on_no_ground<T>(act: impl FnOnce(&Ground<'_>) -> T) -> T {
    let (facts, stop) = (BTreeMap::new(), Stop::never().unwrap());
    let nowhere = Path::new("/nowhere");
    let ground = Ground {
        knee: nowhere,
        initramfs: nowhere,
        directory: nowhere,
        host_cpus: &[],
        words: &[],
        cpus: &CpuLook::default(),
        facts: &facts,
        record: None,
        stop: &stop,
        judge: None,
    };
    act(&ground)
}

/// Gives `message` to a side.
fn come(side: &mut GuestSide, record: &mut Record, message: Result<FromGuest, GuestFault>) {
    let mut shown = Shown { progress: Progress::new(1), begun: Instant::now(), done: 0, total: 4 };
    let before = side.run.as_ref().unwrap().cells.len();
    on_no_ground(|ground| take(side, message, ground, record, &mut shown));
    assert_eq!(shown.done as usize, side.run.as_ref().unwrap().cells.len() - before);
}

#[test]
fn what_the_record_refuses_is_not_measured() {
    let (mut side, mut record) = (side(), Record { is_full: true, ..Record::default() });
    let first = || Ok(FromGuest::Cell(Box::new(cell(0, 0))));
    come(&mut side, &mut record, first());
    assert!(side.run.as_ref().unwrap().cells.is_empty());
    assert!(matches!(side.answer, Some(ToGuest::Lost(_))));
    assert!(side.unkept.as_ref().unwrap().contains("no space left"));
    record.is_full = false;
    come(&mut side, &mut record, first());
    assert_eq!((side.unkept.as_ref(), side.run.as_ref().unwrap().cells.len()), (None, 1));
    assert_eq!(record.cells.len(), 1);
    // A guest that has cells left over ends, and is not booted again for that.
    record.is_full = true;
    come(&mut side, &mut record, Ok(FromGuest::Cell(Box::new(cell(1, 0)))));
    come(&mut side, &mut record, Err(GuestFault::Mute));
    assert!(side.ended && side.unkept.is_some() && side.boots == 0);
}

#[test]
fn a_run_of_a_guest_is_claimed_while_it_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("knee.db");
    let mut archive = SqliteArchive::open(&file).unwrap();
    let claim = |id: &str| Claim::new(id, Some(&file));
    let id = || format!("{:016x}", fastrand::u64(..));
    let (mut sides, third_id) = ([side(), side()], id());
    let ids = sides.each_mut().map(|side| {
        let run = side.run.as_mut().unwrap();
        run.cells.clear();
        run.summary.id = id();
        run.summary.id.clone()
    });
    on_no_ground(|ground| {
        let ground = Ground { record: Some(&file), ..*ground };
        assert!(begin_runs(&mut sides, &ground, &mut archive).unwrap());
        for id in &ids {
            assert!(claim(id).is_err(), "{id}");
        }
        // One that another process has claimed already does not begin.
        let (mut third, taken) = (side(), claim(&third_id).unwrap());
        third.run.as_mut().unwrap().summary.id = third_id.clone();
        let refused = begin_runs(&mut [third], &ground, &mut archive).unwrap_err().to_string();
        assert!(refused.contains("is being measured by another process"), "{refused}");
        drop(taken);
    });
    assert_eq!(archive.runs().unwrap().len(), 2);
    drop(sides);
    for id in &ids {
        assert!(claim(id).is_ok(), "{id}");
    }
}

#[test]
fn a_profile_that_is_refused_leaves_nothing_behind() {
    let (mut side, mut record) = (side(), Record { is_full: true, ..Record::default() });
    let profile = fixtures::profile()
        .cell(cell(0, 0).key, "latency", (1, 1), [("knee;main;poll_[k]", 3)])
        .build();
    let new = || {
        let Profile { frames, stacks, code, cells } = profile.clone();
        let cell = cells[0].clone();
        Ok(FromGuest::Profiled(Box::new(Profiled { cell, frames, stacks, code })))
    };
    come(&mut side, &mut record, new());
    assert_eq!(side.run.as_ref().unwrap().profile, Profile::default());
    record.is_full = false;
    come(&mut side, &mut record, new());
    assert_eq!((&side.run.as_ref().unwrap().profile, &record.profile), (&profile, &profile));
}

#[test]
fn a_guest_that_goes_on_has_the_figures_that_decide() {
    let mut run = side().run.unwrap();
    run.cells = vec![cell(0, 0)];
    run.profile = fixtures::profile().build();
    assert!(to_go_on(&run).cells[0].metrics.is_empty());
    let budget = Some(::model::Budget { time_ms: 0, precision: 0.1 });
    let profile = Some(ProfilePlan { frequency_hz: 997, measure_ms: 100 });
    for (budget, profile) in [(budget, None), (None, profile)] {
        (run.plan.budget, run.plan.profile) = (budget, profile);
        let metric = &to_go_on(&run).cells[0].metrics[0];
        assert_eq!((metric.samples.as_slice(), metric.histogram.as_str()), (&[3.0][..], ""));
    }
    assert_eq!(to_go_on(&run).profile, run.profile);
}

#[test]
fn a_cell_that_a_guest_dies_in_twice_fails_and_the_guest_goes_on() {
    let (mut side, mut record) = (side(), Record::default());
    come(&mut side, &mut record, Err(GuestFault::Mute));
    assert!(record.cells.is_empty());
    come(&mut side, &mut record, Err(GuestFault::Mute));
    let sequences =
        |record: &Record| -> Vec<u64> { record.cells.iter().map(|cell| cell.sequence).collect() };
    assert_eq!(sequences(&record), [0, 2], "nothing was measured at its place: no round can");
    let is_unknown = |cell: &Cell| {
        matches!(&cell.outcome, Outcome::Failed { reason: FailureReason::EndUnknown { .. }, .. })
    };
    assert!(record.cells.iter().all(is_unknown));
    assert_eq!(side.position(true), 1);
    come(&mut side, &mut record, Ok(FromGuest::Cell(Box::new(cell(1, 0)))));
    assert_eq!((side.position(true), side.tries), (3, 1));
    for _ in 0..2 {
        let late = GuestFault::Late(Duration::from_secs(7), Console::default());
        come(&mut side, &mut record, Err(late));
    }
    assert_eq!(sequences(&record), [0, 2, 1, 3]);
    let Outcome::Failed { reason, .. } = &record.cells[3].outcome else { panic!() };
    assert!(matches!(reason, FailureReason::DeadlineExceeded { deadline_ms: 7_000, .. }));
    assert_eq!(side.position(true), u64::MAX);
}

#[test]
fn a_side_that_this_machine_lost_is_known() {
    for (fault, is_lost_by_host) in [
        (GuestFault::Host("no memory".into()), true),
        (GuestFault::Refused("no such CPU".into()), true),
        (GuestFault::Ended(Console::from_text("knee-init-failed: no tmpfs")), false),
    ] {
        let (mut side, mut record) = (side(), Record::default());
        side.tries = BOOTS_MAX;
        come(&mut side, &mut record, Err(fault));
        assert_eq!((side.ended, side.is_lost_by_host), (true, is_lost_by_host));
    }
}

#[test]
fn a_kernel_is_to_blame_only_where_nothing_else_failed() {
    let new = |is_lost_by_host| GuestSide { run: None, boots: 3, is_lost_by_host, ..side() };
    assert!(is_only_last_unable(&[side(), new(false)]));
    assert!(!is_only_last_unable(&[side(), new(true)]), "QEMU failed");
    assert!(!is_only_last_unable(&[new(false), new(false)]), "the base does not begin either");
    assert!(!is_only_last_unable(&[side(), side()]), "both have begun");
    let unbooted = GuestSide { boots: 0, ..new(false) };
    assert!(!is_only_last_unable(&[side(), unbooted]), "it was never tried");
}

#[test]
fn a_run_that_the_record_never_had_is_not_closed_in_it() {
    let (mut side, mut record) = (side(), Record::default());
    for (number, ended) in [(0, None), (3, Some(RunState::Interrupted))] {
        side.run.as_mut().unwrap().summary.number = number;
        on_no_ground(|ground| interrupt(&mut side, ground, &mut record).unwrap());
        assert_eq!(record.ended, ended);
    }
}

#[test]
fn a_guest_that_refuses_ends_alone() {
    let (mut side, mut record) = (side(), Record::default());
    let refused = FromGuest::Refused { line: "no such workload".into(), exit: 2 };
    come(&mut side, &mut record, Ok(refused));
    assert!(side.ended && !side.is_complete());
}

#[test]
fn who_is_further_waits_for_the_others() {
    let mut side = side();
    assert_eq!([true, false].map(|alike| side.position(alike)), [0, 0]);
    side.run.as_mut().unwrap().cells = vec![cell(0, 0), cell(2, 1)];
    assert_eq!([true, false].map(|alike| side.position(alike)), [3, 1]);
    side.run.as_mut().unwrap().cells.push(cell(3, 1));
    assert_eq!(side.position(true), u64::MAX);
    let plan = |side: &GuestSide| side.run.as_ref().unwrap().plan.clone();
    let mut swapped = plan(&side);
    assert!(is_alike(&plan(&side), &swapped));
    swapped.cells.swap(0, 1);
    assert!(!is_alike(&plan(&side), &swapped));
}
