//! What a profiled run's answer says of where its CPU time goes.

use analysis::DifferenceVerdict;
use analysis::compare::{Terms, compare};
use findings::kinds::attribution::Between;
use findings::run_changes::sentence;
use findings::{Answer, Caveat, Conclusions, Data, conclude};
use fixtures::{CellBuilder, cell, key, profile, run, workload};
use model::{MachineCode, ProfileLimit, Run};

/// Folded stacks with their samples.
type Stacks<'a> = &'a [(&'a str, u64)];

#[derive(Clone, Copy)]
/// Operations, their elapsed time, and samples of a subject's first and last cell, and what the timed rounds took.
struct Subject<'a> {
    name: &'a str,
    cells: [(u64, u64, Stacks<'a>); 2],
    timed: [f64; 2],
}

const POLL_FEW: Stacks<'static> = &[
    ("knee worker;main;write_[k]", 400),
    ("knee worker;main;do_sys_poll_[k]", 60),
    ("knee worker;main;do_sys_poll_[k];sock_poll_[k]", 40),
];
const POLL_MANY: Stacks<'static> = &[
    ("knee worker;main;write_[k]", 4),
    ("knee worker;main;do_sys_poll_[k]", 60),
    ("knee worker;main;do_sys_poll_[k];sock_poll_[k]", 260),
    ("knee worker;main;do_sys_poll_[k];sock_poll_[k];unix_poll_[k]", 170),
    ("knee worker;main;[libc.so.6]", 6),
];
const EPOLL: Stacks<'static> =
    &[("knee worker;main;write_[k]", 300), ("knee worker;main;do_epoll_wait_[k]", 200)];

const POLL: Subject<'static> = Subject {
    name: "poll",
    cells: [(100_000, 500_000_000, POLL_FEW), (1_000, 500_000_000, POLL_MANY)],
    timed: [5e3, 5e5],
};
const LEVEL: Subject<'static> = Subject {
    name: "epoll-level",
    cells: [(100_000, 500_000_000, EPOLL), (100_000, 500_000_000, EPOLL)],
    timed: [5e3, 5.1e3],
};

fn profiled(subjects: &[Subject<'_>], limit: Option<&ProfileLimit>) -> Run {
    let mut profile = profile();
    let mut cells: Vec<CellBuilder> = Vec::new();
    for subject in subjects {
        let ends = [100, 10_000].into_iter().zip(subject.cells).zip(subject.timed);
        for ((point, (operations, elapsed, stacks)), timed) in ends {
            let key = key("poll", subject.name, point, 0);
            profile = profile.cell(key, "loop", (operations, elapsed), stacks.iter().copied());
            if let Some(limit) = limit {
                profile = profile.limit(limit.clone());
            }
            cells.extend((0..5).map(|round| {
                let samples = (0..9).map(|at| timed * (1.0 + f64::from(at) / 200.0)).collect();
                cell("poll", subject.name, point, round).samples("loop", samples)
            }));
        }
    }
    let workload = workload("poll").axis("watched descriptors", "watched").time("loop");
    let workload = workload.subjects(subjects.iter().map(|subject| subject.name));
    run(workload).cells(cells).profile(profile.build()).complete()
}

fn sentences(conclusions: &Conclusions, run: &Run) -> Vec<String> {
    let answer = Answer::new(run, conclusions);
    answer.cpu_time.iter().map(|statement| statement.sentence.to_string()).collect()
}

fn answer(subjects: &[Subject<'_>]) -> Vec<String> {
    let run = profiled(subjects, None);
    sentences(&conclude(&run), &run)
}

#[test]
fn growth_is_attributed_in_one_sentence_and_what_holds_in_another() {
    let edge = Subject { name: "epoll-edge", ..LEVEL };
    assert_eq!(
        answer(&[POLL, LEVEL, edge]),
        [
            "poll: 99 % of the CPU time added between 100 and 10,000 watched descriptors is in \
             do_sys_poll and what it calls: sock_poll 52 %, unix_poll 34 %, 12 % by itself; 1.2 % has \
             no symbol",
            "The profiles of epoll-level and epoll-edge do not change between 100 and 10,000 watched \
             descriptors: no function's share by more than 7 points",
        ]
    );
}

#[test]
fn subjects_that_grow_alike_share_a_sentence() {
    let ppoll = Subject { name: "ppoll", ..POLL };
    let [only] = answer(&[POLL, ppoll]).try_into().unwrap();
    assert!(only.starts_with("poll and ppoll: 99 % of the CPU time added between 100"), "{only}");
}

#[test]
fn findings_have_each_pair_with_the_best_subject() {
    let run = profiled(&[POLL, LEVEL], None);
    let conclusions = conclude(&run);
    let contrasts: Vec<String> = conclusions
        .findings
        .iter()
        .filter(|finding| {
            matches!(&finding.data, Data::Attribution(data)
                if matches!(data[0].between, Between::Subjects { point: 10_000 }))
        })
        .map(|finding| finding.text().to_string())
        .collect();
    assert_eq!(
        contrasts,
        [
            "poll against epoll-level at 10,000 watched descriptors: 99 % of the additional CPU time \
             is in do_sys_poll and what it calls: sock_poll 53 %, unix_poll 34 %, 12 % by itself; \
             1.2 % has no symbol."
        ]
    );
}

#[test]
fn what_sleeps_waits_and_what_spins_is_busy_waiting() {
    let work: Stacks<'_> = &[("knee worker;work", 500)];
    let first = (100_000, 500_000_000, work);
    let sleeping =
        Subject { name: "futex", cells: [first, (1_000, 500_000_000, work)], timed: [5e3, 5e5] };
    let few: Stacks<'_> = &[("knee worker;work", 20)];
    let sleeping = Subject { cells: [first, (1_000, 500_000_000, few)], ..sleeping };
    let spin: Stacks<'_> =
        &[("knee worker;locks::algorithms::ticket::Ticket::wait", 900), ("knee worker;work", 20)];
    let spinning =
        Subject { name: "ticket", cells: [first, (1_000, 500_000_000, spin)], timed: [5e3, 5e5] };
    assert_eq!(
        answer(&[sleeping, spinning]),
        [
            "futex: 97 % of the time added between 100 and 10,000 watched descriptors is waiting, not \
             CPU time",
            "ticket: 98 % of the CPU time added between 100 and 10,000 watched descriptors is in \
             Ticket::wait, busy waiting",
        ]
    );
}

#[test]
fn a_wait_that_is_no_locks_is_not_called_busy() {
    let work: Stacks<'_> = &[("knee worker;work", 500)];
    let wait: Stacks<'_> =
        &[("knee worker;polling::Poller::wait_deadline", 900), ("knee worker;work", 20)];
    let cells = [(100_000, 500_000_000, work), (1_000, 500_000_000, wait)];
    assert_eq!(
        answer(&[Subject { name: "polling", cells, timed: [5e3, 5e5] }]),
        ["polling: 98 % of the CPU time added between 100 and 10,000 watched descriptors is in \
             Poller::wait_deadline"]
    );
}

#[test]
fn few_samples_attribute_nothing() {
    let first: Stacks<'_> = &[("knee worker;work", 500)];
    let few: Stacks<'_> = &[("knee worker;work", 12)];
    let cells = [(100_000, 500_000_000, first), (24, 12_000_000, few)];
    assert_eq!(
        answer(&[Subject { name: "poll", cells, timed: [5e3, 5e5] }]),
        [
            "poll: too few samples to say what changed between 100 and 10,000 watched descriptors (500 at most)"
        ]
    );
}

#[test]
fn a_profile_that_does_not_repeat_the_growth_says_so() {
    let work: Stacks<'_> = &[("knee worker;work", 500)];
    let cells = [(100_000, 500_000_000, work), (100_000, 500_000_000, work)];
    assert_eq!(
        answer(&[Subject { name: "poll", cells, timed: [5e3, 5e5] }]),
        [
            "poll: the profiled cells did not repeat what changed between 100 and 10,000 watched descriptors"
        ]
    );
}

#[test]
fn a_process_is_named_where_there_are_several() {
    let first: Stacks<'_> = &[("nginx;do_poll_[k]", 200), ("knee worker;load", 300)];
    let second: Stacks<'_> = &[
        ("nginx;do_poll_[k];sock_poll_[k]", 2_000),
        ("nginx;do_poll_[k]", 1_000),
        ("knee worker;load", 300),
    ];
    let cells = [(1_000, 300_000_000, first), (1_000, 3_000_000_000, second)];
    assert_eq!(
        answer(&[Subject { name: "nginx", cells, timed: [3e5, 3e6] }]),
        [
            "nginx: 100 % of the CPU time added between 100 and 10,000 watched descriptors is in do_poll \
             of nginx and what it calls: sock_poll 71 %, 29 % by itself"
        ]
    );
}

#[test]
fn a_hidden_kernel_is_no_waiting() {
    let work: Stacks<'_> = &[("knee worker;work", 400)];
    let few: Stacks<'_> = &[("knee worker;work", 20)];
    let cells = [(100_000, 500_000_000, work), (1_000, 500_000_000, few)];
    let subject = Subject { name: "poll", cells, timed: [5e3, 5e5] };
    let hidden = ProfileLimit::KernelHidden { perf_level: Some(2) };
    let run = profiled(&[subject], Some(&hidden));
    let conclusions = conclude(&run);
    let change = conclusions.analysis.profiles[0].rows[0].change.as_ref().unwrap();
    assert_eq!(change.difference.verdict, DifferenceVerdict::KernelHidden);
    assert!(sentences(&conclusions, &run).is_empty());
}

#[test]
fn a_slower_run_says_where_its_cpu_time_went() {
    let cells = [(100_000, 500_000_000, POLL_FEW), (100_000, 500_000_000, EPOLL)];
    let base = Subject { name: "poll", cells, timed: [5e3, 5e3] };
    let run = |subject, number: i64| {
        let mut run = profiled(&[subject], None);
        run.summary.number = number;
        run.summary.id = format!("{number:016x}");
        run
    };
    let new = Subject { cells: [cells[0], POLL.cells[1]], timed: [5e3, 5e5], ..base };
    let base = Subject { cells: [cells[0], (100_000, 500_000_000, POLL_FEW)], ..base };
    let terms = Terms { margin: 0.05, fail_above: None, across: true, all: false };
    let comparison = compare(&run(base, 1), &run(new, 2), &terms).unwrap();
    let sentences: Vec<String> =
        comparison.changes.iter().map(|change| sentence(&comparison, change)).collect();
    let [slower, ..] = sentences.as_slice() else { panic!("{sentences:?}") };
    assert!(
        slower.contains(
            " At 10,000 watched descriptors, 99 % of the additional CPU time is in do_sys_poll and what it \
             calls: sock_poll 52 %, unix_poll 34 %"
        ),
        "{sentences:?}"
    );
}

#[test]
fn what_a_profile_could_not_see_is_a_caveat() {
    let named: Stacks<'_> = &[("knee worker;work", 90), ("knee worker;[libc.so.6]", 10)];
    let cells = [(1_000, 100_000_000, named), (1_000, 100_000_000, named)];
    let subject = Subject { name: "poll", cells, timed: [1e5, 1e5] };
    let lines = |limit: Option<&ProfileLimit>| -> Vec<String> {
        let all = conclude(&profiled(&[subject], limit)).caveats;
        let of_profile = all.iter().filter(|caveat| matches!(caveat, Caveat::LimitedProfile(_)));
        of_profile.map(Caveat::line).collect()
    };
    let unnamed = "10 % of the profile's samples have no symbol → build with symbols, \
                   or install the libraries' debug symbols";
    assert_eq!(lines(None), [unnamed]);
    let error = "Operation not permitted".to_owned();
    let cases = [
        (
            ProfileLimit::KernelHidden { perf_level: Some(2) },
            "the profile has no samples in the kernel (kernel.perf_event_paranoid is 2) → sudo sysctl \
             kernel.perf_event_paranoid=1",
        ),
        (
            ProfileLimit::KernelSymbolsHidden,
            "the profile has no names of kernel functions (kernel.kptr_restrict) → sudo sysctl \
             kernel.kptr_restrict=0",
        ),
        (
            ProfileLimit::SamplesLost { lost: 50 },
            "100 of 300 samples of the profile were lost → leave a CPU idle while it is profiled",
        ),
        (
            ProfileLimit::ProcessHidden { program: "nginx".into(), error },
            "the profile has no samples of nginx: Operation not permitted → run knee as the user of that \
             process, or as root",
        ),
    ];
    for (limit, wanted) in cases {
        assert_eq!(lines(Some(&limit)), [wanted, unnamed]);
    }
    assert_eq!(lines(Some(&ProfileLimit::SamplesLost { lost: 1 })), [unnamed]);
}

#[test]
fn a_function_of_a_program_has_its_line_and_its_caller() {
    let (mut profile, mut cells) = (profile(), Vec::new());
    for (point, seconds) in [(1, 1), (4, 4)] {
        let operations = (20, seconds * 1_000_000_000);
        let stacks = [("mt;work;push", seconds * 900), ("mt;main;push", seconds * 100)];
        let key = key("command", "mt", point, 0);
        profile = profile.cell(key, "elapsed", operations, stacks);
        profile = profile.instructions("push", &[(1, 10), (4, 600), (9, 390)]);
        cells.extend((0..5).map(|round| {
            let samples = (0..9).map(|at| seconds as f64 * 5e7 * (1.0 + f64::from(at) / 200.0));
            cell("command", "mt", point, round).samples("elapsed", samples.collect())
        }));
    }
    let lines = [(0, "src/queue.c:40"), (4, "src/queue.c:41"), (8, "src/queue.c:42")];
    let code = MachineCode {
        architecture: "x86_64".into(),
        address: 0,
        bytes: "90".repeat(10),
        lines: lines.map(|(offset, line)| (offset, line.to_owned())).to_vec(),
    };
    let profile = profile.code("push", Ok(code)).build();
    let workload = workload("command").axis("threads", "threads").time("elapsed").subjects(["mt"]);
    let run = run(workload).cells(cells).profile(profile).complete();
    let sentences = sentences(&conclude(&run), &run);
    let wanted = "mt: 100 % of the CPU time added between 1 and 4 threads is in push (src/queue.c:41) ← work";
    assert!(sentences.iter().any(|sentence| sentence == wanted), "{sentences:#?}");
}

#[test]
fn waits_are_named_with_where_they_are_and_where_they_end() {
    const LOCK: &str = "mt;wait for a lock_[w];work;push;queue.c:41_[l];futex_do_wait_[k];ended by_[e];mt;work;push;\
                        queue.c:52_[l]";
    const CPU: &str = "mt;wait for a CPU_[w];work";
    let (mut profile, mut cells) = (profile(), Vec::new());
    for (point, samples, waits) in
        [(1, 900, &[][..]), (4, 1_000, &[(LOCK, 2_000), (CPU, 1_000)][..])]
    {
        let elapsed = (20, 1_000_000_000);
        let key = key("command", "mt", point, 0);
        profile = profile.cell(key, "elapsed", elapsed, [("mt;work;push", samples)]);
        profile = profile.region("elapsed waits", point, elapsed, waits.iter().copied());
        cells.extend((0..5).map(|round| {
            let samples = (0..9).map(|at| 5e7 * (1.0 + f64::from(at) / 200.0)).collect();
            cell("command", "mt", point, round).samples("elapsed", samples)
        }));
    }
    let hidden = ProfileLimit::WaitsHidden { error: "for root alone".into() };
    let workload = workload("command").axis("threads", "threads").time("elapsed").subjects(["mt"]);
    let seen = |profile| run(workload.clone()).cells(cells.clone()).profile(profile).complete();
    let run = seen(profile.build());
    let conclusions = conclude(&run);
    let answer = Answer::new(&run, &conclusions);
    assert_eq!(answer.time_title(), "Where the time goes");
    let sentences: Vec<String> =
        answer.cpu_time.iter().map(|finding| finding.sentence.to_string()).collect();
    let wanted = "mt: 65 % of the thread time added between 1 and 4 threads waits for a lock in push (queue.c:41) \
                  ← work, released by push (queue.c:52) ← work; 32 % waits for a CPU";
    assert!(sentences.iter().any(|sentence| sentence == wanted), "{sentences:#?}");
    let mut run = run;
    run.profile.cells[0].limits.push(hidden);
    let conclusions = conclude(&run);
    let answer = Answer::new(&run, &conclusions);
    assert!(answer.cpu_time.iter().all(|finding| !matches!(finding.data, Data::Waits(_))));
    let caveats = conclusions.caveats.iter().map(|caveat| caveat.warning().what);
    assert!(caveats.into_iter().any(|what| what.contains("no waits: for root alone")));
}
