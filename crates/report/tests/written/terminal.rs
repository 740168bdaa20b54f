//! Terminal output as people see it: wide, narrow, with and without colour.

use crate::fixture::trajectory::{Size, after, before};
use crate::fixture::{baseline, build, dead, locks, pipetest, realistic, small};
use findings::Conclusions;
use model::Run;
use report::layout::{Detail, Style};
use report::terminal::tables;
use std::collections::BTreeSet;

const PLAIN: Style = Style { colour: false, width: 120, detail: Detail::Headline };
const EVERYTHING: Style = Style { detail: Detail::All, ..PLAIN };

#[test]
fn a_wide_terminal_shows_one_line_a_subject() {
    let (run, conclusions) = realistic(20);
    insta::assert_snapshot!("wide", tables(&run, &conclusions, &PLAIN));
}

#[test]
fn colour_marks_the_best_and_adds_no_word() {
    let (run, conclusions) = realistic(20);
    let coloured = tables(&run, &conclusions, &Style { colour: true, ..PLAIN });
    assert!(coloured.matches('\u{1b}').count() > 14, "the best of each point: {coloured}");
    let bare = without_escapes(&coloured);
    let bare: Vec<&str> = bare.lines().map(str::trim_end).collect();
    assert_eq!(bare, tables(&run, &conclusions, &PLAIN).lines().collect::<Vec<_>>());
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let calls = before(Size::SMALL);
    for (run, conclusions) in
        [realistic(20), pipetest::pipetest(20), with_long_names(), calls, dead::dead(4)]
            .into_iter()
            .chain([locks::locks(5), locks::predicted(3), build::build(&[1, 2])])
            .chain([baseline::baseline(&baseline::MACHINES[0])])
    {
        for width in [40, 41, 47, 60, 80, 97, 120, 200] {
            for detail in [Detail::Headline, Detail::All] {
                let text = tables(&run, &conclusions, &Style { width, detail, ..PLAIN });
                for line in text.lines() {
                    assert!(line.chars().count() <= width, "{width} columns: {line:?}");
                }
            }
        }
    }
}

#[test]
fn figures_that_are_not_compared_are_listed_with_their_intervals() {
    let (run, conclusions) = baseline::baseline(&baseline::MACHINES[0]);
    let all = Style { width: 80, detail: Detail::All, ..PLAIN };
    insta::assert_snapshot!("listed", tables(&run, &conclusions, &all));
    let headline = tables(&run, &conclusions, &PLAIN);
    assert_eq!(headline, "", "the answer has the figures");
}

#[test]
fn every_figure_of_the_headline_is_there_at_every_width() {
    // A table that is split between its points has their heads and the ends of its rows in each part.
    let figures = |(run, conclusions): &(Run, Conclusions), width| -> BTreeSet<String> {
        let text = tables(run, conclusions, &Style { width, ..PLAIN });
        let before = text.split("Findings").next().unwrap_or_default().to_owned();
        let words = before.split_whitespace().map(|word| word.trim_end_matches(['*', '~']));
        let is_figure = |word: &&str| word.chars().all(|c| c.is_ascii_digit() || ",.".contains(c));
        words.filter(is_figure).map(str::to_owned).collect()
    };
    for made in [realistic(20), pipetest::pipetest(20), before(Size::SMALL), build::build(&[1, 2])]
    {
        let wide = figures(&made, 200);
        assert!(wide.len() > 20, "{wide:?}");
        assert_eq!(wide, figures(&made, 80));
        assert_eq!(wide, figures(&made, 40));
    }
}

#[test]
fn points_stand_down_and_subjects_across_where_the_workload_wants_it() {
    let (run, conclusions) = pipetest::pipetest(20);
    insta::assert_snapshot!("points_down", tables(&run, &conclusions, &PLAIN));
}

#[test]
fn facts_of_the_workload_stand_with_every_table() {
    let (run, conclusions) = pipetest::pipetest(4);
    assert!(!tables(&run, &conclusions, &PLAIN).contains("hits per tenth"));
    let all = tables(&run, &conclusions, &EVERYTHING);
    assert!(all.contains("  hits per tenth, by tokens:\n"), "{all}");
    assert!(all.contains("    1 to 10: 0% 0% 0% 0% 0% 0% 0% 0% 0% 100%\n"), "{all}");
    // The parked peers of the other fixture are none, everywhere: nothing to tell.
    let (run, conclusions) = realistic(20);
    let all = tables(&run, &conclusions, &EVERYTHING);
    assert!(!all.contains("parked peers"), "{all}");
}

#[test]
fn facts_that_differ_between_rounds_stand_with_their_range() {
    let (mut run, _) = realistic(4);
    for cell in &mut run.cells {
        let waits = if cell.key.subject == "poll" { 2 + u64::from(cell.key.round % 2) } else { 1 };
        cell.facts.insert("waits_ms".to_owned(), waits.into());
    }
    let all = tables(&run, &findings::conclude(&run), &EVERYTHING);
    for line in ["  waits, by subject:\n", "    poll: 2 ms to 3 ms\n", "1 ms\n"] {
        assert!(all.contains(line), "{line} is not in {all}");
    }
}

/// A load of two ranks, of which one did not come to its end.
fn load() -> (model::Run, findings::Conclusions) {
    let measured = model::RankMeasured {
        host: "node1".to_owned(),
        requests: 2_500,
        replies: 2_500,
        start_late_ns: 104_250,
        clock_bound_ns: 48_120,
        late: 3,
        busy_share: 0.25,
    };
    let ranks = [Some(measured), None];
    let ranks = ranks.into_iter().zip(0..).map(|(measured, rank)| model::Rank { rank, measured });
    let ranks: Vec<model::Rank> = ranks.collect();
    let load = fixtures::workload("load").axis("connections", "connections").subjects(["shop"]);
    let cells = (0..8).map(|round| {
        let cell = fixtures::cell("load", "shop", 10, round).samples("latency", vec![1e5]);
        let cell = if round < 7 { cell } else { cell.samples("max", vec![9e6]) };
        let whole = model::LoadOutcome { ranks: ranks.clone(), ..model::LoadOutcome::default() };
        model::Cell { load: (round == 7).then_some(whole), ..cell.build() }
    });
    let mut load = model::WorkloadInfo::from(load.time("latency").time("max"));
    load.metrics[1].role = model::MetricRole::Whole;
    let run = fixtures::run(load).cells(cells).complete();
    let conclusions = findings::conclude(&run);
    (run, conclusions)
}

#[test]
fn what_ranks_of_a_load_did_are_sentences() {
    let (run, conclusions) = load();
    let all = tables(&run, &conclusions, &EVERYTHING);
    let rank = "  rank 0, by connections:\n    10: on node1: 2,500 replies, 3 requests sent late; began 0.104 ms \
                after the start (clock ± 0.048 ms);";
    assert!(all.contains(rank), "{all}");
    assert!(all.contains("  rank 1, by connections:\n    10: missing\n"), "{all}");
    assert!(!all.contains("rank."), "{all}");
}

#[test]
fn a_figure_of_a_whole_load_is_no_median_of_rounds() {
    let (run, conclusions) = load();
    let all = tables(&run, &conclusions, &EVERYTHING);
    let titles: Vec<&str> =
        all.lines().filter(|line| line.contains("µs per ") || line.contains("ms per ")).collect();
    let [latency, max] = &titles[..] else { panic!("{all}") };
    assert!(latency.ends_with(" · median of 8 rounds"), "{latency}");
    assert!(max.ends_with(" · of the whole load"), "{max}");
}

/// A run whose axis and one of whose subjects have names that a narrow terminal has to fold.
fn with_long_names() -> (model::Run, findings::Conclusions) {
    let (run, mut conclusions) = pipetest::pipetest(4);
    for table in &mut conclusions.analysis.tables {
        table.axis.push_str(" that are on their way");
        table.rows[1].label.push_str(" (emulated by another one)");
        for row in &mut table.rows {
            let Some(first) = row.cells.first().and_then(Option::as_ref) else { continue };
            row.growth = Some(analysis::Growth {
                class: analysis::Class::Linear,
                classes: vec![analysis::Class::Linear],
                factor: analysis::Estimate { value: 13.2, low: 12.9, high: 13.6 },
                from: first.point,
                to: 10 * first.point,
                best: None,
                exponent: None,
                reason: None,
                constant: None,
            });
        }
    }
    (run, conclusions)
}

#[test]
fn names_fold_on_a_narrow_terminal_and_growth_stands_below_the_figures() {
    let (run, mut conclusions) = with_long_names();
    conclusions.analysis.tables.truncate(1);
    conclusions.findings.clear();
    let text = tables(&run, &conclusions, &Style { width: 40, ..PLAIN });
    insta::assert_snapshot!("folded", text);
}

#[test]
fn every_figure_stands_below_its_subject_and_every_lead_is_marked() {
    let (run, conclusions) = pipetest::pipetest(20);
    for width in [200, 80, 40] {
        let text = tables(&run, &conclusions, &Style { width, ..PLAIN });
        for table in &conclusions.analysis.tables {
            let marked = table.leads.iter().flatten().filter(|lead| lead.clear).count();
            let title = format!("in {} pipes", findings::format::count(pipes(table)));
            // A title may be folded on a narrow terminal; then it is the whole text that is searched.
            let part = text.split("\npipetest").find(|part| part.contains(&title));
            let part = part.unwrap_or_else(|| panic!("{title} is not in {text}"));
            let body = part.split("\n  * the").next().unwrap_or_default();
            assert_eq!(body.matches('*').count(), marked, "{width} columns: {part}");
            let shared = table.leads.iter().flatten().filter(|lead| lead.is_shared());
            let together: usize = shared.map(|lead| 1 + lead.tied.len()).sum();
            assert_eq!(body.matches('~').count(), together, "{width} columns: {part}");
        }
    }
}

#[test]
fn those_who_share_a_lead_are_marked_where_they_are_few() {
    let (run, mut conclusions) = pipetest::pipetest(20);
    conclusions.analysis.tables.truncate(1);
    conclusions.findings.clear();
    let table = &mut conclusions.analysis.tables[0];
    // Three of five, all five, and five of six lead together.
    let all = ["select", "poll", "epoll-edge", "io_uring-multishot"];
    for (column, (tied, index)) in [(2, 5), (4, 5), (4, 6)].into_iter().enumerate() {
        let lead = &mut table.leads[column][0];
        (lead.clear, lead.measured) = (false, index);
        "epoll-level".clone_into(&mut lead.best);
        lead.tied = all[..tied].iter().map(|name| (*name).to_owned()).collect();
    }
    for points_down in [true, false] {
        conclusions.analysis.tables[0].points_down = points_down;
        for width in [200, 80, 40] {
            let text = tables(&run, &conclusions, &Style { width, ..PLAIN });
            let has = |figure: &str| text.split_whitespace().any(|word| word == figure);
            assert!(["78.5~", "95.8~", "798~"].into_iter().all(has), "{width} columns: {text}");
            assert!(["721", "372", "990", "1,002"].into_iter().all(has), "{width} columns: {text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            let legend = "* the fastest; ~ among the fastest, too close to call; no mark \
                          where more than 4, or all, are";
            assert!(words.join(" ").contains(legend), "{width} columns: {text}");
        }
    }
    // All but the first row share every lead: too many to be marked.
    let table = &mut conclusions.analysis.tables[0];
    let names: Vec<String> = table.rows.iter().map(|row| row.subject.clone()).collect();
    let ahead = &names[1..];
    for lead in table.leads.iter_mut().flatten() {
        lead.best.clone_from(&ahead[0]);
        (lead.clear, lead.tied, lead.measured) = (false, ahead[1..].to_vec(), names.len());
    }
    assert!(ahead.len() > 4, "{names:?}");
    let text = tables(&run, &conclusions, &PLAIN);
    assert!(text.contains("No figure is marked: every lead is too close to call"), "{text}");
    assert!(!text.contains(['*', '~']), "{text}");
}

fn pipes(table: &analysis::Table) -> u64 {
    table.parameters["pipes"].number().expect("a number")
}

#[test]
fn colour_marks_the_best_among_points_as_well() {
    let (run, conclusions) = pipetest::pipetest(20);
    let coloured = tables(&run, &conclusions, &Style { colour: true, ..PLAIN });
    let leads = conclusions.analysis.tables.iter().flat_map(|table| table.leads.iter().flatten());
    assert_eq!(coloured.matches("\u{1b}[32m").count(), leads.filter(|lead| lead.clear).count());
    assert!(coloured.contains("\u{1b}[32m798*\u{1b}[0m"), "{coloured}");
    let bare = without_escapes(&coloured);
    let bare: Vec<&str> = bare.lines().map(str::trim_end).collect();
    assert_eq!(bare, tables(&run, &conclusions, &PLAIN).lines().collect::<Vec<_>>());
}

#[test]
fn with_subjects_down_a_clear_lead_is_marked_too() {
    let (run, mut conclusions) = pipetest::pipetest(20);
    conclusions.analysis.tables.truncate(1);
    conclusions.analysis.tables[0].points_down = false;
    conclusions.findings.clear();
    insta::assert_snapshot!("subjects_down", tables(&run, &conclusions, &PLAIN));
}

#[test]
fn a_table_of_somebody_else_has_single_figures() {
    let (run, conclusions) = pipetest::foreign();
    insta::assert_snapshot!("foreign", tables(&run, &conclusions, &PLAIN));
}

#[test]
fn trajectories_say_what_their_medians_are_what_was_found_and_where_they_ended() {
    let (run, conclusions) = before(Size::SMALL);
    insta::assert_snapshot!("trajectory", tables(&run, &conclusions, &PLAIN));
    let (run, mut conclusions) = after(Size::SMALL);
    conclusions.analysis.tables[0].points_down = true;
    insta::assert_snapshot!("trajectory_down", tables(&run, &conclusions, &PLAIN));
}

#[test]
fn rates_from_zero_on_collapse_or_hold_and_bytes_are_bytes() {
    let (run, conclusions) = dead::dead(12);
    insta::assert_snapshot!("dead", tables(&run, &conclusions, &PLAIN));
    let all = tables(&run, &conclusions, &EVERYTHING);
    assert!(all.contains("memory for each dead connection in KiB"), "{all}");
    assert!(all.contains("select and poll (cpu, workers = 1) are linear: ×"), "{all}");
    for width in [40, 80] {
        let text = tables(&run, &conclusions, &Style { width, ..PLAIN });
        assert!(text.contains("collapses  ÷8.21") && text.contains("holds      ×0.98"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
    }
}

#[test]
fn threads_on_cpus_are_multiples_and_a_control_has_no_row() {
    let (run, conclusions) = locks::locks(5);
    let text = tables(&run, &conclusions, &PLAIN);
    insta::assert_snapshot!("lock", text);
    let (table, _) = text.split_once("Findings").expect("findings");
    assert!(!text.contains("broken"), "{text}");
    // Nothing is a share where there are more threads than CPUs.
    assert!(!table.replace("97 % of 400 samples", "").contains('%'), "{table}");
    let narrow = tables(&run, &conclusions, &Style { width: 60, ..PLAIN });
    let heads: Vec<&str> =
        narrow.lines().filter(|line| line.starts_with("  per CPU ")).map(str::trim_end).collect();
    assert_eq!(heads.len(), 2, "a head for each part of the table: {narrow}");
    let multiples = heads.iter().flat_map(|head| head.split_whitespace().skip(2));
    assert_eq!(multiples.collect::<Vec<_>>(), ["0.5", "1", "2", "4", "8", "16"]);
    let mut down = conclusions.clone();
    down.analysis.tables.truncate(1);
    down.analysis.tables[0].points_down = true;
    down.findings.clear();
    insta::assert_snapshot!("lock_down", tables(&run, &down, &PLAIN));
}

#[test]
fn waits_of_single_operations_stand_with_every_table() {
    let (run, mut conclusions) = locks::locks(5);
    conclusions.analysis.tables.retain(|table| table.metric.name == "waiting");
    conclusions.findings.clear();
    let all = tables(&run, &conclusions, &EVERYTHING);
    insta::assert_snapshot!("waits", all);
    let narrow = tables(&run, &conclusions, &Style { detail: Detail::All, width: 40, ..PLAIN });
    for word in ["p50", "p99.9", "max", "operations"] {
        assert_eq!(all.matches(word).count(), 6, "{word} once a point: {all}");
        assert_eq!(narrow.matches(word).count(), 6, "{word} once a point: {narrow}");
    }
}

#[test]
fn averages_have_the_form_of_kernbench_with_unfinished_runs() {
    let (run, conclusions) = build::build(&[1, 2]);
    let text = tables(&run, &conclusions, &PLAIN);
    insta::assert_snapshot!("averages", text);
    let column = |index: usize| &conclusions.analysis.averages[index].columns[2];
    assert_eq!((column(0).runs, column(0).failed), (0, 5));
    assert_eq!((column(1).runs, column(1).failed), (4, 1));
    // Each mean is that of the samples.
    let row = &conclusions.analysis.averages[1].rows[0];
    let first = row.figures[0].as_ref().expect("figures");
    let mean = first.samples.iter().sum::<f64>() / first.samples.len() as f64 / 1e9;
    assert!(text.contains(&format!("{mean:.2} (")), "{mean} is not in {text}");
}

#[test]
fn a_prediction_is_never_called_a_measurement() {
    let (run, conclusions) = locks::predicted(3);
    let text = tables(&run, &conclusions, &EVERYTHING);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(predicted by a model, median of 3 rounds)"), "{text}");
    assert!(text.contains("Nothing here was measured"), "{text}");
}

#[test]
fn a_run_without_figures_says_so() {
    let mut run = small();
    run.cells.clear();
    let text = tables(&run, &findings::Conclusions::default(), &PLAIN);
    assert_eq!(text, "Findings\n  None: too little was measured.\n");
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let mut run = small();
    run.cells.truncate(12);
    run.summary.state = model::RunState::Interrupted;
    let text = tables(&run, &findings::conclude(&run), &EVERYTHING);
    let words = "The run was interrupted: 12 of 120 cells ended → knee run --resume=7";
    assert!(text.contains(words), "{text}");
}

/// The text without `ESC [ … m`.
fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, behind)| behind);
    }
    out + rest
}
