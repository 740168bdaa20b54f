//! Trajectories: every call drawn where it was made, the modes and steps of a series, rounds
//! distinguished, and a run before something laid below the run after it.

use crate::fixture::trajectory::{BECAUSE, REMEDY, Size, before};
use crate::input::{Held, Spot};
use crate::page::{CALLS, CALLS_TWO, Page, Runs, with, with_made};
use analysis::{Estimate, Step};

/// Samples within the view, and in all.
fn drawn(page: &mut Page) -> [usize; 2] {
    page.get(
        "['samples', 'outside'].map((key) =>
            probe.plot(0).drawn.reduce((sum, series) => sum + series[key], 0))
            .reduce((inside, outside) => [inside, inside + outside])",
    )
}

/// What the last frame marked, and what the list below the plot says.
fn marks(page: &mut Page) -> [Vec<String>; 2] {
    page.get(
        "[probe.plot(0).marked, [...document.querySelectorAll('.marks li')]
            .filter((one) => one.checkVisibility()).map((one) => one.textContent)]",
    )
}

const LOWER: &str = "dynamic, lower mode: 62 % of the samples from 2 to 1,000 processes";
const UPPER: &str = "dynamic, upper mode: 38 % of the samples from 2 to 1,000 processes";
const STEP: &str = "static steps up ×1.68 at 350 processes";

#[test]
fn every_one_of_more_than_a_hundred_thousand_calls_is_drawn_and_comes_back() {
    let size = Size { calls: 5_000, rounds: 5, ..Size::SMALL };
    let runs: Runs = vec![before(size)];
    let cells = &runs[0].0.cells;
    let all: usize = cells.iter().map(|cell| cell.metrics[0].samples.len()).sum();
    assert!(all > 100_000);
    with_made(&runs, |page| {
        assert_eq!(drawn(page), [all, all]);
        let (from, to) = (page.inside(0.6, 0.5), page.inside(0.3, 0.5));
        page.drag(from, to, Held::Shift);
        page.settle();
        let [inside, all_known] = drawn(page);
        assert!(inside < all && all_known == all, "{inside} of {all_known}");
        page.press("probe.button('log across')", Held::Nothing);
        assert_eq!(drawn(page), [all, all]);
        page.resize(390, 800);
        page.settle();
        assert_eq!(drawn(page), [all, all]);
    });
}

#[test]
fn a_few_late_calls_can_be_left_outside_and_are_counted() {
    let mut runs: Runs = CALLS.clone();
    for cell in &mut runs[0].0.cells {
        // The very first call, and one in the middle, wait for 400 ms.
        let samples = &mut cell.metrics[0].samples;
        (samples[0], samples[300]) = (4e8, 4e8);
    }
    let table = &mut runs[0].1.analysis.tables[0];
    for point in table.rows.iter_mut().filter_map(|row| row.cells[0].as_mut()) {
        (point.p99, point.max) = (4e8, 4e8);
    }
    with_made(&runs, |page| {
        let [inside, all] = drawn(page);
        assert_eq!(inside, all);
        let height = |page: &mut Page| {
            let [_, _, from, to] = page.view();
            to - from
        };
        let whole = height(page);
        page.press("probe.button('Without tails')", Held::Nothing);
        let [inside, all] = drawn(page);
        let late = 2 * runs[0].0.cells.len();
        let late_max = late + all / 100;
        assert!((late..late_max).contains(&(all - inside)), "{inside} of {all}, {late} late");
        assert!(height(page) < whole / 2.0);
        let text: String = page.get("document.querySelector('.count').textContent");
        assert!(text.contains("outside the view"), "{text}");
        page.press("probe.button('Reset')", Held::Nothing);
        assert_eq!(drawn(page), [all, all]);
        // Where the axis is linear nothing else would be seen.
        page.press("probe.button('log up')", Held::Nothing);
        let [inside, all] = drawn(page);
        assert!((late..late_max).contains(&(all - inside)), "{inside} of {all}, {late} late");
    });
}

#[test]
fn calls_stand_at_their_places_with_their_figures() {
    let mut runs: Runs = CALLS.clone();
    // The second subject goes down its axis, the third misses some of its places.
    for cell in &mut runs[0].0.cells {
        let metric = &mut cell.metrics[0];
        match cell.key.subject.as_str() {
            "static" => metric.positions.reverse(),
            "vfork" => {
                for position in &mut metric.positions {
                    *position = *position * *position / 900 + 1;
                }
            }
            _ => {}
        }
    }
    with_made(&runs, |page| {
        let (run, conclusions) = &runs[0];
        for (index, row) in conclusions.analysis.tables[0].rows.iter().enumerate() {
            let shown: Vec<[f64; 2]> = page.get(&format!(
                "(({{ x, y }}) => Array.from(x, (at, index) => [at, y[index]]))(probe.plot(0).series[{index}].samples)"
            ));
            let cells = run.cells.iter().filter(|cell| cell.key.subject == row.subject);
            let mut wanted = Vec::new();
            for metric in cells.map(|cell| &cell.metrics[0]) {
                let pairs = metric.positions.iter().copied().zip(metric.samples.iter().copied());
                let mut pairs: Vec<(u64, f64)> = pairs.collect();
                pairs.sort_by_key(|(position, _)| *position);
                wanted.append(&mut pairs);
            }
            assert_eq!(shown.len(), wanted.len());
            for ([at, figure], (position, sample)) in shown.into_iter().zip(wanted) {
                assert!((at - position as f64).abs() < 0.1, "{at} is not {position}");
                assert!(
                    (figure / sample - 1.0).abs() < 2e-4,
                    "{figure} is not {sample} at {position}"
                );
            }
        }
    });
}

#[test]
fn modes_and_steps_are_marked_listed_and_go_with_their_series() {
    with(&CALLS, |page| {
        let [marked, listed] = marks(page);
        assert_eq!(marked, [LOWER, UPPER, STEP]);
        let wanted = [
            format!("{LOWER} · growth flat ×1.00 · a single round has both modes"),
            format!("{UPPER} · growth linear ×3.58 · a single round has both modes"),
            format!("{STEP} · 95 % CI 349–351, 95 % CI of the factor ×1.65–×1.72"),
        ];
        assert_eq!(listed, wanted);
        page.press("document.querySelector('[data-subject=\"dynamic\"]')", Held::Nothing);
        assert_eq!(marks(page)[0], [LOWER, UPPER]);
        page.press("document.querySelector('[data-subject=\"static\"]')", Held::Nothing);
        assert_eq!(marks(page)[0], [STEP]);
        page.press("document.querySelector('[data-subject=\"vfork\"]')", Held::Nothing);
        assert_eq!(marks(page), [Vec::<String>::new(), Vec::new()]);
    });
}

#[test]
fn a_mode_and_a_step_are_read_out_under_the_mouse_and_by_the_keyboard() {
    with(&CALLS, |page| {
        let positions: Vec<[f64; 2]> = page.get(
            "probe.plot(0).marks.map((mark) => {
                const plot = probe.plot(0);
                plot.canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
                const at = plot.canvas.getBoundingClientRect();
                const pixels = plot.pixelsOf(mark);
                const pixel = pixels[Math.max(0, pixels.length - 2)];
                return [at.left + pixel.across, at.top + pixel.down];
            })",
        );
        let text = [
            format!("{LOWER}: median near 500 160.0 µs, growth flat ×1.00"),
            format!("{UPPER}: median near 500 425.5 µs, growth linear ×3.58"),
            format!("{STEP}: 95 % CI 349–351, 95 % CI of the factor ×1.65–×1.72"),
        ];
        for ([x, y], text) in positions.into_iter().zip(&text) {
            page.move_to(Spot { x, y });
            page.settle();
            assert!(page.read_out().starts_with(text), "{} is not {text}", page.read_out());
        }
        page.evaluate("document.querySelector('.stage').focus()");
        // The mouse rests on the last one: the next one is the first.
        for text in [LOWER, UPPER, STEP, LOWER] {
            page.key("m", Held::Nothing);
            page.settle();
            assert!(page.read_out().starts_with(text), "{} is not {text}", page.read_out());
        }
        page.key("ArrowLeft", Held::Nothing);
        assert!(page.read_out().starts_with("dynamic near 200: median "), "{}", page.read_out());
    });
}

#[test]
fn a_step_beyond_the_last_median_is_marked_and_read_out_too() {
    let mut runs: Runs = CALLS.clone();
    let row = &mut runs[0].1.analysis.tables[0].rows[4];
    let step = Estimate { value: 580.0, low: 575.0, high: 585.0 };
    row.steps = vec![Step {
        at: step,
        factor: Estimate { value: 0.5, low: 0.5, high: 0.5 },
        between: None,
    }];
    with_made(&runs, |page| {
        let text = "clone3 pidfd steps down ÷2.00 at 580 processes";
        assert_eq!(marks(page)[0].last().map(String::as_str), Some(text));
        page.evaluate("probe.only('clone3 pidfd')");
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("m", Held::Nothing);
        page.settle();
        assert_eq!(page.read_out(), format!("{text}: 95 % CI 575–585"));
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("clone3 pidfd near 500: "), "{}", page.read_out());
    });
}

#[test]
fn rounds_have_tones_on_demand_for_one_subject_at_a_time() {
    with(&CALLS, |page| {
        let listed = "[...document.querySelectorAll('.rounds li')].map((one) => one.textContent)";
        assert!(page.get::<Vec<String>>(listed).is_empty());
        let counts = |page: &mut Page| -> Vec<usize> {
            page.get("[0, 1, 2, 3].map((index) => probe.pixels(index).between)")
        };
        page.evaluate("probe.only('posix_spawn')");
        let plain = counts(page);
        page.press("probe.button('Colour by round')", Held::Nothing);
        assert_eq!(page.drawn(), ["posix_spawn"]);
        let rounds: Vec<String> = page.get(listed);
        assert_eq!(rounds, ["round 1", "round 2", "round 3", "round 4"]);
        let coloured = counts(page);
        assert!(
            coloured[..3].iter().zip(&plain).all(|(now, then)| *now > then + 200),
            "{plain:?} {coloured:?}"
        );
        page.press("probe.button('Colour by round')", Held::Nothing);
        assert_eq!(counts(page), plain);
        page.press("probe.button('Show all')", Held::Nothing);
        page.press("probe.button('Colour by round')", Held::Nothing);
        assert_eq!(page.drawn(), ["dynamic"]);
    });
}

#[test]
fn the_run_before_lies_paler_below_the_run_after_it_in_the_same_hue() {
    with(&CALLS_TWO, |page| {
        assert_eq!(page.drawn().len(), 10);
        let named: Vec<String> =
            page.get("[...document.querySelectorAll('[data-run]')].map((one) => one.textContent)");
        assert_eq!(named, ["run 11 on bench-7 · 6.1.99-amd64", "run 12 on bench-7 · 6.18.5-amd64"]);
        let tones: Vec<[[f64; 3]; 2]> = page.get(
            "(() => { const plot = probe.plot(0); const frame = new Frame(plot);
                return plot.data.subjects.map((label) =>
                    plot.shown.filter((one) => one.label === label).map((one) => frame.tones(one)[0])); })()",
        );
        for [before, after] in tones {
            // Halfway to white, channel by channel.
            for (pale, full) in before.into_iter().zip(after) {
                assert!((pale - f64::midpoint(full, 255.0)).abs() <= 1.0, "{before:?} {after:?}");
            }
        }
        // Marks are those of the run that has them, and say so.
        let [marked, listed] = marks(page);
        assert_eq!(marked, [LOWER, UPPER, STEP]);
        assert!(
            listed.iter().all(|text| text.contains("processes, run 11 on bench-7")),
            "{listed:?}"
        );
        page.press("document.querySelector('[data-run=\"1\"]')", Held::Nothing);
        assert_eq!((page.drawn().len(), marks(page)[0].len()), (5, 0));
        page.press("document.querySelector('[data-subject=\"static\"]')", Held::Nothing);
        assert_eq!(page.drawn(), ["static"]);
    });
}

#[test]
fn tables_say_what_their_medians_are_and_why_a_series_ended() {
    with(&CALLS, |page| {
        let caption: String = page.get("document.querySelector('caption').textContent");
        assert!(
            caption.contains("median of the samples near each position in 4 rounds"),
            "{caption}"
        );
        let notes: Vec<String> =
            page.get("[...document.querySelectorAll('.notes li')].map((one) => one.textContent)");
        let wanted = format!("clone3 pidfd 1,000: it ended at 600: {BECAUSE}");
        assert_eq!(notes, [wanted]);
        let gaps: Vec<[String; 2]> = page.get(
            "[...document.querySelectorAll('td span[title]')].map((one) => [one.textContent, one.title])",
        );
        assert_eq!(gaps, [["–".to_owned(), format!("it ended at 600: {BECAUSE}")]]);
        let caveats: String = page.get("document.querySelector('#caveats').textContent");
        assert!(caveats.contains(BECAUSE) && caveats.contains(REMEDY), "{caveats}");
    });
}

#[test]
fn what_was_found_about_a_subject_stands_together() {
    with(&CALLS, |page| {
        let listed: Vec<[String; 2]> = page.get(
            "[...document.querySelectorAll('.findings li')].map((item) =>
                [item.querySelector('.tags').textContent, item.querySelector('strong').textContent])",
        );
        let wanted = [
            ["flat", "dynamic"],
            ["modes", "dynamic"],
            ["linear", "static"],
            ["step", "static"],
            ["drift", "vfork"],
        ];
        assert_eq!(listed, wanted);
    });
}
