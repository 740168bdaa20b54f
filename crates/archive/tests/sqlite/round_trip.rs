//! What is committed is what is loaded, to the last bit.

use crate::common::{cell, host, run};
use archive::{Archive, Error, RunWriter, SqliteArchive};
use model::{
    AxisPosition, Budget, Cell, CellKey, Change, Clock, CodeFault, CommandOutput, CpuUse, Custom,
    Dependence, Ending, Fact, FailureReason, Frame, FrameKind, FunctionCode, Host,
    InstructionSamples, Limit, LimitCause, LoadCounts, LoadOutcome, MachineCode, MemoryAccess,
    Metric, MetricInfo, MetricRole, Outcome, Parallel, Plan, PlanChange, Profile, ProfileLimit,
    ProfilePlan, ProfiledCell, ProfiledRegion, Rank, RankMeasured, Ratio, Run, RunState,
    RunSummary, SampledEvent, Shell, Short, StackNode, SubjectInfo, Template, Throttling,
    Unavailable, Usage, Value, Warning, WorkloadInfo, WorkloadRole,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use tempfile::tempdir;

/// Counts that SQLite can hold, its limits among them.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..1000u64, 2 => 0..=i64::MAX as u64, 1 => Just(i64::MAX as u64)]
}

/// Finite floats of every kind.
fn float() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        4 => POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
        4 => 0.1..1e9,
        1 => prop::sample::select(vec![-0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.1 + 0.2])
    ]
}

prop_compose! {
    fn usage()(figures in prop::array::uniform6(count())) -> Usage {
        let [user_ns, system_ns, switches_voluntary, switches_involuntary, faults_minor,
            faults_major] = figures;
        Usage { user_ns, system_ns, switches_voluntary, switches_involuntary, faults_minor,
            faults_major }
    }
}

prop_compose! {
    fn metric()(
        name in ".{0,8}",
        (samples, positions) in prop_oneof![
            vec(float(), 0..40).prop_map(|samples| (samples, vec![])),
            vec((float(), count()), 0..40).prop_map(|pairs| pairs.into_iter().unzip()),
        ],
        operations in count(),
        deviation in prop::option::of(float()),
        usage in usage(),
        histogram in ".{0,8}",
    ) -> Metric {
        Metric { name, samples, positions, operations, deviation, usage, histogram }
    }
}

prop_compose! {
    fn key()(
        workload in ".{0,8}",
        subject in ".{0,8}",
        parameters in btree_map(".{0,8}", ".{0,8}", 0..3),
        point in count(),
        round in any::<u32>(),
    ) -> CellKey {
        let parameters = parameters.into_iter().map(|(name, text)| (name, text.into())).collect();
        CellKey { workload, subject, parameters, point, round }
    }
}

prop_compose! {
    fn any_cell()(
        key in key(),
        outcome in any_outcome(),
        (elapsed_ns, timed_ns) in (count(), option::of(count())),
        usage in usage(),
        short in prop::option::of((count(), [".{0,9}", ".{0,9}", ".{0,9}", ".{0,9}"])),
        metrics in vec(metric(), 0..4),
        facts in btree_map(any::<String>(), fact(), 0..4),
        load in option::of(load()),
    ) -> Cell {
        let short = short.map(|(reached, [operation, error, limit, remedy])| {
            let reason = FailureReason::ResourceExhausted { operation, error, limit, remedy };
            Short { reached, reason }
        });
        let sequence = 0;
        Cell { key, sequence, outcome, elapsed_ns, timed_ns, short, usage, metrics, facts, load }
    }
}

fn fact() -> impl Strategy<Value = Fact> {
    let share = || 0.0..=1.0_f64;
    prop_oneof![
        count().prop_map(Fact::Count),
        float().prop_map(Fact::Number),
        any::<String>().prop_map(Fact::Text),
        vec(share(), 1..4).prop_map(Fact::Shares),
        vec(any::<String>(), 0..4).prop_map(Fact::Texts),
    ]
}

fn load() -> impl Strategy<Value = LoadOutcome> {
    let rank = (any::<u32>(), option::of((".{0,9}", prop::array::uniform5(count()), float())));
    let rank = rank.prop_map(|(rank, measured)| {
        let measured = measured.map(|(host, counts, busy_share)| {
            let [requests, replies, late, start_late_ns, clock_bound_ns] = counts;
            RankMeasured {
                host,
                requests,
                replies,
                start_late_ns,
                clock_bound_ns,
                late,
                busy_share,
            }
        });
        Rank { rank, measured }
    });
    let errors = btree_map(".{0,9}", count(), 0..3);
    let counts = prop::array::uniform9(count());
    (counts, errors, vec(rank, 0..3)).prop_map(|(counts, errors, ranks)| {
        let [requests, replies, failures, unsent, unfinished, waited, ..] = counts;
        let [.., connections, asked, unserved] = counts;
        let counts = LoadCounts {
            requests,
            replies,
            failures,
            unsent,
            unfinished,
            waited,
            connections,
            asked,
            unserved,
            errors,
        };
        LoadOutcome { counts, ranks }
    })
}

fn warning() -> impl Strategy<Value = Warning> {
    (".{0,20}", ".{0,20}").prop_map(|(what, remedy)| Warning { what, remedy })
}

fn any_host() -> impl Strategy<Value = Host> {
    (".{0,20}", btree_map(".{0,9}", fact(), 0..5), option::of(cpu_use()))
        .prop_map(|(taken, facts, cpu_use)| Host { taken, facts, cpu_use })
}

fn cpu_use() -> impl Strategy<Value = CpuUse> {
    let throttling = (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
        |(periods, throttled_periods, throttled_us)| Throttling {
            periods,
            throttled_periods,
            throttled_us,
        },
    );
    let ticks = (any::<u64>(), any::<u64>(), any::<u64>());
    (ticks, option::of(any::<u64>()), option::of(throttling)).prop_map(
        |((total_ticks, idle_ticks, steal_ticks), own_ns, throttling)| CpuUse {
            total_ticks,
            idle_ticks,
            steal_ticks,
            own_ns,
            throttling,
        },
    )
}

/// What a user adds, with each kind of text.
fn custom() -> Custom {
    let template = Template { name: "sort".into(), text: "sort \u{fe0f}{n}'\"\n".into() };
    Custom {
        commands: vec![template],
        words: [("size".to_owned(), vec!["4k".into(), 7.into()])].into(),
        shell: Some(Shell::Program("bash".into())),
        output: Some(CommandOutput::Keep),
        ..Custom::default()
    }
}

prop_compose! {
    fn workload()(
        words in prop::array::uniform5(".{0,9}"),
        version in any::<u32>(),
        [points_down, trajectory, averages, multiple] in any::<[bool; 4]>(),
        ratio in prop::option::of(prop::array::uniform3(".{0,9}")),
        compared_pairs in vec((".{0,9}", ".{0,9}"), 0..3),
        [not_measured, also_growth, command_parameters] in prop::array::uniform3(vec(".{0,9}", 0..3)),
        metrics in vec((".{0,9}", ".{0,9}", ".{0,9}", any::<bool>()), 0..4),
        subjects in vec((prop::array::uniform7(".{0,9}"), any::<bool>()), 0..4),
        parallel in prop::option::of(prop::array::uniform3(".{0,9}")),
        dependences in vec(prop::array::uniform3(".{0,9}"), 0..3),
        roles in (prop::sample::select(vec![WorkloadRole::Comparison, WorkloadRole::Control]), prop::sample::select(vec![MetricRole::Plain, MetricRole::MaxWait])),
    ) -> WorkloadInfo {
        let (role, metric_role) = roles;
        let [name, question, operation, axis, axis_parameter] = words;
        let ratio = ratio.map(|[part, whole, word]| Ratio { part, whole, word, multiple });
        let parallel = parallel.map(|[parameter, sharing, separate]| {
            Parallel { parameter, sharing, separate }
        });
        let dependences = dependences.into_iter().map(|[parameter, depends_on, value]| {
            Dependence { parameter, depends_on, values: vec![value.as_str().into()] }
        });
        let metrics = metrics.into_iter().map(|(name, about, unit, lower_is_better)| {
            MetricInfo { name, about, unit, lower_is_better, direction_assumed: !lower_is_better, role: metric_role }
        });
        let subjects = subjects.into_iter()
            .map(|([name, label, note, operation, group, headline, shared], control)| {
                let memory_access = control
                    .then(|| MemoryAccess { spread: 64, huge_page_subject: note.clone() });
                SubjectInfo { name, label, note, control, operation, group, headline, shared, memory_access }
            });
        WorkloadInfo { deadline_ms: None, axis_decimals: version % 4, name, version, question, operation, not_measured, axis,
            axis_parameter, ratio, dependences: dependences.collect(), trajectory, points_down, role, parallel, compared_pairs, also_growth, averages, command_parameters,
            metrics: metrics.collect(), subjects: subjects.collect(), custom: Some(Box::new(custom())) }
    }
}

prop_compose! {
    fn change()(
        cells in vec(key(), 0..3),
        [parameter, label, remedy] in prop::array::uniform3(".{0,9}"),
        [requested, max, point] in any::<[u64; 3]>(),
        kind in 0..4,
        is_axis in any::<bool>(),
    ) -> PlanChange {
        let limit = Limit {
            parameter,
            label: label.clone(),
            requested: Value::Number(requested),
            max,
            cause: LimitCause::Memory { available_mib: max, each_kib: point },
            position: (!is_axis).then(|| AxisPosition { label: label.clone(), point }),
        };
        let change = match kind {
            0 => Change::Clamped(limit),
            1 => Change::OverLimit(limit),
            2 => Change::LeftOut { what: label, cause: limit.cause },
            _ => Change::FarEndOnly { workload: limit.parameter, label, last: limit.requested },
        };
        PlanChange { cells, change, remedy }
    }
}

prop_compose! {
    fn plan()(
        seed in any::<u64>(),
        rounds in any::<u32>(),
        measure_ms in any::<u64>(),
        deadline_ms in any::<u64>(),
        pinned_cpus in vec(any::<usize>(), 0..3),
        workloads in vec(workload(), 0..3),
        unavailable in vec((".{0,9}", ".{0,9}", ".{0,9}"), 0..3),
        changes in vec(change(), 0..3),
        cells in vec(key(), 0..4),
        budget in prop::option::of((any::<u64>(), float())),
        profile in prop::option::of((any::<u64>(), any::<u64>())),
        paired_with in ".{0,9}",
        table in prop::option::of(".{0,9}"),
    ) -> Plan {
        let unavailable = unavailable.into_iter()
            .map(|(workload, subject, reason)| Unavailable { workload, subject, reason });
        let profile = profile.map(|(frequency_hz, measure_ms)| ProfilePlan { frequency_hz, measure_ms });
        let budget = budget.map(|(time_ms, precision)| Budget { time_ms, precision });
        Plan { seed, rounds, measure_ms, deadline_ms, pinned_cpus, workloads,
            unavailable: unavailable.collect(), changes, budget, profile, paired_with, table, cells }
    }
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let failed = (any::<String>(), any::<String>()).prop_map(|(message, detail)| Outcome::Failed {
        reason: FailureReason::Reported { message },
        detail,
    });
    prop_oneof![3 => Just(Outcome::Measured), 1 => failed]
}

fn frame() -> impl Strategy<Value = Frame> {
    use FrameKind::{Bpf, Jit, Kernel, KernelModule, Process, Unknown, User, Vdso};
    let kinds = vec![Process, Kernel, KernelModule, User, Vdso, Bpf, Jit, Unknown];
    (".{0,9}", ".{0,9}", prop::sample::select(kinds)).prop_map(|(function, module, kind)| Frame {
        function,
        module,
        kind,
    })
}

fn code() -> impl Strategy<Value = Result<MachineCode, CodeFault>> {
    let machine =
        (".{0,9}", any::<u64>(), "([0-9a-f]{2}){0,9}", vec((any::<u64>(), ".{0,9}"), 0..3));
    let faults = (0..4, ".{0,9}", ".{0,9}").prop_map(|(kind, path, error)| match kind {
        0 => CodeFault::KernelMemoryUnreadable { error },
        1 => CodeFault::FileUnreadable { path, error },
        2 => CodeFault::TimedOut,
        _ => CodeFault::NoSuchFile,
    });
    prop_oneof![
        machine.prop_map(|(architecture, address, bytes, lines)| {
            Ok(MachineCode { architecture, address, bytes, lines })
        }),
        faults.prop_map(Err),
    ]
}

fn profile_limit() -> impl Strategy<Value = ProfileLimit> {
    (0..4, ".{0,9}", ".{0,9}", any::<u64>()).prop_map(|(kind, program, error, lost)| match kind {
        0 => ProfileLimit::KernelHidden { perf_level: Some(lost.cast_signed()) },
        1 => ProfileLimit::KernelSymbolsHidden,
        2 => ProfileLimit::SamplesLost { lost: lost >> 16 },
        _ => ProfileLimit::ProcessHidden { program, error },
    })
}

prop_compose! {
    /// Its numbers are taken modulo what there is.
    fn region()(
        metric in ".{0,9}",
        figures in prop::array::uniform3(count()),
        samples in vec((any::<u32>(), 0..=u64::from(u32::MAX)), 0..9),
        instructions in vec((any::<u32>(), count(), 0..=u64::from(u32::MAX)), 0..9),
    ) -> ProfiledRegion {
        let [position, operations, elapsed_ns] = figures;
        let instructions = instructions.into_iter()
            .map(|(frame, offset, count)| InstructionSamples { frame, offset, count });
        ProfiledRegion { metric, position, operations, elapsed_ns, samples,
            instructions: instructions.collect() }
    }
}

prop_compose! {
    fn profiled_cell()(
        key in key(),
        outcome in any_outcome(),
        elapsed_ns in count(),
        samples_outside in count(),
        sample_ns in 0.0..1e12,
        slow_down in proptest::option::of(0.1..10.0),
        cycles in any::<bool>(),
        regions in vec(region(), 0..4),
        limits in vec(profile_limit(), 0..3),
    ) -> ProfiledCell {
        let event = if cycles { SampledEvent::Cycles } else { SampledEvent::CpuClock };
        ProfiledCell { key: CellKey { round: 0, ..key }, outcome, elapsed_ns, event, sample_ns, slow_down, regions,
            samples_outside, limits }
    }
}

prop_compose! {
    fn profile()(
        frames in vec(frame(), 1..9),
        stacks in vec((any::<u32>(), any::<u32>()), 1..20),
        codes in vec((any::<u32>(), code()), 0..4),
        mut cells in vec(profiled_cell(), 0..4),
    ) -> Profile {
        let (count, nodes) = (frames.len() as u32, stacks.len() as u32);
        let stacks = stacks.into_iter().zip(0..).map(|((caller, frame), index)| StackNode {
            caller: (index > 0 && caller % 3 > 0).then(|| caller % index),
            frame: frame % count,
        });
        for (index, cell) in cells.iter_mut().enumerate() {
            cell.key.point = index as u64;
            for (region, distinct) in cell.regions.iter_mut().zip(["a", "b", "c", "d"]) {
                region.metric.push_str(distinct);
                region.samples.iter_mut().for_each(|(stack, _)| *stack %= nodes);
                region.instructions.iter_mut().for_each(|sample| sample.frame %= count);
            }
        }
        let code = codes.into_iter().map(|(frame, code)| FunctionCode { frame: frame % count, code });
        if cells.is_empty() {
            return Profile::default();
        }
        Profile { stacks: stacks.collect(), code: code.collect(), frames, cells }
    }
}

prop_compose! {
    fn any_run()(
        started in ".{0,20}",
        command in vec(any::<String>(), 0..4),
        version in ".{0,9}",
        cells_planned in count(),
        plan in plan(),
        clock in (".{0,9}", float(), float()),
        host_before in any_host(),
        warnings in vec(warning(), 0..3),
        labels in btree_map(".{0,9}", ".{0,9}", 0..3),
    ) -> Run {
        let (source, resolution_ns, overhead_ns) = clock;
        Run {
            summary: RunSummary {
                id: "0123456789abcdef".into(),
                started,
                command,
                version,
                cells_planned,
                labels,
                ..RunSummary::default()
            },
            plan,
            clock: Clock { source, resolution_ns, overhead_ns },
            host_before,
            host_after: None,
            warnings,
            cells: vec![],
            profile: model::Profile::default(),
        }
    }
}

/// The floats by their bits: `-0.0 == 0.0` would hide a lost sign.
fn bits(run: &Run) -> Vec<u64> {
    let samples =
        run.cells.iter().flat_map(|cell| &cell.metrics).flat_map(|metric| &metric.samples);
    let clock = [run.clock.resolution_ns, run.clock.overhead_ns];
    let profiled = run.profile.cells.iter().map(|cell| &cell.sample_ns);
    clock.iter().chain(samples).chain(profiled).map(|value| value.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn everything_comes_back_as_it_was(
        run in any_run(),
        cells in vec(any_cell(), 0..6),
        complete in any::<bool>(),
        ended in ".{0,20}",
        host_after in any_host(),
        warnings in vec(warning(), 0..3),
        profile in profile(),
    ) {
        let directory = tempdir().unwrap();
        let path = directory.path().join("knee.db");
        let mut archive = SqliteArchive::open(&path).unwrap();
        let number = archive.begin(&run).unwrap();
        let mut expected = run;
        expected.summary.number = number;
        prop_assert_eq!(&archive.load(number).unwrap(), &expected, "just begun");

        // Cells end in another order than they were planned in.
        let last = cells.len() as u64;
        for (index, mut cell) in cells.into_iter().enumerate() {
            cell.sequence = last - index as u64;
            archive.commit(number, &cell).unwrap();
            expected.cells.push(cell);
        }
        for cell in 0..profile.cells.len() {
            archive.commit_profiled(number, &profile, cell).unwrap();
        }
        expected.profile = profile;
        expected.summary.cells_ended = last;
        let state = if complete { RunState::Complete } else { RunState::Interrupted };
        let ending = Ending { state, ended, host_after, warnings };
        archive.finish(number, &ending).unwrap();
        expected.summary.state = state;
        expected.summary.ended = Some(ending.ended);
        expected.host_after = Some(ending.host_after);
        expected.warnings = ending.warnings;
        drop(archive);

        let archive = SqliteArchive::open_read_only(&path).unwrap();
        let loaded = archive.load(number).unwrap();
        prop_assert_eq!(bits(&loaded), bits(&expected));
        prop_assert_eq!(&loaded, &expected);
        prop_assert_eq!(archive.runs().unwrap(), vec![expected.summary]);
    }
}

/// Commits a changed cell 3 to a fresh run; it must be refused and leave nothing behind.
fn refusal(change: impl FnOnce(&mut Cell)) -> String {
    let directory = tempdir().unwrap();
    let mut archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 1)).unwrap();
    let mut refused = cell(3);
    change(&mut refused);
    let error = archive.commit(number, &refused).unwrap_err();
    assert_eq!(archive.load(number).unwrap().cells, [], "nothing of it is kept");
    archive.commit(number, &cell(3)).unwrap();
    match error {
        Error::Invalid { what, .. } => what,
        error => panic!("{error}"),
    }
}

#[test]
fn samples_that_are_not_finite_are_refused() {
    for (value, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        assert_eq!(
            refusal(|cell| cell.metrics[1].samples[7] = value),
            format!("sample 7 of add in cell 3, which is {word}")
        );
    }
}

#[test]
fn positions_that_do_not_match_the_samples_are_refused() {
    assert_eq!(
        refusal(|cell| cell.metrics[1].positions.truncate(3)),
        "3 positions for 20 samples of add in cell 3"
    );
}

#[test]
fn counts_beyond_what_sqlite_holds_are_refused() {
    let too_much = i64::MAX as u64 + 1;
    let refused = [
        refusal(|cell| cell.key.point = too_much),
        refusal(|cell| cell.elapsed_ns = too_much),
        refusal(|cell| cell.usage.faults_major = too_much),
        refusal(|cell| cell.metrics[1].operations = too_much),
        refusal(|cell| cell.metrics[1].usage.user_ns = u64::MAX),
    ];
    assert_eq!(
        refused,
        [
            "point of cell 3, which is 9223372036854775808",
            "elapsed_ns of cell 3, which is 9223372036854775808",
            "faults_major of cell 3, which is 9223372036854775808",
            "operations of cell 3, which is 9223372036854775808",
            "user_ns of cell 3, which is 18446744073709551615",
        ]
    );
}

#[test]
fn a_run_that_can_not_be_kept_is_refused() {
    let directory = tempdir().unwrap();
    let mut archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
    let mut clockless = run("0123456789abcdef", 1);
    clockless.clock.resolution_ns = f64::NAN;
    assert!(matches!(archive.begin(&clockless), Err(Error::Invalid { .. })));
    let mut with_cells = run("0123456789abcdef", 1);
    with_cells.cells.push(cell(0));
    assert!(matches!(archive.begin(&with_cells), Err(Error::Invalid { .. })));
    assert_eq!(archive.runs().unwrap(), []);

    let number = archive.begin(&run("0123456789abcdef", 1)).unwrap();
    let open = Ending {
        state: RunState::Open,
        ended: String::new(),
        host_after: host("after"),
        warnings: vec![],
    };
    assert!(matches!(archive.finish(number, &open), Err(Error::Invalid { .. })));
}

#[test]
fn a_password_in_what_a_failed_cell_printed_is_not_kept() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let url = "http://me:secret@host/x";
    let failed = |text: &str| Cell {
        outcome: Outcome::Failed {
            reason: FailureReason::Reported { message: text.into() },
            detail: text.into(),
        },
        metrics: Vec::new(),
        ..cell(0)
    };
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 1)).unwrap();
    archive.commit(number, &failed(url)).unwrap();
    let hidden = failed("http://***@host/x");
    assert_eq!(archive.load(number).unwrap().cells, [hidden]);
    drop(archive);
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"secret"));
}
