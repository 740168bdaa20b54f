//! What is shown: all series or the isolated ones, the scales, the metric and its parameters.

use crate::input::{Held, Spot};
use crate::page::{LOAD, ONE, Page, TWO, with};

/// The button of a subject in the legend.
fn name(subject: &str) -> String {
    format!("document.querySelector('[data-subject=\"{subject}\"]')")
}

fn pressed(page: &mut Page, subject: &str) -> String {
    page.get(&format!("{}.ariaPressed", name(subject)))
}

/// The text for a screen reader on the series that are shown.
fn announced(page: &mut Page) -> String {
    page.get("document.querySelector('.plot > .unseen[role=status]').textContent")
}

/// Whether the button that shows all series is there.
fn can_show_all(page: &mut Page) -> bool {
    page.get("document.querySelector('[data-all]').checkVisibility()")
}

#[test]
fn a_click_on_a_name_isolates_its_series_and_a_second_one_shows_all() {
    with(&ONE, |page| {
        assert_eq!((page.drawn().len(), can_show_all(page)), (13, false));
        assert_eq!(pressed(page, "poll"), "false");
        page.press(&name("poll"), Held::Nothing);
        assert_eq!(page.drawn(), ["poll"]);
        assert_eq!(
            (pressed(page, "poll").as_str(), pressed(page, "mio").as_str()),
            ("true", "false")
        );
        assert_eq!((announced(page).as_str(), can_show_all(page)), ("Only poll is shown.", true));
        page.press(&name("poll"), Held::Nothing);
        assert_eq!((page.drawn().len(), pressed(page, "poll").as_str()), (13, "false"));
        assert_eq!(
            (announced(page).as_str(), can_show_all(page)),
            ("All series are shown.", false)
        );
    });
}

#[test]
fn another_name_takes_over_and_shift_adds_to_what_is_isolated() {
    with(&ONE, |page| {
        page.press(&name("sigio"), Held::Nothing);
        page.press(&name("poll"), Held::Nothing);
        assert_eq!(page.drawn(), ["poll"]);
        page.press(&name("mio"), Held::Shift);
        assert_eq!(page.drawn(), ["poll", "mio"]);
        assert_eq!(announced(page), "Only poll, mio are shown.");
        page.press(&name("poll"), Held::Shift);
        assert_eq!(page.drawn(), ["mio"]);
        page.press("probe.button('Show all')", Held::Nothing);
        assert_eq!(page.drawn().len(), 13);
        assert!(page.get::<bool>("document.activeElement.dataset.subject === 'select'"));
    });
}

#[test]
fn keys_isolate_a_series_and_escape_shows_all() {
    with(&ONE, |page| {
        for key in ["Enter", " "] {
            page.evaluate(&format!("{}.focus()", name("sigio")));
            page.key(key, Held::Nothing);
            page.settle();
            assert_eq!(page.drawn(), ["sigio"], "{key:?}");
            page.key("Escape", Held::Nothing);
            page.settle();
            assert_eq!((page.drawn().len(), pressed(page, "sigio").as_str()), (13, "false"));
        }
        page.press(&name("sigio"), Held::Nothing);
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("Escape", Held::Nothing);
        page.settle();
        assert_eq!(page.drawn().len(), 13);
    });
}

#[test]
fn a_name_in_the_plot_isolates_its_series_too_and_lights_it_before() {
    with(&ONE, |page| {
        let at = |page: &mut Page, label: &str| -> Spot {
            let [x, y]: [f64; 2] = page.get(&format!(
                "(() => {{ const plot = probe.plot(0);
                    const at = plot.canvas.getBoundingClientRect();
                    const found = plot.labels.find((one) => one.series.label === '{label}');
                    return [at.left + found.left + 12, at.top + found.top + 7]; }})()"
            ));
            Spot { x, y }
        };
        page.middle("document.querySelector('.stage')");
        let spot = at(page, "sigio");
        page.move_to(spot);
        page.settle();
        let lit: Vec<String> = page.get("probe.plot(0).lit.map((series) => series.label)");
        assert_eq!(lit, ["sigio"]);
        assert_eq!(page.get::<String>("probe.plot(0).canvas.style.cursor"), "pointer");
        page.click(spot, Held::Nothing);
        page.settle();
        assert_eq!(
            (page.drawn(), pressed(page, "sigio").as_str()),
            (vec!["sigio".to_owned()], "true")
        );
        let spot = at(page, "sigio");
        page.click(spot, Held::Nothing);
        page.settle();
        assert_eq!(page.drawn().len(), 13);
    });
}

#[test]
fn a_run_is_isolated_by_its_name() {
    with(&TWO, |page| {
        assert_eq!(page.drawn().len(), 26);
        page.press("document.querySelector('[data-run=\"1\"]')", Held::Nothing);
        assert_eq!(page.drawn().len(), 13);
        let runs: Vec<usize> = page.get("[...new Set(probe.plot(0).drawn.map((one) => one.run))]");
        assert_eq!(runs, [1]);
        page.press("document.querySelector('[data-run=\"1\"]')", Held::Nothing);
        assert_eq!(page.drawn().len(), 26);
    });
}

#[test]
fn a_plot_without_series_is_empty_and_survives_keys() {
    with(&ONE, |page| {
        page.evaluate("probe.none()");
        assert!(page.drawn().is_empty());
        // Nothing to walk to, and nothing to fall over.
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        assert_eq!(page.read_out(), "");
        page.press("probe.button('log up')", Held::Nothing);
        page.press("probe.button('Show all')", Held::Nothing);
        assert_eq!(page.drawn().len(), 13);
    });
}

#[test]
fn a_series_that_is_read_out_and_hidden_is_read_out_no_more() {
    with(&ONE, |page| {
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("select at 10"));
        page.press(&name("poll"), Held::Nothing);
        assert_eq!(page.read_out(), "");
    });
}

#[test]
fn each_axis_turns_linear_and_logarithmic() {
    with(&ONE, |page| {
        let logs = |page: &mut Page| {
            page.get::<[bool; 2]>("[probe.plot(0).scales.x.log, probe.plot(0).scales.y.log]")
        };
        let state = |page: &mut Page, axis: &str| {
            page.get::<String>(&format!("probe.button('{axis}').ariaPressed"))
        };
        assert_eq!(logs(page), [true, true]);
        page.press("probe.button('log across')", Held::Nothing);
        assert_eq!((logs(page), state(page, "log across").as_str()), ([false, true], "false"));
        page.press("probe.button('log up')", Held::Nothing);
        assert_eq!((logs(page), state(page, "log up").as_str()), ([false, false], "false"));
        let [_, _, bottom, _] = page.view();
        assert!(bottom.abs() < 1e-9, "a linear axis begins at nothing, not at {bottom}");
        page.press("probe.button('log across')", Held::Nothing);
        page.press("probe.button('log up')", Held::Nothing);
        assert_eq!(logs(page), [true, true]);
    });
}

#[test]
fn metric_and_parameters_change_the_plot_and_the_table_under_it() {
    with(&ONE, |page| {
        let metrics: Vec<String> =
            page.get("[...document.querySelectorAll('.chooser')[0].querySelectorAll('option')].map((o) => o.text)");
        assert_eq!(metrics.len(), 6, "{metrics:?}");
        let shown = |page: &mut Page| {
            page.get::<Vec<String>>(
                "[...document.querySelectorAll('.view')].filter((v) => v.checkVisibility())
                    .map((view) => view.querySelector('caption').textContent)",
            )
        };
        for (metric, active) in [("wait", "1"), ("add", "10"), ("loop", "10"), ("close", "1")] {
            let name = page.choose("Metric", metric);
            page.choose("Parameters", &format!("{active} active"));
            let [metric_name, parameters_text]: [String; 2] =
                page.get("[probe.plot(0).shownView.metric, probe.plot(0).shownView.parameters]");
            assert_eq!(metric_name, name);
            assert!(
                parameters_text.starts_with(&format!("{active} active of N")),
                "{parameters_text}"
            );
            let captions = shown(page);
            assert_eq!(captions.len(), 1);
            let about = name.split(": ").last().expect("what it is about");
            assert!(
                captions[0].contains(about) && captions[0].contains(&parameters_text),
                "{captions:?}"
            );
        }
        page.press("probe.button('Show all 12 tables')", Held::Nothing);
        assert_eq!(shown(page).len(), 12);
    });
}

#[test]
fn what_is_isolated_stays_so_in_another_view() {
    with(&ONE, |page| {
        page.press(&name("poll"), Held::Nothing);
        page.choose("Metric", "wait");
        assert_eq!(page.drawn(), ["poll"]);
    });
}

#[test]
fn a_load_is_drawn_over_its_intervals_and_the_legend_has_what_is_drawn() {
    let named = |page: &mut Page| -> Vec<String> {
        page.get("[...document.querySelector('figure.plot').querySelectorAll('[data-subject]')].filter((b) => b.checkVisibility()).map((b) => b.dataset.subject)")
    };
    with(&LOAD, |page| {
        assert_eq!(
            (page.drawn(), named(page)),
            (vec!["latency".into(), "p99".into()], vec!["latency".into(), "p99".into()])
        );
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        page.settle();
        let read_out = page.read_out();
        assert!(
            read_out.starts_with("latency after 0.5 s: 8") && read_out.ends_with(" µs"),
            "{read_out}"
        );
        page.press(&name("p99"), Held::Nothing);
        assert_eq!(page.drawn(), ["p99"]);
        page.choose("Metric", "replies");
        page.settle();
        assert_eq!((page.drawn(), named(page)), (vec!["replies".into()], vec!["replies".into()]));
    });
}
