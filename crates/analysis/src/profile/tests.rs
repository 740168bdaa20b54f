//! Profiles of known truth: what is attributed, what is not, and how often intervals hold.

use crate::rates::rate_past;
use crate::rates::speedup::speedup;
use crate::stats::random::generator;
use crate::{
    Class, DifferenceVerdict, Estimate, PointSummary, ProfileChange, ProfileDifference,
    ProfileTable, analyse,
};
use fastrand::Rng;
use fixtures::{cell, key, profile, run, workload};
use model::{MetricInfo, Profile, Run};

/// Time in each function of an operation at `n` descriptors, in nanoseconds.
type Truth<'a> = &'a [(&'a str, fn(f64) -> f64)];

const POLL: Truth<'static> = &[
    ("knee worker;main;write_[k]", |_| 900.0),
    ("knee worker;main;do_syscall_64_[k];do_sys_poll_[k]", |n| 300.0 + 4.0 * n),
    ("knee worker;main;do_syscall_64_[k];do_sys_poll_[k];sock_poll_[k]", |n| 18.0 * n),
    ("knee worker;main;do_syscall_64_[k];do_sys_poll_[k];sock_poll_[k];unix_poll_[k]", |n| {
        11.0 * n
    }),
    ("knee worker;main;[libc.so.6]", |_| 20.0),
];
const EPOLL: Truth<'static> = &[
    ("knee worker;main;write_[k]", |_| 900.0),
    ("knee worker;main;do_syscall_64_[k];do_epoll_wait_[k]", |_| 700.0),
    ("knee worker;main;do_syscall_64_[k];do_epoll_wait_[k];ep_poll_callback_[k]", |_| 250.0),
];
const POINTS: [u64; 3] = [100, 1_000, 10_000];

/// A Poisson deviate: the number of arrivals of unit rate before `mean`.
fn poisson(random: &mut Rng, mean: f64) -> u64 {
    if mean > 400.0 {
        let deviate = mean + mean.sqrt() * crate::stats::random::normal(random);
        return deviate.round().max(0.0) as u64;
    }
    let mut arrivals = 0;
    let mut time = -(1.0 - random.f64()).ln();
    while time < mean {
        arrivals += 1;
        time -= (1.0 - random.f64()).ln();
    }
    arrivals
}

/// The samples that `samples` in all have of this truth at `n`, and the operations.
fn drawn<'a>(
    random: &mut Rng,
    truth: Truth<'a>,
    n: u64,
    samples: f64,
) -> (u64, Vec<(&'a str, u64)>) {
    let total: f64 = truth.iter().map(|(_, time)| time(n as f64)).sum();
    let operations = samples * fixtures::SAMPLE_NS / total;
    let counts = truth.iter().map(|(stack, time)| {
        (*stack, poisson(random, time(n as f64) * operations / fixtures::SAMPLE_NS))
    });
    (operations.round() as u64, counts.collect())
}

/// A run of these subjects with `samples` in each profiled cell.
fn drawn_run(subjects: &[(&str, Truth<'_>)], samples: f64, seed: u64) -> Run {
    let mut random = generator(seed, &["profile"]);
    let mut profile = profile();
    let mut cells = Vec::new();
    for (subject, truth) in subjects {
        for point in POINTS {
            let time: f64 = truth.iter().map(|(_, time)| time(point as f64)).sum();
            cells.extend((0..5).map(|round| {
                let levels = (0..20).map(|at| time * (1.0 + f64::from((at + round) % 7) / 100.0));
                cell("poll", subject, point, round as u32).samples("loop", levels.collect())
            }));
            let (operations, stacks) = drawn(&mut random, truth, point, samples);
            let elapsed = (operations as f64 * time) as u64;
            let key = key("poll", subject, point, 0);
            profile = profile.cell(key, "loop", (operations, elapsed), stacks);
        }
    }
    let workload = workload("poll")
        .axis("watched descriptors", "watched")
        .time("loop")
        .subjects(subjects.iter().map(|(subject, _)| *subject));
    run(workload).cells(cells).profile(profile.build()).complete()
}

fn table(run: &Run) -> ProfileTable {
    analyse(run).profiles.remove(0)
}

fn change(table: &ProfileTable, subject: &str) -> ProfileDifference {
    let row = table.rows.iter().find(|row| row.subject == subject).unwrap();
    row.change.as_ref().unwrap().difference.clone()
}

#[test]
fn the_functions_that_make_poll_linear_are_named() {
    let table = table(&drawn_run(&[("poll", POLL), ("epoll", EPOLL)], 500.0, 1));
    assert_eq!(table.points, POINTS);
    let poll = change(&table, "poll");
    assert_eq!(poll.verdict, DifferenceVerdict::Added);
    let container = poll.container.unwrap();
    assert_eq!(container.frame.function, "do_sys_poll");
    assert!(container.share.low > 0.95, "{container:?}");
    let leaders: Vec<&str> = poll.leaders.iter().map(|l| &*l.frame.function).collect();
    assert_eq!(leaders, ["sock_poll", "unix_poll", "do_sys_poll"]);
    let sock_poll = poll.leaders[0].share;
    assert!(sock_poll.low < 18.0 / 33.0 && sock_poll.high > 18.0 / 33.0, "{sock_poll:?}");
    let functions = &table.rows[0].functions;
    assert_eq!(functions[0].frame.function, "sock_poll");
    assert_eq!(functions[0].growth.as_ref().unwrap().class, Class::Linear);
    let main = functions.iter().find(|function| function.frame.function == "main").unwrap();
    assert!(main.itself.iter().flatten().all(|time| time.samples == 0));
    assert!((main.inclusive[2].unwrap().share.value - 1.0).abs() < 1e-12);

    let epoll = change(&table, "epoll");
    assert!(
        matches!(epoll.verdict, DifferenceVerdict::Same { bound } if bound < 0.15),
        "{epoll:?}"
    );
    assert!(epoll.leaders.is_empty() && epoll.container.is_none());
}

/// Two threads of a lock: what they add is in many functions of one system call.
#[test]
fn what_is_in_a_system_call_of_a_program_is_named_by_the_call() {
    const ENTER: &str = "mt;work;push;[libc.so.6];entry_[k];do_syscall_64_[k];__x64_sys_futex_[k];";
    let stack = |leaf: &str| format!("{ENTER}{leaf}_[k]");
    let futex = ["futex_wake", "futex_wait", "wake_up_q", "schedule"].map(stack);
    let stacks = |count: u64| {
        let in_call = futex.iter().map(move |stack| (stack.as_str(), count));
        let rest = [("mt;work;push", 500), ("mt;work;asm_sysvec_[k];tick_[k]", 3 + count / 2)];
        in_call.chain(rest).collect::<Vec<_>>()
    };
    let (few, many) = (stacks(1), stacks(200));
    let difference =
        two_cells([(1_000, 507_000_000, &few), (1_000, 1_403_000_000, &many)], [1e3, 3e3]);
    assert_eq!(difference.verdict, DifferenceVerdict::Added);
    assert_eq!(difference.container.unwrap().frame.function, "work");
    let [futex, tick] = &difference.leaders[..] else { panic!("{:?}", difference.leaders) };
    let call = futex.system_call.as_ref().unwrap();
    // The functions of a built profile are knee's.
    assert_eq!((&*call.name, &call.mostly, &futex.caller), ("futex", &None, &None));
    assert!((futex.share.value - 796.0 / 896.0).abs() < 0.01, "{futex:?}");
    assert_eq!((&*tick.frame.function, &tick.system_call), ("tick", &None));
}

#[test]
fn the_dearer_subject_is_contrasted_with_the_best() {
    let table = table(&drawn_run(&[("poll", POLL), ("epoll", EPOLL)], 500.0, 2));
    let [contrast] = table.contrasts.as_slice() else { panic!("{:?}", table.contrasts) };
    assert_eq!((&*contrast.first, &*contrast.second, contrast.point), ("epoll", "poll", 10_000));
    let difference = &contrast.difference;
    assert_eq!(difference.verdict, DifferenceVerdict::Added);
    assert_eq!(difference.container.as_ref().unwrap().frame.function, "do_sys_poll");
    assert_eq!(difference.leaders[0].frame.function, "sock_poll");
}

/// Operations, elapsed time and samples.
type Cell<'a> = (u64, u64, &'a [(&'a str, u64)]);

/// One cell of each of two profiles, with `elapsed` for `operations`.
fn two_cells(sides: [Cell<'_>; 2], timed: [f64; 2]) -> ProfileDifference {
    two_cells_of("loop", sides, timed)
}

fn two_cells_of(metric: &str, sides: [Cell<'_>; 2], timed: [f64; 2]) -> ProfileDifference {
    let mut profile = profile();
    let mut cells = Vec::new();
    for ((point, (operations, elapsed, stacks)), timed) in [1, 64].into_iter().zip(sides).zip(timed)
    {
        let key = key("lock", "mutex", point, 0);
        profile = profile.cell(key, metric, (operations, elapsed), stacks.iter().copied());
        cells.extend((0..5).map(|round| {
            cell("lock", "mutex", point, round).samples(metric, vec![timed, timed * 1.01])
        }));
    }
    let workload = workload("lock").axis("threads", "threads").time(metric).subjects(["mutex"]);
    let run = run(workload).cells(cells).profile(profile.build()).complete();
    change(&table(&run), "mutex")
}

#[test]
fn time_without_cpu_time_is_waiting() {
    let spin: &[(&str, u64)] = &[("knee worker;lock", 400), ("knee worker;work", 100)];
    let sleep: &[(&str, u64)] = &[("knee worker;futex_wait_[k]", 60), ("knee worker;work", 90)];
    let first = (1_000, 500_000_000, spin);
    let slept = two_cells([first, (100, 1_000_000_000, sleep)], [5e5, 1e7]);
    let DifferenceVerdict::Waiting { share } = slept.verdict else { panic!("{slept:?}") };
    assert!((share - (1.0 - 1.0e6 / 9.5e6)).abs() < 1e-9, "{share}");
    assert!(slept.container.is_none() && slept.leaders.is_empty());
    // Of CPU time it is no part, however long the operation takes.
    let cpu = [(1_000, 500_000_000, spin), (100, 9_000_000_000, spin)];
    let cpu = two_cells_of("cpu", cpu, [5e5, 5e6]);
    assert_eq!(cpu.verdict, DifferenceVerdict::Added);
    // Where others had the CPU for two thirds of the time, at both ends, it is no waiting.
    let busy = two_cells([(1_000, 1_500_000_000, spin), (50, 1_500_000_000, spin)], [5e5, 1e7]);
    assert_eq!(busy.verdict, DifferenceVerdict::Added);
    // A thread that spins has CPU time.
    let spun = two_cells([first, (50, 500_000_000, spin)], [5e5, 1e7]);
    assert_eq!(spun.verdict, DifferenceVerdict::Added);
    assert_eq!(spun.leaders[0].frame.function, "lock");
}

#[test]
fn nothing_is_attributed_without_a_timed_difference_or_samples() {
    let few: &[(&str, u64)] = &[("knee worker;lock", 15)];
    let many: &[(&str, u64)] = &[("knee worker;lock", 400), ("knee worker;work", 100)];
    let first = (1_000, 500_000_000, many);
    let cases = [
        // The profile alone grew: its cell was disturbed.
        ((100, 500_000_000, many), [5e5, 5.1e5], "Same"),
        ((100, 500_000_000, many), [5e5, 6.5e5], "NotTimed"),
        ((1_000, 500_000_000, many), [5e5, 5e6], "NotReproduced"),
        ((30, 15_000_000, few), [5e5, 5e5], "NotTimed"),
        ((3, 15_000_000, few), [5e5, 5e6], "TooFewSamples"),
    ];
    for (second, timed, expected) in cases {
        let verdict = format!("{:?}", two_cells([first, second], timed).verdict);
        assert!(verdict.starts_with(expected), "{verdict} for {expected}");
    }
}

#[test]
fn what_falls_is_saved() {
    let many: &[(&str, u64)] = &[("knee worker;lock", 400), ("knee worker;work", 100)];
    let sides = [(50, 500_000_000, many), (1_000, 500_000_000, many)];
    let saved = two_cells(sides, [1e7, 5e5]);
    assert_eq!(saved.verdict, DifferenceVerdict::Saved);
    assert!(saved.added_ns.high < 0.0);
    assert_eq!(saved.leaders[0].frame.function, "lock");
    assert!((saved.leaders[0].share.value - 0.8).abs() < 1e-9);
}

#[test]
fn the_process_that_grew_is_named() {
    let first: &[(&str, u64)] = &[("nginx;do_poll_[k]", 200), ("knee worker;load", 300)];
    let second: &[(&str, u64)] = &[
        ("nginx;do_poll_[k];sock_poll_[k]", 2_000),
        ("nginx;do_poll_[k]", 1_000),
        ("knee worker;load", 310),
    ];
    let sides = [(1_000, 300_000_000, first), (1_000, 3_000_000_000, second)];
    let difference = two_cells(sides, [3e5, 3e6]);
    assert_eq!(difference.process.unwrap().frame.function, "nginx");
    assert_eq!(difference.container.unwrap().frame.function, "do_poll");
    assert_eq!(difference.leaders[0].frame.function, "sock_poll");
}

/// How often a share's interval holds the truth: of `sock_poll` in what poll adds.
#[test]
fn intervals_of_shares_hold_the_truth() {
    for samples in [100.0, 500.0] {
        let mut hits = 0;
        for seed in 0..200 {
            let table = table(&drawn_run(&[("poll", POLL)], samples, 1_000 + seed));
            let added = &table.rows[0].functions;
            let sock_poll = added.iter().find(|f| f.frame.function == "sock_poll").unwrap();
            let share = sock_poll.added.unwrap().share.unwrap();
            hits += usize::from(share.low <= 18.0 / 33.0 && 18.0 / 33.0 <= share.high);
        }
        assert!((180..=199).contains(&hits), "{samples} samples: {hits} of 200");
    }
}

/// Forty functions that do not grow, and one that does: it alone is named.
#[test]
fn functions_that_do_not_grow_are_not_named() {
    let names: Vec<String> = (0..40).map(|at| format!("knee worker;main;f{at}")).collect();
    let mut random = generator(7, &["flat"]);
    let mut wrong = 0;
    // None of the first 105 excludes as much as two of 200.
    for done in 0..200 {
        if (done, wrong) == (105, 0) {
            break;
        }
        let mut cell = |grown: f64, operations: u64| -> Vec<(&str, u64)> {
            let each = operations as f64 / 100.0;
            let flat = names.iter().map(|name| (name.as_str(), poisson(&mut random, each)));
            let mut stacks: Vec<(&str, u64)> = flat.collect();
            stacks.push(("knee worker;main;grows", poisson(&mut random, grown * each)));
            stacks
        };
        let (first, second) = (cell(10.0, 1_000), cell(40.0, 1_000));
        let sides = [(1_000, 500_000_000, &*first), (1_000, 800_000_000, &*second)];
        let difference = two_cells(sides, [5e5, 8e5]);
        if difference.is_attributed() {
            wrong += usize::from(difference.leaders.iter().any(|l| l.frame.function != "grows"));
        }
    }
    assert!(wrong <= 2, "{wrong} of 200");
}

/// A profile whose timed rounds grew by chance attributes nothing: its own CPU time did not grow.
#[test]
fn no_growth_is_attributed_without_any() {
    let mut random = generator(11, &["none"]);
    let mut wrong = 0;
    // None of 640 excludes as much as one of 1,000.
    for _ in 0..640 {
        let (_, first) = drawn(&mut random, EPOLL, 100, 300.0);
        let (_, second) = drawn(&mut random, EPOLL, 10_000, 300.0);
        let disturbed = 300_000_000 + random.u64(0..300_000_000);
        let sides = [(1_000, 300_000_000, &*first), (1_000, disturbed, &*second)];
        wrong += usize::from(two_cells(sides, [3e5, 4.2e5]).is_attributed());
    }
    assert_eq!(wrong, 0, "of 640");
}

#[test]
fn a_run_without_a_profile_has_none() {
    let mut run = drawn_run(&[("poll", POLL)], 100.0, 1);
    run.profile = Profile::default();
    assert!(analyse(&run).profiles.is_empty());
}

/// A trajectory to `far` whose profile has so many samples in the growing part at these positions. Each of its calls
/// costs in proportion to its position, and rounds differ.
fn trajectory(far: u64, profiled: &[(u64, u64)]) -> ProfileChange {
    let stacks = |n: u64| [("knee worker;mmap_[k];find_vma_[k]", n), ("knee worker;main", 8)];
    let mut built = profile().cell(key("mmap", "mmap", far, 0), "call", (1, 1), []);
    for &(position, samples) in profiled {
        built = built.region("call", position, (1_000, samples * 1_000_000), stacks(samples));
    }
    let positions: Vec<u64> = (1..=far).collect();
    let cells = (0..5).map(|round| {
        let each = 100.0 + f64::from(round);
        let samples = positions.iter().map(|&at| at as f64 * each).collect();
        let metric = model::Metric {
            name: "call".into(),
            samples,
            positions: positions.clone(),
            operations: far,
            ..model::Metric::default()
        };
        cell("mmap", "mmap", far, round).metric(metric)
    });
    let workload = workload("mmap").axis("maps", "maps").time("call").subjects(["mmap"]);
    let mut profile = built.build();
    profile.cells[0].regions.remove(0);
    let run = run(workload.trajectory()).cells(cells).profile(profile).complete();
    table(&run).rows[0].change.clone().unwrap()
}

#[test]
fn positions_of_a_trajectory_are_points() {
    let profiled = [(1_000, 0), (2_000, 200), (5_000, 500), (10_000, 1_000)];
    let change = trajectory(10_000, &profiled);
    assert_eq!((change.from, change.to), (2_000, 10_000), "at 1,000 are 8 samples");
    assert_eq!(change.difference.verdict, DifferenceVerdict::Added);
    assert_eq!(change.difference.container.as_ref().unwrap().frame.function, "find_vma");
}

/// The table of 2,000 begins with 10, 100 and 200, the profile with 50 and 100.
#[test]
fn a_trajectory_is_judged_between_positions_that_were_timed() {
    let change = trajectory(2_000, &[(50, 100), (100, 200), (1_000, 2_000), (2_000, 4_000)]);
    assert_eq!((change.from, change.to), (100, 2_000));
    let timed = change.difference.timed_factor;
    assert!((18.0..22.0).contains(&timed.value), "{timed:?}");
    assert!(timed.low < timed.value && timed.value < timed.high, "{timed:?}");
    let change = trajectory(2_000, &[(50, 100), (2_000, 4_000)]);
    assert_eq!((change.from, change.to), (50, 2_000));
    assert_eq!(change.difference.verdict, DifferenceVerdict::NotTimed);
}

#[test]
fn numbers_that_no_profile_has_are_added_up_all_the_same() {
    let stacks = [("knee worker;main", 8)];
    let timed = (u64::MAX, u64::MAX);
    let profile = profile().cell(key("poll", "poll", 1, 0), "loop", timed, stacks).build();
    let cell = &profile.cells[0];
    let counted =
        super::Counted::new(&profile, &[cell, cell], &MetricInfo::time("loop", ""), 1).unwrap();
    assert_eq!((counted.operations, counted.samples), (u64::MAX, 16));
}

#[test]
fn two_runs_are_compared_at_one_point() {
    let slower: Truth<'_> = &[
        ("knee worker;main;write_[k]", |_| 900.0),
        ("knee worker;main;do_syscall_64_[k];do_epoll_wait_[k]", |_| 700.0),
        ("knee worker;main;do_syscall_64_[k];do_epoll_wait_[k];ep_poll_callback_[k]", |_| 2_250.0),
    ];
    let base = drawn_run(&[("epoll", EPOLL)], 500.0, 1);
    let new = drawn_run(&[("epoll", slower)], 500.0, 2);
    let tables = analyse(&new).tables;
    let factor = Estimate { value: 2.08, low: 2.0, high: 2.2 };
    let between = |point| super::between_runs([&base, &new], &tables[0], "epoll", point, factor);
    let difference = between(1_000).unwrap();
    assert_eq!(difference.verdict, DifferenceVerdict::Added);
    assert_eq!(difference.leaders[0].frame.function, "ep_poll_callback");
    assert!(between(7).is_none());
}

const RUNS: &str = "mt;work;push";
const WAITS: &str = "mt;wait for a lock_[w];work;push;queue.c:41_[l];futex_do_wait_[k];ended by_[e];mt;work;push;\
                     queue.c:52_[l]";
const IDLE: &str = "mt;wait for readiness_[w];work;serve;serve.c:9_[l];ep_poll_[k]";
const SENT: &str =
    "mt;wait for a notification_[w];stopm;futex_do_wait_[k];ended by_[e];mt;feed;feed.go:7_[l]";
const NAPS: &str = "mt;sleep_[w];work;nap;nap.c:5_[l];do_nanosleep_[k]";

/// The change of a program between 1 and 4 threads, of which these are the samples of CPU time and of waits in twenty
/// operations each.
fn threads(ends: [(u64, &[(&str, u64)]); 2]) -> ProfileDifference {
    let (mut profile, mut cells) = (profile(), Vec::new());
    for (point, (cpu, waits)) in [1, 4].into_iter().zip(ends) {
        let elapsed = (20, 1_000_000_000);
        profile = profile.cell(key("command", "mt", point, 0), "elapsed", elapsed, [(RUNS, cpu)]);
        profile = profile.region("elapsed waits", point, elapsed, waits.iter().copied());
        cells.extend((0..5).map(|round| {
            let samples = (0..9).map(|at| 5e7 * (1.0 + f64::from(at) / 200.0)).collect();
            cell("command", "mt", point, round).samples("elapsed", samples)
        }));
    }
    let workload = workload("command").axis("threads", "threads").time("elapsed").subjects(["mt"]);
    let run = run(workload).cells(cells).profile(profile.build()).complete();
    let analysis = analyse(&run);
    analysis.profiles[0].rows[0].change.clone().expect("a change").difference
}

#[test]
fn added_thread_time_is_of_the_lock_that_threads_wait_for_whatever_the_rounds_say() {
    let difference = threads([(900, &[]), (1_000, &[(WAITS, 2_000), (NAPS, 40), (IDLE, 9_000)])]);
    let [wait] = &difference.waits[..] else { panic!("{difference:?}") };
    let share = 2_000.0 / (1_000.0 + 2_000.0 + 40.0 - 900.0);
    assert!((wait.share.value - share).abs() < 1e-9, "{wait:?}");
    assert!(wait.share.low < share && share < wait.share.high && wait.share.high < share + 0.1);
    let at = |site: &Option<crate::WaitSite>| {
        site.as_ref().map(|site| (site.frame.function.clone(), site.line.clone()))
    };
    assert_eq!(wait.kind, model::WaitKind::Lock);
    assert_eq!(at(&wait.site), Some(("push".into(), "queue.c:41".into())));
    assert_eq!(at(&wait.waker), Some(("push".into(), "queue.c:52".into())));
}

#[test]
fn what_scales_or_is_idle_or_waits_as_before_is_no_cause() {
    for ends in [
        // Only CPU time is added: false sharing, or work of its own for each thread.
        [(900, &[][..]), (3_600, &[(WAITS, 60)][..])],
        [(900, &[(IDLE, 100)]), (900, &[(IDLE, 9_000)])],
        [(900, &[(WAITS, 500)]), (1_000, &[(WAITS, 520)])],
        [(900, &[]), (300, &[(WAITS, 500)])],
    ] {
        assert!(threads(ends).waits.is_empty(), "{ends:?}");
    }
}

#[test]
fn samples_that_differ_by_chance_are_no_wait() {
    let mut random = generator(7, &["waits"]);
    let mut wrong = 0;
    for _ in 0..300 {
        let mut end = || (poisson(&mut random, 800.0), poisson(&mut random, 300.0));
        let (first, second) = (end(), end());
        let waits = [first, second].map(|(_, waits)| [(WAITS, waits)]);
        let difference = threads([(first.0, &waits[0]), (second.0, &waits[1])]);
        wrong += u32::from(!difference.waits.is_empty());
    }
    assert!(wrong <= 3, "{wrong} of 300");
}

#[test]
fn what_does_not_scale_is_explained_up_to_one_worker_for_each_cpu() {
    // Where others had the CPUs, it is open whether workers gain.
    let between_with = |rates: [f64; 3], cpus_left: f64| {
        let points: Vec<PointSummary> = [1, 2, 4]
            .into_iter()
            .zip(rates)
            .map(|(point, median)| {
                let cells = (0..9).map(|round| (round, median.ln() + 1e-3 * f64::from(round % 3)));
                let (median, log_cells) = (Estimate::exact(median), cells.collect());
                PointSummary { point, median, log_cells, ..PointSummary::default() }
            })
            .collect();
        let speedup = speedup(&points, 2, Some(cpus_left));
        super::explained(speedup.as_ref(), rate_past(&points[1..]).as_ref())
    };
    let between = |rates| between_with(rates, 2.0);
    assert_eq!(between([1e6, 1e6, 1e6]), (1, 2), "it gains nothing");
    assert_eq!(between([1e6, 1.5e6, 1.5e6]), (1, 2), "it gains less than in proportion");
    assert_eq!(between([1e6, 2e6, 1e6]), (2, u64::MAX), "it scales, and falls beyond");
    assert_eq!(between_with([1e6, 1e6, 1e6], 1.0), (1, 2), "it is open");
}

/// One thread and two on two CPUs, whose rate becomes so many times the first. Of half a second, one runs all the time;
/// the two have so many samples, and wait in so many for what another sends.
fn two_threads(gain: f64, samples: u64, sent: u64) -> ProfileDifference {
    let mut profile = profile();
    let mut cells = Vec::new();
    for (threads, rate, samples) in [(1, 1e6, 500), (2, 1e6 * gain, samples)] {
        let stacks = [("knee worker;push", samples)];
        let (operations, elapsed_ns) = (1_000, 500_000_000);
        let mut key = key("lock", "mutex", threads, 0);
        key.parameters.insert("cpus".into(), model::Value::Number(2));
        profile = profile.cell(key, "rate", (operations, elapsed_ns), stacks);
        // One sleeps while it has nothing to do, and another is sent something.
        let waits = [(IDLE, 100 * threads), (SENT, sent * (threads - 1))];
        profile = profile.region("rate waits", threads, (operations, elapsed_ns), waits);
        cells.extend((0..5).map(|round| {
            let cell = cell("lock", "mutex", threads, round).parameter("cpus", "2");
            cell.samples("rate", vec![rate * (1.0 + 0.002 * f64::from(round))])
        }));
    }
    let workload =
        workload("lock").axis("threads", "threads").multiple("threads", "cpus", "per CPU");
    let workload = workload.rate("rate", "operations", "operations/s").subjects(["mutex"]);
    let run = run(workload).cells(cells).profile(profile.build()).complete();
    change(&table(&run), "mutex")
}

#[test]
fn cpu_time_that_more_workers_take_is_attributed_where_they_do_not_gain() {
    let short = two_threads(0.9, 1_000, 0);
    assert_eq!(short.verdict, DifferenceVerdict::Added, "{short:?}");
    assert_eq!(short.container.unwrap().frame.function, "push");
    // The rate of the rounds is what decides whether anything is to be explained.
    assert_ne!(two_threads(1.95, 1_000, 0).verdict, DifferenceVerdict::Added);
}

#[test]
fn workers_that_wait_for_what_another_sends_are_explained_where_they_do_not_gain() {
    let short = two_threads(0.9, 1_000, 1_500);
    let [wait] = &short.waits[..] else { panic!("{short:?}") };
    let waker = wait.waker.as_ref().map(|site| (&*site.frame.function, &*site.line));
    assert_eq!((wait.kind, waker), (model::WaitKind::Notification, Some(("feed", "feed.go:7"))));
    assert!((wait.share.value - 0.75).abs() < 1e-9, "{wait:?}");
    // Where they gain, it is what a worker does that has nothing to do.
    assert!(two_threads(1.95, 1_000, 1_500).waits.is_empty());
}

#[test]
fn workers_that_leave_a_cpu_idle_do_one_thing_after_the_other() {
    let serial = two_threads(1.0, 520, 0);
    assert_eq!(serial.verdict, DifferenceVerdict::Serial { busy_cpus: 1.04 });
    let container = serial.container.unwrap();
    assert_eq!((&*container.frame.function, container.share.value), ("push", 1.0));
    // Both CPUs are busy, or the rounds show that they gain.
    for (gain, samples) in [(1.0, 900), (1.95, 520)] {
        let verdict = two_threads(gain, samples, 0).verdict;
        assert!(!matches!(verdict, DifferenceVerdict::Serial { .. }), "{verdict:?}");
    }
}
