//! The answer of a run as a terminal shows it: one screen, whatever was measured.

use crate::fixture::trajectory::{Size, before};
use crate::fixture::{
    baseline, build, dead, load, locks, memory, pipetest, realistic, suite, syscalls,
};
use findings::Conclusions;
use model::Run;
use report::layout::{Detail, Style};
use report::terminal::{LINES_MAX, Pointers, answer, answer_so_far};

fn shown((run, conclusions): &(Run, Conclusions), width: usize) -> String {
    let style = Style { colour: false, width, detail: Detail::Headline };
    let all = "knee show 1 --all".to_owned();
    let lines = vec![format!("Tables, findings and caveats: {all}")];
    answer(run, conclusions, &style, &Pointers { all, lines })
}

#[test]
fn an_answer_says_what_stops_scaling_and_what_to_use_instead() {
    insta::assert_snapshot!("answer_workload", shown(&realistic(12), 100));
    insta::assert_snapshot!("answer_rates", shown(&pipetest::pipetest(12), 100));
    insta::assert_snapshot!("answer_lock", shown(&locks::locks(5), 100));
    insta::assert_snapshot!("answer_dead", shown(&dead::dead(12), 80));
    insta::assert_snapshot!("answer_suite", shown(&suite::suite(), 100));
}

#[test]
fn a_run_that_goes_on_has_its_verdicts_so_far() {
    let style = Style { colour: false, width: 100, detail: Detail::Answer };
    let (mut run, _) = suite::suite();
    let so_far = |run: &Run| answer_so_far(run, &findings::conclude(run), &style, 12);
    let all = run.cells.len();
    run.cells.truncate(all / 2);
    let text = so_far(&run).unwrap();
    assert!(text.lines().count() <= 12, "{text}");
    insta::assert_snapshot!("answer_so_far", text);
    run.cells.clear();
    assert_eq!(so_far(&run), None);
}

#[test]
fn an_answer_names_the_calls_that_stop_scaling_and_what_threads_share() {
    insta::assert_snapshot!("answer_syscalls", shown(&syscalls::syscalls(), 100));
}

#[test]
fn an_answer_without_verdicts_says_so() {
    insta::assert_snapshot!("answer_foreign", shown(&pipetest::foreign(), 100));
    insta::assert_snapshot!("answer_prediction", shown(&locks::predicted(3), 100));
    insta::assert_snapshot!("answer_builds", shown(&build::build(&[1, 2]), 100));
    insta::assert_snapshot!("answer_nothing", shown(&suite::one_point(), 100));
    insta::assert_snapshot!("answer_undecided", shown(&suite::undecided(), 100));
}

#[test]
fn figures_that_are_no_series_are_the_answer() {
    let run = baseline::baseline(&baseline::MACHINES[0]);
    insta::assert_snapshot!("answer_list", shown(&run, 100));
    let headline = findings::Answer::new(&run.0, &run.1).headline().to_string();
    assert_eq!(headline, "32 figures of baseline; the widest 95 % CI is ±2.4 % (select-tcp-100).");
}

#[test]
fn the_figures_of_a_load_are_its_answer() {
    let calm = load::load(0);
    insta::assert_snapshot!("answer_load", shown(&calm, 100));
    let headline = |(run, conclusions): &(Run, Conclusions)| {
        findings::Answer::new(run, conclusions).headline().to_string()
    };
    let text = "shop at 10 connections: 2.00 k replies/s, half of the replies within ";
    assert!(headline(&calm).starts_with(text) && headline(&calm).ends_with(" ms."));
    // They are in no interval.
    assert!(headline(&load::load(8)).ends_with(" ms, 8 requests without a reply, 8 errors."));
    let bound = headline(&load::load(9));
    assert!(bound.contains("2.00 k replies/s, median latency at least 9"), "{bound}");
    assert!(bound.contains(" µs, p99 at least 3."), "{bound}");
    let (mut share, _) = calm.clone();
    let keys = share.cells.iter_mut().map(|cell| &mut cell.key).chain(&mut share.plan.cells);
    keys.for_each(|key| {
        key.parameters.insert("ranks".into(), "3".into());
        key.parameters.insert("ranks_missing".into(), "1".into());
    });
    let conclusions = findings::conclude(&share);
    let text = "shop at 10 connections, by 2 of 3 ranks: 2.00 k replies/s, half";
    assert!(headline(&(share, conclusions)).starts_with(text));
    let (mut silent, _) = calm.clone();
    silent.cells.last_mut().unwrap().load.as_mut().unwrap().counts.replies = 0;
    let conclusions = findings::conclude(&silent);
    let all = "2.00 k replies/s, 8,000 requests without a reply.";
    assert!(headline(&(silent, conclusions)).ends_with(all), "no time is one of a reply");
    let (mut killed, _) = calm.clone();
    killed.cells.truncate(3);
    killed.cells[1].metrics[3].operations = 4;
    let conclusions = findings::conclude(&killed);
    assert!(headline(&(killed, conclusions)).ends_with(" ms, 4 errors."), "of its intervals");
    let style = Style { colour: false, width: 100, detail: Detail::Headline };
    assert_eq!(report::terminal::tables(&calm.0, &calm.1, &style), "");
}

#[test]
fn where_figures_take_too_many_lines_intervals_are_left_out_and_no_group() {
    let list = |width: usize, groups: usize| {
        let (mut run, _) = baseline::baseline(&baseline::MACHINES[0]);
        for workload in &mut run.plan.workloads {
            let subjects = workload.subjects.iter_mut().enumerate();
            subjects.for_each(|(index, subject)| {
                subject.group = format!("Group {}", index * groups / 32);
            });
        }
        let conclusions = findings::conclude(&run);
        let text = shown(&(run, conclusions), width);
        for group in 0..groups {
            assert!(text.contains(&format!("\n  Group {group}")), "{group}: {text}");
        }
        assert!(!text.contains("more: knee show 1 --all"), "{text}");
        text
    };
    let text = list(60, 8);
    assert!(text.contains("  ± where it is more than 5 %\n"), "{text}");
    assert!(text.lines().count() <= LINES_MAX, "{text}");
    // 32 groups have more lines than a screen.
    assert!(list(60, 32).contains("  without their 95 % CIs\n"));
}

#[test]
fn levels_of_memory_are_the_answer_and_have_the_names_of_caches() {
    let run = memory::memory();
    let text = shown(&run, 140);
    assert!(text.starts_with("The levels of memory\n  random: L1 (kernel 48 KiB) 1.2"), "{text}");
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "to 48 KiB, L2 (kernel 2 MiB) 4.0",
        "to 1 MiB, L3 (kernel 480 MiB, shared) 4",
        ", L3 and TLB misses 9",
        ") to 256 MiB random-huge: L1 (kernel 48 KiB) 1.2",
    ] {
        assert!(folded.contains(part), "{part}: {folded}");
    }
    assert!(!text.contains("Not decided"), "levels have no order of growth: {text}");
    let headline = findings::Answer::new(&run.0, &run.1).headline().to_string();
    assert!(headline.starts_with("random: L1 (kernel 48 KiB) 1.2"), "{headline}");
}

#[test]
fn with_several_points_there_is_something_to_scale_along() {
    let text = shown(&baseline::copies(&baseline::MACHINES[0]), 100);
    assert!(!text.contains("figures of baseline"), "{text}");
}

#[test]
fn what_grew_is_named_where_its_order_is_open() {
    let grown = suite::grown();
    let text = shown(&grown, 100);
    assert!(text.starts_with("What stops scaling here\n  ipv4 grows: ×"), "{text}");
    let headline = findings::Answer::new(&grown.0, &grown.1).headline().to_string();
    assert!(headline.starts_with("ipv4 grows: ×"), "{headline}");
}

#[test]
fn faster_at_every_point_takes_a_clear_lead_and_a_figure_at_each() {
    let (run, conclusions) = suite::suite();
    assert!(shown(&(run.clone(), conclusions.clone()), 100).contains("faster at every point"));
    let mut failed = conclusions.analysis.clone();
    for row in failed.tables.iter_mut().flat_map(|table| &mut table.rows) {
        row.cells[1] = None;
    }
    let conclusions_of_rest = Conclusions::new(&run, failed);
    let text = shown(&(run.clone(), conclusions_of_rest), 100);
    assert!(text.contains("→ use ") && !text.contains("at every point"), "{text}");
    let mut analysis = conclusions.analysis;
    for comparison in analysis.tables.iter_mut().flat_map(|table| &mut table.comparisons) {
        if let analysis::ComparisonOutcome::Throughout { clear, open, .. } = &mut comparison.outcome
        {
            open.extend(clear.pop());
        }
    }
    let conclusions = Conclusions::new(&run, analysis);
    assert!(!shown(&(run, conclusions), 100).contains("at every point"));
}

#[test]
fn a_command_that_is_recommended_is_never_cut() {
    let (mut run, mut conclusions) = suite::undecided();
    run.summary.state = model::RunState::Interrupted;
    let record = "/home/somebody/measurements/of-the-new-machine/in-november/knee.db";
    let reader = findings::Reader { record: Some(record.into()), host: None };
    conclusions.caveats = findings::conclude_for(&run, &reader).caveats;
    let text = shown(&(run, conclusions), 60);
    let words: Vec<&str> = text.split_whitespace().collect();
    let command = format!("knee run --resume=1 --record {record}");
    assert!(words.join(" ").contains(&command), "{text}");
}

#[test]
fn reasons_of_what_is_unavailable_are_left_out_whole() {
    let (mut run, conclusions) = suite::suite();
    for subject in run.plan.unavailable.iter_mut().take(1) {
        subject.reason = "a long reason, ".repeat(12);
    }
    let text = shown(&(run, conclusions), 100);
    let wanted = "Unavailable    devpoll and event-ports: Solaris and illumos only; …";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn what_trust_says_is_no_caveat_again() {
    for run in [locks::locks(5), pipetest::foreign()] {
        let text = shown(&run, 100);
        let figure = if text.contains("12 of 41") { "12 of 41" } else { "1 round only" };
        assert_eq!(text.matches(figure).count(), 1, "{text}");
        assert!(!text.contains("Caveats"), "{text}");
    }
}

#[test]
fn an_answer_fits_a_screen_whatever_was_measured() {
    let runs = [
        realistic(12),
        pipetest::pipetest(4),
        before(Size::SMALL),
        dead::dead(4),
        locks::locks(5),
        locks::predicted(3),
        build::build(&[1, 2]),
        baseline::baseline(&baseline::MACHINES[0]),
        suite::suite(),
        suite::undecided(),
    ];
    for run in &runs {
        for width in [80, 100] {
            let text = shown(run, width);
            assert!(text.lines().count() <= LINES_MAX, "{width} columns: {text}");
        }
    }
}
