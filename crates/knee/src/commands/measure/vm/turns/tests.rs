//! Sides of which no guest runs.

use super::*;
use archive::Archive;
use engine::Stop;
use guest::{Accelerator, Console, Kernel, Machine};
use model::{FailureReason, Metric, ProfilePlan};

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
    let settings = Settings::new(engine::calibrate(), Stop::never().unwrap());
    let nowhere = Path::new("/nowhere");
    let ground = Ground {
        knee: nowhere,
        initramfs: nowhere,
        directory: nowhere,
        host_cpus: &[],
        words: &[],
        facts: &BTreeMap::new(),
        settings: &settings,
        judge: None,
    };
    act(&ground)
}

#[test]
fn a_run_of_a_guest_is_claimed_while_it_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("knee.db");
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
        let archives = begin_runs(&mut sides, ground, &file).unwrap();
        assert_eq!(archives[0].runs().unwrap().len(), 2);
        for id in &ids {
            assert!(claim(id).is_err(), "{id}");
        }
        // One that another process has claimed already does not begin.
        let (mut third, taken) = (side(), claim(&third_id).unwrap());
        third.run.as_mut().unwrap().summary.id = third_id.clone();
        let refused = begin_runs(&mut [third], ground, &file).err().unwrap().to_string();
        assert!(refused.contains("is being measured by another process"), "{refused}");
        drop(taken);
    });
    let [base, new] = sides.each_ref().map(|side| side.run.as_ref().unwrap());
    assert_eq!([&base.plan.paired_with, &new.plan.paired_with], ["", &ids[0]]);
    drop(sides);
    for id in &ids {
        assert!(claim(id).is_ok(), "{id}");
    }
}

#[test]
fn a_guest_that_goes_on_has_the_figures_that_decide() {
    let mut run = side().run.unwrap();
    run.cells = vec![cell(0, 0)];
    run.profile = fixtures::profile().build();
    assert!(to_go_on(&run).cells.is_empty());
    run.plan.profile = Some(ProfilePlan { frequency_hz: 997, measure_ms: 100 });
    let metric = &to_go_on(&run).cells[0].metrics[0];
    assert_eq!((metric.samples.as_slice(), metric.histogram.as_str()), (&[3.0][..], ""));
    assert_eq!(to_go_on(&run).profile, run.profile);
}

#[test]
fn a_place_of_which_nothing_was_measured_is_a_dead_end() {
    let mut run = side().run.unwrap();
    let key = run.plan.cells[0].clone();
    let dead_end = DeadEnd::new(&run, &key, &GuestFault::Mute).unwrap();
    let at: Vec<bool> = run.plan.cells.iter().map(|key| dead_end.is_at(key)).collect();
    assert_eq!(at, [true, false, true, false], "nor can another round");
    let Outcome::Failed { reason, detail } = dead_end.outcome() else { panic!() };
    assert!(matches!(reason, FailureReason::EndUnknown { .. }));
    assert!(
        detail.starts_with("not measured: the guest died twice in it in round 1: "),
        "{detail}"
    );
    run.cells = vec![cell(0, 0)];
    assert!(DeadEnd::new(&run, &run.plan.cells[2], &GuestFault::Mute).is_none());
    let late = GuestFault::Late(Duration::from_secs(7), Console::default());
    let Outcome::Failed { reason, .. } = died_in::outcome(&late) else { panic!() };
    assert!(matches!(reason, FailureReason::DeadlineExceeded { deadline_ms: 7_000, .. }));
}

#[test]
fn a_side_that_this_machine_lost_is_known() {
    for (fault, is_lost_by_host) in [
        (GuestFault::Host("no memory".into()), true),
        (GuestFault::Refused("no such CPU".into()), true),
        (GuestFault::Ended(Console::from_text("knee-init-failed: no tmpfs")), false),
    ] {
        let (mut side, run) = (side(), Run::default());
        side.tries = BOOTS_MAX;
        on_no_ground(|ground| Turns { side: &mut side, ground }.boot_again(fault, &run));
        assert_eq!((side.boots, side.is_lost_by_host), (0, is_lost_by_host));
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
fn a_run_whose_guest_is_gone_ends_with_what_is_known_of_it() {
    let (mut side, mut run) = (side(), side().run.unwrap());
    run.host_before = fixtures::host("", [("kernel.release", Fact::from("6.1"))]);
    let cpu_use = model::CpuUse { total_ticks: 7, ..model::CpuUse::default() };
    run.host_after = Some(Host {
        cpu_use: Some(cpu_use),
        ..fixtures::host("", [("of.host", Fact::from("here"))])
    });
    on_no_ground(|ground| {
        let mut turns = Turns { side: &mut side, ground };
        assert_eq!(turns.measure(&run, 0, ground.settings), None);
        turns.end(&mut run);
    });
    let after = run.host_after.unwrap();
    assert_eq!((after.fact("kernel.release"), after.cpu_use), (Some("6.1"), Some(cpu_use)));
    assert!(after.number("vm.boots").is_some() && !after.facts.contains_key("of.host"));
}
