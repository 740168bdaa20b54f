//! What is shown: series on and off, only one, the scales, the metric and its parameters.

use crate::input::Held;
use crate::page::{ONE, Page, with};

/// The button of a subject in the legend.
fn name(subject: &str) -> String {
    format!("document.querySelector('[data-subject=\"{subject}\"]')")
}

fn pressed(page: &mut Page, subject: &str) -> String {
    page.get(&format!("{}.ariaPressed", name(subject)))
}

#[test]
fn a_name_switches_its_series_off_and_on() {
    with(&ONE, |page| {
        assert_eq!(page.drawn().len(), 13);
        page.press(&name("poll"), Held::Nothing);
        assert!(!page.drawn().contains(&"poll".to_owned()));
        assert_eq!((page.drawn().len(), pressed(page, "poll").as_str()), (12, "false"));
        page.press(&name("poll"), Held::Nothing);
        assert_eq!((page.drawn().len(), pressed(page, "poll").as_str()), (13, "true"));
    });
}

#[test]
fn alt_click_double_click_and_the_letter_show_only_that_one_and_then_all() {
    with(&ONE, |page| {
        let only = ["sigio".to_owned()];
        page.press(&name("sigio"), Held::Alt);
        assert_eq!(page.drawn(), only);
        page.press(&name("sigio"), Held::Alt);
        assert_eq!(page.drawn().len(), 13);
        let spot = page.middle(&name("sigio"));
        page.double_click(spot);
        page.settle();
        assert_eq!(page.drawn(), only);
        page.press("probe.button('All')", Held::Nothing);
        assert_eq!(page.drawn().len(), 13);
        page.evaluate(&format!("{}.focus()", name("sigio")));
        page.key("o", Held::Nothing);
        page.settle();
        assert_eq!(page.drawn(), only);
    });
}

#[test]
fn none_leaves_an_empty_plot_and_all_fills_it() {
    with(&ONE, |page| {
        page.press("probe.button('None')", Held::Nothing);
        assert!(page.drawn().is_empty());
        // Nothing to walk to, and nothing to fall over.
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        assert_eq!(page.read_out(), "");
        page.press("probe.button('log up')", Held::Nothing);
        page.press("probe.button('All')", Held::Nothing);
        assert_eq!(page.drawn().len(), 13);
    });
}

#[test]
fn a_series_that_is_read_out_and_switched_off_is_read_out_no_more() {
    with(&ONE, |page| {
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("select at 10"));
        page.press(&name("select"), Held::Nothing);
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
fn what_is_switched_off_stays_off_in_another_view() {
    with(&ONE, |page| {
        page.press(&name("poll"), Held::Nothing);
        page.choose("Metric", "wait");
        assert!(!page.drawn().contains(&"poll".to_owned()));
        assert_eq!(page.drawn().len(), 12);
    });
}
