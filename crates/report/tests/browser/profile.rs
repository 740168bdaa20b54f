//! Profiles: the bands, the flame graphs and the table show what was sampled.

use crate::fixture;
use crate::input::Held;
use crate::page::{ONE, PROFILED, PROFILED_TWO, Page, Runs, with, with_made, written};
use analysis::compare::{Terms, compare};
use model::{CodeFault, Frame, FunctionCode, InstructionSamples, MachineCode, ProfiledRegion, Run};
use report::matrix::{Matrix, html};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The widget of the first workload.
const PROFILE: &str = "document.querySelector('figure.profile').profile";

/// A box of the flame graph that is shown.
#[derive(Debug, Deserialize)]
struct Drawn {
    name: String,
    label: String,
    classes: String,
    left: f64,
    width: f64,
    row: usize,
}

fn boxes(page: &mut Page) -> Vec<Drawn> {
    page.get(&format!(
        "(({{ flame }}) => flame.boxes.map(({{ at, left, width, row, element }}) => ({{ left, width, row,
            name: flame.tree.frame(at).name, label: element.textContent, classes: element.className }})))({PROFILE})"
    ))
}

fn named<'a>(boxes: &'a [Drawn], name: &str) -> &'a Drawn {
    boxes.iter().find(|drawn| drawn.name == name).unwrap_or_else(|| panic!("{name}: {boxes:#?}"))
}

/// Chooses in a drop-down list that the profile has.
fn choose(page: &mut Page, label: &str, start: &str) -> String {
    page.evaluate("document.querySelectorAll('.plot .chooser').forEach((one) => one.remove())");
    page.choose(label, start)
}

fn region<'a>(run: &'a Run, subject: &str, point: u64) -> (&'a ProfiledRegion, f64) {
    let is_wanted =
        |cell: &&model::ProfiledCell| (&*cell.key.subject, cell.key.point) == (subject, point);
    let cell = run.profile.cells.iter().find(is_wanted).expect("a profiled cell");
    (&cell.regions[0], cell.sample_ns / cell.regions[0].operations as f64)
}

/// CPU time of an operation by function: in it and in what it calls, or in itself alone.
fn times(run: &Run, subject: &str, point: u64, is_inclusive: bool) -> BTreeMap<String, f64> {
    let (region, each) = region(run, subject, point);
    let mut times = BTreeMap::new();
    for &(stack, count) in &region.samples {
        let path = run.profile.path(stack);
        let frame = |node: &u32| -> &Frame {
            &run.profile.frames[run.profile.stacks[*node as usize].frame as usize]
        };
        let counted = if is_inclusive { &path[..] } else { &path[path.len() - 1..] };
        for node in counted {
            let Frame { function, module, .. } = frame(node);
            let name = if function.is_empty() {
                format!("{module} (no symbol)")
            } else {
                function.clone()
            };
            *times.entry(name).or_insert(0.0) += count as f64 * each;
        }
    }
    times
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * a.abs().max(b.abs()).max(1e-9)
}

#[test]
fn a_page_without_a_profile_carries_nothing_of_one() {
    let (plain, profiled) = (written(&ONE), written(&PROFILED));
    for part in ["class FlameGraph", ".flame", "Where the CPU time goes"] {
        assert!(!plain.contains(part) && profiled.contains(part), "{part}");
    }
}

#[test]
fn the_bands_are_the_functions_that_take_most_and_add_up() {
    let run = &PROFILED[0].0;
    with(&PROFILED, |page| {
        let layers: Vec<(String, Vec<f64>)> =
            page.get(&format!("{PROFILE}.bands.layers.map((layer) => [layer.name, layer.values])"));
        assert_eq!(layers.len(), 9, "{layers:?}");
        assert_eq!((&*layers[0].0, &*layers[1].0), ("sock_poll", "unix_poll"));
        assert!(layers[8].0.ends_with("other functions"), "{layers:?}");
        for (column, point) in [100, 300, 1_000, 10_000].into_iter().enumerate() {
            let wanted = times(run, "poll", point, false);
            for (name, values) in &layers[..8] {
                assert!(
                    is_near(values[column], wanted.get(name).copied().unwrap_or(0.0)),
                    "{name} at {point}"
                );
            }
            let sum: f64 = layers.iter().map(|(_, values)| values[column]).sum();
            assert!(is_near(sum, wanted.values().sum()), "{sum} at {point}");
        }
        // As shares they fill the height.
        let top = |page: &mut Page| -> f64 {
            page.get(&format!("{PROFILE}.bands.layers.at(-1).edges.at(0)[1]"))
        };
        assert!(top(page) > 1_000.0);
        page.press("probe.button('Share')", Held::Nothing);
        assert!(is_near(top(page), 1.0));
        let pressed: Vec<String> =
            page.get("['Time', 'Share'].map((text) => probe.button(text).ariaPressed)");
        assert_eq!(pressed, ["false", "true"]);
    });
}

#[test]
fn arrows_walk_along_the_bands() {
    let run = &PROFILED[0].0;
    with(&PROFILED, |page| {
        page.evaluate(&format!("{PROFILE}.bands.stage.focus()"));
        page.key("ArrowLeft", Held::Nothing);
        page.key("ArrowUp", Held::Nothing);
        let text: String = page.get(&format!("{PROFILE}.bands.readout.textContent"));
        let time = times(run, "poll", 10_000, false)["unix_poll"] / 1_000.0;
        assert!(text.starts_with("unix_poll (kernel): at 10,000 "), "{text}");
        assert!(text.contains(&format!("{time:.1} µs an operation, share ")), "{text} {time}");
        page.key("Home", Held::Nothing);
        let text: String = page.get(&format!("{PROFILE}.bands.readout.textContent"));
        assert!(text.contains(" at 100 "), "{text}");
        page.key("Escape", Held::Nothing);
        assert_eq!(page.get::<String>(&format!("{PROFILE}.bands.readout.textContent")), "");
    });
}

#[test]
fn a_flame_graph_has_every_function_as_wide_as_its_time() {
    let run = &PROFILED[0].0;
    with(&PROFILED, |page| {
        choose(page, "Compared with", "nothing");
        page.evaluate(&format!("{PROFILE}.flame.zoom(0)"));
        for (choice, point) in [("10,000", 10_000), ("100", 100)] {
            if point == 100 {
                choose(page, "watched descriptors", choice);
                choose(page, "Compared with", "nothing");
                page.evaluate(&format!("{PROFILE}.flame.zoom(0)"));
            }
            let wanted = times(run, "poll", point, true);
            let all = wanted["knee worker"];
            let boxes = boxes(page);
            for name in [
                "sock_poll",
                "unix_poll",
                "do_sys_poll",
                "rustix::io::write",
                "libc.so.6 (no symbol)",
            ] {
                let (Some(drawn), Some(time)) =
                    (boxes.iter().find(|drawn| drawn.name == name), wanted.get(name))
                else {
                    assert!(point == 10_000, "{name} at {point}");
                    continue;
                };
                assert!(is_near(drawn.width, time / all), "{name}: {} {}", drawn.width, time / all);
            }
            // What is called lies within its caller.
            for drawn in &boxes {
                assert!(drawn.left >= 0.0 && drawn.left + drawn.width < 1.0 + 1e-9, "{drawn:?}");
            }
            assert_eq!(named(&boxes, "all").row, 0);
            assert!(named(&boxes, "unix_poll").classes.contains("kind-kernel"));
        }
    });
}

#[test]
fn enter_lets_a_function_fill_the_width_and_escape_goes_back() {
    with(&PROFILED, |page| {
        let first = boxes(page);
        // It begins below what nearly all stacks share.
        assert_eq!((&*first[0].name, first[0].row), ("readiness::poll::Poll::wait", 0));
        page.evaluate(&format!("{PROFILE}.flame.stage.focus()"));
        for _ in 0..6 {
            page.key("ArrowDown", Held::Nothing);
        }
        let text: String = page.get(&format!("{PROFILE}.flame.readout.textContent"));
        assert!(text.starts_with("sock_poll (kernel): before "), "{text}");
        page.key("ArrowRight", Held::Nothing);
        let text: String = page.get(&format!("{PROFILE}.flame.readout.textContent"));
        assert!(text.starts_with("fget (kernel): "), "{text}");
        page.key("ArrowLeft", Held::Nothing);
        page.key("Enter", Held::Nothing);
        page.settle();
        let zoomed = boxes(page);
        assert_eq!((&*zoomed[0].name, zoomed.len()), ("sock_poll", 2));
        let path: String = page.get("document.querySelector('.path').textContent");
        assert!(
            path.starts_with("all › ") && path.ends_with(" › do_sys_poll › sock_poll"),
            "{path}"
        );
        page.key("Escape", Held::Nothing);
        assert_eq!(boxes(page)[0].name, "do_sys_poll");
        for _ in 0..10 {
            page.key("Escape", Held::Nothing);
        }
        assert_eq!(boxes(page)[0].name, "all");
    });
}

#[test]
fn a_click_zooms_in_and_a_step_of_the_path_zooms_out() {
    with(&PROFILED, |page| {
        page.press(
            "[...document.querySelectorAll('.box')].find((one) => one.textContent.includes('do_sys_poll'))",
            Held::Nothing,
        );
        assert_eq!(boxes(page)[0].name, "do_sys_poll");
        page.press("[...document.querySelectorAll('.path button')].at(0)", Held::Nothing);
        assert_eq!(boxes(page)[0].name, "all");
    });
}

#[test]
fn the_search_sets_functions_off_and_says_what_they_hold() {
    let wanted = times(&PROFILED[0].0, "poll", 10_000, true);
    with(&PROFILED, |page| {
        choose(page, "Compared with", "nothing");
        page.evaluate(&format!("{PROFILE}.flame.stage.focus()"));
        page.key("/", Held::Nothing);
        for letter in "_poll".chars() {
            page.key(&letter.to_string(), Held::Nothing);
        }
        page.settle();
        let matches = boxes(page);
        let matches: Vec<&str> = matches
            .iter()
            .filter(|drawn| drawn.classes.contains("match"))
            .map(|drawn| drawn.name.as_str())
            .collect();
        assert_eq!(matches, ["__poll", "__x64_sys_poll", "do_sys_poll", "sock_poll", "unix_poll"]);
        let text: String = page.get(&format!("{PROFILE}.flame.readout.textContent"));
        // A stack with several of them counts once.
        let share = 100.0 * wanted["__poll"] / wanted["knee worker"];
        assert_eq!(text, format!("“_poll”: {share:.0} % of the width."));
        page.key("Escape", Held::Nothing);
        let left: usize = page.get("document.querySelectorAll('.box.match').length");
        assert_eq!(left, 0);
    });
}

#[test]
fn the_difference_between_runs_is_in_the_function_that_differs() {
    let [before, now] = [0, 1].map(|run: usize| times(&PROFILED_TWO[run].0, "poll", 10_000, true));
    with(&PROFILED_TWO, |page| {
        let base: String =
            page.get(&format!("{PROFILE}.choosers.base.select.selectedOptions[0].text"));
        assert_eq!(base, "run 21 on bench-7");
        let drawn = boxes(page);
        let unix_poll = named(&drawn, "unix_poll");
        let added = (now["unix_poll"] - before["unix_poll"]) / 1_000.0;
        assert_eq!(unix_poll.label, format!("+ unix_poll +{added:.1} µs"));
        assert!(unix_poll.classes.contains("grew") && unix_poll.classes.contains("lead-3"));
        // Its callers are as much dearer, but not by themselves.
        assert!(named(&drawn, "sock_poll").classes.contains("grew lead-0"));
        assert!(named(&drawn, "fget").classes.contains("same"));
        // The other way round it shrinks, and says so by a sign too.
        choose(page, "Run", "run 21");
        choose(page, "Compared with", "run 22");
        let drawn = boxes(page);
        let unix_poll = named(&drawn, "unix_poll");
        assert_eq!(unix_poll.label, format!("− unix_poll −{added:.1} µs"));
        assert!(unix_poll.classes.contains("shrank"));
    });
}

#[test]
fn a_subject_is_compared_with_another_at_the_same_point() {
    with(&PROFILED, |page| {
        let options: Vec<String> = page.get(&format!(
            "[...{PROFILE}.choosers.base.select.options].map((option) => option.text)"
        ));
        assert_eq!(
            options,
            ["nothing", "poll at 100", "poll at 300", "poll at 1,000", "epoll-level at 10,000"]
        );
        choose(page, "Compared with", "epoll-level");
        page.evaluate(&format!("{PROFILE}.flame.zoom(0)"));
        let drawn = boxes(page);
        assert!(named(&drawn, "do_sys_poll").classes.contains("grew"));
        let label: String = page.get(&format!("{PROFILE}.flame.stage.ariaLabel"));
        assert_eq!(
            label,
            "Difference flame graph: poll at 10,000, compared with epoll-level at 10,000"
        );
    });
}

/// The texts of the visible tables of functions, row by row.
fn tables(page: &mut Page) -> Vec<Vec<Vec<String>>> {
    page.get(
        "[...document.querySelectorAll('.what-grew table')].filter((one) => one.checkVisibility())
            .map((one) => [...one.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))",
    )
}

#[test]
fn the_table_of_functions_is_that_of_the_chosen_subject() {
    with(&PROFILED, |page| {
        let shown = tables(page);
        assert_eq!(shown.len(), 1);
        let first = &shown[0][0];
        assert_eq!((&*first[0], &*first[1]), ("sock_poll", "kernel"));
        assert!(first[4].starts_with("linear"), "{first:?}");
        assert!(first[5].starts_with("38 %"), "{first:?}");
        choose(page, "Subject", "epoll-level");
        let shown = tables(page);
        assert_eq!(shown.len(), 1);
        assert!(shown[0].iter().all(|row| row[0] != "sock_poll"), "{shown:?}");
        // Nothing is attributed: there is no column for it.
        assert_eq!(shown[0][0].len(), 5);
    });
}

#[test]
fn without_a_script_the_tables_stand() {
    with(&PROFILED, |page| {
        page.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        page.reload();
        assert_eq!(tables(page).len(), 2);
    });
}

#[test]
fn what_the_pointer_is_on_is_read_out_in_full() {
    with(&PROFILED, |page| {
        choose(page, "Compared with", "nothing");
        let spot = page.middle(
            "[...document.querySelectorAll('.box')].find((one) => one.textContent.startsWith('Poll::wait'))",
        );
        page.move_to(spot);
        page.settle();
        let card: String = page.get("document.querySelector('.flame .card').textContent");
        assert!(card.starts_with("readiness::poll::Poll::waitknee"), "{card}");
        let text: String = page.get(&format!("{PROFILE}.flame.readout.textContent"));
        for part in [
            "readiness::poll::Poll::wait (knee): share 99.9 %",
            "CPU time an operation ",
            "samples ",
        ] {
            assert!(text.contains(part), "{text}");
        }
    });
}

#[test]
fn fourteen_subjects_at_four_points_add_little_to_a_page() {
    let runs: Runs = vec![fixture::profile::profiled(14)];
    let mut plain = runs.clone();
    plain[0].0.profile = model::Profile::default();
    plain[0].1.analysis.profiles.clear();
    let added = report::html::page(&runs).len() - report::html::page(&plain).len();
    assert!(added < 120_000, "{added} bytes");
}

#[test]
fn a_cell_without_a_profile_says_why() {
    let mut runs: Runs = PROFILED.clone();
    let cells = &mut runs[0].0.profile.cells;
    let failed = cells.iter_mut().find(|cell| cell.key.point == 1_000).expect("a cell");
    failed.outcome = model::Outcome::Failed {
        reason: model::FailureReason::KilledBySignal { signal: "SIGKILL".to_owned() },
        detail: String::new(),
    };
    runs[0].1 = findings::conclude(&runs[0].0);
    with_made(&runs, |page| {
        let notes: String = page.get("document.querySelector('.profiled .notes').textContent");
        assert!(notes.starts_with("No profile: poll · poll at 1,000 (1 cell): "), "{notes}");
        let points: Vec<u64> =
            page.get(&format!("{PROFILE}.bands.cells.map((cell) => cell.position)"));
        assert_eq!(points, [100, 300, 10_000]);
    });
    // Where all have failed there is nothing but that.
    for cell in &mut runs[0].0.profile.cells {
        cell.outcome = model::Outcome::Failed {
            reason: model::FailureReason::KilledBySignal { signal: "SIGKILL".to_owned() },
            detail: String::new(),
        };
    }
    runs[0].1 = findings::conclude(&runs[0].0);
    with_made(&runs, |page| {
        let [notes, figures]: [usize; 2] = page.get(
            "['.profiled .notes li', 'figure.profile'].map((part) => document.querySelectorAll(part).length)",
        );
        assert_eq!((notes, figures), (2, 0));
    });
}

#[test]
fn a_name_from_anywhere_stays_a_name() {
    let mut runs: Runs = PROFILED.clone();
    for frame in &mut runs[0].0.profile.frames {
        frame.function = format!("</script><b>{}", frame.function);
    }
    runs[0].1 = findings::conclude(&runs[0].0);
    with_made(&runs, |page| {
        let bold: usize = page.get("document.querySelectorAll('.profiled b').length");
        assert_eq!(bold, 0);
        assert!(boxes(page)[0].name.starts_with("</script><b>"));
    });
}

#[test]
fn a_trajectory_has_a_band_from_stretch_to_stretch_and_processes_of_its_own() {
    let runs: Runs = vec![fixture::profile::forks()];
    with_made(&runs, |page| {
        let layers: Vec<(String, usize)> = page.get(&format!(
            "{PROFILE}.bands.layers.map((layer) => [layer.name, layer.values.length])"
        ));
        assert_eq!(layers[0], ("copy_page_range".to_owned(), 12));
        assert_eq!(layers.len(), 4);
        // Positions stand where they are, not where their logarithms are.
        let at: Vec<f64> = page.get(&format!(
            "(({{ bands }}) => [250, 5000, 10000].map((position) => bands.across(position)))({PROFILE})"
        ));
        assert!(((at[1] - at[0]) / (at[2] - at[0]) - 4_750.0 / 9_750.0).abs() < 1e-3, "{at:?}");
        assert_eq!(boxes(page)[0].name, "all");
        choose(page, "Process", "forker");
        let names: Vec<String> = boxes(page).into_iter().map(|drawn| drawn.name).collect();
        assert!(
            names.contains(&"schedule_tail".to_owned())
                && !names.contains(&"copy_page_range".to_owned())
        );
        let layers: Vec<String> =
            page.get(&format!("{PROFILE}.bands.layers.map((layer) => layer.name)"));
        assert_eq!(layers, ["schedule_tail"]);
        let caption: String = page.get("document.querySelector('.profile .caption').textContent");
        assert_eq!(caption, "fork · CPU time an operation, by function · forker");
    });
}

#[test]
fn a_single_cell_is_a_bar_and_a_plain_flame_graph() {
    let runs: Runs = vec![fixture::profile::lone()];
    with_made(&runs, |page| {
        let title: String = page.get(&format!("{PROFILE}.flame.title"));
        assert_eq!(title, "Flame graph: poll at 1,000");
        let (width, choosers): (f64, usize) = page.get(
            "[document.querySelector('.band').getBBox().width,
                [...document.querySelectorAll('.profile .chooser')].filter((one) => one.checkVisibility()).length]"
        );
        assert!((100.0..=160.0).contains(&width), "{width}");
        // Nothing but the search.
        assert_eq!(choosers, 1);
        let heads: Vec<String> = page
            .get("[...document.querySelectorAll('.profiled h4')].map((one) => one.textContent)");
        assert_eq!(heads, ["By function", "Flame graph: poll at 1,000"]);
    });
}

#[test]
fn the_page_of_a_comparison_compares_the_profiles_of_its_runs() {
    let [(base, _), (new, _)] = &PROFILED_TWO[..] else { panic!("two runs") };
    let comparison =
        compare(base, new, &Terms { margin: 0.05, fail_above: None, across: false, all: false })
            .expect("a comparison");
    let text = html::page(&PROFILED_TWO, &Matrix::pair(base, new, &comparison));
    let complaints = crate::page::complaints_of(&text, |page| {
        page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
        );
        page.until("document.querySelector('figure.profile').profile");
        let title: String = page.get(&format!("{PROFILE}.flame.title"));
        assert_eq!(
            title,
            "Difference flame graph: poll at 10,000, compared with poll at 10,000 in run 21 on bench-7"
        );
    });
    assert_eq!(complaints.unwrap_or_default(), Vec::<String>::new());
}

#[test]
fn the_head_of_the_page_says_where_the_time_goes_and_leads_there() {
    let answer = findings::Answer::new(&PROFILED[0].0, &PROFILED[0].1);
    assert!(!answer.cpu_time.is_empty());
    with(&PROFILED, |page| {
        let shown: Vec<String> = page.get(
            "(() => { const head = [...document.querySelectorAll('#answer h3')]
                    .find((one) => one.textContent === 'Where the CPU time goes');
                return [...head.nextElementSibling.querySelectorAll('li')].map((one) => one.textContent); })()",
        );
        let wanted: Vec<String> = answer
            .cpu_time
            .iter()
            .map(|statement| format!("{} functions", statement.sentence))
            .collect();
        assert_eq!(shown, wanted);
        let target: String = page.get("document.querySelector(document.querySelector('#answer a[href*=profile]').hash).textContent");
        assert_eq!(target, "Where the CPU time goes");
    });
}

#[test]
fn a_graph_begins_with_the_ends_that_the_table_has() {
    let mut runs: Runs = PROFILED.clone();
    let row = &mut runs[0].1.analysis.profiles[0].rows[0];
    let change = row.change.as_mut().expect("a change");
    (change.from, change.to) = (300, 1_000);
    with_made(&runs, |page| {
        choose(page, "Subject", "epoll-level");
        choose(page, "Subject", "poll");
        let title: String = page.get(&format!("{PROFILE}.flame.title"));
        assert_eq!(title, "Difference flame graph: poll at 1,000, compared with poll at 300");
        let heads: Vec<String> = page.get(
            "[...document.querySelector('[data-grew=\"0-0-0\"] thead').querySelectorAll('th')].map((one) => one.textContent)",
        );
        assert_eq!(heads[2..4], ["at 300", "at 1,000"]);
    });
}

#[test]
fn the_hottest_instructions_of_what_grew_are_folded_away_below_its_table() {
    let mut runs: Runs = PROFILED.clone();
    let profile = &mut runs[0].0.profile;
    let frame = |name: &str| {
        let index = profile.frames.iter().position(|frame| frame.function == name);
        index.expect("a function") as u32
    };
    let [sock_poll, unix_poll] = ["sock_poll", "unix_poll"].map(frame);
    let sample = |frame, offset, count| InstructionSamples { frame, offset, count };
    let cell = profile.cells.iter_mut().find(|cell| cell.key.point == 10_000).expect("a cell");
    cell.regions[0].instructions =
        vec![sample(sock_poll, 8, 150), sample(sock_poll, 10, 50), sample(unix_poll, 0x1a3, 60)];
    let machine = MachineCode {
        architecture: "x86_64".into(),
        address: 0xffff_ffff_8120_0000,
        bytes: "f30f1efa488b472085c07400c3".into(),
        lines: vec![(8, "net/socket.c:1380".into())],
    };
    let error = "Operation not permitted".to_owned();
    let fault = CodeFault::KernelMemoryUnreadable { error };
    profile.code = vec![
        FunctionCode { frame: sock_poll, code: Ok(machine) },
        FunctionCode { frame: unix_poll, code: Err(fault) },
    ];
    with_made(&runs, |page| {
        let summary: String = page.get("document.querySelector('.hot summary').textContent");
        assert_eq!(summary, "Hottest instructions of sock_poll and unix_poll");
        page.press("document.querySelector('.hot summary')", Held::Nothing);
        let tables: Vec<Vec<Vec<String>>> = page.get(
            "[...document.querySelectorAll('.instructions')].filter((one) => one.checkVisibility()).map((one) =>
                [...one.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)))",
        );
        assert_eq!(
            tables,
            [
                vec![
                    vec!["75 %", "+0x8", "85 c0", "test %eax,%eax", "net/socket.c:1380"],
                    vec!["25 %", "+0xa", "74 00", "je +0xc", "net/socket.c:1380"],
                ],
                vec![vec!["100 %", "unix_poll+0x1a3"]],
            ]
        );
        let notes: String = page.get("document.querySelector('.hot > .note').textContent");
        assert!(
            notes.starts_with("No instructions of unix_poll: the kernel's code is in /proc/kcore"),
            "{notes}"
        );
    });
}
